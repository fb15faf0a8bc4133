//! The table that grows in place, as its users see it: queries, and the holders of a stripe, who
//! add, relocate and remove copies while other threads split buckets.
//!
//! [`growth`](crate::growth) has the protocol and its proof; `split.rs` contains the splits. Each
//! `ORDERING:` comment names the claim that needs it.

use tamis_sync::{
    AllocError, CachePadded, LINE_BYTES, LINE_WORDS, Lines, Ordering, SimdLevel, Word,
};

use crate::bucket::Shape;
use crate::growth::layout::{Contents, FROZEN, bucket_at, in_place, low, place, tag, tag_of_level};
use crate::growth::plan::{MAX_DOUBLINGS, Plan, SPLITTERS, sequence, with_known_shapes};
use crate::growth::pointer::Pointer;
use crate::growth::words::Words;
use crate::place::Class;

/// The lock bit in the word of a lock.
const LOCK: u64 = 1;

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

/// A bucket that was read where the pointer says.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) value: u128,
    pub(crate) place: u64,
    /// The level and the shape that the bucket has if it is at rest.
    pub(crate) level: u32,
    pub(crate) shape: Shape,
}

impl Read {
    /// Returns whether the bucket is at rest, at its level. Otherwise it is being split, or has
    /// been since the pointer was loaded.
    #[inline(always)]
    pub(crate) const fn is_at_rest(&self) -> bool {
        tag(self.value, self.shape) == tag_of_level(self.level)
    }

    /// Returns whether a slot holds the fingerprint.
    #[inline(always)]
    const fn contains(&self, whole: u64) -> bool {
        self.shape.contains(self.value, whole >> self.level)
    }
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
    pub(crate) fn of_words(
        plan: Plan,
        words: Words,
        stripes: u64,
        portion: u64,
    ) -> Result<Self, AllocError> {
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
        // With the children of a portion that is split and not yet published.
        self.words.fill(paired, pointer.places(&self.plan) + self.portion, 0);
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
        // ORDERING: Acquire pairs with the AcqRel of `publish`: a bucket that the pointer shows
        // split has born children (claim 6), and what happened before the level began is seen
        // (claim 4).
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
    pub(crate) fn version(&self, stripe: u64) -> &Word {
        self.versions.word(stripe as usize)
    }

    /// Returns the version of the stripe of the classes with this key.
    #[inline(always)]
    pub(crate) fn version_of(&self, key: u64) -> &Word {
        self.version(key & self.stripe_mask)
    }

    /// Returns the number of the class's stripe, which is the same at all levels.
    #[inline(always)]
    pub(crate) fn stripe(&self, class: Class) -> u64 {
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

    /// Returns whether there is a copy of the class, or `None` if a relocation, a removal or a
    /// split disturbed the query.
    #[inline(always)]
    pub(crate) fn try_contains(&self, class: Class) -> Option<bool> {
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
        // ORDERING: Relaxed, both: the Acquire loads of the buckets keep them behind (claims 1,
        // 5).
        let now = Pointer::of(self.pointer.load(Ordering::Relaxed));
        let changed = version.load(Ordering::Relaxed) != before;
        // A hit is valid whatever the version. Nothing is valid if the level has changed.
        let found = found?;
        if now.level != pointer.level || changed & !found { None } else { Some(found) }
    }

    /// Returns whether a bucket of the class has a copy, or `None` if the pointer is out of date.
    /// `lower` and `upper` are the shapes of the pointer's level and of the next.
    #[inline(always)]
    fn find_by(&self, pointer: Pointer, lower: Shape, upper: Shape, class: Class) -> Option<bool> {
        // No iterator over the two buckets: the compiler does not inline it.
        let [one, other] = class.buckets;
        let one = self.read_known(pointer, lower, upper, one, class.fingerprint);
        let other = self.read_known(pointer, lower, upper, other, class.fingerprint);
        if one.is_at_rest() & other.is_at_rest() {
            Some(one.contains(class.fingerprint) | other.contains(class.fingerprint))
        } else {
            // Pass numbers, not structures: the compiler would spill those to the stack.
            self.find_while_splitting(pointer.bits(), class.fingerprint, class.buckets[0])
        }
    }

    /// Reads the bucket of a fingerprint at a position, with shapes that are constants.
    #[inline(always)]
    pub(crate) fn read_known(
        &self,
        pointer: Pointer,
        lower: Shape,
        upper: Shape,
        position: u64,
        whole: u64,
    ) -> Read {
        let level = pointer.level_of(position << pointer.level | low(whole, pointer.level));
        let place = place(position, low(whole, level), self.plan.buckets);
        // ORDERING: Acquire pairs with the Releases of clears, freezes and commits (claims 1, 5
        // and 6).
        let value = self.words.load(lower.is_pair(), place, Ordering::Acquire);
        // No branch on the level: the processor cannot predict it.
        let shape = if lower.is(upper) || level == pointer.level { lower } else { upper };
        Read { value, place, level, shape }
    }

    /// Returns a copy in a bucket of the class whose other bucket has an empty slot: the class of
    /// the copy, with its present position first. A guess, as all that a search returns.
    #[inline(never)]
    pub(crate) fn find_step(&self, class: Class) -> Option<Class> {
        let pointer = self.pointer();
        let code = self.shapes[pointer.level as usize];
        with_known_shapes!(self.plan.paired, code / 2, code % 2 == 0, lower, upper => {
            self.find_step_by(pointer, lower, upper, class)
        })
    }

    #[inline(always)]
    fn find_step_by(
        &self,
        pointer: Pointer,
        lower: Shape,
        upper: Shape,
        class: Class,
    ) -> Option<Class> {
        for position in class.buckets {
            let whole = class.fingerprint;
            let Read { value, level, shape, .. } =
                self.read_known(pointer, lower, upper, position, whole);
            let low = low(whole, level);
            for held in shape.fingerprints_of(value) {
                let class = Class::of(held << level | low, position, self.plan.buckets);
                let [_, other] = class.buckets;
                let read = self.read_known(pointer, lower, upper, other, class.fingerprint);
                if read.is_at_rest() & read.shape.first_empty(read.value).is_some() {
                    return Some(class);
                }
            }
        }
        None
    }

    /// Returns what [`find_by`](Self::find_by) does, when a bucket is being split, or has been
    /// since the pointer was loaded.
    #[cold]
    fn find_while_splitting(&self, pointer: u64, fingerprint: u64, position: u64) -> Option<bool> {
        let class = Class::of(fingerprint, position, self.plan.buckets);
        let [one, other] =
            class.buckets.map(|position| self.contents(Pointer::of(pointer), position, class));
        Some(one?.contains(class) | other?.contains(class))
    }

    /// Returns the contents of the bucket of a class at a position, or `None` if the pointer is
    /// out of date.
    #[inline(always)]
    fn contents(&self, pointer: Pointer, position: u64, class: Class) -> Option<Contents<'static>> {
        match self.resolve_by(pointer, position, class.fingerprint) {
            Resolved::At { contents, .. } | Resolved::Frozen { contents, .. } => Some(contents),
            Resolved::Stale => None,
        }
    }

    /// Returns the value of the bucket at a place.
    #[inline(always)]
    pub(crate) fn bucket(&self, place: u64) -> u128 {
        // ORDERING: Acquire, as in `read_known`; under a lock too, since the lock does not order
        // the births of other threads' splits (claim 2).
        self.words.load(self.plan.paired, place, Ordering::Acquire)
    }

    /// Reads the bucket of a fingerprint at a position, as one of this level. Returns its place,
    /// its contents and its tag.
    #[inline(always)]
    fn read(&self, level: u32, position: u64, whole: u64) -> (u64, Contents<'static>, u32) {
        let low = low(whole, level);
        let (place, shape) = (place(position, low, self.plan.buckets), self.shape(level));
        let value = self.bucket(place);
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
        if level == pointer.level {
            self.resolve_split(level, position, whole)
        } else {
            Resolved::Stale
        }
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

    /// Returns the contents of the bucket of a fingerprint at a position, for a search, which
    /// trusts nothing that it reads.
    #[inline(always)]
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
    /// write, the buckets are of different times and levels.
    pub(crate) fn buckets(&self, step: u64) -> impl Iterator<Item = (u64, Contents<'static>)> {
        let places = (0..self.places()).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        places.map(|place| {
            let (position, low) = bucket_at(place, self.plan.buckets);
            (position, self.contents_now(position, low))
        })
    }

    /// Returns the contents of the bucket of a fingerprint at a position, at a level that it has.
    fn contents_now(&self, position: u64, whole: u64) -> Contents<'static> {
        let class = Class { fingerprint: whole, buckets: [position; 2] };
        loop {
            let pointer = self.pointer();
            let contents = self.contents(pointer, position, class);
            // As in `try_contains`: two levels later, the tag would be the same.
            // ORDERING: Relaxed: the Acquire loads of the bucket keep it behind (claim 5).
            let now = Pointer::of(self.pointer.load(Ordering::Relaxed));
            if let Some(contents) = contents.filter(|_| now.level == pointer.level) {
                return contents;
            }
        }
    }
}
