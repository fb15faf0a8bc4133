//! The sizes of the table in a file.

/// The number of shards.
pub(crate) const SHARDS: u32 = 64;

/// The bits of a tag.
pub(crate) const TAG_BITS: u32 = 32;

/// The lines of the directory: three words for each shard.
const DIRECTORY: u64 = 3 * SHARDS as u64 / 8;

/// The most slots in a line, if a rest has no bits, and the fewest, if it has 24.
const SLOTS: u64 = 16;
const FEWEST_SLOTS: u64 = 9;

/// The sizes of the table in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::TableSizes;
/// assert_eq!(TableSizes::new(1000).map(|sizes| sizes.lines()), Some(1000));
/// assert_eq!(TableSizes::new(63), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableSizes {
    lines: u64,
}

impl TableSizes {
    /// Returns the sizes of a table with this number of lines in all shards, or `None` if a shard
    /// would have none, or a file would have more than 2^64 bits.
    #[must_use]
    pub fn new(lines: u64) -> Option<Self> {
        (u64::from(SHARDS)..u64::MAX / 1024).contains(&lines).then_some(Self { lines })
    }

    /// Returns the number of lines in all shards.
    #[must_use]
    pub const fn lines(self) -> u64 {
        self.lines
    }

    pub(crate) const fn body_lines(self) -> u64 {
        DIRECTORY + self.lines
    }

    pub(crate) const fn slots(self) -> u64 {
        SLOTS * self.lines
    }

    /// Returns the least and the greatest number of items that shards with these lines take before
    /// they grow: each takes 24 of 25 slots, rounded down, and the slots depend on the bits of a
    /// rest.
    pub(crate) const fn capacities(self) -> (u64, u64) {
        // No overflow: there are fewer than 2^54 lines.
        let (fewest, most) = (FEWEST_SLOTS * self.lines * 24 / 25, self.slots() * 24 / 25);
        (fewest - SHARDS as u64, most)
    }
}
