//! The holders of a stripe of a table that grows: they add, relocate and remove copies of a class,
//! while other threads split its buckets.

use tamis_sync::{Backoff, Ordering};

use crate::growth::layout::{Contents, folded};
use crate::growth::locate::Placed;
use crate::growth::query::Read;
use crate::growth::table::{Resolved, Table};
use crate::growth::words::{Memory, Words, with_memory};
use crate::place::Class;

/// The number of attempts of a query before it tries to take the lock too. The first one reads
/// buckets at rest only. The models use two.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 2 } else { 8 };

impl Table {
    /// Locks the stripe of a class, and waits for it if necessary. Until the guard is dropped, no
    /// other thread adds or clears a copy of the class.
    #[inline(always)]
    pub(crate) fn lock_stripe<'t>(&'t self, placed: &'t Placed) -> StripeGuard<'t> {
        let stripe = self.stripe(placed.class);
        self.lock(stripe);
        StripeGuard { table: self, stripe, placed }
    }

    /// Returns whether there is a copy of the class, after a first attempt that was not valid.
    #[cold]
    pub(crate) fn contains_contended(&self, class: Class) -> bool {
        if let Some(found) = (1..MAX_ATTEMPTS).find_map(|_| self.try_contains(class)) {
            return found;
        }
        // Never wait for the holder of the lock, who may have stopped: while it does nothing, an
        // attempt succeeds.
        let mut backoff = Backoff::default();
        loop {
            let stripe = self.stripe(class);
            if self.try_lock(stripe) {
                let placed = &self.placed(class);
                return StripeGuard { table: self, stripe, placed }.contains();
            }
            if let Some(found) = self.try_contains(class) {
                return found;
            }
            backoff.wait();
        }
    }
}

/// The result of an attempt to add a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    New,
    /// There was a copy.
    Present,
    /// Neither bucket has an empty slot.
    Full,
}

/// A locked stripe, for one of the classes that belong to it.
#[derive(Debug)]
pub(crate) struct StripeGuard<'t> {
    table: &'t Table,
    stripe: u64,
    /// The class, and where its buckets were for a value of the pointer that was loaded without the
    /// lock.
    ///
    /// A reference: the compiler would copy a value in vectors, just after it was written in words.
    /// The processor cannot forward such stores, and the copy would wait. MEASURED: an insert in a
    /// batch takes 66 ns instead of 73 ns (from empty to a million items at 1 %, Zen 5).
    placed: &'t Placed,
}

impl StripeGuard<'_> {
    /// Reads both buckets, which are at rest.
    ///
    /// The pointer is loaded under the lock, so each bucket has its level or the next one, and no
    /// other level, until the guard is dropped (claim 4). What the buckets say of this class stays
    /// true (claim 2).
    #[inline(always)]
    fn read_both<M: Memory>(&self, memory: &M) -> [Read; 2] {
        let (table, pointer) = (self.table, self.table.pointer());
        let [one, other] = if self.placed.pointer == pointer {
            // The places are a function of the class and of the value of the pointer.
            table.read_both(memory, self.placed)
        } else {
            table.read_both(memory, &Placed::new(self.placed.class, pointer, table.layout()))
        };
        if one.is_at_rest::<M>() & other.is_at_rest::<M>() {
            return [one, other];
        }
        self.placed.class.buckets.map(|position| self.read_while_splitting(position))
    }

    /// Reads the bucket at a position, which another thread splits, or has split since it moved
    /// the pointer.
    #[cold]
    fn read_while_splitting(&self, position: u64) -> Read {
        let table = self.table;
        loop {
            let pointer = table.pointer();
            match table.resolve_by(pointer, position, self.placed.class.fingerprint) {
                Resolved::At { place, contents: Contents { value, level, fold, .. } } => {
                    let held = folded(self.placed.class.fingerprint, fold) >> level;
                    return Read { value, place, held, level, form: table.form(level) };
                }
                // Complete the split of a thread that may have stopped.
                Resolved::Frozen { number, contents } => {
                    table.complete_split(pointer.level, number, contents.value);
                }
                Resolved::Stale => {}
            }
        }
    }

    /// Reads both buckets, and counts the copies in each.
    fn counts(&self) -> [(Read, u32); 2] {
        let reads = with_memory!(&self.table.words, memory => self.read_both(memory));
        reads.map(|read| (read, read.form.shape.count(read.value, read.held)))
    }

    /// Counts the copies of the class.
    pub(crate) fn count(&self) -> u32 {
        self.counts().iter().map(|(_, count)| count).sum()
    }

    /// Returns whether there is a copy of the class.
    pub(crate) fn contains(&self) -> bool {
        self.count() != 0
    }

    /// Returns whether all slots of both buckets hold copies of the class.
    pub(crate) fn is_full_of_class(&self) -> bool {
        self.counts().iter().all(|(read, count)| *count == read.form.shape.slots)
    }

    /// Adds a copy to the bucket with more empty slots. Returns `false` if neither has one.
    #[inline(always)]
    pub(crate) fn add(&self) -> bool {
        self.add_if(false) == Added::New
    }

    /// As [`add`](Self::add), unless there is a copy.
    #[inline(always)]
    pub(crate) fn add_once(&self) -> Added {
        self.add_if(true)
    }

    #[inline(always)]
    fn add_if(&self, once: bool) -> Added {
        with_memory!(&self.table.words, memory => self.add_in(memory, once))
    }

    /// Adds a copy, if `once` unless there is one.
    #[inline(always)]
    fn add_in<M: Memory>(&self, memory: &M, once: bool) -> Added {
        loop {
            // 1. Read both buckets.
            let [one, other] = self.read_both(memory);
            if once && (self.is_in::<M>(one) | self.is_in::<M>(other)) {
                return Added::Present;
            }
            // 2. Slots are filled from the lowest. So the bucket whose first empty slot is lower
            //    has more of them, or nearly so.
            let to = if one.first_empty::<M>() <= other.first_empty::<M>() { one } else { other };
            let Some(change) = self.filled::<M>(to) else { return Added::Full };
            // 3. Add, if the bucket is as it was.
            // ORDERING: Relaxed: a read-modify-write keeps the release sequences of earlier clears,
            // freezes and commits. The caller orders its query after its insert (claim 1).
            if memory.exchange(to.place, change, Ordering::Relaxed) {
                return Added::New;
            }
        }
    }

    /// Returns whether a bucket at rest has a copy.
    #[inline(always)]
    fn is_in<M: Memory>(&self, read: Read) -> bool {
        read.form.shape.marks_in(M::PAIRED, read.differences::<M>()) != 0
    }

    /// Returns the value of a bucket at rest, and the value with a copy in its first empty slot, if
    /// it has one.
    #[inline(always)]
    fn filled<M: Memory>(&self, read: Read) -> Option<[u128; 2]> {
        let held = u128::from(read.held);
        let at = read.form.offset(read.first_empty::<M>());
        (read.first_empty::<M>() != M::BITS).then(|| [read.value, read.value | held << at])
    }

    /// Returns the value of a bucket at rest, and the value without the first copy, if it has one.
    #[inline(always)]
    fn cleared<M: Memory>(&self, read: Read) -> Option<[u128; 2]> {
        let held = u128::from(read.held);
        let first = read.form.first_empty(M::PAIRED, read.differences::<M>());
        let at = read.form.offset(first);
        (first != M::BITS).then(|| [read.value, read.value ^ held << at])
    }

    /// Removes one copy. Returns `false` if there is none.
    #[inline(always)]
    pub(crate) fn remove(&self) -> bool {
        with_memory!(&self.table.words, memory => self.remove_in(memory))
    }

    #[inline(always)]
    fn remove_in<M: Memory>(&self, memory: &M) -> bool {
        loop {
            // 1. Read both buckets.
            let [one, other] = self.read_both(memory);
            let [in_one, in_other] = [one, other].map(|read| self.is_in::<M>(read));
            // 2. Advance the version only if each bucket has a copy, as in a table that does not
            //    grow.
            if in_one & in_other {
                self.advance_version();
            }
            // 3. Clear, if the bucket is as it was.
            let from = if in_one { one } else { other };
            let Some(change) = self.cleared::<M>(from) else { return false };
            // ORDERING: Release pairs with the Acquire of `read_from`: a reader that sees the
            // cleared slot also sees the advance and the add before it (claim 1).
            if memory.exchange(from.place, change, Ordering::Release) {
                return true;
            }
        }
    }

    /// Relocates a copy from the first position of the class to the second. Returns `false` if the
    /// first has no copy, or the second no empty slot.
    ///
    /// The class may be a guess that no item has: a search that slept through a level has read
    /// slots at a wrong width.
    #[inline(always)]
    pub(crate) fn relocate(&self) -> bool {
        let Class { fingerprint, buckets: [from, to] } = self.placed.class;
        // Such a fingerprint may be wider than a slot. Compared with a bucket, it would overflow,
        // and added to one, it would change the slots behind.
        let plan = &self.table.plan;
        if !plan.may_hold(0, fingerprint) || self.table.layout().alternate(fingerprint, from) != to
        {
            return false;
        }
        with_memory!(&self.table.words, memory => self.relocate_in(memory))
    }

    #[inline(always)]
    fn relocate_in<M: Memory>(&self, memory: &M) -> bool {
        // 1. Add before clearing, so that the copy is always in at least one bucket.
        let mut from = loop {
            let [from, to] = self.read_both(memory);
            let Some(add) = self.filled::<M>(to).filter(|_| self.is_in::<M>(from)) else {
                return false;
            };
            // ORDERING: Relaxed, as in `add_in`.
            if memory.exchange(to.place, add, Ordering::Relaxed) {
                break from;
            }
        };
        self.advance_version();
        // 2. Clear. If the bucket has changed meanwhile, read it again: the copy is still there.
        while let Some(clear) = self.cleared::<M>(from) {
            // ORDERING: Release, as in `remove_in`.
            if memory.exchange(from.place, clear, Ordering::Release) {
                break;
            }
            [from, _] = self.read_both(memory);
        }
        true
    }

    /// Advances the version, before a copy is cleared whose replacement has been added to the
    /// other bucket.
    fn advance_version(&self) {
        // ORDERING: Release: a reader that loads this version also sees the copy that was added
        // before (claim 1).
        self.table.version(self.stripe).advance(Ordering::Release);
    }
}

impl Drop for StripeGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.table.unlock(self.stripe);
    }
}
