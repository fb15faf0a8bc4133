//! The asynchronous filter, whose methods are in `methods.rs`.

use core::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::calls::shared::Shared;
use crate::error::Error;

/// A Bloom filter in Redis or Valkey, for asynchronous programs on tokio.
///
/// It has the methods of [`RedisBloomFilter`](crate::RedisBloomFilter). All of them take `&self`,
/// and any number of tasks may use a filter at once; clones share its connections. If a future is
/// dropped before it ends, it is unknown which of its items are stored.
///
/// The connections run in the runtime of the call that made them. A clone in another runtime waits
/// for the timeout while the first runtime is not polled.
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
    pub(crate) shared: Arc<Shared>,
    items: PhantomData<fn(&T)>,
}

impl<T: ?Sized> AsyncRedisBloomFilter<T> {
    pub(crate) async fn make(shared: BoxFuture<'_, Result<Shared, Error>>) -> Result<Self, Error> {
        Ok(Self { shared: Arc::new(shared.await?), items: PhantomData })
    }

    /// Returns the future of what needs no filter. A task waits by itself.
    pub(crate) const fn run<F>(future: F) -> F {
        future
    }

    /// Returns the future of a call.
    pub(crate) const fn wait<F>(&self, future: F) -> F {
        future
    }
}

impl<T: ?Sized> Clone for AsyncRedisBloomFilter<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), items: PhantomData }
    }
}
