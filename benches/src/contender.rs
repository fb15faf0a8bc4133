//! The filters side by side: one trait over ours, each shared and alone, and over the peers.

use tamis::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};

use crate::hasher;

/// The false-positive rate of every contender at its capacity.
pub const RATE: f64 = 0.01;

/// A filter that runs the course.
pub trait Contender {
    /// As it stands in tables.
    const NAME: &'static str;
    /// Whether other threads may insert at the same time: then W is the floor of an insert, else R.
    const SHARED: bool;

    /// An empty filter for so many items at [`RATE`].
    fn new(capacity: u64) -> Self;
    /// Inserts; whether the item was new. `&mut` so that filters for one thread can take part.
    fn insert(&mut self, item: u64) -> bool;
    /// Whether the item may have been inserted.
    fn contains(&self, item: u64) -> bool;
    /// Back to empty.
    fn clear(&mut self);
}

/// Something done with each contender in turn, without knowing its type.
pub trait Visitor {
    /// Does it with this one.
    fn visit<C: Contender>(&mut self);
}

/// Shows all contenders to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit::<BlockedBloomFilter<u64>>();
    visitor.visit::<OnceBloomFilter<u64>>();
    visitor.visit::<BloomFilter<u64>>();
    #[cfg(feature = "peers")]
    visitor.visit::<fastbloom::AtomicBloomFilter<tamis::hash::DefaultHashBuilder>>();
    visitor.visit::<Alone<BlockedBloomFilter<u64>>>();
    visitor.visit::<Alone<OnceBloomFilter<u64>>>();
    visitor.visit::<Alone<BloomFilter<u64>>>();
    #[cfg(feature = "peers")]
    visitor.visit::<fastbloom::BloomFilter<tamis::hash::DefaultHashBuilder>>();
}

/// A filter of ours in the hands of one thread: it inserts through `get_mut`.
#[derive(Debug)]
pub struct Alone<F>(F);

macro_rules! ours {
    ($($filter:ident, $name:literal;)*) => {$(
        impl Contender for $filter<u64> {
            const NAME: &'static str = $name;
            const SHARED: bool = true;

            fn new(capacity: u64) -> Self {
                let builder = Self::builder().capacity(capacity).false_positive_rate(RATE);
                builder.hasher(hasher()).build().expect("a filter that fits in memory")
            }

            #[inline]
            fn insert(&mut self, item: u64) -> bool {
                $filter::insert(self, &item)
            }

            #[inline]
            fn contains(&self, item: u64) -> bool {
                $filter::contains(self, &item)
            }

            fn clear(&mut self) {
                $filter::clear(self);
            }
        }

        impl Contender for Alone<$filter<u64>> {
            const NAME: &'static str = concat!($name, ", alone");
            const SHARED: bool = false;

            fn new(capacity: u64) -> Self {
                Self(Contender::new(capacity))
            }

            #[inline]
            fn insert(&mut self, item: u64) -> bool {
                self.0.get_mut().insert(&item)
            }

            #[inline]
            fn contains(&self, item: u64) -> bool {
                self.0.contains(&item)
            }

            fn clear(&mut self) {
                self.0.clear();
            }
        }
    )*};
}

ours! {
    BlockedBloomFilter, "blocked";
    OnceBloomFilter, "once";
    BloomFilter, "classic";
}
