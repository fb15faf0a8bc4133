//! Writes a filter to a stream.

use std::io::Write;

use tamis_hash::Algorithm;
use tamis_sync::AllocError;

use crate::filters::saved::{Saved, header_of};
use crate::layout::body::for_each_chunk;
use crate::layout::checksum::checksum;
use crate::layout::header::Header;
use crate::layout::source::Source;
use crate::layout::table::Table;
use crate::normalization::Normalization;
use crate::options::Options;
use crate::save_error::SaveError;

/// Writes a filter to a stream: a pipe, a socket, an object store. The bytes are those of a file.
///
/// It first copies the filter, since the checksums come before the body; a filter takes twice its
/// memory meanwhile. Other threads may insert during the copy: the stream then holds every item
/// whose insert happened before the call. [`save`](crate::save) copies fewer filters.
///
/// # Errors
///
/// [`SaveError`] if the copy cannot be allocated, or if `to` returns an error; a part of the bytes
/// may then have been written. A reader detects that.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{encoded_len, read, write};
/// use tamis::{OnceBloomFilter, hash::Rapid};
///
/// let seen = OnceBloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// seen.insert("a");
/// let mut bytes = Vec::new();
/// write(&seen, &mut bytes)?;
/// assert_eq!(bytes.len() as u64, encoded_len(&seen));
///
/// let again: OnceBloomFilter<str, Rapid> = read(&bytes[..])?;
/// assert!(again.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<F: Saved>(filter: &F, to: impl Write) -> Result<(), SaveError> {
    Options::new().write(filter, to)
}

/// Returns the number of bytes that a filter takes in a file or a stream, as it is now: some
/// filters grow.
#[must_use]
pub fn encoded_len<F: Saved>(filter: &F) -> u64 {
    header_of(filter, Normalization::NONE, filter.sizes()).file_len()
}

impl Options {
    /// Writes a filter to a stream with this normalization, as [`write`](crate::write()) does.
    ///
    /// # Errors
    ///
    /// As [`write`](crate::write()).
    pub fn write<F: Saved>(&self, filter: &F, mut to: impl Write) -> Result<(), SaveError> {
        let (geometry, mut still) = filter.still().map_err(alloc)?;
        write_source(&mut to, header_of(filter, self.normalization, geometry), &mut *still)
    }
}

/// Writes a file to a stream, with a header that has no number of items and no checksum of the
/// table so far.
pub(crate) fn write_source(
    to: &mut dyn Write,
    mut header: Header,
    still: &mut dyn Source,
) -> Result<(), SaveError> {
    // The first pass computes the checksums, the second one writes.
    let mut table = Table::new();
    for_each_chunk(&header, still, &mut |chunk| {
        table.push(checksum(chunk));
        Ok(())
    })?;
    // Nothing changes these lines, so they are consistent.
    header.items = still.items().unwrap_or(0);
    header.table_checksum = table.checksum();
    to.write_all(&header.to_bytes().map_err(algorithm)?)?;
    to.write_all(&table.with_padding(&header))?;
    for_each_chunk(&header, still, &mut |chunk| to.write_all(chunk))?;
    Ok(to.flush()?)
}

pub(crate) fn alloc(error: AllocError) -> SaveError {
    SaveError::Alloc { bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX) }
}

pub(crate) fn algorithm(algorithm: Algorithm) -> SaveError {
    SaveError::Algorithm { name: algorithm.name() }
}
