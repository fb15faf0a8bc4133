//! The Go package `cuckoofilter`.

use tamis_formats::foreign::{Error, Filter, GoCuckooFilter, Key};
use tamis_vectors::{Vector, vectors};

use crate::{System, number};

fn build(vector: &Vector) -> Result<GoCuckooFilter, Error> {
    GoCuckooFilter::new(number(vector, "capacity"))
}

fn system() -> System<GoCuckooFilter> {
    System { name: "go_cuckoo", vectors: 9, read: GoCuckooFilter::from_bytes, build }
}

#[test]
fn go_cuckoo_filters() {
    system().check();
}

#[test]
fn go_cuckoo_filters_that_move_fingerprints_miss_no_key() {
    for vector in vectors("go_cuckoo") {
        let filter = system().built(&vector);
        assert_eq!(filter.count(), number(&vector, "count"), "{}", vector.name());
        assert_eq!(GoCuckooFilter::from_bytes(&vector.bytes()).unwrap().count(), filter.count());
        let deleted = vector.deleted();
        for inserted in vector.inserted().iter().filter(|inserted| !deleted.contains(inserted)) {
            assert_eq!(filter.contains(crate::key(inserted)), Ok(true), "{}", vector.name());
        }
    }
}

#[test]
fn a_full_go_cuckoo_filter_refuses_a_key_and_does_not_change() {
    let mut filter = GoCuckooFilter::new(8).unwrap();
    let mut keys = (0..1000_i64).map(i64::to_le_bytes);
    let refused = keys.find(|key| filter.insert(Key::Bytes(key)) == Err(Error::Full));
    let before = filter.to_bytes();
    assert_eq!(filter.insert(Key::Bytes(&refused.unwrap())), Err(Error::Full));
    assert!(filter.to_bytes() == before);
    assert!(matches!(filter.insert(Key::I32(1)), Err(Error::Key { .. })));
    assert!(matches!(GoCuckooFilter::new(u64::MAX), Err(Error::Size { .. })));
}

#[test]
fn go_cuckoo_filters_of_other_lengths_are_refused() {
    let bytes = system().built(&vectors("go_cuckoo")[0]).to_bytes();
    for length in [0, 3, 5, 12, 1020, 1023] {
        let error = GoCuckooFilter::from_bytes(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::Field { .. }), "{length}");
    }
}
