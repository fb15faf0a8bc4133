//! Files that hold filters of other systems: each damage and each impossible header is refused.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::bytes::{Broken, Bytes};
use crate::common::{Bloom, Small, bytes_of, small_bloom};
use tamis_formats::foreign::{self, AnyFilter, Error, Filter, Format, Key, convert};
use tamis_formats::{Info, LoadError, Options, load, read};
use twox_hash::XxHash3_64;

/// A filter of Guava of 102 bytes, so that the last line has padding.
fn small_guava() -> AnyFilter {
    let mut filter = Format::GuavaMitz64.build(100, Some(0.03), None).unwrap();
    for number in 0..50 {
        filter.insert(Key::I64(number)).unwrap();
    }
    assert_eq!(filter.encoded_len(), 102);
    filter
}

/// The file of [`small_guava`], which is not mapped.
pub(crate) fn small() -> Small {
    fn verdicts(path: &Path, bytes: &[u8]) -> [String; 3] {
        let text = |error: LoadError| format!("{error:?}");
        let loaded =
            || Options::new().load_foreign(path, None).err().map_or_else(String::new, text);
        let read = Options::new().read_foreign(bytes, None).err();
        [loaded(), read.map_or_else(String::new, text), loaded()]
    }
    let again = |path: &Path| Ok(wrapped(&*Options::new().load_foreign(path, None)?).0);
    Small { bytes: wrapped(&*small_guava()).0, verdicts, again }
}

fn wrapped(filter: &dyn Filter) -> Bytes {
    let mut bytes = Vec::new();
    Options::new().write_foreign(filter, &mut bytes).unwrap();
    Bytes(bytes)
}

/// Loads the bytes from a file and reads them from a stream. Both give the same filter or the same
/// error, which is returned as `Debug` writes it, with its message.
fn verdict(bytes: &[u8]) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    match (Options::new().load_foreign(&path, None), Options::new().read_foreign(bytes, None)) {
        (Ok(loaded), Ok(read)) => {
            assert!(loaded.to_bytes() == read.to_bytes());
            None
        }
        (Err(loaded), Err(read)) => {
            assert_eq!(format!("{loaded:?}"), format!("{read:?}"));
            Some((format!("{loaded:?}"), loaded.to_string()))
        }
        (loaded, read) => panic!("{loaded:?} from a file, {read:?} from a stream"),
    }
}

/// One row per fault: the change of the bytes, the error, and a part of its message. All checksums
/// are right.
#[test]
fn headers_and_bodies_that_no_writer_makes_are_refused() {
    let small = || wrapped(&*small_guava());
    // Without a body, the table is empty, and the bytes after the header are zeros.
    let empty = small().put(256, [0; 8]).sizes(0, 0, 0, 0).u64(144, XxHash3_64::oneshot(&[]));
    let empty = Bytes(empty.sum_header().0[..4096].to_vec());
    let rows: [(&str, Bytes, &str, &str); 24] = [
        ("size 0", empty, "Foreign", "it ends after 0 bytes"),
        ("size below", small().u64(88, 64).sum_header(), "Field { field: \"body length\"", "64"),
        ("size above", small().u64(88, 129).sum_header(), "Field { field: \"body length\"", "192"),
        ("size of the padding", small().u64(88, 103).sum_header(), "Foreign", "103 bytes"),
        ("size max", small().u64(88, u64::MAX).sum_header(), "Sizes(TooLarge)", "2^64"),
        ("size above 2^60", small().u64(88, (1 << 60) + 1).sum_header(), "Sizes(TooLarge)", "2^64"),
        ("size 2^60", small().sizes(1 << 60, 0, 0, 1 << 54), "Truncated", "cut off"),
        ("probes", small().u32(96, 1).sum_header(), "Field { field: \"probes\"", "must be 0"),
        ("words", small().u32(100, 1).sum_header(), "Field { field: \"words\"", "must be 0"),
        ("format 0", small().u64(152, 0).sum_header(), "ForeignFormat { found: 0 }", "format 0"),
        ("format 23", small().u64(152, 23).sum_header(), "ForeignFormat { found: 23 }", "23"),
        ("format 260", small().u64(152, 260).sum_header(), "ForeignFormat { found: 260 }", "260"),
        (
            "format 5",
            small().u64(152, 5).sum_header(),
            "Foreign",
            "guava:mitz64, not of guava:mitz32",
        ),
        ("format 10", small().u64(152, 10).sum_header(), "Foreign", "of format orc"),
        ("record", small().u64(160, 1).sum_header(), "NotZero { offset: 160 }", "offset 160"),
        (
            "capacity 2",
            small().u64(104, 2).sum_header(),
            "Field { field: \"capacity\"",
            "must be 1",
        ),
        ("capacity 0", small().u64(104, 0).sum_header(), "Capacity", "at least 1"),
        ("items", small().u64(112, 1).sum_header(), "Field { field: \"items\"", "must be 0"),
        ("layout", small().u32(24, 16).sum_header(), "Field { field: \"layout\"", "must be 32"),
        (
            "live",
            small().u32(20, 1).sum_header(),
            "LiveKind",
            "processes cannot share a foreign filter",
        ),
        ("seed", small().u64(32, 1).sum_header(), "HashProbe", "another hash function"),
        ("padding", small().put(4096 + 102, [1]).sum_all(), "NotZero { offset: 4198 }", "4198"),
        ("last byte", small().put(4096 + 127, [1]).sum_all(), "NotZero { offset: 4223 }", "4223"),
        ("strategy", small().put(4096, [2]).sum_all(), "Foreign", "the strategy is 2"),
    ];
    for (name, bytes, error, text) in rows {
        let (found, message) = verdict(&bytes.0).unwrap_or_else(|| panic!("{name}: taken"));
        assert!(found.starts_with(error), "{name}: {found}");
        assert!(message.contains(text), "{name}: {message}");
    }
}

/// The hash of Tamis has no meaning for the filter, so another one is refused although its hash
/// probe is right.
#[test]
fn the_fields_of_the_hash_have_one_value() {
    let other = |seed, algorithm| {
        let bloom = tamis_bloom::BloomFilter::<u64>::builder().bits(9).probes(1);
        let bytes = if algorithm == 1 {
            bytes_of(&bloom.hasher(tamis_hash::Rapid::with_seed(seed)).build().unwrap())
        } else {
            bytes_of(&bloom.hasher(tamis_hash::Xxh3::with_seed(seed)).build().unwrap())
        };
        // The algorithm, the key and the hash probe.
        wrapped(&*small_guava()).put(28, &bytes[28..56]).sum_header()
    };
    assert_eq!(verdict(&other(0, 1).0), None);
    let (error, _) = verdict(&other(1, 1).0).unwrap();
    assert_eq!(error, "Field { field: \"seed\", found: 1, expected: 0 }");
    let (error, _) = verdict(&other(0, 2).0).unwrap();
    assert_eq!(error, "Field { field: \"hash algorithm\", found: 2, expected: 1 }");
}

#[test]
fn a_file_of_one_kind_is_none_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    Options::new().save_foreign(&*small_guava(), &path).unwrap();
    let error = load::<Bloom>(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file holds a filter of type foreign filter, not BloomFilter"
    );
    let (error, _) = verdict(&bytes_of(&small_bloom())).unwrap();
    assert_eq!(error, "OtherKind { found: Bloom, expected: Foreign }");
    assert!(matches!(
        read::<Bloom>(&wrapped(&*small_guava()).0[..]),
        Err(LoadError::OtherKind { .. })
    ));
}

/// Filters without bytes, with whole lines, and of several chunks.
#[test]
fn filters_of_all_lengths_come_back() {
    for (format, capacity, length) in [
        (Format::RocksDbFormat5, 0, 0),
        (Format::ParquetBitset, 10, 32),
        (Format::GoCuckoo, 64, 64),
        (Format::GoCuckoo, 1 << 20, 1 << 20),
        (Format::BitsAndBlooms, 2_000_000, 24 + 2_396_272),
    ] {
        let mut filter = format.build(capacity, None, None).unwrap();
        for number in 0..capacity.min(32) {
            filter.insert(Key::Bytes(&number.to_le_bytes())).unwrap();
        }
        assert_eq!(filter.encoded_len(), length, "{format}");
        let bytes = wrapped(&*filter);
        assert_eq!(verdict(&bytes.0), None, "{format}");
        let again = Options::new().read_foreign(&bytes.0[..], None).unwrap();
        assert!(again.to_bytes() == filter.to_bytes(), "{format}");
        let info = Info::read(&bytes.0[..]).unwrap();
        assert_eq!(info.body_len(), length.next_multiple_of(64), "{format}");
        assert_eq!(info.file_len(), bytes.0.len() as u64, "{format}");
        // A damaged chunk, whichever it is.
        for chunk in 0..info.body_len().div_ceil(1 << 20) {
            let at = info.body_offset() + (chunk << 20) + 1;
            let mut damaged = bytes.0.clone();
            damaged[at as usize] ^= 1;
            let (error, _) = verdict(&damaged).unwrap();
            assert!(error.starts_with(&format!("ChunkChecksum {{ chunk: {chunk}")), "{error}");
        }
    }
}

/// The error of a failing reader is passed on, and a filter that could not be written leaves no
/// file.
#[test]
fn errors_of_the_system_are_passed_on() {
    let bytes = wrapped(&*small_guava()).0;
    for len in [0, 255, 256, 300, 4096, 4100] {
        let error = Options::new().read_foreign(bytes[..len].chain(Broken), None).unwrap_err();
        assert_eq!(error.to_string(), "the line is cut", "{len}");
    }
    let folder = tempfile::tempdir().unwrap();
    let error = Options::new().save_foreign(&*small_guava(), folder.path()).unwrap_err();
    assert!(matches!(error, tamis_formats::SaveError::NotAFile), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = Options::new().load_foreign(folder.path(), None).unwrap_err();
    assert!(matches!(error, LoadError::NotAFile), "{error}");
}

/// The header says what the bytes are, so that they may look like something else.
#[test]
fn a_filter_that_looks_like_text_comes_back() {
    let mut bytes = parquet_header(&[]);
    let start = bytes.len() - 64;
    bytes[start..].fill(b'A');
    let filter = foreign::read(&[Format::ParquetHeader], &bytes, None).unwrap();
    let filter = convert(&*filter, Format::ParquetBitset).unwrap();
    let text = filter.to_bytes();
    assert!(matches!(
        foreign::read(&[Format::ParquetBitset], &text, None),
        Err(Error::NoFilter { .. })
    ));
    let wrapped = wrapped(&*filter);
    assert_eq!(verdict(&wrapped.0), None);
    assert!(Options::new().read_foreign(&wrapped.0[..], None).unwrap().to_bytes() == text);
}

/// Returns a filter of 64 bytes with its header.
fn parquet_header(key: &[u8]) -> Vec<u8> {
    let mut filter = foreign::read(&[Format::ParquetBitset], &[0; 64], None).unwrap();
    filter.insert(Key::Bytes(key)).unwrap();
    convert(&*filter, Format::ParquetHeader).unwrap().to_bytes()
}

/// The footer of a Parquet file with a filter for each of two columns, in Thrift.
const TWO_COLUMNS: &[u8] = &[
    0x49, 0x1c, // a list of one row group
    0x19, 0x2c, // a list of two columns
    0x3c, 0x15, 12, 0x29, 0x18, 1, b'a', 0xb6, 8, 0, 0, // strings, and a filter at 4
    0x3c, 0x15, 12, 0x29, 0x18, 1, b'b', 0xb6, 168, 1, 0, 0, // the same at 84
    0, 0,
];

/// A file and a stream are asked for the same columns.
#[test]
fn a_column_of_several_comes_back() {
    let [one, other] = [b"one", b"two"].map(|key| parquet_header(key));
    let length = (TWO_COLUMNS.len() as u32).to_le_bytes();
    let file = [b"PAR1", &one[..], &other, TWO_COLUMNS, &length, b"PAR1"].concat();
    let wrapped = wrapped(&*foreign::read(&[Format::ParquetFile], &file, Some("a")).unwrap());
    for (column, key) in [("a", b"one"), ("b", b"two")] {
        let filter = Options::new().read_foreign(&wrapped.0[..], Some(column)).unwrap();
        assert_eq!(filter.contains(Key::Bytes(key)), Ok(true));
    }
    let (error, _) = verdict(&wrapped.0).unwrap();
    assert!(error.contains("Column"), "{error}");
}

/// Keys keep their meaning: the loaded filter answers as the saved one, and grows on.
#[test]
fn a_loaded_filter_is_used_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut filter = Format::PybloomScalable.build(10, Some(0.1), None).unwrap();
    let keys: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    for (number, key) in keys.iter().enumerate() {
        filter.insert(Key::Text(key)).unwrap();
        if number % 20 == 0 {
            Options::new().save_foreign(&*filter, &path).unwrap();
            filter = Options::new().load_foreign(&path, None).unwrap();
        }
    }
    assert!(keys.iter().all(|key| filter.contains(Key::Text(key)) == Ok(true)));
    assert_eq!(filter.contains(Key::I64(1)), Err(Error::Key { found: Key::I64(1).key_type() }));
}
