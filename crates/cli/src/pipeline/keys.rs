//! The keys of a chunk, for a decider that needs more of them than their hashes: the filters of
//! other systems.

use core::str;

use tamis::formats::foreign::{Key, KeyType};

use super::plan::Taken;
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

    /// Makes room for one more key, and for keys of this length together. Returns the number of
    /// keys for which there is room, or `None` if the allocation failed.
    pub(super) fn reserve(&mut self, bytes: usize) -> Option<usize> {
        self.ends.try_reserve(1).ok()?;
        self.bytes.try_reserve(bytes.saturating_sub(self.bytes.len())).ok()?;
        Some(self.ends.capacity())
    }

    /// Appends a key, if its text is one of those taken.
    pub(super) fn push(&mut self, text: &[u8], taken: Taken) -> Result<(), NoKey> {
        typed(text, taken.key_type)?;
        if text.is_empty() && !taken.empty {
            return Err(NoKey::Empty);
        }
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
            let taken = |key_type| Taken { key_type, empty: true };
            assert_eq!(keys.push(b"1", taken(KeyType::I64)), Ok(()));
            assert_eq!(keys.push(text, taken(key_type)), key.map(|_| ()));
            if key.is_ok() {
                assert_eq!(keys.get(1, key_type), key);
            }
            assert_eq!(keys.get(0, KeyType::I64), Ok(Key::I64(1)));
        }
    }

    #[test]
    fn an_empty_key_is_one_only_if_it_is_taken() {
        for (key_type, refused) in [
            (KeyType::Bytes, NoKey::Empty),
            (KeyType::Text, NoKey::Empty),
            (KeyType::I64, NoKey::I64),
        ] {
            let taken = Taken { key_type, empty: false };
            assert_eq!(Keys::default().push(b"", taken), Err(refused));
            assert_eq!(Keys::default().push(b"1", taken), Ok(()));
        }
    }
}
