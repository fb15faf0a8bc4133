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
//! Where the processor has vectors of 256 or 512 bits, all slots of both buckets and their tags are
//! compared in two or three of them. MEASURED: with 512 bits a query takes 9.6 ns instead of 12.6
//! (120,000 items at 1 %, Sapphire Rapids); with 256 bits, 14 ns instead of 18, or 13.9 instead of
//! 14.7 per core if both of its threads query (150,000 items at 1 %, Zen 3).

use tamis_sync::{Lanes, Packing, Vectors};

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
    /// What compares buckets of 128 bits in vectors, if the slots of both levels fit into lanes of
    /// 32 bits. Without meaning for buckets of 64 bits.
    narrow: Option<&'static Lanes<32>>,
    /// The same, if they do not. A bucket of the level then has at most four slots. If there are
    /// narrow lanes, it is not used. Not in an `enum` with them: the compiler would merge a part of
    /// the code for both, in more instructions.
    wide: &'static Lanes<64>,
}

impl Forms {
    const fn new(shapes: &[Shape], at: usize) -> Self {
        let ([shape, next], level) = kind(shapes, at);
        let each = [Form::new(shape, level), Form::new(next, level + 1)];
        match at.checked_sub(KINDS * WIDE) {
            None => Self { each, narrow: None, wide: &IN_WIDE[at] },
            Some(at) => Self { each, narrow: Some(&IN_NARROW[at]), wide: &IN_WIDE[0] },
        }
    }

    /// Returns whether one of two buckets of 128 bits, each at the level or at the next one,
    /// has a slot that holds its number; or `None` if one is not at rest at its level. All numbers
    /// must fit into slots.
    #[inline(always)]
    pub(crate) fn find(&self, vectors: Vectors, buckets: [(u128, u64, bool); 2]) -> Option<bool> {
        match self.narrow {
            Some(lanes) => lanes.find(Some(vectors), buckets),
            None => self.wide.find(Some(vectors), buckets),
        }
    }
}

/// The number of forms of levels with one shape: the next shape is the same or the following one,
/// and the level is even or odd.
const KINDS: usize = 4;

static OF_PAIRS: [Forms; KINDS * PAIRS.len()] = all(&PAIRS);
static OF_WORDS: [Forms; KINDS * WORDS.len()] = all(&WORDS);

/// The number of shapes whose slots do not fit into lanes of 32 bits. They are the first ones.
const WIDE: usize = 2;

static IN_WIDE: [Lanes<64>; KINDS * WIDE] = lanes(0);
static IN_NARROW: [Lanes<32>; KINDS * (PAIRS.len() - WIDE)] = lanes(KINDS * WIDE);

/// Returns the shapes of a level and of the next one, of the forms with this number, and a level
/// that is odd if theirs is.
const fn kind(shapes: &[Shape], at: usize) -> ([Shape; 2], u32) {
    let (number, is_same) = (at / KINDS, (at / 2).is_multiple_of(2));
    let next = if is_same || number + 1 == shapes.len() { number } else { number + 1 };
    ([shapes[number], shapes[next]], at as u32 % 2)
}

const fn all<const COUNT: usize>(shapes: &[Shape]) -> [Forms; COUNT] {
    let (mut forms, mut at) = ([const { Forms::new(&PAIRS, 0) }; COUNT], 0);
    while at < COUNT {
        forms[at] = Forms::new(shapes, at);
        at += 1;
    }
    forms
}

/// Returns what compares the buckets of the forms from this number on.
const fn lanes<const WIDTH: u32, const COUNT: usize>(first: usize) -> [Lanes<WIDTH>; COUNT] {
    const fn packing(shape: Shape, level: u32) -> Packing {
        Packing { count: shape.slots, width: shape.width, tag: tag_of_level(level) }
    }
    const NONE: Packing = Packing { count: 1, width: 1, tag: 0 };
    let (mut lanes, mut at) = ([const { Lanes::new([NONE; 2]) }; COUNT], 0);
    while at < COUNT {
        let ([shape, next], level) = kind(&PAIRS, first + at);
        lanes[at] = Lanes::new([packing(shape, level), packing(next, level + 1)]);
        at += 1;
    }
    lanes
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
        fn run(self, vectors: Option<Vectors>) -> Option<bool> {
            let Self(forms, buckets) = self;
            if let Some(vectors) = vectors {
                return forms.find(vectors, buckets);
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
            tags in prop::array::uniform2(0..16_u32),
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
                    let changed = tags[which].saturating_sub(12);
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
