//! Loads arbitrary bytes as filters of other systems: bytes that load are written again as they
//! were, and the filter works, also from a file of Tamis.

use tamis_formats::Options;
use tamis_formats::foreign::{AnyFilter, Error, Filter, Format, Key, read};

use crate::budget::{Budget, within};

/// The first byte of an input whose bytes are loaded as filters of all formats. Any other one
/// chooses the format of this number in [`Format::ALL`], modulo their number.
const ALL: u8 = 255;
/// The bytes that a loader may allocate besides the multiple of its input.
const LOAD: usize = 4096;
/// The bytes that a query or an insert may allocate at once. Only a filter that grows may need
/// more, which then must be an error.
const KEY: usize = 1 << 16;
/// The numbers of the keys of each type.
const KEYS: i32 = 2;
/// The most columns that are read of a Parquet file.
const COLUMNS: usize = 4;

/// How much memory a filter needs for its bytes.
#[derive(Clone, Copy)]
struct Memory {
    /// A loader has at most this multiple of its input at once.
    multiple: usize,
    /// How many times as long the filter is after an insert, by the bytes; `None` if no insert
    /// makes it longer.
    growth: Option<fn(&[u8]) -> u64>,
}

/// The bytes, once.
const FIXED: Memory = Memory { multiple: 1, growth: None };
/// The bytes, and a copy of the header.
const TWICE: Memory = Memory { multiple: 2, growth: None };
/// The header of an empty filter has any size, as the system writes it.
const DATA_SKETCHES: Memory = Memory { multiple: 1, growth: Some(|_| u64::MAX) };
/// The bytes, and a list that doubles: up to 80 bytes for each sub-filter, which takes 49 bytes or
/// more. The next sub-filter has a lower rate, and so up to three times as many bits per key.
const PYBLOOM_SCALABLE: Memory = Memory {
    multiple: 6,
    growth: Some(|bytes| match number(bytes, 28, 4) {
        0 => u64::MAX,
        _ => 3 * number(bytes, 0, 4),
    }),
};
/// As above.
const REDIS_BLOOM: Memory = Memory { multiple: 6, growth: Some(|bytes| 3 * number(bytes, 16, 4)) };
/// The same, where a sub-filter takes 1 byte or more, and grows as the header says.
const REDIS_CUCKOO: Memory = Memory { multiple: 128, growth: Some(|bytes| number(bytes, 36, 2)) };
/// A list that doubles, of strings, each of which takes 1 byte or more; and the file and its
/// filters.
const PARQUET_FILE: Memory = Memory { multiple: 128 + 2, growth: None };

const fn memory(format: Format) -> Memory {
    match format {
        Format::DataSketches => DATA_SKETCHES,
        Format::ParquetHeader => TWICE,
        Format::ParquetFile => PARQUET_FILE,
        Format::PybloomScalable => PYBLOOM_SCALABLE,
        Format::RedisBloom => REDIS_BLOOM,
        Format::RedisCuckoo => REDIS_CUCKOO,
        _ => FIXED,
    }
}

/// Reads a little-endian number of a header.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Checks one input.
pub(crate) fn foreign(data: &[u8]) {
    check(data);
}

/// Checks one input. Returns whether it is a filter of a format that its first byte chooses.
fn check(data: &[u8]) -> bool {
    let Some((&choice, bytes)) = data.split_first() else { return false };
    let one = usize::from(choice) % Format::ALL.len();
    let formats = if choice == ALL { Format::ALL } else { &Format::ALL[one..=one] };
    // All of them, also after the first one that it is.
    formats.iter().filter(|&&format| check_format(format, bytes)).count() > 0
}

/// Checks bytes that may be a filter of a format. Returns whether they are.
fn check_format(format: Format, bytes: &[u8]) -> bool {
    match format {
        Format::ParquetFile => check_parquet(bytes),
        _ => check_bytes(format, bytes, None).is_ok(),
    }
}

/// Checks bytes that may be a Parquet file, and a file whose metadata they are. Returns whether one
/// of them has a filter.
fn check_parquet(bytes: &[u8]) -> bool {
    let length = bytes.len() as u32;
    let of_metadata = [b"PAR1", bytes, &length.to_le_bytes(), b"PAR1"].concat();
    let mut some = false;
    for file in [bytes, &of_metadata] {
        match check_bytes(Format::ParquetFile, file, None) {
            Ok(()) => some = true,
            // One of several columns must be named.
            Err(Error::Column { columns }) => {
                for column in columns.split(", ").take(COLUMNS) {
                    some |= check_bytes(Format::ParquetFile, file, Some(column)).is_ok();
                }
            }
            Err(_) => {}
        }
    }
    some
}

/// Checks bytes that may be a filter. Returns the error if they are none.
fn check_bytes(format: Format, bytes: &[u8], column: Option<&str>) -> Result<(), Error> {
    let filter = load(format, bytes, column)?;
    assert!(filter.format() == format && written(&*filter) == bytes, "{format}: other bytes");
    // Those of LevelDB and RocksDB measure their rate, which takes milliseconds.
    let measures =
        matches!(format, Format::LevelDbFilter | Format::LevelDbBlock | Format::RocksDbLegacy);
    if !measures || bytes.len().is_multiple_of(16) {
        let rate = filter.false_positive_rate();
        assert!((0.0..=1.0).contains(&rate), "{format}: a rate of {rate}");
    }
    assert!(!filter.parameters().is_empty() || format == Format::LevelDbBlock);
    check_wrapped(&*filter, column);
    check_changes(filter, column);
    Ok(())
}

/// Loads bytes with a limit of memory.
fn load(format: Format, bytes: &[u8], column: Option<&str>) -> Result<AnyFilter, Error> {
    let limit = memory(format).multiple * bytes.len() + LOAD;
    let loaded = within(Budget::Total(limit), || read(&[format], bytes, column));
    if let Err(error) = &loaded {
        let is_of_bytes = matches!(
            error,
            Error::NoFilter { .. }
                | Error::Truncated { .. }
                | Error::Trailing { .. }
                | Error::Field { .. }
                | Error::Size { .. }
                | Error::OtherFormat { .. }
                | Error::Column { .. }
                | Error::RowGroup { .. }
        );
        assert!(is_of_bytes, "{format} of {} bytes: {error}", bytes.len());
        assert!(!error.to_string().is_empty());
    }
    loaded
}

/// Checks that a file of Tamis keeps the filter.
fn check_wrapped(filter: &dyn Filter, column: Option<&str>) {
    let mut file = Vec::new();
    let options = Options::new();
    options.write_foreign(filter, &mut file).expect("a vector takes all bytes");
    let unwrapped = options.read_foreign(&file[..], column).expect("what was wrapped");
    assert!(unwrapped.format() == filter.format() && written(&*unwrapped) == written(filter));
    assert_eq!(answers(&*unwrapped), answers(filter));
}

/// Calls `each` with keys of all types.
fn each_key(mut each: impl FnMut(Key<'_>)) {
    each(Key::Bytes(b""));
    each(Key::Text(""));
    for number in 0..KEYS {
        let text = format!("{number}{}", "é".repeat(number as usize));
        each(Key::Bytes(&[0x80, number as u8].repeat(14 * number as usize + 1)));
        each(Key::Text(&text));
        each(Key::I32(-number));
        each(Key::I64(i64::MIN + i64::from(number)));
    }
}

/// Returns the answers for all keys. A key that the system does not have is an error.
fn answers(filter: &dyn Filter) -> Vec<bool> {
    let mut all = Vec::new();
    each_key(|key| all.push(answer(filter, key)));
    all
}

fn answer(filter: &dyn Filter, key: Key<'_>) -> bool {
    within(Budget::Each(KEY), || filter.contains(key)).unwrap_or_else(|error| {
        assert!(is_of_key(&error, key), "{key:?}: {error}");
        false
    })
}

/// Returns whether the system has no such key.
fn is_of_key(error: &Error, key: Key<'_>) -> bool {
    match error {
        Error::Key { found } => *found == key.key_type(),
        Error::EmptyKey => matches!(key, Key::Bytes(b"") | Key::Text("")),
        _ => false,
    }
}

fn written(filter: &dyn Filter) -> Vec<u8> {
    let bytes = filter.to_bytes();
    assert_eq!(bytes.len() as u64, filter.encoded_len());
    bytes
}

/// Inserts and removes keys. No key gets lost, and the filter can be written and read again.
fn check_changes(mut filter: AnyFilter, column: Option<&str>) {
    let before = answers(&*filter);
    let mut inserted = Vec::new();
    each_key(|key| inserted.push(insert(&mut *filter, key)));
    check_again(&*filter, column, &before);

    let mut removals = inserted.into_iter();
    each_key(|key| {
        // The others stay, so that one of them is lost if a removal removes too much.
        let removes = removals.next() == Some(true) && matches!(key, Key::Bytes(_));
        match if removes { filter.remove(key) } else { Err(Error::NoRemoval) } {
            Ok(removed) => assert!(removed, "{key:?} was inserted"),
            Err(error) => assert_eq!(error, Error::NoRemoval),
        }
    });
    check_again(&*filter, column, &before);
}

/// Inserts a key. Returns whether the filter has it.
fn insert(filter: &mut dyn Filter, key: Key<'_>) -> bool {
    let old = written(filter);
    match within(Budget::Each(KEY), || filter.insert(key)) {
        Ok(changed) => {
            // DataSketches ignores the empty string.
            let is_ignored = key == Key::Text("") && !changed;
            assert!(is_ignored || answer(filter, key), "{key:?} is missed");
            assert!(changed || written(filter) == old, "{key:?} changed the filter");
            !is_ignored
        }
        Err(error) => {
            let growth = memory(filter.format()).growth.map_or(0, |growth| growth(&old));
            let most = growth.saturating_mul(old.len() as u64);
            let is_of_filter = match error {
                Error::Alloc { bytes } => bytes <= most,
                Error::Size { .. } => most > 0,
                Error::Full => true,
                Error::ReadOnly => {
                    matches!(filter.format(), Format::LevelDbBlock | Format::ParquetFile)
                }
                _ => false,
            };
            assert!(is_of_filter || is_of_key(&error, key), "{key:?}: {error}");
            assert!(written(filter) == old, "a refused insert changed the filter");
            false
        }
    }
}

/// Checks that a filter has all keys that it had, and that it can be written and read again.
fn check_again(filter: &dyn Filter, column: Option<&str>, before: &[bool]) {
    let now = answers(filter);
    assert!(
        before.iter().zip(&now).all(|(before, now)| before <= now),
        "a key of the file is lost"
    );
    let bytes = written(filter);
    let again = match read(&[filter.format()], &bytes, column) {
        // The bits of the keys can make it text.
        Err(Error::NoFilter { .. }) => return,
        again => again.expect("a filter that was written loads"),
    };
    assert!(written(&*again) == bytes, "other bytes when it is written again");
    assert_eq!(answers(&*again), now);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    /// Otherwise the target would test refusals only.
    #[test]
    fn the_regressions_load_unless_their_names_say_otherwise() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions/foreign");
        let mut choices = BTreeSet::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::read(&path).unwrap();
            let refused = path.file_name().unwrap().to_string_lossy().starts_with("refused-");
            assert_eq!(check(&data), !refused, "{}", path.display());
            choices.insert(data[0]);
        }
        let formats = (0..).zip(Format::ALL).map(|(number, _)| number);
        assert!(formats.chain([ALL]).eq(choices), "a format without a regression");
    }
}
