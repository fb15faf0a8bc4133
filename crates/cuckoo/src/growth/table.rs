//! The table that grows in place, as its users see it: queries, and the holders of a stripe, who add,
//! relocate and remove copies while other threads split buckets.
//!
//! [`growth`](crate::growth) has the protocol and its proof; `split.rs` contains the splits. Each
//! `ORDERING:` comment names the claim that needs it.

use tamis_sync::{
    AllocError, Backoff, CachePadded, LINE_BYTES, LINE_WORDS, Lines, Ordering, SimdLevel, Word,
};

use crate::bucket::Shape;
use crate::growth::layout::{
    Contents, FROZEN, bucket_at, in_place, low, place, tag, tag_of_level,
};
use crate::growth::plan::{MAX_DOUBLINGS, Plan, SPLITTERS, sequence, with_known_shapes};
use crate::growth::words::Words;
use crate::place::Class;

/// The lock bit in the word of a lock.
const LOCK: u64 = 1;

/// The number of attempts of a query before it tries to take the lock too. The models use one.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 1 } else { 8 };

/// The number of bits of the pointer that count buckets. The bits above are the level.
const LEVEL_AT: u32 = 56;

/// The split pointer: which buckets are known to be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The level whose buckets are being split.
    pub(crate) level: u32,
    /// The first bucket of the level that is not known to be split.
    pub(crate) next: u64,
}

impl Pointer {
    #[inline(always)]
    pub(crate) const fn of(bits: u64) -> Self {
        Self { level: (bits >> LEVEL_AT) as u32, next: bits & ((1 << LEVEL_AT) - 1) }
    }

    pub(crate) const fn bits(self) -> u64 {
        (self.level as u64) << LEVEL_AT | self.next
    }

    /// Returns the level of the bucket with this number among those of `self.level`.
    #[inline(always)]
    pub(crate) const fn level_of(self, number: u64) -> u32 {
        self.level + (number < self.next) as u32
    }

    /// Returns the number of buckets of the table.
    pub(crate) const fn places(self, plan: &Plan) -> u64 {
        (plan.buckets << self.level) + self.next
    }

    /// Returns the number of slots of the table.
    pub(crate) fn slots(self, plan: &Plan) -> u64 {
        let Self { level, next } = self;
        let slots = |level| u64::from(plan.shape(level).slots());
        ((plan.buckets << level) - next) * slots(level) + 2 * next * slots(level + 1)
    }
}

/// A table that grows in place.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) plan: Plan,
    /// The number of the shape of each level, doubled, plus 1 if the next level has another one.
    pub(crate) shapes: [u8; MAX_DOUBLINGS as usize + 2],
    pub(crate) words: Words,
    /// The split pointer `P`.
    pub(crate) pointer: CachePadded<Word>,
    /// The sweep `Q`: the level that may be split, and how many locks were taken since.
    pub(crate) sweep: CachePadded<Word>,
    /// The locks of the stripes, then those of the splitters.
    locks: Lines,
    versions: Lines,
    /// The number of stripes minus 1: one less than a power of two.
    stripe_mask: u64,
    pub(crate) simd: SimdLevel,
    /// The buckets that are split before the pointer moves. Their upper children are one line.
    pub(crate) portion: u64,
}

/// How a bucket was found.
pub(crate) enum Resolved {
    /// At rest at its level.
    At { place: u64, contents: Contents<'static> },
    /// Frozen: another thread is splitting it. The number is that among the buckets of its level.
    Frozen { number: u64, contents: Contents<'static> },
    /// The pointer is out of date.
    Stale,
}

impl Table {
    /// Allocates an empty table.
    pub(crate) fn new(plan: Plan) -> Result<Self, AllocError> {
        Self::with_sizes(plan, plan.stripes(), Self::portion_of(&plan))
    }

    /// Returns the number of buckets of a portion.
    pub(crate) const fn portion_of(plan: &Plan) -> u64 {
        LINE_BYTES as u64 / plan.bucket_bytes()
    }

    /// Allocates an empty table with this number of stripes, a power of two, and with portions of
    /// this size.
    pub(crate) fn with_sizes(plan: Plan, stripes: u64, portion: u64) -> Result<Self, AllocError> {
        let words = Words::reserved(&plan)?;
        let mut table = Self::of_words(plan, words, stripes, portion)?;
        table.clear();
        Ok(table)
    }

    /// Makes a table of these buckets, whose pointer is to be set.
    pub(crate) fn of_words(plan: Plan, words: Words, stripes: u64, portion: u64) -> Result<Self, AllocError> {
        let packed = |count: u64| Lines::zeroed(count.div_ceil(LINE_WORDS as u64));
        let mut shapes = [0; MAX_DOUBLINGS as usize + 2];
        for (level, code) in (0..=plan.doublings).zip(&mut shapes) {
            let [this, next] = [level, level + 1].map(|level| plan.shape_number(level) as u8);
            *code = 2 * this + u8::from(this != next);
        }
        Ok(Self {
            plan,
            shapes,
            words,
            pointer: CachePadded::new(Word::new(0)),
            sweep: CachePadded::new(Word::new(0)),
            locks: packed(stripes + SPLITTERS)?,
            versions: packed(stripes)?,
            simd: SimdLevel::detect(),
            stripe_mask: stripes - 1,
            portion,
        })
    }

    /// Empties the table, which begins with its first size again.
    pub(crate) fn clear(&mut self) {
        let pointer = self.pointer.update(|bits| Pointer::of(*bits));
        let paired = self.plan.paired;
        self.words.fill(paired, pointer.places(&self.plan), 0);
        let empty = in_place(tag_of_level(0), self.plan.shape(0));
        self.words.fill(paired, self.plan.buckets, empty);
        self.restart(Pointer { level: 0, next: 0 });
    }

    /// Sets the pointer. The level that it names may be split.
    pub(crate) fn restart(&mut self, pointer: Pointer) {
        let locks = self.all_locks();
        self.pointer.update(|bits| *bits = pointer.bits());
        self.sweep.update(|bits| *bits = Pointer { level: pointer.level, next: locks }.bits());
    }

    /// Returns the pointer.
    #[inline(always)]
    pub(crate) fn pointer(&self) -> Pointer {
        // ORDERING: Acquire pairs with the AcqRel of `publish`: a bucket that the pointer shows split
        // has born children (claim 6), and what happened before the level began is seen (claim 4).
        Pointer::of(self.pointer.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn stripes(&self) -> u64 {
        self.stripe_mask + 1
    }

    /// Returns the number of stripes and of splitters.
    pub(crate) fn all_locks(&self) -> u64 {
        self.stripes() + SPLITTERS
    }

    /// Returns the shape of buckets at a level.
    #[inline(always)]
    pub(crate) fn shape(&self, level: u32) -> &'static Shape {
        &sequence(self.plan.paired)[usize::from(self.shapes[level as usize] / 2)]
    }

    #[inline(always)]
    fn version(&self, stripe: u64) -> &Word {
        self.versions.word(stripe as usize)
    }

    /// Returns the version of the stripe of the classes with this key.
    #[inline(always)]
    pub(crate) fn version_of(&self, key: u64) -> &Word {
        self.version(key & self.stripe_mask)
    }

    /// Returns the number of the class's stripe, which is the same at all levels.
    #[inline(always)]
    fn stripe(&self, class: Class) -> u64 {
        class.key() & self.stripe_mask
    }

    /// Locks a stripe or a splitter's lock, and waits for it if necessary.
    pub(crate) fn lock(&self, number: u64) {
        // ORDERING: Acquire pairs with the Release of `unlock`: the holders of a lock are totally
        // ordered (claims 2 and 4).
        let _ = self.locks.word(number as usize).lock(LOCK, Ordering::Acquire);
    }

    /// Locks a stripe or a splitter's lock if it is free.
    pub(crate) fn try_lock(&self, number: u64) -> bool {
        let lock = self.locks.word(number as usize);
        // ORDERING: Acquire, as in `lock`.
        lock.try_update(Ordering::Acquire, |held| (held == 0).then_some(LOCK)).is_ok()
    }

    pub(crate) fn unlock(&self, number: u64) {
        // ORDERING: Release pairs with the Acquire of `lock`.
        self.locks.word(number as usize).unlock(0, Ordering::Release);
    }

    /// Prefetches the buckets of a class.
    #[inline(always)]
    pub(crate) fn prefetch(&self, class: Class, pointer: Pointer) {
        for position in class.buckets {
            self.prefetch_one(class.fingerprint, position, pointer);
        }
    }

    /// Prefetches the bucket of a fingerprint at a position.
    #[inline(always)]
    pub(crate) fn prefetch_one(&self, whole: u64, position: u64, pointer: Pointer) {
        let level = pointer.level_of(position << pointer.level | low(whole, pointer.level));
        let place = place(position, low(whole, level), self.plan.buckets);
        self.words.prefetch(self.plan.paired, place);
    }

    /// Returns whether there is a copy of the class.
    #[inline]
    pub(crate) fn contains(&self, class: Class) -> bool {
        match self.try_contains(class) {
            Some(found) => found,
            None => self.contains_contended(class),
        }
    }

    /// Returns whether there is a copy of the class, or `None` if a relocation, a removal or a split
    /// disturbed the query.
    #[inline(always)]
    fn try_contains(&self, class: Class) -> Option<bool> {
        // 1. Load the version, then the pointer.
        let version = self.version(self.stripe(class));
        // ORDERING: Acquire pairs with the Release of `advance_version` (claim 1).
        let before = version.load(Ordering::Acquire);
        let pointer = self.pointer();
        // 2. Read both buckets.
        let code = self.shapes[pointer.level as usize];
        let found = with_known_shapes!(self.plan.paired, code / 2, code % 2 == 0, lower, upper => {
            self.find_by(pointer, lower, upper, class)
        });
        // 3. Load the pointer and the version again.
        // ORDERING: Relaxed, both: the Acquire loads of the buckets keep them behind (claims 1, 5).
        let now = Pointer::of(self.pointer.load(Ordering::Relaxed));
        let changed = version.load(Ordering::Relaxed) != before;
        // A hit is valid whatever the version. Nothing is valid if the level has changed.
        let found = found?;
        if now.level != pointer.level || changed & !found { None } else { Some(found) }
    }

    /// Returns whether a bucket of the class has a copy, or `None` if the pointer is out of date.
    /// `lower` and `upper` are the shapes of the pointer's level and of the next.
    #[inline(always)]
    fn find_by(
        &self,
        pointer: Pointer,
        lower: Shape,
        upper: Shape,
        class: Class,
    ) -> Option<bool> {
        // No iterator over the two buckets: the compiler does not inline it.
        let [one, other] = class.buckets;
        let one = self.find_at(pointer, lower, upper, one, class.fingerprint);
        let other = self.find_at(pointer, lower, upper, other, class.fingerprint);
        if one.0 & other.0 {
            Some(one.1 | other.1)
        } else {
            // Pass numbers, not structures: the compiler would spill those to the stack.
            self.find_while_splitting(pointer.bits(), class.fingerprint, class.buckets[0])
        }
    }

    /// Reads the bucket of a fingerprint at a position. Returns whether the bucket is at rest at the
    /// level that the pointer shows, and whether it has the fingerprint then.
    #[inline(always)]
    fn find_at(
        &self,
        pointer: Pointer,
        lower: Shape,
        upper: Shape,
        position: u64,
        whole: u64,
    ) -> (bool, bool) {
        let level = pointer.level_of(position << pointer.level | low(whole, pointer.level));
        let place = place(position, low(whole, level), self.plan.buckets);
        // ORDERING: Acquire pairs with the Releases of clears, freezes and commits (claims 1, 5 and
        // 6).
        let bucket = self.words.load(lower.is_pair(), place, Ordering::Acquire);
        // No branch on the level: the processor cannot predict it.
        let shape = if lower.is(upper) || level == pointer.level { lower } else { upper };
        (tag(bucket, shape) == tag_of_level(level), shape.contains(bucket, whole >> level))
    }

    /// Returns what [`find_by`](Self::find_by) does, when a bucket is being split, or has been since
    /// the pointer was loaded.
    #[cold]
    fn find_while_splitting(&self, pointer: u64, fingerprint: u64, position: u64) -> Option<bool> {
        let class = Class::of(fingerprint, position, self.plan.buckets);
        let [one, other] =
            class.buckets.map(|position| self.contents(Pointer::of(pointer), position, class));
        Some(one?.contains(class) | other?.contains(class))
    }

    /// Returns the contents of the bucket of a class at a position, or `None` if the pointer is out
    /// of date.
    fn contents(&self, pointer: Pointer, position: u64, class: Class) -> Option<Contents<'static>> {
        match self.resolve_by(pointer, position, class.fingerprint) {
            Resolved::At { contents, .. } | Resolved::Frozen { contents, .. } => Some(contents),
            Resolved::Stale => None,
        }
    }

    /// Reads the bucket of a fingerprint at a position, as one of this level. Returns its place, its
    /// contents and its tag.
    #[inline(always)]
    fn read(&self, level: u32, position: u64, whole: u64) -> (u64, Contents<'static>, u32) {
        let low = low(whole, level);
        let (place, shape) = (place(position, low, self.plan.buckets), self.shape(level));
        // ORDERING: Acquire, as in `find_at`; under a lock too, since the lock does not order the
        // births of other threads' splits (claim 2).
        let value = self.words.load(self.plan.paired, place, Ordering::Acquire);
        (place, Contents { value, shape, level, low }, tag(value, *shape))
    }

    /// Finds the bucket of a fingerprint at a position (rule 10).
    #[inline(always)]
    pub(crate) fn resolve_by(&self, pointer: Pointer, position: u64, whole: u64) -> Resolved {
        let level = pointer.level_of(position << pointer.level | low(whole, pointer.level));
        let (place, contents, tag) = self.read(level, position, whole);
        if tag == tag_of_level(level) {
            return Resolved::At { place, contents };
        }
        if level == pointer.level { self.resolve_split(level, position, whole) } else { Resolved::Stale }
    }

    /// Finds the bucket of a fingerprint at a position, which is being split at this level, or has
    /// been since the pointer was loaded.
    #[cold]
    fn resolve_split(&self, level: u32, position: u64, whole: u64) -> Resolved {
        let (place, contents, tag) = self.read(level, position, whole);
        if tag == FROZEN {
            return Resolved::Frozen { number: position << level | low(whole, level), contents };
        }
        if tag == tag_of_level(level) {
            return Resolved::At { place, contents };
        }
        // One more level, and no further.
        let (place, contents, tag) = self.read(level + 1, position, whole);
        if tag == tag_of_level(level + 1) {
            Resolved::At { place, contents }
        } else {
            Resolved::Stale
        }
    }

    /// Returns whether there is a copy of the class, after a first attempt that was not valid.
    #[cold]
    fn contains_contended(&self, class: Class) -> bool {
        if let Some(found) = (1..MAX_ATTEMPTS).find_map(|_| self.try_contains(class)) {
            return found;
        }
        // Never wait for the holder of the lock, who may have stopped: while it does nothing, an
        // attempt succeeds.
        let mut backoff = Backoff::default();
        loop {
            let stripe = self.stripe(class);
            if self.try_lock(stripe) {
                return StripeGuard { table: self, stripe, class }.contains();
            }
            if let Some(found) = self.try_contains(class) {
                return found;
            }
            backoff.wait();
        }
    }

    /// Locks the stripe of the class, and waits for it if necessary. Until the guard is dropped, no
    /// other thread adds or clears a copy of the class.
    #[inline]
    pub(crate) fn lock_stripe(&self, class: Class) -> StripeGuard<'_> {
        let stripe = self.stripe(class);
        self.lock(stripe);
        StripeGuard { table: self, stripe, class }
    }

    /// Returns the contents of the bucket of a fingerprint at a position, for a search, which trusts
    /// nothing that it reads.
    pub(crate) fn peek(&self, position: u64, whole: u64) -> Contents<'static> {
        let class = Class { fingerprint: whole, buckets: [position; 2] };
        loop {
            if let Some(contents) = self.contents(self.pointer(), position, class) {
                return contents;
            }
        }
    }

    /// Returns the number of bytes of the buckets, the locks and the versions.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let buckets = self.pointer().places(&self.plan) * self.plan.bucket_bytes();
        buckets + self.plan.lock_bytes()
    }

    /// Returns the number of buckets.
    pub(crate) fn places(&self) -> u64 {
        self.pointer().places(&self.plan)
    }

    /// Returns the number of slots.
    pub(crate) fn slots(&self) -> u64 {
        self.pointer().slots(&self.plan)
    }

    /// Returns the positions and the contents of the buckets, or of every `step`-th. While threads
    /// write, the buckets are of different times.
    pub(crate) fn buckets(&self, step: u64) -> impl Iterator<Item = (u64, Contents<'static>)> {
        let pointer = self.pointer();
        let places = (0..pointer.places(&self.plan))
            .step_by(usize::try_from(step).unwrap_or(usize::MAX));
        places.filter_map(move |place| {
            let (position, low) = bucket_at(place, self.plan.buckets);
            let class = Class { fingerprint: low, buckets: [position; 2] };
            Some((position, self.contents(pointer, position, class)?))
        })
    }
}

/// A locked stripe, for one of the classes that belong to it.
#[derive(Debug)]
pub(crate) struct StripeGuard<'t> {
    table: &'t Table,
    stripe: u64,
    class: Class,
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
        self.both().iter().map(|bucket| bucket.count(self.class)).sum()
    }

    /// Returns whether there is a copy of the class.
    pub(crate) fn contains(&self) -> bool {
        self.both().iter().any(|bucket| bucket.contains(self.class))
    }

    /// Returns whether all slots of both buckets hold copies of the class.
    pub(crate) fn is_full_of_class(&self) -> bool {
        self.both().iter().all(|bucket| bucket.count(self.class) == bucket.shape.slots())
    }

    /// Adds a copy to the bucket with more empty slots. Returns `false` if neither has one.
    ///
    /// Slots are filled from the lowest, so the bucket whose first empty slot is lower has more of
    /// them, or nearly so.
    #[inline]
    pub(crate) fn add(&self) -> bool {
        let [one, other] = self.class.buckets;
        loop {
            // 1. Read both buckets.
            let (one, other) = (self.resolve(one), self.resolve(other));
            let full = u32::MAX;
            let at_one = one.1.first_empty().unwrap_or(full);
            let at_other = other.1.first_empty().unwrap_or(full);
            let ((place, contents), at) =
                if at_one <= at_other { (one, at_one) } else { (other, at_other) };
            if at == full {
                return false;
            }
            // 2. Add, if the bucket is as it was.
            let to = contents.value | u128::from(self.class.fingerprint >> contents.level) << at;
            let (words, paired) = (&self.table.words, self.table.plan.paired);
            // ORDERING: Relaxed: as in `add_to`.
            if words.exchange(paired, place, [contents.value, to], Ordering::Relaxed) {
                return true;
            }
        }
    }

    /// Adds a copy at a position. Returns `false` if the bucket has no empty slot.
    #[inline]
    fn add_to(&self, position: u64) -> bool {
        // ORDERING: Relaxed: a read-modify-write keeps the release sequences of earlier clears,
        // freezes and commits. The caller orders its query after its insert (claim 1).
        self.replace(position, Ordering::Relaxed, |_| 0, |held| held)
    }

    /// Clears the copy at a position, which must have one. If another copy replaces it, that one must
    /// have been added, and the version advanced, before.
    fn clear_slot(&self, position: u64) {
        // ORDERING: Release pairs with the Acquire of `find_at`: a reader that sees the cleared slot
        // also sees the advance and the add before it (claim 1).
        let cleared = self.replace(position, Ordering::Release, |held| held, |_| 0);
        debug_assert!(cleared, "a copy vanished while its stripe was locked");
    }

    /// Replaces the number in a slot by another, if a slot has it. Both are computed from what a slot
    /// of the class holds.
    #[inline(always)]
    fn replace(
        &self,
        position: u64,
        order: Ordering,
        from: impl Fn(u64) -> u64,
        to: impl Fn(u64) -> u64,
    ) -> bool {
        let (words, paired) = (&self.table.words, self.table.plan.paired);
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
            match words.try_update(paired, place, value, order, change) {
                Ok(_) => return true,
                Err(bits) if is_at_level(bits) => return false,
                // It is being split. Find it again.
                Err(_) => {}
            }
        }
    }

    /// Removes one copy. Returns `false` if there is none.
    pub(crate) fn remove(&self) -> bool {
        let [one, other] = self.class.buckets;
        let [in_one, in_other] = self.both().map(|bucket| bucket.contains(self.class));
        // Advance the version only if each bucket has a copy, as in a table that does not grow.
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
    pub(crate) fn relocate(&self) -> bool {
        let [from, to] = self.class.buckets;
        // Add before clearing, so that the copy is always in at least one bucket.
        let copied = self.resolve(from).1.contains(self.class) && self.add_to(to);
        if copied {
            self.advance_version();
            self.clear_slot(from);
        }
        copied
    }

    /// Advances the version, before a copy is cleared whose replacement has been added to the other
    /// bucket.
    fn advance_version(&self) {
        // ORDERING: Release: a reader that loads this version also sees the copy that was added
        // before (claim 1).
        self.table.version(self.stripe).advance(Ordering::Release);
    }
}

impl Drop for StripeGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.table.unlock(self.stripe);
    }
}
