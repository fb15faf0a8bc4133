//! The numbers of a header that give the sizes, and the checks of single numbers.

use tamis_sync::LINE_BITS;

use crate::error::LoadError;

/// The fields of a kind, in the bytes of a header that other kinds leave zero.
pub(crate) type Record = [u64; 12];

/// The numbers of a header that give the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Bits, or buckets.
    pub(crate) size: u64,
    /// Bits per item, or slots per bucket.
    pub(crate) probes_or_slots: u32,
    /// Words per item, or bits per slot.
    pub(crate) words_or_fingerprint_bits: u32,
    /// The fields of the kind.
    pub(crate) record: Record,
}

impl Numbers {
    /// Returns the numbers of a kind without a record.
    pub(crate) const fn new(
        size: u64,
        probes_or_slots: u32,
        words_or_fingerprint_bits: u32,
    ) -> Self {
        Self { size, probes_or_slots, words_or_fingerprint_bits, record: [0; 12] }
    }

    /// Returns the numbers with these fields of the kind, at most 12.
    pub(crate) const fn with_record(mut self, fields: &[u64]) -> Self {
        self.record.split_at_mut(fields.len()).0.copy_from_slice(fields);
        self
    }
}

/// Checks a field of a header that has only one possible value.
pub(crate) const fn require(
    field: &'static str,
    found: u64,
    expected: u64,
) -> Result<(), LoadError> {
    if found == expected { Ok(()) } else { Err(LoadError::Field { field, found, expected }) }
}

/// Checks that a number of bits is one of whole lines: a builder rounds it up. The error names the
/// whole lines below, at least one.
pub(crate) fn require_lines(size: u64) -> Result<(), LoadError> {
    require("size", size, (size - size % LINE_BITS).max(LINE_BITS))
}

/// Checks a field of a header that can have several values.
pub(crate) const fn require_range(
    field: &'static str,
    found: u64,
    min: u64,
    max: u64,
) -> Result<(), LoadError> {
    if min <= found && found <= max {
        Ok(())
    } else {
        Err(LoadError::Range { field, found, min, max })
    }
}
