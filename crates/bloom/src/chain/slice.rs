//! One slice of a growing filter: a blocked array, and the counts that say when it is full.

use tamis_core::BuildError;
use tamis_sync::{CachePadded, Lines};

use super::plan::{PORTION_LINES, VISIT_LINES};
use super::state::Counts;
use super::steps::Steps;
use crate::array::Array;
use crate::array::line::InLine;
use crate::bits::{Locked, Writer};
use crate::geometry::Geometry;
use crate::shared::Shared;

/// A blocked filter of hashes, without a hasher.
pub(crate) type Blocked<W> = Shared<InLine<W>, (), ()>;

/// A slice. It is never changed but for its bits and its counts.
#[derive(Debug)]
pub(crate) struct Slice<W> {
    pub(crate) filter: Blocked<W>,
    pub(crate) steps: Steps,
    /// The number of slices that follow each other, this one the newest of them, whose arrays have
    /// one shape.
    pub(super) alike: usize,
    /// Whether it needed the next slice when it was copied or loaded: what was done for that one is
    /// lost.
    pub(super) is_resumed: bool,
    /// In a cache line of their own: all threads read the rest of the slice in every operation.
    counts: CachePadded<Counts>,
}

impl<W: Writer> Slice<W> {
    /// Makes a slice whose memory is present.
    pub(crate) fn zeroed(geometry: Geometry, capacity: u64) -> Result<Self, BuildError> {
        Lines::zeroed(geometry.lines())
            .map(|lines| Self::of_lines(geometry, capacity, lines, 0))
            .map_err(|error| BuildError::Alloc {
                bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX),
            })
    }

    /// Makes a slice whose memory is made present portion by portion. Returns `None` if the
    /// allocation failed.
    pub(crate) fn reserved(geometry: Geometry, capacity: u64) -> Option<Self> {
        let lines = Lines::reserved(geometry.lines()).ok()?;
        Some(Self::new(geometry, capacity, lines, 0, 0))
    }

    /// Makes a slice of lines that were filled before, with `items` items.
    pub(crate) fn of_lines(geometry: Geometry, capacity: u64, lines: Lines, items: u64) -> Self {
        // So that counting on from any number that a file states cannot overflow.
        let counted = Steps::new(geometry, capacity).counted(items.min(1 << 62));
        Self::new(geometry, capacity, lines, counted, portions(geometry))
    }

    fn new(geometry: Geometry, capacity: u64, lines: Lines, counted: u64, touched: u64) -> Self {
        let array = InLine::of_lines(geometry, lines);
        let steps = Steps::new(geometry, capacity);
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX).max(1);
        Self::of_filter(Shared::of_array(array, geometry, capacity, ()), steps, counted, touched)
    }

    fn of_filter(filter: Blocked<W>, steps: Steps, counted: u64, touched: u64) -> Self {
        let counts = CachePadded::new(Counts::new(counted, steps.reserve, touched));
        Self { filter, steps, alike: 1, is_resumed: counted >= steps.reserve, counts }
    }

    /// Copies the slice while other threads insert. If the allocation fails, ends as std's
    /// collections do.
    pub(crate) fn copy(&self) -> Self {
        let filter = self.filter.snapshot();
        // After the bits: the copy counts at least the items that it has, so that it does not hold
        // more than it should.
        Self::of_filter(filter, self.steps, self.counts.counted(), self.portions())
    }

    #[inline]
    pub(crate) fn array(&self) -> &InLine<W> {
        &self.filter.array
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the number of items that the counts stand for.
    pub(crate) fn items(&self) -> u64 {
        self.steps.items(self.counts.counted())
    }

    /// Returns the sizes from which those of the next slice follow.
    pub(crate) fn sizes(&self) -> (Geometry, u64) {
        (self.filter.geometry(), self.filter.capacity() as u64)
    }

    /// Touches the next portion of the memory, and returns whether that was the last one, or there
    /// was none left.
    pub(crate) fn touch_portion(&self) -> bool {
        let portions = self.portions();
        let Some(portion) = self.counts.claim_portion(portions) else { return true };
        let first = (portion * PORTION_LINES) as usize;
        self.array().bits.touch(first..first + PORTION_LINES as usize);
        #[cfg(test)]
        tests::TOUCHED.with(|touched| touched.set(touched.get() + PORTION_LINES));
        portion + 1 == portions
    }

    fn portions(&self) -> u64 {
        portions(self.filter.geometry())
    }
}

impl Slice<Locked> {
    /// Visits the lines of the next portion that is not claimed. Returns whether all portions have
    /// been visited now, and the caller has visited the last of them.
    pub(crate) fn visit_portion(&self) -> bool {
        let portions = self.filter.geometry().lines().div_ceil(VISIT_LINES);
        let Some(portion) = self.counts.claim_visit(portions) else { return false };
        let first = portion * VISIT_LINES;
        (first..first + VISIT_LINES).for_each(|line| self.array().bits.visit(line));
        self.counts.visited() == portions
    }
}

/// Returns the number of portions of a slice.
fn portions(geometry: Geometry) -> u64 {
    geometry.lines().div_ceil(PORTION_LINES)
}

#[cfg(test)]
pub(crate) mod tests {
    use core::cell::Cell;

    std::thread_local! {
        /// The lines that this thread has touched to prepare slices.
        pub(crate) static TOUCHED: Cell<u64> = const { Cell::new(0) };
    }
}
