//! Copies of a table in use, under all of its locks. A child module of `table`, whose private parts
//! it uses.

use tamis_sync::{AllocError, Lines, PairAccess};

use super::Table;
use crate::bucket::with_known_shape;
use crate::line_len::len_of_line;

impl Table {
    /// Returns a copy of the table, and the number of fingerprints in it, as
    /// [`copy_lines`](Self::copy_lines) does.
    pub(crate) fn copy(&self) -> Result<(Self, u64), AllocError> {
        let (lines, len) = self.copy_lines()?;
        // The copy of an unpaired table is unpaired.
        let access = PairAccess::detect().filter(|_| self.pairs.is_some());
        let copy = Self::from_lines(self.geometry, lines, self.locks.len() as u64, access)?;
        Ok((copy, len))
    }

    /// Returns a copy of all buckets, and the number of fingerprints in it.
    ///
    /// Each copy whose insert happened before and whose removal has not begun is in it exactly
    /// once, even if other threads relocate that copy meanwhile.
    pub(crate) fn copy_lines(&self) -> Result<(Lines, u64), AllocError> {
        // Allocate first: an allocator is foreign code and may be slow, so it must not run under
        // the locks.
        let mut lines = Lines::zeroed(self.geometry.lines())?;
        // Under all locks no copy is cleared and none is in relocation. So every copy that was
        // inserted before is in exactly one slot until the guard is dropped.
        let guard = self.lock_all_stripes();
        // Count the words that are copied: in the table, copies may be added meanwhile.
        let len = with_known_shape!(self.geometry.shape(), shape => {
            lines.iter_mut().enumerate().map(|(number, to)| {
                let words = self.line(number);
                to.words.iter_mut().zip(words).for_each(|(to, bits)| to.update(|to| *to = bits));
                u64::from(len_of_line(shape, &words))
            }).sum()
        });
        drop(guard);
        Ok((lines, len))
    }
}
