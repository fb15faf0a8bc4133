//! Creates, opens and deletes a shard with epochs.

use std::sync::Arc;

use super::query::{find, keys, list, read};
use super::{Window, scripts};
use crate::router::Kind;
use crate::shared::Call;
use crate::{Error, commands};

/// How often a shard is deleted whose list changes meanwhile.
const MAX_ROUNDS: u32 = 64;

/// Creates the list and the first epoch of a shard. It can be repeated: a shard that is there is
/// left as it is.
pub(crate) async fn create_shard(
    filter: Call<'_>,
    window: Window,
    shard: u32,
) -> Result<(), Error> {
    let life = filter.identity().to_u64();
    let list = filter.name.epochs(shard, life);
    let keys = [list.clone(), filter.name.epoch_bits(shard, life, 0, 0)];
    let command = scripts::create(&keys, filter.identity(), filter.generation(0), window);
    let reply = filter.send_one(shard, command, Kind::Idempotent).await?;
    let epochs = read(filter, &reply).ok_or(Error::InTheWay { key: list.into() })?;
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

/// Deletes the list of a shard, and the keys of its epochs. Keys of a shard whose list is gone
/// expire.
pub(crate) async fn delete_shard(filter: Call<'_>, shard: u32) -> Result<(), Error> {
    let mut epochs = list(filter, shard).await?;
    for _ in 0..MAX_ROUNDS {
        let Some(known) = epochs else {
            // It is gone, or no client can read it.
            let list = [filter.name.epochs(shard, filter.identity().to_u64())];
            return filter
                .send_one(shard, commands::delete(&list), Kind::Idempotent)
                .await
                .map(|_| ());
        };
        let command = scripts::delete(&keys(filter, shard, &known), &known);
        let reply = filter.send_one(shard, command, Kind::Idempotent).await?;
        epochs = read(filter, &reply);
    }
    Err(Error::Unavailable { reason: "the shard changes its epochs again and again".into() })
}
