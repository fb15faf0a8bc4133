//! Creates, opens and deletes filters.
//!
//! A filter is created by one client: the one that stores the descriptor, as "not ready". It then creates the keys of
//! the first generation, none of which may exist, and marks the descriptor as ready. Nobody else creates these keys, so a
//! key that is missing later is lost, and no client makes up for it with an empty one.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::Value;

use crate::commands;
use crate::descriptor::Descriptor;
use crate::name::Name;
use crate::router::{Failure, Kind, Router};
use crate::shared::{Call, SHARDS_AT_ONCE, Shared};
use crate::{Error, sizes, window};

/// Reads the descriptor of a filter.
pub(crate) async fn describe(name: &Name, router: &Router) -> Result<Descriptor, Error> {
    let command = commands::get(&name.descriptor());
    let replies =
        router.send(name.descriptor_slot(), &[command], Kind::Read, router.deadline()).await;
    match replies.map_err(Failure::of_read)?.values.first() {
        Some(Value::Nil) => Err(Error::Missing),
        Some(Value::BulkString(text)) => Descriptor::of_json(text),
        _ => Err(Error::Reply { expected: "a text" }),
    }
}

/// Finds out which generation of each shard is open.
///
/// # Errors
///
/// [`Error::Lost`] if a part of the filter is gone.
pub(crate) async fn open(filter: Call<'_>) -> Result<(), Error> {
    if !filter.descriptor.ready {
        return Err(Error::Creating);
    }
    let each = stream::iter(0..filter.sizes().shards).map(async |shard| match filter.window() {
        Some(window) => window::open_shard(filter, window, shard).await,
        None => filter.find_current(shard).await.map(|_| ()),
    });
    let mut each = core::pin::pin!(each.buffer_unordered(4 * SHARDS_AT_ONCE));
    while each.try_next().await?.is_some() {}
    Ok(())
}

/// Creates a filter with this descriptor.
pub(crate) async fn create(filter: &mut Shared) -> Result<(), Error> {
    let key = filter.name.descriptor();
    filter.descriptor.ready = false;
    let creating = filter.descriptor.to_json();
    let slot = filter.name.descriptor_slot();
    // Of several clients, one stores the descriptor. A lost reply leaves a filter that is not ready.
    let set = commands::set_new(&key, &creating);
    let end = filter.router.deadline();
    let sent = filter.router.send(slot, &[set], Kind::Write, end).await;
    match sent.map_err(Failure::of_write)?.values.first() {
        Some(Value::Okay) => {}
        Some(Value::Nil) => return Err(Error::Exists),
        _ => return Err(Error::Reply { expected: "OK" }),
    }
    if let Err(error) = create_keys(filter.call()).await {
        // Nothing of a filter remains that was never ready. If this fails too, `destroy` can be called.
        _ = delete_owned(filter.call()).await;
        return Err(error);
    }
    filter.descriptor.ready = true;
    let ready = filter.descriptor.to_json();
    let publish = commands::publish(&key, &creating, &ready);
    let sent = filter.router.send(slot, &[publish], Kind::Write, end).await;
    match sent.map_err(Failure::of_write)?.values.first() {
        Some(Value::Int(1)) => Ok(()),
        // Another client has deleted the filter meanwhile.
        Some(Value::Int(0)) => Err(Error::Missing),
        _ => Err(Error::Reply { expected: "0 or 1" }),
    }
}

/// Creates the keys of the first generation.
async fn create_keys(filter: Call<'_>) -> Result<(), Error> {
    let each = stream::iter(0..filter.sizes().shards).map(async |shard| {
        if let Some(window) = filter.window() {
            return window::create_shard(filter, window, shard).await;
        }
        let key = filter.key(shard, 0);
        let command = commands::create(&key, filter.generation(0), filter.identity());
        // Not repeated: the repetition would find the key in its own way.
        let sent = filter.send(shard, &[command], Kind::Write).await;
        match sent.map_err(Failure::of_write)?.first() {
            Some(Value::Int(1)) => Ok(()),
            Some(Value::Int(0)) => Err(Error::InTheWay { key: key.into() }),
            _ => Err(Error::Reply { expected: "0 or 1" }),
        }
    });
    let mut each = core::pin::pin!(each.buffer_unordered(SHARDS_AT_ONCE));
    while each.try_next().await?.is_some() {}
    Ok(())
}

/// Deletes the keys of a filter that could not be created, but none that were there before.
async fn delete_owned(filter: Call<'_>) -> Result<(), Error> {
    let each = stream::iter(0..filter.sizes().shards).map(async |shard| {
        if filter.window().is_some() {
            return window::delete_shard(filter, shard).await;
        }
        let keys = [filter.key(shard, 0)];
        let state = commands::state(&keys[0], filter.generation(0));
        let reply = filter.send_one(shard, state, Kind::Read).await?;
        let read = commands::queried(&reply, filter.identity(), core::iter::empty());
        if read.is_some_and(|(state, _)| state == crate::tag::State::Open) {
            filter.send_one(shard, commands::delete(&keys), Kind::Idempotent).await?;
        }
        Ok::<_, Error>(())
    });
    let mut each = core::pin::pin!(each.buffer_unordered(SHARDS_AT_ONCE));
    while each.try_next().await?.is_some() {}
    delete_descriptor(filter).await
}

/// Deletes a filter in any state: first the descriptor, so that nobody opens it, then all keys that it may have.
pub(crate) async fn destroy(filter: Call<'_>) -> Result<(), Error> {
    delete_descriptor(filter).await?;
    let generations = filter.sizes().generations.len().max(sizes::MAX_GENERATIONS) as u32;
    let each = stream::iter(0..filter.sizes().shards).map(async |shard| {
        if filter.window().is_some() {
            return window::delete_shard(filter, shard).await;
        }
        let keys: Vec<String> = (0..generations).map(|number| filter.key(shard, number)).collect();
        filter.send_one(shard, commands::delete(&keys), Kind::Idempotent).await.map(|_| ())
    });
    let mut each = core::pin::pin!(each.buffer_unordered(SHARDS_AT_ONCE));
    while each.try_next().await?.is_some() {}
    Ok(())
}

async fn delete_descriptor(filter: Call<'_>) -> Result<(), Error> {
    let command = commands::delete(&[filter.name.descriptor()]);
    let slot = filter.name.descriptor_slot();
    let sent =
        filter.router.send(slot, &[command], Kind::Idempotent, filter.router.deadline()).await;
    sent.map(|_| ()).map_err(Failure::of_read)
}
