//! The query for items in one shard.

use redis::Cmd;

use crate::Error;
use crate::commands;
use crate::insert::{Item, MAX_ITEMS};
use crate::router::{Failure, Kind};
use crate::shared::Shared;
use crate::tag::State;

/// How often a shard is asked for its open generation, if replies contradict the answer.
const MAX_ROUNDS: u32 = 64;

/// Queries the items of a shard. Passes the numbers of those that the filter may contain to `on_hit`.
pub(crate) async fn query(
    filter: &Shared,
    shard: u32,
    items: &[Item],
    mut on_hit: impl FnMut(usize),
) -> Result<(), Error> {
    for chunk in items.chunks(MAX_ITEMS) {
        let mut answered = false;
        for round in 0..MAX_ROUNDS {
            // What a replica answers first may contradict what this client knows already. The master decides then.
            let kind = if round == 0 { Kind::StaleRead } else { Kind::Read };
            if let Some(found) = ask(filter, shard, chunk, kind).await? {
                let hits = chunk.iter().zip(found).filter(|(_, found)| *found);
                hits.for_each(|(item, _)| on_hit(item.number));
                answered = true;
                break;
            }
        }
        if !answered {
            let reason = "the shard changes its generation again and again".into();
            return Err(Error::Unavailable { reason });
        }
    }
    Ok(())
}

/// Asks all generations that this client knows. Returns `None` if the last of them is not open, or another not closed.
async fn ask(
    filter: &Shared,
    shard: u32,
    items: &[Item],
    kind: Kind,
) -> Result<Option<Vec<bool>>, Error> {
    let current = filter.current(shard);
    let places = |number: u32| {
        let generation = filter.generation(number);
        items.iter().map(|item| generation.place(item.hash))
    };
    let command = |number| {
        commands::query(&filter.name.bits(shard, number), filter.generation(number), places(number))
    };
    let sent: Vec<Cmd> = (0..=current).map(command).collect();
    let replies = filter.send(shard, &sent, kind).await.map_err(Failure::of_read)?;
    let mut found = vec![false; items.len()];
    for (number, reply) in (0..=current).zip(&replies) {
        let read = commands::queried(reply, filter.identity(), places(number));
        let (state, hits) = read.ok_or(Error::Reply { expected: "words" })?;
        let expected = if number == current { State::Open } else { State::Closed };
        if state != expected {
            // The shard has grown, or a failover has taken growth back, or the bits are gone.
            filter.find_current(shard).await?;
            return Ok(None);
        }
        found.iter_mut().zip(hits).for_each(|(found, hit)| *found |= hit);
    }
    Ok(Some(found))
}
