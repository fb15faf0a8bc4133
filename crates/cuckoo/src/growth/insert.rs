//! Inserts into a table that grows: a copy is added to an empty slot; or others are relocated
//! first; or the table splits a portion of its buckets.

use tamis_sync::Counter;

use crate::error::InsertError;
use crate::growth::layout::Contents;
use crate::growth::split::{GrowError, Progress};
use crate::growth::table::Table;
use crate::place::{self, Class};
use crate::search::{Readable, Search};

/// One insert of this number, chosen by its hash, compares the number of items with the size.
const SOME: u64 = 16;

/// The portions that such an insert splits at most.
const PORTIONS: u32 = 4;

/// Returns whether a class is chosen. The low bits of the fingerprint are uniform.
#[inline]
const fn is_chosen(class: Class) -> bool {
    class.fingerprint.is_multiple_of(SOME)
}

impl Table {
    /// Splits some portions if there are more items than the table should hold.
    #[inline]
    pub(crate) fn keep_up(&self, class: Class, len: &Counter) {
        if is_chosen(class) {
            self.split_for(len.get());
        }
    }

    /// Splits some portions if the table should not hold this number of items.
    #[inline(never)]
    fn split_for(&self, items: u64) {
        for _ in 0..PORTIONS {
            let pointer = self.pointer();
            if items < self.plan.items(pointer.level, pointer.next)
                || self.split_portion() != Progress::Split
            {
                return;
            }
        }
    }
}

impl Readable for Table {
    fn len(&self) -> u64 {
        self.pointer().places(&self.plan)
    }

    fn read(&self, position: u64, whole: u64) -> Contents<'_> {
        self.peek(position, whole)
    }

    fn alternate(&self, whole: u64, position: u64) -> u64 {
        place::alternate(whole, position, self.plan.buckets)
    }
}

/// Inserts one copy of the class.
#[inline]
pub(crate) fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
    // Before the lock, behind which no load begins early.
    table.prefetch(class, table.pointer());
    if table.lock_stripe(class).add() { Ok(()) } else { insert_into_full(table, class) }
}

/// Inserts one copy of the class, after an attempt that found both buckets full.
#[cold]
fn insert_into_full(table: &Table, class: Class) -> Result<(), InsertError> {
    loop {
        // Neither a search nor a split helps if all slots of both buckets hold this class: a split
        // keeps its copies together.
        if may_be_full_of(table, class) && table.lock_stripe(class).is_full_of_class() {
            return Err(InsertError::TooManyCopies);
        }
        make_room(table, class)?;
        // Another thread may have filled the slot; then start again.
        if table.lock_stripe(class).add() {
            return Ok(());
        }
    }
}

/// Returns whether a slot of the first bucket holds the class: a cheap check, which mostly fails.
fn may_be_full_of(table: &Table, class: Class) -> bool {
    table.peek(class.buckets[0], class.fingerprint).contains(class)
}

/// Inserts one copy of the class unless it has one. Exactly one of any number of concurrent calls
/// for one class returns `Ok(true)`.
#[inline]
pub(crate) fn insert_once(table: &Table, class: Class) -> Result<bool, InsertError> {
    // An item that is present needs no lock.
    if table.contains(class) {
        return Ok(false);
    }
    loop {
        {
            // Every insert of the class checks and adds under this lock, so exactly one of them
            // finds no copy.
            let guard = table.lock_stripe(class);
            if guard.contains() {
                return Ok(false);
            }
            if guard.add() {
                return Ok(true);
            }
        }
        // Without the lock: a thread holds one at most.
        if let Err(error) = make_room(table, class) {
            // Another insert may have used the last empty slot for the same item.
            return if table.lock_stripe(class).contains() { Ok(false) } else { Err(error) };
        }
    }
}

/// Relocates other copies, or splits buckets, until one of the class's buckets has an empty slot.
/// Another thread may fill that slot before the caller does.
#[cold]
fn make_room(table: &Table, class: Class) -> Result<(), InsertError> {
    // Mostly one relocation is enough. Look for it by code for the shapes in use. MEASURED: an
    // insert at 84 % of the slots executes 1,680 instructions on average, instead of 2,910 with
    // the search alone (any machine: counted by callgrind, 60,000 items at 1e-4).
    if let Some(step) = table.find_step(class)
        && table.lock_stripe(step).relocate()
    {
        return Ok(());
    }
    let mut search = Search::new();
    loop {
        // Find the shortest path, without a lock.
        let Some(mut steps) = search.steps(class, table) else {
            // There is none: the table must grow.
            table.grow().map_err(|error| match error {
                GrowError::Ended => InsertError::Full,
                GrowError::Stalled => InsertError::Stalled,
            })?;
            continue;
        };
        // Execute it from its far end. `all` stops at the first step that is no longer possible;
        // then search again.
        if steps.all(|step| table.lock_stripe(step.class()).relocate()) {
            return Ok(());
        }
    }
}
