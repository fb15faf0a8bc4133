//! The holders of a stripe of a table that grows: they add, relocate and remove copies of a class,
//! while other threads split its buckets.

use tamis_sync::{Backoff, Ordering};

use crate::growth::layout::{Contents, tag, tag_of_level};
use crate::growth::locate::Placed;
use crate::growth::query::Read;
use crate::growth::table::{Resolved, Table};
use crate::growth::words::{Memory, Words, with_memory};
use crate::place::{Class, alternate};

/// The number of attempts of a query before it tries to take the lock too. The first one reads
/// buckets at rest only. The models use two.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 2 } else { 8 };

impl Table {
    /// Locks the stripe of the class, and waits for it if necessary. Until the guard is dropped,
    /// no other thread adds or clears a copy of the class.
    #[inline(always)]
    pub(crate) fn lock_stripe<'t>(&'t self, class: &'t Class) -> StripeGuard<'t> {
        let stripe = self.stripe(*class);
        self.lock(stripe);
        StripeGuard { table: self, stripe, class, before: None }
    }

    /// As [`lock_stripe`](Self::lock_stripe), for a caller that has computed where the buckets are.
    /// If the pointer has not changed since, the holder does not compute it again.
    #[inline(always)]
    pub(crate) fn lock_stripe_of<'t>(&'t self, placed: &'t Placed) -> StripeGuard<'t> {
        let stripe = self.stripe(placed.class);
        self.lock(stripe);
        StripeGuard { table: self, stripe, class: &placed.class, before: Some(placed) }
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
                return StripeGuard { table: self, stripe, class: &class, before: None }.contains();
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
    /// A reference, as `before` is. The compiler would copy a value in vectors, just after it was
    /// written in words. The processor cannot forward such stores, and the copy would wait.
    ///
    /// MEASURED: an insert in a batch takes 66 ns instead of 73 ns (from empty to a million items
    /// at 1 %, Zen 5).
    class: &'t Class,
    /// Where the buckets were for a value of the pointer that was loaded without the lock.
    before: Option<&'t Placed>,
}

impl StripeGuard<'_> {
    /// Returns the place and the contents of the class's bucket at a position, which is at rest.
    ///
    /// The pointer is loaded under the lock, so the bucket has its level or the next one, and no
    /// other level, until the guard is dropped (claim 4).
    #[inline(always)]
    fn resolve(&self, position: u64) -> (u64, Contents<'static>) {
        let pointer = self.table.pointer();
        match self.table.resolve_by(pointer, position, self.class.fingerprint) {
            Resolved::At { place, contents } => (place, contents),
            _ => self.resolve_again(position),
        }
    }

    #[cold]
    fn resolve_again(&self, position: u64) -> (u64, Contents<'static>) {
        loop {
            let pointer = self.table.pointer();
            match self.table.resolve_by(pointer, position, self.class.fingerprint) {
                Resolved::At { place, contents } => return (place, contents),
                // Complete the split of a thread that may have stopped.
                Resolved::Frozen { number, contents } => {
                    self.table.complete_split(pointer.level, number, contents.value);
                }
                Resolved::Stale => {}
            }
        }
    }

    /// Returns the contents of both buckets.
    #[inline]
    fn both(&self) -> [Contents<'static>; 2] {
        self.class.buckets.map(|position| self.resolve(position).1)
    }

    /// Counts the copies of the class.
    pub(crate) fn count(&self) -> u32 {
        self.both().iter().map(|bucket| bucket.count(*self.class)).sum()
    }

    /// Returns whether there is a copy of the class.
    pub(crate) fn contains(&self) -> bool {
        self.both().iter().any(|bucket| bucket.contains(*self.class))
    }

    /// Returns whether all slots of both buckets hold copies of the class.
    pub(crate) fn is_full_of_class(&self) -> bool {
        self.both().iter().all(|bucket| bucket.count(*self.class) == bucket.shape.slots())
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
        let added = with_memory!(&self.table.words, memory => self.add_in(memory, once));
        added.unwrap_or_else(|| self.add_while_splitting(once))
    }

    /// Adds a copy, if `once` unless there is one. Returns `None`, and has done nothing, if a
    /// bucket is being split or changed meanwhile.
    #[inline(always)]
    fn add_in<M: Memory>(&self, memory: &M, once: bool) -> Option<Added> {
        // 1. Read both buckets. Under the lock, what they say of this class stays true (claim 2).
        let [one, other] = self.read_both(memory)?;
        if once && (self.is_in::<M>(one) | self.is_in::<M>(other)) {
            return Some(Added::Present);
        }
        // 2. Slots are filled from the lowest. So the bucket whose first empty slot is lower has
        //    more of them, or nearly so.
        let to = if one.first_empty::<M>() <= other.first_empty::<M>() { one } else { other };
        // 3. Add, if the bucket is as it was.
        let Some(change) = self.filled::<M>(to) else { return Some(Added::Full) };
        // ORDERING: Relaxed, as in `add_to`.
        memory.exchange(to.place, change, Ordering::Relaxed).then_some(Added::New)
    }

    /// As [`add_in`](Self::add_in), whatever other threads do.
    #[cold]
    fn add_while_splitting(&self, once: bool) -> Added {
        let [one, other] = self.class.buckets;
        if once && self.contains() {
            Added::Present
        } else if self.add_to(one) || self.add_to(other) {
            Added::New
        } else {
            Added::Full
        }
    }

    /// Reads both buckets, or returns `None` if one is being split. The pointer is loaded under the
    /// lock, so the tags say their levels (claim 4).
    #[inline(always)]
    fn read_both<M: Memory>(&self, memory: &M) -> Option<[Read; 2]> {
        let pointer = self.table.pointer();
        let [one, other] = match self.before {
            // The places are a function of the class and of the value of the pointer.
            Some(before) if before.pointer == pointer => self.table.read_both(memory, before),
            _ => self.table.read_both(memory, &self.table.placed(*self.class, pointer)),
        };
        (one.is_at_rest::<M>() & other.is_at_rest::<M>()).then_some([one, other])
    }

    /// Returns whether a bucket at rest has a copy.
    #[inline(always)]
    fn is_in<M: Memory>(&self, read: Read) -> bool {
        read.form.marks(M::PAIRED, read.differences::<M>(self.class.fingerprint)) != 0
    }

    /// Returns the value of a bucket at rest, and the value with a copy in its first empty slot, if
    /// it has one.
    #[inline(always)]
    fn filled<M: Memory>(&self, read: Read) -> Option<[u128; 2]> {
        let held = u128::from(self.class.fingerprint >> read.level);
        let at = read.form.offset(read.first_empty::<M>());
        (read.first_empty::<M>() != M::BITS).then(|| [read.value, read.value | held << at])
    }

    /// Returns the value of a bucket at rest, and the value without the first copy, if it has one.
    #[inline(always)]
    fn cleared<M: Memory>(&self, read: Read) -> Option<[u128; 2]> {
        let whole = self.class.fingerprint;
        let held = u128::from(whole >> read.level);
        let first = read.form.first_empty(M::PAIRED, read.differences::<M>(whole));
        let at = read.form.offset(first);
        (first != M::BITS).then(|| [read.value, read.value ^ held << at])
    }

    /// Adds a copy at a position. Returns `false` if the bucket has no empty slot.
    #[inline]
    fn add_to(&self, position: u64) -> bool {
        // ORDERING: Relaxed: a read-modify-write keeps the release sequences of earlier clears,
        // freezes and commits. The caller orders its query after its insert (claim 1).
        self.replace(position, Ordering::Relaxed, |_| 0, |held| held)
    }

    /// Clears the copy at a position, which must have one. If another copy replaces it, that one
    /// must have been added, and the version advanced, before.
    fn clear_slot(&self, position: u64) {
        // ORDERING: Release pairs with the Acquire of `read_from`: a reader that sees the cleared
        // slot also sees the advance and the add before it (claim 1).
        let cleared = self.replace(position, Ordering::Release, |held| held, |_| 0);
        debug_assert!(cleared, "a copy vanished while its stripe was locked");
    }

    /// Replaces the number in a slot by another, if a slot has it. Both are computed from what a
    /// slot of the class holds.
    #[inline(always)]
    fn replace(
        &self,
        position: u64,
        order: Ordering,
        from: impl Fn(u64) -> u64,
        to: impl Fn(u64) -> u64,
    ) -> bool {
        let words = &self.table.words;
        loop {
            let (place, Contents { value, shape, level, .. }) = self.resolve(position);
            let held = self.class.fingerprint >> level;
            let (from, to) = (from(held), to(held));
            // As long as the tag stays, the bucket is at the same level (claim 4).
            let is_at_level = |bits| tag(bits, *shape) == tag_of_level(level);
            let change = |bits| {
                let at = is_at_level(bits).then(|| shape.find(bits, from))??;
                Some(bits ^ u128::from(from ^ to) << at)
            };
            // ORDERING: the caller's.
            match words.try_update(place, value, order, change) {
                Ok(_) => return true,
                Err(bits) if is_at_level(bits) => return false,
                // It is being split. Find it again.
                Err(_) => {}
            }
        }
    }

    /// Removes one copy. Returns `false` if there is none.
    #[inline(always)]
    pub(crate) fn remove(&self) -> bool {
        let removed = with_memory!(&self.table.words, memory => self.remove_in(memory));
        removed.unwrap_or_else(|| self.remove_while_splitting())
    }

    /// As [`remove`](Self::remove). Returns `None`, and has removed nothing, if a bucket is being
    /// split or changed meanwhile.
    #[inline(always)]
    fn remove_in<M: Memory>(&self, memory: &M) -> Option<bool> {
        // 1. Read both buckets.
        let [one, other] = self.read_both(memory)?;
        let [in_one, in_other] = [one, other].map(|read| self.is_in::<M>(read));
        // 2. Advance the version only if each bucket has a copy, as in a table that does not grow.
        if in_one & in_other {
            self.advance_version();
        }
        // 3. Clear, if the bucket is as it was.
        let from = if in_one { one } else { other };
        let Some(change) = self.cleared::<M>(from) else { return Some(false) };
        // ORDERING: Release, as in `clear_slot`.
        memory.exchange(from.place, change, Ordering::Release).then_some(true)
    }

    /// As [`remove`](Self::remove), whatever other threads do.
    #[cold]
    fn remove_while_splitting(&self) -> bool {
        let [one, other] = self.class.buckets;
        let [in_one, in_other] = self.both().map(|bucket| bucket.contains(*self.class));
        // As in `remove_in`.
        if in_one & in_other {
            self.advance_version();
        }
        if in_one | in_other {
            self.clear_slot(if in_one { one } else { other });
        }
        in_one | in_other
    }

    /// Relocates a copy from the first position of the class to the second. Returns `false` if the
    /// first has no copy, or the second no empty slot.
    ///
    /// The class may be a guess that no item has: a search that slept through a level has read
    /// slots at a wrong width.
    #[inline(always)]
    pub(crate) fn relocate(&self) -> bool {
        let &Class { fingerprint, buckets: [from, to] } = self.class;
        // Such a fingerprint may be wider than a slot. Compared with a bucket, it would overflow,
        // and added to one, it would change the slots behind.
        let plan = &self.table.plan;
        if !plan.may_hold(0, fingerprint) || alternate(fingerprint, from, plan.buckets) != to {
            return false;
        }
        let moved = with_memory!(&self.table.words, memory => self.relocate_in(memory));
        moved.unwrap_or_else(|| self.relocate_while_splitting())
    }

    /// As [`relocate`](Self::relocate). Returns `None`, and has done nothing, if a bucket is being
    /// split or changed meanwhile.
    #[inline(always)]
    fn relocate_in<M: Memory>(&self, memory: &M) -> Option<bool> {
        // 1. Read both buckets.
        let [from, to] = self.read_both(memory)?;
        let (Some(clear), Some(add)) = (self.cleared::<M>(from), self.filled::<M>(to)) else {
            return Some(false);
        };
        // 2. Add before clearing, so that the copy is always in at least one bucket.
        // ORDERING: Relaxed, as in `add_to`.
        if !memory.exchange(to.place, add, Ordering::Relaxed) {
            return None;
        }
        self.advance_version();
        // 3. Clear. If the bucket has changed since, find the copy again.
        // ORDERING: Release, as in `clear_slot`.
        if !memory.exchange(from.place, clear, Ordering::Release) {
            self.clear_slot(self.class.buckets[0]);
        }
        Some(true)
    }

    /// As [`relocate`](Self::relocate), whatever other threads do.
    #[cold]
    fn relocate_while_splitting(&self) -> bool {
        let [from, to] = self.class.buckets;
        // Add before clearing, as in `relocate_in`.
        let copied = self.resolve(from).1.contains(*self.class) && self.add_to(to);
        if copied {
            self.advance_version();
            self.clear_slot(from);
        }
        copied
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
