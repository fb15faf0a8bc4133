//! Random operations against an exact set: never a false negative, on any path.

use std::collections::HashSet;

use proptest::prelude::*;
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, Buildable, Builder, CountingBloomFilter, Exclusive,
    OnceBloomFilter,
};
use tamis_hash::Rapid;

#[derive(Clone, Debug)]
enum Op {
    Insert(u16),
    InsertExclusive(u16),
    Contains(u16),
    Snapshot,
    /// Unites with a filter of these items.
    Union(Vec<u16>),
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => any::<u16>().prop_map(Op::Insert),
        4 => any::<u16>().prop_map(Op::InsertExclusive),
        4 => any::<u16>().prop_map(Op::Contains),
        1 => Just(Op::Snapshot),
        1 => prop::collection::vec(any::<u16>(), 0..20).prop_map(Op::Union),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 0..200)
}

/// The operations of one type that the test drives.
struct Type<F> {
    insert: fn(&F, u64) -> bool,
    contains: fn(&F, u64) -> bool,
    insert_exclusive: fn(&mut F, u64) -> bool,
    snapshot: fn(&F) -> F,
    union: fn(&F, &F),
    clear: fn(&mut F),
    rate: fn(&F) -> f64,
}

fn hash(item: u16) -> u64 {
    Rapid::with_seed(1).hash_bytes(&item.to_le_bytes())
}

fn run<F: Buildable>(new: impl Fn() -> Builder<F>, ops: Vec<Op>, on: &Type<F>) {
    let mut filter = new().build().unwrap();
    let mut oracle = HashSet::new();
    for op in ops {
        match op {
            Op::Insert(item) | Op::InsertExclusive(item) => {
                let known = (on.contains)(&filter, hash(item));
                let insert = |filter: &mut F| match op {
                    Op::Insert(_) => (on.insert)(filter, hash(item)),
                    _ => (on.insert_exclusive)(filter, hash(item)),
                };
                // With exclusive access, an insert returns `true` exactly if a query returned
                // `false`.
                assert_eq!(insert(&mut filter), !known);
                assert!((on.contains)(&filter, hash(item)));
                assert!(known || oracle.insert(item), "a present item was new");
                oracle.insert(item);
            }
            Op::Contains(item) => {
                assert!(!oracle.contains(&item) || (on.contains)(&filter, hash(item)));
            }
            Op::Snapshot => filter = (on.snapshot)(&filter),
            Op::Union(items) => {
                let other = new().build().unwrap();
                for item in items {
                    (on.insert)(&other, hash(item));
                    oracle.insert(item);
                }
                (on.union)(&filter, &other);
            }
            Op::Clear => {
                (on.clear)(&mut filter);
                oracle.clear();
            }
        }
    }
    for &item in &oracle {
        assert!((on.contains)(&filter, hash(item)), "false negative: {item}");
    }
    let rate = (on.rate)(&filter);
    assert!((0.0..=1.0).contains(&rate) && (rate > 0.0 || oracle.is_empty()), "{rate}");
}

macro_rules! on {
    ($type:ident) => {
        Type {
            insert: |filter: &$type<_, _>, hash| filter.by_hash().insert(hash),
            contains: |filter: &$type<_, _>, hash| filter.by_hash().contains(hash),
            insert_exclusive: |filter, hash| Exclusive::insert_hash(&mut filter.get_mut(), hash),
            snapshot: $type::clone,
            union: |a, b| a.union_with(b).unwrap(),
            clear: $type::clear,
            rate: $type::false_positive_rate,
        }
    };
}

proptest! {
    #[test]
    fn no_false_negative(ops in ops(), bits in 1..3000_u64, probes in 1..=32_u32) {
        let hasher = || Rapid::with_seed(1);
        run(|| BloomFilter::<u16>::builder().hasher(hasher()).bits(bits).probes(probes), ops.clone(), &on!(BloomFilter));
        run(|| BlockedBloomFilter::<u16>::builder().hasher(hasher()).bits(bits).probes(probes), ops.clone(), &on!(BlockedBloomFilter));
        run(|| OnceBloomFilter::<u16>::builder().hasher(hasher()).bits(bits).probes(probes), ops.clone(), &on!(OnceBloomFilter));
        run(|| CountingBloomFilter::<u16>::builder().hasher(hasher()).bits(bits).probes(probes), ops, &on!(CountingBloomFilter));
    }

    /// Atomic inserts and exclusive inserts set the same bits, for every shape.
    #[test]
    fn exclusive_and_shared_inserts_set_the_same_bits(hashes in prop::collection::vec(any::<u64>(), 1..50), probes in 1..=32_u32) {
        let new = || OnceBloomFilter::<u16>::builder().bits(4096).probes(probes).build().unwrap();
        let (shared, mut exclusive) = (new(), new());
        for &hash in &hashes {
            shared.by_hash().insert(hash);
            exclusive.get_mut().insert_hash(hash);
        }
        prop_assert_eq!(shared.figures().fill.value, exclusive.figures().fill.value);
        prop_assert!(hashes.iter().all(|&hash| shared.by_hash().contains(hash) && exclusive.by_hash().contains(hash)));
    }
}
