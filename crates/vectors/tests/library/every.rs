//! Every vector: read, queried, written, wrapped in a file of Tamis, and built again.

use std::path::Path;

use tamis_formats::foreign::{AnyFilter, Filter, Format, KeyType, read};
use tamis_formats::{Geometry, Info, Kind, LoadError, Normalization, Options};
use tamis_vectors::{SYSTEMS, Vector, vectors};

use crate::key;

/// The filter block of a table of LevelDB. A bare `leveldb` is a filter.
pub(crate) const BLOCK: &str = "table_bpk10";

/// Returns all vectors that are Bloom or cuckoo filters, and their formats as the manifests say.
pub(crate) fn all() -> Vec<(Vector, Format)> {
    let all = SYSTEMS.into_iter().flat_map(vectors);
    let all = all.filter(|vector| !vector.name().starts_with("ribbon"));
    let with_format = |vector: Vector| {
        let format = format_of(&vector);
        (vector, format)
    };
    let all: Vec<_> = all.map(with_format).collect();
    assert_eq!(all.len(), 106);
    all
}

pub(crate) fn format_of(vector: &Vector) -> Format {
    *Format::ALL.iter().find(|format| format.name() == vector.format()).unwrap()
}

/// Reads a vector by the name of its system.
pub(crate) fn read_by_name(vector: &Vector) -> AnyFilter {
    let name = if vector.name() == BLOCK { "leveldb:block" } else { &vector.system };
    let formats = Format::named(name).unwrap();
    read(formats, &vector.bytes(), None).unwrap_or_else(|error| panic!("{vector:?}: {error}"))
}

/// The numbers of vectors that were built again.
#[derive(Debug, Default, PartialEq)]
struct Built {
    /// By `Format::build`: the same bytes.
    by_sizes: u32,
    /// From the file without its keys, as the sizes are not those of a capacity and a rate: the
    /// same bytes.
    from_empty: u32,
    /// By `Format::build`: the same answers, as the system moves fingerprints at random.
    as_answers: u32,
    /// Not: the filter block of a table has more than a filter.
    not: u32,
}

#[test]
fn every_vector_is_a_filter_of_its_system() {
    let folder = tempfile::tempdir().unwrap();
    let mut built = Built::default();
    for (vector, format) in all() {
        let (name, filter) = (vector.name(), read_by_name(&vector));
        assert_eq!((filter.format(), format.system()), (format, &*vector.system), "{name}");
        assert_eq!(filter.encoded_len(), vector.bytes().len() as u64, "{name}");
        assert!(filter.to_bytes() == vector.bytes(), "{name}: written with other bytes");
        check_inserted(&vector, &*filter);
        // A container has no list of false positives.
        if vector.reproduce() != "read" {
            check_absent(&vector, &*filter);
        }
        check_types(&vector, &*filter);
        check_others(&vector, format);
        check_wrapped(&vector, &*filter, &folder.path().join("wrapped"));
        check_built(&vector, format, &mut built);
    }
    assert_eq!(built, Built { by_sizes: 52, from_empty: 50, as_answers: 3, not: 1 });
}

/// Inserted keys are found. Of the deleted ones, those are found that the system finds.
fn check_inserted(vector: &Vector, filter: &dyn Filter) {
    let deleted = vector.deleted();
    for inserted in vector.inserted().iter().filter(|inserted| !deleted.contains(inserted)) {
        assert_eq!(filter.contains(key(inserted)), Ok(true), "{}: {inserted:?}", vector.name());
    }
    let still = vector.numbers("deleted_still_maybe");
    for (number, deleted) in (0..).zip(&deleted) {
        let found = still.contains(&number);
        assert_eq!(filter.contains(key(deleted)), Ok(found), "{}: {deleted:?}", vector.name());
    }
}

/// Of the absent keys exactly those are found that the system finds.
pub(crate) fn check_absent(vector: &Vector, filter: &dyn Filter) {
    let absent = vector.absent().into_iter();
    let found = absent.filter(|(_, absent)| filter.contains(key(absent)).unwrap());
    let found: Vec<i64> = found.map(|(number, _)| number).collect();
    assert_eq!(found, vector.numbers("false_positives"), "{}", vector.name());
}

/// The types of keys are those of the system.
fn check_types(vector: &Vector, filter: &dyn Filter) {
    let name = vector.name();
    let types = [KeyType::Bytes, KeyType::Text, KeyType::I32, KeyType::I64];
    let of_vector = types.iter().find(|of| of.to_string() == vector.key_type());
    assert!(filter.takes(*of_vector.unwrap()), "{name}");
    let integers = ["datasketches", "guava", "orc", "parquet", "spark"];
    let takes = integers.contains(&&*vector.system);
    let expected = [vector.system != "pybloom_live", true, takes, takes];
    assert_eq!(types.map(|of| filter.takes(of)), expected, "{name}");
}

/// The other formats of the system refuse the bytes, whatever the order of the formats.
fn check_others(vector: &Vector, format: Format) {
    let (name, bytes) = (vector.name(), vector.bytes());
    let others = Format::ALL.iter().copied();
    let others = others.filter(|other| *other != format && other.system() == format.system());
    for other in others.filter(|_| vector.system != "leveldb") {
        let error = read(&[other], &bytes, None).unwrap_err();
        assert!(!error.to_string().is_empty(), "{name}: {other}");
        for formats in [[format, other], [other, format]] {
            assert_eq!(read(&formats, &bytes, None).unwrap().format(), format, "{name}");
        }
    }
}

/// A file of Tamis has the filter, and the same bytes come back.
fn check_wrapped(vector: &Vector, filter: &dyn Filter, path: &Path) {
    let (name, bytes, format) = (vector.name(), vector.bytes(), filter.format());
    let options = Options::new().normalization(Normalization::new("url-v1").unwrap());
    options.save_foreign(filter, path).unwrap();
    let again = options.load_foreign(path, None).unwrap();
    assert_eq!(again.format(), format, "{name}");
    assert!(again.to_bytes() == bytes, "{name}: unwrapped with other bytes");
    // The body has the bytes as they are.
    let file = std::fs::read(path).unwrap();
    let info = Info::open(path).unwrap();
    let body = &file[info.body_offset() as usize..];
    assert!(body.starts_with(&bytes), "{name}: other bytes in the body");
    assert!(body[bytes.len()..].iter().all(|byte| *byte == 0), "{name}: bytes after the filter");
    // The description of the file.
    let Geometry::Foreign(sizes) = info.geometry() else { panic!("{name}: {info:?}") };
    assert_eq!((info.kind(), sizes.format()), (Kind::Foreign, format), "{name}");
    assert_eq!(sizes.len(), bytes.len() as u64, "{name}");
    assert_eq!((info.items(), info.normalization().name()), (None, "url-v1"), "{name}");
    // A stream has the same bytes, and others may follow.
    let mut stream = Vec::new();
    options.write_foreign(filter, &mut stream).unwrap();
    assert!(stream == file, "{name}: other bytes in a stream");
    stream.push(7);
    let mut rest = &stream[..];
    assert!(options.read_foreign(&mut rest, None).unwrap().to_bytes() == bytes, "{name}");
    assert_eq!(rest, [7], "{name}");
    let error = Options::new().load_foreign(path, None).unwrap_err();
    assert!(matches!(error, LoadError::OtherNormalization { .. }), "{name}: {error}");
}

/// Parameters and keys give the same filter.
fn check_built(vector: &Vector, format: Format, built: &mut Built) {
    let name = vector.name();
    let (count, mut filter) = match (vector.reproduce(), vector.arguments()) {
        ("bytes" | "queries", Some(arguments)) => {
            let is_exact = vector.reproduce() == "bytes";
            let filter = format.build(arguments.capacity, arguments.rate, arguments.seed).unwrap();
            (if is_exact { &mut built.by_sizes } else { &mut built.as_answers }, filter)
        }
        ("bytes", None) => {
            let empty = emptied(format, &vector.bytes());
            (&mut built.from_empty, read(&[format], &empty, None).unwrap())
        }
        other => {
            assert_eq!((other.0, format), ("read", Format::LevelDbBlock), "{name}");
            built.not += 1;
            return;
        }
    };
    *count += 1;
    assert_eq!(filter.format(), format, "{name}");
    insert_all(vector, &mut *filter);
    for deleted in vector.deleted() {
        assert_eq!(filter.remove(key(&deleted)), Ok(true), "{name}: {deleted:?}");
    }
    if vector.reproduce() == "bytes" {
        assert!(filter.to_bytes() == vector.bytes(), "{name}: built with other bytes");
    } else {
        assert_eq!(filter.parameters(), read_by_name(vector).parameters(), "{name}");
        let deleted = vector.deleted();
        for inserted in vector.inserted().iter().filter(|inserted| !deleted.contains(inserted)) {
            assert_eq!(filter.contains(key(inserted)), Ok(true), "{name}: {inserted:?}");
        }
    }
}

/// Inserts the keys. RedisBloom said which of them may have been there.
fn insert_all(vector: &Vector, filter: &mut dyn Filter) {
    let looks_first = vector.param("add").as_str() == Some("CF.ADDNX");
    let mut refused = Vec::new();
    for (at, inserted) in (0..).zip(vector.inserted()) {
        let key = key(&inserted);
        let is_there = looks_first && filter.contains(key).unwrap();
        if is_there || !filter.insert(key).unwrap() {
            refused.push(at);
        }
    }
    if vector.system == "redisbloom" {
        let expected = vector.field("extra")["add_answered_0_at"].as_array().unwrap().iter();
        let mut expected: Vec<u64> = expected.map(|at| at.as_u64().unwrap()).collect();
        expected.sort_unstable();
        assert_eq!(refused, expected, "{}", vector.name());
    }
}

/// Returns the file of a filter as it was before its first key: the sizes stay, and the bits and
/// the numbers of keys are zero.
pub(crate) fn emptied(format: Format, file: &[u8]) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize;
    // The bytes of the sizes at the start and at the end, and those of the bits.
    let (start, end, bits) = match format {
        Format::ParquetBitset => (0, 0, file.len()),
        Format::LevelDbFilter => (0, 1, file.len() - 1),
        Format::RocksDbFormat5 | Format::RocksDbLegacy => (0, 5, file.len() - 5),
        Format::GuavaMitz64 | Format::GuavaMitz32 => (6, 0, file.len() - 6),
        Format::Rbloom => (8, 0, file.len() - 8),
        Format::SparkV1 => (12, 0, file.len() - 12),
        Format::HadoopBloom | Format::HadoopCounting => (13, 0, file.len() - 13),
        Format::SparkV2 => (16, 0, file.len() - 16),
        Format::BitsAndBlooms => (24, 0, file.len() - 24),
        // Without a key there are no bits. The count of the others is unset.
        Format::DataSketches if file.len() == 24 => (24, 0, 0),
        Format::DataSketches => (32, 0, file.len() - 32),
        // Without a key there is no part.
        Format::PybloomScalable => (32, 0, 0),
        // One sub-filter, with its length at byte 20.
        Format::RedisBloom => (20 + 53, 0, number(20)),
        // One sub-filter, with its buckets at byte 8, and their slots at byte 32.
        Format::RedisCuckoo => (38, 0, number(8) * usize::from(file[32])),
        other => panic!("{other} is built from its sizes"),
    };
    let mut empty = file[..start].to_vec();
    // The numbers of keys, and of the parts.
    for (place, new) in match format {
        Format::PybloomScalable => vec![(28..32, 0)],
        Format::RedisBloom => vec![(0..8, 0), (8..12, 1), (36..44, 0)],
        Format::RedisCuckoo => vec![(0..8, 0), (16..24, 0), (24..32, 1)],
        _ => vec![],
    } {
        empty[place.clone()].fill(0);
        empty[place.start] = new;
    }
    empty.resize(start + bits, 0);
    empty.extend(&file[file.len() - end..]);
    empty
}
