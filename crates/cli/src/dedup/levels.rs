//! How the filters of all shards grow: the same sizes for each, worked out once.
//!
//! A shard is a chain of slices, and its rate at most the sum of theirs. So each slice after the
//! first is given [`RATIO`] of the rate of the one before, and all together stay below the rate
//! asked for however long the chain. Each new slice holds as much as all before it.
//!
//! Where that would be less than a slice of its kind and size can keep, it is given that, as long as all
//! together still stay below the rate asked for: so a very low rate ends the growth only where no filter
//! could keep it.
//!
//! With a capacity the first slice takes nearly the whole rate, since it is to be the last: giving
//! a tenth of it away costs 0.2 bits an item. Without one the first slice is small, and its share
//! of the rate matters little.

use std::sync::OnceLock;

use super::{Options, SHARDS};
use tamis::BuildError;

use crate::geometry::Geometry;
use crate::{Error, Kind, memory};

/// A slice's rate, over that of the slice before.
const RATIO: f64 = 0.7;

/// The first slice's share of the rate: when the capacity is known, and when it is not.
const SHARE_KNOWN: f64 = 0.9;
const SHARE_UNKNOWN: f64 = 1.0 - RATIO;

/// Items of all first slices when the capacity is not known. MEASURED: 10 million lines, 5.5 million of them
/// distinct, take 0.85 s of CPU and 57 MiB; with a quarter of it, which is two slices more to ask, 1.04 s and 61 MiB.
/// It costs who has few lines 6 MiB.
const UNKNOWN: u64 = 1 << 20;

/// More doublings than a filter of 2^64 items takes.
const LEVELS: usize = 60;

/// What rounding may add to a rate.
const ROUNDING: f64 = 1.000_001;

/// The standard deviations by which a first slice exceeds its part of a known capacity. With 4, one filter
/// in 500 has a shard that outgrows it; with 8, in effect none, for a rate that leaves no second slice.
const SPARE: f64 = 4.0;
const SPARE_ALONE: f64 = 8.0;

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
    /// Filters of these sizes, over all shards.
    filters: u64,
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
            Some(capacity) => (share_of(capacity, SPARE), SHARE_KNOWN),
            None => (UNKNOWN / u64::from(SHARDS), SHARE_UNKNOWN),
        };
        let &Options { kind, rate, capacity, .. } = options;
        let solved = [const { OnceLock::new() }; LEVELS];
        let filters = u64::from(SHARDS) * if options.repeated { 2 } else { 1 };
        let mut levels = Self { kind, first, share, rate, capacity, filters, solved };
        if let Some(capacity) = capacity
            && levels.left_for(1) < levels.lowest_of(1)
        {
            levels.first = share_of(capacity, SPARE_ALONE);
        }
        levels.get(0).map_err(|refusal| levels.error(0, refusal))?;
        Ok(levels)
    }

    /// The level with this number, from 0, if there is memory for it in all shards: they come to it at
    /// nearly the same time.
    pub(super) fn get(&self, number: usize) -> Result<Level, Refusal> {
        let too_large = Refusal::Sizes(BuildError::TooLarge);
        *self.solved.get(number).ok_or(too_large)?.get_or_init(|| {
            let level = self.sizes(number).map_err(Refusal::Sizes)?;
            let needed = level.geometry.size_in_bytes().saturating_mul(self.filters);
            match memory::available() {
                Some(available) if needed > available => Err(Refusal::Memory { needed, available }),
                _ => Ok(level),
            }
        })
    }

    /// What the level with this number is, whatever the memory.
    fn sizes(&self, number: usize) -> Result<Level, BuildError> {
        let items = self.items_of(number).ok_or(BuildError::TooLarge)?;
        // Where nothing is left, a rate all the same, which the kind refuses as too low.
        let left = self.left_for(number).max(f64::MIN_POSITIVE);
        Ok(Level { items, geometry: self.kind.geometry(items, self.rate_of(number).min(left))? })
    }

    /// The refusal of the level with this number, in the terms of whoever asked.
    pub(super) fn error(&self, number: usize, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Sizes(source) => {
                let capacity = self.capacity.filter(|_| number == 0);
                Error::Filter { kind: self.kind, capacity, rate: self.rate, source }
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
        planned.max(self.lowest_of(number))
    }

    /// The lowest rate that the level can have.
    fn lowest_of(&self, number: usize) -> f64 {
        self.kind.lowest_rate(self.items_of(number).unwrap_or(u64::MAX)) * ROUNDING
    }

    /// What the levels before leave of the rate.
    fn left_for(&self, number: usize) -> f64 {
        self.rate * ROUNDING - (0..number).map(|number| self.rate_of(number)).sum::<f64>()
    }
}

/// The items of one shard when all have `capacity`: its part and so many standard deviations.
fn share_of(capacity: u64, spare: f64) -> u64 {
    let part = capacity.div_ceil(u64::from(SHARDS));
    part + (spare * (part as f64).sqrt()) as u64 + 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::lowest_rate;

    fn levels(kind: Kind, capacity: Option<u64>, rate: f64) -> Levels {
        Levels::new(&Options { kind, capacity, rate, ..Options::default() })
            .expect("a small filter")
    }

    #[test]
    fn all_slices_together_stay_below_the_rate() {
        for (kind, (capacity, rate)) in Kind::ALL.into_iter().flat_map(|kind| {
            [(None, 1e-6), (Some(1_000_000), 1e-6), (Some(1), 0.1), (None, 0.5)]
                .map(|case| (kind, case))
        }) {
            let levels = levels(kind, capacity, rate);
            // As far as it grows.
            let grows = (0..LEVELS).take_while(|&number| levels.sizes(number).is_ok());
            let sum: f64 = grows.map(|number| levels.rate_of(number)).sum();
            assert!(sum <= rate * (1.0 + 1e-5) && sum > rate * 0.99, "{kind} {sum} {rate}");
            for number in 0..12 {
                let Level { items, geometry, .. } = levels.get(number).expect("small enough");
                assert!(geometry.false_positive_rate_at(items) <= levels.rate_of(number));
            }
        }
    }

    /// The items that all shards hold before a level is refused, and why it is.
    fn most(levels: &Levels) -> (u64, BuildError) {
        let number = (0..LEVELS).find(|&number| levels.sizes(number).is_err()).expect("an end");
        let items: u64 = (0..number).filter_map(|number| levels.items_of(number)).sum();
        (items * u64::from(SHARDS), levels.sizes(number).expect_err("found so"))
    }

    /// A rate near what the kind can give ends the growth, with the error that says so, and no sooner
    /// than it must.
    #[test]
    fn a_very_low_rate_ends_the_growth() {
        for (kind, rate, least) in [
            (Kind::Blocked, 1e-12, 30_000_000),
            (Kind::Bloom, 1e-12, 30_000_000),
            (Kind::Cuckoo, 1e-6, 10_000_000_000),
            (Kind::Cuckoo, 1e-7, 1_000_000_000),
            (Kind::Cuckoo, 1e-8, 30_000_000),
            (Kind::Cuckoo, 1e-9, 500_000),
        ] {
            let (items, refusal) = most(&levels(kind, None, rate));
            assert!(items > least, "{kind} {rate:e}: {items} items");
            assert!(lowest_rate(refusal).is_some(), "{kind} {rate:e}: {refusal:?}");
            println!("{kind} {rate:e}: {items} items, then: {refusal}");
        }
    }

    /// Where the rate leaves nothing for a second slice, the first has room for what chance may bring.
    #[test]
    fn a_slice_that_stays_alone_has_room_to_spare() {
        let first = |rate| {
            let levels = levels(Kind::Cuckoo, Some(6_400_000), rate);
            (levels.get(0).expect("small enough").items, levels.sizes(1).is_ok())
        };
        assert_eq!(first(1e-8), (100_000 + 4 * 316 + 4, true));
        assert_eq!(first(1e-9), (100_000 + 8 * 316 + 5, false));
    }

    #[test]
    fn each_slice_doubles_the_chain() {
        let levels = levels(Kind::Blocked, None, 1e-6);
        let items: Vec<u64> =
            (0..5).map(|number| levels.get(number).expect("small enough").items).collect();
        assert_eq!(items, [16_384, 16_384, 32_768, 65_536, 131_072]);
    }

    #[test]
    fn two_filters_need_twice_the_memory() {
        let needed = |repeated| {
            let capacity = Some(10_000_000_000_000);
            match Levels::new(&Options { capacity, repeated, ..Options::default() }) {
                Err(Error::Memory { needed, .. }) => needed,
                other => panic!("{:?}", other.map(|_| "there is memory for it")),
            }
        };
        assert_eq!(needed(true), 2 * needed(false));
    }

    #[test]
    fn growth_ends_with_an_error() {
        let levels = levels(Kind::Blocked, None, 1e-6);
        let too_large = Refusal::Sizes(BuildError::TooLarge);
        assert_eq!(levels.get(LEVELS).expect_err("beyond the last"), too_large);
        assert!((0..LEVELS).any(|number| levels.get(number).is_err()));
    }
}
