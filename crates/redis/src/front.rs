//! A local filter in front of one in Redis.

use core::borrow::Borrow;

use tamis_core::{AsItem, Filter};
use tamis_hash::{AnyStable, HashItem};

use crate::Error;
use crate::blocking::RedisBloomFilter;

/// A filter in this process in front of a [`RedisBloomFilter`]: an item that was inserted or found here before is answered
/// without a round trip.
///
/// The local filter may be of any type: a `RotatingBloomFilter` remembers the last items in a fixed memory, a
/// `ScalableBloomFilter` all of them. It must have the [hasher](RedisBloomFilter::hasher) of the other. An item enters it
/// only after the server has answered that it has the item: if a reply is lost, the next insert of the item asks again.
///
/// A false positive of either filter is one of the pair, so make the rate of the local filter a part of the other's. A copy
/// that was [pulled](RedisBloomFilter::pull) has the same bits, and adds no false positive.
///
/// Exactly one insert of an item returns `true`, as without the local filter: it answers `false` only.
///
/// # Examples
///
/// ```no_run
/// # use tamis_bloom as tamis;
/// use tamis::RotatingBloomFilter;
/// use tamis_redis::{LocalFirst, RedisBloomFilter};
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
/// let recent = RotatingBloomFilter::<str, _>::builder_with_hasher(seen.hasher().clone())
///     .capacity(10_000_000)
///     .false_positive_rate(1e-6)
///     .build()?;
/// let seen = LocalFirst::new(seen, recent)?;
/// seen.insert("https://example.org/")?;
/// // No round trip.
/// assert!(!seen.insert("https://example.org/")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LocalFirst<T: ?Sized, F> {
    remote: RedisBloomFilter<T>,
    local: F,
}

impl<T: ?Sized, F: Filter<Hasher = AnyStable>> LocalFirst<T, F> {
    /// Puts a local filter in front of one in Redis.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`] if they have different hashes or seeds.
    ///
    /// # Examples
    ///
    /// See [`LocalFirst`].
    pub fn new(remote: RedisBloomFilter<T>, local: F) -> Result<Self, Error> {
        use tamis_hash::ItemHasher;
        if local.hasher().hash_probe() != remote.hasher().hash_probe() {
            return Err(Error::Mismatch { field: "hash or seed" });
        }
        Ok(Self { remote, local })
    }

    /// Inserts an item, as [`RedisBloomFilter::insert`] does, unless the local filter contains it.
    ///
    /// # Errors
    ///
    /// As for [`RedisBloomFilter::insert`].
    ///
    /// # Examples
    ///
    /// See [`LocalFirst`].
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        let hash = self.remote.hasher().hash_item(item);
        if self.local.contains_hash(hash) {
            return Ok(false);
        }
        let result = self.remote.insert_hash(hash);
        if result.is_ok() {
            self.remember(hash);
        }
        result
    }

    /// Inserts many items, as [`RedisBloomFilter::insert_many`] does, except those that the local filter contains.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_bloom::ScalableBloomFilter;
    /// # use tamis_redis::{LocalFirst, RedisBloomFilter};
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let hasher = seen.hasher().clone();
    /// let local = ScalableBloomFilter::<str, _>::with_capacity_and_hasher(1 << 20, hasher)?;
    /// let seen = LocalFirst::new(seen, local)?;
    /// let new = seen.insert_many(["a", "b", "a"]);
    /// assert_eq!(new.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "an insert may fail"]
    pub fn insert_many<I>(&self, items: I) -> Vec<Result<bool, Error>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        let hasher = self.remote.hasher();
        let hashes: Vec<u64> =
            items.into_iter().map(|item| hasher.hash_item(item.as_item())).collect();
        let unknown = self.unknown(&hashes);
        let asked: Vec<u64> = unknown.iter().map(|number| hashes[*number]).collect();
        let mut results = vec![Ok(false); hashes.len()];
        for (number, result) in unknown.into_iter().zip(self.remote.insert_hashes(&asked)) {
            if result.is_ok() {
                self.remember(hashes[number]);
            }
            results[number] = result;
        }
        results
    }

    /// Returns whether one of the filters may contain an item.
    ///
    /// # Errors
    ///
    /// As for [`RedisBloomFilter::contains`].
    ///
    /// # Examples
    ///
    /// See [`LocalFirst`].
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        let hash = self.remote.hasher().hash_item(item);
        if self.local.contains_hash(hash) {
            return Ok(true);
        }
        let found = self.remote.contains_hash(hash)?;
        if found {
            self.remember(hash);
        }
        Ok(found)
    }

    /// Returns the filter in Redis.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_bloom::ScalableBloomFilter;
    /// # use tamis_redis::{LocalFirst, RedisBloomFilter};
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let hasher = seen.hasher().clone();
    /// let local = ScalableBloomFilter::<str, _>::with_capacity_and_hasher(1 << 20, hasher)?;
    /// let seen = LocalFirst::new(seen, local)?;
    /// println!("{} shards, {:.0} items here", seen.remote().shards(), seen.local().len_estimate());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn remote(&self) -> &RedisBloomFilter<T> {
        &self.remote
    }

    /// Returns the local filter.
    ///
    /// # Examples
    ///
    /// See [`remote`](Self::remote).
    #[must_use]
    pub const fn local(&self) -> &F {
        &self.local
    }

    /// Returns the numbers of the hashes that the local filter does not contain.
    fn unknown(&self, hashes: &[u64]) -> Vec<usize> {
        let mut unknown = Vec::new();
        self.local.contains_hashes(hashes.iter().copied(), |number, found| {
            if !found {
                unknown.push(number);
            }
        });
        unknown
    }

    /// Inserts an item that the server has. A local filter without room remembers fewer items, and no answer is wrong.
    fn remember(&self, hash: u64) {
        _ = self.local.try_insert_hash(hash);
    }
}
