//! The methods that are the same in both filter types, and `Clone`.

use tamis_core::common_methods;
use tamis_hash::ItemHasher;

#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::{InsertError, MergeError};
use crate::geometry::Geometry;
use crate::multiset::CuckooFilter;
use crate::once::OnceCuckooFilter;
use crate::shared::Shared;

/// Defines the methods of a type, and its `Clone`. `$results` is what inserts of "a", "b" and "a"
/// return, and `once` says whether a merge stores an item that is in both filters once. The rest
/// are sentences.
macro_rules! methods {
    (
        $ty:ident -> $inserted:ty = $results:literal,
        once: $once:literal,
        many: $many:literal,
        merged: $merged:literal,
        len: $len:literal
    ) => {
        common_methods! {
            $ty.shared of "tamis_cuckoo",
            builder: Builder<Self>,
            inserted: $inserted = $results,
            must_use: "an insert may fail",
            with_capacity: " Creates an empty filter for `items` distinct items, at a \
                            false-positive rate of at most 1 %, with a randomly keyed hasher. A \
                            capacity of 0 counts as 1.",
            builds: " Returns a builder, for sizes by items and rate or by buckets and slots, and for \
                     any hasher.",
            contains: " Returns whether the filter contains the item. `false` is certain. For an \
                       item that was not inserted, the probability of `true` is the \
                       [`false_positive_rate`](Self::false_positive_rate)."
                      ""
                      " The query reads the item's two buckets without a lock. It repeats the read \
                       in the rare case that another thread moved a copy out of a bucket at the \
                       same time. After eight disturbed attempts it takes the item's lock; in a \
                       filter that grows, it never waits for the lock."
                      ""
                      " The query finds every item whose insert happened before the query, even \
                       while other threads relocate the item. It may or may not find an item that \
                       is inserted concurrently.",
            inserts: " An error does not end the batch." "" " Faster than single inserts in filters \
                      that do not fit in the caches." $many,
            queries: " Faster than single queries in filters that do not fit in the caches.",
            capacity: " Returns the number of distinct items for which the filter was built: the \
                       `max_capacity` of a filter that grows."
                = |filter| filter.shared.capacity,
            saturation: " Returns the number of items divided by the capacity. Above 1 the filter \
                         is overfilled: inserts may fail, and the false-positive rate may be higher \
                         than requested."
                        ""
                        " The capacity of a merged filter is the larger of both capacities."
                = |filter| filter.shared.saturation(),
            rate: "" " Exact while no thread writes. Several copies of an item count once. Reads the \
                   other bucket of every fingerprint: `O(slots)`, about the time of one query per \
                   slot.",
            size: " Returns the number of bytes of the buckets, locks, versions and counts, at the \
                   present size of a filter that grows. Address space that is reserved for growth \
                   does not count."
                = |filter| filter.shared.size_in_bytes(),
            figures: " Reads every bucket, and the other bucket of every fingerprint: `O(slots)`.",
            sample: " Reads at least `lines` buckets (all if there are fewer), and the other bucket \
                     of each fingerprint in them. The number of items is exact."
        }

        impl<T: ?Sized, S> $ty<T, S> {
            /// Returns a new filter of the same geometry with the items of both.
            ///
            #[doc = $merged]
            /// Both filters may be in use meanwhile: the merge takes a `clone` of each.
            ///
            /// # Errors
            ///
            /// [`MergeError`] if the filters differ in geometry or hash differently, if the items
            /// of both do not fit, or if the allocation fails.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::Rapid;
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let builder = builder.capacity(10).hasher(Rapid::with_seed(1));
            /// let (a, b) = (builder.clone().build()?, builder.build()?);
            /// a.insert("a")?;
            /// b.insert("b")?;
            #[doc = concat!("let both = ", stringify!($ty), "::merge(&a, &b)?;")]
            /// assert!(both.contains("a") && both.contains("b"));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            pub fn merge(a: &Self, b: &Self) -> Result<Self, MergeError>
            where
                S: ItemHasher + Clone,
            {
                Ok(Self { shared: Shared::merge(&a.shared, &b.shared, $once)? })
            }

            #[doc = $len]
            ///
            /// Exact while no thread writes. While threads write, their current calls may be
            /// counted or not. The count is kept in up to 64 parts, fewer in small
            /// filters, so that threads rarely write to the same part. Without the feature `std` it
            /// has one part. `O(parts)`.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// filter.insert("a")?;
            /// assert_eq!(filter.len(), 1);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn len(&self) -> usize {
                self.shared.len()
            }

            /// Removes all items. It takes `&mut self` because a concurrent query would miss items.
            ///
            /// A filter that has grown uses its first size again. The memory stays allocated, for
            /// the growth to come. Only a new filter ([`Builder::from`](crate::Builder)) gives
            /// it back.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// filter.insert("a")?;
            /// filter.clear();
            /// assert!(filter.is_empty());
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            pub fn clear(&mut self) {
                self.shared.clear();
            }

            /// Returns whether the filter contains no item.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert!(filter.is_empty());
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the share of the present slots that are in use, computed from
            /// [`len`](Self::len).
            ///
            /// Inserts take longer from about 0.8 on.
            /// [`InsertError::Full`](crate::InsertError::Full) has the shares at which the first
            /// inserts fail.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::{", stringify!($ty), ", Filter};")]
            #[doc = concat!("let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let builder = builder.buckets(1000).slots(4).fingerprint_bits(16);
            /// let filter = builder.build()?;
            /// filter.try_extend(0..2000)?;
            /// assert!((0.49..=0.5).contains(&filter.load_factor()));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn load_factor(&self) -> f64 {
                self.shared.load_factor()
            }

            /// Returns the sizes of the filter, which determine the fingerprint and the buckets of
            /// every item.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// assert_eq!(filter.geometry().fingerprint_bits(), 12);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn geometry(&self) -> Geometry {
                self.shared.geometry()
            }
        }

        /// Copies the filter while other threads use it. The copy has every item whose insert
        /// happened before, and no item twice that is relocated.
        impl<T: ?Sized, S: Clone> Clone for $ty<T, S> {
            fn clone(&self) -> Self {
                Self { shared: self.shared.snapshot() }
            }
        }
    };
}

methods! { CuckooFilter -> Result<(), InsertError> = "[Ok(()); 3]",
    once: false,
    many: " Each insert adds a copy.",
    merged: " The number of copies of an item is the sum of both.",
    len: " Returns the number of copies: inserts that returned `Ok`, less removals that returned \
          `true`."
}

methods! { OnceCuckooFilter -> Result<bool, InsertError> = "[Ok(true), Ok(true), Ok(false)]",
    once: true,
    many: " As with [`insert`](Self::insert), **exactly one** of any number of concurrent inserts of \
           a new item returns `Ok(true)`.",
    merged: " An item that is in both is stored once.",
    len: " Returns the number of items: inserts that returned `Ok(true)`."
}
