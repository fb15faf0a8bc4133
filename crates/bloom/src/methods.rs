//! The methods that are the same in all filters of this crate.

use alloc::vec::Vec;

use tamis_core::{AsItem, Hashed, common_methods, many};
use tamis_hash::HashItem;

use crate::blocked::BlockedBloomFilter;
#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
#[cfg(feature = "std")]
use crate::growing::ScalableBuilder;
use crate::once::OnceBloomFilter;
use crate::once_scalable::OnceScalableBloomFilter;
use crate::rotating::RotatingBloomFilter;
#[cfg(feature = "std")]
use crate::rotating::builder::RotatingBuilder;
use crate::scalable::ScalableBloomFilter;

/// Defines the methods of a group of types. With each type comes the field that has its hasher and
/// reads its figures (without one, the type does), and how many of concurrent inserts of a new item
/// return `true`. The rest is common to the group: its builder, and sentences.
macro_rules! methods {
    (
        $($ty:ident $(.$field:ident)? => $winners:literal),+;
        builder: $builder:ty,
        capacity: $capacity:literal,
        builds: $builds:literal,
        inserts: $inserts:literal,
        queries: $queries:literal,
        sample: $sample:literal
    ) => {$(
        common_methods! {
            $ty $(.$field)? of "tamis_bloom",
            builder: $builder,
            capacity: $capacity,
            builds: $builds,
            queries: $queries,
            figures: " Reads all bits once: `O(bits)`.",
            sample: $sample
        }

        impl<T: ?Sized, S> $ty<T, S> {
            /// Inserts many items, owned or borrowed. Calls `on_result` for each item in order,
            /// with its index and the result that [`insert`](Self::insert) would have returned.
            ///
            #[doc = $inserts]
            #[doc = concat!(" As with [`insert`](Self::insert), **", $winners, "** of concurrent")]
            /// inserts of a new item returns `true`. See [batches](crate#batches) for slow
            /// iterators and panics.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-10).build()?;
            /// let mut new = 0;
            /// filter.insert_many_with(0..10, |_number, is_new| new += usize::from(is_new));
            /// assert_eq!(new, 10);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn insert_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                self.insert_hashes(self.hashes(items), on_result);
            }

            /// Inserts many items as [`insert_many_with`](Self::insert_many_with) does, and returns
            /// the results in order.
            ///
            /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the
            /// iterator or the hasher panics, the filter is unchanged.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-10).build()?;
            /// assert_eq!(filter.insert_many(["a", "b", "a"]), [true, true, false]);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use = "`extend` inserts without results"]
            pub fn insert_many<I>(&self, items: I) -> Vec<bool>
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                many::insert(self, self.hashes(items))
            }

        }
    )+};
}

methods! { BloomFilter.shared => "at least one",
    BlockedBloomFilter.shared => "at least one",
    OnceBloomFilter.shared => "exactly one",
    CountingBloomFilter.shared => "at least one";
    builder: Builder<Self>,
    capacity: " Builds an empty filter for `items` distinct items at a false-positive rate of 1 %, \
               with a randomly keyed hasher. A capacity of 0 counts as 1.",
    builds: " Returns a builder, which sizes the filter by items and rate or by bits and probes, \
             and takes any hasher.",
    inserts: " Faster than single inserts in filters larger than the caches, and as fast in small \
              ones.",
    queries: " Faster than single queries in filters larger than the caches.",
    sample: " Reads at least `lines` of the filter's 64-byte lines (all if it has fewer) and at \
             most twice that number, evenly spread: `O(lines)`. A line of a counting filter is \
             four cache lines: 512 counters. A sample of 1024 lines takes less than a millisecond \
             at any size."
}

methods! { ScalableBloomFilter.chain => "at least one",
    OnceScalableBloomFilter.chain => "exactly one";
    builder: ScalableBuilder<Self>,
    capacity: " Builds an empty filter at a false-positive rate of 1 %, with a randomly keyed \
               hasher. Its first slice takes `items` items, at least 1024.",
    builds: " Returns a builder, which takes a first and a last size, a rate, a limit for the \
             memory, and any hasher.",
    inserts: " Faster than single inserts: 32 items pass all slices together.",
    queries: " Faster than single queries: 32 items pass all slices together.",
    sample: " Reads at least `lines` of the filter's 64-byte lines, and at least two lines of each \
             slice (all if there are fewer), evenly spread. It reads about twice that number at \
             most: `O(lines)`. A sample of 1024 lines takes less than a millisecond at any size."
}

methods! { RotatingBloomFilter => "exactly one";
    builder: RotatingBuilder<T>,
    capacity: " Builds an empty filter for a window of `items` items at a false-positive rate of \
               1 %, with a randomly keyed hasher. A capacity of 0 counts as 1.",
    builds: " Returns a builder, which sets the window, the rate and the hasher.",
    inserts: " Faster than single inserts, most of all in filters larger than the caches.",
    queries: " Faster than single queries, most of all in filters larger than the caches.",
    sample: " Reads groups of 64-byte lines, with a line of each generation in a group: at least \
             `lines` lines, rounded up to whole groups (all if there are fewer), and at most twice \
             that number, evenly spread: `O(lines)`. A sample of 1024 lines takes less than a \
             millisecond at any size."
}
