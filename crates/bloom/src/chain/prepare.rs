//! Growth: counts new items, and prepares and publishes the next slice in small portions.
//!
//! When 7/8 of a slice are used (half of a small one), one insert reserves the memory of the next
//! slice. From then on inserts touch one portion each, claimed by a counter, so that the system
//! places the pages. When the slice is full and all portions are claimed, the next slice is
//! published.
//!
//! **No insert waits for growth.** There is no lock. An insert that finds the next slice not yet
//! reserved, or some of its portions still claimed by others, does its own part, if any, and
//! returns. It has already written its item. A thread that stops after it has claimed a portion
//! delays nobody: the slice is published without that portion, and its pages are placed when an
//! insert first writes to them.
//!
//! **No insert touches much.** An insert calls [`Slices::added`] at most once, which touches at
//! most one portion: a page of 4 KiB, or of 2 MiB where a large slice has huge pages. Apart from
//! that an insert writes one line. (An insert with one winner also visits a few lines of older
//! slices: [`claim`](super::claim).) The insert that reserves a slice of less than 128 KiB writes
//! all of it.
//!
//! **Nor does growth wait for a long life.** A copy, and a filter that is loaded, has the published
//! slices only. If the newest one needed the next slice already, the next slice is published when
//! the newest one is full, whatever of it has been touched. Otherwise a filter that is saved after
//! every few inserts would never grow.
//!
//! **A slice holds its capacity**, and what is still added by the threads that loaded the number of
//! slices before it changed: one item each. It holds more only if the next slice is not there in
//! time. If the system stops the thread that reserves it, another one does it after a further 64th
//! of the slice, so that `n` stopped threads cost less than `n` 64ths. If the memory cannot be had,
//! all items go to the last slice, and its saturation rises above 1.

use super::plan::Taken;
use super::slice::Slice;
use super::slices::{MAX_SLICES, Slices};
use super::steps::sample;
use crate::bits::Writer;

impl<W: Writer> Slices<W> {
    /// Counts a new item of slice `index`, and does this item's share of preparing the next slice.
    #[inline]
    pub(crate) fn added(&self, index: usize, hash: u64) {
        let sample = sample(hash);
        if self.slice(index).steps.helps(sample) {
            self.grow(index, sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, index: usize, sample: u64) {
        let slice = self.slice(index);
        let counts = slice.counts();
        let counted = if slice.steps.counts(sample) { counts.add() } else { counts.counted() };
        if counted < slice.steps.reserve || self.len() > index + 1 {
            return;
        }
        if self.get(index + 1).is_none() {
            if counts.claim_reserve(counted, slice.steps.again)
                && let Some(next) = self.reserve(index + 1)
            {
                self.set(index + 1, next);
            }
            if !slice.is_resumed {
                return;
            }
        }
        let Some(next) = self.get(index + 1) else { return };
        if (next.touch_portion() || slice.is_resumed) && counted >= slice.steps.full {
            self.publish(index + 1);
        }
    }

    /// Reserves memory for a slice. Returns `None` if the plan ends before it, or the allocation
    /// failed.
    fn reserve(&self, index: usize) -> Option<Slice<W>> {
        #[cfg(test)]
        if self.fails() {
            return None;
        }
        let taken = || Taken::by(self.iter().take(index).map(Slice::sizes));
        let next = (index < MAX_SLICES).then(|| self.plan.next(&taken())).flatten();
        let Some((geometry, capacity)) = next else {
            // No slice will ever follow: what the plan computes depends on nothing that changes.
            self.slice(index - 1).counts().never_reserve();
            return None;
        };
        Slice::reserved(geometry, capacity)
    }
}
