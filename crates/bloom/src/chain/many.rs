//! The batch operations of a growing filter: 32 items pass all slices together, with one hashing.
//!
//! The patterns of the items are the same in all slices, and computed once. Slices of one shape are
//! tested together, without a branch in between.
//!
//! If most items are somewhere in the filter, the fullest slice answers first, as a blocked filter
//! does: it holds two fifths to two thirds of the items. Its lines are requested when the batch is
//! spread. It answers for a batch while the batch before is in the other slices, so that for the
//! items that it lacks, and for no others, the lines in the other slices are requested one batch
//! ahead.
//!
//! If nearly all items are in no slice, all slices answer at once, and all lines are requested when
//! the batch is spread.
//!
//! MEASURED (ns per hit, miss, and half of each, 100,000 items grown to 10 million at 1 %, 5
//! slices, 26 MB): 12.8, 16.4 and 14.8. A blocked filter sized for them takes 5.5, 5.6 and 5.5.
//! Alternatives, at about the same time: all lines requested a batch ahead, also for hits, 12.9,
//! 17.1 and 15.1; the two fullest slices first, together, 15.5, 17.2 and 17.4; the second fullest
//! alone before the rest 12.8, 16.3 and 15.9 (Zen 5).

use core::ptr;

use tamis_sync::{BATCH, BatchWork, run_batches};

use super::claim::{self, Claim, View};
use super::slices::{MAX_SLICES, Slices};
use crate::array::line::InLine;
use crate::array::{Answers, Array};
use crate::bits::Writer;
use crate::probe::batch::Batch;

impl<W: Claim> Slices<W> {
    #[inline]
    pub(crate) fn insert(&self, hash: u64) -> bool {
        claim::insert(self, hash)
    }

    #[inline]
    pub(crate) fn insert_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Insert::new(self), hashes, on_result);
    }

    #[inline]
    pub(crate) fn contains_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Contains::new(self), hashes, on_result);
    }
}

/// A batch, and what was known when it was spread.
struct ChainBatch {
    batch: Batch,
    /// The slices.
    view: View,
    /// The fullest slice, for which the batch was spread.
    first: usize,
    /// Whether all slices answer at once.
    at_once: bool,
}

impl ChainBatch {
    const EMPTY: Self = Self { batch: Batch::EMPTY, view: View::ONE, first: 0, at_once: true };
}

/// Some items of a batch, by their numbers.
#[derive(Clone, Copy)]
struct Items {
    numbers: [u8; BATCH],
    count: usize,
}

impl Items {
    const ALL: Self = {
        let mut numbers = [0; BATCH];
        let mut item = 0;
        while item < BATCH {
            numbers[item] = item as u8;
            item += 1;
        }
        Self { numbers, count: BATCH }
    };

    /// Returns the items that were not found.
    #[inline(always)]
    fn misses(answers: &Answers) -> Self {
        let (mut numbers, mut count) = ([0; BATCH], 0);
        for (item, &hit) in answers.iter().enumerate() {
            numbers[count % BATCH] = item as u8;
            count += usize::from(!hit);
        }
        Self { numbers, count }
    }
}

/// Queries.
type Contains<'a, W> = Pass<'a, W, false>;

/// Inserts: the query of a batch, and then, in order, an insert of each item that was not found.
type Insert<'a, W> = Pass<'a, W, true>;

/// What queries and inserts have in common.
struct Pass<'a, W, const INSERTS: bool> {
    slices: &'a Slices<W>,
    /// The arrays of the slices for batches with `of`: the fullest first, then the others, the
    /// newest first.
    arrays: [&'a InLine<W>; MAX_SLICES],
    /// The number of slices, and the fullest of them, for which `arrays` was made.
    of: (usize, usize),
    /// Whether the fullest slice has answered for the batch that comes next: `answers`. It lacks
    /// `items`.
    is_ahead: bool,
    answers: Answers,
    items: Items,
    /// Whether nearly all items of the last batch were in no slice.
    all_missed: bool,
}

/// The number of misses in a batch that are nearly all.
const NEARLY_ALL: usize = BATCH * 7 / 8;

impl<'a, W: Writer, const INSERTS: bool> Pass<'a, W, INSERTS> {
    fn new(slices: &'a Slices<W>) -> Self {
        Self {
            slices,
            arrays: [slices.slice(0).array(); MAX_SLICES],
            of: (1, 0),
            is_ahead: false,
            answers: [false; BATCH],
            items: Items::ALL,
            all_missed: false,
        }
    }

    fn array(&self, index: usize) -> &'a InLine<W> {
        self.slices.slice(index).array()
    }

    /// Returns the arrays of all slices but the fullest.
    fn others(
        &self,
        batch: &ChainBatch,
    ) -> impl Iterator<Item = &'a InLine<W>> + use<'a, W, INSERTS> {
        let (slices, first) = (self.slices, batch.first);
        let others = (0..batch.view.seen).rev().filter(move |&index| index != first);
        others.map(move |index| slices.slice(index).array())
    }

    fn spread(&self, hashes: &[u64; BATCH], batch: &mut ChainBatch) {
        batch.view = View::of(self.slices);
        batch.first = self.slices.fullest(batch.view.seen);
        batch.at_once = self.all_missed;
        batch.batch.hashes = *hashes;
        let first = self.array(batch.first);
        first.spread(&mut batch.batch);
        first.prefetch_batch(&batch.batch);
        if batch.at_once {
            self.others(batch)
                .for_each(|array| array.prefetch_items(&batch.batch, &Items::ALL.numbers));
        }
    }

    /// Answers the queries of a batch.
    #[inline]
    fn query(&mut self, this: &ChainBatch, next: &ChainBatch, answers: &mut Answers) {
        if self.of != (this.view.seen, this.first) {
            self.of = (this.view.seen, this.first);
            self.arrays[0] = self.array(this.first);
            let others = self.others(this);
            self.arrays[1..].iter_mut().zip(others).for_each(|(to, array)| *to = array);
        }
        // 1. Take what the fullest slice has answered for this batch. (It is asked now for the
        //    first batch.)
        let arrays = if this.at_once {
            self.items = Items::ALL;
            &self.arrays[..this.view.seen]
        } else {
            if !self.is_ahead {
                self.ask_first(this);
            }
            *answers = self.answers;
            &self.arrays[1..this.view.seen]
        };
        // 2. Look for the items that it lacks in the other slices.
        for arrays in arrays.chunk_by(|one, other| one.has_shape_of(other)) {
            let numbers = &mut self.items.numbers[..self.items.count];
            let first = self.arrays[0];
            self.items.count = InLine::contains_items(first, arrays, &this.batch, numbers, answers);
        }
        self.all_missed = self.items.count >= NEARLY_ALL;
        // 3. Let the fullest slice answer for the next batch, if there is one.
        self.is_ahead = !next.at_once && !ptr::eq(this, next);
        if self.is_ahead {
            self.ask_first(next);
        }
    }

    /// Answers from the fullest slice, and requests the lines of the items that it lacks in all
    /// others.
    fn ask_first(&mut self, batch: &ChainBatch) {
        self.array(batch.first).contains_spread(&batch.batch, &mut self.answers);
        self.items = Items::misses(&self.answers);
        let items = &self.items.numbers[..self.items.count];
        self.others(batch).for_each(|array| array.prefetch_items(&batch.batch, items));
    }
}

impl<W: Claim, const INSERTS: bool> BatchWork for Pass<'_, W, INSERTS> {
    type Batch = ChainBatch;
    type Answer = bool;
    const EMPTY: ChainBatch = ChainBatch::EMPTY;
    const IDLE: bool = false;
    const PULLS_FIRST: bool = true;

    fn spread(&self, hashes: &[u64; BATCH], batch: &mut ChainBatch) {
        self.spread(hashes, batch);
    }

    fn prefetch(&self, hash: u64) {
        self.slices.prefetch(hash);
    }

    /// Does nothing: `spread` has requested it.
    fn prefetch_batch(&self, _batch: &ChainBatch) {}

    fn one(&mut self, hash: u64) -> bool {
        if INSERTS { claim::insert(self.slices, hash) } else { self.slices.contains(hash) }
    }

    fn begin(&mut self, this: &ChainBatch, next: &ChainBatch, answers: &mut Answers) {
        self.query(this, next, answers);
        if !INSERTS {
            return;
        }
        let slices = self.slices;
        for (answer, &hash) in answers.iter_mut().zip(&this.batch.hashes) {
            // The same item may come twice in the batch: the claim finds out. If a slice was
            // published since the query, the item may have been inserted there.
            *answer = !*answer
                && if slices.len() == this.view.seen {
                    claim::insert_absent(slices, this.view, hash)
                } else {
                    claim::insert(slices, hash)
                };
        }
    }
}
