//! Sends the commands of a query for items in one shard, as `round.rs` decides.

use core::ops::Range;

use redis::Cmd;

use crate::calls::shared::Call;
use crate::error::Error;
use crate::servers::router::Kind;
use crate::wire::commands;
use crate::wire::round::{Item, Query, Reply};

/// Returns whether the filter may contain each of the items, which are at most
/// [`MAX_ITEMS`](crate::wire::round::MAX_ITEMS).
pub(crate) async fn find(filter: Call<'_>, shard: u32, items: &[Item]) -> Result<Vec<bool>, Error> {
    let mut query = Query::new();
    loop {
        let Some(slices) = query.next(filter.current(shard))? else {
            filter.find_current(shard).await?;
            query.found();
            continue;
        };
        // What a replica answers first may contradict what this client knows already. The master
        // decides then.
        let kind = if query.is_first() { Kind::StaleRead } else { Kind::Read };
        let replies = read(filter, shard, items, slices, kind).await?;
        if let Some(found) = query.read(&replies, items.len()) {
            return Ok(found);
        }
    }
}

/// Reads the tags of slices, and whether these have the items, over one connection.
pub(crate) async fn read(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    slices: Range<u32>,
    kind: Kind,
) -> Result<Vec<Reply>, Error> {
    let places = |number: u32| {
        let slice = filter.slice(number);
        items.iter().map(|item| slice.place(item.hash))
    };
    let command =
        |number| commands::query(&filter.key(shard, number), filter.slice(number), places(number));
    let sent: Vec<Cmd> = slices.clone().map(command).collect();
    let replies = filter.send(shard, &sent, kind).await?;
    let read = |(number, reply)| commands::queried(reply, filter.identity(), places(number));
    let read = slices.zip(&replies).map(read);
    read.map(|reply| reply.ok_or(Error::Reply { expected: "words" })).collect()
}
