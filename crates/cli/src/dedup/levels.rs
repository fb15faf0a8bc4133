//! How the filters of all shards grow: the same sizes for each, worked out once.
//!
//! A shard is a chain of slices, and its rate at most the sum of theirs. So each slice after the
//! first is given [`RATIO`] of the rate of the one before, and all together stay below the rate
//! asked for however long the chain. Each new slice holds as much as all before it.
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

/// A slice smaller than this is built without asking how much memory there is.
const SMALL: u64 = 1 << 20;

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
    solved: [OnceLock<Result<Level, BuildError>>; LEVELS],
}

impl Levels {
    /// Solves the first level and sees that there is memory for it in all shards.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        let (first, share) = match options.capacity {
            Some(capacity) => (share_of(capacity), SHARE_KNOWN),
            None => (UNKNOWN / u64::from(SHARDS), SHARE_UNKNOWN),
        };
        let solved = [const { OnceLock::new() }; LEVELS];
        let levels = Self { kind: options.kind, first, share, rate: options.rate, solved };
        let bytes = levels.get(0)?.geometry.size_in_bytes();
        affordable(bytes.saturating_mul(u64::from(SHARDS)))?;
        Ok(levels)
    }

    /// The level with this number, from 0.
    pub(super) fn get(&self, number: usize) -> Result<Level, BuildError> {
        let level = self.solved.get(number).ok_or(BuildError::TooLarge)?;
        *level.get_or_init(|| {
            let doublings = number.saturating_sub(1) as u32;
            let items = self.first.checked_mul(1 << doublings).ok_or(BuildError::TooLarge)?;
            let geometry = self.kind.geometry(items, self.rate_of(number))?;
            Ok(Level { items, geometry })
        })
    }

    /// The level with this number, if there is memory for one slice of it.
    pub(super) fn afford(&self, number: usize) -> Result<Level, Error> {
        let level = self.get(number)?;
        let bytes = level.geometry.size_in_bytes();
        if bytes >= SMALL {
            affordable(bytes)?;
        }
        Ok(level)
    }

    fn rate_of(&self, number: usize) -> f64 {
        match number.checked_sub(1) {
            None => self.rate * self.share,
            Some(later) => {
                self.rate * (1.0 - self.share) * (1.0 - RATIO) * RATIO.powi(later as i32)
            }
        }
    }
}

/// The items of one shard when all have `capacity`: its part and four standard deviations, so that
/// one filter in 500 has a shard that outgrows its first slice.
fn share_of(capacity: u64) -> u64 {
    let part = capacity.div_ceil(u64::from(SHARDS));
    part + (4.0 * (part as f64).sqrt()) as u64 + 4
}

fn affordable(needed: u64) -> Result<(), Error> {
    match memory::available() {
        Some(available) if needed > available => Err(Error::Memory { needed, available }),
        _ => Ok(()),
    }
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
            let sum: f64 = (0..LEVELS).map(|number| levels.rate_of(number)).sum();
            assert!(sum <= rate * (1.0 + 1e-12) && sum > rate * 0.99, "{sum} {rate}");
            for number in 0..12 {
                let Level { items, geometry, .. } = levels.get(number).expect("small enough");
                assert!(geometry.false_positive_rate_at(items) <= levels.rate_of(number));
            }
        }
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
        assert!(matches!(levels.get(LEVELS), Err(BuildError::TooLarge)));
        assert!((0..LEVELS).any(|number| levels.get(number).is_err()));
    }
}
