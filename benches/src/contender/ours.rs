//! Our filters as contenders, by the names of their types.

use tamis::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, OnceBloomFilter,
    OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
};

use crate::filter::{Filter, Traits};
use crate::hasher;

/// A Bloom filter of ours with exclusive access: it inserts through `get_mut`.
#[derive(Debug)]
pub(super) struct Exclusive<F>(F);

/// Makes filters contenders, by what an insert reports as new. Further methods are those of
/// `contender!`.
macro_rules! ours {
    ($(
        $filter:ident, removes = $removes:literal, |$result:ident| $new:expr,
        $($method:ident = |$($argument:ident),+| $expression:expr,)*;
    )*) => {$(
        contender!(
            $filter<u64>,
            stringify!($filter),
            [many = true, removes = $removes],
            new = |items, rate| {
                let builder = Self::builder().capacity(items as usize).false_positive_rate(rate);
                Some(builder.hasher(hasher()).build().expect("a filter that fits in memory"))
            },
            bytes = |filter| filter.size_in_bytes(),
            contains = |filter, item| $filter::contains(filter, item),
            contains_many = |filter, items, verdict| {
                $filter::contains_many_with(filter, items, verdict)
            },
            insert_shared = |filter, item| {
                let $result = $filter::insert(filter, item);
                $new
            },
            insert_many = |filter, items, verdict| {
                $filter::insert_many_with(filter, items, |index, $result| verdict(index, $new))
            },
            $($method = |$($argument),+| $expression,)*
        );
    )*};
}

ours! {
    BlockedBloomFilter, removes = false, |new| new, clear = |filter| Self::clear(filter),;
    OnceBloomFilter, removes = false, |new| new, clear = |filter| Self::clear(filter),;
    BloomFilter, removes = false, |new| new, clear = |filter| Self::clear(filter),;
    CuckooFilter, removes = true, |result| result.is_ok(),
        remove_shared = |filter, item| Self::remove(filter, item),
        load = |filter| filter.load_factor(),
        clear = |filter| Self::clear(filter),;
    OnceCuckooFilter, removes = false, |result| result == Ok(true),
        load = |filter| filter.load_factor(),
        clear = |filter| Self::clear(filter),;
    CountingBloomFilter, removes = true, |new| new,
        remove_shared = |filter, item| Self::remove(filter, item),
        clear = |filter| Self::clear(filter),;
    RotatingBloomFilter, removes = false, |new| new, clear = |filter| Self::clear(filter),;
    ScalableBloomFilter, removes = false, |new| new,;
    OnceScalableBloomFilter, removes = false, |new| new,;
}

/// How many times the items that it is made for a growing cuckoo filter takes at most.
pub(crate) const GROWTH: u64 = 100;

/// A cuckoo filter of ours that grows in place.
#[derive(Debug)]
pub(crate) struct Growing<F>(F);

macro_rules! growing {
    ($(
        $filter:ident, removes = $removes:literal, |$result:ident| $new:expr,
        $($method:ident = |$($argument:ident),+| $expression:expr,)*;
    )*) => {$(
        contender!(
            Growing<$filter<u64>>,
            concat!(stringify!($filter), ", growing"),
            [many = true, removes = $removes],
            new = |items, rate| Some(Self::of(items, GROWTH * items, rate)),
            bytes = |filter| filter.0.size_in_bytes(),
            load = |filter| filter.0.load_factor(),
            contains = |filter, item| filter.0.contains(item),
            contains_many = |filter, items, verdict| filter.0.contains_many_with(items, verdict),
            insert_shared = |filter, item| {
                let $result = filter.0.insert(item);
                $new
            },
            insert_many = |filter, items, verdict| {
                filter.0.insert_many_with(items, |index, $result| verdict(index, $new))
            },
            clear = |filter| filter.0.clear(),
            $($method = |$($argument),+| $expression,)*
        );

        impl Growing<$filter<u64>> {
            /// Makes an empty filter for `first` items that keeps the rate up to `most`.
            pub(crate) fn of(first: u64, most: u64, rate: f64) -> Self {
                let builder = $filter::builder().capacity(first as usize);
                let builder = builder.max_capacity(most as usize);
                let builder = builder.false_positive_rate(rate).hasher(hasher());
                Self(builder.build().expect("a filter that fits in memory"))
            }
        }
    )*};
}

growing! {
    CuckooFilter, removes = true, |result| result.is_ok(),
        remove_shared = |filter, item| filter.0.remove(item),;
    OnceCuckooFilter, removes = false, |result| result == Ok(true),;
}

macro_rules! exclusive {
    ($($filter:ident)*) => {$(
        contender!(
            Exclusive<$filter<u64>>,
            concat!(stringify!($filter), ", get_mut"),
            [many = true],
            new = |items, rate| Filter::new(items, rate).map(Self),
            bytes = |filter| filter.0.size_in_bytes(),
            contains = |filter, item| filter.0.contains(item),
            insert = |filter, item| filter.0.get_mut().insert(item),
            insert_many = |filter, items, verdict| {
                filter.0.get_mut().insert_many_with(items, |index, new| verdict(index, new))
            },
            clear = |filter| Filter::clear(&mut filter.0),
        );
    )*};
}

exclusive!(BlockedBloomFilter BloomFilter);
