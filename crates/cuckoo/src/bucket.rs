//! One bucket: a few fingerprints, packed into 64 or 32 bits and compared all at once.
//!
//! The functions are pure: they operate on a loaded value. An empty slot is zero; a fingerprint is never zero. The bits
//! above the last slot are zero.

/// The shape of a bucket: its number of slots and their width in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    slots: u32,
    width: u32,
    /// The lowest bit of every slot. Derived from the other fields, and stored because every operation needs it.
    lows: u64,
}

/// All shapes. Each fits into a word, the first into half of one. The widest comes last.
pub(crate) const SHAPES: [Shape; 6] = [
    Shape::new(4, 8),
    Shape::new(8, 8),
    Shape::new(5, 12),
    Shape::new(4, 16),
    Shape::new(3, 20),
    Shape::new(2, 32),
];

/// Evaluates an expression with a shape that is one of six constants, so that the compiler computes everything that
/// derives from it.
///
/// MEASURED: queries take 7.9 ns and inserts 18.8 ns; with the shape read from the filter they take 11 and 20.7 ns
/// (Sapphire Rapids).
///
/// This is a macro because the compiler turns a closure into one function for all six shapes, in which the shape is not
/// a constant.
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
            _ => arm!(5),
        }
    }};
}
pub(crate) use with_known_shape;

impl Shape {
    /// The shape at the usual rates, which the code favours.
    pub(crate) const DEFAULT: Self = SHAPES[3];

    const fn new(slots: u32, width: u32) -> Self {
        let mut lows = 0;
        let mut slot = 0;
        while slot < slots {
            lows |= 1 << (slot * width);
            slot += 1;
        }
        Self { slots, width, lows }
    }

    /// Returns the shape with the given number of slots and bits per slot, if it exists.
    pub(crate) fn find(slots: u32, width: u32) -> Option<Self> {
        SHAPES.into_iter().find(|shape| (shape.slots, shape.width) == (slots, width))
    }

    /// Returns whether the two are the same of [`SHAPES`]. Their lowest bits all differ.
    #[inline(always)]
    pub(crate) const fn is(self, other: Self) -> bool {
        self.lows == other.lows
    }

    /// Returns the number of slots in a bucket.
    #[inline]
    pub(crate) const fn slots(self) -> u32 {
        self.slots
    }

    /// Returns the number of bits in a slot.
    #[inline]
    pub(crate) const fn width(self) -> u32 {
        self.width
    }

    /// Returns the number of different fingerprints. Zero is not one.
    #[inline]
    pub(crate) const fn fingerprints(self) -> u64 {
        self.mask()
    }

    /// Returns the number of bits of a bucket in memory: 32 if its slots fit, otherwise 64.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        if self.slots * self.width <= 32 { 32 } else { 64 }
    }

    /// Returns 1 if two buckets share a word, otherwise 0.
    #[inline(always)]
    const fn narrow(self) -> u64 {
        (self.bits() == 32) as u64
    }

    /// Returns the number of the word that contains a bucket.
    #[inline(always)]
    pub(crate) const fn word(self, bucket: u64) -> usize {
        (bucket >> self.narrow()) as usize
    }

    /// Returns the bit offset of a bucket in its word.
    #[inline(always)]
    pub(crate) const fn offset(self, bucket: u64) -> u32 {
        32 * (bucket & self.narrow()) as u32
    }

    /// Extracts the bucket at a bit offset from its word.
    #[inline(always)]
    pub(crate) const fn cut(self, bits: u64, at: u32) -> u64 {
        bits >> at & (u64::MAX >> (64 - self.bits()))
    }

    /// Returns the highest bit of every slot.
    #[inline]
    const fn highs(self) -> u64 {
        self.lows << (self.width - 1)
    }

    /// Returns the mask of the lowest slot.
    #[inline]
    pub(crate) const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns whether a slot holds the fingerprint.
    #[inline]
    pub(crate) const fn contains(self, bucket: u64, fingerprint: u64) -> bool {
        self.marks(bucket ^ (self.lows * fingerprint)) != 0
    }

    /// Returns whether all slots hold the fingerprint.
    #[inline]
    pub(crate) const fn is_full_of(self, bucket: u64, fingerprint: u64) -> bool {
        bucket == self.lows * fingerprint
    }

    /// Returns the bit offset of the first slot that holds the fingerprint.
    #[inline]
    pub(crate) const fn find_fingerprint(self, bucket: u64, fingerprint: u64) -> Option<u32> {
        self.first(self.marks(bucket ^ (self.lows * fingerprint)))
    }

    /// Returns the bit offset of the first empty slot.
    #[inline]
    pub(crate) const fn find_empty(self, bucket: u64) -> Option<u32> {
        self.first(self.marks(bucket))
    }

    /// Counts the slots that hold the fingerprint.
    #[inline]
    pub(crate) const fn count(self, bucket: u64, fingerprint: u64) -> u32 {
        self.zeros(bucket ^ (self.lows * fingerprint)).count_ones()
    }

    /// Counts the slots that hold a fingerprint.
    #[inline]
    pub(crate) const fn len(self, bucket: u64) -> u32 {
        self.slots - self.zeros(bucket).count_ones()
    }

    /// Returns the fingerprints in the bucket, in the order of the slots, without empty slots.
    #[inline]
    pub(crate) fn fingerprints_of(self, bucket: u64) -> impl Iterator<Item = u64> {
        let slots = (0..self.slots).map(move |slot| bucket >> (slot * self.width) & self.mask());
        slots.filter(|&fingerprint| fingerprint != 0)
    }

    /// Returns the highest bit of the first slot that is zero, and perhaps of some slots after it.
    ///
    /// Whether a slot is zero, and which is the first, is exact. The bits after it are not: the borrow of a zero slot
    /// propagates into a following slot that is 1.
    #[inline]
    const fn marks(self, bucket: u64) -> u64 {
        bucket.wrapping_sub(self.lows) & !bucket & self.highs()
    }

    /// Returns the highest bit of every slot that is zero, exactly.
    ///
    /// In each slot, all bits below the highest are added to a mask of ones in the same places. The sum carries into
    /// the highest bit unless these bits are zero. No sum leaves its slot.
    #[inline]
    const fn zeros(self, bucket: u64) -> u64 {
        let highs = self.highs();
        let rest = (self.lows * self.mask()) & !highs;
        !(((bucket & rest) + rest) | bucket) & highs
    }

    /// Returns the bit offset of the slot with the lowest mark.
    #[inline]
    const fn first(self, marks: u64) -> Option<u32> {
        if marks == 0 { None } else { Some(marks.trailing_zeros() + 1 - self.width) }
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
            assert!(shape.slots() * shape.width() <= shape.bits());
            assert_eq!(Shape::find(shape.slots(), shape.width()), Some(*shape));
            assert!(!SHAPES[..at].iter().any(|other| other.is(*shape)));
            let known = with_known_shape!(*shape, known => known);
            assert_eq!(known, *shape);
        }
        assert_eq!(Shape::find(4, 12), None);
    }

    proptest! {
        /// Compares with the obvious loop. There are few distinct values, so slots are often zero or equal.
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
                slots.iter().enumerate().fold(0, |bucket, (at, slot)| bucket | slot << place(at));
            let position = |value| slots.iter().position(|&slot| slot == value).map(place);
            let count = |value| slots.iter().filter(|&&slot| slot == value).count() as u32;
            let fingerprint = values[wanted];
            prop_assert_eq!(shape.find_empty(bucket), position(0));
            prop_assert_eq!(shape.find_fingerprint(bucket, fingerprint), position(fingerprint));
            prop_assert_eq!(shape.contains(bucket, fingerprint), slots.contains(&fingerprint));
            prop_assert_eq!(shape.count(bucket, fingerprint), count(fingerprint));
            prop_assert_eq!(shape.len(bucket), shape.slots - count(0));
            let fingerprints: Vec<u64> = slots.iter().copied().filter(|&slot| slot != 0).collect();
            prop_assert_eq!(shape.fingerprints_of(bucket).collect::<Vec<_>>(), fingerprints);
        }
    }
}
