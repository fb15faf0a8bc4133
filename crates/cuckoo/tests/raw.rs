//! Tests that a filter made from the words of another one is the same filter, for every shape that
//! this processor supports.

use tamis_cuckoo::raw::{self, Lines, LinesError};
use tamis_cuckoo::{BuildError, Buildable, CuckooFilter, Geometry, InsertError, OnceCuckooFilter};
use tamis_hash::{HashItem, SipHash13};

/// An even number of buckets that fills no whole line in any shape.
const BUCKETS: u64 = 1002;

fn hasher() -> SipHash13 {
    SipHash13::with_key([7; 16])
}

fn hash(item: u64) -> u64 {
    hasher().hash_item(&item)
}

/// Copies the lines, and counts the fingerprints in them again.
fn copy_lines<F: Buildable>(filter: &F, geometry: Geometry) -> (Lines, u64) {
    let (lines, len) = raw::try_copy_lines(filter).unwrap();
    let words = lines.iter().map(|line| line.words.each_ref().map(|word| word.peek()));
    let lens = (0..).zip(words).map(|(line, words)| raw::line_len(geometry, line, &words).unwrap());
    assert_eq!(lens.map(u64::from).sum::<u64>(), len);
    (lines, len)
}

/// Returns the geometry of each supported shape, and a number of items that fills it to nine
/// tenths.
fn geometries() -> impl Iterator<Item = (Geometry, u64)> {
    Geometry::shapes().map(|(slots, bits)| {
        let share = if slots == 2 { 80 } else { 90 };
        (raw::geometry(BUCKETS, slots, bits).unwrap(), BUCKETS * u64::from(slots) * share / 100)
    })
}

#[test]
fn a_filter_from_words_has_the_same_copies() {
    for (geometry, items) in geometries() {
        let builder = CuckooFilter::<u64>::builder().hasher(hasher());
        let filter = builder.like(geometry).capacity(77).build().unwrap();
        // Every tenth item twice, and every eleventh removed.
        for item in 0..items / 10 * 9 {
            filter.insert(&item).unwrap();
            if item % 10 == 0 {
                filter.insert(&item).unwrap();
            }
            if item % 11 == 0 {
                assert!(filter.remove(&item));
            }
        }
        let (lines, len) = copy_lines(&filter, geometry);
        assert_eq!(len, filter.len() as u64, "{geometry:?}");
        let copy: CuckooFilter<u64, _> =
            raw::from_lines(geometry, filter.capacity(), hasher(), lines, len).unwrap();
        assert_eq!((copy.geometry(), copy.capacity(), copy.len()), (geometry, 77, filter.len()));
        assert_eq!(copy.false_positive_rate(), filter.false_positive_rate());
        let numbers = 0..2 * items;
        for item in numbers.clone() {
            assert_eq!(copy.count(&item), filter.count(&item), "{geometry:?}");
            assert_eq!(copy.contains(&item), filter.contains(&item), "{geometry:?}");
        }
        assert_eq!(copy.contains_many(numbers.clone()), filter.contains_many(numbers));
        // Both filters stay equal, through relocations, failed inserts and removals.
        let mut full = 0;
        for item in items..items * 5 / 4 {
            let result = copy.insert(&item);
            assert_eq!(result, filter.insert(&item), "{geometry:?}");
            full += u32::from(result == Err(InsertError::Full));
        }
        assert!(full > 0, "{geometry:?}");
        for item in (0..items).step_by(3) {
            assert_eq!(copy.remove(&item), filter.remove(&item), "{geometry:?}");
        }
        assert_eq!(copy.len(), filter.len());
        let (copied, _) = copy_lines(&copy, geometry);
        let (expected, _) = copy_lines(&filter, geometry);
        assert_eq!(bits(copied), bits(expected), "{geometry:?}");
    }
}

/// Returns all words.
fn bits(mut lines: Lines) -> Vec<u64> {
    lines
        .iter_mut()
        .flat_map(|line| &mut line.words)
        .map(|word| word.update(|bits| *bits))
        .collect()
}

#[test]
fn a_once_filter_from_words_has_the_same_items() {
    for (geometry, items) in geometries() {
        let builder = OnceCuckooFilter::<u64>::builder().hasher(hasher());
        let filter = builder.like(geometry).build().unwrap();
        for item in 0..items {
            filter.insert(&item).unwrap();
        }
        let (lines, len) = copy_lines(&filter, geometry);
        let copy: OnceCuckooFilter<u64, _> =
            raw::from_lines(geometry, filter.capacity(), hasher(), lines, len).unwrap();
        assert_eq!((copy.len(), copy.capacity()), (filter.len(), filter.capacity()));
        for item in 0..items {
            assert_eq!(copy.insert(&item), Ok(false), "{geometry:?}");
        }
        let (lines, len) = copy_lines(&filter, geometry);
        let frozen =
            raw::frozen_from_lines::<OnceCuckooFilter<u64, _>>(geometry, 1, hasher(), lines, len);
        let frozen = frozen.unwrap();
        let mut answers = vec![];
        frozen.contains_hashes((0..2 * items).map(hash), |_, found| answers.push(found));
        for (item, &answer) in (0..).zip(&answers) {
            assert_eq!(answer, filter.contains(&item));
            assert_eq!(frozen.contains(&item), answer);
        }
    }
}

#[test]
fn lines_and_lengths_that_do_not_fit_are_refused() {
    let geometry = raw::geometry(BUCKETS, 4, 16).unwrap();
    assert_eq!(raw::lines(geometry), 126);
    let make = |lines, len| {
        let lines = Lines::zeroed(lines).unwrap();
        raw::from_lines::<CuckooFilter<u64, _>>(geometry, 0, hasher(), lines, len)
    };
    for found in [1, 125, 127] {
        assert_eq!(make(found, 0).unwrap_err(), LinesError::Count { expected: 126, found });
    }
    let slots = 4 * BUCKETS;
    assert_eq!(make(126, slots + 1).unwrap_err(), LinesError::Len { found: slots + 1, slots });
    let filter = make(126, slots).unwrap();
    assert_eq!((filter.len() as u64, filter.capacity()), (slots, 1));
    let frozen = raw::frozen_from_lines::<CuckooFilter<u64, _>>(
        geometry,
        0,
        hasher(),
        Lines::zeroed(1).unwrap(),
        0,
    );
    assert_eq!(frozen.unwrap_err(), LinesError::Count { expected: 126, found: 1 });
}

/// A shape that the processor does not support can be described and queried, but not written.
#[test]
fn unsupported_shapes_are_refused_for_writing_only() {
    for (slots, fingerprint_bits) in [(4, 16), (7, 18), (5, 25), (4, 32), (3, 42)] {
        let geometry = raw::geometry(100, slots, fingerprint_bits).unwrap();
        let lines = || Lines::zeroed(raw::lines(geometry)).unwrap();
        let built = CuckooFilter::<u64>::builder().hasher(hasher()).like(geometry).build();
        let loaded = raw::from_lines::<CuckooFilter<u64, _>>(geometry, 1, hasher(), lines(), 0);
        if Geometry::shapes().any(|shape| shape == (slots, fingerprint_bits)) {
            assert!(raw::is_supported(geometry) && built.is_ok() && loaded.is_ok());
        } else {
            assert!(!raw::is_supported(geometry));
            let error = BuildError::ShapeUnsupported { slots, fingerprint_bits };
            assert_eq!(built.unwrap_err(), error);
            let error = LinesError::Unsupported { slots, fingerprint_bits };
            assert_eq!(loaded.unwrap_err(), error);
        }
        let frozen =
            raw::frozen_from_lines::<CuckooFilter<u64, _>>(geometry, 1, hasher(), lines(), 0);
        assert!(!frozen.unwrap().contains(&1));
    }
}

#[test]
fn sizes_that_no_filter_has_are_refused() {
    assert_eq!(raw::geometry(0, 4, 16), Err(BuildError::Buckets { buckets: 0 }));
    assert_eq!(raw::geometry(3, 7, 18), Err(BuildError::Buckets { buckets: 3 }));
    let error = BuildError::Shape { slots: 6, fingerprint_bits: 21 };
    assert_eq!(raw::geometry(2, 6, 21), Err(error));
    assert_eq!(raw::geometry(u64::MAX - 1, 3, 42), Err(BuildError::TooLarge));
    assert_eq!(raw::geometry(1 << 56, 3, 42).unwrap().buckets(), 1 << 56);
}
