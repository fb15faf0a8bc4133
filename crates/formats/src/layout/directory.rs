//! The body of a Bloom filter that grows: a directory, one line for each slice, then the lines of
//! the slices.

use std::io::Read;

use tamis_bloom::raw::{self, SliceSizes};
use tamis_core::BuildError;
use tamis_sync::{LINE_BYTES, Lines};

use crate::error::LoadError;
use crate::layout::body::{self, Body};
use crate::layout::header::Header;
use crate::layout::line_bytes::{Bytes, bytes_of, swap_on_big_endian, words_of};
use crate::layout::line_check::LineCheck;
use crate::layout::slice_entry::{of_words, to_words};
use crate::layout::table::Table;
use crate::sizes::geometry::Geometry;
use crate::sizes::numbers::require;

/// The name of the number in the header that is the sum of all slices.
const LINES: &str = "lines of the slices";

/// The slices of a body.
#[derive(Debug)]
pub struct Slices(pub(crate) Vec<(SliceSizes, Lines)>);

impl Body for Slices {
    fn reserve(header: &Header) -> Result<Self, LoadError> {
        // A size that the system refuses is an error now. The slices are reserved one by one when
        // their lines arrive.
        drop(Lines::reserve(header)?);
        Ok(Self(Vec::new()))
    }

    fn fill(self, from: &mut dyn Read, header: &Header, table: &Table) -> Result<Self, LoadError> {
        let mut filling = Filling { entries: Vec::new().into_iter(), open: None, slices: self.0 };
        let take = |first, bytes: &Bytes| {
            filling.take(header, first, bytes)?;
            // A Bloom filter does not count its items exactly.
            Ok(0)
        };
        body::read_chunks(from, header, table, take, |_, _| ())?;
        Ok(Self(filling.slices))
    }
}

/// The slices while their lines arrive.
struct Filling {
    /// The entries whose slices have not begun.
    entries: std::vec::IntoIter<SliceSizes>,
    open: Option<Open>,
    /// The slices that are complete.
    slices: Vec<(SliceSizes, Lines)>,
}

/// The slice whose lines arrive.
struct Open {
    entry: SliceSizes,
    check: LineCheck,
    lines: Lines,
    /// The number of lines of the slice, at least 1.
    count: u64,
    /// The number of lines that have arrived.
    filled: u64,
}

impl Filling {
    /// Checks and stores the lines of a chunk, from line `line` of the body on.
    fn take(&mut self, header: &Header, mut line: u64, bytes: &Bytes) -> Result<(), LoadError> {
        let mut bytes = bytes;
        if line == 0 {
            let (directory, rest) = entries(header, bytes)?;
            line = directory.len() as u64;
            (self.entries, bytes) = (directory.into_iter(), rest);
        }
        while !bytes.is_empty() {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.next(header)?,
            };
            let count = (bytes.len() as u64).min(open.count - open.filled);
            let (of_slice, rest) = bytes.split_at(count as usize);
            open.take(of_slice).map_err(|at| LoadError::SpareBits { line: line + at })?;
            (line, bytes) = (line + count, rest);
            if open.filled == open.count {
                self.slices.push((open.entry, open.lines));
            } else {
                self.open = Some(open);
            }
        }
        Ok(())
    }

    /// Begins the next slice.
    fn next(&mut self, header: &Header) -> Result<Open, LoadError> {
        // The entries have as many lines as the body, so there is one.
        let entry = self.entries.next();
        let (field, expected) = (LINES, header.lines());
        let entry = entry.ok_or(LoadError::Field { field, found: 0, expected })?;
        let count = raw::lines(entry.geometry);
        let check = LineCheck::new(Geometry::Bloom(entry.geometry));
        Ok(Open { entry, check, lines: body::reserve(count)?, count, filled: 0 })
    }
}

impl Open {
    /// Checks and stores lines. The error is the number of the first one that no filter has.
    fn take(&mut self, bytes: &Bytes) -> Result<(), u64> {
        let checked = self.check.items_in(self.filled, bytes.iter().map(words_of));
        checked.map_err(|line| line - self.filled)?;
        let end = self.filled as usize + bytes.len();
        let (lines, _) = self.lines.bytes_mut().as_chunks_mut::<LINE_BYTES>();
        let to = &mut lines[self.filled as usize..end];
        to.copy_from_slice(bytes);
        swap_on_big_endian(to);
        self.filled = end as u64;
        Ok(())
    }
}

/// Reads and checks the directory at the start of the first chunk: each line, and that the slices
/// fill the body. Returns what follows it, too.
fn entries<'b>(
    header: &Header,
    chunk: &'b Bytes,
) -> Result<(Vec<SliceSizes>, &'b Bytes), LoadError> {
    let Geometry::Chain(chain) = header.geometry else {
        return Err(LoadError::Sizes(BuildError::Layout));
    };
    // A chunk has more lines than a directory.
    let (directory, rest) = chunk.split_at(chain.slices() as usize);
    let mut entries = Vec::with_capacity(directory.len());
    let mut lines = 0_u64;
    for (number, bytes) in (0..).zip(directory) {
        let entry = of_words(chain, number, words_of(bytes))?;
        // What the entry does not say again is no part of it.
        let said = bytes_of(to_words(&entry));
        if let Some(byte) = bytes.iter().zip(&said).position(|(found, said)| found != said) {
            let offset = header.body_offset() + u64::from(number) * LINE_BYTES as u64 + byte as u64;
            return Err(LoadError::NotZero { offset });
        }
        lines = lines.saturating_add(raw::lines(entry.geometry));
        entries.push(entry);
    }
    require(LINES, header.lines() - directory.len() as u64, lines)?;
    Ok((entries, rest))
}
