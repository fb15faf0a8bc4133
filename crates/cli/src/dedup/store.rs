//! What the shards keep their items in, for a whole run: a table each, or a chain of filters each.

use super::growth::Growth;
use super::options::{Filter, Options};
use super::shard::{Fill, Shard};
use super::table::{Sizes, Table};
use super::{chain, expected};
use crate::error::Error;

/// The sizes of what all shards keep their items in.
pub(super) enum Store {
    Table(Sizes),
    Chain(Box<Growth>),
}

impl Store {
    /// Computes the first sizes and checks that there is memory for them.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        Ok(match options.filter {
            Filter::Table => Self::Table(Sizes::new(options)?),
            Filter::Chain { kind, rate } => {
                Self::Chain(Box::new(Growth::new(kind, rate, options)?))
            }
            // `window` decides such a run, without shards.
            Filter::Window { .. } => return Err(Error::Usage("a window has no shards".into())),
        })
    }

    /// Builds an empty shard.
    pub(super) fn shard(&self, number: usize) -> Result<Box<dyn Shard + '_>, Error> {
        Ok(match self {
            Self::Table(sizes) => Box::new(Table::new(sizes, number)?),
            Self::Chain(growth) => chain::new(growth)?,
        })
    }

    /// The expected number of items that were taken for others and not inserted, given how much
    /// each shard contains.
    pub(super) fn lost(&self, fills: &[Fill]) -> f64 {
        match self {
            Self::Table(sizes) => sizes.lost(fills.iter().map(|fill| fill.slices.iter().sum())),
            Self::Chain(growth) => {
                let slices: Vec<&[u64]> = fills.iter().map(|fill| &fill.slices[..]).collect();
                expected::lost(growth, &slices)
            }
        }
    }
}
