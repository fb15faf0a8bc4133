//! The table that grows in place: its words, its locks, and how a bucket is found while other
//! threads split buckets.
//!
//! [`growth`](crate::growth) has the protocol and its proof. `query.rs` contains the queries,
//! `guard.rs` the holders of a stripe, and `split.rs` the splits. Each `ORDERING:` comment names
//! the claim that needs it.

use tamis_sync::{
    AllocError, CachePadded, LINE_BYTES, LINE_WORDS, Lines, Ordering, Ring, SimdLevel, Word,
};

use crate::bucket::Shape;
use crate::growth::classifier::Classifier;
use crate::growth::form::{Form, Forms, forms};
use crate::growth::layout::{
    Contents, FROZEN, Layout, folded, in_place, key, tag, tag_of_level, unfolded,
};
use crate::growth::locate::Placed;
use crate::growth::plan::{Plan, SPLITTERS};
use crate::growth::pointer::{LEVEL_BITS, Pointer};
use crate::growth::words::Words;
use crate::place::Class;

/// The lock bit in the word of a lock.
const LOCK: u64 = 1;

/// A table that grows in place.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) plan: Plan,
    pub(crate) classifier: Classifier,
    /// The forms of each level and of the next one.
    forms: [&'static Forms; 1 << LEVEL_BITS],
    pub(crate) words: Words,
    /// The split pointer `P`.
    pub(crate) pointer: CachePadded<Word>,
    /// The sweep `Q`: the level that may be split, and how many locks were taken since.
    pub(crate) sweep: CachePadded<Word>,
    /// The step of growth at which an insert last waited in vain. A hint.
    pub(crate) stalled: Word,
    /// The locks of the stripes, then those of the splitters.
    locks: Lines,
    /// The versions of the stripes.
    pub(crate) versions: Ring,
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
        let words = Words::reserved(&plan, plan.last_places(), plan.buckets)?;
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
        let forms = core::array::from_fn(|level| {
            // The last level has no next one.
            let level = plan.last_level().min(level as u32);
            let next = plan.last_level().min(level + 1);
            forms(plan.paired, level, [level, next].map(|level| plan.shape_number(level)))
        });
        Ok(Self {
            plan,
            classifier: Classifier::new(&plan),
            forms,
            words,
            pointer: CachePadded::new(Word::new(0)),
            sweep: CachePadded::new(Word::new(0)),
            stalled: Word::new(0),
            locks: Lines::zeroed((stripes + SPLITTERS).div_ceil(LINE_WORDS as u64))?,
            versions: Ring::zeroed(stripes)?,
            simd: SimdLevel::detect(),
            portion,
        })
    }

    /// Empties the table, which begins with its first size again.
    pub(crate) fn clear(&mut self) {
        let pointer = self.pointer.update(|bits| Pointer::of(*bits));
        // With the children of a portion that is split and not yet published. After the last level
        // there is none.
        let (last, first) = (self.plan.last_places(), self.plan.first());
        self.words.fill(last.min(self.plan.places(pointer) + self.portion), 0);
        for place in 0..self.plan.buckets {
            let level = first.level_at(&self.plan, place);
            self.words.set(place, in_place(tag_of_level(level), *self.shape(level)));
        }
        self.restart(first);
    }

    /// Sets the pointer. The level that it names may be split.
    pub(crate) fn restart(&mut self, pointer: Pointer) {
        let locks = self.all_locks();
        self.pointer.update(|bits| *bits = pointer.bits());
        self.sweep.update(|bits| *bits = Pointer { level: pointer.level, next: locks }.bits());
        // The same step will come again.
        self.stalled.update(|bits| *bits = 0);
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
        self.versions.len() as u64
    }

    /// Returns the number of stripes and of splitters.
    pub(crate) fn all_locks(&self) -> u64 {
        self.stripes() + SPLITTERS
    }

    /// Returns the class of a hash.
    #[inline(always)]
    pub(crate) fn class(&self, hash: u64) -> Class {
        self.classifier.class(hash)
    }

    /// Returns the forms of buckets at a level and at the next one.
    #[inline(always)]
    pub(crate) fn forms(&self, level: u32) -> &'static Forms {
        self.forms[level as usize]
    }

    /// Returns the form of buckets at a level.
    #[inline(always)]
    pub(crate) fn form(&self, level: u32) -> &'static Form {
        &self.forms(level).each[0]
    }

    /// Returns the shape of buckets at a level.
    #[inline(always)]
    pub(crate) fn shape(&self, level: u32) -> &'static Shape {
        &self.form(level).shape
    }

    /// Returns the version of the stripe with this number, or of the classes with this key.
    #[inline(always)]
    pub(crate) fn version(&self, number: u64) -> &Word {
        self.versions.word(number)
    }

    /// Returns the number of the class's stripe, which is the same at all levels.
    #[inline(always)]
    pub(crate) fn stripe(&self, class: Class) -> u64 {
        self.versions.index(key(class)) as u64
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

    /// Prefetches the buckets of the class of a hash.
    #[inline]
    pub(crate) fn prefetch_hash(&self, hash: u64) {
        self.prefetch(&self.placed(self.class(hash)));
    }

    /// Prefetches the buckets of a class.
    #[inline(always)]
    pub(crate) fn prefetch(&self, placed: &Placed) {
        placed.locations.iter().for_each(|location| self.words.prefetch(location.place));
    }

    /// Returns the contents of the bucket of a class at a position, or `None` if the pointer is
    /// out of date.
    #[inline(always)]
    pub(crate) fn contents(
        &self,
        pointer: Pointer,
        position: u64,
        class: Class,
    ) -> Option<Contents<'static>> {
        match self.resolve_by(pointer, position, class.fingerprint) {
            Resolved::At { contents, .. } | Resolved::Frozen { contents, .. } => Some(contents),
            Resolved::Stale => None,
        }
    }

    /// Returns the value of the bucket at a place.
    #[inline(always)]
    pub(crate) fn bucket(&self, place: u64) -> u128 {
        // ORDERING: Acquire, as in `read_from`; under a lock too, since the lock does not order
        // the births of other threads' splits (claim 2).
        self.words.load(place, Ordering::Acquire)
    }

    /// Reads the bucket of a fingerprint at a position, as one of this level. Returns its place,
    /// its contents and its tag.
    #[inline(always)]
    fn read(&self, level: u32, position: u64, whole: u64) -> (u64, Contents<'static>, u32) {
        let layout = self.layout();
        let fold = layout.fold_at(position);
        let place = layout.number(position, folded(whole, fold), level);
        let (value, shape, low) = (self.bucket(place), self.shape(level), place >> layout.bits);
        (place, Contents { value, shape, level, low, fold }, tag(value, *shape))
    }

    /// Returns how classes and buckets are laid out.
    #[inline(always)]
    pub(crate) fn layout(&self) -> Layout {
        self.classifier.layout
    }

    /// Finds the bucket of a fingerprint at a position (rule 10).
    #[inline(always)]
    pub(crate) fn resolve_by(&self, pointer: Pointer, position: u64, whole: u64) -> Resolved {
        let layout = self.layout();
        let folded = layout.folded_at(whole, position);
        let level = pointer.level_of(layout.number(position, folded, pointer.level));
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
            return Resolved::Frozen { number: place, contents };
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

    /// Returns the number of items up to which the table does not split further.
    pub(crate) fn items_before_split(&self, pointer: Pointer) -> u64 {
        let slots = self.forms(pointer.level).each.each_ref().map(|form| form.shape.slots);
        self.plan.items_of(pointer, slots)
    }

    /// Returns the number of bytes of the buckets, the locks and the versions.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let buckets = self.places() * self.plan.bucket_bytes();
        buckets + self.plan.lock_bytes()
    }

    /// Returns the number of buckets.
    pub(crate) fn places(&self) -> u64 {
        self.plan.places(self.pointer())
    }

    /// Returns the number of slots.
    pub(crate) fn slots(&self) -> u64 {
        self.plan.slots(self.pointer())
    }

    /// Returns the positions and the contents of every `step`-th bucket, from the one at this
    /// place. While threads write, the buckets are of different times and levels.
    pub(crate) fn buckets(
        &self,
        first: u64,
        step: u64,
    ) -> impl Iterator<Item = (u64, Contents<'static>)> {
        let places = (first..self.places()).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        places.map(|place| {
            let layout = self.layout();
            let (position, low) = (layout.position(place), place >> layout.bits);
            (position, self.contents_now(position, unfolded(low, layout.fold_at(position))))
        })
    }

    /// Returns the contents of the bucket of a fingerprint at a position, at a level that it has.
    #[inline(never)]
    pub(crate) fn contents_now(&self, position: u64, whole: u64) -> Contents<'static> {
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
