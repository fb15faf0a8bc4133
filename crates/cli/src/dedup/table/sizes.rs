//! The first size of each shard's table, computed from what a run promises.
//!
//! The number of positions decides how often items are confused. It is chosen once and does not
//! change when a table doubles. So a table has enough positions from the start, for the items that
//! it may hold later.

use std::sync::{Mutex, PoisonError};

use super::item::Positions;
use super::line::{Layout, Line};
use super::memory::Memory;
use crate::dedup::options::Options;
use crate::dedup::shard::items_per_shard;
use crate::error::Error;
use crate::memory::{check, left};
use crate::pipeline::SHARDS;

/// The highest probability that two items of a run are confused. With it, 10^8 items, which are
/// 5·10^15 pairs, lose 0.005 items, and an item that follows 5·10^8 others is lost with a
/// probability of 5·10^-10: half of what is promised.
const CONFUSION: f64 = 1e-18;

/// The part of the slots that is filled before a table doubles. With 0.98 tables take 2 % less
/// memory. MEASURED: 10 million URLs, 5.5 million of them distinct, take 0.75 s of CPU without a
/// capacity and 0.68 s with it; at 0.98, 0.81 and 0.70 s; at 0.99, 0.85 and 0.71 s (Zen 5).
const LOAD: f64 = 0.96;

/// The lines of the smallest first table if the capacity is not known: one page.
const UNKNOWN_LINES: f64 = 64.0;
/// The bits of a rest in it, so that there are 8.4 million positions.
const UNKNOWN_BITS: u32 = 17;

/// The standard deviations by which a table has room for more than its part of a known capacity.
/// With 4, one run in 500 has a table that doubles.
const SPARE: f64 = 4.0;

/// The memory available is read each time that tables have taken these bytes: it takes some
/// microseconds.
const STEP: u64 = 1 << 20;

/// The bytes of all tables so far, also of those that were freed.
static TAKEN: Mutex<u64> = Mutex::new(0);

/// The size of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) lines: u64,
    pub(super) layout: Layout,
}

impl Size {
    /// The positions: `2^bits` of them for each line.
    pub(super) fn positions(self) -> Positions {
        Positions(self.lines << self.layout.bits)
    }

    /// The number of items that the table takes before it doubles.
    #[inline]
    pub(super) fn room(self) -> u64 {
        (self.lines as f64 * f64::from(self.layout.slots) * LOAD) as u64
    }

    pub(super) fn bytes(self) -> u64 {
        self.lines.saturating_mul(size_of::<Line>() as u64)
    }

    /// Allocates the lines of an empty table.
    pub(super) fn allocate(self) -> Result<Memory, Error> {
        let needed = self.bytes();
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = *taken / STEP;
        *taken = taken.saturating_add(needed);
        let is_next = *taken / STEP != steps;
        drop(taken);
        if is_next {
            check(needed)?;
        } else if left().is_some_and(|left| needed > left) {
            return Err(Error::Memory { needed, available: None });
        }
        Memory::zeroed(self.lines).ok_or(Error::Memory { needed, available: None })
    }

    /// The size after the next doubling: a bit of each rest becomes a bit of the number of its
    /// line.
    pub(super) fn doubled(self) -> Result<Self, Error> {
        let bits = self.layout.bits.checked_sub(1).ok_or(Error::Outgrown)?;
        Ok(Self { lines: 2 * self.lines, layout: Layout::of_bits(bits) })
    }
}

/// The first sizes of all tables, by shard.
pub(in crate::dedup) struct Sizes(Vec<Size>);

impl Sizes {
    /// Computes the sizes and checks that there is memory for all tables.
    pub(in crate::dedup) fn new(options: &Options) -> Result<Self, Error> {
        let sizes = Self::of_capacity(options.capacity);
        let bytes = sizes.0.iter().fold(0_u64, |sum, size| sum.saturating_add(size.bytes()));
        check(bytes.saturating_mul(if options.repeated { 2 } else { 1 }))?;
        Ok(sizes)
    }

    fn of_capacity(capacity: Option<u64>) -> Self {
        let size = |shard| match capacity {
            Some(capacity) => known(items_per_shard(capacity, SPARE)),
            None => unknown(shard),
        };
        Self((0..SHARDS).map(size).collect())
    }

    /// The first size of a shard's table.
    pub(super) fn first(&self, shard: usize) -> Size {
        self.0[shard]
    }

    /// The expected number of items that were taken for others, if the tables contain these numbers
    /// of items, in the order of the shards.
    ///
    /// A new item is lost if the table confuses it with one that it contains. So the expectation is
    /// the number of pairs times the probability for a pair, however often the table has doubled in
    /// the meantime.
    pub(in crate::dedup) fn lost(&self, items: impl Iterator<Item = u64>) -> f64 {
        let lost = items.zip(&self.0).map(|(items, size)| {
            let items = items as f64;
            items * (items - 1.0).max(0.0) / 2.0 * size.positions().confusion()
        });
        lost.fold(0.0, |sum, lost| sum + lost)
    }
}

/// The smallest table for this number of items that has enough positions.
fn known(items: u64) -> Size {
    // The fewer slots a line has, the more bits each rest gets, and the more positions there are.
    let mut sizes = Layout::all().map(|layout| {
        let lines = items as f64 / (f64::from(layout.slots) * LOAD);
        Size { lines: lines as u64 + 1, layout }
    });
    let enough = |size: &Size| {
        let fits = size.lines.leading_zeros() > size.layout.bits;
        fits && size.positions().confusion() / f64::from(SHARDS) <= CONFUSION
    };
    sizes.find(enough).expect("one line of the last layout has enough positions")
}

/// The first table of a shard if the capacity is not known. From each shard to the next it is
/// larger by a factor of `2^(1/64)`, so the tables double one after the other. If all doubled at
/// the same time, half of all memory would be empty then.
fn unknown(shard: u32) -> Size {
    let lines = UNKNOWN_LINES * (f64::from(shard) / f64::from(SHARDS)).exp2();
    Size { lines: lines as u64, layout: Layout::of_bits(UNKNOWN_BITS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any capacity, right or wrong, up to 10^15, and none.
    fn capacities() -> impl Iterator<Item = Option<u64>> {
        let known = core::iter::successors(Some(1_u64), |last| Some(last + last.div_ceil(9)));
        core::iter::once(None)
            .chain(known.take_while(|&last| last < 1_000_000_000_000_000).map(Some))
    }

    /// The expected losses with this number of items, spread evenly.
    fn lost(sizes: &Sizes, items: u64) -> f64 {
        sizes.lost((0..SHARDS).map(|_| items / u64::from(SHARDS)))
    }

    /// This is what the README promises, whether the capacity is known, unknown or wrong.
    #[test]
    fn losses_stay_below_the_promise() {
        for capacity in capacities() {
            let sizes = Sizes::of_capacity(capacity);
            assert!(lost(&sizes, 100_000_000) < 0.01 / 1.9, "{capacity:?}");
            // The losses among the next 64,000 items.
            let next = lost(&sizes, 500_064_000) - lost(&sizes, 500_000_000);
            assert!(next / 64_000.0 < 1e-9 / 1.9, "{capacity:?}: {next:e}");
        }
        assert!(lost(&Sizes::of_capacity(None), 100_000_000) < 0.0032);
    }

    /// The expectation for all pairs is the sum of those for one item after another.
    #[test]
    fn losses_are_those_of_all_pairs() {
        let sizes = Sizes::of_capacity(None);
        assert_eq!(sizes.lost([0, 1].into_iter()).to_bits(), 0.0_f64.to_bits());
        let [first, last] = [0, 63].map(|shard| sizes.first(shard).positions().confusion());
        assert!(last < first);
        let items = (0..SHARDS).map(|shard| match shard {
            0 => 5,
            63 => 7,
            _ => 1,
        });
        let expected =
            first * f64::from((0..5).sum::<u32>()) + last * f64::from((0..7).sum::<u32>());
        assert!((sizes.lost(items) / expected - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_known_capacity_fits_and_costs_little() {
        for capacity in capacities().flatten() {
            let size = known(items_per_shard(capacity, SPARE));
            assert!(size.room() >= items_per_shard(capacity, SPARE) - 1, "{capacity}: {size:?}");
            let bits = size.bytes() as f64 * 8.0 * f64::from(SHARDS) / capacity as f64;
            let most = match capacity {
                0..10_000 => continue,
                10_000..1_000_000 => 85.0,
                1_000_000..5_400_000 => 50.1,
                5_400_000..46_000_000 => 46.0,
                _ => 42.0,
            };
            assert!(bits < most, "{capacity}: {bits}");
        }
    }

    /// At any time, a few tables are about to double and a few have just doubled.
    #[test]
    fn tables_of_unknown_capacity_double_one_after_the_other() {
        let mut rooms: Vec<u64> = (0..SHARDS).map(|shard| unknown(shard).room()).collect();
        rooms.push(unknown(0).doubled().expect("it has bits left").room());
        let steps: Vec<f64> =
            rooms.windows(2).map(|pair| pair[1] as f64 / pair[0] as f64).collect();
        assert!(steps.iter().all(|&step| step < 1.04), "{steps:?}");
    }

    #[test]
    fn growth_ends_with_an_error() {
        let mut size = unknown(0);
        while let Ok(next) = size.doubled() {
            assert!(
                next.layout.slots >= size.layout.slots && next.positions().0 == size.positions().0
            );
            size = next;
        }
        assert!(matches!(size.doubled(), Err(Error::Outgrown)));
        assert!(size.room() * u64::from(SHARDS) > 8_000_000_000, "{size:?}");
    }

    #[test]
    fn tables_too_large_for_the_machine_are_an_error() {
        let needed = |capacity, repeated| {
            let options = Options { capacity: Some(capacity), repeated, ..Options::default() };
            match Sizes::new(&options) {
                Err(Error::Memory { needed, .. }) => needed,
                other => panic!("{:?}", other.map(|_| "no error")),
            }
        };
        let one = needed(10_000_000_000_000, false);
        assert_eq!(needed(10_000_000_000_000, true), 2 * one);
        assert!(needed(u64::MAX, false) > one);
    }
}
