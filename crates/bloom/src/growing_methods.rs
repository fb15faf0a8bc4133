//! The methods that are the same in both filters that grow.

use alloc::vec::Vec;

use tamis_core::{AsItem, ByHash, Figures, Hashed, many};
use tamis_hash::HashItem;

use crate::once_scalable::OnceScalableBloomFilter;
use crate::scalable::ScalableBloomFilter;

macro_rules! methods {
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
            /// let filter = builder.false_positive_rate(1e-10).build()?;
            /// assert_eq!(filter.insert_many(["a", "b", "a"]), [true, true, false]);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use = "`extend` inserts without results"]
            pub fn insert_many<I>(&self, items: I) -> Vec<bool>
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                many::insert(self, self.chain.hashes(items))
            }

            /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's
            /// index and what [`contains`](Self::contains) would have returned.
            ///
            /// Faster than single queries: 32 items pass all slices together. An insert made in
            /// `on_result` may be invisible to the results after it. See [batches](crate#batches).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1 << 16)?;")]
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
                self.chain.contains_many_with(self.chain.hashes(items), on_result);
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
            /// let builder = builder.false_positive_rate(1e-10);
            /// let filter = builder.build()?;
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
                many::contains(self, self.chain.hashes(items))
            }

            /// Clears the filter: afterwards it has one empty slice, as it was built, and the
            /// memory of the others is freed. Takes `&mut self`, because a concurrent query would
            /// miss items.
            ///
            /// If the allocation of the first slice fails, aborts as std's collections do.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let mut filter = ", stringify!($ty), "::<str>::with_capacity(100)?;")]
            /// filter.insert("a");
            /// filter.clear();
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn clear(&mut self) {
                self.chain.clear();
            }

            /// Returns the number of distinct items that all current slices take at their rates. It
            /// grows with the filter, up to its [`max_capacity`](Self::max_capacity).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(2000)?;")]
            /// assert_eq!(filter.capacity(), 2000);
            /// filter.insert_many_with(0..5000_u64, |_, _| ());
            /// assert_eq!(filter.capacity(), 2000 + 6000);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.chain.slices.capacity()
            }

            /// Returns the number of items at which growth ends. Up to there the filter stays below
            /// its rate. A [limit](crate::ScalableBuilder::max_size_in_bytes) for the memory, or
            /// memory that cannot be allocated, may end it earlier.
            ///
            /// By default these are half of `rate · 2^64`, up to 10^10 items; above, the geometric
            /// mean of the two. The builder takes [another
            /// number](crate::ScalableBuilder::max_capacity).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let builder = builder.false_positive_rate(1e-12);
            /// let filter = builder.build()?;
            /// assert_eq!(filter.max_capacity(), 9_223_372);
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.max_capacity(1_000_000).build()?;
            /// assert_eq!(filter.max_capacity(), 1_000_000);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn max_capacity(&self) -> usize {
                self.chain.slices.max_capacity()
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
                self.chain.slices.figures(None)
            }

            /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for
            /// metrics.
            ///
            /// Reads at least `lines` of the filter's 64-byte lines, and at least two lines of each
            /// slice (all if there are fewer), evenly spread. It reads about twice that number at
            /// most: `O(lines)`. A sample of 1024 lines takes less than a millisecond at any size.
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
                self.chain.slices.figures(Some(lines))
            }

            /// Returns the estimated number of items divided by the [capacity](Self::capacity), or
            /// the same figure of the newest slice, if that is larger. The result is at most 1
            /// while the filter can grow, apart from the error of the estimate. When the filter
            /// cannot grow any more, all new items go to its newest slice. Above 1, its rate may be
            /// higher than the rate it was built for. Reads all bits: `O(bits)`.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let builder = builder.capacity(1024).max_size_in_bytes(2500);
            /// let filter = builder.build()?;
            /// filter.insert_many_with(0..3000_u64, |_, _| ());
            /// assert!((2.5..3.5).contains(&filter.saturation()));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn saturation(&self) -> f64 {
                self.chain.slices.figures(None).saturation.value
            }

            /// Returns the false-positive rate of the current contents: the probability that a
            /// query for an item that was not inserted returns `true`. Computed from the bits of
            /// each slice. Reads all bits: `O(bits)`.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(2000)?;")]
            /// filter.insert_many_with(0..100_000_u64, |_, _| ());
            /// assert!(filter.false_positive_rate() < 0.01);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                self.chain.slices.figures(None).false_positive_rate.value
            }

            /// Returns the size of the bits of all slices in bytes. The next slice counts as soon
            /// as it is reserved: when the newest slice has room for an eighth of its items, or for
            /// 4096 if that is more (for half of its items, if it takes fewer than 8192).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(1024)?;")]
            /// let before = filter.size_in_bytes();
            /// filter.insert_many_with(0..2000_u64, |_, _| ());
            /// assert!(filter.size_in_bytes() > 4 * before);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.chain.size_in_bytes()
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
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1 << 16)?;")]
            /// filter.by_hash().insert(filter.hasher().hash_item("a"));
            /// assert!(filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn hasher(&self) -> &S {
                self.chain.hasher()
            }
        }
    )*};
}

methods! { ScalableBloomFilter OnceScalableBloomFilter }
