//! The array of a filter: the operations that every layout offers on a hash.

use tamis_sync::{AllocError, BATCH, LINE_WORDS};

use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::regions::Regions;

pub(crate) mod classic;
pub(crate) mod line;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod once;

/// A filter without its hasher.
pub trait Array: Sized {
    const KIND: Kind;

    /// Zeros, for a geometry of this kind.
    fn zeroed(geometry: Geometry) -> Result<Self, AllocError>;
    /// Asks for the lines of the hash ahead of the access to them.
    fn prefetch(&self, hash: u64);
    /// Whether all bits of the hash are set.
    fn contains(&self, hash: u64) -> bool;
    /// Sets the bits of the hash; whether one was missing.
    fn insert(&self, hash: u64) -> bool;
    /// The same by plain stores.
    fn insert_mut(&mut self, hash: u64) -> bool;
    /// Whether `insert_many` inserts one by one, because a batch would not be faster.
    fn inserts_singly(&self) -> bool;
    /// Computes what follows from the hashes of a batch.
    fn spread(&self, batch: &mut Batch);
    /// For each item of a batch whether all its bits are set. Asks for the memory of those of the next batch.
    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// The same for [`set`](Self::set).
    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// The same for [`insert_mut`](Self::insert_mut).
    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers);
    /// Lines of the array.
    fn lines(&self) -> usize;
    /// The array, partition into regions of so many lines, a power of two; none if an item lies in many regions.
    fn regions(&mut self, log_lines: u32) -> Option<Regions<'_>>;
    /// A copy while others may write.
    fn copy(&self) -> Result<Self, AllocError>;
    /// The words of a line, without a lock.
    fn read(&self, line: u64) -> [u64; LINE_WORDS];
    /// Adds all bits of a line of another array.
    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]);
    /// Takes all bits away.
    fn clear(&mut self);
}

/// The answers of a batch, item by item.
pub(crate) type Answers = [bool; BATCH];

/// Computes the answers of a batch, in order.
#[inline(always)]
fn answer_all(answers: &mut Answers, mut answer: impl FnMut(usize) -> bool) {
    answers.iter_mut().enumerate().for_each(|(item, to)| *to = answer(item));
}
