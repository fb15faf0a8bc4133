//! The batch pipeline: work on many items whose memory is requested while the items before them are
//! worked on.

use core::mem::swap;

/// Items of a batch: about as many cache lines as can be on their way from memory at one time, and
/// enough to fill the widest vectors four times.
pub const BATCH: usize = 32;

/// An operation on many items, given by their hashes: what [`run_batches`] does to each batch.
///
/// # Examples
///
/// ```
/// use tamis_sync::{BATCH, BatchWork, run_batches};
///
/// /// Looks up each hash in a table of 16 entries.
/// struct Lookup<'t>(&'t [bool; 16]);
///
/// impl BatchWork for Lookup<'_> {
///     /// The index of each item.
///     type Batch = [usize; BATCH];
///     type Answer = bool;
///     const EMPTY: Self::Batch = [0; BATCH];
///     const IDLE: bool = false;
///     const PULLS_FIRST: bool = false;
///
///     fn spread(&self, hashes: &[u64; BATCH], batch: &mut Self::Batch) {
///         *batch = hashes.map(|hash| (hash >> 60) as usize);
///     }
///     fn prefetch(&self, _hash: u64) {}
///     fn prefetch_batch(&self, _batch: &Self::Batch) {}
///     fn one(&mut self, hash: u64) -> bool {
///         self.0[(hash >> 60) as usize]
///     }
///     fn begin(&mut self, this: &Self::Batch, _: &Self::Batch, answers: &mut [bool; BATCH]) {
///         *answers = this.map(|index| self.0[index]);
///     }
/// }
///
/// let mut table = [false; 16];
/// table[3] = true;
/// let mut found = vec![];
/// run_batches(Lookup(&table), (0..100_u64).map(|number| number << 60), |number, hit| {
///     if hit {
///         found.push(number);
///     }
/// });
/// assert_eq!(found, [3, 19, 35, 51, 67, 83, 99]);
/// ```
pub trait BatchWork {
    /// What follows from the hashes of a batch, computed before the batch is worked on.
    type Batch;
    /// The result for one item.
    type Answer: Copy;

    /// A batch before any hash.
    const EMPTY: Self::Batch;
    /// An answer before there is one.
    const IDLE: Self::Answer;
    /// Whether the next items are pulled from the iterator before [`begin`](Self::begin). Work that
    /// changes a filter needs it: if the iterator panics, every item that was changed has had its
    /// answer passed on. Otherwise the items are pulled between [`begin`](Self::begin) and
    /// [`end`](Self::end).
    const PULLS_FIRST: bool;

    /// Computes a batch from its hashes.
    fn spread(&self, hashes: &[u64; BATCH], batch: &mut Self::Batch);

    /// Requests the memory of one item.
    fn prefetch(&self, hash: u64);

    /// Requests the memory of the items of the first batch.
    fn prefetch_batch(&self, batch: &Self::Batch);

    /// Does the work on one item.
    fn one(&mut self, hash: u64) -> Self::Answer;

    /// Does the work on the batch `this`, in order, and requests the memory of the batch `next`.
    fn begin(
        &mut self,
        this: &Self::Batch,
        next: &Self::Batch,
        answers: &mut [Self::Answer; BATCH],
    );

    /// Finishes the batch that [`begin`](Self::begin) began, for work in two steps. Does nothing by
    /// default.
    #[inline(always)]
    fn end(&mut self, _this: &Self::Batch, _answers: &mut [Self::Answer; BATCH]) {}
}

/// Does the work on the items with these hashes. Passes each item's index and answer to
/// `on_result`, in order.
///
/// The items are worked on batch after batch; the last few, fewer than a batch, one by one. Three
/// batches are under way at once: while one is worked on, the memory of the next is requested, and
/// the items of the one after that have been pulled and hashed.
#[inline]
pub fn run_batches<W: BatchWork>(
    mut work: W,
    hashes: impl IntoIterator<Item = u64>,
    mut on_result: impl FnMut(usize, W::Answer),
) {
    let mut hashes = hashes.into_iter().fuse();
    let mut hashed = [0; BATCH];
    let mut taken = take(&mut hashed, &mut hashes);
    // The number of the first item of the batch `this`.
    let mut first = 0;
    let mut answers = [W::IDLE; BATCH];
    let mut room = [W::EMPTY, W::EMPTY];
    let [mut this, mut next] = room.each_mut();
    // Whether `this` holds a batch whose memory has been requested.
    let mut under_way = false;
    while under_way || taken == BATCH {
        // 1. Spread the hashes that were pulled into `next`.
        let last = taken < BATCH;
        if !last {
            work.spread(&hashed, next);
            if W::PULLS_FIRST {
                taken = take(&mut hashed, &mut hashes);
            }
        }
        // 2. Work on `this`, and request the memory of `next`. The last batch has no next one, and
        //    requests its own memory again, which is there already.
        if under_way {
            work.begin(this, if last { this } else { next }, &mut answers);
        } else {
            work.prefetch_batch(next);
        }
        // 3. Pull the next items, between the two steps of the work: `end` reads in vectors what
        //    `begin` stored word by word, which has to wait until it has left the store buffer.
        if !last && !W::PULLS_FIRST {
            taken = take(&mut hashed, &mut hashes);
        }
        // 4. Pass on the answers.
        if under_way {
            work.end(this, &mut answers);
            answers.iter().enumerate().for_each(|(item, &answer)| on_result(first + item, answer));
            first += BATCH;
        }
        under_way = !last;
        swap(&mut this, &mut next);
    }
    // Fewer than a batch are left.
    let rest = &hashed[..taken];
    rest.iter().for_each(|&hash| work.prefetch(hash));
    for (number, &hash) in (first..).zip(rest) {
        on_result(number, work.one(hash));
    }
}

/// Fills `room` from the iterator, as far as it goes; returns how many hashes it took.
#[inline]
fn take(room: &mut [u64; BATCH], hashes: impl Iterator<Item = u64>) -> usize {
    room.iter_mut().zip(hashes).map(|(to, hash)| *to = hash).count()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::cell::Cell;

    use super::*;

    /// Answers each hash with itself, and checks what the pipeline promises.
    struct Echo<'p, const PULLS_FIRST: bool> {
        /// Number of items that were pulled from the iterator.
        pulled: &'p Cell<u64>,
        /// Number of items.
        count: u64,
        /// Number of batches whose memory was requested alone.
        requested: Cell<u32>,
    }

    impl<const PULLS_FIRST: bool> BatchWork for Echo<'_, PULLS_FIRST> {
        type Batch = [u64; BATCH];
        type Answer = u64;
        const EMPTY: Self::Batch = [u64::MAX; BATCH];
        const IDLE: u64 = u64::MAX;
        const PULLS_FIRST: bool = PULLS_FIRST;

        fn spread(&self, hashes: &[u64; BATCH], batch: &mut Self::Batch) {
            *batch = *hashes;
        }

        fn prefetch(&self, _: u64) {}

        fn prefetch_batch(&self, batch: &Self::Batch) {
            assert_eq!(batch[0], 0, "only the first batch is requested alone");
            self.requested.set(self.requested.get() + 1);
        }

        fn one(&mut self, hash: u64) -> u64 {
            hash
        }

        fn begin(&mut self, this: &Self::Batch, next: &Self::Batch, answers: &mut [u64; BATCH]) {
            assert_eq!(
                self.requested.get(),
                1,
                "the first batch is requested once, before any work"
            );
            let is_last = this[0] == next[0];
            assert!(is_last || next[0] == this[0] + BATCH as u64, "batches come in order");
            // The items of two batches ahead if they are pulled first, else of one.
            let batches = if PULLS_FIRST { 3 } else { 2 };
            let pulled = if is_last { self.count } else { this[0] + batches * BATCH as u64 };
            assert_eq!(
                self.pulled.get(),
                pulled.min(self.count),
                "items are pulled at the stated time"
            );
            *answers = [u64::MAX; BATCH];
        }

        fn end(&mut self, this: &Self::Batch, answers: &mut [u64; BATCH]) {
            *answers = *this;
        }
    }

    fn answers_all<const PULLS_FIRST: bool>() {
        for count in 0..5 * BATCH as u64 {
            let mut results = Vec::new();
            let pulled = Cell::new(0);
            let work = Echo::<PULLS_FIRST> { pulled: &pulled, count, requested: Cell::new(0) };
            let hashes = (0..count).inspect(|_| pulled.set(pulled.get() + 1));
            run_batches(work, hashes, |number, answer| results.push((number as u64, answer)));
            assert!(results.into_iter().eq((0..count).map(|number| (number, number))), "{count}");
        }
    }

    #[test]
    fn every_item_is_answered_in_order() {
        answers_all::<true>();
        answers_all::<false>();
    }
}
