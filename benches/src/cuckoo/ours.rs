//! Our cuckoo filters on the course, by the shape of their buckets.

use tamis::{CuckooFilter, OnceCuckooFilter};

use crate::cuckoo::Shared;
use crate::hasher;

/// One of ours with buckets of so many slots of so many bits.
#[derive(Debug)]
pub struct Ours<F, const SLOTS: u32, const BITS: u32>(F);

macro_rules! ours {
    ($($filter:ident $name:literal $slots:literal $bits:literal $full:literal $removes:literal $remove:expr;)*) => {$(
        impl Shared for Ours<$filter<u64>, $slots, $bits> {
            const NAME: &'static str = concat!($name, " ", $slots, " × ", $bits);
            const FULL: f64 = $full;
            const REMOVES: bool = $removes;

            fn new(slots: u64) -> Self {
                let buckets = slots.div_ceil($slots).next_multiple_of(2);
                let builder = $filter::builder().buckets(buckets).slots($slots);
                let builder = builder.fingerprint_bits($bits).hasher(hasher());
                Self(builder.build().expect("a filter that fits in memory"))
            }

            fn slots(&self) -> u64 {
                self.0.geometry().buckets() * $slots
            }

            fn bytes(&self) -> u64 {
                self.0.size_in_bytes()
            }

            #[inline]
            fn insert(&self, item: u64) -> bool {
                self.0.insert(&item).is_ok()
            }

            #[inline]
            fn contains(&self, item: u64) -> bool {
                self.0.contains(&item)
            }

            #[inline]
            fn remove(&self, item: u64) -> bool {
                let remove: fn(&$filter<u64>, u64) -> bool = $remove;
                remove(&self.0, item)
            }

            fn insert_many(&self, items: &[u64]) -> bool {
                let mut all = true;
                self.0.insert_many(items, |_, inserted| all &= inserted.is_ok());
                all
            }
        }
    )*};
}

// The shapes that are not made for 95 % go as far as a filter's capacity does.
ours! {
    CuckooFilter "cuckoo" 4 16 0.95 true |filter, item| filter.remove(&item);
    CuckooFilter "cuckoo" 4 8 0.94 true |filter, item| filter.remove(&item);
    CuckooFilter "cuckoo" 8 8 0.95 true |filter, item| filter.remove(&item);
    CuckooFilter "cuckoo" 5 12 0.95 true |filter, item| filter.remove(&item);
    CuckooFilter "cuckoo" 2 32 0.86 true |filter, item| filter.remove(&item);
    OnceCuckooFilter "once cuckoo" 4 16 0.95 false |_, _| false;
}
