//! The last bytes of a set: from bytes and back, with all checks that need no index.

use super::error::SetError;
use super::limits::{ENTRY, MAX_NAME, SMALLEST};
use crate::layout::checksum::checksum;
use crate::layout::fields::{u32_at, u64_at};

/// The length of a trailer in bytes.
pub(super) const TRAILER: usize = 64;

const MAGIC: [u8; 8] = *b"\x89TAMSET\n";
const VERSION: u32 = 1;

/// The offsets of the fields.
mod at {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 8;
    pub(super) const TRAILER_LEN: usize = 12;
    pub(super) const FILTERS: usize = 16;
    pub(super) const INDEX_OFFSET: usize = 24;
    pub(super) const INDEX_LEN: usize = 32;
    pub(super) const INDEX_CHECKSUM: usize = 40;
    pub(super) const RESERVED: usize = 48;
    pub(super) const CHECKSUM: usize = 56;
}

/// What the trailer says about the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) filters: u64,
    pub(super) index_offset: u64,
    pub(super) index_len: u64,
    pub(super) index_checksum: u64,
}

impl Trailer {
    pub(super) fn to_bytes(self) -> [u8; TRAILER] {
        let mut bytes = [0; TRAILER];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(at::MAGIC, &MAGIC);
        put(at::VERSION, &VERSION.to_le_bytes());
        put(at::TRAILER_LEN, &(TRAILER as u32).to_le_bytes());
        put(at::FILTERS, &self.filters.to_le_bytes());
        put(at::INDEX_OFFSET, &self.index_offset.to_le_bytes());
        put(at::INDEX_LEN, &self.index_len.to_le_bytes());
        put(at::INDEX_CHECKSUM, &self.index_checksum.to_le_bytes());
        let checksum = checksum(&bytes[..at::CHECKSUM]);
        bytes[at::CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Checks the last bytes of a file of this length.
    pub(super) fn of_bytes(bytes: &[u8; TRAILER], file_len: u64) -> Result<Self, SetError> {
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(SetError::Magic { found: bytes[..MAGIC.len()].to_vec() });
        }
        // A later version may place its checksum elsewhere.
        let version = u32_at(bytes, at::VERSION);
        if version != VERSION {
            return Err(SetError::Version { found: version });
        }
        require("trailer length", u32_at(bytes, at::TRAILER_LEN).into(), TRAILER as u64)?;
        let (found, expected) = (u64_at(bytes, at::CHECKSUM), checksum(&bytes[..at::CHECKSUM]));
        if found != expected {
            return Err(SetError::TrailerChecksum { found, expected });
        }
        require("reserved field", u64_at(bytes, at::RESERVED), 0)?;
        let trailer = Self {
            filters: u64_at(bytes, at::FILTERS),
            index_offset: u64_at(bytes, at::INDEX_OFFSET),
            index_len: u64_at(bytes, at::INDEX_LEN),
            index_checksum: u64_at(bytes, at::INDEX_CHECKSUM),
        };
        trailer.check_lengths(file_len)?;
        Ok(trailer)
    }

    /// Checks that a file of this length can have these numbers.
    fn check_lengths(self, found: u64) -> Result<(), SetError> {
        let Self { filters, index_offset, index_len, .. } = self;
        let ends =
            index_offset.checked_add(index_len).and_then(|len| len.checked_add(TRAILER as u64));
        let expected = ends.unwrap_or(u64::MAX);
        if found != expected {
            return Err(SetError::Length { found, expected });
        }
        let most = index_offset / SMALLEST;
        if filters > most {
            return Err(SetError::Filters { found: filters, most });
        }
        // At most 2^51 filters: the first product does not overflow.
        let (least, most) =
            (filters * ENTRY as u64, filters.saturating_mul((ENTRY + MAX_NAME) as u64));
        if index_len < least || index_len > most {
            return Err(SetError::IndexLen { found: index_len, least, most });
        }
        Ok(())
    }
}

const fn require(field: &'static str, found: u64, expected: u64) -> Result<(), SetError> {
    if found == expected { Ok(()) } else { Err(SetError::Field { field, found, expected }) }
}
