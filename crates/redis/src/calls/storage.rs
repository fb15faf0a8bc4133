//! What a filter takes in the servers.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::calls::shared::{Call, SHARDS_AT_ONCE};
use crate::error::Error;
use crate::window;

/// What a filter takes in the servers: from
/// [`RedisBloomFilter::storage`](crate::RedisBloomFilter::storage).
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::RedisBloomFilter;
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
/// let storage = seen.storage()?;
/// println!("{} MiB in {} keys", storage.size_in_bytes >> 20, storage.keys);
/// # Ok::<(), tamis_redis::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Storage {
    /// The bytes of all bits. The server adds less than 200 bytes per key.
    pub size_in_bytes: u64,
    /// The number of keys with bits.
    pub keys: u64,
    /// The number of slices of the shard that has the most. With a window, the slices of all epochs
    /// of a shard count together.
    pub slices: u32,
}

/// Finds the keys of all shards.
pub(crate) async fn storage(filter: Call<'_>) -> Result<Storage, Error> {
    let each = stream::iter(0..filter.sizes().shards).map(|shard| keys(filter, shard));
    let mut each = core::pin::pin!(each.buffer_unordered(SHARDS_AT_ONCE));
    let mut storage = Storage { size_in_bytes: 0, keys: 0, slices: 0 };
    while let Some(keys) = each.try_next().await? {
        let bytes = keys.iter().map(|&(number, _)| filter.slice(number).line_bytes());
        storage.size_in_bytes += bytes.sum::<u64>();
        storage.keys += keys.len() as u64;
        storage.slices = storage.slices.max(keys.len() as u32);
    }
    Ok(storage)
}

/// Returns the keys with the bits of a shard, each with the number of its slice: those of the
/// filter, or those of the epochs that it remembers.
pub(super) async fn keys(filter: Call<'_>, shard: u32) -> Result<Vec<(u32, String)>, Error> {
    if let Some(window) = filter.window() {
        return window::live_keys(filter, window, shard).await;
    }
    let newest = filter.find_current(shard).await?;
    Ok((0..=newest).map(|number| (number, filter.key(shard, number))).collect())
}
