//! How the buckets of a level are compared, in constants that need no further arithmetic. Pure
//! arithmetic on loaded values.
//!
//! The level of a bucket is known at run time only, and a processor cannot predict which of the two
//! levels of a table it has. So the constants of both are in one table in memory, and a query
//! selects by an index.
//!
//! MEASURED: a query executed 186 instructions instead of 227 with code for every shape, which
//! selected between two sets of immediate constants (any machine: counted by callgrind with AVX2,
//! 100,000 items at 1e-4, with an earlier version of the code).
//!
//! Where the processor has vectors of 512 bits, all slots of a bucket and its tag are compared in
//! one. MEASURED: a query takes 9.6 ns instead of 12.6 (120,000 items at 1 %, Sapphire Rapids), and
//! with lanes of 64 bits, for wide slots, 12.1 ns instead of 15.6 (150,000 items at 1e-6, Zen 4).

use tamis_sync::{Lanes, Wide};

use crate::bucket::Shape;
use crate::growth::layout::tag_of_level;
use crate::growth::plan::{PAIRS, WORDS};

/// The shape and the tag of buckets of a level.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    /// The tag of a bucket at rest, in its place in the upper half of a bucket of 128 bits, or in
    /// one of 64.
    pub(crate) tag: u64,
}

/// The forms of a level and of the next one.
#[derive(Debug)]
pub(crate) struct Forms {
    pub(crate) each: [Form; 2],
    /// The same for vectors of 512 bits, if buckets have 128 bits and slots
    /// [are narrow](Self::are_narrow). The last lane is that of the tag, and the lane before it is
    /// empty.
    narrow: [Lanes<16>; 2],
    /// The same, if slots are not narrow. A bucket then has at most four slots. Not in an `enum`
    /// with the other lanes: the compiler would merge a part of the code for both, in more
    /// instructions.
    broad: [Lanes<8>; 2],
}

impl Forms {
    const fn new(shapes: [Shape; 2], level: u32) -> Self {
        let [shape, next] = shapes;
        Self {
            each: [Form::new(shape, level), Form::new(next, level + 1)],
            narrow: [lanes(shape, level), lanes(next, level + 1)],
            broad: [lanes(shape, level), lanes(next, level + 1)],
        }
    }

    /// Returns whether the slots of both levels fit into lanes of 32 bits. Those of the next level
    /// are no wider.
    #[inline(always)]
    const fn are_narrow(&self) -> bool {
        self.each[0].shape.width <= Lanes::<16>::MAX_WIDTH
    }

    /// Returns whether one of two buckets of 128 bits, each at the level or at the next one,
    /// has a slot that holds its number; or `None` if one is not at rest at its level. All numbers
    /// must fit into slots.
    #[inline(always)]
    pub(crate) fn find_wide(&self, wide: Wide, buckets: [(u128, u64, bool); 2]) -> Option<bool> {
        if self.are_narrow() {
            find_with(&self.narrow, wide, buckets)
        } else {
            find_with(&self.broad, wide, buckets)
        }
    }
}

/// Looks into two buckets, as [`Forms::find_wide`] does.
#[inline(always)]
fn find_with<const COUNT: usize>(
    lanes: &[Lanes<COUNT>; 2],
    wide: Wide,
    buckets: [(u128, u64, bool); 2],
) -> Option<bool> {
    let [one, other] = buckets.map(|(bucket, held, is_ahead)| {
        lanes[usize::from(is_ahead)].equal(Some(wide), bucket, held)
    });
    // If both tags are the expected ones, the sum is `1 << COUNT` or more. Otherwise it is less,
    // because the empty lane takes the carry of the slots. The rest of the sum is above 0 if a slot
    // is equal. The compiler would compute an AND of both in vectors, in more instructions.
    let (sum, at_rest) = (u32::from(one) + u32::from(other), 1 << COUNT);
    (sum >= at_rest).then_some(sum > at_rest)
}

/// Returns the slots and the tag of a bucket of 128 bits as lanes, if they fit. Otherwise no lane
/// is equal to anything.
const fn lanes<const COUNT: usize>(shape: Shape, level: u32) -> Lanes<COUNT> {
    let (mut lanes, mut slot) = (Lanes::EMPTY, 0);
    let fit = shape.slots + 2 <= COUNT as u32 && shape.width <= Lanes::<COUNT>::MAX_WIDTH;
    if !shape.is_pair() || !fit {
        return lanes;
    }
    while slot < shape.slots {
        lanes = lanes.with(slot as usize, slot * shape.width, shape.width);
        slot += 1;
    }
    lanes.with_constant(COUNT - 1, 126, 2, tag_of_level(level) as u64)
}

/// The number of forms of levels with one shape: the next shape is the same or the following one,
/// and the level is even or odd.
const KINDS: usize = 4;

static OF_PAIRS: [Forms; KINDS * PAIRS.len()] = all(&PAIRS);
static OF_WORDS: [Forms; KINDS * WORDS.len()] = all(&WORDS);

const fn all<const LEN: usize, const COUNT: usize>(shapes: &[Shape; LEN]) -> [Forms; COUNT] {
    const { assert!(COUNT == KINDS * LEN) };
    let mut forms = [const { Forms::new([PAIRS[0]; 2], 0) }; COUNT];
    let mut at = 0;
    while at < COUNT {
        let (number, is_same, parity) = (at / KINDS, at / 2 % 2 == 0, at as u32 % 2);
        let next = if is_same || number + 1 == LEN { number } else { number + 1 };
        forms[at] = Forms::new([shapes[number], shapes[next]], parity);
        at += 1;
    }
    forms
}

/// Returns the forms of a level and of the next one. `numbers` are those of their shapes.
pub(crate) fn forms(paired: bool, level: u32, [number, next]: [usize; 2]) -> &'static Forms {
    debug_assert!(next == number || next == number + 1, "a shape was left out");
    let at = KINDS * number + 2 * usize::from(next != number) + level as usize % 2;
    if paired { &OF_PAIRS[at] } else { &OF_WORDS[at] }
}

impl Form {
    const fn new(shape: Shape, level: u32) -> Self {
        Self { shape, tag: (tag_of_level(level) as u64) << 62 }
    }

    /// Returns the bucket with what differs from a bucket at rest that holds this number in every
    /// slot: zero in each slot that holds it, and in a tag that is the expected one.
    #[inline(always)]
    pub(crate) const fn differences(&self, paired: bool, bucket: u128, held: u64) -> u128 {
        let [lows, upper_lows] = self.shape.lows_of_halves();
        if !paired {
            return (bucket as u64 ^ (lows.wrapping_mul(held) | self.tag)) as u128;
        }
        // The number in every slot, as `Shape::in_every_slot` computes it. The product of the lower
        // half contains what of it crosses the border.
        let slots = lows as u128 * held as u128;
        let upper = ((slots >> 64) as u64).wrapping_add(upper_lows.wrapping_mul(held)) | self.tag;
        bucket ^ (slots as u64 as u128 | (upper as u128) << 64)
    }

    /// Returns whether the tag is zero in what [`differences`](Self::differences) returned.
    #[inline(always)]
    pub(crate) const fn has_tag(paired: bool, differences: u128) -> bool {
        differences >> if paired { 126 } else { 62 } == 0
    }

    /// Returns the highest bit of the first empty slot, or the number of bits of a bucket if there
    /// is none.
    #[inline(always)]
    pub(crate) const fn first_empty(&self, paired: bool, bucket: u128) -> u32 {
        let marks = self.shape.marks_in(paired, bucket);
        // The compiler does not see that the upper half of the marks of a word is zero.
        if paired { marks.trailing_zeros() } else { (marks as u64).trailing_zeros() }
    }

    /// Returns the bit offset of the slot with this highest bit.
    #[inline(always)]
    pub(crate) const fn offset(&self, highest: u32) -> u32 {
        highest + 1 - self.shape.width
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use proptest::prelude::*;
    use tamis_sync::{Kernel, SimdLevel};

    use super::*;
    use crate::growth::layout::{in_place, tag};

    /// Two buckets of 128 bits: the value, the wanted number, and whether it is at the next level.
    struct Find<'f>(&'f Forms, [(u128, u64, bool); 2]);

    impl Kernel for Find<'_> {
        type Output = Option<bool>;

        #[inline(always)]
        fn run(self, wide: Option<Wide>) -> Option<bool> {
            let Self(forms, buckets) = self;
            if let Some(wide) = wide {
                return forms.find_wide(wide, buckets);
            }
            let [one, other] = buckets.map(|(bucket, held, is_ahead)| {
                let form = &forms.each[usize::from(is_ahead)];
                (form, form.differences(true, bucket, held))
            });
            let marks = |(form, differences): (&Form, u128)| form.shape.marks_in(true, differences);
            Form::has_tag(true, one.1 | other.1).then(|| marks(one) | marks(other) != 0)
        }
    }

    proptest! {
        /// At every SIMD level, for every pair of shapes that follow each other.
        #[test]
        fn two_buckets_are_compared_as_shapes_do(
            level in 0..20_u32,
            step in 0..2_usize,
            slots in any::<[[u8; 11]; 2]>(),
            tags in any::<[[bool; 3]; 2]>(),
            wanted in 1..4_u64,
            ahead in any::<[bool; 2]>(),
        ) {
            for number in 0..PAIRS.len() {
                let next = (number + step).min(PAIRS.len() - 1);
                let forms = forms(true, level, [number, next]);
                let (mut buckets, mut found, mut are_at_rest) = ([(0, 0, false); 2], false, true);
                for (which, bucket) in buckets.iter_mut().enumerate() {
                    let is_ahead = ahead[which];
                    let shape = PAIRS[if is_ahead { next } else { number }];
                    // Few values, so slots are often empty or equal; and high ones too.
                    let value = |slot| if slot == 3 { shape.mask() } else { slot };
                    // Mostly the tag of a bucket at rest.
                    let expected = tag_of_level(level + u32::from(is_ahead));
                    let changed = if tags[which] == [true; 3] { 3 } else { 0 };
                    let mut bits = in_place(expected ^ changed, shape);
                    for slot in 0..shape.slots {
                        let held = value(u64::from(slots[which][slot as usize] % 4));
                        bits |= u128::from(held) << (slot * shape.width);
                    }
                    *bucket = (bits, value(wanted), is_ahead);
                    found |= shape.fingerprints_of(bits).any(|held| held == value(wanted));
                    are_at_rest &= tag(bits, shape) == expected;
                }
                for level in SimdLevel::all() {
                    prop_assert_eq!(level.run(Find(forms, buckets)), are_at_rest.then_some(found));
                }
            }
        }
    }
}
