//! The parsers of the values of options that are neither numbers nor names.

use core::num::NonZero;
use core::ops::Range;
use core::time::Duration;

use crate::pipeline::Seed;
use crate::units::{Wrong, count, number};

/// The largest number that --threads accepts.
const MAX_THREADS: usize = 1024;

/// Parses a number of threads.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    number(text)
        .ok()
        .and_then(|threads| usize::try_from(threads).ok())
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// The most fields that a range selects.
const MAX_RANGE: usize = 1 << 16;

/// A field, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// The fields with these numbers, from 0.
    Numbers(Range<usize>),
    /// The field that has this name in the header.
    Name(String),
}

/// Parses the number of a field, a range of them, or the name of one. What looks like a number is
/// one.
pub(super) fn field(text: &str) -> Result<Column, String> {
    let number = |text: &str| {
        let parsed = text.parse::<NonZero<usize>>();
        parsed.map_err(|_| "expected a number of at least 1: fields are counted from 1".to_owned())
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    if text.is_empty() {
        return number(text).map(|_| Column::Name(String::new()));
    }
    if !digits(first) || !digits(last) {
        return Ok(Column::Name(text.to_owned()));
    }
    let (first, last) = (number(first)?.get(), number(last)?.get());
    if last < first {
        return Err(format!("the range ends before it begins; expected {last}-{first}"));
    }
    if last - first >= MAX_RANGE {
        return Err(format!("expected a range of at most {MAX_RANGE} fields"));
    }
    Ok(Column::Numbers(first - 1..last))
}

/// Parses the number of records of a chunk.
pub(super) fn chunk(text: &str) -> Result<usize, String> {
    let records = count(text).map_err(|wrong| wrong.to_string())?;
    records.try_into().map_err(|_| "too large".into())
}

/// Parses a seed.
pub(super) fn seed(text: &str) -> Result<Seed, String> {
    match text {
        "random" => Ok(Seed::Random),
        _ => number(text).map(Seed::Fixed).map_err(|wrong: Wrong| format!("{wrong}; or 'random'")),
    }
}

/// Parses one byte, written as it is or as an escape.
pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        b"\\t" => Some(b'\t'),
        b"\\0" => Some(0),
        [b'\\', b'x', hex @ ..] if hex.len() == 2 && hex.iter().all(u8::is_ascii_hexdigit) => {
            u8::from_str_radix(&text[2..], 16).ok()
        }
        _ => None,
    }
    .ok_or_else(|| r"expected one byte, such as , or \t or \x1f".into())
}

/// What a window keeps: records, in a file, or a span of time, in Redis. `10m` may be both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) records: Option<u64>,
    pub(crate) span: Option<Duration>,
}

/// Parses a number of records, or a duration.
pub(super) fn window(text: &str) -> Result<Window, String> {
    let (records, span) = (count(text), duration(text).ok());
    match (records, span) {
        (Err(wrong), None) => {
            Err(format!("{wrong}; or for a filter in Redis a duration, such as 24h"))
        }
        (records, span) => Ok(Window { records: records.ok(), span }),
    }
}

/// Parses a duration: a number and its unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a number and a unit: ms, s, min, h or d, such as 30s";
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits);
    let millis = match unit.trim() {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(EXPECTED.into()),
    };
    let number = count(digits.trim()).map_err(|_| EXPECTED)?;
    let millis =
        number.checked_mul(millis).ok_or("too long; expected at most 2^64 milliseconds")?;
    Ok(Duration::from_millis(millis))
}

/// Checks a JSON pointer.
pub(super) fn pointer(text: &str) -> Result<String, String> {
    let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if escaped && (text.is_empty() || text.starts_with('/')) {
        return Ok(text.to_owned());
    }
    let expected = "expected a JSON pointer: empty, or '/name/0/name' with ~0 for ~ and ~1 for /";
    // Other notations of a path: user.id, .user.id, $.user[0].id, user/id.
    let path = text.strip_prefix('$').unwrap_or(text).replace('[', ".").replace(']', "");
    let path = path.strip_prefix('.').unwrap_or(&path).replace('.', "/");
    if text.starts_with('/') || path.is_empty() || path.contains(['~', '"', '\'', ' ']) {
        return Err(expected.into());
    }
    Err(format!("{expected}; did you mean /{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_byte() {
        for (text, byte) in [(",", b','), ("\t", b'\t'), ("\\t", b'\t'), ("\\0", 0), ("\\xfF", 255)]
        {
            assert_eq!(delimiter(text), Ok(byte));
        }
        for text in ["", "ab", "ä", "\\x", "\\x1", "\\x+1", "\\n1"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in
            [("1s", 1), ("30 s", 30), ("5min", 300), ("2m", 120), ("1h", 3600), ("1_000ms", 1)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "1", "s", "0s", "1.5s", "-1s", "1x", "18446744073709551615d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pointers_are_checked_as_rfc_6901_requires() {
        for text in ["", "/", "/a/0", "/a~1b~0", "//"] {
            assert_eq!(pointer(text).as_deref(), Ok(text));
        }
        for text in ["a", "a/b", "/~", "/~2", "/a~", "$", ".", "a b.c"] {
            assert!(pointer(text).is_err(), "{text}");
        }
        for (text, meant) in [
            ("id", "/id"),
            ("user.id", "/user/id"),
            (".user.id", "/user/id"),
            ("$.user[0].id", "/user/0/id"),
            ("user/id", "/user/id"),
        ] {
            let error = pointer(text).expect_err("no pointer");
            assert!(error.ends_with(&format!("; did you mean {meant}")), "{error}");
        }
    }

    #[test]
    fn fields_are_numbers_ranges_or_names() {
        for (text, range) in [("1", 0..1), ("2-4", 1..4), ("7-7", 6..7), ("01", 0..1)] {
            assert_eq!(field(text), Ok(Column::Numbers(range)), "{text}");
        }
        for text in ["id", "1a", "-", "2-", "-4", "+1", "user-id", "1-2-3", "é"] {
            assert_eq!(field(text), Ok(Column::Name(text.into())), "{text}");
        }
        for text in ["", "0", "0-2", "4-2", "1-65537", "18446744073709551616"] {
            assert!(field(text).is_err(), "{text}");
        }
    }
}
