//! What a filter does, as futures without a type of items: this crate compiles them, and not each
//! program that uses a filter.

use core::pin::pin;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use futures_util::future::{BoxFuture, join_all};
use futures_util::{StreamExt, TryStreamExt, stream};
use tamis_bloom::raw::Lines;
use tamis_core::Figures;

use crate::calls::insert::{self, Inserted};
use crate::calls::shared::{Call, Confirm, Shared};
use crate::calls::storage::{self, Storage};
use crate::calls::{figures, query};
use crate::copies::{pull, push};
use crate::error::Error;
use crate::window;
use crate::wire::round::{Item, MAX_ITEMS};

/// The shards of a batch whose commands are on their way at the same time. They share a connection
/// per node, so a batch that is spread over thousands of shards still takes few round trips.
const BATCH_SHARDS: usize = 1024;

/// The items of these commands. More would only wait in the queue of a connection, and take memory.
const BATCH_ITEMS: usize = 1 << 14;

/// The result of an insert that was not made: none of these is returned.
pub(crate) const NO_VERDICT: Error = Error::Reply { expected: "a verdict" };

impl Shared {
    pub(crate) fn insert_hashes<'a>(
        &'a self,
        hashes: &'a [u64],
    ) -> BoxFuture<'a, Vec<Result<bool, Error>>> {
        Box::pin(async move {
            let call = match self.begin().await {
                Ok(call) => call,
                Err(error) => return vec![Err(error); hashes.len()],
            };
            // An insert that waits for replicas has connections of its own: the wait blocks them.
            let (call, lane) = match self.confirm {
                None => (call, None),
                Some(_) => match call.alone().await {
                    Ok((call, lane)) => (call, Some(lane)),
                    Err(error) => return vec![Err(error); hashes.len()],
                },
            };
            // The error of a call that has failed at its end: shards that come later are not sent
            // to.
            let failed = OnceLock::new();
            let shards = by_shard(self, hashes);
            let width = width(hashes.len(), shards.len());
            let each = stream::iter(shards).map(async |(shard, items)| {
                let mut results = Vec::with_capacity(items.len());
                let mut on_result = |item: Item, inserted: Inserted| {
                    if let Err(error) = &inserted.result
                        && call.is_over()
                    {
                        failed.get_or_init(|| error.not_sent());
                    }
                    results.push((item.number, inserted));
                };
                if let Some(error) = failed.get() {
                    let failed = |item: &Item| on_result(*item, Inserted::of_error(error.clone()));
                    items.iter().for_each(failed);
                    return results;
                }
                insert::insert(call, shard, &items, on_result).await;
                results
            });
            let mut all = vec![Inserted::of_error(NO_VERDICT); hashes.len()];
            let mut each = pin!(each.buffer_unordered(width));
            while let Some(results) = each.next().await {
                results.into_iter().for_each(|(number, result)| all[number] = result);
            }
            if let Some(confirm) = self.confirm {
                confirm_all(call, confirm, &mut all).await;
            }
            if let Some(lane) = lane {
                lane.finish();
            }
            all.into_iter().map(|inserted| inserted.result).collect()
        })
    }

    pub(crate) fn contains_hash(&self, hash: u64) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(async move {
            let mut found = false;
            let (call, shard) = (self.begin().await?, self.sizes().shard(hash));
            find(call, shard, &[Item { number: 0, hash }], |_| found = true).await?;
            Ok(found)
        })
    }

    pub(crate) fn contains_hashes<'a>(
        &'a self,
        hashes: &'a [u64],
    ) -> BoxFuture<'a, Result<Vec<bool>, Error>> {
        Box::pin(async move {
            let call = self.begin().await?;
            let shards = by_shard(self, hashes);
            let width = width(hashes.len(), shards.len());
            let each = stream::iter(shards).map(async |(shard, items)| {
                let mut hits = Vec::new();
                find(call, shard, &items, |number| hits.push(number)).await?;
                Ok::<_, Error>(hits)
            });
            let mut all = vec![false; hashes.len()];
            let mut each = pin!(each.buffer_unordered(width));
            while let Some(hits) = each.try_next().await? {
                hits.into_iter().for_each(|number| all[number] = true);
            }
            Ok(all)
        })
    }

    pub(crate) fn figures(&self) -> BoxFuture<'_, Result<Figures, Error>> {
        Box::pin(async move { figures::figures(self.begin().await?).await })
    }

    pub(crate) fn storage(&self) -> BoxFuture<'_, Result<Storage, Error>> {
        Box::pin(async move { storage::storage(self.begin().await?).await })
    }

    /// Returns the lines of each slice, and their ones.
    pub(crate) fn pull(&self) -> BoxFuture<'_, Result<Vec<(Lines, u64)>, Error>> {
        Box::pin(async move {
            self.require_all()?;
            pull::pull(self.begin().await?).await
        })
    }

    /// Adds the lines of parts to the slices with these numbers.
    pub(crate) fn push<'a>(
        &'a self,
        numbers: &'a [u32],
        line: &'a push::Line<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move { push::push(self.begin().await?, numbers, line).await })
    }
}

/// Queries the items of a shard. Passes the numbers of those that the filter may contain to
/// `on_hit`.
async fn find(
    filter: Call<'_>,
    shard: u32,
    items: &[Item],
    mut on_hit: impl FnMut(usize),
) -> Result<(), Error> {
    for chunk in items.chunks(MAX_ITEMS) {
        let found = match filter.window() {
            Some(window) => window::find(filter, window, shard, chunk).await?.2,
            None => query::find(filter, shard, chunk).await?,
        };
        let hits = chunk.iter().zip(found).filter(|(_, found)| *found);
        hits.for_each(|(item, _)| on_hit(item.number));
    }
    Ok(())
}

/// Waits for the replicas of each node that was written to, and records which inserts they have not
/// confirmed.
async fn confirm_all(filter: Call<'_>, confirm: Confirm, all: &mut [Inserted]) {
    let Confirm { replicas, wait } = confirm;
    let connections: BTreeSet<u64> = all.iter().filter_map(|item| item.connection).collect();
    let each = connections.into_iter().map(async |connection| {
        let (nodes, end) = (&filter.router.nodes, filter.router.extended(filter.end()));
        (connection, nodes.confirm(connection, replicas, wait, end).await)
    });
    // One command per node covers all items.
    for (connection, confirmed) in join_all(each).await {
        if confirmed < replicas {
            for inserted in all.iter_mut().filter(|item| item.connection == Some(connection)) {
                if let Ok(new) = inserted.result {
                    inserted.result = Err(Error::NotReplicated { new, replicas: confirmed });
                }
            }
        }
    }
}

/// Returns how many of these shards are sent to at the same time, for a batch of these items.
fn width(items: usize, shards: usize) -> usize {
    let per_command = items.div_ceil(shards.max(1)).clamp(1, MAX_ITEMS);
    (BATCH_ITEMS / per_command).min(BATCH_SHARDS)
}

/// Returns the items of each shard, in their order.
fn by_shard(filter: &Shared, hashes: &[u64]) -> Vec<(u32, Vec<Item>)> {
    let mut sorted: Vec<(u32, Item)> = hashes
        .iter()
        .enumerate()
        .map(|(number, hash)| (filter.sizes().shard(*hash), Item { number, hash: *hash }))
        .collect();
    sorted.sort_by_key(|(shard, _)| *shard);
    let groups = sorted.chunk_by(|(one, _), (other, _)| one == other);
    groups.map(|group| (group[0].0, group.iter().map(|(_, item)| *item).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_wide_if_its_commands_are_short() {
        assert_eq!((width(0, 0), width(1000, 980), width(20_000, 1000)), (1024, 1024, 819));
        assert_eq!((width(1_000_000, 1000), width(1_000_000, 16)), (64, 64));
    }
}
