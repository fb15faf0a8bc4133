//! The bits of a filter that tells exactly one insert that it was first: in one word, or under a lock.

use tamis_sync::{AllocError, LINE_WORDS};

use crate::array::{Array, InLine};
use crate::bits::{Free, Locked};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::regions::Regions;

/// An array that is of one kind for good, as its geometry has it.
#[derive(Debug)]
pub(crate) enum Exact {
    /// All bits of an item lie in one word, so one atomic operation finds what was missing and sets it.
    Word(InLine<Free>),
    /// They lie in several, and are read and written under the lock of their line.
    Line(InLine<Locked>),
}

/// The same for whichever array it is.
macro_rules! either {
    ($exact:expr, $array:ident => $value:expr) => {
        match $exact {
            Exact::Word($array) => $value,
            Exact::Line($array) => $value,
        }
    };
}

impl Array for Exact {
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
    fn has(&self, hash: u64) -> bool {
        either!(self, array => array.has(hash))
    }

    #[inline]
    fn set(&self, hash: u64) -> bool {
        either!(self, array => array.set(hash))
    }

    #[inline]
    fn set_alone(&mut self, hash: u64) -> bool {
        either!(self, array => array.set_alone(hash))
    }

    #[inline]
    fn sets_singly(&self) -> bool {
        either!(self, array => array.sets_singly())
    }

    fn spread(&self, batch: &mut Batch) {
        either!(self, array => array.spread(batch));
    }

    fn has_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        either!(self, array => array.has_batch(batch, next))
    }

    fn set_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        either!(self, array => array.set_batch(batch, next))
    }

    fn set_batch_alone(&mut self, batch: &Batch, next: &Batch) -> u32 {
        either!(self, array => array.set_batch_alone(batch, next))
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

    fn unite(&self, line: u64, other: [u64; LINE_WORDS]) {
        either!(self, array => array.unite(line, other));
    }

    fn clear(&mut self) {
        either!(self, array => array.clear());
    }
}
