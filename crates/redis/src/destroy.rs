//! Deletes filters, and the keys that earlier filters of the name have left.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{Cmd, Value};

use crate::commands;
use crate::descriptor::Descriptor;
use crate::lives::{self, Life, State};
use crate::name::Name;
use crate::router::{Failure, Kind, Router};
use crate::shared::SHARDS_AT_ONCE;
use crate::sizes::MAX_GENERATIONS;
use crate::tag::Identity;
use crate::{Error, window};

/// Deletes a filter in any state: first the descriptor, so that nobody opens it, then all keys of all
/// its lives.
///
/// # Errors
///
/// [`Error::Missing`] if there was no filter. Keys that earlier filters have left are removed all the
/// same.
pub(crate) async fn destroy(name: &Name, router: &Router) -> Result<(), Error> {
    // A descriptor whose list of lives was evicted names its keys.
    let text = router.send_one(name.descriptor_slot(), commands::get(&name.descriptor())).await?;
    let known = match &text {
        Value::BulkString(text) => Descriptor::of_json(text).ok(),
        _ => None,
    };
    let (there, mut lives) = end(name, router, None).await?;
    if let Some(known) = known
        && lives.iter().all(|life| life.identity != known.identity)
    {
        lives.push(known.life());
    }
    let unswept = lives.iter().any(|life| life.state != State::Swept);
    sweep(name, router, &lives).await?;
    if there || unswept { Ok(()) } else { Err(Error::Missing) }
}

/// Ends the life of a filter that could not be created, and removes its keys. Returns whether the filter
/// is ready all the same, since only the reply was lost: then nothing is removed.
pub(crate) async fn abandon(name: &Name, router: &Router, life: Identity) -> Result<bool, Error> {
    let (_, mut lives) = end(name, router, Some(life)).await?;
    lives.retain(|other| other.identity == life);
    if lives.iter().any(|life| life.state == State::Ready) {
        return Ok(true);
    }
    sweep(name, router, &lives).await.map(|()| false)
}

/// Removes the keys of all lives that have ended and were not swept. (`destroy` also sweeps the others
/// again.)
pub(crate) async fn sweep_ended(name: &Name, router: &Router) -> Result<(), Error> {
    let reply =
        router.send_one(name.descriptor_slot(), commands::get_all(&name.keys().lives)).await?;
    let mut lives = lives::of_reply(&reply);
    lives.retain(|life| life.state == State::Ended);
    sweep(name, router, &lives).await
}

/// Ends one life, or all. Returns whether the descriptor was there, and the lives.
async fn end(
    name: &Name,
    router: &Router,
    life: Option<Identity>,
) -> Result<(bool, Vec<Life>), Error> {
    let reply = router.send_one(name.descriptor_slot(), name.keys().end(life)).await?;
    lives::ended(&reply).ok_or(Error::Reply { expected: "the lives of the filter" })
}

/// Removes all keys of lives that are over, and records that.
async fn sweep(name: &Name, router: &Router, lives: &[Life]) -> Result<(), Error> {
    if lives.is_empty() {
        return Ok(());
    }
    let shards = lives.iter().flat_map(|life| (0..life.shards).map(|shard| (*life, shard)));
    let each = stream::iter(shards).map(async |(life, shard)| {
        if life.window {
            return window::delete_shard(name, router, life.identity, shard).await;
        }
        let generations = 0..MAX_GENERATIONS as u32;
        // In a slot that is being moved, the keys of one command would have to be on one node.
        let key = |number| [name.bits(life.identity, shard, number)];
        let commands: Vec<Cmd> = generations.map(|number| commands::delete(&key(number))).collect();
        let (slot, end) = (name.slot(shard), router.deadline());
        let sent = router.send(slot, &commands, Kind::Idempotent, end).await;
        sent.map(|_| ()).map_err(Failure::of_read)
    });
    let mut each = core::pin::pin!(each.buffer_unordered(SHARDS_AT_ONCE));
    while each.try_next().await?.is_some() {}
    router.send_one(name.descriptor_slot(), name.keys().swept(lives)).await.map(|_| ())
}
