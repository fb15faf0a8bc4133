//! Bodies of several arrays: a directory, one line for each array, then the lines of the arrays.

use core::ops::Range;
use std::io::Read;

use tamis_sync::{LINE_BYTES, Lines};

use crate::error::LoadError;
use crate::layout::body::{self, Body};
use crate::layout::header::Header;
use crate::layout::line_bytes::{Bytes, Words, bytes_of, swap_on_big_endian, words_of};
use crate::layout::source::Source;
use crate::layout::table::Table;
use crate::sizes::geometry::Geometry;
use crate::sizes::numbers::require;

/// A line of a directory: what it says about one array.
pub trait Entry: Sized {
    /// The name of the number in the header that is the sum of all lines.
    const LINES: &'static str;

    /// Reads and checks a line of the directory. Words that the entry does not use are checked by
    /// the caller.
    fn of_words(header: &Header, number: u32, words: Words) -> Result<Self, LoadError>;

    /// Returns the line of the directory.
    fn to_words(&self) -> Words;

    /// Returns the number of lines of the array, at least 1.
    fn lines(&self) -> u64;

    /// Returns the number of items in consecutive lines, from line `first` of the array on, or the
    /// number of a line that has a bit that no item can set.
    fn items_in(&self, first: u64, lines: impl Iterator<Item = Words>) -> Result<u64, u64>;
}

/// Checks a number of an entry that has only one possible value.
pub(crate) const fn require_of_entry(
    entry: u32,
    field: &'static str,
    found: u64,
    expected: u64,
) -> Result<(), LoadError> {
    if found == expected {
        Ok(())
    } else {
        Err(LoadError::Directory { entry, field, found, expected })
    }
}

/// The arrays of a body, with their entries.
#[derive(Debug)]
pub struct Arrays<E>(pub(crate) Vec<(E, Lines)>);

impl<E: Entry> Body for Arrays<E> {
    fn reserve(header: &Header) -> Result<Self, LoadError> {
        // A size that the system refuses is an error now. The arrays are reserved one by one when
        // their lines arrive.
        drop(Lines::reserve(header)?);
        Ok(Self(Vec::new()))
    }

    fn fill(self, from: &mut dyn Read, header: &Header, table: &Table) -> Result<Self, LoadError> {
        let mut filling = Filling { entries: Vec::new().into_iter(), open: None, arrays: self.0 };
        let take = |first, bytes: &Bytes| filling.take(header, first, bytes);
        body::read_chunks(from, header, table, take, |_, _| ())?;
        Ok(Self(filling.arrays))
    }
}

/// The arrays while their lines arrive.
struct Filling<E> {
    /// The entries whose arrays have not begun.
    entries: std::vec::IntoIter<E>,
    open: Option<Open<E>>,
    /// The arrays that are complete.
    arrays: Vec<(E, Lines)>,
}

/// The array whose lines arrive.
struct Open<E> {
    entry: E,
    lines: Lines,
    /// The number of lines that have arrived.
    filled: u64,
}

impl<E: Entry> Filling<E> {
    /// Checks and stores the lines of a chunk, from line `line` of the body on. Returns the number
    /// of items in them.
    fn take(&mut self, header: &Header, mut line: u64, bytes: &Bytes) -> Result<u64, LoadError> {
        let mut bytes = bytes;
        if line == 0 {
            // A chunk has more lines than a directory.
            let (directory, rest) = bytes.split_at(header.geometry.arrays() as usize);
            self.entries = entries(header, directory)?.into_iter();
            (line, bytes) = (directory.len() as u64, rest);
        }
        let mut items = 0;
        while !bytes.is_empty() {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.next(header)?,
            };
            let count = (bytes.len() as u64).min(open.entry.lines() - open.filled);
            let (of_array, rest) = bytes.split_at(count as usize);
            let found =
                open.take(of_array).map_err(|at| LoadError::SpareBits { line: line + at })?;
            (items, line, bytes) = (items + found, line + count, rest);
            if open.filled == open.entry.lines() {
                self.arrays.push((open.entry, open.lines));
            } else {
                self.open = Some(open);
            }
        }
        Ok(items)
    }

    /// Begins the next array.
    fn next(&mut self, header: &Header) -> Result<Open<E>, LoadError> {
        // The entries have as many lines as the body, so there is one.
        let entry = self.entries.next();
        let entry = entry.ok_or(LoadError::Field {
            field: E::LINES,
            found: 0,
            expected: header.lines(),
        })?;
        let lines = body::reserve(entry.lines())?;
        Ok(Open { entry, lines, filled: 0 })
    }
}

impl<E: Entry> Open<E> {
    /// Checks and stores lines. Returns the number of items in them, or which of the lines no
    /// filter has.
    fn take(&mut self, bytes: &Bytes) -> Result<u64, u64> {
        let found = self.entry.items_in(self.filled, bytes.iter().map(words_of));
        let found = found.map_err(|line| line - self.filled)?;
        let end = self.filled as usize + bytes.len();
        let (lines, _) = self.lines.bytes_mut().as_chunks_mut::<LINE_BYTES>();
        let to = &mut lines[self.filled as usize..end];
        to.copy_from_slice(bytes);
        swap_on_big_endian(to);
        self.filled = end as u64;
        Ok(found)
    }
}

/// Reads and checks a directory: each line, and that the arrays fill the body.
fn entries<E: Entry>(header: &Header, directory: &Bytes) -> Result<Vec<E>, LoadError> {
    let mut entries = Vec::with_capacity(directory.len());
    let mut lines = 0_u64;
    for (number, bytes) in (0..).zip(directory) {
        let entry = E::of_words(header, number, words_of(bytes))?;
        // What the entry does not say again is no part of it.
        let said = bytes_of(entry.to_words());
        if let Some(byte) = bytes.iter().zip(&said).position(|(found, said)| found != said) {
            let offset = header.body_offset() + u64::from(number) * LINE_BYTES as u64 + byte as u64;
            return Err(LoadError::NotZero { offset });
        }
        lines = lines.saturating_add(entry.lines());
        entries.push(entry);
    }
    require(E::LINES, header.lines() - directory.len() as u64, lines)?;
    Ok(entries)
}

/// A copy of several arrays, which nothing changes, as a body.
pub(crate) struct CopiedArrays {
    geometry: Geometry,
    items: u64,
    directory: Vec<[u8; LINE_BYTES]>,
    arrays: Vec<Lines>,
}

impl CopiedArrays {
    /// Takes the arrays of a filter that has this geometry and number of items.
    pub(crate) fn new<E: Entry>(
        geometry: Geometry,
        items: u64,
        arrays: impl Iterator<Item = (E, Lines)>,
    ) -> Self {
        let mut copied = Self { geometry, items, directory: Vec::new(), arrays: Vec::new() };
        for (entry, mut lines) in arrays {
            // The bytes of a file are little-endian.
            swap_on_big_endian(lines.bytes_mut().as_chunks_mut().0);
            copied.directory.push(bytes_of(entry.to_words()));
            copied.arrays.push(lines);
        }
        copied
    }
}

impl Source for CopiedArrays {
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]> {
        buffer.clear();
        let arrays = self.arrays.iter_mut().map(|lines| lines.bytes_mut().as_chunks().0);
        let pieces = std::iter::once(&self.directory[..]).chain(arrays);
        // The lines to be skipped in what follows, and those to be taken then.
        let (mut skip, mut left) = (lines.start as usize, (lines.end - lines.start) as usize);
        for piece in pieces {
            let from = skip.min(piece.len());
            let to = (skip + left).min(piece.len());
            buffer.extend_from_slice(&piece[from..to]);
            (skip, left) = (skip - from, left - (to - from));
        }
        Some(buffer.as_flattened())
    }

    fn items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }
}
