//! Sends the commands of an insert of items into one shard with epochs, as `round.rs` decides.

use std::sync::Arc;

use redis::Value;

use super::epochs::Epochs;
use super::query::{keys, known, lost, read};
use super::round::Insert;
use super::{Window, scripts};
use crate::calls::insert::Inserted;
use crate::calls::shared::Call;
use crate::error::Error;
use crate::events::Event;
use crate::servers::router::{Failure, Kind};
use crate::wire::round::Item;

/// The most items of one command: it blocks the server for about a millisecond.
///
/// MEASURED: a new item takes 14 µs of the server's time with four live epochs of one slice at
/// a rate of 1e-4, instead of 4 µs without a window (Zen 4, Redis 7.0).
const MAX_ITEMS: usize = 64;

/// The most reads and writes of bits of one command: those of [`MAX_ITEMS`] items with 17 bits in 4
/// epochs.
const CALLS: usize = 25 * MAX_ITEMS;

/// A command takes at most this part of the items of a slice, so that the slice is found
/// full in time.
const PART: u64 = 128;

/// Inserts the first items, in this order. Returns how many these are, and their results.
pub(crate) async fn insert(
    filter: Call<'_>,
    window: Window,
    shard: u32,
    items: &[Item],
) -> (usize, Vec<(Item, Inserted)>) {
    let most = most(filter, filter.epochs.get(shard).as_deref());
    let first = &items[..most.min(items.len())];
    let results = match insert_chunk(filter, window, shard, first).await {
        Ok((new, connection)) => {
            let connection = Some(connection);
            let inserted = |new| Inserted { result: Ok(new), connection };
            first.iter().copied().zip(new.into_iter().map(inserted)).collect()
        }
        Err(error) => first.iter().map(|item| (*item, Inserted::of_error(error.clone()))).collect(),
    };
    (first.len(), results)
}

/// Returns the most items of the next command.
fn most(filter: Call<'_>, epochs: Option<&Epochs>) -> usize {
    let (open, keys) =
        epochs.map_or((0, 1), |epochs| (epochs.newest().open, epochs.keys().count()));
    let slice = filter.slice(open);
    // An item that is new has about two bits read in each key, and all of its bits written in one.
    let most = (CALLS / (slice.geometry.probes() as usize + 2 * keys)).clamp(1, MAX_ITEMS);
    if !filter.sizes().grows() {
        return most;
    }
    let part = slice.capacity / u64::from(filter.sizes().shards) / PART;
    most.min(part.max(1) as usize)
}

/// Inserts items with one command, or with one more per change of the list. Returns whether each
/// was new, and the connection.
async fn insert_chunk(
    filter: Call<'_>,
    window: Window,
    shard: u32,
    items: &[Item],
) -> Result<(Vec<bool>, u64), Error> {
    let hashes: Vec<u64> = items.iter().map(|item| item.hash).collect();
    let mut insert = Insert::new(known(filter, shard).await?);
    let mut missed = false;
    loop {
        // 1. The command names the keys of the list that is known, and where an epoch is to begin,
        // that of the next.
        let begins = insert.next()?;
        let epochs = insert.epochs();
        let mut keys = keys(&filter.name, filter.identity(), shard, epochs);
        if begins {
            let (life, next) = (filter.identity(), epochs.newest().number + 1);
            keys.push(filter.name.epoch_bits(shard, life, next, 0));
        }
        let sizes = filter.sizes();
        let command = scripts::insert(&keys, epochs, filter.identity(), sizes, window, &hashes);
        // Not repeated: the repetition would find its own bits.
        let sent = filter.write(shard, &[command], Kind::Write).await.map_err(Failure::of_write)?;

        // 2. The verdicts. Without a valid reply the bits may be set.
        let list = |reply: &_| read(filter, reply);
        let reply = sent.values.first();
        let reply = reply.and_then(|reply| scripts::inserted(reply, hashes.len(), list));
        let unreadable = || Error::VerdictUnknown { reason: "the reply is not valid".into() };
        let answer = insert.read(reply.ok_or_else(unreadable)?);
        filter.epochs.set(shard, insert.epochs());
        match answer {
            Some(Ok((new, ones))) => {
                // 3. Growth.
                let grown = match ones {
                    Some(ones) => grow(filter, window, shard, insert.epochs(), ones).await,
                    None => Err(Error::Refused { reason: "the script cannot count a key".into() }),
                };
                if let Err(error) = grown {
                    filter.growth_failed(shard, insert.epochs().newest().open, error);
                }
                return Ok((new, sent.connection));
            }
            Some(Err(slice)) => lost(filter, shard, slice, &mut missed).await?,
            None => {}
        }
    }
}

/// Grows the newest epoch, if its open slice is full.
async fn grow(
    filter: Call<'_>,
    window: Window,
    shard: u32,
    epochs: &Epochs,
    ones: u64,
) -> Result<(), Error> {
    let newest = epochs.newest();
    let next = newest.open + 1;
    let last = next as usize >= filter.sizes().slices.len();
    if last || ones < filter.slice(newest.open).full {
        return Ok(());
    }
    let life = filter.identity();
    let bits = filter.name.epoch_bits(shard, life, newest.number, next);
    let keys = [filter.name.epochs(shard, life), bits];
    let command = scripts::grow(&keys, epochs, filter.identity(), filter.slice(next), window);
    let mut list = filter.send_one(shard, command, Kind::Once).await?;
    // Otherwise another client has changed the list.
    if let Value::Array(grown) = &mut list {
        list = grown.pop().unwrap_or(Value::Nil);
        filter.router.events().raise(|| Event::Grown { shard, slice: next });
    }
    if let Some(epochs) = read(filter, &list) {
        filter.epochs.set(shard, &Arc::new(epochs));
    }
    Ok(())
}
