//! All shards of a run, each behind a turnstile, which decide the records in input order.

use std::sync::OnceLock;

use super::repeated::Filters;
use super::shard::Fill;
use crate::pipeline::{Chunk, Turnstile};

/// The shards.
pub(crate) struct Sharded<'s> {
    shards: Vec<Turnstile<Filters<'s>>>,
    /// Set if a chunk is cut, because the input is wrong after its last record. Nothing after it is
    /// decided, so that the shards contain exactly the records before.
    cut: OnceLock<()>,
}

impl<'s> Sharded<'s> {
    /// Puts each shard behind a turnstile.
    pub(crate) fn new(shards: Vec<Filters<'s>>) -> Self {
        let shards = shards.into_iter().map(Turnstile::new).collect();
        Self { shards, cut: OnceLock::new() }
    }

    /// How much each shard contains: its filter of keys seen, and its filter of keys printed, if
    /// there is one.
    pub(crate) fn into_fills(self) -> impl Iterator<Item = (Option<Fill>, Option<Fill>)> {
        self.shards.into_iter().map(|shard| shard.into_inner().fills())
    }

    /// Decides a chunk, shard by shard.
    pub(crate) fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        let mut after_cut = false;
        for (number, shard) in self.shards.iter().enumerate() {
            let Some(mut shard) = shard.enter(chunk.turn) else { continue };
            // Chunks enter the first shard in order: this one sees a cut in any chunk before it.
            if number == 0 {
                after_cut = self.cut.get().is_some();
                if chunk.is_cut() {
                    let _ = self.cut.set(());
                }
            }
            if !after_cut
                && !failed()
                && let Err((record, why)) = shard.decide(chunk.batch_of(number))
            {
                chunk.stop(record, why);
            }
        }
    }
}
