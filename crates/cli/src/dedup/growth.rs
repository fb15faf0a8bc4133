//! How the filters of all shards grow: a scalable Bloom filter, with sizes that are computed once
//! for all shards.
//!
//! A scalable Bloom filter is a chain of filters of growing capacity and falling rate: Almeida,
//! Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", Information Processing Letters 101
//! (2007). Inserts go to the newest filter, a query goes to all of them, and when the newest one is
//! full, another is added. Here each filter of the chain is called a slice (in the paper, a slice
//! is a part of one filter).
//!
//! The false-positive rate of a chain is at most the sum of the rates of its slices. Each slice
//! after the second gets [`RATIO`] times the rate of the one before, so the sum stays below the
//! rate asked for, however long the chain.
//!
//! It differs from the paper in this: the slices may be of any [`Kind`], cuckoo filters too; a new
//! slice holds as many items as all before it together, so the second slice is as large as the
//! first; and the first slice's share of the rate is chosen apart from the series.
//!
//! - With a known capacity the first slice gets nearly the whole rate, since it is expected to be
//!   the last. Giving a tenth of the rate away costs 0.2 bits per item.
//! - Without one the first slice is small, and its share of the rate matters little: it is `1 -
//!   RATIO`, the first term of the series.
//!
//! If the planned rate of a slice is lower than its kind can reach at its size, the slice gets the
//! lowest rate that the kind can reach, as long as the sum still stays below the rate asked for. So
//! a very low rate ends the growth only where no filter could keep it.

use std::sync::OnceLock;

use tamis::BuildError;

use super::options::Options;
use super::shard::items_per_shard;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::kind::Kind;
use crate::memory;
use crate::pipeline::SHARDS;

/// The rate of a slice, divided by the rate of the slice before.
const RATIO: f64 = 0.7;

/// The first slice's share of the rate: with a known capacity, and without one.
const SHARE_KNOWN: f64 = 0.9;
const SHARE_UNKNOWN: f64 = 1.0 - RATIO;

/// The items that the first slices of all shards hold together when the capacity is not known.
/// MEASURED: 10 million lines, 5.5 million of them distinct, take 0.85 s of CPU and 57 MiB; with a
/// quarter of the items, which makes two more slices to query, 1.04 s and 61 MiB, on a shared Xeon
/// (Sapphire or Emerald Rapids). The price is 6 MiB for an input of few lines, instead of 2 MiB.
const UNKNOWN: u64 = 1 << 20;

/// An upper bound on the slices of a chain: more doublings than a filter of 2^64 items takes.
const MAX_SLICES: usize = 60;

/// The factor by which rounding may increase a rate.
const ROUNDING: f64 = 1.000_001;

/// The standard deviations by which a first slice exceeds its part of a known capacity. With 4, one
/// filter in 500 has a shard that outgrows its first slice.
const SPARE: f64 = 4.0;
/// The same if the rate leaves no second slice: with 8, practically no shard outgrows its first
/// slice.
const SPARE_ALONE: f64 = 8.0;

/// The capacity and the sizes of the slices with the same number, in all shards.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceSpec {
    /// The number of items that a slice takes.
    pub(super) items: u64,
    pub(super) geometry: Geometry,
}

/// The sizes of all slices, each computed when the first shard needs it.
pub(super) struct Growth {
    kind: Kind,
    /// The items of the first slice of a shard.
    first: u64,
    /// The first slice's share of the rate.
    share: f64,
    rate: f64,
    capacity: Option<u64>,
    /// The number of chains, over all shards.
    chains: u64,
    solved: [OnceLock<Result<SliceSpec, Refusal>>; MAX_SLICES],
}

/// Why there is no slice with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// No filter has these sizes.
    Sizes(BuildError),
    /// The slices of all shards together would need more memory than there is.
    Memory { needed: u64, available: u64 },
}

impl Growth {
    /// Computes the first slice and checks that there is memory for it in all shards.
    pub(super) fn new(kind: Kind, rate: f64, options: &Options) -> Result<Self, Error> {
        let (first, share) = match options.capacity {
            Some(capacity) => (items_per_shard(capacity, SPARE), SHARE_KNOWN),
            None => (UNKNOWN / u64::from(SHARDS), SHARE_UNKNOWN),
        };
        let capacity = options.capacity;
        let solved = [const { OnceLock::new() }; MAX_SLICES];
        let chains = u64::from(SHARDS) * if options.repeated { 2 } else { 1 };
        let mut growth = Self { kind, first, share, rate, capacity, chains, solved };
        // If the rate leaves no second slice, the first one has to be enough for every shard.
        if let Some(capacity) = capacity
            && growth.left_for(1) < growth.lowest_of(1)
        {
            growth.first = items_per_shard(capacity, SPARE_ALONE);
        }
        growth.get(0).map_err(|refusal| growth.error(0, refusal))?;
        Ok(growth)
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// The slice with this number, from 0, if there is memory for it in all shards: they need it at
    /// nearly the same time.
    pub(super) fn get(&self, number: usize) -> Result<SliceSpec, Refusal> {
        let too_large = Refusal::Sizes(BuildError::TooLarge);
        *self.solved.get(number).ok_or(too_large)?.get_or_init(|| {
            let spec = self.sizes(number).map_err(Refusal::Sizes)?;
            let needed = spec.geometry.size_in_bytes().saturating_mul(self.chains);
            match memory::available() {
                Some(available) if needed > available => Err(Refusal::Memory { needed, available }),
                _ => Ok(spec),
            }
        })
    }

    /// The slice with this number, whether or not there is memory for it.
    fn sizes(&self, number: usize) -> Result<SliceSpec, BuildError> {
        let items = self.items_of(number).ok_or(BuildError::TooLarge)?;
        // If nothing is left of the rate, ask for the smallest positive one: the kind rejects it as
        // too low.
        let left = self.left_for(number).max(f64::MIN_POSITIVE);
        let rate = self.rate_of(number).min(left);
        Ok(SliceSpec { items, geometry: self.kind.geometry(items, rate)? })
    }

    /// The error to report for a slice that there is not, in terms of the options that the user
    /// gave.
    pub(super) fn error(&self, number: usize, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Sizes(source) => {
                let capacity = self.capacity.filter(|_| number == 0);
                Error::Filter { kind: self.kind.into(), capacity, rate: self.rate, source }
            }
            Refusal::Memory { needed, available } => {
                Error::Memory { needed, available: Some(available) }
            }
        }
    }

    /// The items of a slice: those of all slices before it together, which is 1, 1, 2, 4, 8, …
    /// times the first.
    fn items_of(&self, number: usize) -> Option<u64> {
        self.first.checked_mul(1 << number.saturating_sub(1))
    }

    /// The rate of a slice: its term of the series, but no less than its kind can reach.
    fn rate_of(&self, number: usize) -> f64 {
        // What the first slice leaves is the sum of a geometric series, `(1 - RATIO) · RATIO^i`
        // over all `i`.
        let planned = match number.checked_sub(1) {
            None => self.rate * self.share,
            Some(later) => {
                self.rate * (1.0 - self.share) * (1.0 - RATIO) * RATIO.powi(later as i32)
            }
        };
        planned.max(self.lowest_of(number))
    }

    /// The lowest rate that a slice can reach.
    fn lowest_of(&self, number: usize) -> f64 {
        self.kind.lowest_rate(self.items_of(number).unwrap_or(u64::MAX)) * ROUNDING
    }

    /// The part of the rate that the slices before this one leave.
    fn left_for(&self, number: usize) -> f64 {
        self.rate * ROUNDING - (0..number).map(|number| self.rate_of(number)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::lowest_rate;

    fn growth(kind: Kind, capacity: Option<u64>, rate: f64) -> Growth {
        Growth::new(kind, rate, &Options { capacity, ..Options::default() })
            .expect("a small filter")
    }

    #[test]
    fn all_slices_together_stay_below_the_rate() {
        for (kind, (capacity, rate)) in Kind::ALL.into_iter().flat_map(|kind| {
            [(None, 1e-6), (Some(1_000_000), 1e-6), (Some(1), 0.1), (None, 0.5)]
                .map(|case| (kind, case))
        }) {
            let growth = growth(kind, capacity, rate);
            // All slices until the growth ends.
            let grows = (0..MAX_SLICES).take_while(|&number| growth.sizes(number).is_ok());
            let sum: f64 = grows.map(|number| growth.rate_of(number)).sum();
            assert!(sum <= rate * (1.0 + 1e-5) && sum > rate * 0.99, "{kind} {sum} {rate}");
            for number in 0..12 {
                let SliceSpec { items, geometry, .. } = growth.get(number).expect("small enough");
                assert!(geometry.false_positive_rate_at(items) <= growth.rate_of(number));
            }
        }
    }

    /// The items that all shards hold when the growth ends, and why it ends.
    fn most(growth: &Growth) -> (u64, BuildError) {
        let number = (0..MAX_SLICES).find(|&number| growth.sizes(number).is_err()).expect("an end");
        let items: u64 = (0..number).filter_map(|number| growth.items_of(number)).sum();
        (items * u64::from(SHARDS), growth.sizes(number).expect_err("`find` selected an error"))
    }

    /// A rate near the lowest that the kind can reach ends the growth, with the error that says so,
    /// and no sooner than necessary.
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
            let (items, refusal) = most(&growth(kind, None, rate));
            assert!(items > least, "{kind} {rate:e}: {items} items");
            assert!(lowest_rate(refusal).is_some(), "{kind} {rate:e}: {refusal:?}");
            println!("{kind} {rate:e}: {items} items, then: {refusal}");
        }
    }

    /// If the rate leaves nothing for a second slice, the first has more room for shards that get
    /// more than their part.
    #[test]
    fn a_first_slice_without_a_second_is_larger() {
        // Which rate that is depends on the buckets that the processor supports.
        let lowest = Kind::Cuckoo.lowest_rate(100_000);
        let first = |factor| {
            let growth = growth(Kind::Cuckoo, Some(6_400_000), factor * lowest);
            (growth.get(0).expect("small enough").items, growth.sizes(1).is_ok())
        };
        assert_eq!(first(25.0), (100_000 + 4 * 316 + 4, true));
        assert_eq!(first(2.5), (100_000 + 8 * 316 + 5, false));
    }

    #[test]
    fn each_slice_doubles_the_chain() {
        let growth = growth(Kind::Blocked, None, 1e-6);
        let items: Vec<u64> =
            (0..5).map(|number| growth.get(number).expect("small enough").items).collect();
        assert_eq!(items, [16_384, 16_384, 32_768, 65_536, 131_072]);
    }

    #[test]
    fn two_filters_need_twice_the_memory() {
        let needed = |repeated| {
            let capacity = Some(10_000_000_000_000);
            let options = Options { capacity, repeated, ..Options::default() };
            match Growth::new(Kind::Blocked, 1e-6, &options) {
                Err(Error::Memory { needed, .. }) => needed,
                other => panic!("{:?}", other.map(|_| "no error")),
            }
        };
        assert_eq!(needed(true), 2 * needed(false));
    }

    #[test]
    fn growth_ends_with_an_error() {
        let growth = growth(Kind::Blocked, None, 1e-6);
        let too_large = Refusal::Sizes(BuildError::TooLarge);
        assert_eq!(growth.get(MAX_SLICES).expect_err("beyond the last"), too_large);
        assert!((0..MAX_SLICES).any(|number| growth.get(number).is_err()));
    }
}
