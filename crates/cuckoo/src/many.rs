//! The batch operations of the filters, as work for the batch pipeline.
//!
//! MEASURED: in L2, a query takes 4.6 ns with its hashes, classes and lookups in batches, instead
//! of 7.3 one by one; an insert takes 6.0 instead of 8.1; the access to a random line there takes
//! 1.7 (100,000 items, Zen 4).

use tamis_core::AsItem;
use tamis_hash::HashItem;
use tamis_sync::{BATCH, BatchWork, run_batches};

use crate::batch::Classes;
use crate::bucket::with_known_shape;
use crate::error::InsertError;
use crate::evict;
use crate::growth::many as growth;
use crate::growth::many::Counted;
use crate::shared::Shared;
use crate::table::{BatchRead, Table};

/// Requests the buckets of a batch.
fn prefetch_batch(table: &Table, classes: &Classes) {
    (0..BATCH).for_each(|item| table.buckets().prefetch(classes.class(item)));
}

/// Queries, in two steps: `begin` reads the buckets, `end` compares the fingerprints in vectors.
struct Contains<'f> {
    table: &'f Table,
    read: BatchRead<BATCH>,
}

impl BatchWork for Contains<'_> {
    type Batch = Classes;
    type Answer = bool;
    const EMPTY: Classes = Classes::EMPTY;
    const IDLE: bool = false;
    const PULLS_FIRST: bool = false;

    #[inline(always)]
    fn spread(&self, hashes: &[u64; BATCH], batch: &mut Classes) {
        batch.spread(hashes, self.table.geometry(), self.table.simd());
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        let buckets = self.table.buckets();
        buckets.prefetch(buckets.class(hash));
    }

    #[inline(always)]
    fn prefetch_batch(&self, batch: &Classes) {
        prefetch_batch(self.table, batch);
    }

    #[inline(always)]
    fn one(&mut self, hash: u64) -> bool {
        let buckets = self.table.buckets();
        buckets.contains_in_any(buckets.class(hash))
    }

    #[inline(always)]
    fn begin(&mut self, this: &Classes, next: &Classes, _: &mut [bool; BATCH]) {
        look(self.table, this, next, &mut self.read);
    }

    #[inline(always)]
    fn end(&mut self, this: &Classes, answers: &mut [bool; BATCH]) {
        *answers = self.table.buckets().contains_batch(this, &self.read);
    }
}

/// Reads the buckets of a batch, and requests those of the next.
fn look(table: &Table, this: &Classes, next: &Classes, read: &mut BatchRead<BATCH>) {
    with_known_shape!(table.geometry().shape(), shape => {
        let buckets = table.buckets_of(shape);
        (0..BATCH).for_each(|item| buckets.prefetch(next.class(item)));
        buckets.read_batch(this, read);
    });
}

/// Operations that change the filter: each by a function on a class, and by the answer that counts
/// as a change of the number of items.
///
/// A macro, because closures are not inlined for all shapes, and a shape that is not a constant
/// takes half as much time again.
macro_rules! changes {
    ($($name:ident, $all:ident -> $answer:ty = $idle:expr, $one:ident,
        |$buckets:ident, $class:ident| $change:expr, $counts:expr => $count:ident;)*) => {$(
        struct $name<'f, T: ?Sized, S>(&'f Shared<T, S>);

        impl<T: ?Sized, S> BatchWork for $name<'_, T, S> {
            type Batch = Classes;
            type Answer = $answer;
            const EMPTY: Classes = Classes::EMPTY;
            const IDLE: $answer = $idle;
            // If the iterator panics, the result of every item that was changed has been passed on.
            const PULLS_FIRST: bool = true;

            #[inline(always)]
            fn spread(&self, hashes: &[u64; BATCH], batch: &mut Classes) {
                batch.spread(hashes, self.0.table.geometry(), self.0.table.simd());
            }

            #[inline(always)]
            fn prefetch(&self, hash: u64) {
                let buckets = self.0.table.buckets();
                buckets.prefetch(buckets.class(hash));
            }

            #[inline(always)]
            fn prefetch_batch(&self, batch: &Classes) {
                prefetch_batch(&self.0.table, batch);
            }

            #[inline(always)]
            fn one(&mut self, hash: u64) -> $answer {
                self.0.$one(hash)
            }

            #[inline(always)]
            fn begin(&mut self, this: &Classes, next: &Classes, answers: &mut [$answer; BATCH]) {
                $all(&self.0.table, this, next, answers);
                let counted = answers.iter().filter(|&&answer| answer == $counts);
                self.0.len.$count(counted.count() as u64);
            }
        }

        fn $all(table: &Table, this: &Classes, next: &Classes, answers: &mut [$answer; BATCH]) {
            with_known_shape!(table.geometry().shape(), shape => {
                let $buckets = table.buckets_of(shape);
                for item in 0..BATCH {
                    $buckets.prefetch_to_write(next.class(item));
                    let $class = this.class(item);
                    answers[item] = $change;
                }
            });
        }
    )*};
}

changes! {
    Insert, insert_all -> Result<(), InsertError> = Ok(()), insert,
        |buckets, class| evict::insert(buckets, class), Ok(()) => add;
    InsertOnce, insert_once_all -> Result<bool, InsertError> = Ok(false), insert_once,
        |buckets, class| evict::insert_once(buckets, class), Ok(true) => add;
    Remove, remove_all -> bool = false, remove,
        |buckets, class| buckets.lock_stripe(class).remove(), true => subtract;
}

impl<T: ?Sized, S> Shared<T, S> {
    #[inline]
    pub(crate) fn contains_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        if let Some(table) = self.table.grown() {
            return run_batches(growth::Contains::new(table), hashes, on_result);
        }
        run_batches(Contains { table: &self.table, read: BatchRead::NONE }, hashes, on_result);
    }

    #[inline]
    pub(crate) fn insert_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<(), InsertError>),
    ) {
        if let Some(table) = self.table.grown() {
            return run_batches(
                growth::Insert(Counted { table, len: &self.len }),
                hashes,
                on_result,
            );
        }
        run_batches(Insert(self), hashes, on_result);
    }

    #[inline]
    pub(crate) fn insert_once_many(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        if let Some(table) = self.table.grown() {
            return run_batches(
                growth::InsertOnce(Counted { table, len: &self.len }),
                hashes,
                on_result,
            );
        }
        run_batches(InsertOnce(self), hashes, on_result);
    }

    #[inline]
    pub(crate) fn remove_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        if let Some(table) = self.table.grown() {
            return run_batches(
                growth::Remove(Counted { table, len: &self.len }),
                hashes,
                on_result,
            );
        }
        run_batches(Remove(self), hashes, on_result);
    }

    /// Returns the hashes of items. The user's code runs here and in the callbacks; no stripe is
    /// locked.
    #[inline]
    pub(crate) fn hashes<I>(&self, items: I) -> impl Iterator<Item = u64>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        items.into_iter().map(|item| self.hasher().hash_item(item.as_item()))
    }
}
