//! The pages of a table's buckets: made present ahead of use, and given back. A child module of
//! `table`, whose private parts it uses.

use core::ops::Range;

use tamis_sync::PairLines;

use super::Table;

impl Table {
    /// Makes the pages of some lines of buckets present. Changes nothing.
    pub(crate) fn touch(&self, lines: Range<usize>) {
        match &self.pairs {
            Some(pairs) => pairs.touch(lines),
            None => self.words.touch(lines),
        }
    }

    /// Returns the number of lines of a page of the buckets.
    pub(crate) fn page_lines(&self) -> usize {
        self.pairs.as_ref().map_or_else(|| self.words.page_lines(), PairLines::page_lines)
    }

    /// Sets all buckets to zero and gives their pages back to the system. Only for a table that is
    /// empty, and stays empty meanwhile. Returns whether the system took the pages.
    pub(crate) fn release(&self) -> bool {
        match &self.pairs {
            Some(pairs) => pairs.release(),
            None => self.words.release(),
        }
    }
}
