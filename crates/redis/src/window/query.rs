//! Sends the commands of a query for items in one shard with epochs, as `round.rs` decides.
//!
//! A query needs no script: it reads the list, the bits, the list again, and the time. If both
//! times the list is the one whose keys it has read, that list was there all the time: the text of
//! a list never comes again, unless a failover takes changes back, which breaks the connection.

use std::sync::Arc;

use redis::{Cmd, Value};

use super::epochs::Epochs;
use super::round::Query;
use super::{Window, scripts};
use crate::calls::shared::Call;
use crate::error::Error;
use crate::servers::router::Kind;
use crate::wire::commands;
use crate::wire::name::Name;
use crate::wire::round::Item;
use crate::wire::tag::{Identity, State};

/// Returns the keys of all epochs that are remembered now, and their slices.
pub(crate) async fn live_keys(
    filter: Call<'_>,
    window: Window,
    shard: u32,
) -> Result<Vec<(u32, String)>, Error> {
    let (epochs, now, _) = find(filter, window, shard, &[]).await?;
    let keys = keys(&filter.name, filter.identity(), shard, &epochs);
    let live = epochs.keys().zip(keys.into_iter().skip(1));
    let live = live.filter(|((epoch, _), _)| epochs.is_live(*epoch, window, now));
    Ok(live.map(|((_, slice), key)| (slice, key)).collect())
}

/// Returns the list of the epochs of a shard, the time of the server, and whether the filter may
/// contain each of the items, which are at most [`MAX_ITEMS`](crate::wire::round::MAX_ITEMS).
pub(crate) async fn find(
    filter: Call<'_>,
    window: Window,
    shard: u32,
    items: &[Item],
) -> Result<(Arc<Epochs>, i64, Vec<bool>), Error> {
    let mut query = Query::new(known(filter, shard).await?);
    let mut missed = false;
    loop {
        let kind = if query.next()? { Kind::StaleRead } else { Kind::Read };
        let epochs = Arc::clone(query.epochs());
        let replies = filter.send(shard, &reads(filter, shard, &epochs, items), kind).await?;
        let [before, bits @ .., after, time] = replies.as_slice() else {
            return Err(Error::Reply { expected: "lists, bits and a time" });
        };
        let now = scripts::milliseconds(time).ok_or(Error::Reply { expected: "a time" })?;
        let mut found = Vec::new();
        for ((_, slice), reply) in epochs.keys().zip(bits) {
            let slice = filter.slice(slice);
            let places = items.iter().map(|item| slice.place(item.hash));
            let read = commands::queried(reply, filter.identity(), places);
            let (state, bits) = read.ok_or(Error::Reply { expected: "words" })?;
            found.push((state == State::Open).then_some(bits));
        }
        let lists = [before, after].map(|list| read(filter, list));
        let answer = query.read(window, lists, &found, now, items.len());
        // A replica's list may be older than what this client knows.
        if kind == Kind::Read {
            filter.epochs.set(shard, query.epochs());
        }
        match answer {
            Some(Ok(found)) => return Ok((epochs, now, found)),
            Some(Err(slice)) => lost(filter, shard, slice, &mut missed).await?,
            None => {}
        }
    }
}

/// Returns the commands that read the list, the bits of all epochs, the list again, and the time.
fn reads(filter: Call<'_>, shard: u32, epochs: &Epochs, items: &[Item]) -> Vec<Cmd> {
    let keys = keys(&filter.name, filter.identity(), shard, epochs);
    let read = |((_, slice), key): ((_, u32), &String)| {
        let slice = filter.slice(slice);
        commands::query(key, slice, items.iter().map(|item| slice.place(item.hash)))
    };
    let list = || commands::get(&keys[0]);
    let bits = epochs.keys().zip(&keys[1..]).map(read);
    core::iter::once(list()).chain(bits).chain([list(), scripts::time()]).collect()
}

/// Returns the list of a shard that this client knows, or asks for it.
///
/// # Errors
///
/// [`Error::Lost`] if there is none.
pub(crate) async fn known(filter: Call<'_>, shard: u32) -> Result<Arc<Epochs>, Error> {
    if let Some(epochs) = filter.epochs.get(shard) {
        return Ok(epochs);
    }
    let mut missed = false;
    loop {
        let key = filter.name.epochs(shard, filter.identity());
        let list = filter.send_one(shard, commands::get(&key), Kind::Read).await?;
        if let Some(epochs) = read(filter, &list) {
            let epochs = Arc::new(epochs);
            filter.epochs.set(shard, &epochs);
            return Ok(epochs);
        }
        lost(filter, shard, 0, &mut missed).await?;
    }
}

/// Reads a list, which is `None` if it is not of this filter.
pub(crate) fn read(filter: Call<'_>, reply: &Value) -> Option<Epochs> {
    let Value::BulkString(text) = reply else { return None };
    Epochs::of_text(text, filter.identity(), filter.sizes().slices.len() as u32)
}

/// Returns the key of the list, and those of its epochs.
pub(crate) fn keys(name: &Name, life: Identity, shard: u32, epochs: &Epochs) -> Vec<String> {
    let bits = |(epoch, slice): (super::epochs::Epoch, u32)| {
        name.epoch_bits(shard, life, epoch.number, slice)
    };
    let list = name.epochs(shard, life);
    core::iter::once(list).chain(epochs.keys().map(bits)).collect()
}

/// Finds out whether a key is lost that was missing. Without an error it is read again.
///
/// The list has no tag, but its node says whether the slot moves. A move may have ended since the
/// key was missed, so only the second miss in a row counts. `missed`: whether this is the second.
///
/// # Errors
///
/// As [`Call::lost`].
pub(crate) async fn lost(
    filter: Call<'_>,
    shard: u32,
    slice: u32,
    missed: &mut bool,
) -> Result<(), Error> {
    let list = filter.name.epochs(shard, filter.identity());
    match filter.lost_at(&list, shard, slice).await {
        Err(Error::Lost { .. }) if !*missed => {
            *missed = true;
            Ok(())
        }
        other => other,
    }
}
