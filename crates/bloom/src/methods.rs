//! The methods that are the same in several filters of a fixed size.

use alloc::vec::Vec;

use tamis_core::{AsItem, ByHash, Figures, Hashed, many};
use tamis_hash::HashItem;

use crate::blocked::BlockedBloomFilter;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
use crate::exclusive::Exclusive;
use crate::geometry::Geometry;
use crate::once::OnceBloomFilter;

macro_rules! of_a_fixed_size {
    ($($ty:ident)*) => {$(
        impl<T: ?Sized, S> $ty<T, S> {
            /// Returns the filter as seen by code that has hashes instead of items.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::HashItem;
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(10_000).false_positive_rate(1e-3).build()?;
            /// let hash = filter.hasher().hash_item("a");
            /// filter.by_hash().insert(hash);
            /// assert!(filter.contains("a") && filter.by_hash().contains(hash));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn by_hash(&self) -> ByHash<'_, Self> {
                Hashed::by_hash(self)
            }

            /// Inserts many items and collects what [`insert`](Self::insert) would have returned
            /// for each. See [`insert_many_with`](Self::insert_many_with).
            ///
            /// Hashes all items before it inserts the first, which takes 8 bytes per item. If the
            /// iterator or the hasher panics, nothing has been inserted.
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
                many::insert(self, self.shared.hashes(items))
            }

            /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's
            /// index and what [`contains`](Self::contains) would have returned.
            ///
            /// Faster than single queries in filters larger than the caches. Up to 32 items are
            /// queried before the first call of `on_result`, so an insert made in `on_result` may
            /// be invisible to the results after it. See [batches](crate#batches).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// filter.insert("b");
            /// let names: Vec<String> = vec!["a".into(), "b".into()];
            /// let mut hits = vec![];
            /// filter.contains_many_with(&names, |number, hit| {
            ///     if hit {
            ///         hits.push(&names[number]);
            ///     }
            /// });
            /// assert_eq!(hits, ["b"]);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                self.shared.contains_many_with(self.shared.hashes(items), on_result);
            }

            /// Queries many items and collects what [`contains`](Self::contains) would have
            /// returned for each. See [`contains_many_with`](Self::contains_many_with).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-10).build()?;
            /// filter.insert("b");
            /// assert_eq!(filter.contains_many(["a", "b"]), [false, true]);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn contains_many<I>(&self, items: I) -> Vec<bool>
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                many::contains(self, self.shared.hashes(items))
            }

            /// Returns exclusive access to the filter, through which inserts are plain stores.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert!(filter.get_mut().insert("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn get_mut(&mut self) -> Exclusive<'_, Self> {
                Exclusive::new(self)
            }

            /// Returns the number of distinct items that the filter was built for.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert_eq!(filter.capacity(), 10);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.shared.capacity()
            }

            /// Returns how full the filter is, and the false-positive rate of its contents. Reads
            /// all bits once: `O(bits)`.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(10_000).false_positive_rate(1e-3).build()?;
            /// for item in 0..5000 {
            ///     filter.insert(&item);
            /// }
            /// let figures = filter.figures();
            /// assert!((4000.0..6000.0).contains(&figures.items.value));
            /// assert!(figures.saturation.value < 0.7 && figures.false_positive_rate.value < 0.01);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn figures(&self) -> Figures {
                self.shared.figures()
            }

            /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for
            /// metrics.
            ///
            /// Reads at least `lines` of the filter's 64-byte lines (all if it has fewer) and at
            /// most twice that number, evenly spread: `O(lines)`. A line of a counting filter is
            /// four cache lines: 512 counters. A sample of 1024 lines takes less than a millisecond
            /// at any size.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(10_000).false_positive_rate(1e-3).build()?;
            /// for item in 0..5000 {
            ///     filter.insert(&item);
            /// }
            /// let (sampled, exact) = (filter.figures_sampled(50), filter.figures());
            /// let difference = (sampled.items.value - exact.items.value).abs();
            /// assert!(difference <= 9.0 * sampled.items.standard_error);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn figures_sampled(&self, lines: u64) -> Figures {
                self.shared.figures_sampled(lines)
            }

            /// Returns the hasher.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::HashItem;
            ///
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// filter.by_hash().insert(filter.hasher().hash_item("a"));
            /// assert!(filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn hasher(&self) -> &S {
                self.shared.hasher()
            }
        }
    )*};
}

of_a_fixed_size! { BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter }

macro_rules! of_bits {
    ($($ty:ident)*) => {$(
        impl<T: ?Sized, S> $ty<T, S> {
            /// Clears the filter. Takes `&mut self`, because a concurrent query would miss items.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// filter.insert("a");
            /// filter.clear();
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn clear(&mut self) {
                self.shared.clear();
            }

            /// Returns the estimated number of items divided by the capacity. 1 means full. Above 1
            /// the filter is overfilled, and its rate may be higher than the rate it was built for.
            /// Reads all bits: `O(bits)`.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(1000)?;")]
            /// for item in 0..3000 {
            ///     filter.insert(&item);
            /// }
            /// assert!((2.5..3.5).contains(&filter.saturation()));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn saturation(&self) -> f64 {
                self.shared.saturation()
            }

            /// Returns the size of the bit array in bytes.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder().bits(4096);")]
            /// let filter = builder.probes(4).build()?;
            /// assert_eq!(filter.size_in_bytes(), 512);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.geometry().size_in_bytes()
            }

            /// Returns the sizes that determine where the bits of an item lie.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder().bits(4096);")]
            /// let filter = builder.probes(4).build()?;
            /// assert_eq!(filter.geometry().bits(), 4096);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn geometry(&self) -> Geometry {
                self.shared.geometry()
            }
        }
    )*};
}

of_bits! { BloomFilter BlockedBloomFilter OnceBloomFilter }
