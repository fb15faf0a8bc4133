//! Loads arbitrary bytes as filters of other systems: bytes that load are written again as they
//! were, and the filter works.

use std::borrow::Cow;

use tamis_formats::Options;
use tamis_formats::foreign::*;

use crate::budget::{Budget, within};

/// The bytes that a loader may allocate besides the multiple of its input.
const LOAD: usize = 4096;
/// The bytes that an insert may allocate at once. Only a filter that grows may need more, which
/// then must be an error.
const INSERT: usize = 1 << 16;
/// The numbers of the keys of each type.
const KEYS: i32 = 2;
/// The most filters that are read of a Parquet file.
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
/// The same, and the bytes while they are joined.
const CHUNKS: Memory = Memory { multiple: 128 + 4, growth: None };
/// A list that doubles, of strings, each of which takes 1 byte or more.
const STRINGS: Memory = Memory { multiple: 128, growth: None };

/// Reads a little-endian number of a header.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Defines targets. Each takes an input, and returns whether it loads.
macro_rules! targets {
    ($($target:ident = $check:expr;)*) => {
        $(
            #[doc = concat!("Checks one input of `", stringify!($target), "`.")]
            pub(crate) fn $target(data: &[u8]) {
                let check: fn(&[u8]) -> bool = $check;
                check(data);
            }
        )*

        #[cfg(test)]
        const CHECKS: &[(&str, fn(&[u8]) -> bool)] = &[$((stringify!($target), $check)),*];
    };
}

targets! {
    foreign_any = check_any;
    foreign_bits_and_blooms = |data| check(data, BitsAndBloomsFilter::from_bytes, FIXED);
    foreign_datasketches = |data| check(data, DataSketchesFilter::from_bytes, DATA_SKETCHES);
    foreign_go_cuckoo = |data| check(data, GoCuckooFilter::from_bytes, FIXED);
    foreign_guava = |data| check(data, GuavaFilter::from_bytes, FIXED);
    foreign_hadoop = |data| check(data, HadoopFilter::from_bytes, FIXED);
    foreign_hadoop_counting = |data| check(data, HadoopCountingFilter::from_bytes, FIXED);
    foreign_leveldb = |data| check(data, LevelDbFilter::from_bytes, FIXED);
    foreign_leveldb_block = check_block;
    foreign_orc = |data| check(data, OrcFilter::from_bytes, FIXED);
    foreign_parquet = |data| check(data, ParquetFilter::from_bytes, FIXED);
    foreign_parquet_file = check_parquet;
    foreign_parquet_header = |data| check(data, ParquetFilter::from_bytes_with_header, TWICE);
    foreign_pybloom = |data| check(data, PybloomFilter::from_bytes, FIXED);
    foreign_pybloom_scalable = |data| check(data, PybloomScalableFilter::from_bytes, PYBLOOM_SCALABLE);
    foreign_rbloom = |data| check(data, RbloomFilter::from_bytes, FIXED);
    foreign_redis_bloom = |data| check(data, RedisModuleBloomFilter::from_bytes, REDIS_BLOOM);
    foreign_redis_bloom_chunks = |data| check_chunks(
        data,
        RedisModuleBloomFilter::from_bytes,
        |chunks| RedisModuleBloomFilter::from_chunks(chunks),
        |filter| filter.chunks().collect(),
    );
    foreign_redis_cuckoo = |data| check(data, RedisModuleCuckooFilter::from_bytes, REDIS_CUCKOO);
    foreign_redis_cuckoo_chunks = |data| check_chunks(
        data,
        RedisModuleCuckooFilter::from_bytes,
        |chunks| RedisModuleCuckooFilter::from_chunks(chunks),
        |filter| filter.chunks().collect(),
    );
    foreign_rocksdb = |data| check(data, RocksDbFilter::from_bytes, FIXED);
    foreign_spark = |data| check(data, SparkFilter::from_bytes, FIXED);
}

type Read<F> = fn(&[u8]) -> Result<F, Error>;
/// An iterator and bytes.
type Chunk<'c> = (i64, Cow<'c, [u8]>);

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

/// Returns what a loader makes of bytes, with its memory limited.
fn load<F>(data: &[u8], memory: Memory, read: impl FnOnce(&[u8]) -> Result<F, Error>) -> Option<F> {
    let limit = memory.multiple * data.len() + LOAD;
    let error = match within(Budget::Total(limit), || read(data)) {
        Ok(loaded) => return Some(loaded),
        Err(error) => error,
    };
    let of_bytes =
        matches!(error, Error::Truncated { .. } | Error::Trailing { .. } | Error::Field { .. });
    assert!(of_bytes || matches!(error, Error::Size { .. }), "of {} bytes: {error}", data.len());
    assert!(!error.to_string().is_empty());
    None
}

/// Returns the answers for all keys. A key that the system does not have is an error.
fn answers(filter: &(impl Filter + ?Sized)) -> Vec<bool> {
    let mut all = Vec::new();
    each_key(|key| all.push(answer(filter, key)));
    all
}

fn answer(filter: &(impl Filter + ?Sized), key: Key<'_>) -> bool {
    filter.contains(key).unwrap_or_else(|error| {
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

fn written(filter: &(impl Filter + ?Sized)) -> Vec<u8> {
    let bytes = filter.to_bytes();
    assert_eq!(bytes.len() as u64, filter.encoded_len());
    bytes
}

/// Checks bytes that may be a filter. Returns whether they are.
fn check<F: Filter>(data: &[u8], read: Read<F>, memory: Memory) -> bool {
    let Some(filter) = load(data, memory, read) else { return false };
    assert!(written(&filter) == data, "other bytes");
    check_filter(filter, read, memory);
    true
}

/// Inserts and removes keys. No key gets lost, and the filter can be written and read again.
fn check_filter<F: Filter>(mut filter: F, read: Read<F>, memory: Memory) {
    let before = answers(&filter);
    let mut inserted = Vec::new();
    each_key(|key| inserted.push(insert(&mut filter, key, memory)));
    check_again(&filter, read, &before);

    let mut removals = inserted.into_iter();
    each_key(|key| {
        // The others stay, so that one of them is lost if a removal removes too much.
        let removes = removals.next() == Some(true) && matches!(key, Key::Bytes(_));
        match if removes { filter.remove(key) } else { Err(Error::NoRemoval) } {
            Ok(removed) => assert!(removed, "{key:?} was inserted"),
            Err(error) => assert_eq!(error, Error::NoRemoval),
        }
    });
    check_again(&filter, read, &before);
}

/// Inserts a key. Returns whether the filter has it.
fn insert(filter: &mut impl Filter, key: Key<'_>, memory: Memory) -> bool {
    let old = written(filter);
    match within(Budget::Each(INSERT), || filter.insert(key)) {
        Ok(changed) => {
            // DataSketches ignores the empty string.
            let is_ignored = key == Key::Text("") && !changed;
            assert!(is_ignored || answer(filter, key), "{key:?} is missed");
            assert!(changed || written(filter) == old, "{key:?} changed the filter");
            !is_ignored
        }
        Err(error) => {
            let most =
                memory.growth.map_or(0, |growth| growth(&old)).saturating_mul(old.len() as u64);
            let is_of_size = match error {
                Error::Alloc { bytes } => bytes <= most,
                Error::Size { .. } => most > 0,
                _ => false,
            };
            assert!(
                is_of_size || error == Error::Full || is_of_key(&error, key),
                "{key:?}: {error}"
            );
            assert!(written(filter) == old, "a refused insert changed the filter");
            false
        }
    }
}

/// Checks that a filter has all keys that it had, and that it can be written and read again.
fn check_again<F: Filter>(filter: &F, read: Read<F>, before: &[bool]) {
    let now = answers(filter);
    assert!(
        before.iter().zip(&now).all(|(before, now)| before <= now),
        "a key of the file is lost"
    );
    let bytes = written(filter);
    let again = read(&bytes).expect("a filter that was written loads");
    assert!(written(&again) == bytes, "other bytes when it is written again");
    assert_eq!(answers(&again), now);
}

/// Checks bytes that may be a filter of any format, found by its name, and wraps it in a file of
/// Tamis. Returns whether they are one.
fn check_any(data: &[u8]) -> bool {
    let mut some = false;
    for &format in Format::ALL {
        let limit = CHUNKS.multiple * data.len() + LOAD;
        let filter = match within(Budget::Total(limit), || read(&[format], data, None)) {
            Ok(filter) => filter,
            Err(error) => {
                assert!(!matches!(error, Error::Alloc { .. }) && !error.to_string().is_empty());
                continue;
            }
        };
        assert!(filter.format() == format && written(&*filter) == data);
        let answers_before = answers(&*filter);
        // Those of LevelDB and RocksDB measure their rate, which takes milliseconds.
        let measures =
            matches!(format, Format::LevelDbFilter | Format::LevelDbBlock | Format::RocksDbLegacy);
        if !measures || data.len().is_multiple_of(16) {
            let rate = filter.false_positive_rate();
            assert!((0.0..=1.0).contains(&rate), "{format}: a rate of {rate}");
        }
        assert!(!filter.parameters().is_empty() || format == Format::LevelDbBlock);
        let mut file = Vec::new();
        let options = Options::new();
        options.write_foreign(&*filter, &mut file).expect("a vector takes all bytes");
        let unwrapped = options.read_foreign(&file[..], None).expect("what was wrapped");
        assert!(unwrapped.format() == format && written(&*unwrapped) == data);
        assert_eq!(answers(&*unwrapped), answers_before);
        some = true;
    }
    some
}

/// Checks bytes that may be the filter block of a table of LevelDB.
fn check_block(data: &[u8]) -> bool {
    let Some(block) = load(data, FIXED, LevelDbFilterBlock::from_bytes) else { return false };
    assert!(block.as_bytes() == data && block.filters() < data.len() / 4);
    let filters = block.filters() as u64;
    for offset in [0, 1 << 11, 1 << 12, filters.saturating_sub(1), filters, u64::MAX] {
        each_key(|key| {
            // A query copies a filter.
            let answer = within(Budget::Total(data.len() + LOAD), || block.contains(offset, key));
            match answer {
                Ok(contained) => assert!(contained || block.filters() > 0),
                Err(error) => assert!(is_of_key(&error, key), "{error}"),
            }
        });
    }
    true
}

/// Checks bytes that may be a Parquet file, and a file whose metadata they are.
fn check_parquet(data: &[u8]) -> bool {
    let length = data.len() as u32;
    let file = [b"PAR1", data, &length.to_le_bytes(), b"PAR1"].concat();
    check_parquet_file(data) | check_parquet_file(&file)
}

/// Returns whether the bytes are a file with a filter.
fn check_parquet_file(file: &[u8]) -> bool {
    let columns = load(file, STRINGS, ParquetColumn::all).unwrap_or_default();
    let mut some = false;
    for column in columns.into_iter().take(COLUMNS) {
        let Some(filter) = load(file, FIXED, |file| column.filter(file)) else { continue };
        // What a file has at the offset of the filter.
        let bytes = filter.to_bytes_with_header();
        let mut of_bytes = column.clone();
        (of_bytes.offset, of_bytes.length) = (0, Some(bytes.len() as u64));
        let again = of_bytes.filter(&bytes).expect("a filter with its header loads");
        assert!(written(&again) == written(&filter), "other bytes");
        assert_eq!(answers(&again), answers(&filter));
        some = true;
    }
    some
}

/// Checks chunks of RedisBloom. Each starts with a byte that says whether its iterator follows, or
/// is right; then its length and its bytes follow. Returns whether they load.
fn check_chunks<F: Filter>(
    mut data: &[u8],
    read: Read<F>,
    join: fn(Vec<Chunk<'_>>) -> Result<F, Error>,
    split: for<'f> fn(&'f F) -> Vec<Chunk<'f>>,
) -> bool {
    let (mut chunks, mut joined, mut right) = (Vec::new(), Vec::new(), 1);
    let mut are_right = true;
    while let Some((&is_given, rest)) = data.split_first() {
        data = rest;
        let given = take(&mut data, if is_given % 2 == 1 { 8 } else { 0 });
        let given = given.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
        let length = take(&mut data, 2).first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
        let chunk = take(&mut data, length.into());
        if !chunks.is_empty() {
            right += chunk.len() as i64;
        }
        let iterator = given.unwrap_or(right);
        chunks.push((iterator, Cow::Borrowed(chunk)));
        // The iterator 0 ends a dump.
        if iterator == 0 {
            break;
        }
        are_right &= iterator == right;
        joined.extend(chunk);
    }
    let filter = load(&joined, CHUNKS, |_| join(chunks));
    assert_eq!(filter.is_some(), are_right && read(&joined).is_ok());
    let Some(filter) = filter else { return false };
    assert!(written(&filter) == joined, "other bytes");
    match split(&filter) {
        // RedisBloom has no chunks for an empty cuckoo filter.
        chunks if chunks.is_empty() => assert_eq!(number(&joined, 0, 8), 0),
        chunks => assert!(written(&join(chunks).expect("its chunks load")) == joined),
    }
    true
}

/// Takes the next bytes, or those that are left.
fn take<'d>(data: &mut &'d [u8], count: usize) -> &'d [u8] {
    let (taken, rest) = data.split_at(count.min(data.len()));
    *data = rest;
    taken
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Otherwise the targets would test refusals only.
    #[test]
    fn the_regressions_load_unless_their_names_say_otherwise() {
        for (target, check) in CHECKS {
            let folder = format!("{}/regressions/{target}", env!("CARGO_MANIFEST_DIR"));
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let refused = path.file_name().unwrap().to_string_lossy().starts_with("refused-");
                assert_eq!(check(&fs::read(&path).unwrap()), !refused, "{}", path.display());
            }
        }
    }
}
