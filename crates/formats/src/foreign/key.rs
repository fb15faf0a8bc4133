//! The types of keys that the systems know.

use core::fmt;

/// A key, of the type that the other system was given.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Key, KeyType};
/// assert_eq!(Key::Text("a").key_type(), KeyType::Text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key<'k> {
    /// Bytes.
    Bytes(&'k [u8]),
    /// A string: its UTF-8 bytes.
    Text(&'k str),
    /// An integer of 32 bits.
    I32(i32),
    /// An integer of 64 bits.
    I64(i64),
}

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// Bytes.
    Bytes,
    /// Strings.
    Text,
    /// Integers of 32 bits.
    I32,
    /// Integers of 64 bits.
    I64,
}

impl Key<'_> {
    /// Returns the type of the key.
    #[must_use]
    pub const fn key_type(&self) -> KeyType {
        match self {
            Self::Bytes(_) => KeyType::Bytes,
            Self::Text(_) => KeyType::Text,
            Self::I32(_) => KeyType::I32,
            Self::I64(_) => KeyType::I64,
        }
    }

    /// Returns the bytes of a key that is bytes or a string, for a system that has no other keys.
    pub(crate) const fn bytes(&self) -> Result<&[u8], KeyType> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Text(text) => Ok(text.as_bytes()),
            Self::I32(_) | Self::I64(_) => Err(self.key_type()),
        }
    }

    /// Returns the key with an `i32` as an `i64`, as Java widens an argument of a method for
    /// `long`.
    pub(crate) const fn widened(self) -> Self {
        match self {
            Self::I32(number) => Self::I64(number as i64),
            other => other,
        }
    }

    /// Calls `hash` with the bytes of a key, where integers are little-endian bytes.
    pub(crate) fn with_little_endian<R>(&self, hash: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::Bytes(bytes) => hash(bytes),
            Self::Text(text) => hash(text.as_bytes()),
            Self::I32(number) => hash(&number.to_le_bytes()),
            Self::I64(number) => hash(&number.to_le_bytes()),
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Text => "utf8",
            Self::I32 => "i32",
            Self::I64 => "i64",
        })
    }
}
