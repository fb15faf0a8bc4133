//! Random operations on small filters, compared with a multiset: every result follows from the
//! operations before it, and a failed operation has changed nothing.
//!
//! The oracle computes the classes (the items that the filter cannot distinguish) independently, so
//! its counts are exact.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use tamis_cuckoo::{
    Buildable, Builder, CuckooFilter, Filter as _, Geometry, InsertError, MergeError,
    OnceCuckooFilter,
};
use tamis_hash::{HashItem as _, Rapid, fastrange, split};

type Multiset = CuckooFilter<u64, Rapid>;
type Once = OnceCuckooFilter<u64, Rapid>;

/// The number of different items that the tests insert and query.
const ITEMS: u64 = 200;

fn hash(item: u64) -> u64 {
    Rapid::with_seed(1).hash_item(&item)
}

/// A fingerprint and its two buckets, the lower one first.
type Class = (u64, u64, u64);

/// Returns the class of an item, by its definition: the sum of the two buckets of a fingerprint,
/// modulo the number of buckets, is an odd number that the fingerprint determines.
fn class(item: u64, geometry: Geometry) -> Class {
    let fingerprint = split::fingerprint(hash(item), geometry.fingerprint_bits());
    let buckets = geometry.buckets();
    let spread = fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let sum = 2 * fastrange(spread, buckets / 2) + 1;
    let one = split::place(hash(item), buckets);
    let other = (sum + buckets - one) % buckets;
    (fingerprint, one.min(other), one.max(other))
}

/// Returns geometries that a hundred items fill, down to two buckets.
fn geometries() -> impl Strategy<Value = Geometry> {
    let shapes: Vec<_> = Geometry::shapes().collect();
    (prop::sample::select(shapes), 1..=12_u64).prop_map(|((slots, bits), half)| {
        let builder = CuckooFilter::<u64>::builder().buckets(2 * half);
        builder.slots(slots).fingerprint_bits(bits).geometry().unwrap()
    })
}

fn like<F: Buildable>(new: Builder<F>, geometry: Geometry) -> F {
    new.like(geometry).build().unwrap()
}

fn multiset(geometry: Geometry) -> Multiset {
    like(Builder::<Multiset>::new(Rapid::with_seed(1)), geometry)
}

fn once(geometry: Geometry) -> Once {
    like(Builder::<Once>::new(Rapid::with_seed(1)), geometry)
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u64),
    /// Inserts the same item until an insert fails.
    InsertCopies(u64),
    /// Inserts items until an insert fails.
    InsertMany(Vec<u64>),
    /// Removes one of the present items.
    Remove(prop::sample::Index),
    Snapshot,
    Merge(Vec<u64>),
    Clear,
}

fn items(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..ITEMS, 0..most)
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        30 => (0..ITEMS).prop_map(Op::Insert),
        2 => (0..ITEMS).prop_map(Op::InsertCopies),
        6 => items(30).prop_map(Op::InsertMany),
        20 => any::<prop::sample::Index>().prop_map(Op::Remove),
        1 => Just(Op::Snapshot),
        3 => items(30).prop_map(Op::Merge),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 0..150)
}

/// The expected contents of a filter: each item as often as it was inserted.
#[derive(Clone, Debug)]
struct Oracle {
    geometry: Geometry,
    items: Vec<u64>,
}

impl Oracle {
    fn new(geometry: Geometry) -> Self {
        Self { geometry, items: Vec::new() }
    }

    fn classes(&self) -> HashMap<Class, u32> {
        let mut classes = HashMap::new();
        for &item in &self.items {
            *classes.entry(class(item, self.geometry)).or_default() += 1;
        }
        classes
    }

    fn count(&self, item: u64) -> u32 {
        self.classes().get(&class(item, self.geometry)).copied().unwrap_or_default()
    }

    /// Checks the result of an insert, and records the item if it was inserted.
    fn insert(&mut self, item: u64, result: Result<(), InsertError>) {
        let copies = self.count(item);
        let most = 2 * self.geometry.slots();
        match result {
            Ok(()) => {
                assert!(copies < most, "one more than {copies} copies");
                self.items.push(item);
            }
            Err(InsertError::TooManyCopies) => assert_eq!(copies, most),
            // Fewer items than two buckets have slots never fill two buckets.
            Err(InsertError::Full) => {
                assert!(copies < most && self.items.len() as u32 >= most);
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Checks that the filter contains these items and nothing else: every count, and the exact
    /// rate.
    fn check(&self, filter: &Multiset) {
        let classes = self.classes();
        assert_eq!(filter.len(), (self.items.len() as u64) as usize);
        assert_eq!(filter.is_empty(), self.items.is_empty());
        for item in 0..ITEMS {
            let count = classes.get(&class(item, self.geometry)).copied().unwrap_or_default();
            assert_eq!(filter.by_hash().count(hash(item)), count, "copies of {item}");
            assert_eq!(filter.by_hash().contains(hash(item)), count > 0, "{item}");
        }
        check_rate(filter.false_positive_rate(), classes.len(), self.geometry);
    }
}

/// Checks that the rate is that of the given number of present classes.
fn check_rate(rate: f64, classes: usize, geometry: Geometry) {
    let fingerprints = (1_u64 << geometry.fingerprint_bits()) - 1;
    let exact = classes as f64 / (geometry.buckets() as f64 * fingerprints as f64 / 2.0);
    assert!((rate - exact).abs() <= exact * 1e-6 + 1e-17, "{rate:e} instead of {exact:e}");
}

/// Inserts items by `try_extend`, until an insert fails.
fn extend(filter: &Multiset, oracle: &mut Oracle, items: &[u64]) {
    let (before, result) = (filter.len(), filter.try_extend(items));
    let inserted = filter.len() - before;
    items[..inserted].iter().for_each(|&item| oracle.insert(item, Ok(())));
    match result {
        Ok(count) => assert_eq!((count, inserted), (items.len(), items.len())),
        Err(error) => oracle.insert(items[inserted], Err(error)),
    }
}

/// Merges with a filter of these items. Both filters must be unchanged, and the result must contain
/// the items of both.
fn merge(filter: &mut Multiset, oracle: &mut Oracle, items: &[u64]) {
    let geometry = oracle.geometry;
    let (other, mut of_other) = (multiset(geometry), Oracle::new(geometry));
    extend(&other, &mut of_other, items);
    let merged = CuckooFilter::merge(filter, &other);
    oracle.check(filter);
    of_other.check(&other);
    let mut both = oracle.clone();
    both.items.extend(&of_other.items);
    let most = both.classes().into_values().max().unwrap_or_default();
    match merged {
        Ok(merged) => {
            both.check(&merged);
            *filter = merged;
            *oracle = both;
        }
        Err(MergeError::Insert(InsertError::TooManyCopies)) => assert!(most > 2 * geometry.slots()),
        Err(MergeError::Insert(InsertError::Full)) => {
            assert!(both.items.len() as u32 > 2 * geometry.slots());
        }
        Err(other) => panic!("{other}"),
    }
}

fn run(geometry: Geometry, ops: Vec<Op>) {
    let (mut filter, mut oracle) = (multiset(geometry), Oracle::new(geometry));
    for op in ops {
        match op {
            Op::Insert(item) => {
                let result = filter.by_hash().insert(hash(item));
                oracle.insert(item, result);
            }
            Op::InsertCopies(item) => {
                while oracle.items.len() as u64 <= geometry.buckets() * u64::from(geometry.slots())
                {
                    let result = filter.by_hash().insert(hash(item));
                    oracle.insert(item, result);
                    if result.is_err() {
                        break;
                    }
                }
            }
            Op::InsertMany(items) => extend(&filter, &mut oracle, &items),
            Op::Remove(index) => {
                if !oracle.items.is_empty() {
                    let item = oracle.items.swap_remove(index.index(oracle.items.len()));
                    assert!(
                        filter.by_hash().remove(hash(item)),
                        "present item {item} was not removed"
                    );
                }
            }
            Op::Snapshot => {
                let copy = filter.clone();
                // An insert into the original does not change the copy.
                let _ = filter.by_hash().insert(hash(0));
                oracle.check(&copy);
                filter = copy.clone();
            }
            Op::Merge(items) => merge(&mut filter, &mut oracle, &items),
            Op::Clear => {
                filter.clear();
                oracle.items.clear();
            }
        }
        oracle.check(&filter);
    }
    // Removing an absent item does no harm if no item of its class is present.
    for item in (0..ITEMS).filter(|&item| oracle.count(item) == 0) {
        assert!(!filter.by_hash().remove(hash(item)));
    }
    for item in core::mem::take(&mut oracle.items) {
        assert!(filter.by_hash().remove(hash(item)), "present item {item} was not removed");
    }
    oracle.check(&filter);
}

/// Compares the once filter with the set of present classes.
fn check_once(filter: &Once, classes: &HashSet<Class>, geometry: Geometry) {
    assert_eq!(filter.len(), (classes.len() as u64) as usize);
    for item in 0..ITEMS {
        assert_eq!(filter.by_hash().contains(hash(item)), classes.contains(&class(item, geometry)));
    }
    check_rate(filter.false_positive_rate(), classes.len(), geometry);
}

/// Inserts items, and checks every result.
fn insert_once(filter: &Once, classes: &mut HashSet<Class>, items: &[u64], geometry: Geometry) {
    for &item in items {
        let class = class(item, geometry);
        let known = classes.contains(&class);
        match filter.by_hash().insert(hash(item)) {
            Ok(new) => assert_eq!(new, !known),
            Err(error) => {
                assert_eq!((error, known), (InsertError::Full, false));
                check_once(filter, classes, geometry);
                continue;
            }
        }
        classes.insert(class);
    }
    check_once(filter, classes, geometry);
}

proptest! {
    #[test]
    fn the_filter_agrees_with_the_multiset(geometry in geometries(), ops in ops()) {
        run(geometry, ops);
    }

    #[test]
    fn the_once_filter_agrees_with_the_set(
        geometry in geometries(),
        first in items(120),
        second in items(120),
        third in items(40),
    ) {
        let (a, b) = (once(geometry), once(geometry));
        let (mut in_a, mut in_b) = (HashSet::new(), HashSet::new());
        insert_once(&a, &mut in_a, &first, geometry);
        insert_once(&b, &mut in_b, &second, geometry);
        let mut merged = match Once::merge(&a, &b) {
            Ok(merged) => {
                check_once(&merged, &in_a.union(&in_b).copied().collect(), geometry);
                merged
            }
            Err(error) => {
                prop_assert_eq!(error, MergeError::Insert(InsertError::Full));
                prop_assert!(in_a.union(&in_b).count() as u32 > 2 * geometry.slots());
                once(geometry)
            }
        };
        check_once(&a, &in_a, geometry);
        check_once(&b, &in_b, geometry);
        let copy = a.clone();
        let mut in_copy = in_a.clone();
        insert_once(&copy, &mut in_copy, &third, geometry);
        check_once(&a, &in_a, geometry);
        // `try_extend` returns the number of new items.
        let before = b.len();
        match b.try_extend(&third) {
            Ok(new) => prop_assert_eq!(b.len() - before, new),
            Err(error) => prop_assert_eq!(error, InsertError::Full),
        }
        merged.clear();
        check_once(&merged, &HashSet::new(), geometry);
    }
}

/// The properties above are not vacuous: every error occurs.
#[test]
fn every_error_occurs() {
    let geometry = CuckooFilter::<u64>::builder().buckets(8).slots(4).fingerprint_bits(8);
    let geometry = geometry.geometry().unwrap();
    let (filter, mut oracle) = (multiset(geometry), Oracle::new(geometry));
    let mut errors = Vec::new();
    for item in (0..ITEMS).chain([0; 9]) {
        let result = filter.by_hash().insert(hash(item));
        oracle.insert(item, result);
        oracle.check(&filter);
        errors.extend(result.err());
    }
    assert!(errors.contains(&InsertError::Full));
    let (crowd, mut of_crowd) = (multiset(geometry), Oracle::new(geometry));
    extend(&crowd, &mut of_crowd, &[0; 9]);
    assert_eq!(crowd.by_hash().count(hash(0)), 8);
    let result = CuckooFilter::merge(&crowd, &crowd).map(drop);
    assert_eq!(result, Err(MergeError::Insert(InsertError::TooManyCopies)));
    let full = CuckooFilter::merge(&filter, &crowd).map(drop);
    assert!(matches!(full, Err(MergeError::Insert(_))), "{full:?}");
    oracle.check(&filter);
    of_crowd.check(&crowd);
}

#[test]
fn merge_requires_equal_geometry_and_hash() {
    let new = |buckets: u64, seed| {
        let builder = Builder::<Multiset>::new(Rapid::with_seed(seed)).buckets(buckets);
        let filter = builder.slots(4).fingerprint_bits(16).build().unwrap();
        filter.try_extend(0..20).unwrap();
        filter
    };
    let a = new(20, 1);
    assert_eq!(CuckooFilter::merge(&a, &new(22, 1)).map(drop), Err(MergeError::Geometry));
    assert_eq!(CuckooFilter::merge(&a, &new(20, 2)).map(drop), Err(MergeError::Hash));
    assert_eq!(CuckooFilter::merge(&a, &new(22, 2)).map(drop), Err(MergeError::Geometry));
    assert_eq!(CuckooFilter::merge(&a, &a).unwrap().len(), 40);
    assert_eq!(a.len(), 20);
    let once = |buckets: u64, seed| {
        let builder = Builder::<Once>::new(Rapid::with_seed(seed)).buckets(buckets);
        let filter = builder.slots(2).fingerprint_bits(32).build().unwrap();
        assert_eq!(filter.try_extend(0..20), Ok(20));
        filter
    };
    let a = once(20, 1);
    assert_eq!(Once::merge(&a, &once(22, 1)).map(drop), Err(MergeError::Geometry));
    assert_eq!(Once::merge(&a, &once(20, 2)).map(drop), Err(MergeError::Hash));
    assert_eq!(Once::merge(&a, &a).unwrap().len(), 20);
}

#[test]
fn parallel_filling_agrees_with_filling() {
    use rayon::prelude::*;

    let geometry = CuckooFilter::<u64>::builder().capacity(30_000).geometry().unwrap();
    let filter = multiset(geometry);
    assert_eq!((0..10_000).into_par_iter().try_for_each(|item: u64| filter.insert(&item)), Ok(()));
    let more: Vec<u64> = (5000..15_000).collect();
    assert_eq!(more.par_iter().try_for_each(|item| filter.insert(item)), Ok(()));
    assert_eq!(filter.len(), 20_000);
    assert!(
        (0..15_000).all(|item| filter.count(&item) > u32::from((5000..10_000).contains(&item)))
    );
    assert_eq!(
        [1; 20].par_iter().try_for_each(|item| filter.insert(item)),
        Err(InsertError::TooManyCopies)
    );

    let filter = once(geometry);
    let sequential = once(geometry);
    assert_eq!(
        (0..15_000_u64)
            .into_par_iter()
            .map(|item| filter.insert(&item).map(usize::from))
            .sum::<Result<usize, _>>(),
        sequential.try_extend(0..15_000),
        "the number of new items does not depend on the order"
    );
    assert!(more.par_iter().all(|item| filter.insert(item) == Ok(false)));
    let more = (0..40_000).into_par_iter().try_for_each(|item: u64| filter.insert(&item).map(drop));
    assert_eq!(more, Err(InsertError::Full));
    assert!((0..15_000).all(|item| filter.contains(&item)));
}
