//! Names, parameters, rates and conversions of filters whose format is known only when the program
//! runs.

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_formats::foreign::{Error, Format, Key, KeyType, convert, read};
use tamis_formats::{LoadError, Options};
use tamis_vectors::{SYSTEMS, vectors};

use crate::every::{BLOCK, all, emptied, read_by_name};
use crate::key;

/// The least probability of a number of false positives, on each side. The vectors do not change,
/// so no run fails by chance.
///
/// POWER: with the 10,000 queries of a vector, it finds with a probability of 0.9 a rate of 1 %
/// that is half or double as estimated, and one of 10 % that is 0.83 or 1.17 times as estimated.
const ALPHA: f64 = 1e-5;

#[test]
fn the_parameters_are_those_of_the_manifests() {
    let mut compared = 0;
    for (vector, _) in all() {
        let parameters = read_by_name(&vector).parameters();
        let parameter =
            |name| parameters.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        let info = |name: &str| vector.param("info")[name].as_u64();
        let param = |name: &str| vector.param(name).as_u64();
        for (name, expected) in [
            ("bits", param("bits").or(param("m")).or(param("filter_bits"))),
            ("bits", param("vector_size").filter(|_| vector.name().starts_with(['m', 'j']))),
            ("bits", param("num_bytes").map(|bytes| 8 * bytes)),
            ("hash functions", param("k").or(param("nb_hash")).or(param("num_slices"))),
            ("seed", vector.param("seed").as_i64().map(|seed| seed as u64)),
            ("buckets", param("buckets")),
            ("items", param("count").or(info("Number of items inserted"))),
            ("sub-filters", info("Number of filters")),
            ("capacity", info("Capacity")),
            ("expansion", info("Expansion rate")),
            ("slots per bucket", info("Bucket size")),
            ("deletes", info("Number of items deleted")),
            ("iterations", info("Max iterations")),
        ] {
            let expected = expected.filter(|_| vector.name() != BLOCK);
            // Spark version 1 has no seed, and the options of a filter without growth have no
            // expansion.
            if let (Some(expected), Some(found)) = (expected, parameter(name)) {
                assert_eq!(found, expected, "{}: {name}", vector.name());
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 242);
}

/// The estimate and the false positives that the system itself had.
#[test]
fn the_rates_are_those_that_were_measured() {
    let mut checked = 0;
    for (vector, _) in all().into_iter().filter(|(vector, _)| vector.reproduce() != "read") {
        let rate = read_by_name(&vector).false_positive_rate();
        let (queries, found) =
            (vector.absent().len() as u64, vector.numbers("false_positives").len() as u64);
        checked += 1;
        let binomial = Binomial::new(rate, queries).unwrap();
        let (at_most, less) = (binomial.cdf(found), found.checked_sub(1));
        let at_least = less.map_or(1.0, |less| binomial.sf(less));
        assert!(
            at_most > ALPHA && at_least > ALPHA,
            "{}: {found} of {queries} at a rate of {rate}",
            vector.name()
        );
    }
    assert_eq!(checked, 105);
}

/// A block has the rate of any of its filters.
#[test]
fn a_filter_block_of_leveldb_is_a_filter_of_all_its_keys() {
    let all = all();
    let (vector, _) = all.iter().find(|(vector, _)| vector.name() == BLOCK).unwrap();
    let mut block = read_by_name(vector);
    let rate = block.false_positive_rate();
    let absent: Vec<String> = (0..10_000).map(|i| format!("absent {i}")).collect();
    let found = absent.iter().filter(|key| block.contains(Key::Text(key)) == Ok(true)).count();
    let binomial = Binomial::new(rate, 10_000).unwrap();
    let found = found as u64;
    assert!(
        binomial.cdf(found) > ALPHA && binomial.sf(found - 1) > ALPHA,
        "{found} of 10000 at a rate of {rate}"
    );
    assert_eq!(block.insert(Key::Text("a")), Err(Error::ReadOnly));
    assert!(matches!(block.contains(Key::I64(1)), Err(Error::Key { .. })));
    let empty = read(&[Format::LevelDbBlock], &[0, 0, 0, 0, 11], None).unwrap();
    assert!(empty.takes(KeyType::Text) && !empty.takes(KeyType::I64));
    assert_eq!((empty.contains(Key::Text("a")), empty.false_positive_rate()), (Ok(false), 0.0));
    // Filters that overlap could make the sum of their bytes a multiple of those of the block.
    let overlapping = [&[255; 8][..], &[6], &[0; 4], &[9, 0, 0, 0], &[0; 4], &[9, 0, 0, 0, 11]];
    let overlapping = read(&[Format::LevelDbBlock], &overlapping.concat(), None).unwrap();
    assert_eq!(overlapping.false_positive_rate(), 1.0);
}

#[test]
fn a_filter_is_converted_into_its_own_format_only() {
    for (vector, format) in all() {
        let filter = read_by_name(&vector);
        for &to in Format::ALL {
            let is_parquet = vector.system == "parquet" && to == Format::ParquetHeader;
            match convert(&*filter, to) {
                Ok(copy) if to == format => assert!(copy.to_bytes() == vector.bytes()),
                Ok(copy) if is_parquet => assert!(copy.to_bytes().ends_with(&vector.bytes())),
                Ok(_) => panic!("{}: converted to {to}", vector.name()),
                Err(error) => {
                    assert!(to != format && !is_parquet, "{}: {to}: {error}", vector.name());
                    assert_eq!(error, Error::Convert { from: format, to });
                }
            }
        }
    }
    let message = |from, to| Error::Convert { from, to }.to_string();
    assert_eq!(
        message(Format::HadoopCounting, Format::HadoopBloom),
        "hadoop:counting cannot become hadoop:bloom: filters of the two have other layouts"
    );
    assert_eq!(
        message(Format::RedisBloom, Format::RedisCuckoo),
        "redisbloom:bf cannot become redisbloom:cf: the two hash a key differently"
    );
}

#[test]
fn every_name_stands_for_its_format() {
    for (code, &format) in (1..).zip(Format::ALL) {
        assert_eq!((format.code(), format.to_string().as_str()), (code, format.name()));
        let system = format.name().split(':').next().unwrap();
        assert_eq!(format.system(), system);
        assert_eq!(Format::named(format.name()), Some(&[format][..]));
        let of_system = Format::named(system).unwrap();
        assert!(of_system.contains(&format));
        assert!(of_system.iter().all(|of| of.system() == system));
    }
    let first = |name| Format::named(name).unwrap()[0];
    let built = SYSTEMS.map(first).map(Format::name);
    let expected = [
        "bits_and_blooms",
        "datasketches",
        "go_cuckoo",
        "guava:mitz64",
        "hadoop:bloom",
        "leveldb:filter",
        "orc",
        "parquet:bitset",
        "pybloom_live:bloom",
        "rbloom",
        "redisbloom:bf",
        "rocksdb:format5",
        "spark:v1",
    ];
    assert_eq!(built, expected);
}

proptest! {
    /// A name that no format and no system has stands for nothing.
    #[test]
    fn other_names_stand_for_nothing(name in "[a-z0-9_:]{0,24}", at in 0..22_usize, cut in 0..24_usize) {
        let known = |name: &str| {
            Format::ALL.iter().any(|format| format.name() == name || format.system() == name)
        };
        let of_format = Format::ALL[at].name();
        let part = &of_format[..cut.min(of_format.len())];
        for name in [&name, part, &format!("{of_format}:"), &format!("{of_format}{name}")] {
            prop_assert_eq!(Format::named(name).is_some(), known(name), "{}", name);
        }
    }
}

/// Formats without a header take any bytes, and `tamis new` would write into them.
#[test]
fn what_is_something_else_is_no_filter() {
    let wrapped = {
        let mut bytes = Vec::new();
        let filter = Format::LevelDbFilter.build(1000, None, None).unwrap();
        Options::new().write_foreign(&*filter, &mut bytes).unwrap();
        bytes
    };
    let text = "https://example.org/é\r\n".repeat(32).into_bytes();
    let names = SYSTEMS.into_iter().chain(Format::ALL.iter().map(|format| format.name()));
    for name in names {
        let read = |bytes: &[u8]| read(Format::named(name).unwrap(), bytes, None);
        for (bytes, found) in [(&wrapped, "a file of tamis"), (&text, "text, not a filter")] {
            assert_eq!(read(bytes).unwrap_err(), Error::NoFilter { found }, "{name}");
        }
        // A file of Tamis of any version and length.
        let is_refused = |bytes| matches!(read(bytes), Err(Error::NoFilter { .. }));
        assert!(is_refused(&wrapped[..9]) && is_refused(b"\x89TAMIS\r\n\x63"), "{name}");
    }
    // Short text, and text with a zero, may be bits.
    let leveldb = |bytes: &[u8]| read(Format::named("leveldb").unwrap(), bytes, None).is_ok();
    assert!(leveldb(&text[..63]) && leveldb(&[&text[..], &[0]].concat()));
}

/// Returns a filter block whose filters have the keys of these lists. A list without keys has no
/// filter.
fn block(lists: &[Vec<String>]) -> Vec<u8> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for list in lists {
        offsets.extend((bytes.len() as u32).to_le_bytes());
        if !list.is_empty() {
            let mut filter = Format::LevelDbFilter.build(list.len() as u64, None, None).unwrap();
            list.iter().for_each(|key| assert!(filter.insert(Key::Text(key)).is_ok()));
            bytes.extend(filter.to_bytes());
        }
    }
    let end = bytes.len() as u32;
    [bytes, offsets, end.to_le_bytes().to_vec(), vec![11]].concat()
}

/// A bare `leveldb` is a filter, but not if the bytes are a block: no key would be found.
#[test]
fn a_block_of_leveldb_must_be_named() {
    let leveldb = |bytes: &[u8]| read(Format::named("leveldb").unwrap(), bytes, None);
    for stretches in [0, 1, 2, 9] {
        // Every third stretch of the table has no data block.
        let numbers =
            |stretch| (if stretch % 3 == 2 { 0..0 } else { 0..100 }).map(move |i| (stretch, i));
        let list = |stretch| numbers(stretch).map(|key| format!("{key:?}")).collect::<Vec<_>>();
        let lists: Vec<_> = (0..stretches).map(list).collect();
        let block = block(&lists);
        let error = leveldb(&block).unwrap_err();
        assert!(error.to_string().contains("name the format leveldb:block"), "{error}");
        for name in ["leveldb:block", "leveldb:filter"] {
            assert!(read(Format::named(name).unwrap(), &block, None).is_ok());
        }
        let block = read(&[Format::LevelDbBlock], &block, None).unwrap();
        for key in lists.iter().flatten() {
            assert_eq!(block.contains(Key::Text(key)), Ok(true), "{key} of {stretches}");
        }
    }
    // Filters whose number of hash functions is the base of a block.
    for count in 0..2000 {
        let mut filter = Format::LevelDbFilter.build(100 + count % 7, Some(5e-4), None).unwrap();
        assert_eq!(filter.parameters()[1], ("hash functions", 11));
        (count..count + count / 20)
            .for_each(|item| _ = filter.insert(Key::Text(&item.to_string())));
        assert!(leveldb(&filter.to_bytes()).is_ok(), "{count}");
    }
}

/// The keys stand in the order of their bytes in the table, and neighbouring filters have
/// neighbouring runs of keys.
#[test]
fn the_filters_of_a_block_of_leveldb_are_those_of_its_keys() {
    let vectors = vectors("leveldb");
    let vector = vectors.iter().find(|vector| vector.name() == BLOCK).unwrap();
    let (bytes, mut keys) = (vector.bytes(), vector.inserted());
    keys.sort_by_key(|of| match key(of) {
        Key::Bytes(bytes) => bytes.to_vec(),
        other => panic!("{other:?}"),
    });
    let offset = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let offsets = offset(bytes.len() - 5);
    let (mut rest, mut filters, mut built) = (keys.iter(), 0, Vec::new());
    for at in (offsets..bytes.len() - 5).step_by(4) {
        let file = &bytes[offset(at)..offset(at + 4)];
        if file.is_empty() {
            continue;
        }
        let empty = emptied(Format::LevelDbFilter, file);
        let mut filter = read(&[Format::LevelDbFilter], &empty, None).unwrap();
        // 10 bits per key, rounded up to bytes, and a byte with the number of hash functions.
        for of in rest.by_ref().take(8 * (file.len() - 1) / 10) {
            filter.insert(key(of)).unwrap();
        }
        built.extend(filter.to_bytes());
        filters += 1;
    }
    assert!(rest.len() == 0 && filters > 1, "{} keys after {filters} filters", rest.len());
    assert!(bytes[..offsets] == built, "built with other bytes");
}

/// A filter of DataSketches without a set bit is an empty one, in a union too.
#[test]
fn a_union_of_empty_datasketches_is_read() {
    let empty = Format::DataSketches.build(100, None, Some(1)).unwrap();
    let mut filter = Format::DataSketches.build(100, None, Some(1)).unwrap();
    filter.insert(Key::Text("a")).unwrap();
    // The number of set bits is not known, and none is set.
    let mut bytes = filter.to_bytes();
    let words = bytes.len() - 32;
    bytes[24..32].fill(0xff);
    bytes[32..].fill(0);
    assert!(words > 0);
    let unknown = read(&[Format::DataSketches], &bytes, None).unwrap();
    for mut union in [empty, read(&[Format::DataSketches], &bytes, None).unwrap()] {
        union.union_with(&*unknown).unwrap();
        let again = read(&[Format::DataSketches], &union.to_bytes(), None).unwrap();
        assert_eq!(again.contains(Key::Text("a")), Ok(false));
    }
}

/// Bytes of no format of a name: the error is that of the format whose header they have.
#[test]
fn the_error_is_that_of_the_likeliest_format() {
    let read = |name, bytes: &[u8]| read(Format::named(name).unwrap(), bytes, None).unwrap_err();
    let mut counting = Format::HadoopCounting.build(100, None, None).unwrap().to_bytes();
    counting.pop();
    let [found, expected] = [counting.len() as u64, 13 + 120];
    assert_eq!(read("hadoop", &counting), Error::Trailing { found, expected });
    let mut cuckoo = Format::RedisCuckoo.build(100, None, None).unwrap().to_bytes();
    cuckoo.pop();
    assert!(matches!(read("redisbloom", &cuckoo), Error::Truncated { .. }));
    // A Parquet file that is cut off to the length of a bitset.
    let error = read("parquet", &[b"PAR1", &[0; 60][..]].concat());
    assert!(matches!(error, Error::Field { field: "the magic at the end", .. }), "{error}");
    assert!(matches!(read("parquet", &[0; 33]), Error::Field { .. }));
    let error = tamis_formats::foreign::read(&[], &[0; 33], None).unwrap_err();
    assert_eq!(error, Error::Column { columns: String::new() });
}

/// The format in the header of a file of Tamis decides, not the first one that takes the bytes.
#[test]
fn the_format_in_the_header_is_the_one_that_was_saved() {
    for (vector, format) in all() {
        let mut bytes = Vec::new();
        Options::new().write_foreign(&*read_by_name(&vector), &mut bytes).unwrap();
        for other in Format::ALL.iter().filter(|other| **other != format) {
            let mut changed = bytes.clone();
            changed[152] = other.code();
            let sum = twox_hash::XxHash3_64::oneshot(&changed[..248]);
            changed[248..256].copy_from_slice(&sum.to_le_bytes());
            match Options::new().read_foreign(&changed[..], None) {
                Ok(filter) => assert_eq!(filter.format(), *other),
                Err(LoadError::Foreign { format, .. }) => assert_eq!(format, *other),
                Err(error) => panic!("{}: {other}: {error}", vector.name()),
            }
        }
    }
}
