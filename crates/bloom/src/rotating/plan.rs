//! The arithmetic of rotation: which slots live, how large a generation is, and when a portion of
//! upkeep is due.

use core::time::Duration;

/// Fewest and most live generations.
pub(crate) const MIN_GENERATIONS: u32 = 2;
pub(crate) const MAX_GENERATIONS: u32 = 16;

/// Most slots of an array: the live generations and the spare.
pub(crate) const MAX_SLOTS: usize = MAX_GENERATIONS as usize + 1;

/// Most stripes. A writer holds one for a few loads and atomic operations in lines that it has just
/// read. If 64 threads do nothing but insert new items, each finds its stripe held with a
/// probability of 22 %; with 1,024 stripes 6 %.
///
/// MEASURED (ns of CPU time per insert of a new item, a window of 1 million, 1, 2 and 64 threads on
/// two cores): 50, 46 and 52, in batches 43, instead of 52, 52 and 52, and 45, with 1,024 stripes,
/// and 50, 54 and 57, and 46, with 4,096; in a window of 20 million, which is larger than the
/// caches, 204, 203 and 207 (Zen 5). 256 lines fit into the first cache.
const MAX_STRIPES: u64 = 256;

/// Items of a generation per stripe, so that a small filter has few.
const ITEMS_PER_STRIPE: u64 = 128;

/// The part of a generation that the stripes may hold uncounted.
const UNCOUNTED: u64 = 64;

/// Most items that a stripe counts before it adds them to the shared counter.
const MAX_PORTION: u64 = 64;

/// Upkeep is done when a generation is half full.
const UPKEEP_SPEED: u64 = 2;

/// Portions of upkeep per generation of a window in time.
pub(crate) const TICKS: u64 = 64;

/// The number of rotations and, so that no operation divides, the slot of the current generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(u64);

impl State {
    const SLOT_BITS: u32 = 8;

    /// The number of rotations that a state cannot reach. At a rotation per nanosecond that takes
    /// two years.
    pub(crate) const ROTATIONS: u64 = 1 << (64 - Self::SLOT_BITS);

    /// Returns the state after a number of rotations below [`ROTATIONS`](Self::ROTATIONS).
    pub(crate) const fn after(rotations: u64, slots: usize) -> Self {
        Self(rotations << Self::SLOT_BITS | (rotations % slots as u64))
    }

    pub(crate) const fn of_word(word: u64) -> Self {
        Self(word)
    }

    pub(crate) const fn word(self) -> u64 {
        self.0
    }

    pub(crate) const fn rotations(self) -> u64 {
        self.0 >> Self::SLOT_BITS
    }

    /// Returns the slot of the current generation.
    #[inline(always)]
    pub(crate) const fn current(self) -> usize {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as usize
    }

    /// Returns the slot that holds no live generation.
    #[inline(always)]
    pub(crate) const fn spare(self, slots: usize) -> usize {
        let next = self.current() + 1;
        if next == slots { 0 } else { next }
    }

    /// Returns the slot of the generation that is `age` rotations old.
    pub(crate) const fn slot_of_age(self, age: usize, slots: usize) -> usize {
        (self.current() + slots - age) % slots
    }

    /// Returns the slots of live generations, as bits.
    #[inline(always)]
    pub(crate) const fn live(self, slots: usize) -> u32 {
        ((1 << slots) - 1) & !(1 << self.spare(slots))
    }

    pub(crate) const fn next(self, slots: usize) -> Self {
        let rotations = (self.rotations() + 1) % Self::ROTATIONS;
        Self(rotations << Self::SLOT_BITS | self.spare(slots) as u64)
    }
}

/// The sizes of a rotating filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// New items after which a window by items rotates.
    pub(crate) items: u64,
    /// Live generations.
    pub(crate) generations: u32,
    /// Locks for writers.
    pub(crate) stripes: u64,
    /// New items that a stripe counts before it adds them to the shared counter.
    pub(crate) portion: u64,
    /// Nanoseconds of a generation, if the window is one of time.
    pub(crate) length: Option<u64>,
}

impl Plan {
    /// Returns the sizes for a window of `capacity` items, or for that number of items in a span of
    /// time.
    pub(crate) fn new(capacity: u64, span: Option<Duration>, generations: u32) -> Self {
        let full = u64::from(generations - 1);
        let items = capacity.max(1).div_ceil(full);
        let stripes = (items / ITEMS_PER_STRIPE).clamp(1, MAX_STRIPES);
        let stripes = 1 << stripes.ilog2();
        let portion = (items / UNCOUNTED / stripes + 1).min(MAX_PORTION);
        let length = span.map(|span| nanoseconds(span).div_ceil(full).max(1));
        Self { items, generations, stripes, portion, length }
    }

    /// Returns the number of items that a generation is sized for: with those that the stripes have
    /// not counted yet.
    pub(crate) fn sized_for(&self) -> u64 {
        self.items.saturating_add(self.stripes * (self.portion - 1))
    }

    pub(crate) const fn slots(&self) -> usize {
        self.generations as usize + 1
    }

    /// Returns the share of `units` of upkeep that must be done after `total` of the new items of a
    /// generation.
    pub(crate) fn due_after(&self, total: u64, units: u64) -> u64 {
        share(total, self.items, units)
    }

    /// Returns the share of `units` of upkeep that must be done after `elapsed` of a generation of
    /// `length` nanoseconds.
    pub(crate) fn due_at(elapsed: u64, length: u64, units: u64) -> u64 {
        share(elapsed, length, units)
    }
}

fn share(done: u64, of: u64, units: u64) -> u64 {
    let share = u128::from(units) * u128::from(done) * u128::from(UPKEEP_SPEED) / u128::from(of);
    u64::try_from(share).unwrap_or(u64::MAX).min(units)
}

/// The highest rate that the generations are sized for. An item that is a false positive is not
/// stored and not counted, so at high rates a window by items would rotate late, or never.
///
/// MEASURED: with two generations of eight words per item, a generation of a window of 30,000 items
/// is full after 1.25 times its number of new items at a rate of 30 %, and at 60 % not after 10
/// million (any machine: counted).
const HIGHEST_RATE: f64 = 0.3;

/// Returns the rate of one generation at which `generations` full ones have at most this rate
/// together. An item is stored in one of them only if the others lack it, so they are not
/// independent: the rates add up.
pub(crate) fn rate_per_generation(rate: f64, generations: u32) -> f64 {
    // Not 0: of that rate, no error could say which one is too low.
    (rate.min(HIGHEST_RATE) / f64::from(generations)).max(f64::MIN_POSITIVE)
}

/// Returns the rate of that many full generations together, each of this rate; 1, which says that
/// no rate is possible, if it is above the highest rate.
pub(crate) fn rate_of_generations(each: f64, generations: u32) -> f64 {
    let highest = rate_per_generation(HIGHEST_RATE, generations);
    if each <= highest { each * f64::from(generations) } else { 1.0 }
}

/// Returns a time or span in nanoseconds; one of more than 584 years counts as the largest.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The error has rates of the filter, not those of a generation.
    #[test]
    fn the_lowest_rate_is_one_that_can_be_built() {
        let build = |rate| {
            let builder = crate::RotatingBloomFilter::<u64>::builder().capacity(6_000_000);
            builder.false_positive_rate(rate).geometry()
        };
        let Err(crate::BuildError::RateTooLow { rate, lowest }) = build(1.11e-13) else {
            panic!("the rate is too low");
        };
        assert_eq!(rate, 1.11e-13);
        assert!(build(1.0001 * lowest).is_ok() && build(0.9999 * lowest).is_err());
    }

    /// If no filter has the capacity, the error names no rate.
    #[test]
    fn the_lowest_rate_is_1_if_none_can_be_built() {
        let (mut none, mut some) = (0, 0);
        for (capacity, generations) in
            (40..64).flat_map(|power| [2, 7, 16].map(|generations| (1 << power, generations)))
        {
            let build = |rate| {
                let builder = crate::RotatingBloomFilter::<u64>::builder().capacity(capacity);
                builder.generations(generations).false_positive_rate(rate).geometry()
            };
            for rate in [1e-9, 0.01, 0.29, 0.99] {
                let Err(crate::BuildError::RateTooLow { lowest, .. }) = build(rate) else {
                    continue;
                };
                assert_eq!(build(1.0001 * lowest.min(0.99)).is_ok(), lowest < 1.0, "{capacity}");
                if lowest < 1.0 { some += 1 } else { none += 1 }
            }
        }
        assert!(none > 5 && some > 5, "{none} {some}");
    }

    proptest! {
        /// The slots follow each other in a circle, and the spare is the only one that is not live.
        #[test]
        fn generations_take_slots_in_turn(rotations in 0..1_u64 << 50, slots in 3..MAX_SLOTS + 1) {
            let state = State::after(rotations, slots);
            prop_assert_eq!(state.rotations(), rotations);
            prop_assert_eq!(state.next(slots), State::after(rotations + 1, slots));
            let live = (0..slots - 1).fold(0, |live, age| live | 1_u32 << state.slot_of_age(age, slots));
            prop_assert_eq!(live, state.live(slots));
            prop_assert_eq!(state.live(slots).count_ones() as usize, slots - 1);
            prop_assert_eq!(state.live(slots) >> state.spare(slots) & 1, 0);
        }

        /// Full generations cover the window, and the stripes hold little uncounted.
        #[test]
        fn a_plan_covers_its_window(capacity in 0..1_u64 << 50, generations in MIN_GENERATIONS..=MAX_GENERATIONS) {
            let plan = Plan::new(capacity, None, generations);
            prop_assert!(plan.items * u64::from(generations - 1) >= capacity);
            prop_assert!(plan.sized_for() - plan.items <= plan.items / UNCOUNTED);
            prop_assert!(plan.stripes.is_power_of_two());
        }

        /// Upkeep is done when half of the generation is, and never runs backwards.
        #[test]
        fn upkeep_is_done_at_half(items in 1..1_u64 << 40, units in 1..1_u64 << 40, at in 0.0..1.0) {
            let plan = Plan { items, ..Plan::new(1, None, 2) };
            prop_assert_eq!(plan.due_after(items.div_ceil(2), units), units);
            let earlier = (items as f64 * at) as u64;
            prop_assert!(plan.due_after(earlier, units) <= plan.due_after(earlier + 1, units));
        }
    }

    #[test]
    fn the_rates_of_the_generations_make_the_rate() {
        for generations in [2, 3, 7, 16] {
            for rate in [1e-9, 1e-4, 0.01, 0.3] {
                let each = rate_per_generation(rate, generations);
                assert!((rate_of_generations(each, generations) / rate - 1.0).abs() < 1e-9);
            }
            // No rate is too high for a window that moves, and none is rounded to 0.
            let most = rate_per_generation(HIGHEST_RATE, generations);
            assert!(rate_per_generation(1.0 - f64::EPSILON, generations) == most);
            assert!(rate_per_generation(5e-324, generations) > 0.0);
        }
    }
}
