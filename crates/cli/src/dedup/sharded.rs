//! All shards of a run, each behind a turnstile, which decide the records in input order.

use super::options::Options;
use super::repeated::Filters;
use super::shard::Fill;
use super::store::Store;
use crate::Error;
use crate::pipeline::{Chunk, Decider, Hasher, Plan, Printed, SHARDS, Turnstile, Why};

/// The shards.
pub(super) struct Sharded<'s> {
    shards: Vec<Turnstile<Filters<'s>>>,
    hasher: Hasher,
    plan: Plan,
}

impl<'s> Sharded<'s> {
    /// Builds empty shards.
    pub(super) fn new(store: &'s Store, hasher: Hasher, options: &Options) -> Result<Self, Error> {
        let shard = |number| Filters::new(store, number, options.repeated).map(Turnstile::new);
        let plan = Plan {
            printed: if options.repeated { Printed::Second } else { Printed::Fresh },
            keyless: true,
            sharded: true,
            limit: options.capacity.filter(|_| options.fixed),
        };
        let shards = (0..SHARDS as usize).map(shard).collect::<Result<_, _>>()?;
        Ok(Self { shards, hasher, plan })
    }

    /// How much each shard contains: its filter of keys seen, and its filter of keys printed, if there is one.
    pub(super) fn into_fills(self) -> impl Iterator<Item = (Option<Fill>, Option<Fill>)> {
        self.shards.into_iter().map(|shard| shard.into_inner().fills())
    }
}

impl Decider for Sharded<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        self.plan
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        for (number, shard) in self.shards.iter().enumerate() {
            if let Some(mut shard) = shard.enter(chunk.turn)
                && !failed()
                && let Err((record, why)) = shard.decide(chunk.batch_of(number))
            {
                chunk.stop(record, Why::Growth(why));
            }
        }
    }
}
