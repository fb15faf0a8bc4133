//! Copies of a table that grows, while other threads use it, and tables made of such copies.
//!
//! A copy is *normal*: every bucket has the level that the pointer says, and none is frozen. So
//! the number of buckets says where the pointer is, and nothing else needs to be kept.

use tamis_sync::{AllocError, LINE_WORDS, Lines};

use crate::growth::layout::{halves, joined, tag, tag_of_level, with_tag};
use crate::growth::plan::Plan;
use crate::growth::pointer::Pointer;
use crate::growth::table::Table;
use crate::growth::words::{Words, lines};

/// For how many buckets a copy has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// All that the table may ever have: the copy is to grow.
    All,
    /// Those that the table has, or some more.
    Present,
}

impl Pointer {
    /// Returns the pointer of a normal table with this number of buckets, if there is one.
    pub(crate) fn of_places(plan: &Plan, places: u64) -> Option<Self> {
        let level = (places >> plan.layout().bits).checked_ilog2()?;
        let next = places - (plan.positions() << level);
        let fits = plan.buckets <= places && places <= plan.last_places();
        // Buckets split by portions, and the upper children of a portion are a line.
        (fits && (next * plan.bucket_bytes()).is_multiple_of(8 * LINE_WORDS as u64))
            .then_some(Self { level, next })
    }

    /// Returns the level of the bucket at a place.
    pub(crate) fn level_at(self, plan: &Plan, place: u64) -> u32 {
        let number = place & ((plan.positions() << self.level) - 1);
        self.level + u32::from(number < self.next)
    }
}

impl Table {
    /// Returns a copy of the table, and the number of copies in it.
    pub(crate) fn copy(&self) -> Result<(Self, u64), AllocError> {
        let (pointer, words, len) = self.copy_words(Room::All)?;
        let mut copy = Self::of_words(self.plan, words, self.stripes(), self.portion)?;
        copy.restart(pointer);
        Ok((copy, len))
    }

    /// Copies the buckets. Returns the pointer of the copy, too, and the number of copies in it.
    ///
    /// Each copy whose insert happened before and whose removal has not begun is in it exactly
    /// once, even if other threads relocate it or split its bucket meanwhile.
    pub(crate) fn copy_words(&self, room: Room) -> Result<(Pointer, Words, u64), AllocError> {
        loop {
            // Allocate first: an allocator is foreign code and may be slow, so it must not run
            // under the locks. The table may grow until they are taken.
            let (present, last) = (self.places(), self.plan.last_places());
            let most = match room {
                Room::All => last,
                Room::Present => last.min(2 * present),
            };
            let mut words = Words::reserved(&self.plan, most, present)?;
            // Under all locks no copy is added, cleared or relocated. Splits go on, but no next
            // level begins.
            (0..self.stripes()).for_each(|stripe| self.lock(stripe));
            let from = self.pointer();
            let pointer = self.pointer_of_copy(from);
            let fits = self.plan.places(pointer) <= most;
            let len = if fits { self.copy_into(from.level, pointer, &mut words) } else { 0 };
            (0..self.stripes()).for_each(|stripe| self.unlock(stripe));
            if fits {
                return Ok((pointer, words, len));
            }
            // It has doubled meanwhile. It does so a few times at most.
        }
    }

    /// Returns the pointer of a copy: that of the table, or if a bucket of the portion there is
    /// split, the one behind the portion. The caller holds all stripes.
    ///
    /// A splitter may have stopped before it moved the pointer, and other threads may have added
    /// to the children since. Then these need not fit into one bucket.
    pub(super) fn pointer_of_copy(&self, pointer: Pointer) -> Pointer {
        if pointer == self.plan.last() {
            return pointer;
        }
        let split = tag_of_level(pointer.level + 1);
        let is_split = |place| tag(self.bucket(place), *self.shape(pointer.level)) == split;
        if self.portion_at(pointer).any(is_split) { self.behind_portion(pointer) } else { pointer }
    }

    /// Copies the buckets that this pointer says, and returns the number of copies in them. `from`
    /// is the level of the table's pointer. The caller holds all stripes.
    pub(super) fn copy_into(&self, from: u32, pointer: Pointer, words: &mut Words) -> u64 {
        let mut len = 0;
        for place in 0..self.plan.places(pointer) {
            let level = pointer.level_at(&self.plan, place);
            let (bucket, shape) = (self.normal(from, level, place), self.shape(level));
            len += u64::from(shape.slots - shape.count(bucket, 0));
            words.set(place, bucket);
        }
        len
    }

    /// Returns the bucket at a place as one at rest at this level: `from`, that of the table's
    /// pointer, or the next one. The caller holds all stripes.
    fn normal(&self, from: u32, level: u32, place: u64) -> u128 {
        let bucket = self.bucket(place);
        if tag(bucket, *self.shape(level)) == tag_of_level(level) {
            return bucket;
        }
        // It is frozen, or its portion is split in the copy only, or it was split since the pointer
        // was loaded.
        let number = place & ((self.plan.positions() << from) - 1);
        let (parent, shape, next_shape) =
            (self.bucket(number), *self.shape(from), *self.shape(from + 1));
        let is_split = tag(parent, shape) == tag_of_level(from + 1);
        match (is_split, level == from) {
            (false, true) => with_tag(parent, tag_of_level(from), shape),
            (false, false) => halves(parent, from, shape, next_shape)[usize::from(place != number)],
            // It has been born between the two loads.
            (true, false) => self.bucket(place),
            (true, true) => {
                // Put its children together. They fit, because nothing has been added to them.
                let children = [parent, self.bucket((self.plan.positions() << from) + number)];
                let joined = joined(children, from, shape, next_shape);
                debug_assert!(joined.is_some(), "a copy was added while all stripes were locked");
                joined.unwrap_or(parent)
            }
        }
    }

    /// Makes a table of the buckets in these lines, which are all that the plan may need. The
    /// first of them are those of a table at this pointer.
    pub(crate) fn of_lines(plan: Plan, pointer: Pointer, lines: Lines) -> Result<Self, AllocError> {
        let words = Words::of_lines(&plan, lines)?;
        let mut table = Self::of_words(plan, words, plan.stripes(), Self::portion_of(&plan))?;
        table.restart(pointer);
        Ok(table)
    }
}

/// Returns the number of lines of a table after all doublings.
pub(crate) const fn all_lines(plan: &Plan) -> u64 {
    lines(plan, plan.last_places())
}

/// Returns the number of copies in a line of a normal table, or `None` if these are not the words
/// of one: a tag is another one, a bit behind the last slot is set, a slot has a number that no
/// item has, or a word behind the last bucket is not 0.
pub(crate) fn line_len(
    plan: &Plan,
    pointer: Pointer,
    line: u64,
    words: &[u64; LINE_WORDS],
) -> Option<u32> {
    let per_bucket = if plan.paired { 2 } else { 1 };
    // No table has a line of a number so high that a place overflows.
    let first = line.min(u64::MAX >> 8) * (LINE_WORDS / per_bucket) as u64;
    let mut len = 0;
    for (place, words) in (first..).zip(words.chunks_exact(per_bucket)) {
        let bucket = words.iter().rev().fold(0, |bucket, &word| bucket << 64 | u128::from(word));
        if place >= plan.places(pointer) {
            if bucket != 0 {
                return None;
            }
            continue;
        }
        let level = pointer.level_at(plan, place);
        let shape = plan.shape(level);
        let slots = with_tag(bucket, 0, shape);
        let is_spare = |bits: u128| bits.checked_shr(shape.slots * shape.width).unwrap_or(0) != 0;
        if tag(bucket, shape) != tag_of_level(level)
            || is_spare(slots)
            || shape.fingerprints_of(bucket).any(|held| !plan.may_hold(level, held))
        {
            return None;
        }
        len += shape.slots - shape.count(slots, 0);
    }
    Some(len)
}
