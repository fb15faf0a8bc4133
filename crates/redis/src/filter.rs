//! The asynchronous filter: hashes items, spreads them over the shards, and collects the results.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use tamis_core::{AsItem, Figures};
use tamis_formats::Normalization;
use tamis_hash::{AnyStable, HashItem};

use crate::calls::insert::{self, Inserted};
use crate::calls::shared::{Call, Confirm, Shared};
use crate::calls::storage::{self, Storage};
use crate::calls::{figures, query};
use crate::copies::local::Local;
use crate::copies::{pull, push};
use crate::error::Error;
use crate::window::{self, Window};
use crate::wire::round::{Item, MAX_ITEMS};

/// The shards of a batch whose commands are on their way at the same time. They share a connection
/// per node, so a batch that is spread over thousands of shards still takes few round trips.
const BATCH_SHARDS: usize = 1024;

/// The result of an insert that was not made: none of these is returned.
const NO_VERDICT: Error = Error::Reply { expected: "a verdict" };

/// A Bloom filter in Redis or Valkey, for asynchronous programs on tokio.
///
/// It has the methods of [`RedisBloomFilter`](crate::RedisBloomFilter), whose documentation states
/// what they promise. All of them take `&self`, and any number of tasks may use a filter at once;
/// clones share its connections. If a future is dropped before it ends, it is unknown which of its
/// items are stored.
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::AsyncRedisBloomFilter;
///
/// # async fn example() -> Result<(), tamis_redis::Error> {
/// let builder = AsyncRedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl");
/// let seen = builder.capacity(1_000_000).open_or_create().await?;
/// if seen.insert("https://example.org/").await? {
///     // This task, on this machine, and no other is the first.
/// }
/// let links = ["https://example.org/a", "https://example.org/b"];
/// for (link, new) in links.iter().zip(seen.insert_many(links).await) {
///     if new? {
///         println!("fetch {link}");
///     }
/// }
/// assert_eq!(seen.contains_many(links).await?, [true, true]);
/// let copy = seen.pull().await?;
/// assert!(copy.contains("https://example.org/"));
/// # Ok(())
/// # }
/// ```
pub struct AsyncRedisBloomFilter<T: ?Sized> {
    shared: Arc<Shared>,
    items: PhantomData<fn(&T)>,
}

impl<T: ?Sized> AsyncRedisBloomFilter<T> {
    pub(crate) fn of_shared(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), items: PhantomData }
    }

    /// Inserts an item, as [`RedisBloomFilter::insert`](crate::RedisBloomFilter::insert) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        self.insert_hash(self.hasher().hash_item(item)).await
    }

    /// Inserts an item by its hash, as
    /// [`RedisBloomFilter::insert_hash`](crate::RedisBloomFilter::insert_hash) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn insert_hash(&self, hash: u64) -> Result<bool, Error> {
        self.insert_hashes(&[hash]).await.pop().unwrap_or(Err(NO_VERDICT))
    }

    /// Inserts many items, as
    /// [`RedisBloomFilter::insert_many`](crate::RedisBloomFilter::insert_many) does.
    pub async fn insert_many<I>(&self, items: I) -> Vec<Result<bool, Error>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.insert_hashes(&self.hashes(items)).await
    }

    /// Inserts many items by their hashes, as [`insert_many`](Self::insert_many) does.
    pub async fn insert_hashes(&self, hashes: &[u64]) -> Vec<Result<bool, Error>> {
        let shared = &*self.shared;
        let call = match shared.begin().await {
            Ok(call) => call,
            Err(error) => return vec![Err(error); hashes.len()],
        };
        // An insert that waits for replicas has connections of its own: the wait blocks them.
        let (call, lane) = match shared.confirm {
            None => (call, None),
            Some(_) => match call.alone().await {
                Ok((call, lane)) => (call, Some(lane)),
                Err(error) => return vec![Err(error); hashes.len()],
            },
        };
        // The error of a call that has failed at its end: shards that come later are not sent to.
        let failed = OnceLock::new();
        let each = stream::iter(by_shard(shared, hashes)).map(async |(shard, items)| {
            let mut results = Vec::with_capacity(items.len());
            let mut on_result = |item: Item, inserted: Inserted| {
                if let Err(error) = &inserted.result
                    && call.is_over()
                {
                    failed.get_or_init(|| error.not_sent());
                }
                results.push((item.number, inserted));
            };
            if let Some(error) = failed.get() {
                items.iter().for_each(|item| on_result(*item, Inserted::of_error(error.clone())));
                return results;
            }
            match call.window() {
                Some(window) => window::insert(call, window, shard, &items, on_result).await,
                None => insert::insert(call, shard, &items, on_result).await,
            }
            results
        });
        let mut all = vec![Inserted::of_error(NO_VERDICT); hashes.len()];
        let mut each = core::pin::pin!(each.buffer_unordered(BATCH_SHARDS));
        while let Some(results) = each.next().await {
            results.into_iter().for_each(|(number, result)| all[number] = result);
        }
        if let Some(confirm) = shared.confirm {
            confirm_all(call, confirm, &mut all).await;
        }
        if let Some(lane) = lane {
            lane.finish();
        }
        all.into_iter().map(|inserted| inserted.result).collect()
    }

    /// Returns whether the filter may contain an item, as
    /// [`RedisBloomFilter::contains`](crate::RedisBloomFilter::contains) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn contains<Q: ?Sized>(&self, item: &Q) -> Result<bool, Error>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        self.contains_hash(self.hasher().hash_item(item)).await
    }

    /// Queries an item by its hash, as [`contains`](Self::contains) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn contains_hash(&self, hash: u64) -> Result<bool, Error> {
        let mut found = false;
        let (call, shard) = (self.shared.begin().await?, self.shared.sizes().shard(hash));
        find(call, shard, &[Item { number: 0, hash }], |_| found = true).await?;
        Ok(found)
    }

    /// Queries many items, as
    /// [`RedisBloomFilter::contains_many`](crate::RedisBloomFilter::contains_many) does.
    ///
    /// # Errors
    ///
    /// [`Error`]. Then no item has an answer, and the query can be repeated.
    pub async fn contains_many<I>(&self, items: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.contains_hashes(&self.hashes(items)).await
    }

    /// Queries many items by their hashes, as [`contains_many`](Self::contains_many) does.
    ///
    /// # Errors
    ///
    /// [`Error`]. Then no item has an answer, and the query can be repeated.
    pub async fn contains_hashes(&self, hashes: &[u64]) -> Result<Vec<bool>, Error> {
        let shared = &*self.shared;
        let call = shared.begin().await?;
        let each = stream::iter(by_shard(shared, hashes)).map(async |(shard, items)| {
            let mut hits = Vec::new();
            find(call, shard, &items, |number| hits.push(number)).await?;
            Ok::<_, Error>(hits)
        });
        let mut all = vec![false; hashes.len()];
        let mut each = core::pin::pin!(each.buffer_unordered(BATCH_SHARDS));
        while let Some(hits) = each.try_next().await? {
            hits.into_iter().for_each(|number| all[number] = true);
        }
        Ok(all)
    }

    /// Returns how full the filter is, as
    /// [`RedisBloomFilter::figures`](crate::RedisBloomFilter::figures) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn figures(&self) -> Result<Figures, Error> {
        figures::figures(self.shared.begin().await?).await
    }

    /// Returns what the filter takes in the servers, as
    /// [`RedisBloomFilter::storage`](crate::RedisBloomFilter::storage) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn storage(&self) -> Result<Storage, Error> {
        storage::storage(self.shared.begin().await?).await
    }

    /// Copies the filter into a local one, as
    /// [`RedisBloomFilter::pull`](crate::RedisBloomFilter::pull) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn pull(&self) -> Result<Local<T>, Error>
    where
        AnyStable: HashItem<T>,
    {
        self.shared.require_all()?;
        pull::pull(self.shared.begin().await?).await
    }

    /// Returns an empty local filter that can be pushed, as
    /// [`RedisBloomFilter::local`](crate::RedisBloomFilter::local) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn local(&self) -> Result<Local<T>, Error>
    where
        AnyStable: HashItem<T>,
    {
        self.shared.require_all()?;
        pull::empty(self.shared.call())
    }

    /// Adds the items of a local filter, as
    /// [`RedisBloomFilter::push`](crate::RedisBloomFilter::push) does.
    ///
    /// # Errors
    ///
    /// [`Error`]. A push can be repeated: the result is the same.
    pub async fn push(&self, local: &Local<T>) -> Result<(), Error>
    where
        AnyStable: HashItem<T>,
    {
        self.shared.require_all()?;
        push::push(self.shared.begin().await?, local).await
    }

    /// Returns whether both are handles of one filter, and not of two that had the same name one
    /// after the other.
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

    /// Returns the span for which the filter remembers items, or `None` if it forgets none, as
    /// [`RedisBloomFilter::window`](crate::RedisBloomFilter::window) does.
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

/// Queries the items of a shard. Passes the numbers of those that the filter may contain to
/// `on_hit`.
async fn find(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    mut on_hit: impl FnMut(usize),
) -> Result<(), Error> {
    for chunk in items.chunks(MAX_ITEMS) {
        let found = match filter.window() {
            Some(window) => window::find(filter, window, shard, chunk).await?.2,
            None => query::find(filter, shard, chunk).await?,
        };
        let hits = chunk.iter().zip(found).filter(|(_, found)| *found);
        hits.for_each(|(item, _)| on_hit(item.number));
    }
    Ok(())
}

/// Waits for the replicas of each node that was written to, and records which inserts they have not
/// confirmed.
async fn confirm_all(filter: Call<'_>, confirm: Confirm, all: &mut [Inserted]) {
    let Confirm { replicas, wait } = confirm;
    let connections: BTreeSet<u64> = all.iter().filter_map(|item| item.connection).collect();
    let each = connections.into_iter().map(async |connection| {
        let (nodes, end) = (&filter.router.nodes, filter.router.extended(filter.end()));
        (connection, nodes.confirm(connection, replicas, wait, end).await)
    });
    // One command per node covers all items.
    for (connection, confirmed) in join_all(each).await {
        if confirmed < replicas {
            for inserted in all.iter_mut().filter(|item| item.connection == Some(connection)) {
                if let Ok(new) = inserted.result {
                    inserted.result = Err(Error::NotReplicated { new, replicas: confirmed });
                }
            }
        }
    }
}

/// Returns the items of each shard, in their order.
fn by_shard(filter: &Shared, hashes: &[u64]) -> Vec<(u32, Vec<Item>)> {
    let mut sorted: Vec<(u32, Item)> = hashes
        .iter()
        .enumerate()
        .map(|(number, hash)| (filter.sizes().shard(*hash), Item { number, hash: *hash }))
        .collect();
    sorted.sort_by_key(|(shard, _)| *shard);
    let groups = sorted.chunk_by(|(one, _), (other, _)| one == other);
    groups.map(|group| (group[0].0, group.iter().map(|(_, item)| *item).collect())).collect()
}

impl<T: ?Sized> Clone for AsyncRedisBloomFilter<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), items: PhantomData }
    }
}

impl<T: ?Sized> fmt::Debug for AsyncRedisBloomFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRedisBloomFilter")
            .field("name", &self.shared.name)
            .field("sizes", &self.shared.sizes())
            .finish_non_exhaustive()
    }
}
