//! Deletes filters, and the keys that earlier filters of the name have left.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{Cmd, Value};

use crate::calls::access::Access;
use crate::calls::shared::SHARDS_AT_ONCE;
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::window;
use crate::wire::commands;
use crate::wire::descriptor::Descriptor;
use crate::wire::lives::{self, Life, State};
use crate::wire::sizes::MAX_SLICES;
use crate::wire::tag::Identity;

/// Deletes a filter in any state: first the descriptor, so that nobody opens it, then all keys of
/// all its lives.
///
/// # Errors
///
/// [`Error::Missing`] if there was no filter. Keys that earlier filters have left are removed all
/// the same. [`Error::Descriptor`] if the key of the descriptor is of no filter: nothing is
/// removed.
pub(crate) async fn destroy(access: Access<'_>) -> Result<(), Error> {
    // A descriptor whose list of lives was evicted names its keys.
    let text = access.descriptor(commands::get(&access.name.descriptor())).await?;
    let known = match &text {
        Value::BulkString(text) => match Descriptor::of_json(text) {
            Ok(known) => Some(known),
            // It is a damaged descriptor if a life has not ended, and otherwise of no filter.
            Err(error) => {
                let is_alive = |life: &Life| matches!(life.state, State::Creating | State::Ready);
                if !lives(access).await?.iter().any(is_alive) {
                    return Err(error);
                }
                None
            }
        },
        _ => None,
    };
    let (there, mut lives) = end(access, None).await?;
    if let Some(known) = known
        && lives.iter().all(|life| life.identity != known.identity)
    {
        lives.push(known.life());
    }
    let unswept = lives.iter().any(|life| life.state != State::Swept);
    lives::limit(&mut lives);
    sweep(access, &lives).await?;
    if there || unswept { Ok(()) } else { Err(Error::Missing) }
}

/// Ends the life of a filter that could not be created, and removes its keys. Returns whether the
/// filter is ready all the same, since only the reply was lost: then nothing is removed.
pub(crate) async fn abandon(access: Access<'_>, life: Identity) -> Result<bool, Error> {
    let (_, mut lives) = end(access, Some(life)).await?;
    lives.retain(|other| other.identity == life);
    if lives.iter().any(|life| life.state == State::Ready) {
        return Ok(true);
    }
    sweep(access, &lives).await.map(|()| false)
}

/// Removes the keys of all lives that have ended and were not swept. (`destroy` also sweeps the
/// others again.)
pub(crate) async fn sweep_ended(access: Access<'_>) -> Result<(), Error> {
    let mut lives = lives(access).await?;
    lives.retain(|life| life.state == State::Ended);
    sweep(access, &lives).await
}

/// Returns the lives of this name.
pub(crate) async fn lives(access: Access<'_>) -> Result<Vec<Life>, Error> {
    let reply = access.descriptor(commands::get_all(&access.name.keys().lives)).await?;
    Ok(lives::of_reply(&reply))
}

/// Ends one life, or all. Returns whether the descriptor was there, and the lives.
async fn end(access: Access<'_>, life: Option<Identity>) -> Result<(bool, Vec<Life>), Error> {
    let reply = access.descriptor(access.name.keys().end(life)).await?;
    lives::ended(&reply).ok_or(Error::Reply { expected: "the lives of the filter" })
}

/// Removes all keys of lives that are over, and records that.
async fn sweep(access: Access<'_>, lives: &[Life]) -> Result<(), Error> {
    if lives.is_empty() {
        return Ok(());
    }
    let mut shards: Vec<(Life, u32)> = Vec::new();
    for life in lives {
        shards.extend((0..life.shards).map(|shard| (*life, shard)));
    }
    let each = stream::iter(shards).map(Ok);
    let sweep = |(life, shard)| sweep_shard(access, life, shard);
    each.try_for_each_concurrent(SHARDS_AT_ONCE, sweep).await?;
    access.descriptor(access.name.keys().swept(lives)).await.map(|_| ())
}

/// Removes the keys of one shard.
async fn sweep_shard(access: Access<'_>, life: Life, shard: u32) -> Result<(), Error> {
    if life.window {
        return window::delete_shard(access, life.identity, shard).await;
    }
    let slices = 0..MAX_SLICES as u32;
    // In a slot that is being moved, the keys of one command would have to be on one node.
    let key = |number| [access.name.bits(life.identity, shard, number)];
    let commands: Vec<Cmd> = slices.map(|number| commands::delete(&key(number))).collect();
    let slot = access.name.slot(shard);
    let sent = access.router.send(slot, &commands, Kind::Idempotent, access.end).await;
    sent.map(|_| ()).map_err(Failure::of_read)
}
