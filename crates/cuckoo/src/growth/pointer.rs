//! The split pointer of a table that grows: which of its buckets are known to be split. Pure
//! arithmetic.

/// The number of bits of the level. The bits above are the number of the bucket. A shift by the
/// level uses the low bits of a register only, so it needs no mask.
pub(crate) const LEVEL_BITS: u32 = 6;

/// The split pointer: which buckets are known to be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The level whose buckets are being split.
    pub(crate) level: u32,
    /// The first bucket of the level that is not known to be split.
    pub(crate) next: u64,
}

impl Pointer {
    #[inline(always)]
    pub(crate) const fn of(bits: u64) -> Self {
        Self { level: (bits & ((1 << LEVEL_BITS) - 1)) as u32, next: bits >> LEVEL_BITS }
    }

    pub(crate) const fn bits(self) -> u64 {
        self.next << LEVEL_BITS | self.level as u64
    }

    /// Returns whether the bucket with this number among those of `self.level` is split.
    #[inline(always)]
    pub(crate) const fn is_split(self, number: u64) -> bool {
        number < self.next
    }

    /// Returns the level of the bucket with this number among those of `self.level`.
    #[inline(always)]
    pub(crate) const fn level_of(self, number: u64) -> u32 {
        self.level + self.is_split(number) as u32
    }
}
