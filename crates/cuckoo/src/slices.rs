//! The tables of a filter that grows, and what they share: with `table.rs` the only file of this
//! crate that names a memory ordering.
//!
//! The filter is a list of *slices*: tables of doubling size in which every item has the same
//! class ([`nesting`](crate::nesting)). A copy of a class may be in any slice, and all copies
//! of a class stand for each other. Each table follows [`protocol`](crate::protocol), with its own
//! stripes. Above them are the filter's *locks* and *versions*: an item's class selects one of
//! each, the same for the whole life of the filter.
//!
//! # Rules
//!
//! 1. **Insert.** Under the lock of the class, a copy is added to some open slice, by the
//!    table's own insert.
//! 2. **Remove.** Under the lock of the class, a removal finds a slice that has a copy,
//!    advances the version of the class (Release), and then removes a copy from that slice, by
//!    the table's own removal.
//! 3. **Query.** A query loads the version (Acquire), then the length of the list (Acquire), then
//!    queries all slices. It returns `true` if one of them has a copy. If none has, it loads
//!    the version again (Relaxed). If it is unchanged, the query returns `false`. Otherwise it
//!    starts again; after eight attempts it queries the slices under the lock of the class.
//! 4. **Contract of the caller.** As for one table: each `remove(y)` serves one `insert(y)` that
//!    happened before it, and no insert is served by two removals.
//!
//! # No query misses a present item
//!
//! Let `insert(x)` happen before the query, let x not be removed, and suppose that the query
//! returns `false` without the lock. All adds and removals below are those of the class of x.
//!
//! * Removals hold the lock of the class, so they are totally ordered: *r1*, *r2*, … (Acquire,
//!   Release). Let *k* be the number of them whose advance happens before the query's first load of
//!   the version, which returns at least the number of the *k*-th advance, and is an Acquire.
//! * **A removal after *rk* is not seen.** A table's query reads a bucket by an Acquire load, and a
//!   removal clears by a Release, after its advance. So if the query saw the clear of a later
//!   removal, its second load of the version would return that removal's advance, and differ from
//!   the first. So at most *k* clears of removals are seen.
//! * **At least *k* + 1 adds are seen**: x's own, and for each of the *k* removals that of the
//!   insert that it serves. That insert happens before the removal, before its advance, and before
//!   the first load. The slice of such an add is in the list that the query goes through: its
//!   insert has loaded a length that includes it, and the query loads the length later.
//! * **In each table, a valid miss sees at least as many clears of removals as adds of inserts.**
//!   The two values that it loaded hold no copy. So what it sees are as many clears as adds, those
//!   of relocations included. And with the clear of a relocation it also sees its add: by step 2 of
//!   the table's proof, which needs no more than an unchanged version of the table's stripe. (A
//!   miss under the lock of the table's stripe is exact, by its claim 2.)
//!
//! The sum of the last statement over all tables contradicts the two before it. ∎
//!
//! Under the lock of the class no removal of the class runs, so one pass is enough: with `k` as the
//! number of all removals before, the same argument holds.
//!
//! # Pages of an empty slice
//!
//! A slice that is empty, and is not the newest, can give its pages back to the system. All of
//! its words are zero then, and its pages are replaced by pages of zeros: no reader can tell. What
//! must be excluded is a concurrent insert. So the slice is *closed*, and then each lock of
//! the filter is taken and freed once. Let an insert hold one of them. If it took the lock before
//! this pass did, the pass waits for it, and what it added happens before what follows. If it took
//! the lock after, it sees that the slice is closed (Acquire from the Release of the pass),
//! and goes to another. So after the pass no insert adds to the slice, nothing is relocated in
//! it, and its number of copies only falls. If it is zero, all slots have been cleared, and the
//! pages are given back. Then the slice is opened again.

use alloc::vec::Vec;

use tamis_core::BuildError;
use tamis_hash::split;
use tamis_sync::{
    AllocError, Counter, LINE_BYTES, Lines, Ordering, PairAccess, Slots, StripeGuard, Stripes, Word,
};

use crate::error::InsertError;
use crate::evict;
use crate::nesting::nested;
use crate::place::{Class, GOLDEN};
use crate::plan::Plan;
use crate::table::Table;

mod copies;
#[cfg(all(test, tamis_loom))]
mod models;
#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests;

/// The highest number of locks. With the versions they take 32 KiB, which a filter that starts
/// small should not exceed.
const MAX_LOCKS: u64 = 1 << 8;

/// The number of times that a query goes through all slices without the lock.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 1 } else { 8 };

/// One insert of this number, chosen by its hash, looks after the preparation of the next
/// slice. So does one removal, after empty slices.
const SOME: u64 = 64;

/// Returns whether a hash is chosen, independently of bucket and fingerprint. The hash's own low
/// bits would not do: all items of a filter may have the same ones, if a program has a filter for
/// each of them.
#[inline]
const fn is_chosen(hash: u64) -> bool {
    split::pattern(hash).wrapping_mul(GOLDEN) < u64::MAX / SOME
}

/// The lines that one insert makes present in the next slice: 64 KiB, or one page if that is
/// more.
const PORTION: usize = 1 << 10;

/// The part of the newest slice's items, in eighths, from which the next is prepared.
const PREPARED_FROM: u64 = 7;

/// The part of a slice's items, in percent, below which an older slice takes inserts
/// again.
const ROOMY: u64 = 85;

/// The states of a slice: it takes inserts.
const OPEN: u64 = 0;
/// It takes none, until its pages have been given back.
const CLOSED: u64 = 1;
/// It takes inserts, and its pages have been given back: all words are zero.
const GIVEN_BACK: u64 = 2;
/// It takes inserts and was empty, but its memory is that of the allocator, and cannot be given
/// back.
const KEPT: u64 = 3;

/// One table of the filter.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) table: Table,
    pub(crate) len: Counter,
    /// The number of lines that have been made present.
    touched: Word,
    state: Word,
}

impl Slice {
    /// Makes a slice of a table that contains `len` copies.
    pub(crate) fn of_table(table: Table, len: u64) -> Result<Self, AllocError> {
        let mut count = Counter::zeroed(table.geometry().parts())?;
        count.set(len);
        Ok(Self { table, len: count, touched: Word::new(0), state: Word::new(OPEN) })
    }

    /// Reserves the memory of a slice, without making it present.
    fn reserved(plan: &Plan, number: u32) -> Result<Self, BuildError> {
        let geometry = plan.geometry(number)?;
        let build = || {
            let lines = Lines::reserved(geometry.lines())?;
            let table =
                Table::from_lines(geometry, lines, geometry.stripes(), PairAccess::detect())?;
            Self::of_table(table, 0)
        };
        build().map_err(|error| BuildError::Alloc { bytes: crate::shared::bytes(error) })
    }

    /// Makes the next portion of the memory present. Returns whether there is nothing left to do.
    fn touch(&self) -> bool {
        let lines = self.table.geometry().lines() as usize;
        let portion = PORTION.max(self.table.page_lines());
        // ORDERING: Relaxed: a ticket. Each portion is touched by the thread that draws it, and
        // touching is harmless.
        let from = self.touched.load(Ordering::Relaxed) as usize;
        if from >= lines {
            return true;
        }
        // ORDERING: likewise.
        let from = self.touched.fetch_add(portion as u64, Ordering::Relaxed) as usize;
        let end = from.saturating_add(portion);
        self.table.touch(from..end);
        end >= lines
    }
}

/// The slices, oldest first.
#[derive(Debug)]
pub(crate) struct Slices {
    plan: Plan,
    list: Slots<Slice>,
    /// The number of the slice that takes inserts first: a hint.
    active: Word,
    /// Held while the pages of an empty slice are given back.
    closing: Word,
    locks: Stripes,
    versions: Lines,
}

impl Slices {
    /// Allocates the first slice.
    pub(crate) fn new(plan: Plan) -> Result<Self, BuildError> {
        let to_error = |error| BuildError::Alloc { bytes: crate::shared::bytes(error) };
        let table = Table::zeroed(plan.geometry(0)?).map_err(to_error)?;
        let first = Slice::of_table(table, 0).map_err(to_error)?;
        Self::with_first(plan, first, Self::locks_of(&plan)).map_err(to_error)
    }

    /// Makes a list of one slice, with the given number of locks.
    pub(crate) fn with_first(plan: Plan, first: Slice, locks: u64) -> Result<Self, AllocError> {
        let locks = Stripes::zeroed(locks.min(MAX_LOCKS))?;
        let versions = Lines::zeroed(locks.len() as u64)?;
        let (active, closing) = (Word::new(0), Word::new(0));
        Ok(Self { plan, list: Slots::new(first), active, closing, locks, versions })
    }

    /// Appends a slice.
    pub(crate) fn push(&mut self, slice: Slice) -> bool {
        let number = self.list.len();
        let pushed = self.list.set(number, slice).is_ok() && self.list.publish(number + 1);
        self.active.update(|active| *active = self.list.len() as u64 - 1);
        pushed
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the slices, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Slice> + ExactSizeIterator {
        self.list.iter()
    }

    #[inline]
    fn version(&self, class: Class) -> &Word {
        &self.versions[self.locks.index(class.key())].words[0]
    }

    #[inline]
    fn lock(&self, class: Class) -> StripeGuard<'_> {
        // ORDERING: Acquire and Release: the holders of a lock are totally ordered.
        self.locks.lock(self.locks.index(class.key()), Ordering::Acquire, Ordering::Release)
    }

    /// Prefetches the buckets of a class in the newest slice, which has most of the items.
    #[inline]
    pub(crate) fn prefetch(&self, class: Class) {
        let newest = self.list.len() - 1;
        if let Some(slice) = self.list.get(newest) {
            slice.table.buckets().prefetch(nested(class, newest as u32));
        }
    }

    /// Inserts a copy of the class of a hash.
    #[inline]
    pub(crate) fn insert(&self, hash: u64, class: Class) -> Result<(), InsertError> {
        loop {
            let seen = self.list.len();
            match self.insert_into_any(class, seen) {
                Err(InsertError::Full) => self.grow(seen)?,
                result => {
                    if is_chosen(hash) {
                        self.prepare();
                    }
                    return result;
                }
            }
        }
    }

    /// Inserts a copy into one of the first `seen` slices.
    fn insert_into_any(&self, class: Class, seen: usize) -> Result<(), InsertError> {
        let _guard = self.lock(class);
        // ORDERING: Relaxed: a hint.
        let active = (self.active.load(Ordering::Relaxed) as usize).min(seen - 1);
        let result = self.insert_into(active, class);
        if result.is_err() { self.insert_into_other(class, seen, active) } else { result }
    }

    /// Inserts a copy into another slice than the active one, which is full: into one with
    /// room, so that a filter in which items come and go does not grow. The caller holds the lock
    /// of the class.
    #[cold]
    fn insert_into_other(
        &self,
        class: Class,
        seen: usize,
        active: usize,
    ) -> Result<(), InsertError> {
        let mut result = Err(InsertError::Full);
        // The largest first, and at last the newest, even if it has little room.
        let roomy = (0..seen).rev().filter(|&number| number != active && self.is_roomy(number));
        for number in roomy.chain([seen - 1]) {
            result = self.insert_into(number, class);
            if result.is_ok() {
                // ORDERING: Relaxed: a hint.
                self.active.store(number as u64, Ordering::Relaxed);
                break;
            }
        }
        result
    }

    /// Returns whether a slice has so much room that it should take inserts again.
    fn is_roomy(&self, number: usize) -> bool {
        self.list
            .get(number)
            .is_some_and(|slice| slice.len.get() * 100 < self.plan.items_of(number as u32) * ROOMY)
    }

    /// Inserts a copy into a slice. The caller holds the lock of the class.
    #[inline]
    fn insert_into(&self, number: usize, class: Class) -> Result<(), InsertError> {
        let Some(slice) = self.list.get(number) else { return Err(InsertError::Full) };
        // ORDERING: Acquire pairs with the Release of `give_back`. The lock orders it after the
        // closing, as the comment of this file says.
        let state = slice.state.load(Ordering::Acquire);
        // An update, which a closing in between makes fail.
        // ORDERING: Relaxed: it only says that the pages may be given back again.
        let reopen = |state| matches!(state, GIVEN_BACK | KEPT).then_some(OPEN);
        if state != OPEN && slice.state.try_update(Ordering::Relaxed, reopen) == Err(CLOSED) {
            return Err(InsertError::Full);
        }
        evict::insert(slice.table.buckets(), nested(class, number as u32))?;
        slice.len.add(1);
        Ok(())
    }

    /// Makes room after all `seen` slices were full: publishes another, or returns an error if
    /// the plan has none.
    #[cold]
    fn grow(&self, seen: usize) -> Result<(), InsertError> {
        if seen >= (self.plan.slices as usize).min(Slots::<Slice>::MAX) {
            return Err(InsertError::Full);
        }
        self.reserve(seen);
        // Another thread may have published it; then the insert tries again, too.
        self.list.publish(seen + 1);
        if self.list.len() == seen {
            // No memory.
            return Err(InsertError::Full);
        }
        // ORDERING: Relaxed: a hint.
        self.active.store(seen as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Reserves the memory of the slice with this number, unless that has been done or the
    /// memory is refused.
    fn reserve(&self, number: usize) -> Option<&Slice> {
        if self.list.get(number).is_none() {
            let slice = Slice::reserved(&self.plan, number as u32).ok()?;
            // If another thread was faster, this one is dropped.
            let _ = self.list.set(number, slice);
        }
        self.list.get(number)
    }

    /// Makes a portion of the next slice's memory present, if the newest is nearly full. No
    /// thread waits.
    #[cold]
    fn prepare(&self) {
        let newest = self.list.len() - 1;
        let next = newest + 1;
        if next >= (self.plan.slices as usize).min(Slots::<Slice>::MAX) {
            return;
        }
        let items = self.list.get(newest).map_or(0, |newest| newest.len.get());
        if items >= self.plan.items_of(newest as u32) / 8 * PREPARED_FROM
            && let Some(next) = self.reserve(next)
        {
            next.touch();
        }
    }

    /// Removes a copy of the class of a hash. Returns `false` if there is none.
    #[inline]
    pub(crate) fn remove(&self, hash: u64, class: Class) -> bool {
        let removed = {
            let _guard = self.lock(class);
            self.remove_locked(class)
        };
        if removed && is_chosen(hash) {
            self.give_back_empty();
        }
        removed
    }

    /// Removes a copy from the newest slice that has one. The caller holds the lock of the
    /// class.
    fn remove_locked(&self, class: Class) -> bool {
        for (number, slice) in self.list.iter().enumerate().rev() {
            let guard = slice.table.buckets().lock_stripe(nested(class, number as u32));
            if guard.contains() {
                // ORDERING: Release, before the clear: a query that sees the clear sees this
                // advance.
                self.version(class).advance(Ordering::Release);
                guard.remove();
                drop(guard);
                slice.len.subtract(1);
                return true;
            }
        }
        false
    }

    /// Returns the number of copies of the class.
    pub(crate) fn count(&self, class: Class) -> u32 {
        let _guard = self.lock(class);
        let count = |(number, slice): (usize, &Slice)| {
            slice.table.buckets().lock_stripe(nested(class, number as u32)).count()
        };
        self.list.iter().enumerate().map(count).sum()
    }

    /// Returns whether there is a copy of the class.
    #[inline]
    pub(crate) fn contains(&self, class: Class) -> bool {
        match self.try_contains(class) {
            Some(found) => found,
            None => self.contains_contended(class),
        }
    }

    /// Returns whether there is a copy of the class, or `None` if a removal disturbed the query.
    #[inline]
    fn try_contains(&self, class: Class) -> Option<bool> {
        let version = self.version(class);
        // ORDERING: Acquire pairs with the Release of `remove_locked`.
        let before = version.load(Ordering::Acquire);
        if self.is_in_any(class) {
            return Some(true);
        }
        // ORDERING: Relaxed: the Acquire loads of the buckets keep it behind them.
        (version.load(Ordering::Relaxed) == before).then_some(false)
    }

    /// Queries the slices, newest first: it has most of the items.
    #[inline]
    fn is_in_any(&self, class: Class) -> bool {
        let slices = self.list.iter().enumerate().rev();
        slices
            .into_iter()
            .any(|(number, slice)| slice.table.buckets().contains(nested(class, number as u32)))
    }

    #[cold]
    fn contains_contended(&self, class: Class) -> bool {
        let result = (1..MAX_ATTEMPTS).find_map(|_| self.try_contains(class));
        result.unwrap_or_else(|| {
            // Without removals one pass is exact.
            let _guard = self.lock(class);
            self.is_in_any(class)
        })
    }

    /// Gives the pages of empty slices back to the system, apart from the newest. Returns the
    /// number of bytes.
    ///
    /// If another thread does the same, it returns at once.
    #[cold]
    pub(crate) fn give_back_empty(&self) -> u64 {
        let newest = self.list.len() - 1;
        // ORDERING: Relaxed: a hint; `give_back` decides.
        let is_idle =
            |slice: &Slice| slice.state.load(Ordering::Relaxed) == OPEN && slice.len.get() == 0;
        if !self.list.iter().take(newest).any(is_idle) {
            return 0;
        }
        // ORDERING: Acquire and Release: one thread at a time changes states.
        if self.closing.try_update(Ordering::Acquire, |held| (held == 0).then_some(1)).is_err() {
            return 0;
        }
        let idle = self.list.iter().take(newest).filter(|slice| is_idle(slice));
        let bytes = idle.map(|slice| self.give_back(slice)).sum();
        // ORDERING: Release, as said.
        self.closing.store(0, Ordering::Release);
        bytes
    }

    /// Closes a slice, and gives its pages back if it is still empty.
    fn give_back(&self, slice: &Slice) -> u64 {
        // ORDERING: Relaxed: the locks that follow publish it.
        slice.state.store(CLOSED, Ordering::Relaxed);
        // Wait for the inserts that have seen it open.
        // ORDERING: Acquire and Release, as in `lock`.
        (0..self.locks.len())
            .for_each(|index| drop(self.locks.lock(index, Ordering::Acquire, Ordering::Release)));
        let mut bytes = 0;
        let mut state = OPEN;
        if slice.len.get() == 0 {
            state = KEPT;
            if slice.table.release() {
                bytes = slice.table.geometry().size_in_bytes();
                state = GIVEN_BACK;
            }
        }
        // ORDERING: Release: an insert that sees it open comes after what was done here. It may
        // also see it later.
        slice.state.store(state, Ordering::Release);
        bytes
    }

    /// Returns the number of copies.
    pub(crate) fn len(&self) -> u64 {
        self.list.iter().map(|slice| slice.len.get()).sum()
    }

    /// Returns the bytes of all slices, the locks and the versions, without pages that were
    /// given back.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        // ORDERING: Relaxed: a report.
        let held = |slice: &&Slice| slice.state.load(Ordering::Relaxed) != GIVEN_BACK;
        let bytes = |slice: &Slice| slice.table.geometry().size_in_bytes();
        let slices: u64 = self.list.iter().filter(held).map(bytes).sum();
        slices + 2 * (self.locks.len() * LINE_BYTES) as u64
    }

    /// Locks all classes, while other threads query. Until the guards are dropped, nothing is
    /// inserted, relocated or removed. `guards` must be empty and have room for all locks, so that
    /// nothing is allocated here.
    fn lock_all<'g>(&'g self, guards: &mut Vec<StripeGuard<'g>>) {
        // In ascending order, as every thread that takes several locks.
        // ORDERING: Acquire and Release, as in `lock`.
        guards.extend(
            (0..self.locks.len())
                .map(|index| self.locks.lock(index, Ordering::Acquire, Ordering::Release)),
        );
    }

    /// Returns the number of locks of a filter with this plan: those of its largest table, up to a
    /// limit.
    pub(crate) fn locks_of(plan: &Plan) -> u64 {
        plan.geometry(plan.slices - 1).map_or(MAX_LOCKS, |last| last.stripes())
    }

    /// Empties all slices.
    pub(crate) fn clear(&mut self) {
        for slice in self.list.iter_mut() {
            // This makes all pages present, those that were given back too.
            slice.table.clear();
            slice.len.set(0);
            slice.state.update(|state| *state = OPEN);
        }
        self.active.update(|active| *active = 0);
    }
}
