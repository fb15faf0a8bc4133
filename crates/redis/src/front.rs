//! Local filters in front of filters in Redis.

use core::borrow::Borrow;

use tamis_core::{AsItem, Filter};
use tamis_hash::{AnyStable, HashItem};

use crate::blocking::RedisBloomFilter;
use crate::error::Error;
use crate::examples::{dot, opened};
use crate::filter::AsyncRedisBloomFilter;

/// Writes a local filter in front of one in Redis. `async await`: of the one for tasks.
macro_rules! front {
    ($(#[$doc:meta])* $name:ident of $remote:ident $(, $async:ident $await:ident)?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T: ?Sized, F> {
            remote: $remote<T>,
            local: F,
        }

        impl<T: ?Sized, F: Filter<Hasher = AnyStable>> $name<T, F> {
            /// Puts a local filter in front of one in Redis.
            ///
            /// # Errors
            ///
            /// [`Error::Mismatch`] if they have different hashes or seeds. [`Error::Window`] if the
            /// filter in Redis forgets: the local one would answer for items that are new again.
            pub fn new(remote: $remote<T>, local: F) -> Result<Self, Error> {
                remote.require_front(local.hasher())?;
                Ok(Self { remote, local })
            }

            #[doc = concat!("Inserts an item, as [`", stringify!($remote), "::insert`] does, unless")]
            /// the local filter contains it.
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($remote), "::insert`].")]
            pub $($async)? fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
            where
                T: Borrow<Q>,
                AnyStable: HashItem<Q>,
            {
                let hash = self.remote.hasher().hash_item(item);
                if self.local.contains_hash(hash) {
                    return Ok(false);
                }
                let new = self.remote.insert_hash(hash)$(.$await)??;
                remember(&self.local, hash);
                Ok(new)
            }

            #[doc = concat!("Inserts many items, as [`", stringify!($remote), "::insert_many`] does,")]
            /// except those that the local filter contains.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # use tamis_bloom::ScalableBloomFilter;
            #[doc = opened!($remote $(, $async $await)?)]
            /// let hasher = seen.hasher().clone();
            /// let builder = ScalableBloomFilter::<str>::builder().hasher(hasher);
            /// let local = builder.capacity(1 << 20).build()?;
            #[doc = concat!("let seen = tamis_redis::", stringify!($name), "::new(seen, local)?;")]
            /// let items = ["a", "b", "a"];
            #[doc = concat!("let new = seen.insert_many(items)", dot!($($await)?), ";")]
            /// assert_eq!(new.len(), 3);
            /// # Ok(()) }
            /// ```
            #[must_use = "an insert may fail"]
            pub $($async)? fn insert_many<I>(&self, items: I) -> Vec<Result<bool, Error>>
            where
                I: IntoIterator<Item: AsItem<T>>,
                AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                let hashes = self.remote.hashes(items);
                let (unknown, asked) = unknown(&self.local, &hashes);
                if asked.is_empty() {
                    return vec![Ok(false); hashes.len()];
                }
                let answers = self.remote.insert_hashes(&asked)$(.$await)?;
                merged(&self.local, &hashes, unknown, answers)
            }

            /// Returns whether one of the filters may contain an item.
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($remote), "::contains`].")]
            pub $($async)? fn contains<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
            where
                T: Borrow<Q>,
                AnyStable: HashItem<Q>,
            {
                let hash = self.remote.hasher().hash_item(item);
                if self.local.contains_hash(hash) {
                    return Ok(true);
                }
                let found = self.remote.contains_hash(hash)$(.$await)??;
                if found {
                    remember(&self.local, hash);
                }
                Ok(found)
            }

            /// Queries many items, as [`contains`](Self::contains) does: only those that the local
            /// filter does not contain are sent.
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($remote), "::contains_many`].")]
            pub $($async)? fn contains_many<I>(&self, items: I) -> Result<Vec<bool>, Error>
            where
                I: IntoIterator<Item: AsItem<T>>,
                AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
            {
                let hashes = self.remote.hashes(items);
                let (unknown, asked) = unknown(&self.local, &hashes);
                let mut results = vec![true; hashes.len()];
                if asked.is_empty() {
                    return Ok(results);
                }
                let answers = self.remote.contains_hashes(&asked)$(.$await)??;
                for (number, found) in unknown.into_iter().zip(answers) {
                    if found {
                        remember(&self.local, hashes[number]);
                    }
                    results[number] = found;
                }
                Ok(results)
            }

            /// Returns the filter in Redis.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # use tamis_bloom::ScalableBloomFilter;
            #[doc = opened!($remote $(, $async $await)?)]
            /// let hasher = seen.hasher().clone();
            /// let builder = ScalableBloomFilter::<str>::builder().hasher(hasher);
            /// let local = builder.capacity(1 << 20).build()?;
            #[doc = concat!("let seen = tamis_redis::", stringify!($name), "::new(seen, local)?;")]
            /// let here = seen.local().figures().items.value;
            /// println!("{} shards, {here:.0} items here", seen.remote().shards());
            /// # Ok(()) }
            /// ```
            #[must_use]
            pub const fn remote(&self) -> &$remote<T> {
                &self.remote
            }

            /// Returns the local filter.
            #[must_use]
            pub const fn local(&self) -> &F {
                &self.local
            }
        }
    };
}

front! {
    /// A filter in this process in front of a [`RedisBloomFilter`]: an item that was inserted or
    /// found here before is answered without a round trip.
    ///
    /// The local filter must have the [hasher](RedisBloomFilter::hasher) of the other. An item
    /// enters it only after the server has answered that it has the item: if a reply is lost, the
    /// next insert of the item asks again.
    ///
    /// **The local filter must not become too full.** A `RotatingBloomFilter` remembers the last
    /// items in a fixed memory, a `ScalableBloomFilter` remembers all of them, and a cuckoo filter
    /// refuses what it has no room for. A Bloom filter of a fixed size, such as that of
    /// [`local`](RedisBloomFilter::local), takes every item: beyond its capacity its false
    /// positives rise to 100 %, and new items are then lost without an error.
    ///
    /// A false positive of either filter is one of the pair, so make the rate of the local filter a
    /// part of the other's. A copy that was [pulled](RedisBloomFilter::pull) has the same bits, and
    /// adds no false positive.
    ///
    /// Exactly one insert of an item returns `true`, as without the local filter: that one answers
    /// `false` or nothing, never `true`. After [`Error::Replaced`] or [`Error::Lost`], discard both
    /// filters: the local one still answers for items that the server no longer has.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// use tamis_redis::{LocalFirst, RedisBloomFilter};
    ///
    /// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let recent = RotatingBloomFilter::<str>::builder().hasher(seen.hasher().clone())
    ///     .capacity(10_000_000)
    ///     .false_positive_rate(1e-6)
    ///     .build()?;
    /// let seen = LocalFirst::new(seen, recent)?;
    /// seen.insert("https://example.org/")?;
    /// // No round trip.
    /// assert!(!seen.insert("https://example.org/")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    LocalFirst of RedisBloomFilter
}

front! {
    /// [`LocalFirst`] for asynchronous programs on tokio: a filter in this process in front of an
    /// [`AsyncRedisBloomFilter`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_bloom as tamis;
    /// use tamis::ScalableBloomFilter;
    /// use tamis_redis::{AsyncLocalFirst, AsyncRedisBloomFilter};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let seen = AsyncRedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open().await?;
    /// let builder = ScalableBloomFilter::<str>::builder().hasher(seen.hasher().clone());
    /// let local = builder.capacity(1 << 20).build()?;
    /// let seen = AsyncLocalFirst::new(seen, local)?;
    /// seen.insert("https://example.org/").await?;
    /// // No round trip.
    /// assert!(!seen.insert("https://example.org/").await?);
    /// # Ok(())
    /// # }
    /// ```
    AsyncLocalFirst of AsyncRedisBloomFilter, async await
}

/// Returns the numbers of the hashes that the local filter does not contain, and these hashes.
fn unknown(local: &impl Filter, hashes: &[u64]) -> (Vec<usize>, Vec<u64>) {
    let mut unknown = Vec::new();
    local.contains_hashes(hashes.iter().copied(), |number, found| {
        if !found {
            unknown.push(number);
        }
    });
    let asked = unknown.iter().map(|number| hashes[*number]).collect();
    (unknown, asked)
}

/// Returns the results of a batch: those of the unknown items are the answers of the server, which
/// are remembered.
fn merged(
    local: &impl Filter,
    hashes: &[u64],
    unknown: Vec<usize>,
    answers: Vec<Result<bool, Error>>,
) -> Vec<Result<bool, Error>> {
    let mut results = vec![Ok(false); hashes.len()];
    for (number, answer) in unknown.into_iter().zip(answers) {
        if answer.is_ok() {
            remember(local, hashes[number]);
        }
        results[number] = answer;
    }
    results
}

/// Inserts an item that the server has. A local filter that refuses it remembers fewer items, and
/// no answer is wrong.
fn remember(local: &impl Filter, hash: u64) {
    _ = local.insert_hash(hash);
}
