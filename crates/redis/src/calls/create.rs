//! Creates and opens filters.
//!
//! A filter is created by one client: the one that begins its life and stores the descriptor, as
//! "not ready". It then creates the keys of the first slice, and marks the descriptor as
//! ready. No other client creates these keys. So a key that is missing later is lost, and no client
//! replaces it by an empty one. If the client is killed before it is ready, another client begins
//! another life, with keys of other names, and removes the keys of the first.

use core::pin::pin;
use core::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::calls::access::Access;
use crate::calls::destroy;
use crate::calls::shared::{Call, SHARDS_AT_ONCE, Shared};
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::window;
use crate::wire::descriptor::Descriptor;
use crate::wire::lives::{LEASE_MS, State};
use crate::wire::scripts;

/// Reads the descriptor of a filter.
///
/// # Errors
///
/// [`Error::Missing`] if there is no filter, [`Error::DescriptorLost`] if there is one without it.
pub(crate) async fn describe(access: Access<'_>) -> Result<Descriptor, Error> {
    // The life that is ready, before the descriptor was missing.
    let mut before = None;
    loop {
        if let Some(text) = access.text().await? {
            return Descriptor::of_json(&text);
        }
        // A client may create or delete a filter between two commands.
        let mut lives = destroy::lives(access).await?.into_iter();
        match lives.find(|life| life.state == State::Ready).map(|life| life.identity) {
            None => return Err(Error::Missing),
            ready if ready == before => return Err(Error::DescriptorLost),
            ready => before = ready,
        }
    }
}

/// Finds out which slice of each shard is open.
///
/// # Errors
///
/// [`Error::Lost`] if a part of the filter is gone, [`Error::Replaced`] if the filter is gone.
pub(crate) async fn open(filter: Call<'_>) -> Result<(), Error> {
    let open = async |shard| match filter.window() {
        Some(window) => window::open_shard(filter, window, shard).await,
        None => filter.find_current(shard).await.map(|_| ()),
    };
    let shards = stream::iter(0..filter.sizes().shards).map(Ok);
    shards.try_for_each_concurrent(4 * SHARDS_AT_ONCE, open).await
}

/// Creates a filter with this descriptor.
///
/// # Errors
///
/// [`Error::Exists`] if there is a filter, or another client creates one, and
/// [`Error::DescriptorLost`] if there is one without a descriptor.
pub(crate) async fn create(filter: &mut Shared, end: Instant) -> Result<(), Error> {
    filter.descriptor.ready = false;
    let creating = filter.descriptor.to_json();
    filter.descriptor.ready = true;
    let ready = filter.descriptor.to_json();
    let (keys, life) = (filter.name.keys(), filter.descriptor.life());
    let call = filter.call_until(end);
    let access = call.access();
    // 1. Of several clients, one begins a life.
    let begin = [keys.begin(&life, &creating)];
    let begun = access.router.send(access.name.descriptor_slot(), &begin, Kind::Idempotent, end);
    let begun = match access.router.events().watched(end, begun).await {
        Ok(replies) => match replies.values.first() {
            Some(Value::Int(1)) => Ok(()),
            Some(Value::Int(0)) => return Err(Error::Exists),
            Some(Value::Int(-1)) => return Err(Error::DescriptorLost),
            _ => return Err(Error::Reply { expected: "0, 1 or -1" }),
        },
        // It may have begun.
        Err(Failure::Unknown(reason)) => Err(Error::Unavailable { reason }),
        Err(failure) => return Err(failure.of_read()),
    };
    // 2. The keys, and the descriptor once they exist.
    let created = async {
        begun?;
        create_keys_in_time(call).await?;
        let publish = keys.publish(&life, [&creating, &ready]);
        require_own(&access.descriptor(publish).await?)
    };
    if let Err(error) = created.await {
        // Nothing of a filter remains that was never ready. If this fails too, or comes after the
        // end of the call, its keys are removed with the next filter.
        match timeout_at(end, destroy::abandon(access, life, &creating)).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => return Err(error),
            Ok(Err(_)) | Err(_) => return Err(unconfirmed(error)),
        }
    }
    // 3. What other clients have left. An error concerns no item.
    _ = timeout_at(end, destroy::sweep_ended(access)).await;
    Ok(())
}

/// Creates the keys of the first slice, and shows other clients meanwhile that it goes on.
async fn create_keys_in_time(filter: Call<'_>) -> Result<(), Error> {
    let keys = filter.name.keys();
    let renewed = async {
        loop {
            sleep(Duration::from_millis(LEASE_MS / 3)).await;
            let renew = keys.renew(&filter.descriptor.life());
            let renewed = filter.access().descriptor(renew).await;
            if let Err(error) = renewed.and_then(|reply| require_own(&reply)) {
                return error;
            }
        }
    };
    match select(pin!(create_keys(filter)), pin!(renewed)).await {
        Either::Left((created, _)) => created,
        Either::Right((error, _)) => Err(error),
    }
}

/// Creates the keys of the first slice.
async fn create_keys(filter: Call<'_>) -> Result<(), Error> {
    let create = async |shard| {
        if let Some(window) = filter.window() {
            return window::create_shard(filter, window, shard).await;
        }
        let key = filter.key(shard, 0);
        let command = scripts::create(&key, filter.slice(0), filter.identity());
        // Not repeated: a repetition that is executed late would create a key that was lost since.
        match filter.send_one(shard, command, Kind::Write).await? {
            Value::Int(1) => Ok(()),
            _ => Err(Error::Reply { expected: "1" }),
        }
    };
    let shards = stream::iter(0..filter.sizes().shards).map(Ok);
    shards.try_for_each_concurrent(SHARDS_AT_ONCE, create).await
}

/// Returns the error of a creation whose keys may be there.
fn unconfirmed(error: Error) -> Error {
    match error {
        Error::Unavailable { reason } => Error::VerdictUnknown { reason },
        other => other,
    }
}

/// Reads the reply 1, or 0 if another client has ended this life.
fn require_own(reply: &Value) -> Result<(), Error> {
    match reply {
        Value::Int(1) => Ok(()),
        Value::Int(0) => Err(Error::Replaced),
        _ => Err(Error::Reply { expected: "0 or 1" }),
    }
}
