//! The sizes of the slices of a growing filter: pure arithmetic.
//!
//! Each slice holds three times the items of the one before, at a quarter of the rate that the
//! slices before it have left (Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters",
//! 2007). Each slice is sized for the actual layout, and is full when it holds the items it is
//! sized for. To wait until half of its bits are set would give a blocked layout several times its
//! rate.
//!
//! Only the first slice follows from the request alone. A later one follows from the slices that
//! the filter has, which in a loaded filter may be of any sizes.
//!
//! Of two slices the newer is three times as large: see [`GROWTH`]. A ratio of 0.75 between the
//! rates costs 0.38 bits per item for each doubling, after 2.9 bits at the start.
//!
//! # Where growth ends
//!
//! An absent item is found if its hash equals that of an item, or if all its bits are set in a
//! slice. Let there be `H` hashes, `n` items, and slices whose bits have the rates `p_i` when they
//! are full. Then the rate of the filter is at most
//!
//! ```text
//! n / H + Σ p_i
//! ```
//!
//! The first part depends on no size. So it is set aside at once, for the number `m` of items at
//! which growth ends, and the slices share the rest, `r − m / H`:
//!
//! * a slice gets a quarter of what is left of the rest;
//! * the last slice takes the items that are left of `m`, and all that is left of the rate, since
//!   none follows.
//!
//! A slice may close before it is full, at 31/32 of its capacity (`steps.rs`). The last slice has
//! room for what the others may lack, so that `m` items are reached with each slice within its
//! capacity. So up to 33/32 of `m` are set aside.
//!
//! The number `m` is what the builder was given, at most `r · H / 2`: half of the rate is left for
//! the bits, as in every filter. By default it is `r · H / 2` up to [`FREE`] items: 9.2 million at
//! 1e-12, 9.2 billion at 1e-9. To set half of the rate aside takes 9 % more bits, and at higher
//! rates hardly a filter reaches such sizes. So above, it is the geometric mean of both: 30 billion
//! at 1e-8, for 2 % more bits; 304 billion at 1e-6, for 0.2 %; 30 trillion at 1 %.

use libm::sqrt;
use tamis_core::BuildError;
use tamis_sync::LINE_BYTES;

use crate::geometry::{ALL_HASHES, Geometry, Kind};

/// The capacity of a slice divided by that of the slice before. With a larger factor fewer slices
/// have to be asked, but one that is just begun is a larger part of the memory.
///
/// MEASURED (ns per hit and per miss in batches, 100,000 items grown to 1, 3, 10 and 30 million at
/// 1 %): with a factor of 3 8.2 and 10.7, 9.3 and 12.7, 12.9 and 17.1, 17.2 and 23.3, at 20 to 22
/// bits per item; with 4 8.3 and 10.4, 10.3 and 13.2, 14.8 and 19.6 (not measured at 30 million),
/// at 32, 46 and 60 bits per item; with 2 10.5 and 12.6, 11.4 and 15.1, 19.7 and 24.4, 30.7 and
/// 41.9, at 24, 18, 23 and 34 bits per item; with 4 up to 1 MiB and then 2 8.4 and 10.3, 10.0 and
/// 12.7, 14.3 and 18.0, 24.7 and 30.5, at 33, 29, 20 and 31 bits per item (Zen 5, the machine
/// shared; before the queries had their present form).
const GROWTH: u64 = 3;

/// A slice leaves this part of the rate that the slices before it have left.
const LEFT: f64 = 0.75;

/// The least capacity of a first slice: a few kilobytes.
pub(crate) const LEAST_CAPACITY: usize = 1024;

/// The lines of a portion, the part of a new slice that one insert makes present: a page of 4 KiB.
///
/// MEASURED: while two writers insert 20 million items one by one, in pages of 4 KiB, p99.99 of an
/// insert is 4.7 µs; with portions of 16 KiB 8.9, of 64 KiB 24, and with nothing made present
/// ahead 20. In huge pages it is 2.5 to 3.5 µs with portions and without (Zen 5, shared; medians of
/// the runs that other programs disturbed least).
pub(crate) const PORTION_LINES: u64 = (4 << 10) / LINE_BYTES as u64;

/// The lines of a slice that one insert visits when the next slice is there: see `claim.rs`.
pub(crate) const VISIT_LINES: u64 = if cfg!(tamis_loom) { 1 } else { 32 };

/// Up to this number of items a filter grows by default until equal hashes make half of its rate.
const FREE: f64 = 1e10;

/// A slice takes its capacity, or up to this part less of it.
const LACK: u64 = 32;

/// A loaded filter may have slices that leave less than this part of its rate for the bits of
/// further ones. The slices of a plan leave more, but for the last one.
const LEAST_LEFT: f64 = 1.0 / 4096.0;

/// How a filter grows: what its slices follow from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The kind of the slices: arrays of lines. If it is a once kind, every slice has locks.
    pub(crate) kind: Kind,
    /// The capacity of the first slice.
    pub(crate) first: u64,
    /// The rate that the chain stays below.
    pub(crate) rate: f64,
    /// The most bytes that all slices take together.
    pub(crate) max_bytes: u64,
    /// The number of items that was given as the end of growth.
    pub(crate) max_capacity: Option<u64>,
    /// The number of items at which growth ends.
    pub(crate) end: u64,
    /// The number of hashes.
    pub(super) hashes: f64,
    /// Slices of this number of lines with one bit per item, each as large as the one before: for
    /// models.
    #[cfg(test)]
    pub(crate) tiny: Option<u64>,
}

/// What slices take together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// The capacity of the newest slice.
    newest: u64,
    /// The capacity of all slices.
    items: u64,
    /// The sum of the rates of their bits when they are full.
    rate: f64,
    bytes: u64,
}

impl Taken {
    /// Adds a slice that is newer than the others.
    fn with(self, (geometry, capacity): (Geometry, u64)) -> Self {
        Self {
            newest: capacity,
            items: self.items.saturating_add(capacity),
            rate: self.rate + geometry.rate_of_bits_at(capacity),
            bytes: self.bytes.saturating_add(geometry.size_in_bytes()),
        }
    }

    /// Returns what these slices take, oldest first.
    pub(crate) fn by(slices: impl Iterator<Item = (Geometry, u64)>) -> Self {
        slices.fold(Self::default(), Self::with)
    }
}

impl Plan {
    pub(crate) fn new(kind: Kind, first: u64, rate: f64, max_bytes: u64) -> Self {
        Self::of_hashes(ALL_HASHES, kind, first, rate, max_bytes)
    }

    /// Makes a plan for items that have this number of hashes.
    pub(super) fn of_hashes(
        hashes: f64,
        kind: Kind,
        first: u64,
        rate: f64,
        max_bytes: u64,
    ) -> Self {
        let mut plan = Self {
            kind,
            first,
            rate,
            max_bytes,
            max_capacity: None,
            end: 0,
            hashes,
            #[cfg(test)]
            tiny: None,
        };
        let most = plan.most();
        // A larger first slice is the only one.
        plan.end = most.min(sqrt(most * FREE)).max(most.min(first as f64)) as u64;
        plan
    }

    /// Lets growth end at this number of items, if one is given.
    pub(crate) fn ending_at(self, max_capacity: Option<u64>) -> Self {
        Self { max_capacity, end: max_capacity.unwrap_or(self.end), ..self }
    }

    /// Returns the number of items whose hashes make half of the rate.
    fn most(&self) -> f64 {
        0.5 * self.rate * self.hashes
    }

    /// Returns the part of the rate that equal hashes make at the end of growth.
    fn set_aside(&self) -> f64 {
        self.end as f64 * (1.0 + 1.0 / LACK as f64) / self.hashes
    }

    /// Returns the plan for a filter that has these slices, which may be of any sizes. If they
    /// leave too little of the rate, growth ends where equal hashes make half of that.
    pub(crate) fn resumed(self, taken: &Taken) -> Self {
        let plan = Self { end: self.end.min(self.most() as u64), ..self };
        let left = self.rate - taken.rate;
        if taken.items < plan.end && left - plan.set_aside() < LEAST_LEFT * self.rate {
            let more = 0.5 * (left * self.hashes - taken.items as f64);
            let end = taken.items.saturating_add((more * (1.0 - 1.0 / LACK as f64)) as u64);
            return Self { end, ..plan };
        }
        // The slices of a plan have a little more room than they need.
        let room = plan.end.saturating_add(plan.end / LACK);
        Self { end: if taken.items > room { taken.items } else { plan.end }, ..plan }
    }

    /// Returns the sizes of the first slice.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate or the capacity is out of range, or the slice exceeds the memory.
    pub(crate) fn first(&self) -> Result<(Geometry, u64), BuildError> {
        let rate = self.rate;
        // Written so that NaN is an error, too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let items = self.first.max(self.max_capacity.unwrap_or(0));
        if items as f64 > self.most() {
            return Err(BuildError::RateTooLow { rate, lowest: 2.0 * items as f64 / self.hashes });
        }
        let none = Taken::default();
        // The first slice has the capacity that was asked for.
        let is_last = self.first >= self.end;
        self.sized(self.first, self.share(&none, self.first, is_last), None, 0)
    }

    /// Returns the sizes of the slice after those that take `taken`, or `None` if growth has ended:
    /// it would have too many items, too low a rate, or too much memory.
    ///
    /// If the slice does not fit into the memory that is left, it becomes smaller, but at least
    /// half as large as the slice before it: a smaller one would cost every query more than it
    /// adds.
    pub(crate) fn next(&self, taken: &Taken) -> Option<(Geometry, u64)> {
        #[cfg(test)]
        if self.tiny.is_some() {
            return self.first().ok();
        }
        #[cfg(test)]
        tests::PLANNED.with(|planned| planned.set(planned.get() + 1));
        if taken.items >= self.end {
            return None;
        }
        // A loaded slice may have any capacity. That in the header needs no bits: if the next slice
        // followed from it, a small file could become large with one insert.
        let tripled = taken.newest.checked_mul(GROWTH)?;
        // What is left, and what the slices before may lack.
        let rest = self.end - (taken.items - taken.items / LACK);
        // The last slice is not smaller than the one before.
        let is_last = rest / 2 <= tripled;
        let capacity = if is_last { rest } else { tripled };
        let rate = self.share(taken, capacity, is_last);
        // Written so that NaN ends growth, too.
        if !(rate > 0.0 && rate < 1.0) {
            return None;
        }
        self.sized(capacity, rate, Some(taken.newest / 2), taken.bytes).ok()
    }

    /// Returns the rate for the bits of the slice after those that take `taken`.
    fn share(&self, taken: &Taken, capacity: u64, is_last: bool) -> f64 {
        let left = self.rate - taken.rate;
        if is_last {
            left - (taken.items as f64 + capacity as f64) / self.hashes
        } else {
            (1.0 - LEFT) * (left - self.set_aside())
        }
    }

    /// Returns the sizes of a slice, which has at least a capacity of `least` if it may be smaller
    /// than asked for.
    fn sized(
        &self,
        capacity: u64,
        rate: f64,
        least: Option<u64>,
        taken: u64,
    ) -> Result<(Geometry, u64), BuildError> {
        #[cfg(test)]
        if let Some(lines) = self.tiny {
            let bits = lines * tamis_sync::LINE_BITS;
            let words = if self.has_locks() { 2 } else { 1 };
            let geometry = Geometry::for_bits(self.kind, bits, words, Some(words))?;
            return Ok((geometry, self.first));
        }
        let geometry = self.geometry(capacity, rate)?;
        let left = self.max_bytes.saturating_sub(taken);
        let bytes = geometry.size_in_bytes();
        if bytes <= left {
            return Ok((geometry, capacity));
        }
        // The memory per item hardly depends on the number of items; 1 % less makes up for the
        // difference.
        let share = 0.99 * left as f64 / bytes as f64;
        let capacity = (capacity as f64 * share) as u64;
        if least.is_some_and(|least| capacity >= least.max(1)) {
            let geometry = self.geometry(capacity, rate)?;
            if geometry.size_in_bytes() <= left {
                return Ok((geometry, capacity));
            }
        }
        Err(BuildError::Alloc { bytes })
    }

    fn geometry(&self, items: u64, rate: f64) -> Result<Geometry, BuildError> {
        let geometry = Geometry::for_rate_of_bits(self.kind, items, rate, None)?;
        if self.has_locks() && !geometry.locked() {
            // Where items have one word, lines have no locks.
            return Geometry::for_rate_of_bits(self.kind, items, rate, Some(2));
        }
        Ok(geometry)
    }

    fn has_locks(&self) -> bool {
        self.kind == Kind::Line { once: true }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use core::cell::Cell;
    use std::vec::Vec;

    use super::*;

    std::thread_local! {
        /// The slices that this thread has planned after a first one.
        pub(crate) static PLANNED: Cell<u64> = const { Cell::new(0) };
    }

    const KIND: Kind = Kind::Line { once: false };
    const ONCE: Kind = Kind::Line { once: true };

    fn taken(slices: &[(Geometry, u64)]) -> Taken {
        Taken::by(slices.iter().copied())
    }

    /// Returns all slices that follow `slices`, and these.
    fn grown(plan: &Plan, mut slices: Vec<(Geometry, u64)>) -> Vec<(Geometry, u64)> {
        while let Some(next) = plan.next(&taken(&slices)) {
            slices.push(next);
        }
        slices
    }

    /// Returns all slices of a plan.
    fn all(plan: &Plan) -> Vec<(Geometry, u64)> {
        grown(plan, [plan.first().unwrap()].to_vec())
    }

    /// Returns the rate of a filter whose slices are full.
    fn rate(slices: &[(Geometry, u64)], hashes: f64) -> f64 {
        let of_bits = |&(geometry, capacity): &(Geometry, u64)| geometry.rate_of_bits_at(capacity);
        let items: u64 = slices.iter().map(|(_, capacity)| capacity).sum();
        slices.iter().map(of_bits).sum::<f64>() + items as f64 / hashes
    }

    /// Returns the least number of items of a filter whose slices are all but full, and the last
    /// one full.
    fn least(slices: &[(Geometry, u64)]) -> u64 {
        let (&(_, last), others) = slices.split_last().unwrap();
        last + others.iter().map(|&(_, capacity)| capacity - capacity / LACK).sum::<u64>()
    }

    /// At each stage of growth, to its end, the rates of all slices and the equal hashes add up to
    /// less than the request.
    #[test]
    fn a_filter_keeps_its_rate_to_the_end_of_growth() {
        for rate_asked in [0.5, 0.01, 0.0005, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-14] {
            let half = rate_asked * ALL_HASHES / 2.0;
            for (first, kind) in [(1024, KIND), (1 << 16, KIND), (3_000_000, ONCE), (1 << 16, ONCE)]
            {
                let plan = Plan::new(kind, first, rate_asked, u64::MAX);
                if first as f64 > half {
                    assert!(matches!(plan.first(), Err(BuildError::RateTooLow { .. })));
                    continue;
                }
                let slices = all(&plan);
                for stage in 1..=slices.len() {
                    assert!(
                        rate(&slices[..stage], ALL_HASHES) <= rate_asked,
                        "{first} {rate_asked}"
                    );
                }
                let (count, reached) = (slices.len(), rate(&slices, ALL_HASHES));
                println!(
                    "{rate_asked:e} from {first}: {count} slices to {}, rate {reached:.4e}",
                    plan.end
                );
                // All slices reach the end, although each but the last may lack a part.
                assert!(least(&slices) >= plan.end);
                let sum: u64 = slices.iter().map(|&(_, capacity)| capacity).sum();
                assert!(sum <= plan.end + plan.end / LACK);
                // The last slice uses what is left.
                assert!(reached > 0.97 * rate_asked, "{first} {rate_asked}: {reached}");
                // The end is half of what the hashes allow, up to 10^10 items.
                let expected = half.min((half * 1e10).sqrt());
                assert_eq!(plan.end, expected as u64, "{rate_asked}");
            }
        }
    }

    /// The slices before the last triple, and take three quarters of the rate that is left to the
    /// bits.
    #[test]
    fn slices_triple_and_leave_three_quarters() {
        for rate_asked in [0.1, 0.01, 1e-6, 1e-12] {
            let plan = Plan::new(KIND, 10_000, rate_asked, u64::MAX);
            let slices = all(&plan);
            let mut of_bits = rate_asked - plan.set_aside();
            for (index, &(geometry, capacity)) in slices.iter().enumerate().take(slices.len() - 1) {
                assert_eq!(capacity, 10_000 * GROWTH.pow(index as u32));
                let rate = geometry.rate_of_bits_at(capacity);
                // The search is for a whole number of lines, and a small slice has few.
                assert!(rate <= 0.25 * of_bits && rate > 0.93 * 0.25 * of_bits, "{index}: {rate}");
                of_bits -= rate;
            }
            let [.., (_, before), (_, last)] = slices[..] else { panic!("one slice") };
            assert!((before..=6 * before + 2).contains(&last), "{before} {last}");
        }
    }

    /// With a given end, growth ends there, and the filter needs no more bits than without.
    #[test]
    fn a_given_end_is_reached_with_fewer_bits() {
        let bits = |slices: &[(Geometry, u64)]| {
            slices.iter().map(|(geometry, _)| geometry.bits()).sum::<u64>()
        };
        for rate_asked in [0.01, 1e-6, 1e-9, 1e-12] {
            for end in [10_000, 10_001, 35_000, 70_000, 1_000_000, 9_000_000] {
                let plan = Plan::new(KIND, 10_000, rate_asked, u64::MAX);
                let without = all(&plan);
                let plan = plan.ending_at(Some(end));
                let slices = all(&plan);
                assert!(least(&slices) >= end && rate(&slices, ALL_HASHES) <= rate_asked);
                let stage = (1..=without.len()).find(|&stage| {
                    without[..stage].iter().map(|&(_, items)| items).sum::<u64>() >= end
                });
                let without = &without[..stage.unwrap()];
                assert!(bits(&slices) <= bits(without) * 101 / 100, "{rate_asked} {end}");
            }
        }
    }

    /// A filter whose first slice is its last has the sizes of a filter that does not grow.
    #[test]
    fn a_filter_that_never_grows_has_the_sizes_of_a_fixed_one() {
        for (items, rate_asked) in [(1000, 0.01), (100_000, 1e-6), (8_000_000, 1e-12)] {
            let plan = Plan::new(KIND, 1 << 16, rate_asked, u64::MAX).ending_at(Some(items));
            let plan = Plan { first: items, ..plan };
            let fixed = Geometry::for_items(KIND, items, rate_asked, None).unwrap();
            assert_eq!(all(&plan), [(fixed, items)]);
        }
    }

    /// The lines of a filter with one winner have locks at all rates, also where one word per item
    /// would do.
    #[test]
    fn slices_of_a_filter_with_one_winner_have_locks() {
        for rate in [0.5, 0.1, 0.01, 1e-6] {
            for kind in [KIND, ONCE] {
                let (geometry, _) = Plan::new(kind, 10_000, rate, u64::MAX).first().unwrap();
                assert_eq!((geometry.kind(), geometry.locked()), (kind, kind != KIND), "{rate}");
                assert!(geometry.false_positive_rate_at(10_000) <= 0.25 * rate);
            }
        }
    }

    /// Slices of any sizes, as a loaded filter may have them, are followed by slices that keep the
    /// request, or by none.
    #[test]
    fn slices_of_other_sizes_are_followed_within_the_rate() {
        for asked in [0.01, 1e-9, 1e-12] {
            let plan = Plan::new(KIND, 10_000, asked, u64::MAX);
            // Parts of the rate: of one slice, of several with the shares that were used before,
            // and of nearly all.
            for parts in [&[0.1][..], &[0.25, 0.1875, 0.14, 0.105, 0.08], &[0.9999], &[0.99999]] {
                for capacity in [5, 10_000, 40_000] {
                    let sizes =
                        |part| Geometry::for_rate_of_bits(KIND, capacity, part * asked, None);
                    let slices: Vec<_> =
                        parts.iter().map(|&part| (sizes(part).unwrap(), capacity)).collect();
                    let plan = plan.resumed(&taken(&slices));
                    let before = rate(&slices, ALL_HASHES);
                    let grown = grown(&plan, slices.clone());
                    let (reached, after) = (least(&grown), rate(&grown, ALL_HASHES));
                    println!("{asked:e} {parts:?} {capacity}: to {} of {}", reached, plan.end);
                    assert!(after <= asked.max(before), "{asked} {parts:?} {capacity}");
                    // A seventh of what is left is used at least for further items.
                    let more = (asked - before) * ALL_HASHES / 7.0;
                    assert!(reached as f64 >= more.min(1e9), "{asked} {parts:?}: {reached} {more}");
                }
            }
            // Nothing of the rate is left.
            for used in [asked, 1.0] {
                let taken = Taken { newest: 10_000, items: 10_000, rate: used, bytes: 0 };
                let plan = plan.resumed(&taken);
                assert_eq!((plan.next(&taken), plan.end), (None, 10_000));
            }
        }
        // The next slice follows from the last one, not from the capacity in a header.
        let plan = Plan::new(KIND, 600_000_000, 0.01, u64::MAX);
        let small = taken(&[(Geometry::for_rate_of_bits(KIND, 8, 0.001, None).unwrap(), 8)]);
        let next = plan.resumed(&small).next(&small);
        assert_eq!(next.map(|(_, capacity)| capacity), Some(24));
        let huge = Taken { newest: u64::MAX / 2, items: u64::MAX / 2, rate: 0.0, bytes: 0 };
        let plan = Plan::new(KIND, 10_000, 0.01, u64::MAX).resumed(&huge);
        assert_eq!((plan.next(&huge), plan.end), (None, u64::MAX / 2));
    }

    /// A filter that is saved and loaded at any stage grows as it would have.
    #[test]
    fn a_loaded_filter_grows_as_before() {
        for (asked, end) in [(0.01, None), (1e-9, None), (1e-12, None), (1e-12, Some(1_000_000))] {
            let plan = Plan::new(KIND, 10_000, asked, u64::MAX).ending_at(end);
            let slices = all(&plan);
            for stage in 1..=slices.len() {
                let slices = slices[..stage].to_vec();
                assert_eq!(plan.resumed(&taken(&slices)), plan, "{asked} {stage}");
            }
        }
    }

    /// What cannot be held is an error at the build.
    #[test]
    fn a_plan_that_cannot_be_is_an_error() {
        for rate in [f64::NAN, 0.0, 1.0, -0.1] {
            let error = Plan::new(KIND, 1, rate, u64::MAX).first().unwrap_err();
            assert!(matches!(error, BuildError::Rate { .. }), "{rate} {error:?}");
        }
        assert!(matches!(
            Plan::new(KIND, 1024, 0.01, 1000).first(),
            Err(BuildError::Alloc { bytes: 1001.. })
        ));
        let plan = Plan::new(KIND, 1024, 1e-12, u64::MAX);
        assert!(plan.ending_at(Some(9_223_372)).first().is_ok());
        for items in [9_223_373, 100_000_000, u64::MAX] {
            let lowest = 2.0 * items as f64 / ALL_HASHES;
            let error = BuildError::RateTooLow { rate: 1e-12, lowest };
            assert_eq!(plan.ending_at(Some(items)).first(), Err(error));
            assert_eq!(Plan::new(KIND, items, 1e-12, u64::MAX).first(), Err(error));
        }
    }

    /// The last slice takes what is left of the memory.
    #[test]
    fn the_last_slice_fits_into_the_memory() {
        let free = Plan::new(KIND, 100_000, 0.01, u64::MAX);
        let first = free.first().unwrap();
        let bytes = first.0.size_in_bytes();
        let (second, capacity) = free.next(&taken(&[first])).unwrap();
        for per_cent in [100, 80, 50, 20, 18, 15, 5, 0] {
            let left = second.size_in_bytes() * per_cent / 100;
            let plan = Plan { max_bytes: bytes + left, ..free };
            match plan.next(&taken(&[first])) {
                Some((geometry, items)) => {
                    assert!(geometry.size_in_bytes() <= left);
                    assert!(items >= capacity * (per_cent - 2) / 100, "{per_cent}: {items}");
                    let rate = geometry.false_positive_rate_at(items as usize);
                    assert!(rate <= 0.01 * 0.25 * 0.76);
                }
                // Half of the slice before is a sixth of this one.
                None => assert!(per_cent < 18, "{per_cent}"),
            }
        }
    }
}
