//! The methods that are the same in all filters of a fixed size.

use core::borrow::Borrow;

use tamis_hash::{HashItem, ItemHasher};

use crate::blocked::BlockedBloomFilter;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
use crate::error::UnionError;
use crate::exclusive::Exclusive;
use crate::geometry::Geometry;
use crate::once::OnceBloomFilter;

/// Defines the methods of the types whose arrays have the same parts: bits or counters. The
/// arguments are sentences and words, those of each type first.
macro_rules! methods {
    (
        $($ty:ident {
            inserts: $inserts:literal,
            races: $races:literal,
            costs: $costs:literal,
            union: $union:literal,
            rate: $rate:literal
        }),+;
        parts: $parts:literal,
        contains: $contains:literal,
        sees: $sees:literal,
        clears: $clears:literal,
        meanwhile: $meanwhile:literal,
        absent: $absent:literal,
        size: $size:literal
    ) => {$(
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
            #[doc = concat!(" let filter = ", stringify!($ty), "::<String>::with_capacity(10)?;")]
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
                // The user's code runs in `hash_item`, before a line is touched or locked.
                self.shared.insert_hash(self.shared.hasher.hash_item(item))
            }

            #[doc = $contains]
            ///
            #[doc = $sees]
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline(always)]
            #[must_use]
            pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
            where
                T: Borrow<Q>,
                S: HashItem<Q>,
            {
                self.shared.contains_hash(self.shared.hasher.hash_item(item))
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

            #[doc = $clears]
            /// Takes `&mut self`, because a concurrent query would miss items.
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

            #[doc = $union]
            ///
            /// Both filters may be in use meanwhile.
            #[doc = $meanwhile]
            /// The rate of the united filter follows from its fill and may exceed the rate it was
            /// built for: see [`saturation`](Self::saturation). Reads all of `other`: `O(bits)`.
            ///
            /// # Errors
            ///
            /// [`UnionError`] unless both filters have the same geometry and the same hasher.
            /// Nothing is changed then.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::Rapid;
            ///
            #[doc = concat!(" let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let builder = builder.capacity(10).hasher(Rapid::with_seed(1));
            /// let (a, b) = (builder.clone().build()?, builder.build()?);
            /// b.insert("b");
            /// a.union_with(&b)?;
            /// assert!(a.contains("b"));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            pub fn union_with(&self, other: &Self) -> Result<(), UnionError>
            where
                S: ItemHasher,
            {
                self.shared.union_with(&other.shared)
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

            /// Returns the estimated number of items divided by the capacity. 1 means full. Above 1
            /// the filter is overfilled, and its rate may be higher than the rate it was built for.
            #[doc = concat!(" Reads all ", $parts, ": `O(bits)`.")]
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

            /// Returns the false-positive rate of the current contents: the probability that a
            #[doc = concat!(" query for an item ", $absent, " returns `true`.")]
            #[doc = $rate]
            #[doc = concat!(" Reads all ", $parts, ": `O(bits)`.")]
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<u64>::with_capacity(100_000)?;")]
            /// for item in 0..100_000 {
            ///     filter.insert(&item);
            /// }
            /// assert!((0.009..0.011).contains(&filter.false_positive_rate()));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                self.figures().false_positive_rate.value
            }

            #[doc = $size]
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!(" use tamis::", stringify!($ty), ";")]
            #[doc = concat!(" let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// assert_eq!(filter.size_in_bytes(), filter.geometry().size_in_bytes());
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.geometry().size_in_bytes()
            }

            #[doc = concat!(" Returns the sizes that determine where the ", $parts, " of an item")]
            /// lie.
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
    )+};
}

methods! { BloomFilter {
        inserts: " Inserts an item. Returns `true` if this call set a bit; the item was then \
                  certainly not in the filter before.",
        races: " Of concurrent inserts of a new item **at least one** returns `true`, perhaps \
                several: it is no test-and-set (for that, see \
                [`OnceBloomFilter`](crate::OnceBloomFilter)). All return `false` if the item was a \
                false positive, or becomes one during the race.",
        costs: " Lock-free; `O(probes)`.",
        union: " Adds all items of `other` by `fetch_or`, as if they had been inserted one by one.",
        rate: " Exact for the contents: the share of ones to the power of the number of probes."
    }, BlockedBloomFilter {
        inserts: " Inserts an item. Returns `true` if this call set a bit; the item was then \
                  certainly not in the filter before.",
        races: " Of concurrent inserts of a new item **at least one** returns `true`, perhaps \
                several: it is no test-and-set (for that, see \
                [`OnceBloomFilter`](crate::OnceBloomFilter)). All return `false` if the item was a \
                false positive, or becomes one during the race.",
        costs: " Lock-free; one cache line, at most [`words`](crate::Geometry::words) atomic \
                operations.",
        union: " Adds all items of `other` by `fetch_or`, as if they had been inserted one by one.",
        rate: " Computed from the contents as the mean over the lines, with an error of a few \
               thousandths (a hundredth in a nearly empty filter)."
    }, OnceBloomFilter {
        inserts: " Inserts an item. Returns `true` if the item is new; no other insert of the item \
                  returns `true`.",
        races: " Of concurrent inserts of a new item **exactly one** returns `true`, or none, if \
                the item was a false positive or becomes one during the race.",
        costs: " Touches one cache line. A present item is found by loads alone. A new item takes \
                one `fetch_or` or, at rates below 1 %, the lock of its line for a few stores.",
        union: " Adds all items of `other`, as if they had been inserted one by one. Locks at most \
                one line at a time.",
        rate: " Computed from the contents as the mean over the lines, with an error of a few \
               thousandths (a hundredth in a nearly empty filter)."
    };
    parts: "bits",
    contains: " Returns whether the item may have been inserted. `false` is certain: no insert of \
               the item happened before. For an item that was not inserted, the probability of \
               `true` is the [`false_positive_rate`](Self::false_positive_rate).",
    sees: " Wait-free. Sees every insert that happens before the call. Of an insert that runs \
           concurrently, it may see all bits, some, or none.",
    clears: " Clears the filter.",
    meanwhile: " An item that is inserted into `other` concurrently may be added or not.",
    absent: "that was not inserted",
    size: " Returns the size of the bit array in bytes."
}

methods! { CountingBloomFilter {
        inserts: " Inserts an item, or one more copy of it. Returns `true` if this call raised a \
                  counter from 0 to 1; the filter then certainly had no copy of the item before.",
        races: " Of concurrent inserts of a new item **at least one** returns `true`, perhaps \
                several: it is no test-and-set (for that, see \
                [`OnceBloomFilter`](crate::OnceBloomFilter)). All return `false` if the item was a \
                false positive, or becomes one during the race. Each of them adds a copy, whatever \
                it returns.",
        costs: " Lock-free; at most four atomic operations for each of the item's \
                [`words`](crate::Geometry::words).",
        union: " Adds all copies of all items of `other`: adds its counters to those of this \
                filter. Sums above 15 become 15, and stay.",
        rate: " Computed from the contents as the mean over the lines, with an error of a few \
               thousandths (a hundredth in a nearly empty filter)."
    };
    parts: "counters",
    contains: " Returns whether the filter may have a copy of the item. `false` is certain. `true` \
               is wrong at the [`false_positive_rate`](Self::false_positive_rate).",
    sees: " Wait-free. Finds every item whose insert happens before the call and whose removal \
           happens after it, if no item was removed that was not inserted. Of an insert or a \
           removal that runs concurrently, it may see all changes, some, or none.",
    clears: " Clears the filter, saturated counters included.",
    meanwhile: " An item that is inserted into `other`, or removed from it, concurrently may be \
                added, partly added, or not: remove it only from `other`. The items that were \
                inserted into `other` before the union, and are not removed from it meanwhile, may \
                be removed from this filter afterwards.",
    absent: "that was not inserted, or whose copies were all removed,",
    size: " Returns the size of the counters in bytes: half a byte each."
}
