//! The keys of a comparison: those that are inserted into a filter, and others that are only asked
//! about.

use std::collections::HashSet;

/// The type of the keys of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyType {
    Text,
    Bytes,
    I32,
    I64,
}

impl KeyType {
    /// Returns the name in `--key-type` of `tamis`, which the readers have too.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "utf8",
            Self::Bytes => "bytes",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }
}

/// Distinct keys, each as a line of a file: a string, hexadecimal digits, or a decimal integer.
pub(super) struct Keys {
    lines: Vec<String>,
    /// The number of keys at the start that are inserted.
    inserted: usize,
}

impl Keys {
    /// Returns this number of keys to insert, of which the first are the unusual ones, and of other
    /// keys.
    pub(super) fn new(key_type: KeyType, empty: bool, inserted: usize, absent: usize) -> Self {
        let mut known = HashSet::new();
        let unusual = unusual(key_type).into_iter().filter(|line| empty || !line.is_empty());
        let lines = unusual
            .chain((0..).map(|number| key(key_type, number)))
            .filter(|line| known.insert(line.clone()))
            .take(inserted + absent)
            .collect();
        Self { lines, inserted }
    }

    pub(super) fn inserted(&self) -> &[String] {
        &self.lines[..self.inserted]
    }

    pub(super) fn all(&self) -> &[String] {
        &self.lines
    }
}

/// Returns keys at the ends of their range, and short ones. The least and the greatest bytes are
/// among the inserted keys even of a small filter, and are the ends of the table of `rocksdb.cc`.
fn unusual(key_type: KeyType) -> Vec<String> {
    match key_type {
        KeyType::Text => {
            ["", "\u{10ffff}\u{10ffff}\u{10ffff}", "é", "e\u{301}", " ", "日本", "\u{feff}"]
                .map(str::to_owned)
                .to_vec()
        }
        // Tails of one to three bytes, with and without a sign.
        KeyType::Bytes => {
            ["", &"ff".repeat(12), "00", "80", "7f80", "80ff", "0a0d00", "ff807f", "80000000"]
                .map(str::to_owned)
                .to_vec()
        }
        KeyType::I32 => [0, -1, 1, i32::MIN, i32::MAX].map(|key| key.to_string()).to_vec(),
        KeyType::I64 => {
            [0, -1, 1, i64::MIN, i64::MAX, 1 << 32, -1 << 32].map(|key| key.to_string()).to_vec()
        }
    }
}

/// Returns an ordinary key. The multipliers are odd, so different numbers have different keys.
fn key(key_type: KeyType, number: u32) -> String {
    let scrambled = number.wrapping_mul(0x9e37_79b1);
    match key_type {
        KeyType::Text => {
            let prefix = ["key-", "ключ ", "鍵", "🔑/🗝"][number as usize % 4];
            format!("{prefix}{number}")
        }
        KeyType::Bytes => {
            let rest = (0..number % 37).map(|place| 131 * place + 17 * number + 7);
            let bytes = scrambled.to_be_bytes().into_iter().chain(rest.map(|byte| byte as u8));
            bytes.map(|byte| format!("{byte:02x}")).collect()
        }
        KeyType::I32 => (scrambled as i32).to_string(),
        KeyType::I64 => (u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [KeyType; 4] = [KeyType::Text, KeyType::Bytes, KeyType::I32, KeyType::I64];

    #[test]
    fn keys_are_distinct_and_of_their_type() {
        for key_type in ALL {
            let keys = Keys::new(key_type, true, 1000, 5000);
            assert_eq!((keys.inserted().len(), keys.all().len()), (1000, 6000));
            assert_eq!(keys.all().iter().collect::<HashSet<_>>().len(), 6000);
            for line in keys.all() {
                let valid = match key_type {
                    KeyType::Text => !line.contains(['\n', '\r']),
                    KeyType::Bytes => {
                        line.len().is_multiple_of(2)
                            && line.bytes().all(|digit| digit.is_ascii_hexdigit())
                    }
                    KeyType::I32 => line.parse::<i32>().is_ok(),
                    KeyType::I64 => line.parse::<i64>().is_ok(),
                };
                assert!(valid, "{line:?}");
            }
        }
    }

    #[test]
    fn only_strings_and_bytes_can_be_empty() {
        for key_type in ALL {
            let count = |empty| {
                let keys = Keys::new(key_type, empty, 20, 0);
                keys.all().iter().filter(|line| line.is_empty()).count()
            };
            let can = matches!(key_type, KeyType::Text | KeyType::Bytes);
            assert_eq!((count(true), count(false)), (usize::from(can), 0));
        }
    }
}
