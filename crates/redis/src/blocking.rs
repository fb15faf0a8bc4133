//! The blocking filter: its calls are driven by the threads that make them. Its methods are in
//! `methods.rs`.

use core::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::calls::shared::Shared;
use crate::driver::Driver;
use crate::error::Error;

/// A Bloom filter in Redis or Valkey: a set that any number of programs share, with exactly one
/// winner per item.
///
/// All methods take `&self`. Any number of threads may use a filter at once; they share one
/// connection per node, and their commands travel together. Clones share the connections, too.
///
/// A call blocks its thread until the servers have answered, and works in every thread. Inside an
/// asynchronous runtime each call starts a thread. In a task it also holds up the other tasks: use
/// [`AsyncRedisBloomFilter`](crate::AsyncRedisBloomFilter) there, or a thread that may block, such
/// as that of tokio's `spawn_blocking`.
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
    // Dropped before the driver.
    pub(crate) shared: Arc<Shared>,
    driver: Arc<Driver>,
    items: PhantomData<fn(&T)>,
}

impl<T: ?Sized> RedisBloomFilter<T> {
    pub(crate) fn make(shared: BoxFuture<'_, Result<Shared, Error>>) -> Result<Self, Error> {
        let driver = Driver::new()?;
        let shared = Arc::new(driver.wait(shared)?);
        Ok(Self { shared, driver: Arc::new(driver), items: PhantomData })
    }

    /// Waits for what needs no filter.
    pub(crate) fn run(future: BoxFuture<'_, Result<(), Error>>) -> Result<(), Error> {
        Driver::new()?.wait(future)
    }

    pub(crate) fn wait<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        self.driver.wait(future)
    }
}

impl<T: ?Sized> Clone for RedisBloomFilter<T> {
    fn clone(&self) -> Self {
        let (shared, driver) = (Arc::clone(&self.shared), Arc::clone(&self.driver));
        Self { shared, driver, items: PhantomData }
    }
}
