//! The body of a file, chunk by chunk: from the lines of a filter to bytes, and back with all
//! checks.

use core::ops::Range;
use std::io::{self, Read};

use tamis_cuckoo as cuckoo;
use tamis_sync::{AllocError, LINE_BYTES, Lines};

use crate::error::LoadError;
use crate::layout::checksum::checksum;
use crate::layout::fill::fill;
use crate::layout::header::{CHUNK, Header};
use crate::layout::line_bytes::{Bytes, Words, swap_on_big_endian, words_of};
use crate::layout::line_check::LineCheck;
use crate::layout::source::Source;
use crate::layout::table::Table;
use crate::save_error::SaveError;
use crate::sizes::geometry::Geometry;

/// Lines per chunk.
const LINES: usize = CHUNK / LINE_BYTES;

/// What the body of a file is read into.
pub trait Body: Sized {
    /// Asks the system for the memory of a body. Its pages are placed as they are filled.
    fn reserve(header: &Header) -> Result<Self, LoadError>;

    /// Reads the body and checks it.
    fn fill(self, from: &mut dyn Read, header: &Header, table: &Table) -> Result<Self, LoadError>;
}

/// One array.
impl Body for Lines {
    fn reserve(header: &Header) -> Result<Self, LoadError> {
        match header.geometry {
            Geometry::GrowingCuckoo(sizes) => {
                if !cuckoo::raw::is_supported(sizes.geometry()) {
                    return Err(LoadError::UnsupportedGrowing);
                }
                // The lines of the body, and those of all further growth.
                sizes.extent().reserve().map_err(alloc)
            }
            _ => reserve(header.lines()),
        }
    }

    fn fill(
        mut self,
        from: &mut dyn Read,
        header: &Header,
        table: &Table,
    ) -> Result<Self, LoadError> {
        read_into(from, header, table, &mut self)?;
        Ok(self)
    }
}

/// Returns zeroed lines. The system places the pages of a large array as they are filled.
pub(crate) fn reserve(lines: u64) -> Result<Lines, LoadError> {
    Lines::reserved(lines).map_err(alloc)
}

fn alloc(error: AllocError) -> LoadError {
    LoadError::Alloc { bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX) }
}

/// Calls `on_chunk` with each chunk of a body. Returns whether these are all chunks: `false` if the
/// lines are inconsistent.
pub(crate) fn for_each_chunk(
    header: &Header,
    source: &mut dyn Source,
    on_chunk: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<bool, SaveError> {
    let mut buffer = buffer_for(header).map_err(|bytes| SaveError::Alloc { bytes })?;
    for lines in chunks(header) {
        let Some(chunk) = source.chunk(lines, &mut buffer) else { return Ok(false) };
        on_chunk(chunk)?;
    }
    Ok(true)
}

/// Allocates memory for the longest chunk of a body, or returns the number of bytes that are
/// missing.
fn buffer_for(header: &Header) -> Result<Vec<[u8; LINE_BYTES]>, u64> {
    let lines = header.lines().min(LINES as u64);
    let mut buffer = Vec::new();
    match buffer.try_reserve_exact(lines as usize) {
        Ok(()) => Ok(buffer),
        Err(_) => Err(lines * LINE_BYTES as u64),
    }
}

/// Reads a body and checks it. Calls `store` with each line, after all checks of its chunk.
///
/// After an error, `store` has been called for all lines of the chunks before the faulty one. The
/// number of items is checked at the end.
pub(crate) fn read(
    from: &mut dyn Read,
    header: &Header,
    table: &Table,
    mut store: impl FnMut(u64, Words),
) -> Result<(), LoadError> {
    let check = LineCheck::new(header.geometry);
    let items_in = |first, bytes: &Bytes| check.items_in(first, bytes.iter().map(words_of));
    let items_in = |first, bytes: &Bytes| items_in(first, bytes).map_err(spare_bits);
    read_chunks(from, header, table, items_in, |first, bytes| {
        (first..).zip(bytes).for_each(|(line, bytes)| store(line, words_of(bytes)));
    })
}

/// Reads a body into lines, at least those of the header, and checks it. After an error, their
/// content is arbitrary.
fn read_into(
    from: &mut dyn Read,
    header: &Header,
    table: &Table,
    to: &mut Lines,
) -> Result<(), LoadError> {
    let check = LineCheck::new(header.geometry);
    let items_in = |first, bytes: &Bytes| check.items_in(first, bytes.iter().map(words_of));
    let mut items_in = |first, bytes: &Bytes| items_in(first, bytes).map_err(spare_bits);
    // The bytes arrive where they stay.
    let (bytes, _) = to.bytes_mut().as_chunks_mut();
    let mut items = 0;
    for (chunk, lines) in (0..).zip(chunks(header)) {
        let bytes = &mut bytes[lines.start as usize..lines.end as usize];
        items += read_chunk(from, header, table, chunk, bytes, &mut items_in)?;
        swap_on_big_endian(bytes);
    }
    check_items(header, items)
}

/// Reads a body as [`read`] does. `items_in` checks the lines of a chunk, and returns the number of
/// items in them. `store` gets the chunk then.
pub(crate) fn read_chunks(
    from: &mut dyn Read,
    header: &Header,
    table: &Table,
    mut items_in: impl FnMut(u64, &Bytes) -> Result<u64, LoadError>,
    mut store: impl FnMut(u64, &Bytes),
) -> Result<(), LoadError> {
    let mut buffer = buffer_for(header).map_err(|bytes| LoadError::Alloc { bytes })?;
    buffer.resize(buffer.capacity(), [0; LINE_BYTES]);
    let mut items = 0;
    for (chunk, lines) in (0..).zip(chunks(header)) {
        let bytes = &mut buffer[..(lines.end - lines.start) as usize];
        items += read_chunk(from, header, table, chunk, bytes, &mut items_in)?;
        store(lines.start, bytes);
    }
    check_items(header, items)
}

/// Reads a chunk and checks it. Returns the number of items in it.
fn read_chunk(
    from: &mut dyn Read,
    header: &Header,
    table: &Table,
    chunk: u64,
    bytes: &mut Bytes,
    items_in: &mut impl FnMut(u64, &Bytes) -> Result<u64, LoadError>,
) -> Result<u64, LoadError> {
    // The whole chunk must be there and have its checksum.
    let read = fill(from, bytes.as_flattened_mut())?;
    if read < bytes.as_flattened().len() {
        let before = header.body_offset() + chunk * CHUNK as u64;
        let (found, expected) = (before + read as u64, header.file_len());
        return Err(LoadError::Truncated { found, expected });
    }
    if !header.is_live {
        let (found, expected) = (table.of_chunk(chunk), checksum(bytes.as_flattened()));
        if found != expected {
            return Err(LoadError::ChunkChecksum { chunk, found, expected });
        }
    }
    // Its lines must be those of a filter.
    items_in(chunk * LINES as u64, bytes)
}

/// The error for a line with a bit that no item can set.
pub(crate) const fn spare_bits(line: u64) -> LoadError {
    LoadError::SpareBits { line }
}

/// Checks the number of items in the header.
const fn check_items(header: &Header, items: u64) -> Result<(), LoadError> {
    if items != header.items {
        return Err(LoadError::ItemCount { found: header.items, expected: items });
    }
    Ok(())
}

/// Returns the lines of each chunk.
fn chunks(header: &Header) -> impl Iterator<Item = Range<u64>> + use<> {
    let all = header.lines();
    (0..header.chunks()).map(move |chunk| {
        let first = chunk * LINES as u64;
        first..all.min(first + LINES as u64)
    })
}
