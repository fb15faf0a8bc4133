//! RocksDB: formats 5 and 4. The Ribbon filter is refused.

use tamis_formats::foreign::{Error, Filter, Key, RocksDbFilter};
use tamis_vectors::{Vector, vectors};

use crate::{System, damage, key, number};

fn build(vector: &Vector) -> Result<RocksDbFilter, Error> {
    let mut keys: Vec<_> = vector.inserted().into_iter().map(|key| format!("{key:?}")).collect();
    keys.sort_unstable();
    keys.dedup();
    let bits_per_key = vector.param("bits_per_key").as_f64().unwrap();
    match number(vector, "format_version") {
        5 => RocksDbFilter::new(keys.len() as u64, bits_per_key),
        _ => RocksDbFilter::new_as_format_4(keys.len() as u64, bits_per_key),
    }
}

#[test]
fn rocksdb_filters() {
    let system = System { name: "rocksdb", vectors: 10, read: RocksDbFilter::from_bytes, build };
    let all = vectors("rocksdb").into_iter();
    let bloom = all.filter(|vector| !vector.name().starts_with("ribbon"));
    system.check_vectors(&bloom.collect::<Vec<_>>());
}

#[test]
fn rocksdb_ribbon_filters_are_refused() {
    let vectors = vectors("rocksdb");
    let ribbons = vectors.iter().filter(|vector| vector.name().starts_with("ribbon"));
    assert_eq!(ribbons.clone().count(), 1);
    for ribbon in ribbons {
        let error = RocksDbFilter::from_bytes(&ribbon.bytes()).unwrap_err();
        assert!(matches!(error, Error::Field { field: "the marker", found: -2, .. }));
    }
}

#[test]
fn rocksdb_filters_of_other_trailers_contain_every_key_or_none() {
    let answer = |bytes: &[u8]| {
        let mut filter = RocksDbFilter::from_bytes(bytes).unwrap();
        assert!(filter.to_bytes() == bytes);
        damage::exercise(&mut filter);
        RocksDbFilter::from_bytes(bytes).unwrap().contains(Key::Text("a")).unwrap()
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
        let vectors = vectors("rocksdb");
        let vector = vectors.iter().find(|vector| vector.name() == name).unwrap();
        assert!(matches!(build(vector).unwrap().contains(Key::I64(1)), Err(Error::Key { .. })));
        assert!(build(vector).unwrap().contains(key(&vector.inserted()[0])) == Ok(false));
    }
}

#[test]
fn rocksdb_sizes_that_do_not_exist_are_refused() {
    for (keys, bits_per_key) in [(u64::MAX, 10.0), (1 << 32, 10.0), (10, 0.4), (10, f64::NAN)] {
        for filter in [
            RocksDbFilter::new(keys, bits_per_key),
            RocksDbFilter::new_as_format_4(keys, bits_per_key),
        ] {
            assert!(matches!(filter.unwrap_err(), Error::Size { .. }), "{keys} {bits_per_key}");
        }
    }
    for bits_per_key in [0.5, 1.0, 1.001, 2.0] {
        let bytes = RocksDbFilter::new(100, bits_per_key).unwrap().to_bytes();
        assert_eq!(bytes[bytes.len() - 3], 1, "{bits_per_key}: hash functions");
    }
    assert!(RocksDbFilter::new(0, 10.0).unwrap().to_bytes().is_empty());
    assert_eq!(RocksDbFilter::new_as_format_4(0, 10.0).unwrap().to_bytes(), [6, 0, 0, 0, 0]);
}
