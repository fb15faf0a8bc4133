//! The methods that are the same in both filter types.

use alloc::vec::Vec;
use core::borrow::Borrow;

use tamis_core::{AsItem, common_methods, many};
use tamis_hash::{HashItem, ItemHasher};

#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::{InsertError, MergeError};
use crate::geometry::Geometry;
use crate::multiset::CuckooFilter;
use crate::once::OnceCuckooFilter;
use crate::shared::Shared;

/// Defines the methods of a type. `insert` is the method of [`Shared`] that inserts many items, and
/// `once` says whether a merge stores an item that is in both filters once. The rest are sentences.
macro_rules! methods {
    (
        $ty:ident -> $inserted:ty,
        insert: $insert:ident,
        once: $once:literal,
        many: $many:literal,
        merged: $merged:literal,
        len: $len:literal
    ) => {
        common_methods! {
            $ty.shared of "tamis_cuckoo",
            builder: Builder<Self>,
            capacity: " Creates an empty filter for `items` distinct items, at a false-positive rate \
                       of at most 1 %, with a randomly keyed hasher. A capacity of 0 counts as 1.",
            builds: " Returns a builder, for sizes by items and rate or by buckets and slots, and for \
                     any hasher.",
            queries: " Faster than single queries in filters that do not fit in the caches.",
            figures: " Reads every bucket, and the other bucket of every fingerprint: `O(slots)`.",
            sample: " Reads at least `lines` buckets (all if there are fewer), and the other bucket \
                     of each fingerprint in them. The number of items is exact."
        }

        impl<T: ?Sized, S> $ty<T, S> {
            /// Returns whether the filter contains the item. `false` is certain. For an item that
            /// was not inserted, the probability of `true` is the
            /// [`false_positive_rate`](Self::false_positive_rate).
            ///
            /// The query reads the item's two buckets without a lock. It repeats the read in the
            /// rare case that another thread moved a copy out of a bucket at the same time. After
            /// eight disturbed attempts it takes the item's lock; in a filter that grows, it never
            /// waits for the lock.
            ///
            /// The query finds every item whose insert happened before the query, even while other
            /// threads relocate the item. It may or may not find an item that is inserted
            /// concurrently.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(10).false_positive_rate(1e-8).build()?;
            /// filter.insert("a")?;
            /// assert!(filter.contains("a") && !filter.contains("b"));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[inline]
            #[must_use]
            pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
            where
                T: Borrow<Q>,
                S: HashItem<Q>,
            {
                self.shared.contains(self.shared.hash(item))
            }

            /// Inserts many items, owned or borrowed. Calls `on_result` for each item in order,
            /// with its index and the result that [`insert`](Self::insert) would have returned. An
            /// error does not end the batch.
            ///
            /// Faster than single inserts in filters that do not fit in the caches.
            #[doc = $many]
            /// See [batches](crate#batches) for slow iterators and panics.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(1000)?;")]
            /// let mut failed = vec![];
            /// filter.insert_many_with(0..10, |number, result| {
            ///     if result.is_err() {
            ///         failed.push(number);
            ///     }
            /// });
            /// assert!(failed.is_empty());
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[inline]
            pub fn insert_many_with<I>(
                &self,
                items: I,
                on_result: impl FnMut(usize, Result<$inserted, InsertError>),
            ) where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                self.shared.$insert(self.hashes(items), on_result);
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
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// assert!(filter.insert_many(["a", "b"]).iter().all(Result::is_ok));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use = "an insert may fail"]
            pub fn insert_many<I>(&self, items: I) -> Vec<Result<$inserted, InsertError>>
            where
                I: IntoIterator<Item: AsItem<T>>,
                S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                many::insert(self, self.hashes(items))
            }

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
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::Rapid;
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let builder = builder.capacity(10).hasher(Rapid::with_seed(1));
            /// let (a, b) = (builder.clone().build()?, builder.build()?);
            /// a.insert("a")?;
            /// b.insert("b")?;
            #[doc = concat!(" let both = ", stringify!($ty), "::merge(&a, &b)?;")]
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
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
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
            /// A filter that has grown begins with its first size again, but keeps the memory that
            /// it has, to grow into it. Only a new filter ([`Builder::from`](crate::Builder)) gives
            /// it back.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
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
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert!(filter.is_empty());
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the number of distinct items for which the filter was built: the
            /// `max_capacity` of a filter that grows.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert_eq!(filter.capacity(), 10);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.shared.capacity
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
            #[doc = concat!(" use tamis::{", stringify!($ty), ", Filter};")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
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

            /// Returns the number of items divided by the capacity. Above 1 the filter is
            /// overfilled: inserts may fail, and the false-positive rate may be higher than
            /// requested.
            ///
            /// The capacity of a merged filter is the sum of both capacities, limited to what fits.
            /// Its rate is that of its items.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::{", stringify!($ty), ", Filter};")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(1000)?;")]
            /// filter.try_extend(0..500)?;
            /// assert!((0.48..=0.5).contains(&filter.saturation()));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn saturation(&self) -> f64 {
                self.shared.saturation()
            }

            /// Returns the false-positive rate of the present contents: the probability that a
            /// query of an item that was not inserted returns `true`.
            ///
            /// Exact while no thread writes. Several copies of an item count once. It reads the
            /// other bucket of every fingerprint: `O(slots)`, about the time of one query per slot.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::{", stringify!($ty), ", Filter};")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let builder = builder.buckets(1000).slots(4).fingerprint_bits(8);
            /// let filter = builder.build()?;
            /// filter.try_extend(0..3600)?;
            /// assert!((0.025..0.03).contains(&filter.false_positive_rate()));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                self.shared.false_positive_rate()
            }

            /// Returns the number of bytes of the buckets, locks, versions and counts, at the
            /// present size of a filter that grows. Address space that is reserved for growth does
            /// not count.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let builder = builder.buckets(100_000).slots(4);
            /// let builder = builder.fingerprint_bits(16);
            /// let filter = builder.build()?;
            /// assert!((800_000..808_000).contains(&filter.size_in_bytes()));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.shared.size_in_bytes()
            }

            /// Returns the sizes of the filter, which determine the fingerprint and the buckets of
            /// every item.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_cuckoo as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// assert_eq!(filter.geometry().fingerprint_bits(), 12);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn geometry(&self) -> Geometry {
                self.shared.geometry()
            }

        }
    };
}

methods! { CuckooFilter -> (),
    insert: insert_many_with,
    once: false,
    many: " Each insert adds a copy.",
    merged: " The number of copies of an item is the sum of both.",
    len: " Returns the number of copies: inserts that returned `Ok`, less removals that returned \
          `true`."
}

methods! { OnceCuckooFilter -> bool,
    insert: insert_once_many,
    once: true,
    many: " As with [`insert`](Self::insert), **exactly one** of any number of concurrent inserts of \
           a new item returns `Ok(true)`.",
    merged: " An item that is in both is stored once.",
    len: " Returns the number of items: inserts that returned `Ok(true)`."
}
