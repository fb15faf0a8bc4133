//! The part of a file between the header and the body: the checksums of the chunks, and zeros.

use std::io::Read;

use crate::error::LoadError;
use crate::layout::checksum::checksum;
use crate::layout::fill::fill;
use crate::layout::header::{HEADER, Header};

/// The checksums of the chunks, as the bytes of the file.
#[derive(Debug)]
pub struct Table(Vec<u8>);

impl Table {
    /// Returns an empty table, to which the checksums are added in order.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the checksum of the next chunk.
    pub(crate) fn push(&mut self, checksum: u64) {
        self.0.extend_from_slice(&checksum.to_le_bytes());
    }

    /// Returns the checksum of the table, which the header contains.
    pub(crate) fn checksum(&self) -> u64 {
        checksum(&self.0)
    }

    /// Returns the checksum of a chunk.
    pub(crate) fn of_chunk(&self, chunk: u64) -> u64 {
        let bytes = self.0.as_chunks::<8>().0;
        // The table has a checksum for every chunk of its header.
        usize::try_from(chunk)
            .ok()
            .and_then(|chunk| bytes.get(chunk))
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the bytes from the table to the body.
    pub(crate) fn with_padding(mut self, header: &Header) -> Vec<u8> {
        self.0.resize(header.body_offset() as usize - HEADER, 0);
        self.0
    }

    /// Reads and checks the bytes from the table to the body. Memory grows only as bytes arrive.
    pub(crate) fn read(from: &mut dyn Read, header: &Header) -> Result<Self, LoadError> {
        let mut table = Vec::new();
        from.take(header.table_len()).read_to_end(&mut table)?;
        let mut found = HEADER as u64 + table.len() as u64;
        let expected = header.file_len();
        if (table.len() as u64) < header.table_len() {
            return Err(LoadError::Truncated { found, expected });
        }
        if header.is_live {
            all_zero(&table, HEADER as u64)?;
        } else if checksum(&table) != header.table_checksum {
            let (found, expected) = (header.table_checksum, checksum(&table));
            return Err(LoadError::TableChecksum { found, expected });
        }
        // Less than a page of zeros.
        let mut padding = vec![0; (header.body_offset() - found) as usize];
        let read = fill(from, &mut padding)?;
        all_zero(&padding[..read], found)?;
        found += read as u64;
        if read < padding.len() {
            return Err(LoadError::Truncated { found, expected });
        }
        Ok(Self(table))
    }
}

/// Checks that all bytes are zero. The first has this offset in the file.
fn all_zero(bytes: &[u8], offset: u64) -> Result<(), LoadError> {
    match bytes.iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(byte) => Err(LoadError::NotZero { offset: offset + byte as u64 }),
    }
}
