//! The batch operations of an array, as work for the batch pipeline.

use tamis_sync::{BATCH, BatchWork};

use crate::array::{Array, Removable};
use crate::probe::batch::Batch;

/// Implements an operation: by `$one` on one hash, and by `$batch` on a batch.
macro_rules! works {
    ($($(#[$doc:meta])* $name:ident<$kind:ident>: $array:ty, $one:ident, $batch:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<'a, A>(pub(crate) $array);

        impl<A: $kind> BatchWork for $name<'_, A> {
            type Batch = Batch;
            type Answer = bool;
            const EMPTY: Batch = Batch::EMPTY;
            const IDLE: bool = false;
            // Queries, too: a panic in the iterator loses no result.
            const PULLS_FIRST: bool = true;

            #[inline(always)]
            fn spread(&self, hashes: &[u64; BATCH], batch: &mut Batch) {
                batch.hashes = *hashes;
                self.0.spread(batch);
            }

            #[inline(always)]
            fn prefetch(&self, hash: u64) {
                self.0.prefetch(hash);
            }

            #[inline(always)]
            fn prefetch_batch(&self, batch: &Batch) {
                batch.hashes.iter().for_each(|&hash| self.0.prefetch(hash));
            }

            #[inline(always)]
            fn one(&mut self, hash: u64) -> bool {
                self.0.$one(hash)
            }

            #[inline(always)]
            fn begin(&mut self, this: &Batch, next: &Batch, answers: &mut [bool; BATCH]) {
                self.0.$batch(this, next, answers);
            }
        }
    )*};
}

works! {
    /// Queries.
    Contains<Array>: &'a A, contains, contains_batch;
    /// Inserts by atomic operations.
    Insert<Array>: &'a A, insert, insert_batch;
    /// Inserts by plain stores.
    InsertMut<Array>: &'a mut A, insert_mut, insert_batch_mut;
    /// Removals.
    Remove<Removable>: &'a A, remove, remove_batch;
}

/// Inserts or removes item by item and passes on each result: for filters in which a batch would
/// not be faster.
#[inline]
pub(crate) fn singly(
    hashes: impl IntoIterator<Item = u64>,
    one: impl Fn(u64) -> bool,
    mut on_result: impl FnMut(usize, bool),
) {
    for (number, hash) in hashes.into_iter().enumerate() {
        on_result(number, one(hash));
    }
}
