//! The array of a filter without its hasher: the operations on hashes that every layout offers.

use tamis_sync::{AllocError, BATCH, LINE_WORDS, Lines};

use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::regions::Regions;

pub(crate) mod classic;
pub(crate) mod counting;
pub(crate) mod line;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod once;

/// An array of bits, or of counters that stand for bits, in one layout. It knows hashes, not items.
pub trait Array: Sized {
    const KIND: Kind;

    /// Takes the lines of an array of this geometry, which is of this kind.
    fn of_lines(geometry: Geometry, lines: Lines) -> Self;
    /// Allocates an array of zeros for a geometry of this kind.
    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        Lines::zeroed(geometry.array_lines()).map(|lines| Self::of_lines(geometry, lines))
    }
    /// Requests the lines of a hash ahead of the access to them.
    fn prefetch(&self, hash: u64);
    /// Returns whether all bits of a hash are set.
    fn contains(&self, hash: u64) -> bool;
    /// Sets the bits of a hash by atomic operations; returns whether this call set one that was
    /// missing.
    fn insert(&self, hash: u64) -> bool;
    /// As [`insert`](Self::insert), by plain stores.
    fn insert_mut(&mut self, hash: u64) -> bool;
    /// Returns whether `insert_many_with` inserts item by item, because a batch would not be
    /// faster.
    fn inserts_singly(&self) -> bool;
    /// Computes the lines and patterns of a batch from its hashes, where the layout has them.
    fn spread(&self, batch: &mut Batch);
    /// Answers [`contains`](Self::contains) for each item of a batch, and requests the memory of
    /// the next batch.
    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// As [`contains_batch`](Self::contains_batch), for [`insert`](Self::insert).
    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// As [`contains_batch`](Self::contains_batch), for [`insert_mut`](Self::insert_mut).
    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// Returns the number of lines of the array in memory.
    fn lines(&self) -> usize;
    /// Partitions the array into regions of `1 << log_lines` lines. Returns `None` if an item lies
    /// in many regions.
    fn regions(&mut self, log_lines: u32) -> Option<Regions<'_>>;
    /// Copies the array while other threads may write.
    fn copy(&self) -> Result<Self, AllocError>;
    /// Reads the bits of a line of the geometry, without its lock bit.
    fn read(&self, line: u64) -> [u64; LINE_WORDS];
    /// Reads the words of a line in memory, without its lock bit: the same, where the array has
    /// bits.
    fn read_stored(&self, line: u64) -> [u64; LINE_WORDS] {
        self.read(line)
    }
    /// Adds what a line in memory of another array has: its bits or its counters.
    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]);
    /// Clears all bits.
    fn clear(&mut self);
}

/// An array from which items can be removed.
pub trait Removable: Array {
    /// Removes one copy of a hash; returns whether it was present.
    fn remove(&self, hash: u64) -> bool;
    /// As [`contains_batch`](Array::contains_batch), for [`remove`](Self::remove).
    fn remove_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers);
}

/// The answers of a batch, item by item.
pub(crate) type Answers = [bool; BATCH];

/// Computes the answers of a batch, in order.
#[inline(always)]
fn answer_all(answers: &mut Answers, mut answer: impl FnMut(usize) -> bool) {
    answers.iter_mut().enumerate().for_each(|(item, to)| *to = answer(item));
}
