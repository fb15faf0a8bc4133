//! The array of the once filter: exactly one insert of an item returns `true`, by one word or by a
//! lock.

use tamis_sync::{AllocError, LINE_WORDS, Lines};

use super::line::InLine;
use super::{Answers, Array};
use crate::bits::{Free, Locked};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::regions::Regions;

/// An array that is of one kind for its whole life, as its geometry says.
#[derive(Debug)]
pub enum OnceArray {
    /// All bits of an item lie in one word, so one atomic operation finds the missing bits and sets
    /// them.
    Word(InLine<Free>),
    /// The bits of an item lie in several words. An insert reads and writes them under the lock of
    /// their line.
    Line(InLine<Locked>),
}

/// Evaluates an expression on the array, of either kind.
macro_rules! either {
    ($once:expr, $array:ident => $value:expr) => {
        match $once {
            OnceArray::Word($array) => $value,
            OnceArray::Line($array) => $value,
        }
    };
}

impl OnceArray {
    /// Clears the bits of a line while other threads may insert into it.
    pub(crate) fn clear_line(&self, line: u64) {
        either!(self, array => array.clear_line(line));
    }
}

impl Array for OnceArray {
    const KIND: Kind = Kind::Line { once: true };

    fn of_lines(geometry: Geometry, lines: Lines) -> Self {
        if geometry.locked() {
            Self::Line(InLine::of_lines(geometry, lines))
        } else {
            Self::Word(InLine::of_lines(geometry, lines))
        }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        either!(self, array => array.prefetch(hash));
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        either!(self, array => array.contains(hash))
    }

    #[inline]
    fn insert(&self, hash: u64) -> bool {
        either!(self, array => array.insert(hash))
    }

    #[inline]
    fn insert_mut(&mut self, hash: u64) -> bool {
        either!(self, array => array.insert_mut(hash))
    }

    #[inline]
    fn inserts_singly(&self) -> bool {
        either!(self, array => array.inserts_singly())
    }

    fn spread(&self, batch: &mut Batch) {
        either!(self, array => array.spread(batch));
    }

    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        either!(self, array => array.contains_batch(batch, next, answers));
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        either!(self, array => array.insert_batch(batch, next, answers));
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        either!(self, array => array.insert_batch_mut(batch, next, answers));
    }

    fn lines(&self) -> usize {
        either!(self, array => array.lines())
    }

    fn regions(&mut self, log_lines: u32) -> Option<Regions<'_>> {
        either!(self, array => array.regions(log_lines))
    }

    fn copy(&self) -> Result<Self, AllocError> {
        match self {
            Self::Word(array) => array.copy().map(Self::Word),
            Self::Line(array) => array.copy().map(Self::Line),
        }
    }

    fn read(&self, line: u64) -> [u64; LINE_WORDS] {
        either!(self, array => array.read(line))
    }

    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]) {
        either!(self, array => array.union_line(line, other));
    }

    fn clear(&mut self) {
        either!(self, array => array.clear());
    }
}
