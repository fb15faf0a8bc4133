//! The blocking filter: the asynchronous one, driven by the threads that call it.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;

use tamis_core::{AsItem, Figures};
use tamis_formats::Normalization;
use tamis_hash::{AnyStable, HashItem};

use crate::builder::builder;
use crate::calls::shared::Confirm;
use crate::calls::storage::Storage;
use crate::copies::local::Local;
use crate::driver::Driver;
use crate::error::Error;
use crate::filter::AsyncRedisBloomFilter;
use crate::options::Options;

/// A Bloom filter in Redis or Valkey: a set that any number of programs share, with exactly one
/// winner per item.
///
/// All methods take `&self`. Any number of threads may use a filter at once; they share one
/// connection per node, and their commands travel together. Clones share the connections, too.
///
/// A call blocks its thread until the servers have answered, and works in every thread. Inside an
/// asynchronous runtime each call starts a thread. In a task it also holds up the other tasks: use
/// [`AsyncRedisBloomFilter`] there, or a thread that may block, such as that of tokio's
/// `spawn_blocking`.
///
/// [The crate's documentation](crate) states what happens when servers fail.
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::RedisBloomFilter;
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open_or_create()?;
/// assert!(seen.insert("https://example.org/")?);
/// assert!(!seen.insert("https://example.org/")?);
/// assert!(seen.contains("https://example.org/")?);
/// # Ok::<(), tamis_redis::Error>(())
/// ```
pub struct RedisBloomFilter<T: ?Sized> {
    pub(crate) filter: AsyncRedisBloomFilter<T>,
    driver: Arc<Driver>,
}

impl<T: ?Sized> RedisBloomFilter<T> {
    /// Returns a builder for the filter `name` at an address:
    /// `redis://[user:password@]host[:port]/[database]`, `rediss://…` with encryption (feature
    /// `tls`), or `unix:///path`. Of a cluster, any node will do.
    pub fn builder(address: &str, name: &str) -> Builder<T> {
        Builder::new(address, name)
    }

    /// Inserts an item. Returns `true` if it was not in the filter: of any number of clients that
    /// insert it at the same time, **exactly one** gets `true`, or none if the item was a false
    /// positive or becomes one meanwhile.
    ///
    /// One round trip; two if the filter has grown. [`insert_many`](Self::insert_many) is many
    /// times as fast.
    ///
    /// # Errors
    ///
    /// [`Error::VerdictUnknown`] if the reply was lost: the item may be stored, and if it is,
    /// nobody got `true`. [`Error::NotReplicated`] if it is stored, and too few replicas have
    /// confirmed it. All other errors: this insert has stored nothing.
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        self.insert_hash(self.hasher().hash_item(item))
    }

    /// Inserts an item by its hash, as [`insert`](Self::insert) does. The hash must be that of
    /// [`hasher`](Self::hasher).
    ///
    /// # Errors
    ///
    /// As for [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_redis::RedisBloomFilter;
    /// # use tamis_hash as tamis;
    /// use tamis::hash::HashItem;
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let hash = seen.hasher().hash_item("https://example.org/");
    /// let new = seen.insert_hash(hash)?;
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    pub fn insert_hash(&self, hash: u64) -> Result<bool, Error> {
        self.driver.wait(self.filter.insert_hash(hash))
    }

    /// Inserts many items, owned or borrowed, and returns the result of each, as
    /// [`insert`](Self::insert) would.
    ///
    /// The items of a shard go in commands of at most 256 items (64 with a window, and fewer in
    /// small filters that grow), and the shards are served at the same time. Of equal items in the
    /// batch the first is inserted first. It takes 50 bytes per item in this process.
    #[must_use = "an insert may fail"]
    pub fn insert_many<I>(&self, items: I) -> Vec<Result<bool, Error>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.insert_hashes(&self.filter.hashes(items))
    }

    /// Inserts many items by their hashes, as [`insert_many`](Self::insert_many) does.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_redis::RedisBloomFilter;
    /// # let seen = RedisBloomFilter::<u64>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let new = seen.insert_hashes(&[0x1234_5678_9ABC_DEF0, 77]);
    /// assert_eq!(new.len(), 2);
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    #[must_use = "an insert may fail"]
    pub fn insert_hashes(&self, hashes: &[u64]) -> Vec<Result<bool, Error>> {
        self.driver.wait(self.filter.insert_hashes(hashes))
    }

    /// Returns whether the filter may contain an item. `false` is certain: no insert of the item
    /// had returned before (unless its master was lost, or the query may go to replicas).
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`], [`Error::Lost`], or [`Error::Refused`]. Queries are repeated until
    /// the deadline.
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        self.contains_hash(self.hasher().hash_item(item))
    }

    /// Queries an item by its hash, as [`contains`](Self::contains) does.
    ///
    /// # Errors
    ///
    /// As for [`contains`](Self::contains).
    pub fn contains_hash(&self, hash: u64) -> Result<bool, Error> {
        self.driver.wait(self.filter.contains_hash(hash))
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
    /// # use tamis_redis::RedisBloomFilter;
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let found = seen.contains_many(["a", "b"])?;
    /// assert_eq!(found.len(), 2);
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    pub fn contains_many<I>(&self, items: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.contains_hashes(&self.filter.hashes(items))
    }

    /// Queries many items by their hashes, as [`contains_many`](Self::contains_many) does.
    ///
    /// # Errors
    ///
    /// As for [`contains`](Self::contains).
    pub fn contains_hashes(&self, hashes: &[u64]) -> Result<Vec<bool>, Error> {
        self.driver.wait(self.filter.contains_hashes(hashes))
    }

    /// Returns how full the filter is: the [`Figures`] of a filter in memory, with standard errors
    /// of 0. The servers count all bits, `O(bits)`: a millisecond per MiB.
    ///
    /// The false-positive rate can exceed the [request](Self::requested_rate) by a few per cent in
    /// two cases: in a fixed filter at its capacity, and in a growing filter while a shard is full
    /// and its next slice does not exist yet. A larger excess comes with a saturation above 1.
    ///
    /// The saturation is that of all slices that exist. In a filter with a window it is that of its
    /// epochs, each of which is made for a third of the capacity. With four full epochs it is 1.
    ///
    /// # Errors
    ///
    /// As for [`contains`](Self::contains).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tamis_redis::RedisBloomFilter;
    ///
    /// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let figures = seen.figures()?;
    /// println!("about {:.0} items", figures.items.value);
    /// println!("{:.1e} false positives", figures.false_positive_rate.value);
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    pub fn figures(&self) -> Result<Figures, Error> {
        self.driver.wait(self.filter.figures())
    }

    /// Returns what the filter takes in the servers. It finds the keys and does not count bits:
    /// `O(keys)`.
    ///
    /// # Errors
    ///
    /// As for [`contains`](Self::contains).
    pub fn storage(&self) -> Result<Storage, Error> {
        self.driver.wait(self.filter.storage())
    }

    /// Copies the filter into this process. The copy gives the same answers: it contains each item
    /// whose insert had returned before, and may contain others that were inserted meanwhile.
    ///
    /// It takes the memory of the filter, and sends all of its bits over the network.
    ///
    /// # Errors
    ///
    /// As for [`contains`](Self::contains), and [`Error::Alloc`].
    pub fn pull(&self) -> Result<Local<T>, Error>
    where
        AnyStable: HashItem<T>,
    {
        self.driver.wait(self.filter.pull())
    }

    /// Returns an empty filter in this process that can be filled and [pushed](Self::push): for a
    /// bulk load. It has the size of the largest slice that the filter has now.
    ///
    /// # Errors
    ///
    /// [`Error::Alloc`].
    pub fn local(&self) -> Result<Local<T>, Error>
    where
        AnyStable: HashItem<T>,
    {
        self.filter.local()
    }

    /// Adds all items of a local filter, which must be from [`local`](Self::local) or
    /// [`pull`](Self::pull), of this filter or of one with the same hash, seed and geometry.
    ///
    /// A push sets the bits of a slice, without verdicts: an insert that races with it may
    /// return `true` for an item of the push. It adds to the items that the slice has, so the
    /// slice may become fuller than it was planned; [`figures`](Self::figures) reports that.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`] if the filter does not fit; nothing is changed. After any other error
    /// some shards have the items and others have not; a push can be repeated.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_redis::RedisBloomFilter;
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// let local = seen.local()?;
    /// for line in std::fs::read_to_string("old-urls.txt")?.lines() {
    ///     local.insert(line);
    /// }
    /// seen.push(&local)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&self, local: &Local<T>) -> Result<(), Error>
    where
        AnyStable: HashItem<T>,
    {
        self.driver.wait(self.filter.push(local))
    }

    /// Returns whether both are handles of one filter, and not of two that had the same name one
    /// after the other.
    #[doc(hidden)]
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.filter.is_same(&other.filter)
    }

    /// Returns the hasher, which the filter's descriptor names.
    #[must_use]
    pub fn hasher(&self) -> &AnyStable {
        self.filter.hasher()
    }

    /// Returns the name of the normal form of the items.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_redis::RedisBloomFilter;
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// println!("{} shards, made for {} items", seen.shards(), seen.capacity());
    /// println!("{} false positives asked for", seen.requested_rate());
    /// println!("grows: {}, normal form: {:?}", seen.grows(), seen.normalization());
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    #[must_use]
    pub fn normalization(&self) -> Normalization {
        self.filter.normalization()
    }

    /// Returns the number of items that the first slice was made for; with a
    /// [window](Self::window), the items of a span.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.filter.capacity()
    }

    /// Returns the false-positive rate that the filter was created with.
    #[must_use]
    pub fn requested_rate(&self) -> f64 {
        self.filter.requested_rate()
    }

    /// Returns the span for which the filter remembers items at least, or `None` if it forgets
    /// none: that of [`Builder::window`].
    #[must_use]
    pub fn window(&self) -> Option<Duration> {
        self.filter.window()
    }

    /// Returns the number of shards.
    #[must_use]
    pub fn shards(&self) -> u32 {
        self.filter.shards()
    }

    /// Returns whether the filter grows when it is full.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.filter.grows()
    }
}

impl<T: ?Sized> Clone for RedisBloomFilter<T> {
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), driver: Arc::clone(&self.driver) }
    }
}

impl<T: ?Sized> fmt::Debug for RedisBloomFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.fmt(f)
    }
}

builder! {
    /// Creates or opens a [`RedisBloomFilter`].
    ///
    /// The parameters of the filter (capacity, rate, shards, growth, hasher, normalization) count
    /// when it is created. When it is opened, those that were given must be those of the filter.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use tamis_redis::RedisBloomFilter;
    ///
    /// let seen = RedisBloomFilter::<str>::builder("redis://10.0.0.1:6379/", "crawl")
    ///     .or_address("redis://10.0.0.2:6379/")
    ///     .capacity(100_000_000)
    ///     .false_positive_rate(1e-6)
    ///     .confirmed_by(1, Duration::from_millis(500))
    ///     .open_or_create()?;
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    Builder
}

impl<T: ?Sized> Builder<T> {
    /// Creates the filter.
    ///
    /// Its keys are created empty: the servers allocate the whole memory of the first slice.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if there is a filter of this name, if another client creates one, or if
    /// there is another key `{name}`. [`Error::Replaced`] if the filter was deleted meanwhile, and
    /// [`Error::Build`] if the sizes are impossible. What remains of a filter that could not be
    /// created is removed with the next one, or by [`destroy`](Self::destroy).
    pub fn create(&self) -> Result<RedisBloomFilter<T>, Error> {
        self.run(self.options.create())
    }

    /// Opens the filter, and asks for the state of each of its shards.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if there is no filter of this name, [`Error::Parameters`] if it has other
    /// parameters than those given, [`Error::Creating`] if another client has not finished it
    /// before the deadline, and [`Error::Lost`] if a part of it is gone.
    pub fn open(&self) -> Result<RedisBloomFilter<T>, Error> {
        self.run(self.options.open())
    }

    /// Opens the filter, or creates it if it does not exist. Of several clients that do so at the
    /// same time, one creates it.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open) and [`create`](Self::create).
    pub fn open_or_create(&self) -> Result<RedisBloomFilter<T>, Error> {
        self.run(self.options.open_or_create())
    }

    /// Deletes the filter of this name, in any state: also one of which a part is lost, or that was
    /// never finished.
    ///
    /// Clients that have it open get [`Error::Replaced`]. All keys are removed, also those that an
    /// interrupted creation or deletion has left. Only the list of its lives, `{name}:lives`, is
    /// kept for a week: if a client wrote a key late and was killed before it could remove it, the
    /// next `destroy` of this name finds the key in it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if there is no filter of this name. [`Error::Descriptor`] if its key is
    /// no descriptor and no filter of this name is known: nothing is removed. If a server fails
    /// meanwhile, call it again: it removes the rest.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tamis_redis::RedisBloomFilter;
    /// RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").destroy()?;
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    pub fn destroy(&self) -> Result<(), Error> {
        Driver::new()?.wait(self.options.destroy())
    }

    /// Makes a filter with a runtime of its own.
    fn run(
        &self,
        make: impl Future<Output = Result<AsyncRedisBloomFilter<T>, Error>> + Send,
    ) -> Result<RedisBloomFilter<T>, Error> {
        let driver = Driver::new()?;
        let filter = driver.wait(make)?;
        Ok(RedisBloomFilter { filter, driver: Arc::new(driver) })
    }
}
