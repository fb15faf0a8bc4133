//! How full a filter is.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{Cmd, Value};

use crate::calls::shared::Call;
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::window;
use crate::wire::commands;

/// The bytes that are counted at once. It keeps the server busy for a millisecond.
const CHUNK_BYTES: u64 = 1 << 20;

/// The shards that are counted at once.
const SHARDS_AT_ONCE: usize = 16;

/// How full a filter in Redis is: from
/// [`RedisBloomFilter::figures`](crate::RedisBloomFilter::figures).
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::RedisBloomFilter;
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
/// let figures = seen.figures()?;
/// println!("about {} items, {:.1e} false positives", figures.items, figures.false_positive_rate);
/// # Ok::<(), tamis_redis::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// The number of distinct items: an estimate from the number of bits that are set.
    pub items: f64,
    /// The false-positive rate that is expected for this number of items.
    ///
    /// It can exceed the request by a few per cent in a fixed filter that is at its capacity, and
    /// in one that grows for the moments in which a shard is full and its next generation is not
    /// there yet. A larger excess comes with a [`saturation`](Self::saturation) above 1.
    pub false_positive_rate: f64,
    /// The false-positive rate that the filter was created with: the request.
    pub requested_rate: f64,
    /// The items divided by the capacity of all generations that exist. A filter with a window
    /// counts its epochs, each of which is made for a third of the capacity: with four full ones
    /// this is 1. Above 1, the rate may exceed the request.
    pub saturation: f64,
    /// The share of bits that are set.
    pub fill: f64,
    /// The bytes of all bits in the server. The server adds less than 200 bytes per key.
    pub size_in_bytes: u64,
    /// The number of keys with bits.
    pub keys: u64,
    /// The number of generations of the shard that has the most; with a window, of all of its
    /// epochs together.
    pub generations: u32,
}

/// The counts of one shard.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    items: f64,
    /// The items that its generations were made for.
    capacity: f64,
    /// The logarithm of the probability that an absent item is in none of its generations.
    log_absent: f64,
    ones: u64,
    bytes: u64,
    generations: u32,
}

/// Counts the bits of all keys.
pub(crate) async fn figures(filter: Call<'_>) -> Result<Figures, Error> {
    let shards = filter.sizes().shards;
    let each = stream::iter(0..shards).map(|shard| count_shard(filter, shard));
    let counts: Vec<Counts> = each.buffer_unordered(SHARDS_AT_ONCE).try_collect().await?;
    let sum = |of: fn(&Counts) -> f64| counts.iter().map(of).sum::<f64>();
    let bytes: u64 = counts.iter().map(|count| count.bytes).sum();
    Ok(Figures {
        items: sum(|count| count.items),
        // An item is equally likely to be in each shard.
        false_positive_rate: sum(|count| -count.log_absent.exp_m1()) / f64::from(shards),
        requested_rate: filter.descriptor.rate(),
        // A shard whose epochs are all forgotten has no bits.
        saturation: sum(|count| count.items) / sum(|count| count.capacity).max(1.0),
        fill: sum(|count| count.ones as f64) / (8 * bytes).max(1) as f64,
        size_in_bytes: bytes,
        keys: counts.iter().map(|count| u64::from(count.generations)).sum(),
        generations: counts.iter().map(|count| count.generations).max().unwrap_or(0),
    })
}

async fn count_shard(filter: Call<'_>, shard: u32) -> Result<Counts, Error> {
    // The keys of the filter, or those of the epochs that it remembers.
    let keys = match filter.window() {
        Some(window) => window::live_keys(filter, window, shard).await?,
        None => {
            let newest = filter.find_current(shard).await?;
            (0..=newest).map(|number| (number, filter.key(shard, number))).collect()
        }
    };
    let shards = f64::from(filter.sizes().shards);
    let mut counts = Counts { generations: keys.len() as u32, ..Counts::default() };
    for (number, key) in keys {
        let generation = filter.generation(number);
        let starts = (0..generation.line_bytes()).step_by(CHUNK_BYTES as usize);
        let sent: Vec<Cmd> = starts
            .map(|start| {
                let end = (start + CHUNK_BYTES).min(generation.line_bytes());
                commands::count_range(&key, start, end)
            })
            .collect();
        let replies = filter.send(shard, &sent, Kind::Read).await.map_err(Failure::of_read)?;
        let mut ones = 0;
        for reply in replies {
            let Value::Int(count) = reply else {
                return Err(Error::Reply { expected: "a number" });
            };
            ones += u64::try_from(count).unwrap_or(0);
        }
        let items = generation.items(ones, generation.lines);
        // The rate of a generation of which each shard has this number of items.
        let rate = generation.geometry.false_positive_rate_at((items * shards) as usize);
        counts.items += items;
        counts.capacity += generation.capacity as f64 / shards;
        // By logarithms, which lose no rate that is far below 1.
        counts.log_absent += (-rate).ln_1p();
        counts.ones += ones;
        counts.bytes += generation.line_bytes();
    }
    Ok(counts)
}
