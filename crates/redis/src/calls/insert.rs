//! Sends the commands of an insert of items into one shard, as `round.rs` decides.

use core::slice;

use futures_util::future::join;

use crate::calls::query;
use crate::calls::shared::Call;
use crate::error::Error;
use crate::events::Event;
use crate::servers::router::{Failure, Kind};
use crate::window;
use crate::wire::commands;
use crate::wire::round::{Inserts, Item, MAX_ITEMS, Reply, Step};
use crate::wire::scripts::{self, Growth};
use crate::wire::tag::State;

/// The result of an insert.
#[derive(Clone, Debug)]
pub(crate) struct Inserted {
    pub(crate) result: Result<bool, Error>,
    /// The connection over which the item was written. `None` if it was not, or if that is unknown.
    pub(crate) connection: Option<u64>,
}

impl Inserted {
    pub(crate) const fn of_error(error: Error) -> Self {
        Self { result: Err(error), connection: None }
    }
}

/// Inserts items into their shard, equal ones in this order. Passes each result to `on_result`, in
/// any order.
pub(crate) async fn insert(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    mut on_result: impl FnMut(Item, Inserted),
) {
    let mut rest = items;
    while !rest.is_empty() {
        let (sent, results) = match filter.window() {
            Some(window) => window::insert(filter, window, shard, rest).await,
            None => insert_first(filter, shard, rest).await,
        };
        rest = &rest[sent..];
        let mut failed = None;
        for (item, inserted) in results {
            failed = inserted.result.as_ref().err().cloned().or(failed);
            on_result(item, inserted);
        }
        // A call that fails at its end sends nothing more.
        if let Some(error) = failed
            && filter.is_over()
        {
            rest.iter().for_each(|item| on_result(*item, Inserted::of_error(error.not_sent())));
            return;
        }
    }
}

/// Inserts the first items, in any order. Returns how many these are, and their results.
///
/// If the filter grows, some items count the bits that are set, each by a script of its own. All
/// others share a command. On average, one item of a full command counts. So the items that are on
/// their way when a slice becomes full are a small part of it.
async fn insert_first(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
) -> (usize, Vec<(Item, Inserted)>) {
    let shards = filter.sizes().shards;
    let slice = filter.slice(filter.current(shard));
    let grows = filter.sizes().grows();
    let most = if grows { slice.items_per_count(shards) } else { u64::MAX };
    let first = &items[..items.len().min(MAX_ITEMS).min(most as usize)];
    // Equal items have equal hashes, so all or none of them count.
    let counts = |item: &&Item| grows && slice.is_sampled(shards, item.hash);
    let (counted, plain): (Vec<Item>, Vec<Item>) = first.iter().partition(counts);
    let each_counted = async {
        let mut results: Vec<(Item, Inserted)> = Vec::with_capacity(first.len());
        for item in &counted {
            // Each of them has the time of a reply, also after the end of the call.
            let failed = results.last().and_then(|(_, last)| last.result.as_ref().err());
            if let Some(error) = failed.filter(|_| filter.is_over()) {
                let error = error.not_sent();
                results.push((*item, Inserted::of_error(error)));
                continue;
            }
            results.extend(insert_chunk(filter, shard, slice::from_ref(item), true).await);
        }
        results
    };
    let (mut results, plain) = join(each_counted, insert_chunk(filter, shard, &plain, false)).await;
    results.extend(plain);
    (first.len(), results)
}

/// Inserts items with one command, or with one per slice that the shard grows meanwhile.
async fn insert_chunk(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    counts: bool,
) -> Vec<(Item, Inserted)> {
    let mut results = Vec::with_capacity(items.len());
    let mut inserts = Inserts::new(items);
    if let Err(error) = drive(filter, shard, &mut inserts, counts, &mut results).await {
        let error = inserts.failed(error);
        let failed = |item: &Item| (*item, Inserted::of_error(error.clone()));
        results.extend(inserts.items().iter().map(failed));
    }
    results
}

/// Sends one step after the other, until all items have a verdict.
async fn drive(
    filter: Call<'_>,
    shard: u32,
    inserts: &mut Inserts,
    counts: bool,
    results: &mut Vec<(Item, Inserted)>,
) -> Result<(), Error> {
    while let Some(step) = inserts.next(filter.current(shard))? {
        match step {
            Step::Read(closed) => {
                let items = inserts.items();
                let replies = query::read(filter, shard, items, closed, Kind::Read).await?;
                inserts.read(&replies, |item, new| {
                    results.push((item, Inserted { result: Ok(new), connection: None }));
                });
            }
            Step::Set(slice) => {
                let (reply, connection) =
                    set(filter, shard, slice, inserts.items(), counts).await?;
                let connection = Some(connection);
                inserts.set(slice, &reply, |item, new| {
                    results.push((item, Inserted { result: Ok(new), connection }));
                });
                // What was written into a key without a tag is no part of the filter. It is left to
                // the next growth or to `destroy`, unless the filter is gone.
                if reply.0 == State::Gone && !filter.ask().await? {
                    filter.remove(shard, slice).await;
                    return Err(Error::Replaced);
                }
            }
            Step::Find => {
                filter.find_current(shard).await?;
                inserts.found();
            }
        }
    }
    Ok(())
}

/// Sets the bits of items in a slice. Returns the state of the slice, which items were
/// new to it, and the connection. If the item counts, the shard may have grown afterwards.
async fn set(
    filter: Call<'_>,
    shard: u32,
    number: u32,
    items: &[Item],
    counts: bool,
) -> Result<(Reply, u64), Error> {
    let [slice, next] = [number, number + 1].map(|number| filter.slice(number));
    let key = filter.key(shard, number);
    let places = items.iter().map(|item| slice.place(item.hash));
    let unreadable = || Error::VerdictUnknown { reason: "the reply is not valid".into() };
    let is_last = number + 1 >= filter.sizes().slices.len() as u32;
    let place = places.clone().next().filter(|_| counts && !is_last);
    let counted = match place {
        // One step of the server sets the bits, counts, and grows the shard: so it does not matter
        // what becomes of this client afterwards.
        Some(place) => {
            let keys = [&*key, &filter.key(shard, number + 1)];
            let sent = scripts::insert(keys, [slice, next], filter.identity(), place);
            match filter.write(shard, &[sent], Kind::Once).await {
                Ok(replies) => Some(replies),
                // At the end of the call nothing more is sent.
                Err(failure @ Failure::NotExecuted(_)) if filter.is_over() => {
                    return Err(failure.of_write());
                }
                // The server runs no scripts for this user, or the slot is being moved. The item is
                // inserted without growth: a later one grows the shard.
                Err(failure @ (Failure::Refused(_) | Failure::NotExecuted(_))) => {
                    filter.growth_failed(shard, number, failure.of_write());
                    None
                }
                Err(failure) => return Err(failure.of_write()),
            }
        }
        None => None,
    };
    let (reply, growth, connection) = match counted {
        Some(replies) => {
            let (state, new, growth) =
                scripts::inserted(&replies.values[0]).ok_or_else(unreadable)?;
            ((state, vec![new]), growth, replies.connection)
        }
        None => {
            let sent = commands::insert(&key, slice, places.clone());
            let replies = filter.write(shard, &[sent], Kind::Write).await;
            let replies = replies.map_err(Failure::of_write)?;
            let read = commands::inserted(&replies.values[0], filter.identity(), places);
            (read.ok_or_else(unreadable)?, Growth::None, replies.connection)
        }
    };
    match growth {
        Growth::None => {}
        Growth::Done => {
            filter.router.events().raise(|| Event::Grown { shard, slice: number + 1 });
        }
        Growth::Failed => {
            let error = Error::Refused { reason: "the script cannot count or create a key".into() };
            filter.growth_failed(shard, number, error);
        }
    }
    if growth == Growth::Done || reply.0 == State::Closed {
        filter.advance(shard, number + 1);
    }
    Ok((reply, connection))
}
