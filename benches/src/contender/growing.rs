//! Our filters that grow, count or rotate, as contenders.

use tamis::{
    CountingBloomFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
    ScalableCuckooFilter,
};

use crate::contender::Contender;
use crate::contender::entry::Size;
use crate::contender::filter::{Filter, Traits};
use crate::hasher;

macro_rules! contender {
    ($(
        $filter:ident, $name:literal, insert = |$result:ident| $new:expr,
        $(remove = |$self:ident, $item:ident| $remove:expr)?;
    )*) => {$(
        impl Filter<u64> for $filter<u64> {
            const TRAITS: Traits = Traits {
                many: true,
                removes: 0 $(+ { let _ = stringify!($item); 1 })? != 0,
                ..Traits::of($name)
            };

            fn new(items: u64, rate: f64) -> Option<Self> {
                let builder = Self::builder().capacity(items as usize).false_positive_rate(rate);
                Some(builder.hasher(hasher()).build().expect("a filter that fits in memory"))
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            #[inline(always)]
            fn contains(&self, item: &u64) -> bool {
                $filter::contains(self, item)
            }

            #[inline]
            fn contains_many_with(&self, items: &[u64], verdict: impl FnMut(usize, bool)) {
                $filter::contains_many_with(self, items, verdict);
            }

            #[inline]
            fn insert_shared(&self, item: &u64) -> bool {
                let $result = $filter::insert(self, item);
                $new
            }

            #[inline]
            fn insert_many_with(&mut self, items: &[u64], mut verdict: impl FnMut(usize, bool)) {
                $filter::insert_many_with(self, items, |number, $result| verdict(number, $new));
            }

            $(
                #[inline]
                fn remove_shared(&$self, $item: &u64) -> bool {
                    $remove
                }
            )?
        }
    )*};
}

contender! {
    ScalableBloomFilter, "scalable", insert = |new| new,;
    OnceScalableBloomFilter, "once scalable", insert = |new| new,;
    ScalableCuckooFilter, "scalable cuckoo", insert = |result| result.is_ok(),
        remove = |self, item| ScalableCuckooFilter::remove(self, item);
    CountingBloomFilter, "counting", insert = |new| new,
        remove = |self, item| CountingBloomFilter::remove(self, item);
    RotatingBloomFilter, "rotating", insert = |new| new,;
}

/// Returns those that grow.
pub(super) fn growing() -> Vec<Contender<u64>> {
    vec![
        Contender::of::<ScalableBloomFilter<u64>>(),
        Contender::of::<OnceScalableBloomFilter<u64>>(),
        Contender::of::<ScalableCuckooFilter<u64>>(),
    ]
}

/// Returns the one that counts.
pub(super) fn counting() -> Contender<u64> {
    Contender::of::<CountingBloomFilter<u64>>()
}

/// Returns the filter of a window with several numbers of generations. The window has the number of
/// items that each is made for.
pub(super) fn rotating() -> Vec<Contender<u64>> {
    macro_rules! generations {
        ($($number:literal)*) => {
            vec![$(Contender {
                traits: Traits {
                    name: concat!("rotating, ", $number, " generations"),
                    ..<RotatingBloomFilter<u64> as Filter<u64>>::TRAITS
                },
                make: |items, size| {
                    let Size::Rate(rate) = size else { return None };
                    let builder = RotatingBloomFilter::builder().generations($number);
                    let builder = builder.capacity(items as usize).false_positive_rate(rate);
                    let built = builder.hasher(hasher()).build();
                    let filter: RotatingBloomFilter<u64> =
                        built.expect("a filter that fits in memory");
                    Some(Box::new(filter))
                },
                shared: None,
            }),*]
        };
    }
    generations!(2 3 4 7 12 16)
}
