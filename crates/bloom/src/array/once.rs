//! The bits of a filter that tells exactly one insert that it was first: in one word, or under a lock.

use tamis_sync::{AllocError, LINE_WORDS};

use super::line::InLine;
use super::{Answers, Array};
use crate::bits::{Free, Locked};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::regions::Regions;

/// An array that is of one kind for good, as its geometry has it.
#[derive(Debug)]
pub enum OnceArray {
    /// All bits of an item lie in one word, so one atomic operation finds what was missing and sets it.
    Word(InLine<Free>),
    /// They lie in several, and are read and written under the lock of their line.
    Line(InLine<Locked>),
}

/// The same for whichever array it is.
macro_rules! either {
    ($exact:expr, $array:ident => $value:expr) => {
        match $exact {
            OnceArray::Word($array) => $value,
            OnceArray::Line($array) => $value,
        }
    };
}

impl Array for OnceArray {
    const KIND: Kind = Kind::Line { once: true };

    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        if geometry.locked() {
            InLine::zeroed(geometry).map(Self::Line)
        } else {
            InLine::zeroed(geometry).map(Self::Word)
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
