//! The body of a file, chunk by chunk: from the lines of a filter to bytes, and back with all checks.

use std::io::{self, Read};

use tamis_sync::LINE_BYTES;

use crate::LoadError;
use crate::checksum::checksum;
use crate::file::fill;
use crate::header::{CHUNK, Header};
use crate::line_check::{LineCheck, Words};
use crate::table::Table;

/// Lines per chunk.
const LINES: usize = CHUNK / LINE_BYTES;

/// Converts the lines of a filter to the chunks of a body, and calls `on_chunk` with each.
pub(crate) fn for_each_chunk(
    header: &Header,
    line: impl Fn(u64) -> Words,
    mut on_chunk: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = buffer(header);
    for lines in chunks(header) {
        let bytes = &mut buffer[..(lines.end - lines.start) as usize];
        for (to, line_number) in bytes.iter_mut().zip(lines) {
            let (words, _) = to.as_chunks_mut::<8>();
            words.iter_mut().zip(line(line_number)).for_each(|(to, word)| *to = word.to_le_bytes());
        }
        on_chunk(bytes.as_flattened())?;
    }
    Ok(())
}

/// Reads a body and checks it. Calls `store` with each line, after all checks of its chunk.
///
/// After an error, `store` has been called for all lines of the chunks before the faulty one. The number of items is
/// checked at the end.
pub(crate) fn read(
    from: &mut impl Read,
    header: &Header,
    table: &Table,
    mut store: impl FnMut(u64, Words),
) -> Result<(), LoadError> {
    let check = LineCheck::new(header.geometry);
    let items_in = |line, words: &Words| check.items_in(line, words);
    let sink = &mut |lines: core::ops::Range<u64>, bytes: &[[u8; LINE_BYTES]]| {
        for (line, bytes) in lines.zip(bytes) {
            store(line, words_of(bytes));
        }
    };
    read_chunks(from, header, table, items_in, sink)
}

/// Reads a body as [`read`] does. `items_in` returns the number of items in a line, or `None` if it is damaged, and sees
/// all lines of a chunk before `store` gets them.
pub(crate) fn read_chunks(
    from: &mut impl Read,
    header: &Header,
    table: &Table,
    mut items_in: impl FnMut(u64, &Words) -> Option<u32>,
    store: &mut impl FnMut(core::ops::Range<u64>, &[[u8; LINE_BYTES]]),
) -> Result<(), LoadError> {
    let mut buffer = buffer(header);
    let mut items = 0;
    for (chunk, lines) in (0..).zip(chunks(header)) {
        // The whole chunk must be there and have its checksum.
        let bytes = &mut buffer[..(lines.end - lines.start) as usize];
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
        for (line, bytes) in lines.clone().zip(bytes.iter()) {
            let found = items_in(line, &words_of(bytes));
            items += u64::from(found.ok_or(LoadError::SpareBits { line })?);
        }
        store(lines, bytes);
    }
    if items != header.items {
        return Err(LoadError::ItemCount { found: header.items, expected: items });
    }
    Ok(())
}

/// Returns the lines of each chunk.
fn chunks(header: &Header) -> impl Iterator<Item = core::ops::Range<u64>> + use<> {
    let all = header.lines();
    (0..header.chunks()).map(move |chunk| {
        let first = chunk * LINES as u64;
        first..all.min(first + LINES as u64)
    })
}

/// Returns a buffer for one chunk, or for a body that is shorter.
fn buffer(header: &Header) -> Vec<[u8; LINE_BYTES]> {
    vec![[0; LINE_BYTES]; header.lines().min(LINES as u64) as usize]
}

fn words_of(bytes: &[u8; LINE_BYTES]) -> Words {
    let (words, _) = bytes.as_chunks::<8>();
    core::array::from_fn(|word| u64::from_le_bytes(words[word]))
}
