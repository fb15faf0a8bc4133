//! The sizes of a table that grows, computed before its first bucket. Pure arithmetic.
//!
//! An item has one class for the life of the filter: a *whole* fingerprint `F` and two of `N`
//! *positions*. `N` is the highest power of two that is not above the first number of buckets. With
//! each doubling, a slot holds one bit of `F` less. When enough bits are free, buckets get one more
//! slot: the shapes of a plan are a section of [`PAIRS`] or [`WORDS`], and the number of slots
//! never falls.
//!
//! What the filter can distinguish stays the same: `K = N · |F| / 2` classes, where `|F|` is the
//! number of whole fingerprints. So the false-positive rate grows with the number of items, and
//! `K` is chosen for the most items that the filter is to hold.

use tamis_core::BuildError;
use tamis_sync::PairAccess;

use crate::bucket::Shape;
use crate::growth::layout::Layout;
use crate::growth::pointer::Pointer;
use crate::sizing;

/// The shapes of buckets of 128 bits, of which two are the tag.
pub(crate) const PAIRS: [Shape; 9] = [
    Shape::new(3, 42),
    Shape::new(4, 31),
    Shape::new(5, 25),
    Shape::new(6, 21),
    Shape::new(7, 18),
    Shape::new(8, 15),
    Shape::new(9, 14),
    Shape::new(10, 12),
    Shape::new(11, 11),
];

/// The shapes of buckets of 64 bits, of which two are the tag.
pub(crate) const WORDS: [Shape; 6] = [
    Shape::new(2, 31),
    Shape::new(3, 20),
    Shape::new(4, 15),
    Shape::new(5, 12),
    Shape::new(6, 10),
    Shape::new(7, 8),
];

/// The bytes of the smallest first table.
const MIN_BYTES: u64 = 8 << 10;

/// The first number of buckets is a multiple of this, so that their lines, and those of every
/// portion, are whole.
const MULTIPLE: u64 = 8;

/// The bytes of a stripe: a lock and a version. They take one hundredth of the first table, within
/// these bounds.
const STRIPE_BYTES: u64 = 16;
const MIN_STRIPES: u64 = 1 << 8;
const MAX_STRIPES: u64 = 1 << 10;

/// The number of locks of splitters, which are no stripes: a splitter that stops holds up no
/// class.
///
/// The models use two: a sweep takes every lock.
pub(crate) const SPLITTERS: u64 = if cfg!(all(test, tamis_loom)) { 2 } else { 8 };

/// The highest number of doublings.
pub(crate) const MAX_DOUBLINGS: u32 = 34;

/// The highest number of bits of all buckets.
const MAX_BITS: u128 = 1 << 62;

/// The sizes of a table that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    /// The first number of buckets: from `N` to `2N`.
    pub(crate) buckets: u64,
    /// The bits of a whole fingerprint.
    pub(crate) width: u32,
    /// The highest number of doublings of the first buckets.
    pub(crate) doublings: u32,
    /// Whether a bucket has 128 bits. Otherwise it has 64.
    pub(crate) paired: bool,
}

impl Plan {
    /// Returns the plan of a table that holds `first` items before it grows, and that keeps `rate`
    /// with up to `most` items.
    pub(crate) fn new(first: u64, most: u64, rate: f64) -> Result<Self, BuildError> {
        Self::with_buckets(first, most, rate, PairAccess::detect().is_some())
    }

    /// As [`new`](Self::new), with buckets of this size.
    pub(crate) fn with_buckets(
        first: u64,
        most: u64,
        rate: f64,
        paired: bool,
    ) -> Result<Self, BuildError> {
        // In this form the condition rejects NaN too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let (first, most) = (first.max(1), most.max(first).max(1));
        let shapes = sequence(paired);
        let widths = || shapes[shapes.len() - 1].width..=shapes[0].width;
        let mut lowest = 1.0_f64;
        // The fewest first buckets that suffice. If no width is enough for those: a power of two,
        // whose buckets are of one level less.
        for is_power in [false, true] {
            // The narrowest fingerprints that keep the rate: wider ones leave fewer slots to a
            // bucket.
            for width in widths() {
                let plan = Self { buckets: 0, width, doublings: 0, paired };
                let Some(plan) = plan.for_items(first, most, is_power) else { continue };
                let reached = plan.rate_at(most);
                if reached <= rate {
                    return Ok(plan);
                }
                lowest = lowest.min(reached);
            }
        }
        Err(BuildError::RateTooLow { rate, lowest })
    }

    /// Returns the plan with this width of whole fingerprints, if there is one.
    fn for_items(self, first: u64, most: u64, is_power: bool) -> Option<Self> {
        // The fewest doublings that suffice. Their number decides the loads, and those the first
        // number of buckets.
        for doublings in 1..=MAX_DOUBLINGS {
            let mut plan = Self { doublings, ..self }.with_room(first)?;
            if is_power {
                plan.buckets = plan.buckets.next_power_of_two();
            }
            if let Some(plan) = plan.checked()
                && plan.capacity() >= most
                && plan.items(plan.first()) >= first
            {
                return Some(plan);
            }
        }
        None
    }

    /// Returns the plan with the fewest first buckets that have room for this number of items.
    fn with_room(self, items: u64) -> Option<Self> {
        let mut plan = Self { buckets: MIN_BYTES / self.bucket_bytes(), ..self };
        // The lowest power of two that suffices if all its buckets but the last ones are split.
        // With those, all would be of the first level again, whose buckets have fewer slots.
        let most = |plan: &Self| Pointer { level: 0, next: plan.buckets - MULTIPLE };
        while plan.items(most(&plan)) < items {
            plan.buckets *= 2;
            if u128::from(plan.buckets) > MAX_BITS / 64 {
                return None;
            }
        }
        // The fewest of them that must be split.
        let (mut low, mut high) = (0, most(&plan).next / MULTIPLE);
        while low < high {
            let middle = low.midpoint(high);
            let has_room = plan.items(Pointer { level: 0, next: middle * MULTIPLE }) >= items;
            (low, high) = if has_room { (low, middle) } else { (middle + 1, high) };
        }
        plan.buckets += low * MULTIPLE;
        Some(plan)
    }

    /// Returns how classes and buckets are laid out.
    pub(crate) const fn layout(&self) -> Layout {
        Layout { bits: self.buckets.ilog2(), fold: self.width - self.last_level() }
    }

    /// Returns the number of positions, `N`.
    pub(crate) const fn positions(&self) -> u64 {
        1 << self.buckets.ilog2()
    }

    /// Returns the highest level of a bucket.
    pub(crate) const fn last_level(&self) -> u32 {
        self.doublings + if self.buckets.is_power_of_two() { 0 } else { 1 }
    }

    /// Returns the pointer of a table of its first size.
    pub(crate) const fn first(&self) -> Pointer {
        Pointer { level: 0, next: self.buckets - self.positions() }
    }

    /// Returns the pointer of a table of its last size.
    pub(crate) const fn last(&self) -> Pointer {
        let Pointer { next, .. } = self.first();
        Pointer { level: self.doublings, next: next << self.doublings }
    }

    /// Returns the plan if its sizes are within the bounds.
    pub(crate) fn checked(self) -> Option<Self> {
        let (shapes, Self { buckets, width, doublings, paired }) = (sequence(self.paired), self);
        let bits = if paired { 128 } else { 64 };
        let fits = buckets != 0
            && buckets.is_multiple_of(MULTIPLE)
            && (1..=MAX_DOUBLINGS).contains(&doublings)
            // The bits that remain in the last table must make sense as a fingerprint.
            && width <= shapes[0].width
            && width >= self.last_level() + MIN_REST
            && u128::from(buckets) << doublings <= MAX_BITS / bits;
        fits.then_some(self)
    }

    /// Returns the bytes of a bucket.
    pub(crate) const fn bucket_bytes(&self) -> u64 {
        if self.paired { 16 } else { 8 }
    }

    /// Returns the number of the shape of buckets at this level, in [`PAIRS`] or [`WORDS`]: the
    /// one with the most slots of those that hold the rest of a fingerprint.
    pub(crate) fn shape_number(&self, level: u32) -> usize {
        let rest = self.width.saturating_sub(level);
        sequence(self.paired).iter().rposition(|shape| shape.width >= rest).unwrap_or(0)
    }

    /// Returns the shape of buckets at this level.
    pub(crate) fn shape(&self, level: u32) -> Shape {
        sequence(self.paired)[self.shape_number(level)]
    }

    /// Returns the loads of this table.
    fn loads(&self) -> &'static Loads {
        match (self.paired, self.shape(self.doublings).slots) {
            (true, 6..=7) => &LOW_LOADS,
            (true, 8..) => &LOADS_OF_MANY,
            _ => &LOADS,
        }
    }

    /// Returns the number of items up to which a table at this pointer does not split further.
    pub(crate) fn items(&self, pointer: Pointer) -> u64 {
        self.items_of(pointer, self.slots_at(pointer.level))
    }

    /// Returns the slots of a bucket of this level, and of one of the next level.
    fn slots_at(&self, level: u32) -> [u32; 2] {
        [level, level + 1].map(|level| self.shape(level).slots)
    }

    /// As [`items`](Self::items), where buckets of the level and of the next one have these numbers
    /// of slots.
    pub(crate) fn items_of(&self, pointer: Pointer, [slots, next_slots]: [u32; 2]) -> u64 {
        let loads = self.loads();
        let part = |buckets: u64, slots: u32| {
            permille(buckets.saturating_mul(u64::from(slots)), loads.rest[slots as usize])
        };
        let Pointer { level, next } = pointer;
        let all = self.positions() << level;
        let items = part(all - next, slots).saturating_add(part(2 * next, next_slots));
        if slots == next_slots {
            return items;
        }
        // The deepest in the middle, where half of the positions are split.
        let dip = permille(items, loads.dips[slots as usize]);
        let of_all = |dip: u64, positions: u64| {
            ((u128::from(dip) * u128::from(positions)) >> all.ilog2()) as u64
        };
        items - of_all(of_all(dip, next), all - next)
    }

    /// Returns the number of buckets of a table at this pointer.
    pub(crate) const fn places(&self, pointer: Pointer) -> u64 {
        (self.positions() << pointer.level) + pointer.next
    }

    /// Returns the number of buckets of a table of its last size.
    pub(crate) const fn last_places(&self) -> u64 {
        self.buckets << self.doublings
    }

    /// Returns the number of slots of a table at this pointer.
    pub(crate) fn slots(&self, pointer: Pointer) -> u64 {
        let [slots, next_slots] = self.slots_at(pointer.level).map(u64::from);
        (self.places(pointer) - 2 * pointer.next) * slots + 2 * pointer.next * next_slots
    }

    /// Returns the number of items that the table holds with high probability, after all
    /// doublings.
    pub(crate) fn capacity(&self) -> u64 {
        self.items(self.last())
    }

    /// Returns the number of classes that would give the same false-positive rate if all were
    /// equally probable.
    ///
    /// [`Classifier`](crate::growth::classifier::Classifier) gives `2^L` of the `2^width`
    /// fingerprints no item, and `2^L` others two times the items, with `L` the last level. So the
    /// sum of the squares of the probabilities, and with it the rate, is higher by the factor `1 +
    /// 2 · 2^L / 2^width`.
    pub(crate) fn classes(&self) -> f64 {
        let all = self.positions() as f64 * (1_u64 << self.width) as f64 / 2.0;
        all / (1.0 + libm::ldexp(2.0, self.last_level() as i32 - self.width as i32))
    }

    /// Returns the expected false-positive rate with this number of distinct items.
    pub(crate) fn rate_at(&self, items: u64) -> f64 {
        sizing::rate_of(self.classes(), items)
    }

    /// Returns the number of stripes, a power of two.
    pub(crate) const fn stripes(&self) -> u64 {
        let stripes = self.buckets * self.bucket_bytes() / 100 / STRIPE_BYTES;
        if stripes < MIN_STRIPES {
            MIN_STRIPES
        } else if stripes > MAX_STRIPES {
            MAX_STRIPES
        } else {
            1 << stripes.ilog2()
        }
    }

    /// Returns the bytes of the first table, its stripes and the locks of splitters.
    pub(crate) const fn size_in_bytes(&self) -> u64 {
        self.buckets * self.bucket_bytes() + self.lock_bytes()
    }

    /// Returns the bytes of the stripes and the locks of splitters.
    pub(crate) const fn lock_bytes(&self) -> u64 {
        self.stripes() * STRIPE_BYTES + 8 * SPLITTERS
    }

    /// Returns whether a slot at this level may hold this number.
    pub(crate) const fn may_hold(&self, level: u32, held: u64) -> bool {
        held >= 1 << (self.last_level() - level) && held < 1 << (self.width - level)
    }
}

/// The fewest bits of a fingerprint in the last table. With fewer, too few paths lead away from a
/// bucket.
const MIN_REST: u32 = 8;

/// The loads at which a table grows.
struct Loads {
    /// The load of buckets of one level, in permille of their slots, by the number of those.
    ///
    /// A bucket that is not yet split gets two times the items of one that is, so copies must move
    /// from the one to the other all the time. The higher the load, the more inserts relocate.
    rest: [u32; 12],
    /// By how much a table splits further while buckets of this number of slots become ones of
    /// more, in permille of its items: with a share `f` of them split, it has fewer items by this
    /// times `f · (1 - f)`. Buckets that are not split get two times the items of the others, and
    /// have fewer slots: they would be full long before.
    dips: [u32; 12],
}

/// The loads of all tables but those below.
///
/// MEASURED: with the dips, the searches of an insert read 5.2 buckets on average, instead of 50 at
/// 1e-4 with buckets of 64 bits (any machine: counted, from 100,000 to 7 million items). Without
/// them, half of the last tables with two and three slots refused items before their capacity. With
/// them, none of 51,185 of the smallest such tables did (any machine: counted).
const LOADS: Loads = Loads {
    rest: [0, 0, 780, 840, 835, 845, 840, 850, 0, 0, 0, 0],
    dips: [0, 0, 700, 300, 200, 150, 0, 0, 0, 0, 0, 0],
};

/// The loads of a table whose last buckets have 128 bits and eight or more slots: at rates above
/// about 2e-4.
///
/// MEASURED: a table at 1 % takes 1.27 times the memory of a fixed filter at most, and 1.147 times
/// on average, instead of 1.37 and 1.175 with loads of 79 and 81 % for nine and eleven slots (any
/// machine: computed, from 100,000 to 10^8 items; 1.3 and 1.15 are allowed).
const LOADS_OF_MANY: Loads = Loads {
    rest: [0, 0, 0, 840, 835, 845, 860, 860, 860, 850, 850, 810],
    dips: [0, 0, 0, 300, 200, 150, 0, 0, 0, 0, 0, 0],
};

/// The loads of a table whose last buckets have 128 bits and six or seven slots: at rates from
/// about 3e-6 to 2e-4. It uses nearly all bits of its slots, so there is memory left for lower
/// loads.
///
/// MEASURED: a table at 1e-4 takes 1.23 times the memory of a fixed filter at most, and 1.149 on
/// average, instead of 1.16 and 1.09 at loads of 83 to 85 % (computed as above). With nearly these
/// loads an insert takes 132 to 150 ns instead of 192 to 209 ns (from empty to 7 million items, the
/// fastest of four runs, twice; an Intel Xeon, machine not recorded).
const LOW_LOADS: Loads = Loads {
    rest: [0, 0, 0, 820, 830, 795, 800, 810, 850, 0, 0, 0],
    dips: [0, 0, 0, 300, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Returns this share of a number, without an overflow.
const fn permille(number: u64, share: u32) -> u64 {
    let share = share as u64;
    number / 1000 * share + number % 1000 * share / 1000
}

/// Returns the shapes of buckets, by the number of slots.
pub(crate) const fn sequence(paired: bool) -> &'static [Shape] {
    if paired { &PAIRS } else { &WORDS }
}
