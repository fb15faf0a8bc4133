//! How the filters of all shards grow: the same sizes for each, worked out once.
//!
//! A shard is a chain of slices, and its rate at most the sum of theirs. So each slice after the
//! first is given [`RATIO`] of the rate of the one before, and all together stay below the rate
//! asked for however long the chain. Each new slice holds as much as all before it.
//!
//! Where that would be less than 64-bit hashes can give a slice of its size, it is given that, as long as
//! all together still stay below the rate asked for: so a very low rate ends the growth only where no
//! filter could keep it.
//!
//! With a capacity the first slice takes nearly the whole rate, since it is to be the last: giving
//! a tenth of it away costs 0.2 bits an item. Without one the first slice is small, and its share
//! of the rate matters little.

use std::sync::OnceLock;

use tamis::{BuildError, Geometry};

use super::{Options, SHARDS};
use crate::{Error, Kind, memory};

/// A slice's rate, over that of the slice before.
const RATIO: f64 = 0.7;

/// The first slice's share of the rate: when the capacity is known, and when it is not.
const SHARE_KNOWN: f64 = 0.9;
const SHARE_UNKNOWN: f64 = 1.0 - RATIO;

/// Items of all first slices when the capacity is not known.
const UNKNOWN: u64 = 1 << 18;

/// More doublings than a filter of 2^64 items takes.
const LEVELS: usize = 60;

/// The lowest rate of a slice, over its items: what its type refuses to go below, twice the chance of an
/// equal hash, and a little for rounding.
const LOWEST_AN_ITEM: f64 = 2.000_001 / 18_446_744_073_709_551_616.0;

/// What all slices with the same number have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Items that a slice takes.
    pub(super) items: u64,
    pub(super) geometry: Geometry,
}

/// The levels, each solved when the first shard comes to it.
pub(super) struct Levels {
    kind: Kind,
    first: u64,
    share: f64,
    rate: f64,
    capacity: Option<u64>,
    solved: [OnceLock<Result<Level, Refusal>>; LEVELS],
}

/// Why there is no such level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// No filter has these sizes.
    Sizes(BuildError),
    /// All shards together would need more memory than there is.
    Memory { needed: u64, available: u64 },
}

impl Levels {
    /// Solves the first level and sees that there is memory for it in all shards.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        let (first, share) = match options.capacity {
            Some(capacity) => (share_of(capacity), SHARE_KNOWN),
            None => (UNKNOWN / u64::from(SHARDS), SHARE_UNKNOWN),
        };
        let &Options { kind, rate, capacity, .. } = options;
        let solved = [const { OnceLock::new() }; LEVELS];
        let levels = Self { kind, first, share, rate, capacity, solved };
        levels.get(0).map_err(|refusal| levels.error(refusal))?;
        Ok(levels)
    }

    /// The level with this number, from 0, if there is memory for it in all shards: they come to it at
    /// nearly the same time.
    pub(super) fn get(&self, number: usize) -> Result<Level, Refusal> {
        let level = self.solved.get(number).ok_or(Refusal::Sizes(BuildError::TooLarge))?;
        *level.get_or_init(|| {
            let level = self.sizes(number).map_err(Refusal::Sizes)?;
            let needed = level.geometry.size_in_bytes().saturating_mul(u64::from(SHARDS));
            match memory::available() {
                Some(available) if needed > available => Err(Refusal::Memory { needed, available }),
                _ => Ok(level),
            }
        })
    }

    /// What the level with this number is, whatever the memory.
    fn sizes(&self, number: usize) -> Result<Level, BuildError> {
        let items = self.items_of(number).ok_or(BuildError::TooLarge)?;
        let lowest: f64 = (0..=number).map(|number| self.rate_of(number)).sum();
        if lowest > self.rate * 1.000_001 {
            return Err(BuildError::RateTooLow { rate: self.rate, lowest });
        }
        Ok(Level { items, geometry: self.kind.geometry(items, self.rate_of(number))? })
    }

    /// A refusal in the terms of whoever asked.
    pub(super) fn error(&self, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Sizes(source) => {
                Error::Filter { capacity: self.capacity, rate: self.rate, source }
            }
            Refusal::Memory { needed, available } => Error::Memory { needed, available },
        }
    }

    fn items_of(&self, number: usize) -> Option<u64> {
        self.first.checked_mul(1 << number.saturating_sub(1))
    }

    fn rate_of(&self, number: usize) -> f64 {
        let planned = match number.checked_sub(1) {
            None => self.rate * self.share,
            Some(later) => {
                self.rate * (1.0 - self.share) * (1.0 - RATIO) * RATIO.powi(later as i32)
            }
        };
        let items = self.items_of(number).unwrap_or(u64::MAX);
        planned.max(items as f64 * LOWEST_AN_ITEM)
    }
}

/// The items of one shard when all have `capacity`: its part and four standard deviations, so that
/// one filter in 500 has a shard that outgrows its first slice.
fn share_of(capacity: u64) -> u64 {
    let part = capacity.div_ceil(u64::from(SHARDS));
    part + (4.0 * (part as f64).sqrt()) as u64 + 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(capacity: Option<u64>, rate: f64) -> Levels {
        Levels::new(&Options { capacity, rate, ..Options::default() }).expect("a small filter")
    }

    #[test]
    fn all_slices_together_stay_below_the_rate() {
        for (capacity, rate) in [(None, 1e-6), (Some(1_000_000), 1e-6), (Some(1), 0.1), (None, 0.5)]
        {
            let levels = levels(capacity, rate);
            // As far as it grows.
            let grows = (0..LEVELS).take_while(|&number| levels.sizes(number).is_ok());
            let sum: f64 = grows.map(|number| levels.rate_of(number)).sum();
            assert!(sum <= rate * (1.0 + 1e-5) && sum > rate * 0.99, "{sum} {rate}");
            for number in 0..12 {
                let Level { items, geometry, .. } = levels.get(number).expect("small enough");
                assert!(geometry.false_positive_rate_at(items) <= levels.rate_of(number));
            }
        }
    }

    /// A rate near what hashes can give ends the growth, with the error that says so, and no sooner than
    /// after 30 million items.
    #[test]
    fn a_very_low_rate_ends_the_growth() {
        let levels = levels(None, 1e-12);
        let last = (0..LEVELS).take_while(|&number| levels.sizes(number).is_ok()).last();
        let last = last.expect("the first level at least");
        let items: u64 = (0..=last).filter_map(|number| levels.items_of(number)).sum();
        assert!(items * u64::from(SHARDS) > 30_000_000, "{items} items a shard");
        let refused = levels.sizes(last + 1);
        assert!(matches!(refused, Err(BuildError::RateTooLow { .. })), "{refused:?}");
    }

    #[test]
    fn each_slice_doubles_the_chain() {
        let levels = levels(None, 1e-6);
        let items: Vec<u64> =
            (0..5).map(|number| levels.get(number).expect("small enough").items).collect();
        assert_eq!(items, [4096, 4096, 8192, 16384, 32768]);
    }

    #[test]
    fn growth_ends_with_an_error() {
        let levels = levels(None, 1e-6);
        assert!(matches!(levels.get(LEVELS), Err(Refusal::Sizes(BuildError::TooLarge))));
        assert!((0..LEVELS).any(|number| levels.get(number).is_err()));
    }
}
