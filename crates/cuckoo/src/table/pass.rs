//! One pass over the buckets of a table in use: it takes no copy, and reports at the end whether
//! the lines that it read are consistent. A child module of `table`, whose private parts it uses.
//!
//! [`protocol`](crate::protocol) proves the claim (claim 3).

use core::ops::Range;

use tamis_sync::LINE_WORDS;

use super::Table;
use crate::bucket::with_known_shape;
use crate::line_len::len_of_line;

/// A pass over the lines of a table, each of which is read once.
#[derive(Debug)]
pub(crate) struct Pass<'t> {
    pub(super) table: &'t Table,
    /// The sum of all versions before the first line.
    pub(super) before: u64,
    /// The number of fingerprints in the lines read.
    pub(super) len: u64,
}

impl Table {
    /// Begins a pass over the lines.
    pub(crate) fn pass(&self) -> Pass<'_> {
        Pass { table: self, before: self.locked_versions(), len: 0 }
    }

    /// Returns the sum of all versions, each of which is read under its lock: a relocation that has
    /// begun before has ended.
    fn locked_versions(&self) -> u64 {
        (0..self.locks.len()).fold(0, |sum, stripe| {
            self.lock(stripe);
            let version = self.versions[stripe].words[0].load_locked();
            self.unlock(stripe);
            sum.wrapping_add(version)
        })
    }
}

impl Pass<'_> {
    /// Calls `on_line` with the words of each of these lines. No line may be read twice.
    #[inline]
    pub(crate) fn read(
        &mut self,
        lines: Range<usize>,
        mut on_line: impl FnMut(&[u64; LINE_WORDS]),
    ) {
        let table = self.table;
        self.len += with_known_shape!(table.geometry.shape(), shape => {
            lines.map(|number| {
                let words = table.line(number);
                on_line(&words);
                u64::from(len_of_line(shape, &words))
            }).sum::<u64>()
        });
    }

    /// Returns whether the lines are certainly inconsistent. Takes no lock.
    pub(crate) fn is_torn(&self) -> bool {
        // No version decreases, so the sums differ if a version does.
        self.table.unlocked_versions() != self.before
    }

    /// Returns the number of fingerprints in all lines, after the last of them. Returns `None` if
    /// the lines are inconsistent: another thread relocated a copy meanwhile, or removed one
    /// of a class that had copies in both buckets.
    ///
    /// Otherwise each copy whose insert happened before the pass, and whose removal has not begun,
    /// was read exactly once.
    pub(crate) fn finish(&self) -> Option<u64> {
        (self.table.locked_versions() == self.before).then_some(self.len)
    }
}
