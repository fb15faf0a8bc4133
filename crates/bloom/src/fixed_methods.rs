//! The methods that only filters of a fixed size have, and their inserts.

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
            union: $union:literal
        }),+;
        parts: $parts:literal,
        clears: $clears:literal,
        meanwhile: $meanwhile:literal
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
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<String>::with_capacity(10)?;")]
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

            /// Returns exclusive access to the filter, through which inserts are plain stores.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
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
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let mut filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
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
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::Rapid;
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
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

            #[doc = concat!("Returns the sizes that determine where the ", $parts, " of an item")]
            /// lie.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder().bits(4096);")]
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
        union: " Adds all items of `other` by `fetch_or`, as if they had been inserted one by one."
    }, BlockedBloomFilter {
        inserts: " Inserts an item. Returns `true` if this call set a bit; the item was then \
                  certainly not in the filter before.",
        races: " Of concurrent inserts of a new item **at least one** returns `true`, perhaps \
                several: it is no test-and-set (for that, see \
                [`OnceBloomFilter`](crate::OnceBloomFilter)). All return `false` if the item was a \
                false positive, or becomes one during the race.",
        costs: " Lock-free; one cache line, at most [`words`](crate::Geometry::words) atomic \
                operations.",
        union: " Adds all items of `other` by `fetch_or`, as if they had been inserted one by one."
    }, OnceBloomFilter {
        inserts: " Inserts an item. Returns `true` if the item is new; no other insert of the item \
                  returns `true`.",
        races: " Of concurrent inserts of a new item **exactly one** returns `true`, or none, if \
                the item was a false positive or becomes one during the race.",
        costs: " Touches one cache line. A present item is found by loads alone. A new item takes \
                one `fetch_or` or, at rates below 1 %, the lock of its line for a few stores.",
        union: " Adds all items of `other`, as if they had been inserted one by one. Locks at most \
                one line at a time."
    };
    parts: "bits",
    clears: " Clears the filter.",
    meanwhile: " An item that is inserted into `other` concurrently may be added or not."
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
                filter. Sums above 15 become 15, and stay."
    };
    parts: "counters",
    clears: " Clears the filter, saturated counters included.",
    meanwhile: " An item that is inserted into `other`, or removed from it, concurrently may be \
                added, partly added, or not: remove it only from `other`. The items that were \
                inserted into `other` before the union, and are not removed from it meanwhile, may \
                be removed from this filter afterwards."
}
