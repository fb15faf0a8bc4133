//! The methods that are the same in both filters that grow.

use core::borrow::Borrow;

use tamis_hash::HashItem;

use crate::once_scalable::OnceScalableBloomFilter;
use crate::scalable::ScalableBloomFilter;

/// Defines the methods of both types. The arguments are what each says of its inserts.
macro_rules! methods {
    ($($ty:ident {
        inserts: $inserts:literal,
        races: $races:literal,
        costs: $costs:literal
    })*) => {$(
        impl<T: ?Sized, S> $ty<T, S> {
            #[doc = $inserts]
            ///
            #[doc = $races]
            /// A `false` does not synchronize with the thread that inserted the item: its other
            /// writes may be invisible.
            ///
            #[doc = $costs]
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<String>::with_capacity(4096)?;")]
            /// assert!(filter.insert("a"));
            /// assert!(!filter.insert("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn insert<Q: ?Sized>(&self, item: &Q) -> bool
            where
                T: Borrow<Q>,
                S: HashItem<Q>,
            {
                self.chain.insert(item)
            }

            /// Returns whether the item may have been inserted. `false` is certain: no insert of
            /// the item happened before. For an item that was not inserted, the probability of
            /// `true` is the [`false_positive_rate`](Self::false_positive_rate).
            ///
            /// Wait-free. Sees every insert that happens before the call, into whatever slice. Of
            /// an insert that runs concurrently, it may see all bits, some, or none. Looks into all
            /// slices of one shape at once, and into those of the newest shape first, until one
            /// contains the item.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1 << 16)?;")]
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            #[must_use]
            pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
            where
                T: Borrow<Q>,
                S: HashItem<Q>,
            {
                self.chain.contains(item)
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
                self.figures().saturation.value
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
                self.figures().false_positive_rate.value
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
        }
    )*};
}

methods! {
    ScalableBloomFilter {
        inserts: " Inserts an item. Returns `true` if it was certainly new.",
        races: " Of concurrent inserts of a new item **at least one** returns `true`, also if a \
                slice is added meanwhile. Several may, because a bit does not record which item \
                set it: see [`OnceScalableBloomFilter`](crate::OnceScalableBloomFilter). An item \
                that is a false positive is not new.",
        costs: " Lock-free. Looks into each slice, one cache line each."
    }
    OnceScalableBloomFilter {
        inserts: " Inserts an item. Returns `true` if the item is new; no other insert of the item \
                  returns `true`.",
        races: " Of concurrent inserts of a new item **exactly one** returns `true`, also if a \
                slice is added meanwhile; or none, if the item is a false positive.",
        costs: " Looks into each slice, one cache line each. Shortly after a slice was added, an \
                insert of a new item also locks and unlocks its line and 32 others in the previous \
                slice, and looks for the item once more."
    }
}
