//! The keys of a chunk, for a decider that needs more of them than their hashes: the filters of other systems.

use core::str;

use tamis::formats::foreign::{Key, KeyType};

use crate::key::NoKey;

/// Keys in input order, each of the type that was asked for.
#[derive(Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
}

impl Keys {
    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends a key, if its text is one of this type.
    pub(super) fn push(&mut self, text: &[u8], key_type: KeyType) -> Result<(), NoKey> {
        typed(text, key_type)?;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// All keys, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    /// The key with this number. `key_type` is that of all keys.
    pub(crate) fn get(&self, number: usize, key_type: KeyType) -> Result<Key<'_>, NoKey> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        typed(&self.bytes[start..self.ends[number]], key_type)
    }
}

/// Returns the key that a text stands for: its bytes, or the decimal integer that it is.
fn typed(text: &[u8], key_type: KeyType) -> Result<Key<'_>, NoKey> {
    let utf8 = || str::from_utf8(text).ok();
    match key_type {
        KeyType::Bytes => Ok(Key::Bytes(text)),
        KeyType::Text => utf8().map(Key::Text).ok_or(NoKey::Utf8),
        KeyType::I32 => utf8().and_then(|text| text.parse().ok()).map(Key::I32).ok_or(NoKey::I32),
        KeyType::I64 => utf8().and_then(|text| text.parse().ok()).map(Key::I64).ok_or(NoKey::I64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_key_of_its_type_or_none() {
        let mut keys = Keys::default();
        for (text, key_type, key) in [
            (&b"\xff"[..], KeyType::Bytes, Ok(Key::Bytes(b"\xff"))),
            (b"", KeyType::Bytes, Ok(Key::Bytes(b""))),
            ("é".as_bytes(), KeyType::Text, Ok(Key::Text("é"))),
            (b"\xff", KeyType::Text, Err(NoKey::Utf8)),
            (b"-2147483648", KeyType::I32, Ok(Key::I32(i32::MIN))),
            (b"2147483648", KeyType::I32, Err(NoKey::I32)),
            (b"2147483648", KeyType::I64, Ok(Key::I64(1 << 31))),
            (b"9223372036854775808", KeyType::I64, Err(NoKey::I64)),
            (b"1\r", KeyType::I64, Err(NoKey::I64)),
            (b" 1", KeyType::I32, Err(NoKey::I32)),
            (b"", KeyType::I64, Err(NoKey::I64)),
            (b"0x1", KeyType::I64, Err(NoKey::I64)),
        ] {
            keys.clear();
            assert_eq!(keys.push(b"1", KeyType::I64), Ok(()));
            assert_eq!(keys.push(text, key_type), key.map(|_| ()));
            if key.is_ok() {
                assert_eq!(keys.get(1, key_type), key);
            }
            assert_eq!(keys.get(0, KeyType::I64), Ok(Key::I64(1)));
        }
    }
}
