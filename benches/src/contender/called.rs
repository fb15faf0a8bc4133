//! Filters whose queries and inserts are functions of their own, as in a program that does not
//! inline them.

use tamis::BloomFilter;

use crate::contender::Contender;
use crate::contender::filter::{Filter, Traits};
use crate::item::Item;

/// A filter behind calls.
struct Called<F>(F);

macro_rules! called {
    ($filter:ty, $name:literal) => {
        impl<K: Item> Filter<K> for Called<$filter> {
            const TRAITS: Traits = Traits::of(concat!($name, ", by a call"));

            fn new(items: u64, rate: f64) -> Option<Self> {
                Filter::<K>::new(items, rate).map(Self)
            }

            fn with_bits(items: u64, bits: f64) -> Option<Self> {
                <$filter as Filter<K>>::with_bits(items, bits).map(Self)
            }

            fn bytes(&self) -> u64 {
                Filter::<K>::bytes(&self.0)
            }

            #[inline(never)]
            fn contains(&self, item: &K) -> bool {
                Filter::contains(&self.0, item)
            }

            #[inline(never)]
            fn insert_shared(&self, item: &K) -> bool {
                Filter::insert_shared(&self.0, item)
            }

            fn clear(&mut self) -> bool {
                Filter::<K>::clear(&mut self.0)
            }
        }
    };
}

called!(BloomFilter<K>, "classic");
#[cfg(feature = "peers")]
called!(fastbloom::AtomicBloomFilter<tamis::hash::DefaultHashBuilder>, "fastbloom, atomic");

/// Returns the classic filter, and the peer with the same layout, behind calls.
pub(super) fn called() -> Vec<Contender<u64>> {
    vec![
        Contender::of::<Called<BloomFilter<u64>>>(),
        #[cfg(feature = "peers")]
        Contender::of::<Called<fastbloom::AtomicBloomFilter<tamis::hash::DefaultHashBuilder>>>(),
    ]
}
