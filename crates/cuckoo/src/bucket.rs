//! One bucket: a few fingerprints, packed into 32, 64 or 128 bits and compared all at once.
//!
//! The functions are pure: they operate on a loaded value. An empty slot is zero; a fingerprint is
//! never zero. The bits above the last slot are zero, so the value of a bucket of 64 bits is the
//! same as a number of 128 bits. Where the shape is a constant, the compiler omits the upper half
//! of such a value.

use tamis_sync::PairAccess;

/// The shape of a bucket: its number of slots and their width in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The number of slots in a bucket.
    pub(crate) slots: u32,
    /// The number of bits in a slot.
    pub(crate) width: u32,
    /// The lowest bit of every slot, in the lower and in the upper half of a bucket. This and what
    /// follows derives from the sizes. It is stored because every operation needs it.
    lows: [u64; 2],
    /// The highest bit of every slot, likewise.
    highs: [u64; 2],
    /// The number of bits of a bucket in memory: the least of 32, 64 and 128 that its slots fit
    /// into.
    pub(crate) bits: u32,
    /// A number that identifies the shape. If a bucket has at most 64 bits, it equals the lower
    /// half of `lows`, so that one register holds both.
    key: u64,
}

/// All shapes. Two buckets of the first share a word; a bucket of the last four is a pair of words.
///
/// MEASURED: a query takes 7.3 to 7.6 ns with pairs instead of 5.6 ns with 2 slots of 32 bits, and
/// in batches 3.6 to 3.9 ns instead of 3.2 ns; an insert takes 23 to 31 ns instead of 25 ns
/// (100,000 items, Zen 5). So a shape of pairs must save much memory: 6 slots of 21 bits would need
/// 21.9 bits per item instead of 22.9 with 3 slots of 20 bits, at the same rate, and are left out.
pub(crate) const SHAPES: [Shape; 10] = [
    Shape::new(4, 8),
    Shape::new(8, 8),
    Shape::new(5, 12),
    Shape::new(4, 16),
    Shape::new(3, 20),
    Shape::new(2, 32),
    Shape::new(7, 18),
    Shape::new(5, 25),
    Shape::new(4, 32),
    Shape::new(3, 42),
];

/// Returns the shapes that this processor supports: buckets of 128 bits need atomics of 128 bits.
pub(crate) fn shapes() -> impl Iterator<Item = Shape> {
    let pairs = PairAccess::detect().is_some();
    SHAPES.into_iter().filter(move |shape| pairs || !shape.is_pair())
}

/// Evaluates an expression with a shape that is one of the constants in [`SHAPES`], so that the
/// compiler computes everything that derives from it.
///
/// MEASURED: queries take 7.9 ns and inserts 18.8 ns; with the shape read from the filter they take
/// 11 and 20.7 ns (Sapphire Rapids).
///
/// This is a macro because the compiler turns a closure into one function for all shapes, in which
/// the shape is not a constant.
macro_rules! with_known_shape {
    ($shape:expr, $name:ident => $run:expr) => {{
        use crate::bucket::SHAPES;
        macro_rules! arm {
            ($number:literal) => {{
                let $name = const { SHAPES[$number] };
                $run
            }};
        }
        match $shape {
            // Test for the default shape first.
            shape if shape.is(const { SHAPES[3] }) => arm!(3),
            shape if shape.is(const { SHAPES[2] }) => arm!(2),
            shape if shape.is(const { SHAPES[0] }) => arm!(0),
            shape if shape.is(const { SHAPES[1] }) => arm!(1),
            shape if shape.is(const { SHAPES[4] }) => arm!(4),
            shape if shape.is(const { SHAPES[5] }) => arm!(5),
            shape if shape.is(const { SHAPES[6] }) => arm!(6),
            shape if shape.is(const { SHAPES[7] }) => arm!(7),
            shape if shape.is(const { SHAPES[8] }) => arm!(8),
            _ => arm!(9),
        }
    }};
}
pub(crate) use with_known_shape;

impl Shape {
    /// The shape at the usual rates, which the code favours.
    pub(crate) const DEFAULT: Self = SHAPES[3];

    pub(crate) const fn new(slots: u32, width: u32) -> Self {
        let mut lows = 0_u128;
        let mut slot = 0;
        while slot < slots {
            lows |= 1 << (slot * width);
            slot += 1;
        }
        let highs = lows << (width - 1);
        let [lows, highs] =
            [[lows as u64, (lows >> 64) as u64], [highs as u64, (highs >> 64) as u64]];
        let bits = match slots * width {
            0..=32 => 32,
            33..=64 => 64,
            _ => 128,
        };
        Self { slots, width, lows, highs, bits, key: lows[0] | lows[1] << 1 }
    }

    /// Returns the shape with the given number of slots and bits per slot, if it exists.
    pub(crate) fn with_sizes(slots: u32, width: u32) -> Option<Self> {
        SHAPES.into_iter().find(|shape| (shape.slots, shape.width) == (slots, width))
    }

    /// Returns whether the two are the same of [`SHAPES`].
    #[inline(always)]
    pub(crate) const fn is(self, other: Self) -> bool {
        self.key == other.key
    }

    /// Returns whether a bucket is a pair of words.
    #[inline(always)]
    pub(crate) const fn is_pair(self) -> bool {
        self.bits == 128
    }

    /// Returns the number of the word that contains a bucket, if a bucket is not a pair of words.
    #[inline(always)]
    pub(crate) const fn word(self, bucket: u64) -> usize {
        (if self.bits == 32 { bucket / 2 } else { bucket }) as usize
    }

    /// Returns the bit offset of a bucket in its word.
    #[inline(always)]
    pub(crate) const fn offset(self, bucket: u64) -> u32 {
        if self.bits == 32 { 32 * (bucket % 2) as u32 } else { 0 }
    }

    /// Extracts the bucket at a bit offset from its word, if a bucket is not a pair of words.
    #[inline(always)]
    pub(crate) const fn cut(self, bits: u64, at: u32) -> u64 {
        if self.bits == 32 { bits >> at & u32::MAX as u64 } else { bits }
    }

    /// Returns the lowest bit of every slot, in the lower and in the upper half of a bucket.
    #[inline(always)]
    pub(crate) const fn lows_of_halves(self) -> [u64; 2] {
        self.lows
    }

    /// Returns the lowest bit of every slot.
    #[inline(always)]
    const fn lows(self) -> u128 {
        (self.lows[1] as u128) << 64 | self.lows[0] as u128
    }

    /// Returns the highest bit of every slot.
    #[inline(always)]
    const fn highs(self) -> u128 {
        (self.highs[1] as u128) << 64 | self.highs[0] as u128
    }

    /// Returns the fingerprint in every slot.
    #[inline(always)]
    const fn in_every_slot(self, fingerprint: u64) -> u128 {
        if self.is_pair() {
            self.lows() * fingerprint as u128
        } else {
            (self.lows[0] * fingerprint) as u128
        }
    }

    /// Returns the mask of the lowest slot. It is also the number of fingerprints: zero is not one.
    #[inline]
    pub(crate) const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns whether a slot holds the fingerprint.
    #[inline]
    pub(crate) const fn contains(self, bucket: u128, fingerprint: u64) -> bool {
        self.marks(bucket ^ self.in_every_slot(fingerprint)) != 0
    }

    /// Returns whether all slots hold the fingerprint.
    #[inline]
    pub(crate) const fn is_full_of(self, bucket: u128, fingerprint: u64) -> bool {
        bucket == self.in_every_slot(fingerprint)
    }

    /// Returns the bit offset of the first slot that holds a fingerprint, or 0, which is an empty
    /// slot.
    #[inline(always)]
    pub(crate) const fn find(self, bucket: u128, held: u64) -> Option<u32> {
        self.first(self.marks(bucket ^ self.in_every_slot(held)))
    }

    /// Returns the bit offset of the first empty slot.
    #[inline(always)]
    pub(crate) const fn first_empty(self, bucket: u128) -> Option<u32> {
        // As `find` of 0, without the multiplication.
        self.first(self.marks(bucket))
    }

    /// Counts the slots that hold the fingerprint.
    #[inline]
    pub(crate) const fn count(self, bucket: u128, fingerprint: u64) -> u32 {
        self.zeros(bucket ^ self.in_every_slot(fingerprint)).count_ones()
    }

    /// Counts the slots that hold a fingerprint. [`line_len`](crate::line_len) counts those of
    /// whole lines.
    #[cfg(test)]
    pub(crate) const fn len(self, bucket: u128) -> u32 {
        self.slots - self.zeros(bucket).count_ones()
    }

    /// Returns whether a bit above the last slot is set.
    #[cfg(test)]
    pub(crate) const fn has_spare_bits(self, bucket: u128) -> bool {
        bucket & !self.in_every_slot(self.mask()) != 0
    }

    /// Returns the fingerprints in the bucket, in the order of the slots, without empty slots.
    #[inline]
    pub(crate) fn fingerprints_of(self, bucket: u128) -> impl Iterator<Item = u64> {
        let slots =
            (0..self.slots).map(move |slot| (bucket >> (slot * self.width)) as u64 & self.mask());
        slots.filter(|&fingerprint| fingerprint != 0)
    }

    /// Returns the highest bit of the first slot that is zero, and perhaps of some slots after it.
    ///
    /// Whether a slot is zero, and which is the first, is exact. The bits after it are not: the
    /// borrow of a zero slot propagates into a following slot that is 1.
    #[inline(always)]
    const fn marks(self, bucket: u128) -> u128 {
        self.marks_in(self.is_pair(), bucket)
    }

    /// As [`marks`](Self::marks), for a caller that knows whether a bucket is a pair of words.
    #[inline(always)]
    pub(crate) const fn marks_in(self, paired: bool, bucket: u128) -> u128 {
        if paired {
            return bucket.wrapping_sub(self.lows()) & !bucket & self.highs();
        }
        // The same in 64 bits: the compiler does not omit the upper half everywhere.
        let (bucket, lows, highs) = (bucket as u64, self.lows[0], self.highs[0]);
        (bucket.wrapping_sub(lows) & !bucket & highs) as u128
    }

    /// Returns the numbers of [`marks_of`](Self::marks_of): the lowest and the highest bits of the
    /// slots, by halves. The last is the number of bits of the lower half above the lowest bit of
    /// the last slot that starts in it: a slot that crosses the border has this number of bits in
    /// the lower half.
    #[inline(always)]
    pub(crate) const fn numbers(self) -> [u64; 5] {
        let [lows, upper_lows] = self.lows;
        let [highs, upper_highs] = self.highs;
        [lows, upper_lows, highs, upper_highs, 1 + lows.leading_zeros() as u64]
    }

    /// Returns a number that is not 0 if and only if a slot of a bucket, given in halves, holds
    /// this number: [`contains`](Self::contains) for vectors, which have no numbers of 128 bits.
    #[inline(always)]
    pub(crate) const fn marks_of(
        [lows, upper_lows, highs, upper_highs, below]: [u64; 5],
        paired: bool,
        [first, second]: [u64; 2],
        held: u64,
    ) -> u64 {
        let slots = first ^ lows.wrapping_mul(held);
        let marks = slots.wrapping_sub(lows) & !slots & highs;
        if !paired {
            return marks;
        }
        // The upper half begins with the rest of the slot that crosses the border.
        let upper = second ^ (upper_lows.wrapping_mul(held) | held >> below);
        // The subtraction of the lower halves borrows from the upper ones.
        let less = upper.wrapping_sub(upper_lows);
        let less = if slots < lows { less.wrapping_sub(1) } else { less };
        marks | less & !upper & upper_highs
    }

    /// Returns the highest bit of every slot that is zero, exactly.
    ///
    /// In each slot, all bits below the highest are added to a mask of ones in the same places. The
    /// sum carries into the highest bit unless these bits are zero. No sum leaves its slot.
    #[inline]
    const fn zeros(self, bucket: u128) -> u128 {
        let highs = self.highs();
        let rest = self.in_every_slot(self.mask()) & !highs;
        !(((bucket & rest) + rest) | bucket) & highs
    }

    /// Returns the bit offset of the slot with the lowest mark.
    #[inline(always)]
    const fn first(self, marks: u128) -> Option<u32> {
        if marks == 0 {
            return None;
        }
        // The compiler does not see that the upper half of the marks is zero.
        let zeros =
            if self.is_pair() { marks.trailing_zeros() } else { (marks as u64).trailing_zeros() };
        Some(zeros + 1 - self.width)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shapes_fit_their_words_and_differ() {
        for (at, shape) in SHAPES.iter().enumerate() {
            assert!(shape.slots * shape.width <= shape.bits);
            assert_eq!(Shape::with_sizes(shape.slots, shape.width), Some(*shape));
            assert!(!SHAPES[..at].iter().any(|other| other.is(*shape)));
            let known = with_known_shape!(*shape, known => known);
            assert_eq!(known, *shape);
        }
        assert_eq!(Shape::with_sizes(4, 12), None);
    }

    proptest! {
        /// Compares with the obvious loop. There are few distinct values, so slots are often zero
        /// or equal.
        #[test]
        fn comparisons_are_exact(
            which in 0..SHAPES.len(),
            parts in prop::collection::vec(0..6_usize, 8),
            wanted in 1..6_usize,
        ) {
            let shape = SHAPES[which];
            let top = 1 << (shape.width - 1);
            let values = [0, 1, shape.mask(), top, top - 1, 2];
            let slots: Vec<u64> =
                parts[..shape.slots as usize].iter().map(|&part| values[part]).collect();
            let place = |slot: usize| slot as u32 * shape.width;
            let bucket =
                slots.iter().enumerate().fold(0, |bucket, (at, slot)| bucket | u128::from(*slot) << place(at));
            let position = |value| slots.iter().position(|&slot| slot == value).map(place);
            let count = |value| slots.iter().filter(|&&slot| slot == value).count() as u32;
            let fingerprint = values[wanted];
            prop_assert_eq!(shape.find(bucket, 0), position(0));
            prop_assert_eq!(shape.find(bucket, fingerprint), position(fingerprint));
            prop_assert_eq!(shape.contains(bucket, fingerprint), slots.contains(&fingerprint));
            prop_assert_eq!(shape.count(bucket, fingerprint), count(fingerprint));
            prop_assert_eq!(shape.len(bucket), shape.slots - count(0));
            let fingerprints: Vec<u64> = slots.iter().copied().filter(|&slot| slot != 0).collect();
            prop_assert_eq!(shape.fingerprints_of(bucket).collect::<Vec<_>>(), fingerprints);
        }
    }
}
