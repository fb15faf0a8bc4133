//! The methods that only filters that grow have, and their inserts.

use core::borrow::Borrow;

use tamis_core::Figures;
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
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<String>::with_capacity(4096)?;")]
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
                // The user's code runs in `hash_item`, before anything is locked.
                self.slices.insert(self.hasher.hash_item(item))
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
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let mut filter = ", stringify!($ty), "::<str>::with_capacity(100)?;")]
            /// filter.insert("a");
            /// filter.clear();
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn clear(&mut self) {
                self.slices.clear();
            }

            /// Returns the number of items at which growth ends. Up to there the expected rate
            /// stays below the request. A [limit](crate::ScalableBuilder::max_size_in_bytes) for
            /// the memory, or memory that cannot be allocated, may end it earlier.
            ///
            /// The default is half of `rate · 2^64`. If that is above 10^10, the default is the
            /// geometric mean of that and 10^10. The builder takes [another
            /// number](crate::ScalableBuilder::max_capacity).
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let builder = builder.false_positive_rate(1e-12);
            /// let filter = builder.build()?;
            /// assert_eq!(filter.max_capacity(), 9_223_372);
            #[doc = concat!("let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(1024).max_capacity(1_000_000).build()?;
            /// assert_eq!((filter.capacity(), filter.max_capacity()), (1024, 1_000_000));
            /// let before = filter.size_in_bytes();
            /// filter.insert_many_with(0..2000, |_, _| ());
            /// assert_eq!(filter.capacity(), 1024 + 3 * 1024);
            /// assert!(filter.size_in_bytes() > 4 * before);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn max_capacity(&self) -> usize {
                self.slices.max_capacity()
            }

            pub(crate) fn read_figures(&self, lines: Option<u64>) -> Figures {
                self.slices.figures(lines)
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
