//! Deletes filters, and the keys that earlier filters of the name have left.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::Cmd;

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
    // 1. Read what there is, the descriptor before the list: if its text is still there at the end,
    //    its life is among those of the list, unless the list was evicted.
    let text = access.text().await?;
    let mut before = lives(access).await?;
    before.retain(Life::is_current);
    let known = match text.as_deref().map(Descriptor::of_json) {
        Some(Ok(known)) => Some(known.life()),
        // It is a damaged descriptor if a life has not ended, and otherwise of no filter.
        Some(Err(error)) if before.is_empty() => return Err(error),
        _ => None,
    };
    // 2. End these lives and no other. The command may be executed again, later than this call.
    let before: Vec<Identity> = before.iter().map(|life| life.identity).collect();
    let (there, mut lives) =
        end(access, access.name.keys().end(&before, true, &text.unwrap_or_default())).await?;
    // 3. Remove the keys of all lives that are over. A descriptor whose list of lives was evicted
    //    names its keys, and is not there any more: what makes a filter ready lists its life.
    lives.retain(|life| !life.is_current());
    if let Some(known) = known
        && lives.iter().all(|life| life.identity != known.identity)
    {
        lives.push(known);
    }
    let unswept = lives.iter().any(|life| life.state != State::Swept);
    lives::limit(&mut lives);
    sweep(access, &lives).await?;
    if there || unswept { Ok(()) } else { Err(Error::Missing) }
}

/// Ends the life of a filter that could not be created, and removes its keys. Returns whether the
/// filter is ready all the same, since only the reply was lost: then nothing is removed.
/// `creating` is the descriptor that says that it is not ready.
pub(crate) async fn abandon(access: Access<'_>, life: Life, creating: &str) -> Result<bool, Error> {
    let command = access.name.keys().end(&[life.identity], false, creating.as_bytes());
    let (_, lives) = end(access, command).await?;
    let life = match lives.iter().find(|other| other.identity == life.identity) {
        Some(listed) if listed.state == State::Ready => return Ok(true),
        Some(listed) => *listed,
        // The list is lost. A descriptor of this life is ready, since the other one was deleted.
        None => match access.text().await? {
            Some(text) if Descriptor::identity_of(&text) == Some(life.identity) => return Ok(true),
            // Nobody else finds the keys.
            _ => life,
        },
    };
    sweep(access, &[life]).await.map(|()| false)
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

/// Sends the command that ends lives. Returns whether a descriptor was deleted, and the lives.
async fn end(access: Access<'_>, command: Cmd) -> Result<(bool, Vec<Life>), Error> {
    lives::ended(&access.descriptor(command).await?)
        .ok_or(Error::Reply { expected: "the lives of the filter" })
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
