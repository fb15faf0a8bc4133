//! The slices of a growing filter: the query of all of them.
//!
//! # No false negatives
//!
//! Let `insert(x)` return and happen before a query of x. The insert loaded the number `n` of
//! slices, and wrote the bits of x in slice `n - 1`, or found them all in one of the `n` slices.
//! The query loads the number of slices after that, in the order of happens-before. The number only
//! grows, so by coherence the query loads `n` or more. A slice is set before it is published, by
//! Release and Acquire (`Slots`), and is never moved or freed while the chain is shared, so the
//! query looks into the slice of x. There it sees the bits of x by the argument of one array
//! (`bits.rs`): a bit is never cleared. ∎
//!
//! Nothing in this depends on when a slice becomes full, nor on who prepares or publishes the next.

use tamis_core::BuildError;
#[cfg(test)]
use tamis_sync::Word;
use tamis_sync::{Slots, out_of_memory};

use super::plan::Plan;
use super::slice::Slice;
use super::state::Closed;
use crate::array::Array;
use crate::array::line::InLine;
use crate::bits::{Locked, Writer};

/// The most slices.
pub(crate) const MAX_SLICES: usize = Slots::<()>::MAX;

/// The slices, oldest first, and the plan by which more are appended.
#[derive(Debug)]
pub struct Slices<W> {
    slots: Slots<Slice<W>>,
    closed: Closed,
    pub(crate) plan: Plan,
    /// How many allocations of a next slice fail.
    #[cfg(test)]
    pub(crate) failures: Word,
}

impl<W: Writer> Slices<W> {
    /// Makes one empty slice.
    pub(crate) fn new(plan: Plan) -> Result<Self, BuildError> {
        let (geometry, capacity) = plan.first()?;
        Slice::zeroed(geometry, capacity).map(|first| Self::of_first(plan, first))
    }

    pub(crate) fn of_first(plan: Plan, first: Slice<W>) -> Self {
        Self {
            slots: Slots::new(first),
            closed: Closed::new(0),
            plan,
            #[cfg(test)]
            failures: Word::new(0),
        }
    }

    /// Appends a slice. Does nothing if there is no room for it.
    pub(crate) fn push(&self, slice: Slice<W>) {
        let count = self.len();
        if self.slots.set(count, self.compared(slice)).is_ok() {
            self.slots.publish(count + 1);
            // No other thread has the filter.
            self.closed.set(count);
        }
    }

    /// Returns the number of slices.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of oldest slices into which no insert writes any more.
    #[inline]
    pub(crate) fn closed(&self) -> usize {
        self.closed.get()
    }

    /// Returns a slice, published or not.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Slice<W>> {
        self.slots.get(index)
    }

    /// Returns a slice that was published.
    #[inline]
    pub(crate) fn slice(&self, index: usize) -> &Slice<W> {
        match self.slots.get(index) {
            Some(slice) => slice,
            None => unreachable!("a published slice is set"),
        }
    }

    /// Returns the slice into which items go.
    pub(super) fn newest(&self) -> &Slice<W> {
        self.slice(self.len() - 1)
    }

    /// Sets the slice after the last one, for threads to prepare. Drops it if another thread was
    /// first.
    pub(super) fn set(&self, index: usize, slice: Slice<W>) {
        drop(self.slots.set(index, self.compared(slice)));
    }

    /// Compares the slice that will follow the newest one with it.
    fn compared(&self, mut slice: Slice<W>) -> Slice<W> {
        let newest = self.newest();
        if slice.array().has_shape_of(newest.array()) {
            slice.alike = newest.alike + 1;
        }
        slice
    }

    /// Makes the next allocations of a slice fail.
    #[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
    pub(super) fn fail(&self, count: u64) {
        super::state::add(&self.failures, count);
    }

    /// Whether the next allocation fails, which is one less then.
    #[cfg(test)]
    pub(super) fn fails(&self) -> bool {
        super::state::take_one(&self.failures)
    }

    /// Publishes the slice with this number. Does nothing if another thread was first.
    pub(super) fn publish(&self, index: usize) {
        self.slots.publish(index + 1);
    }

    /// Returns the published slices, oldest first.
    #[inline]
    pub(crate) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = &Slice<W>> + ExactSizeIterator + Clone {
        self.slots.iter()
    }

    /// Returns which of the `seen` oldest slices holds the most items.
    #[inline]
    pub(super) fn fullest(&self, seen: usize) -> usize {
        // Of equal ones the newest, which will soon hold more.
        (0..seen).max_by_key(|&index| self.slice(index).items()).unwrap_or(0)
    }

    /// Returns whether one of the `seen` oldest slices contains an item.
    #[inline]
    pub(crate) fn contains_in(&self, seen: usize, hash: u64) -> bool {
        if seen == 1 { self.slice(0).array().contains(hash) } else { self.several(seen, hash) }
    }

    /// Looks into all slices of one shape at once: a branch after each would often be mispredicted.
    ///
    /// MEASURED (ns per hit and per miss, 100,000 items grown by a factor of 3 to 1, 3 and 10
    /// million): 12 and 12, 21 and 28, 85 and 83; with the newest slice first, and a branch after
    /// each, 18 and 17, 33 and 59, 70 and 147 (Zen 5). So hits in a large filter whose newest slice
    /// holds most items pay for the misses.
    #[inline(never)]
    fn several(&self, mut seen: usize, hash: u64) -> bool {
        while seen > 0 {
            let older = seen - self.slice(seen - 1).alike;
            let arrays = (older..seen).rev().map(|index| self.slice(index).array());
            if InLine::any_contains(self.slice(older).array(), arrays, hash) {
                return true;
            }
            seen = older;
        }
        false
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.contains_in(self.len(), hash)
    }

    /// Requests the lines of an item in all slices.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.iter().for_each(|slice| slice.array().prefetch(hash));
    }

    /// Copies the slices while other threads insert. If an allocation fails, ends as std's
    /// collections do.
    pub(crate) fn copy(&self) -> Self {
        let mut slices = self.iter().map(Slice::copy);
        let Some(first) = slices.next() else { unreachable!("there is at least one slice") };
        let copy = Self::of_first(self.plan, first);
        slices.for_each(|slice| copy.push(slice));
        copy
    }

    /// Keeps one empty slice like the first. (The plan of a loaded filter may compute other sizes.)
    /// If the allocation fails, ends as std's collections do.
    pub(crate) fn clear(&mut self) {
        let first = &self.slice(0).filter;
        let slice = Slice::zeroed(first.geometry(), first.capacity() as u64)
            .unwrap_or_else(|_| out_of_memory(self.size_in_bytes()));
        *self = Self::of_first(self.plan, slice);
    }

    /// Returns the memory of all slices in bytes, with the next one if it is being prepared.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let slices = (0..MAX_SLICES).map_while(|index| self.get(index));
        slices.map(|slice| slice.filter.geometry().size_in_bytes()).sum()
    }
}

impl Slices<Locked> {
    /// Visits the lines of an item in the slices that are not closed and older than the newest of
    /// the `seen` ones, and some lines of the oldest of them.
    #[cold]
    #[inline(never)]
    pub(crate) fn visit(&self, closed: usize, seen: usize, hash: u64) {
        (closed..seen - 1).for_each(|index| self.slice(index).array().visit(hash));
        if self.slice(closed).visit_portion() {
            self.closed.set(closed + 1);
        }
    }
}
