//! Our filters as contenders.

use tamis::cuckoo::Geometry;
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

use crate::contender::filter::{Filter, Traits};
use crate::contender::{Contender, Size};
use crate::hasher;
use crate::item::Item;
use crate::subject::Subject;

/// A Bloom filter of ours with exclusive access: it inserts through `get_mut`.
#[derive(Debug)]
pub struct Exclusive<F>(F);

/// What the adapters of all our filters have in common.
macro_rules! common {
    ($filter:ident) => {
        fn new(items: u64, rate: f64) -> Option<Self> {
            let builder = Self::builder().capacity(items as usize).false_positive_rate(rate);
            Some(builder.hasher(hasher()).build().expect("a filter that fits in memory"))
        }

        fn bytes(&self) -> u64 {
            self.size_in_bytes()
        }

        // Always: an adapter that is not inlined would be measured too.
        #[inline(always)]
        fn contains(&self, item: &K) -> bool {
            $filter::contains(self, item)
        }

        #[inline]
        fn contains_many_with(&self, items: &[K], verdict: impl FnMut(usize, bool)) {
            $filter::contains_many_with(self, items, verdict);
        }

        #[inline]
        fn insert_many_with(&mut self, items: &[K], verdict: impl FnMut(usize, bool)) {
            self.insert_many_shared(items, verdict);
        }

        fn clear(&mut self) -> bool {
            $filter::clear(self);
            true
        }
    };
}

macro_rules! bloom {
    ($($filter:ident, $name:literal;)*) => {$(
        impl<K: Item> Filter<K> for $filter<K> {
            const TRAITS: Traits = Traits { many: true, ..Traits::of($name) };

            common!($filter);

            fn with_bits(items: u64, bits: f64) -> Option<Self> {
                let builder = |probes| {
                    Self::builder().bits((items as f64 * bits) as u64).probes(probes)
                };
                let rate = |probes: &u32| {
                    let geometry = builder(*probes).geometry();
                    geometry.map_or(1.0, |geometry| geometry.false_positive_rate_at(items as usize))
                };
                let best = (1..=32).min_by(|a, b| rate(a).total_cmp(&rate(b)))?;
                let builder = builder(best).hasher(hasher());
                Some(builder.build().expect("a filter that fits in memory"))
            }

            #[inline]
            fn insert_shared(&self, item: &K) -> bool {
                $filter::insert(self, item)
            }

            #[inline]
            fn insert_many_shared(&self, items: &[K], verdict: impl FnMut(usize, bool)) {
                $filter::insert_many_with(self, items, verdict);
            }
        }

        impl<K: Item> Filter<K> for Exclusive<$filter<K>> {
            const TRAITS: Traits =
                Traits { many: true, ..Traits::of(concat!($name, ", exclusive")) };

            fn new(items: u64, rate: f64) -> Option<Self> {
                Filter::<K>::new(items, rate).map(Self)
            }

            fn bytes(&self) -> u64 {
                self.0.size_in_bytes()
            }

            #[inline]
            fn insert(&mut self, item: &K) -> bool {
                self.0.get_mut().insert(item)
            }

            #[inline(always)]
            fn contains(&self, item: &K) -> bool {
                self.0.contains(item)
            }

            #[inline]
            fn insert_many_with(&mut self, items: &[K], verdict: impl FnMut(usize, bool)) {
                self.0.get_mut().insert_many_with(items, verdict);
            }

            #[inline]
            fn contains_many_with(&self, items: &[K], verdict: impl FnMut(usize, bool)) {
                self.0.contains_many_with(items, verdict);
            }

            fn clear(&mut self) -> bool {
                Filter::<K>::clear(&mut self.0)
            }
        }
    )*};
}

bloom! {
    BlockedBloomFilter, "blocked";
    OnceBloomFilter, "once";
    BloomFilter, "classic";
}

macro_rules! cuckoo {
    ($(
        $filter:ident, $name:literal, removes = $removes:literal,
        insert = |$result:ident| $new:expr, remove = |$self:ident, $item:ident| $remove:expr;
    )*) => {$(
        impl<K: Item> Filter<K> for $filter<K> {
            const TRAITS: Traits =
                Traits { many: true, removes: $removes, copies: $removes, ..Traits::of($name) };

            common!($filter);

            fn with_bits(items: u64, bits: f64) -> Option<Self> {
                let builders = Geometry::shapes().map(|(slots, width)| {
                    // A bucket has 32, 64 or 128 bits; a few of them may be in no slot.
                    let of_bucket = f64::from((slots * width).next_power_of_two());
                    let pairs = (items as f64 * bits / of_bucket / 2.0) as u64;
                    Self::builder().buckets(2 * pairs).slots(slots).fingerprint_bits(width)
                });
                let fitting = builders.filter_map(|builder| {
                    let geometry = builder.geometry().ok()?;
                    let rate = geometry.false_positive_rate_at(items as usize);
                    (geometry.capacity() >= items as usize).then_some((rate, builder))
                });
                let (_, best) = fitting.min_by(|a, b| a.0.total_cmp(&b.0))?;
                Some(best.hasher(hasher()).build().expect("a filter that fits in memory"))
            }

            #[inline]
            fn insert_shared(&self, item: &K) -> bool {
                let $result = $filter::insert(self, item);
                $new
            }

            #[inline]
            fn remove_shared(&$self, $item: &K) -> bool {
                $remove
            }

            #[inline]
            fn insert_many_shared(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
                $filter::insert_many_with(self, items, |number, $result| verdict(number, $new));
            }
        }
    )*};
}

cuckoo! {
    CuckooFilter, "cuckoo", removes = true,
        insert = |result| result.is_ok(), remove = |self, item| CuckooFilter::remove(self, item);
    OnceCuckooFilter, "once cuckoo", removes = false,
        insert = |result| result == Ok(true), remove = |self, _item| unreachable!();
}

/// Returns the cuckoo filter with two slots of 32 bits per bucket, whatever rate is requested.
pub(super) fn two_slots() -> Contender<u64> {
    let make = |items: u64, _: Size| {
        let builder = |pairs: u64| {
            CuckooFilter::<u64>::builder().buckets(2 * pairs).slots(2).fingerprint_bits(32)
        };
        let capacity = |pairs| builder(pairs).geometry().map_or(0, |geometry| geometry.capacity());
        let pairs = (items / 4..).find(|&pairs| capacity(pairs) as u64 >= items)?;
        let built = builder(pairs).hasher(hasher()).build();
        let mut filter = built.expect("a filter that fits in memory");
        Filter::<u64>::clear(&mut filter);
        Some(Box::new(filter) as Box<dyn Subject<u64>>)
    };
    let traits = <CuckooFilter<u64> as Filter<u64>>::TRAITS;
    Contender { traits: Traits { name: "cuckoo 2 × 32", ..traits }, make, shared: None }
}
