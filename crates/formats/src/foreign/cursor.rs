//! Reads the numbers of a header from bytes. No length in the bytes is trusted.

use super::error::Error;

/// The bytes of a filter, and how many of them were read.
#[derive(Debug)]
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

macro_rules! number {
    ($($name:ident: $type:ty, $from:ident;)*) => {$(
        #[allow(dead_code, reason = "a reader uses the order and the width of its system")]
        pub(crate) fn $name(&mut self) -> Result<$type, Error> {
            self.array().map(<$type>::$from)
        }
    )*};
}

impl<'b> Cursor<'b> {
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the next bytes.
    pub(crate) fn take(&mut self, count: u64) -> Result<&'b [u8], Error> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let expected = (self.at as u64).saturating_add(count);
        let taken = taken.ok_or(Error::Truncated { found: self.bytes.len() as u64, expected })?;
        self.at += taken.len();
        Ok(taken)
    }

    /// Returns all bytes that are left.
    pub(crate) fn rest(&mut self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (array, _) = self.take(N as u64)?.as_chunks();
        Ok(array[0])
    }

    number! {
        u8: u8, from_le_bytes;
        u16_le: u16, from_le_bytes;
        u32_le: u32, from_le_bytes;
        u64_le: u64, from_le_bytes;
        i32_le: i32, from_le_bytes;
        i64_le: i64, from_le_bytes;
        f64_le: f64, from_le_bytes;
        i32_be: i32, from_be_bytes;
        u64_be: u64, from_be_bytes;
    }

    /// Checks that no bytes are left.
    pub(crate) const fn end(&self) -> Result<(), Error> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(Error::Trailing { found: self.bytes.len() as u64, expected: self.at as u64 })
    }
}

/// The greatest number without a sign that is read. [`Error::Field`] reports a greater one as
/// `i64::MAX`.
pub(crate) const MAX_UNSIGNED: i64 = i64::MAX - 1;

/// Checks a number without a sign. `max` is at most [`MAX_UNSIGNED`].
pub(crate) fn unsigned_in_range(
    field: &'static str,
    found: u64,
    min: i64,
    max: i64,
) -> Result<(), Error> {
    in_range(field, i64::try_from(found).unwrap_or(i64::MAX), min, max)
}

/// Checks a number.
pub(crate) fn in_range(field: &'static str, found: i64, min: i64, max: i64) -> Result<(), Error> {
    if (min..=max).contains(&found) { Ok(()) } else { Err(Error::Field { field, found, min, max }) }
}
