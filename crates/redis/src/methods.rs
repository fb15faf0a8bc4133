//! The methods of both filters.

use core::borrow::Borrow;
use core::fmt;
use core::time::Duration;

use tamis_core::{AsItem, Figures};
use tamis_formats::Normalization;
use tamis_hash::{AnyStable, HashItem};

use crate::blocking::RedisBloomFilter;
use crate::calls::roots::NO_VERDICT;
use crate::calls::storage::Storage;
use crate::copies::local::Local;
use crate::copies::{pull, push};
use crate::error::Error;
use crate::examples::{dot, opened};
use crate::filter::AsyncRedisBloomFilter;
use crate::window::Window;

/// Writes the methods of a filter, which has a field `shared` and a method `wait`. `async await`:
/// of the filter for tasks. Its `wait` returns the future, that of the other filter the output.
macro_rules! methods {
    ($name:ident by $builder:ident $(, $async:ident $await:ident)?) => {
        impl<T: ?Sized> $name<T> {
            /// Inserts an item. Returns `true` if it was not in the filter: of any number of
            /// clients that insert it at the same time, **exactly one** gets `true`, or none if the
            /// item was a false positive or becomes one meanwhile.
            ///
            /// One round trip; two if the filter has grown. [`insert_many`](Self::insert_many) is
            /// many times as fast.
            ///
            /// # Errors
            ///
            /// [`Error::VerdictUnknown`] if the reply was lost: the item may be stored. If this
            /// insert stored it, no client gets `true`. [`Error::NotReplicated`] if it is stored,
            /// and too few replicas have confirmed it. All other errors: this insert has stored
            /// nothing.
            pub $($async)? fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
            where
                T: Borrow<Q>,
                AnyStable: HashItem<Q>,
            {
                self.insert_hash(self.hasher().hash_item(item))$(.$await)?
            }

            /// Inserts an item by its hash, as [`insert`](Self::insert) does. The hash must be that
            /// of [`hasher`](Self::hasher).
            ///
            /// # Errors
            ///
            /// As for [`insert`](Self::insert).
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # use tamis_hash as tamis;
            /// use tamis::hash::HashItem;
            #[doc = opened!($name $(, $async $await)?)]
            /// let hash = seen.hasher().hash_item("https://example.org/");
            #[doc = concat!("let new = seen.insert_hash(hash)", dot!($($await)?), "?;")]
            /// # Ok(()) }
            /// ```
            pub $($async)? fn insert_hash(&self, hash: u64) -> Result<bool, Error> {
                self.insert_hashes(&[hash])$(.$await)?.pop().unwrap_or(Err(NO_VERDICT))
            }

            /// Inserts many items, owned or borrowed, and returns the result of each, as
            /// [`insert`](Self::insert) would.
            ///
            /// The items of a shard go in commands of at most 256 items (64 with a window, and
            /// fewer in small filters that grow), and the shards are served at the same time. Of
            /// equal items in the batch the first is inserted first. A batch of a million items
            /// takes 110 to 210 bytes per item in this process.
            #[must_use = "an insert may fail"]
            pub $($async)? fn insert_many<I>(&self, items: I) -> Vec<Result<bool, Error>>
            where
                I: IntoIterator<Item: AsItem<T>>,
                AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                self.insert_hashes(&self.hashes(items))$(.$await)?
            }

            /// Inserts many items by their hashes, as [`insert_many`](Self::insert_many) does.
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = opened!($name $(, $async $await)?)]
            /// let hashes = [0x1234_5678_9ABC_DEF0, 77];
            #[doc = concat!("let new = seen.insert_hashes(&hashes)", dot!($($await)?), ";")]
            /// assert_eq!(new.len(), 2);
            /// # Ok(()) }
            /// ```
            #[must_use = "an insert may fail"]
            pub $($async)? fn insert_hashes(&self, hashes: &[u64]) -> Vec<Result<bool, Error>> {
                self.wait(self.shared.insert_hashes(hashes))$(.$await)?
            }

            /// Returns whether the filter may contain an item. `false` is certain: no insert of the
            /// item had returned before (unless its master was lost, or the query may go to
            /// replicas).
            ///
            /// # Errors
            ///
            /// [`Error::Unavailable`], [`Error::Lost`], or [`Error::Refused`]. Queries are repeated
            /// until the deadline.
            pub $($async)? fn contains<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
            where
                T: Borrow<Q>,
                AnyStable: HashItem<Q>,
            {
                self.contains_hash(self.hasher().hash_item(item))$(.$await)?
            }

            /// Queries an item by its hash, as [`contains`](Self::contains) does.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains).
            pub $($async)? fn contains_hash(&self, hash: u64) -> Result<bool, Error> {
                self.wait(self.shared.contains_hash(hash))$(.$await)?
            }

            /// Queries many items, owned or borrowed, and returns the answers in their order.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains). Then no item has an answer.
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = opened!($name $(, $async $await)?)]
            /// let items = ["a", "b"];
            #[doc = concat!("let found = seen.contains_many(items)", dot!($($await)?), "?;")]
            /// assert_eq!(found.len(), 2);
            /// # Ok(()) }
            /// ```
            pub $($async)? fn contains_many<I>(&self, items: I) -> Result<Vec<bool>, Error>
            where
                I: IntoIterator<Item: AsItem<T>>,
                AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                self.contains_hashes(&self.hashes(items))$(.$await)?
            }

            /// Queries many items by their hashes, as [`contains_many`](Self::contains_many) does.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains).
            pub $($async)? fn contains_hashes(&self, hashes: &[u64]) -> Result<Vec<bool>, Error> {
                self.wait(self.shared.contains_hashes(hashes))$(.$await)?
            }

            /// Returns how full the filter is: the [`Figures`] of a filter in memory, with standard
            /// errors of 0. The servers count all bits, `O(bits)`: a millisecond per MiB.
            ///
            /// The saturation is that of all slices that exist, or the false-positive rate divided
            /// by the [request](Self::requested_rate) if that is larger: a shard that cannot grow
            /// (its slot moves, or the user may not run scripts) fills a slice far beyond its
            /// capacity. So whenever the rate exceeds the request, the saturation is above 1. By
            /// chance, the rate of a fixed filter at its capacity exceeds the request by a few per
            /// cent, or by more with fewer than 100 items per shard and a low rate.
            ///
            /// In a filter with a window the saturation is that of its epochs, each of which is
            /// made for a third of the capacity. With four full epochs it is 1.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains).
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = opened!($name $(, $async $await)?)]
            #[doc = concat!("let figures = seen.figures()", dot!($($await)?), "?;")]
            /// println!("about {:.0} items", figures.items.value);
            /// println!("{:.1e} false positives", figures.false_positive_rate.value);
            /// # Ok(()) }
            /// ```
            pub $($async)? fn figures(&self) -> Result<Figures, Error> {
                self.wait(self.shared.figures())$(.$await)?
            }

            /// Returns what the filter takes in the servers. It finds the keys and does not count
            /// bits: `O(keys)`.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains).
            pub $($async)? fn storage(&self) -> Result<Storage, Error> {
                self.wait(self.shared.storage())$(.$await)?
            }

            /// Copies the filter into this process. The copy gives the same answers: it contains
            /// each item whose insert had returned before, and may contain others that were
            /// inserted meanwhile.
            ///
            /// It takes the memory of the filter, and sends all of its bits over the network.
            ///
            /// # Errors
            ///
            /// As for [`contains`](Self::contains), and [`Error::Alloc`].
            pub $($async)? fn pull(&self) -> Result<Local<T>, Error>
            where
                AnyStable: HashItem<T>,
            {
                let slices = self.wait(self.shared.pull())$(.$await)??;
                pull::local(&self.shared, slices)
            }

            /// Returns an empty filter in this process that can be filled and [pushed](Self::push):
            /// for a bulk load. It has the size of the largest slice that the filter has now, and
            /// does not grow.
            ///
            /// # Errors
            ///
            /// [`Error::Alloc`].
            pub fn local(&self) -> Result<Local<T>, Error>
            where
                AnyStable: HashItem<T>,
            {
                self.shared.require_all()?;
                pull::empty(&self.shared)
            }

            /// Adds all items of a local filter, which must be from [`local`](Self::local) or
            /// [`pull`](Self::pull), of this filter or of one with the same hash, seed and
            /// geometry.
            ///
            /// A push sets the bits of a slice, without verdicts: an insert that races with it may
            /// return `true` for an item of the push. It adds to the items that the slice has, so
            /// the slice may become fuller than it was planned; [`figures`](Self::figures) reports
            /// that.
            ///
            /// # Errors
            ///
            /// [`Error::Mismatch`] if the filter does not fit. This is checked before any command
            /// is sent: nothing is changed, and the error is this one even if the filter in Redis
            /// was replaced. After any other error some shards have the items and others have not;
            /// a push can be repeated.
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = opened!($name $(, $async $await)?)]
            /// let local = seen.local()?;
            /// for line in std::fs::read_to_string("old-urls.txt")?.lines() {
            ///     local.insert(line);
            /// }
            #[doc = concat!("seen.push(&local)", dot!($($await)?), "?;")]
            /// # Ok(()) }
            /// ```
            pub $($async)? fn push(&self, local: &Local<T>) -> Result<(), Error>
            where
                AnyStable: HashItem<T>,
            {
                let numbers = push::fit(&self.shared, local)?;
                let line = |part, line| local.line(part, line);
                self.wait(self.shared.push(&numbers, &line))$(.$await)?
            }

            /// Returns whether both are handles of one filter, and not of two that had the same
            /// name one after the other.
            #[doc(hidden)]
            #[must_use]
            pub fn is_same(&self, other: &Self) -> bool {
                self.shared.identity() == other.shared.identity()
            }

            /// Returns the hasher, which the filter's descriptor names.
            #[must_use]
            pub fn hasher(&self) -> &AnyStable {
                &self.shared.descriptor.hasher
            }

            /// Returns the name of the normal form of the items.
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = opened!($name $(, $async $await)?)]
            /// println!("{} shards, made for {} items", seen.shards(), seen.capacity());
            /// println!("{} false positives asked for", seen.requested_rate());
            /// println!("grows: {}, normal form: {:?}", seen.grows(), seen.normalization());
            /// # Ok(()) }
            /// ```
            #[must_use]
            pub fn normalization(&self) -> Normalization {
                self.shared.descriptor.normalization
            }

            /// Returns the number of items that the first slice was made for; with a
            /// [window](Self::window), the items of a span.
            #[must_use]
            pub fn capacity(&self) -> u64 {
                self.shared.descriptor.capacity()
            }

            /// Returns the false-positive rate that the filter was created with.
            #[must_use]
            pub fn requested_rate(&self) -> f64 {
                self.shared.descriptor.rate()
            }

            /// Returns the span for which the filter remembers items at least, or `None` if it
            /// forgets none: that of
            #[doc = concat!("[`", stringify!($builder), "::window`](crate::", stringify!($builder), "::window).")]
            #[must_use]
            pub fn window(&self) -> Option<Duration> {
                self.shared.window().map(Window::span)
            }

            /// Returns the number of shards.
            #[must_use]
            pub fn shards(&self) -> u32 {
                self.shared.sizes().shards
            }

            /// Returns whether the filter grows when it is full.
            #[must_use]
            pub fn grows(&self) -> bool {
                self.shared.sizes().grows()
            }

            /// Returns an error if a local filter with this hasher cannot answer for this one.
            pub(crate) fn require_front(&self, local: &AnyStable) -> Result<(), Error> {
                self.shared.require_all()?;
                self.shared.require_hasher(local)
            }

            pub(crate) fn hashes<I>(&self, items: I) -> Vec<u64>
            where
                I: IntoIterator<Item: AsItem<T>>,
                AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                let hasher = self.hasher();
                items.into_iter().map(|item| hasher.hash_item(item.as_item())).collect()
            }
        }

        impl<T: ?Sized> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("name", &self.shared.name)
                    .field("sizes", &self.shared.sizes())
                    .finish_non_exhaustive()
            }
        }
    };
}

methods!(RedisBloomFilter by Builder);
methods!(AsyncRedisBloomFilter by AsyncBuilder, async await);
