//! Creates, opens and deletes a shard with epochs.

use std::sync::Arc;

use redis::Value;

use super::epochs::Epochs;
use super::query::{find, keys, read};
use super::round::CHANGES;
use super::{Window, scripts};
use crate::calls::access::Access;
use crate::calls::shared::Call;
use crate::error::Error;
use crate::servers::router::Kind;
use crate::wire::commands;
use crate::wire::round::count;
use crate::wire::sizes::MAX_SLICES;
use crate::wire::tag::Identity;

/// Creates the list and the first epoch of a shard.
pub(crate) async fn create_shard(
    filter: Call<'_>,
    window: Window,
    shard: u32,
) -> Result<(), Error> {
    let life = filter.identity();
    let keys = [filter.name.epochs(shard, life), filter.name.epoch_bits(shard, life, 0, 0)];
    let command = scripts::create(&keys, life, filter.slice(0), window);
    // Not repeated: a repetition that is executed late would create a list that was lost since.
    let list = filter.send_one(shard, command, Kind::Write).await?;
    let epochs = read(filter, &list).ok_or(Error::Reply { expected: "a list of epochs" })?;
    filter.epochs.set(shard, &Arc::new(epochs));
    Ok(())
}

/// Finds out which epochs a shard has.
///
/// # Errors
///
/// [`Error::Lost`] if the list is gone, or a part of an epoch that is not due.
pub(crate) async fn open_shard(filter: Call<'_>, window: Window, shard: u32) -> Result<(), Error> {
    find(filter, window, shard, &[]).await.map(|_| ())
}

/// Deletes the list of a shard of a life, and the keys of its epochs. Keys of a shard whose list is
/// gone expire.
pub(crate) async fn delete_shard(
    access: Access<'_>,
    life: Identity,
    shard: u32,
) -> Result<(), Error> {
    let list = access.name.epochs(shard, life);
    let mut rounds = 0;
    loop {
        count(&mut rounds, CHANGES)?;
        let known = match access.shard(shard, commands::get(&list)).await? {
            Value::BulkString(text) => Epochs::of_text(&text, life, MAX_SLICES as u32),
            _ => None,
        };
        let Some(known) = known else {
            // It is gone, or no client can read it.
            return access.shard(shard, commands::delete(&[list])).await.map(|_| ());
        };
        // Nothing, unless a client has changed the list meanwhile.
        let command = scripts::delete(&keys(access.name, life, shard, &known), &known);
        if access.shard(shard, command).await? == Value::Nil {
            return Ok(());
        }
    }
}
