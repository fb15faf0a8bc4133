//! Random operations against an exact set: never a false negative, on any path.

use std::collections::HashSet;

use proptest::prelude::*;
use tamis_bloom::{BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter};
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

fn hash(item: u16) -> u64 {
    Rapid::with_seed(1).hash_bytes(&item.to_le_bytes())
}

macro_rules! no_false_negative {
    ($($test:ident $filter:ident;)*) => {$(
        proptest! {
            #[test]
            fn $test(ops in ops(), bits in 1..3000_u64, probes in 1..=32_u32) {
                let new = || {
                    let builder = $filter::<u16>::builder().hasher(Rapid::with_seed(1));
                    builder.bits(bits).probes(probes).build().unwrap()
                };
                let mut filter = new();
                let mut oracle = HashSet::new();
                for op in ops {
                    match op {
                        Op::Insert(item) | Op::InsertExclusive(item) => {
                            let known = filter.by_hash().contains(hash(item));
                            let new = match op {
                                Op::Insert(_) => filter.by_hash().insert(hash(item)),
                                _ => filter.get_mut().insert_hash(hash(item)),
                            };
                            // With exclusive access, an insert returns `true` exactly if a query
                            // returned `false`.
                            prop_assert_eq!(new, !known);
                            prop_assert!(filter.by_hash().contains(hash(item)));
                            prop_assert!(known || oracle.insert(item), "a present item was new");
                            oracle.insert(item);
                        }
                        Op::Contains(item) => {
                            let found = filter.by_hash().contains(hash(item));
                            prop_assert!(found || !oracle.contains(&item));
                        }
                        Op::Snapshot => filter = filter.clone(),
                        Op::Union(items) => {
                            let other = new();
                            for item in items {
                                other.by_hash().insert(hash(item));
                                oracle.insert(item);
                            }
                            filter.union_with(&other).unwrap();
                        }
                        Op::Clear => {
                            filter.clear();
                            oracle.clear();
                        }
                    }
                }
                for &item in &oracle {
                    prop_assert!(filter.by_hash().contains(hash(item)), "false negative: {item}");
                }
                let rate = filter.false_positive_rate();
                prop_assert!((0.0..=1.0).contains(&rate) && (rate > 0.0 || oracle.is_empty()));
            }
        }
    )*};
}

no_false_negative! {
    classic BloomFilter;
    blocked BlockedBloomFilter;
    once OnceBloomFilter;
    counting CountingBloomFilter;
}

proptest! {
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
