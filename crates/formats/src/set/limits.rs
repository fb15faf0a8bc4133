//! The sizes that the format of a set fixes.

/// Filters and the index start at multiples of this number of bytes.
pub(super) const ALIGN: u64 = 4096;

/// The length of an entry of the index without its name.
pub(super) const ENTRY: usize = 32;

/// The longest name in bytes.
pub(super) const MAX_NAME: usize = 65_535;

/// The number of bytes that the smallest filter and its zeros take: a header with a table, and one
/// line.
pub(super) const SMALLEST: u64 = 2 * ALIGN;
