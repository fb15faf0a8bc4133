//! The insert of items into one shard: who gets `true`. `protocol.md` has the proof.

use redis::{Cmd, Value};

use crate::Error;
use crate::commands;
use crate::router::{Failure, Kind};
use crate::shared::Shared;
use crate::tag::State;

/// The most items of one command. It keeps the server busy for a millisecond, in which no other client is served.
pub(crate) const MAX_ITEMS: usize = 256;

/// A command takes at most this part of the items of a generation, so that the generation is found full in time.
const PART: u64 = 128;

/// How often a shard is asked for its open generation, if replies contradict the answer.
const MAX_ROUNDS: u32 = 64;

/// An item of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Its number in the batch.
    pub(crate) number: usize,
    pub(crate) hash: u64,
}

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

/// An item without a verdict.
#[derive(Clone, Copy, Debug)]
struct Pending {
    item: Item,
    /// The first generation that may have it: it is in none below, or this insert was the first to set its bits there.
    from: u32,
    /// Whether its bits are in a closed generation: from then on, other inserts of the item return `false`.
    stored: bool,
}

impl Pending {
    /// The error for the item, if the insert cannot go on.
    fn failed(&self, error: &Error) -> Error {
        match error {
            Error::VerdictUnknown { .. } => error.clone(),
            error if self.stored => Error::VerdictUnknown { reason: error.to_string().into() },
            error => error.clone(),
        }
    }
}

/// Inserts items into their shard, in this order. Passes each result to `on_result`, in any order.
pub(crate) async fn insert(
    filter: &Shared,
    shard: u32,
    items: &[Item],
    mut on_result: impl FnMut(Item, Inserted),
) {
    let mut rest = items;
    while !rest.is_empty() {
        let generation = filter.generation(filter.current(shard));
        let part = generation.capacity / u64::from(filter.sizes().shards) / PART;
        let most = if filter.sizes().grows() {
            part.clamp(1, MAX_ITEMS as u64) as usize
        } else {
            MAX_ITEMS
        };
        let (chunk, later) = rest.split_at(most.min(rest.len()));
        rest = later;
        insert_chunk(filter, shard, chunk, &mut on_result).await;
    }
}

/// Inserts items with one command, or with one per generation that the shard grows meanwhile.
async fn insert_chunk(
    filter: &Shared,
    shard: u32,
    items: &[Item],
    on_result: &mut impl FnMut(Item, Inserted),
) {
    let mut pending: Vec<Pending> =
        items.iter().map(|item| Pending { item: *item, from: 0, stored: false }).collect();
    for _ in 0..MAX_ROUNDS {
        match round(filter, shard, &mut pending, on_result).await {
            Ok(()) if pending.is_empty() => return,
            Ok(()) => {}
            Err(error) => {
                pending
                    .iter()
                    .for_each(|item| on_result(item.item, Inserted::of_error(item.failed(&error))));
                return;
            }
        }
    }
    let reason = "the shard changes its generation again and again".into();
    let error = Error::Unavailable { reason };
    pending.iter().for_each(|item| on_result(item.item, Inserted::of_error(item.failed(&error))));
}

/// Queries the closed generations, then sets bits in the open one. Items with a verdict leave `pending`.
async fn round(
    filter: &Shared,
    shard: u32,
    pending: &mut Vec<Pending>,
    on_result: &mut impl FnMut(Item, Inserted),
) -> Result<(), Error> {
    let current = filter.current(shard);
    // 1. An item in a closed generation is not new.
    let Some(found) = find_closed(filter, shard, current, pending).await? else {
        // A generation below is not closed: a failover has taken a growth back.
        restart(pending);
        filter.find_current(shard).await?;
        return Ok(());
    };
    let mut answers = found.into_iter();
    pending.retain(|pending| {
        let found = answers.next().unwrap_or(false);
        if found {
            on_result(pending.item, Inserted { result: Ok(false), connection: None });
        }
        !found
    });
    if pending.is_empty() {
        return Ok(());
    }

    // 2. Of all inserts of an item, the first to set its bits in the open generation is the winner.
    let generation = filter.generation(current);
    let key = filter.name.bits(shard, current);
    let places = pending.iter().map(|pending| generation.place(pending.item.hash));
    let mut sent = vec![commands::insert(&key, generation, places.clone())];
    let counts =
        filter.sizes().grows() && filter.is_count_due(shard, generation, pending.len() as u32);
    if counts {
        sent.push(commands::count(&key, generation.sample_bytes()));
    }
    let replies = filter.write(shard, &sent, Kind::Write).await.map_err(Failure::of_insert)?;
    let read = commands::inserted(&replies.values[0], filter.identity(), places);
    // The bits may be set, whatever the reply is.
    let unreadable = || Error::VerdictUnknown { reason: "the reply is not valid".into() };
    let (state, new) = read.ok_or_else(unreadable)?;
    let verdict = |new| Inserted { result: Ok(new), connection: Some(replies.connection) };

    match state {
        State::Open => {
            for (pending, new) in pending.drain(..).zip(new) {
                on_result(pending.item, verdict(new));
            }
        }
        State::Closed => {
            // The generation was closed before. An item whose bits were all set is not new. An item whose bits this
            // insert was the first to set goes on: all others that come later stop here.
            filter.set_current(shard, current + 1);
            let mut new = new.into_iter();
            pending.retain_mut(|pending| {
                pending.from = current + 1;
                pending.stored = true;
                let goes_on = new.next().unwrap_or(false);
                if !goes_on {
                    on_result(pending.item, verdict(false));
                }
                goes_on
            });
        }
        State::Gone => {
            // The bits went into a key that is no part of the filter. If a failover has taken a growth back, an older
            // generation is open; if not, it is lost.
            restart(pending);
            filter.find_current(shard).await?;
            return Ok(());
        }
    }

    // 3. Grow if the generation is full. An error here concerns no item: a later insert tries again.
    let ones = if counts { int(replies.values.last()) } else { 0 };
    if state == State::Open && generation.is_full(ones) {
        _ = filter.grow(shard, current).await;
    }
    Ok(())
}

/// Lets inserts begin again: a failover may have taken back the generations that they have seen.
fn restart(pending: &mut [Pending]) {
    pending.iter_mut().for_each(|pending| pending.from = 0);
}

/// Queries the items in the generations below `current`. Returns `None` if one of these is not closed.
async fn find_closed(
    filter: &Shared,
    shard: u32,
    current: u32,
    pending: &[Pending],
) -> Result<Option<Vec<bool>>, Error> {
    let mut found = vec![false; pending.len()];
    let least = pending.iter().map(|pending| pending.from).min().unwrap_or(current);
    let numbers = least..current;
    // An item is asked for from its own first generation on.
    let asked = |number: u32| {
        let generation = filter.generation(number);
        let asked = pending.iter().filter(move |pending| pending.from <= number);
        asked.map(|pending| generation.place(pending.item.hash)).collect::<Vec<_>>()
    };
    let command = |number| {
        let key = filter.name.bits(shard, number);
        commands::query(&key, filter.generation(number), asked(number).into_iter())
    };
    let sent: Vec<Cmd> = numbers.clone().map(command).collect();
    if sent.is_empty() {
        return Ok(Some(found));
    }
    let replies = filter.send(shard, &sent, Kind::Read).await.map_err(Failure::of_read)?;
    for (number, reply) in numbers.zip(&replies) {
        let read = commands::queried(reply, filter.identity(), asked(number).into_iter());
        let (state, hits) = read.ok_or(Error::Reply { expected: "words" })?;
        if state != State::Closed {
            return Ok(None);
        }
        let asked = pending.iter().zip(&mut found).filter(|(pending, _)| pending.from <= number);
        asked.zip(hits).for_each(|((_, found), hit)| *found |= hit);
    }
    Ok(Some(found))
}

/// Returns the number in a reply, or 0.
fn int(reply: Option<&Value>) -> u64 {
    match reply {
        Some(Value::Int(number)) => (*number).try_into().unwrap_or(0),
        _ => 0,
    }
}
