//! The filters of other crates as contenders.

use tamis::hash::DefaultHashBuilder;

use crate::contender::{Contender, RATE};
use crate::hasher;

macro_rules! fastbloom {
    ($($filter:ident, $name:literal, $shared:literal;)*) => {$(
        impl Contender for fastbloom::$filter<DefaultHashBuilder> {
            const NAME: &'static str = $name;
            const SHARED: bool = $shared;

            fn new(capacity: u64) -> Self {
                let builder = fastbloom::$filter::with_false_pos(RATE).hasher(hasher());
                builder.expected_items(capacity as usize)
            }

            #[inline]
            fn insert(&mut self, item: u64) -> bool {
                // It says whether the item was in before.
                !fastbloom::$filter::insert(self, &item)
            }

            #[inline]
            fn contains(&self, item: u64) -> bool {
                fastbloom::$filter::contains(self, &item)
            }

            fn clear(&mut self) {
                fastbloom::$filter::clear(self);
            }
        }
    )*};
}

fastbloom! {
    AtomicBloomFilter, "fastbloom, atomic", true;
    BloomFilter, "fastbloom", false;
}
