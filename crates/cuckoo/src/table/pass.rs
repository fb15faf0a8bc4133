//! One pass over the buckets of a table in use: it takes no copy, and reports at the end whether
//! the lines that it read are consistent. A child module of `table`, whose private parts it uses.
//!
//! [`protocol`](crate::protocol) proves the claim (claim 3).

use core::ops::Range;

use tamis_sync::LINE_WORDS;

use super::Table;
use crate::bucket::with_known_shape;
use crate::line_len::len_of_line;

/// A pass over the lines of a filter in use. [`pass`](crate::raw::pass) begins it.
#[derive(Debug)]
#[must_use = "only `finish` reports whether the lines are consistent"]
pub struct Pass<'t> {
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
    /// Calls `on_line` with the words of each of these lines. Each line of the filter must be read
    /// once in a pass, in any order.
    ///
    /// # Panics
    ///
    /// If a line is not below the number of [`lines`](fn@crate::raw::lines).
    #[inline]
    pub fn read(&mut self, lines: Range<u64>, mut on_line: impl FnMut(&[u64; LINE_WORDS])) {
        let table = self.table;
        let number = |line| usize::try_from(line).unwrap_or(usize::MAX);
        let lines = number(lines.start)..number(lines.end);
        self.len += with_known_shape!(table.geometry.shape(), shape => {
            lines.map(|number| {
                let words = table.line(number);
                on_line(&words);
                u64::from(len_of_line(shape, &words))
            }).sum::<u64>()
        });
    }

    /// Returns whether [`finish`](Self::finish) will certainly return `None`: a cheap check
    /// between two parts of a pass, without a lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis_cuckoo::raw;
    /// use tamis::{CuckooFilter, hash::Rapid};
    ///
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(4).fingerprint_bits(16);
    /// let filter = builder.hasher(Rapid::with_seed(1)).build()?;
    /// // A bucket has four slots: five copies are in two buckets.
    /// (0..5).try_for_each(|_| filter.insert("a"))?;
    /// let pass = raw::pass(&filter);
    /// assert!(!pass.is_torn());
    /// filter.remove("a");
    /// assert!(pass.is_torn());
    /// assert_eq!(pass.finish(), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_torn(&self) -> bool {
        // No version decreases, so the sums differ if a version does.
        self.table.unlocked_versions() != self.before
    }

    /// Returns the number of fingerprints in all lines, after all of them were read. Returns
    /// `None` if the lines are inconsistent, because another thread relocated a fingerprint
    /// meanwhile, or removed one of several equal ones. Then a snapshot gives consistent lines.
    ///
    /// Otherwise each fingerprint whose insert happened before the pass, and whose removal has not
    /// begun, was read exactly once. Those inserted or removed meanwhile were read or not.
    #[must_use]
    pub fn finish(&self) -> Option<u64> {
        (self.table.locked_versions() == self.before).then_some(self.len)
    }
}
