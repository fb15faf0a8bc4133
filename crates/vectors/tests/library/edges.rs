//! Filters at the edge of what a system has: full, without bits, of other trailers and sizes.

use tamis_formats::foreign::{AnyFilter, Error, Filter, Format, Key, read};
use tamis_vectors::{Vector, vectors};

use crate::damage;
use crate::every::{BLOCK, emptied, read_by_name};
use crate::key;

fn open(format: Format, bytes: &[u8]) -> AnyFilter {
    read(&[format], bytes, None).unwrap()
}

fn vector(system: &str, name: &str) -> Vector {
    vectors(system).into_iter().find(|vector| vector.name() == name).unwrap()
}

#[test]
fn a_full_go_cuckoo_filter_refuses_a_key_and_does_not_change() {
    let mut filter = Format::GoCuckoo.build(8, None, None).unwrap();
    let mut keys = (0..1000_i64).map(i64::to_le_bytes);
    let refused = keys.find(|key| filter.insert(Key::Bytes(key)) == Err(Error::Full));
    let before = filter.to_bytes();
    assert_eq!(filter.insert(Key::Bytes(&refused.unwrap())), Err(Error::Full));
    assert!(filter.to_bytes() == before);
    assert!(matches!(filter.insert(Key::I32(1)), Err(Error::Key { .. })));
}

#[test]
fn bits_of_other_lengths_are_refused() {
    let go_cuckoo = [0, 3, 5, 12, 1020, 1023].map(|length| (Format::GoCuckoo, length));
    let parquet = [0, 1, 31, 33].map(|length| (Format::ParquetBitset, length));
    for (format, length) in go_cuckoo.into_iter().chain(parquet) {
        let error = read(&[format], &vec![0; length], None).unwrap_err();
        assert!(matches!(error, Error::Field { .. }), "{format} of {length} bytes");
    }
    // Not only powers of two.
    damage::exercise(&mut *open(Format::ParquetBitset, &[0; 96]));
}

#[test]
fn leveldb_filters_without_bits_or_of_any_number_of_hash_functions_work() {
    for length in 0..2 {
        let mut filter = open(Format::LevelDbFilter, &vec![255; length]);
        assert_eq!(filter.contains(Key::Text("a")), Ok(false));
        assert_eq!(filter.insert(Key::Text("a")), Err(Error::Full));
    }
    for k in [0, 31, 255] {
        let filter = open(Format::LevelDbFilter, &[0, k]);
        assert_eq!(filter.contains(Key::Text("a")), Ok(true), "{k}");
    }
}

/// All values of the bytes of the offsets.
#[test]
fn damaged_leveldb_filter_blocks_are_refused_or_work() {
    let bytes = vector("leveldb", BLOCK).bytes();
    for place in bytes.len() - 100..bytes.len() {
        for new in 0..=255 {
            let mut damaged = bytes.clone();
            damaged[place] = new;
            damage::is_used(&damaged, &[Format::LevelDbBlock]);
        }
    }
}

#[test]
fn rocksdb_ribbon_filters_are_refused() {
    let vectors = vectors("rocksdb");
    let ribbons = vectors.iter().filter(|vector| vector.name().starts_with("ribbon"));
    assert_eq!(ribbons.clone().count(), 1);
    for ribbon in ribbons {
        let error = read(Format::named("rocksdb").unwrap(), &ribbon.bytes(), None).unwrap_err();
        assert!(matches!(error, Error::Field { field: "the marker", found: -2, .. }));
    }
}

#[test]
fn rocksdb_filters_of_other_trailers_contain_every_key_or_none() {
    let answer = |bytes: &[u8]| {
        let rocksdb = || read(Format::named("rocksdb").unwrap(), bytes, None).unwrap();
        assert!(rocksdb().to_bytes() == bytes);
        damage::exercise(&mut *rocksdb());
        rocksdb().contains(Key::Text("a")).unwrap()
    };
    for length in 0..=5 {
        assert!(!answer(&vec![255; length]), "{length}");
    }
    for trailer in [
        [0xff, 0, 0, 0, 0],
        [0xff, 0, 31, 0, 0],
        [0xff, 0, 6, 0, 1],
        [0xff, 0, 6, 1, 0],
        [0xff, 1, 6, 0, 0],
        [0xff, 0, 0x26, 0, 0],
        [0xfd, 0, 6, 0, 0],
        [0, 1, 0, 0, 0],
        [6, 0, 0, 0, 0],
        [6, 3, 0, 0, 0],
        [6, 255, 255, 255, 255],
    ] {
        assert!(answer(&[&[0; 64][..], &trailer].concat()), "{trailer:?}");
    }
    assert!(!answer(&[&[0; 64][..], &[0xff, 0, 6, 0, 0]].concat()));
    // One line, two lines of half the size, and more probes than a writer takes.
    for trailer in [[6, 1, 0, 0, 0], [6, 2, 0, 0, 0], [127, 1, 0, 0, 0]] {
        assert!(!answer(&[&[0; 64][..], &trailer].concat()), "{trailer:?}");
    }
}

#[test]
fn an_empty_rocksdb_filter_has_no_key_and_takes_no_integer() {
    for name in ["fv5_bpk10_n100", "fv4_legacy_bpk10_mixed"] {
        let vector = vector("rocksdb", name);
        let format = read_by_name(&vector).format();
        let empty = open(format, &emptied(format, &vector.bytes()));
        assert!(matches!(empty.contains(Key::I64(1)), Err(Error::Key { .. })));
        assert_eq!(empty.contains(key(&vector.inserted()[0])), Ok(false));
    }
    let of_no_key = |format: Format| format.build(0, None, None).unwrap().to_bytes();
    assert!(of_no_key(Format::RocksDbFormat5).is_empty());
    assert_eq!(of_no_key(Format::RocksDbLegacy)[1..], [0; 4]);
}

#[test]
fn redisbloom_filters_with_a_byte_more_are_refused() {
    for name in ["bf_e01_c10_exp1", "cf_c64_b1", "bf_e001_c100_empty"] {
        let vector = vector("redisbloom", name);
        damage::trail(&vector.bytes(), read_by_name(&vector).format());
    }
}

/// RedisBloom refuses the first three too. The last ones would let an insert allocate far more than
/// the file has.
#[test]
fn redisbloom_headers_that_contradict_themselves_are_refused() {
    // 64 bits for 10 items at an error of 0.05, which take 5 hash functions.
    let mut filter = Format::RedisBloom.build(10, Some(0.1), None).unwrap();
    filter.insert(Key::Text("a")).unwrap();
    let bytes = filter.to_bytes();
    let refused = |at: usize, field: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + field.len()].copy_from_slice(field);
        read(&[Format::RedisBloom], &bytes, None).unwrap_err()
    };
    let field = |field, found, min, max| Error::Field { field, found, min, max };
    assert_eq!(refused(0, &[2]), field("the number of items", 2, 1, 1));
    let probes = "the number of hash functions";
    assert_eq!(refused(60, &[4]), field(probes, 4, 5, 5));
    // As many bits per entry as 10 hash functions need.
    assert_eq!(refused(52, &14_f64.to_le_bytes()), field(probes, 5, 10, 10));
    assert_eq!(refused(36, &[11]), field("the number of items", 11, 0, 10));
    assert_eq!(refused(64, &[65]), field("the capacity", 65, 1, 64));
    assert_eq!(refused(64, &[11]), Error::Size { parameter: "capacity" });
    assert_eq!(refused(44, &1e-300_f64.to_le_bytes()), Error::Size { parameter: "capacity" });
}

/// 4 items take 64.8 bits at half this error, which is that of the first sub-filter.
#[test]
fn redisbloom_drops_a_fraction_of_a_bit() {
    let bytes = Format::RedisBloom.build(4, Some(8.34e-4), None).unwrap().to_bytes();
    assert_eq!(bytes.len(), 20 + 53 + 8);
    let parameters = open(Format::RedisBloom, &bytes).parameters();
    assert_eq!(parameters[1..4], [("bits", 64), ("hash functions", 12), ("capacity", 4)]);
}

#[test]
fn redisbloom_sizes_that_do_not_exist_are_refused() {
    for (capacity, rate) in [(0, 0.1), (u64::MAX, 0.1), (10, 1.0), (10, f64::NAN), (10, 5e-324)] {
        let error = Format::RedisBloom.build(capacity, Some(rate), None).unwrap_err();
        assert!(matches!(error, Error::Size { .. }), "{capacity} {rate}: {error}");
    }
}

/// A filter of either sort that does not grow takes one key, and then no other.
#[test]
fn full_filters_of_redisbloom_refuse_a_key_and_do_not_change() {
    // The option `NONSCALING` in the header of a filter for one item.
    let mut bloom = Format::RedisBloom.build(1, Some(0.1), None).unwrap().to_bytes();
    bloom[12] |= 8;
    // One bucket of one slot, at most one move, and no expansion.
    let mut cuckoo = [0; 38 + 1];
    for (at, one) in [(8, 1), (24, 1), (32, 1), (34, 1)] {
        cuckoo[at] = one;
    }
    let mut bloom = open(Format::RedisBloom, &bloom);
    assert_eq!(bloom.remove(Key::Text("a")), Err(Error::NoRemoval));
    for filter in [&mut *bloom as &mut dyn Filter, &mut *open(Format::RedisCuckoo, &cuckoo)] {
        assert!(matches!(filter.insert(Key::I64(1)), Err(Error::Key { .. })));
        assert_eq!(filter.insert(Key::Text("a")), Ok(true));
        let before = filter.to_bytes();
        assert_eq!(filter.insert(Key::Text("b")), Err(Error::Full));
        assert!(filter.to_bytes() == before, "a refused insert changes the filter");
    }
}
