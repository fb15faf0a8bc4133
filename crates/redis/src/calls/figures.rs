//! How full a filter is.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{Cmd, Value};
use tamis_core::{Figures, Sampled};

use crate::calls::shared::Call;
use crate::calls::storage;
use crate::error::Error;
use crate::servers::router::Kind;
use crate::wire::commands;

/// The bytes that are counted at once. It keeps the server busy for a millisecond.
const CHUNK_BYTES: u64 = 1 << 20;

/// The shards that are counted at once.
const SHARDS_AT_ONCE: usize = 16;

/// The counts of one shard.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    items: f64,
    /// The items that its slices were made for.
    capacity: f64,
    /// The logarithm of the probability that an absent item is in none of its slices.
    log_absent: f64,
    ones: u64,
    bits: u64,
}

/// Counts the bits of all keys.
pub(crate) async fn figures(filter: Call<'_>) -> Result<Figures, Error> {
    let shards = filter.sizes().shards;
    let each = stream::iter(0..shards).map(|shard| count_shard(filter, shard));
    let counts: Vec<Counts> = each.buffer_unordered(SHARDS_AT_ONCE).try_collect().await?;
    let sum = |of: fn(&Counts) -> f64| counts.iter().map(of).sum::<f64>();
    let items = sum(|count| count.items);
    let fill = sum(|count| count.ones as f64) / sum(|count| count.bits as f64).max(1.0);
    // An item is equally likely to be in each shard.
    let rate = sum(|count| count.log_absent.exp_m1().abs()) / f64::from(shards);
    // A slice that is too full raises the rate, and may hardly raise the mean. A shard whose epochs
    // are all forgotten has no bits.
    let saturation = items / sum(|count| count.capacity).max(1.0);
    let saturation = saturation.max(rate / filter.descriptor.rate());
    let [items, fill, saturation, rate] = [items, fill, saturation, rate].map(Sampled::exact);
    Ok(Figures::new(items, fill, saturation, rate))
}

async fn count_shard(filter: Call<'_>, shard: u32) -> Result<Counts, Error> {
    let shards = f64::from(filter.sizes().shards);
    let mut counts = Counts::default();
    for (number, key) in storage::keys(filter, shard).await? {
        let slice = filter.slice(number);
        let starts = (0..slice.line_bytes()).step_by(CHUNK_BYTES as usize);
        let sent: Vec<Cmd> = starts
            .map(|start| {
                let end = (start + CHUNK_BYTES).min(slice.line_bytes());
                commands::count_range(&key, start, end)
            })
            .collect();
        let mut ones = 0;
        for reply in filter.send(shard, &sent, Kind::Read).await? {
            let Value::Int(count) = reply else {
                return Err(Error::Reply { expected: "a number" });
            };
            ones += u64::try_from(count).unwrap_or(0);
        }
        let items = slice.items(ones, slice.lines);
        // The rate of a slice of which each shard has this number of items.
        let rate = slice.geometry.false_positive_rate_at((items * shards) as usize);
        counts.items += items;
        counts.capacity += slice.capacity as f64 / shards;
        // By logarithms, which lose no rate that is far below 1.
        counts.log_absent += (-rate).ln_1p();
        counts.ones += ones;
        counts.bits += 8 * slice.line_bytes();
    }
    Ok(counts)
}
