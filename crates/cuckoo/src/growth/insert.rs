//! Inserts into a table that grows: a copy is added to an empty slot; or others are relocated
//! first; or the table splits a portion of its buckets.

use tamis_sync::{Counter, Kernel, Vectors};

use crate::error::InsertError;
use crate::growth::guard::Added;
use crate::growth::layout::Contents;
use crate::growth::locate::Placed;
use crate::growth::split::{GrowError, Progress};
use crate::growth::table::Table;
use crate::growth::words::{Memory, Words, with_memory};
use crate::place::Class;
use crate::search::{Readable, Search};

/// One insert of this number, chosen by its hash, compares the number of items with the size.
const SOME: u64 = 16;

/// The portions that such an insert splits at most.
const PORTIONS: u32 = 4;

/// The most portions that are split from one search to the next.
const MOST_PORTIONS: u32 = 64;

/// How often a table doubles for copies of a few items. MEASURED: without a bound, six copies of
/// each of 1000 items took 360 times the memory of the table for 6000 items (1e-6, any machine).
const CROWDED_DOUBLINGS: u32 = 3;

/// Returns whether a class is chosen. The low bits of the fingerprint are uniform.
#[inline]
const fn is_chosen(class: Class) -> bool {
    class.fingerprint.is_multiple_of(SOME)
}

impl Table {
    /// Splits some portions if there are more items than the table should hold.
    #[inline(always)]
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
            if items < self.items_before_split(pointer) || self.split_portion() != Progress::Split {
                return;
            }
        }
    }
}

/// See [`Table::relocate_one`].
struct RelocateOne<'t> {
    table: &'t Table,
    class: Class,
}

impl Kernel for RelocateOne<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: Option<Vectors>) -> bool {
        let Self { table, class } = self;
        let step = with_memory!(&table.words, memory => table.find_step(memory, class));
        match step {
            Some(step) => table.lock_stripe(&step).relocate(),
            None => false,
        }
    }
}

impl Table {
    /// Relocates a copy from a bucket of the class to another bucket, if one has an empty slot.
    fn relocate_one(&self, class: Class) -> bool {
        self.simd.run(RelocateOne { table: self, class })
    }

    /// Returns a copy in a bucket of the class whose other bucket has an empty slot: the class of
    /// the copy, with its present position first, and where its buckets are. A guess, as all that
    /// a search returns.
    #[inline(always)]
    fn find_step<M: Memory>(&self, memory: &M, class: Class) -> Option<Placed> {
        let placed = self.placed(class);
        for (which, read) in self.read_both(memory, &placed).into_iter().enumerate() {
            for held in read.form.shape.fingerprints_of(read.value) {
                let step = placed.of_slot(which, held, self.layout());
                let to = self.read_second(memory, &step);
                if to.is_at_rest::<M>() & (to.first_empty::<M>() < M::BITS) {
                    return Some(step);
                }
            }
        }
        None
    }
}

impl Readable for Table {
    fn len(&self) -> u64 {
        self.places()
    }

    #[inline]
    fn read(&self, position: u64, whole: u64) -> Contents<'_> {
        self.peek(position, whole)
    }

    fn alternate(&self, whole: u64, position: u64) -> u64 {
        self.layout().alternate(whole, position)
    }
}

/// Inserts one copy of the class. `len`, the number of copies in the table, limits growth.
#[inline(always)]
pub(crate) fn insert(
    table: &Table,
    placed: &Placed,
    len: Option<&Counter>,
) -> Result<(), InsertError> {
    // Another thread may fill the slot that was made; then start again.
    while !table.lock_stripe(placed).add() {
        make_room(table, placed.class, len)?;
    }
    Ok(())
}

/// Inserts one copy of the class unless it has one. Exactly one of any number of concurrent calls
/// for one class returns `Ok(true)`. It locks, so query first: an item that is present needs no
/// lock.
#[inline(always)]
pub(crate) fn insert_once(table: &Table, placed: &Placed) -> Result<bool, InsertError> {
    loop {
        // Every insert of the class checks and adds under this lock, so exactly one of them finds
        // no copy.
        match table.lock_stripe(placed).add_once() {
            Added::Present => return Ok(false),
            Added::New => return Ok(true),
            Added::Full => {}
        }
        // Without the lock: a thread holds one at most.
        // Classes without copies do not crowd.
        if let Err(error) = make_room(table, placed.class, None) {
            // Another insert may have used the last empty slot for the same item.
            let is_present = table.lock_stripe(placed).contains();
            return if is_present { Ok(false) } else { Err(error) };
        }
    }
}

/// Relocates other copies, or splits buckets, until one of the class's buckets has an empty slot.
/// Another thread may fill that slot before the caller does. `len`: see [`insert`].
#[cold]
fn make_room(table: &Table, class: Class, len: Option<&Counter>) -> Result<(), InsertError> {
    // 1. Mostly one relocation is enough. MEASURED: an insert at 84 % of the slots executes 1,680
    //    instructions on average, instead of 2,910 with the search alone (any machine: counted by
    //    callgrind, 60,000 items at 1e-4, with an earlier version of the code).
    if table.relocate_one(class) { Ok(()) } else { search_for_room(table, class, len) }
}

/// As [`make_room`], by a search. A function of its own, since its stack frame is large.
#[cold]
#[inline(never)]
fn search_for_room(table: &Table, class: Class, len: Option<&Counter>) -> Result<(), InsertError> {
    let (mut search, mut portions) = (Search::new(), 1);
    loop {
        // 2. Neither a search nor a split helps if all slots of both buckets hold this class: a
        //    split keeps its copies together. Check before each search: another insert may have
        //    added the last possible copy, and the table would grow to its end in vain.
        if is_full_of(table, class) {
            return Err(InsertError::TooManyCopies);
        }
        // 3. Find the shortest path, without a lock.
        let pointer = table.pointer();
        let Some(mut steps) = search.steps(class, table) else {
            // There is none. Another insert may have added the last possible copy meanwhile;
            // otherwise the table must grow.
            if is_full_of(table, class) {
                return Err(InsertError::TooManyCopies);
            }
            // In a table that is mostly empty, only copies of a few items can have filled the
            // buckets, and they do so at each size. It does not grow for one more of them.
            let crowd = table.items_before_split(pointer) >> CROWDED_DOUBLINGS;
            let is_in = |bucket: &u64| table.peek(*bucket, class.fingerprint).contains(class);
            if len.is_some_and(|len| len.get() < crowd) && class.buckets.iter().any(is_in) {
                return Err(InsertError::TooManyCopies);
            }
            // More portions each time: few of them have a bucket that the search has seen.
            let grown = (0..portions).try_for_each(|_| table.grow());
            portions = MOST_PORTIONS.min(2 * portions);
            match grown {
                Ok(()) => continue,
                // Buckets were split since the search began: search once more.
                Err(_) if table.pointer() != pointer => continue,
                Err(GrowError::Ended) => return Err(InsertError::Full),
                Err(GrowError::Stalled) => return Err(InsertError::Stalled),
            }
        };
        // 4. Execute it from its far end. `all` stops at the first step that is no longer possible;
        // then search again.
        if steps.all(|class| table.lock_stripe(&table.placed(class)).relocate()) {
            return Ok(());
        }
    }
}

/// Returns whether all slots of both buckets hold copies of the class.
fn is_full_of(table: &Table, class: Class) -> bool {
    // At first a cheap check, which mostly fails.
    table.peek(class.buckets[0], class.fingerprint).contains(class)
        && table.lock_stripe(&table.placed(class)).is_full_of_class()
}
