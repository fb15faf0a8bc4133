//! Sends the commands of an insert of items into one shard, as `round.rs` decides.

use redis::Value;

use crate::events::Event;
use crate::round::{Inserts, Item, MAX_ITEMS, Step};
use crate::router::{Failure, Kind};
use crate::shared::Call;
use crate::tag::State;
use crate::{Error, commands, query};

/// A command takes at most this part of the items of a generation, so that the generation is found full in time.
const PART: u64 = 128;

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

/// Inserts items into their shard, in this order. Passes each result to `on_result`, in any order.
pub(crate) async fn insert(
    filter: Call<'_>,
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
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    on_result: &mut impl FnMut(Item, Inserted),
) {
    let mut inserts = Inserts::new(items);
    if let Err(error) = drive(filter, shard, &mut inserts, on_result).await {
        let error = inserts.failed(error);
        let failed = |item: &Item| on_result(*item, Inserted::of_error(error.clone()));
        inserts.items().iter().for_each(failed);
    }
}

/// Sends one step after the other, until all items have a verdict.
async fn drive(
    filter: Call<'_>,
    shard: u32,
    inserts: &mut Inserts,
    on_result: &mut impl FnMut(Item, Inserted),
) -> Result<(), Error> {
    while let Some(step) = inserts.next(filter.current(shard))? {
        match step {
            Step::Read(closed) => {
                let items = inserts.items();
                let replies = query::read(filter, shard, items, closed, Kind::Read).await?;
                inserts.read(&replies, |item, new| {
                    on_result(item, Inserted { result: Ok(new), connection: None });
                });
            }
            Step::Set(generation) => set(filter, shard, generation, inserts, on_result).await?,
            Step::Find => {
                filter.find_current(shard).await?;
                inserts.found();
            }
        }
    }
    Ok(())
}

/// Sets the bits of the items in a generation, and grows the shard if the generation is full.
async fn set(
    filter: Call<'_>,
    shard: u32,
    number: u32,
    inserts: &mut Inserts,
    on_result: &mut impl FnMut(Item, Inserted),
) -> Result<(), Error> {
    // 1. The command that decides, and the count of the bits behind it.
    let generation = filter.generation(number);
    let key = filter.key(shard, number);
    let items = inserts.items();
    let places = items.iter().map(|item| generation.place(item.hash));
    let mut sent = vec![commands::insert(&key, generation, places.clone())];
    let counts =
        filter.sizes().grows() && filter.is_count_due(shard, generation, items.len() as u32);
    if counts {
        sent.push(commands::count(&key, generation.sample_bytes()));
    }
    let replies = filter.write(shard, &sent, Kind::Write).await.map_err(Failure::of_write)?;

    // 2. The verdicts. The bits may be set, whatever the reply is.
    let read = commands::inserted(&replies.values[0], filter.identity(), places);
    let unreadable = || Error::VerdictUnknown { reason: "the reply is not valid".into() };
    let reply = read.ok_or_else(unreadable)?;
    inserts.set(number, &reply, |item, new| {
        on_result(item, Inserted { result: Ok(new), connection: Some(replies.connection) });
    });
    if reply.0 == State::Closed {
        filter.advance(shard, number + 1);
    }

    // 3. Growth. An error here concerns no item: a later insert tries again.
    let ones = if counts { int(replies.values.last()) } else { 0 };
    if reply.0 == State::Open
        && generation.is_full(ones)
        && let Err(error) = filter.grow(shard, number).await
    {
        let failed = || Event::GrowthFailed { shard, generation: number, error };
        filter.router.events().raise(failed);
    }
    Ok(())
}

/// Returns the number in a reply, or 0.
fn int(reply: Option<&Value>) -> u64 {
    match reply {
        Some(Value::Int(number)) => (*number).try_into().unwrap_or(0),
        _ => 0,
    }
}
