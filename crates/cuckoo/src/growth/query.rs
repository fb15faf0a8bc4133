//! Queries of a table that grows, while other threads add, relocate and remove copies and split
//! buckets.
//!
//! Each `ORDERING:` comment names the claim of [`growth`](crate::growth) that needs it.

use tamis_sync::{Ordering, Vectors};

use crate::growth::form::{Form, Forms};
use crate::growth::layout::{Contents, key};
use crate::growth::locate::{Location, Placed};
use crate::growth::pointer::Pointer;
use crate::growth::table::Table;
use crate::growth::words::{Memory, Words, with_memory};
use crate::place::Class;

/// A bucket that was read where the pointer says.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) value: u128,
    pub(crate) place: u64,
    /// The fingerprint as a slot of the bucket holds it.
    pub(crate) held: u64,
    /// The level and the form that the bucket has if it is at rest.
    pub(crate) level: u32,
    pub(crate) form: &'static Form,
}

impl Read {
    /// A bucket of this value at a place.
    #[inline(always)]
    const fn new(value: u128, pointer: Pointer, at: Location, forms: &'static Forms) -> Self {
        let Location { place, is_ahead, held } = at;
        // No branch on the level: the processor cannot predict it.
        let (level, form) = (pointer.level + is_ahead as u32, &forms.each[is_ahead as usize]);
        Self { value, place, held, level, form }
    }

    /// Returns what of the bucket differs from one at rest that holds the fingerprint in every
    /// slot.
    #[inline(always)]
    pub(crate) const fn differences<M: Memory>(&self) -> u128 {
        self.form.differences(M::PAIRED, self.value, self.held)
    }

    /// Returns whether the bucket is at rest, at its level. Otherwise it is being split, or has
    /// been since the pointer was loaded.
    #[inline(always)]
    pub(crate) const fn is_at_rest<M: Memory>(&self) -> bool {
        Form::has_tag(M::PAIRED, self.form.differences(M::PAIRED, self.value, 0))
    }

    /// Returns the highest bit of the first empty slot, or the number of bits of a bucket.
    #[inline(always)]
    pub(crate) const fn first_empty<M: Memory>(&self) -> u32 {
        self.form.first_empty(M::PAIRED, self.value)
    }
}

impl Table {
    /// Returns whether there is a copy of the class of this hash.
    #[inline(always)]
    pub(crate) fn contains_hash(&self, hash: u64, vectors: Option<Vectors>) -> bool {
        match self.try_at_rest(&self.placed(self.class(hash)), vectors) {
            Some(found) => found,
            // Pass the hash: a class would take registers during the attempt.
            None => self.contains_contended_hash(hash),
        }
    }

    #[cold]
    fn contains_contended_hash(&self, hash: u64) -> bool {
        self.contains_contended(self.class(hash))
    }

    /// Returns whether there is a copy of the class.
    pub(crate) fn contains_class(&self, class: Class) -> bool {
        self.contains(&self.placed(class), None)
    }

    /// As [`contains_class`](Self::contains_class).
    #[inline(always)]
    pub(crate) fn contains(&self, placed: &Placed, vectors: Option<Vectors>) -> bool {
        match self.try_at_rest(placed, vectors) {
            Some(found) => found,
            None => self.contains_contended(placed.class),
        }
    }

    /// Returns whether there is a copy of the class, or `None` if a bucket is not at rest, or if
    /// the version has changed, or the pointer since the class was placed. This is the first
    /// attempt of a query: few instructions, and branches that are almost never taken.
    #[inline(always)]
    pub(super) fn try_at_rest(&self, placed: &Placed, vectors: Option<Vectors>) -> Option<bool> {
        // 1. Load the version. The pointer was loaded before.
        let version = self.version(key(placed.class));
        // ORDERING: Acquire pairs with the Release of `advance_version` (claim 1).
        let before = version.load(Ordering::Acquire);
        // 2. Read both buckets.
        let found = with_memory!(&self.words, memory => self.find_in(memory, placed, vectors))?;
        // 3. Load the pointer and the version again.
        // ORDERING: Relaxed, both: the Acquire loads of the buckets keep them behind (claims 1,
        // 5).
        if self.pointer.load(Ordering::Relaxed) != placed.pointer.bits() {
            return None;
        }
        (version.load(Ordering::Relaxed) == before).then_some(found)
    }

    /// Returns whether a bucket of the class has a copy, or `None` if one is not at rest at the
    /// level that the pointer says.
    #[inline(always)]
    fn find_in<M: Memory>(
        &self,
        memory: &M,
        placed: &Placed,
        vectors: Option<Vectors>,
    ) -> Option<bool> {
        let [one, other] = self.read_both(memory, placed);
        let forms = self.forms(placed.pointer.level);
        if let Some(vectors) = vectors.filter(|_| M::PAIRED) {
            let [at, other_at] = placed.locations;
            let of = |read: Read, at: Location| (read.value, read.held, at.is_ahead);
            return forms.find(vectors, [of(one, at), of(other, other_at)]);
        }
        let (form, other_form) = (one.form, other.form);
        let (one, other) = (one.differences::<M>(), other.differences::<M>());
        // One branch on both tags, and none on a bucket: the processor cannot predict which of the
        // two has the copy.
        Form::has_tag(M::PAIRED, one | other).then(|| {
            form.shape.marks_in(M::PAIRED, one) | other_form.shape.marks_in(M::PAIRED, other) != 0
        })
    }

    /// Returns whether there is a copy of the class, or `None` if a relocation, a removal or a
    /// split disturbed the query.
    #[cold]
    pub(crate) fn try_contains(&self, class: Class) -> Option<bool> {
        // As in `try_at_rest`, but at the level that each bucket has (rule 10).
        let version = self.version(key(class));
        // ORDERING: Acquire, as there.
        let before = version.load(Ordering::Acquire);
        let pointer = self.pointer();
        let [one, other] = class.buckets.map(|position| self.contents(pointer, position, class));
        // ORDERING: Relaxed, both, as there.
        let now = Pointer::of(self.pointer.load(Ordering::Relaxed));
        let changed = version.load(Ordering::Relaxed) != before;
        let found = one?.contains(class) | other?.contains(class);
        // A hit is valid whatever the version. Nothing is valid if the level has changed.
        if now.level != pointer.level || changed & !found { None } else { Some(found) }
    }

    /// Returns a class with where its buckets are by the present pointer.
    #[inline(always)]
    pub(crate) fn placed(&self, class: Class) -> Placed {
        Placed::new(class, self.pointer(), self.layout())
    }

    /// Reads both buckets of a class.
    #[inline(always)]
    pub(crate) fn read_both<M: Memory>(&self, memory: &M, placed: &Placed) -> [Read; 2] {
        let &Placed { pointer, locations: [one, other], .. } = placed;
        let forms = self.forms(pointer.level);
        // ORDERING: Acquire, as in `read_from`.
        let [value, other_value] = memory.load_both([one.place, other.place], Ordering::Acquire);
        [Read::new(value, pointer, one, forms), Read::new(other_value, pointer, other, forms)]
    }

    /// Reads the second bucket of a class.
    #[inline(always)]
    pub(crate) fn read_second<M: Memory>(&self, memory: &M, placed: &Placed) -> Read {
        let &Placed { pointer, locations: [_, other], .. } = placed;
        Self::read_from(memory, pointer, other, self.forms(pointer.level))
    }

    #[inline(always)]
    fn read_from<M: Memory>(
        memory: &M,
        pointer: Pointer,
        location: Location,
        forms: &'static Forms,
    ) -> Read {
        // ORDERING: Acquire pairs with the Releases of clears, freezes and commits (claims 1, 5
        // and 6).
        let value = memory.load(location.place, Ordering::Acquire);
        Read::new(value, pointer, location, forms)
    }

    /// Returns the contents of the bucket of a fingerprint at a position, for a search, which
    /// trusts nothing that it reads.
    #[inline(always)]
    pub(crate) fn peek(&self, position: u64, whole: u64) -> Contents<'static> {
        let pointer = self.pointer();
        let read = with_memory!(&self.words, memory => {
            self.peek_in(memory, pointer, position, whole)
        });
        match read {
            Some(Read { value, place, level, form, .. }) => {
                let layout = self.layout();
                let (low, fold) = (place >> layout.bits, layout.fold_at(position));
                Contents { value, shape: &form.shape, level, low, fold }
            }
            None => self.contents_now(position, whole),
        }
    }

    #[inline(always)]
    fn peek_in<M: Memory>(
        &self,
        memory: &M,
        pointer: Pointer,
        position: u64,
        whole: u64,
    ) -> Option<Read> {
        let location = Location::new(pointer, self.layout(), whole, position);
        let read = Self::read_from(memory, pointer, location, self.forms(pointer.level));
        read.is_at_rest::<M>().then_some(read)
    }
}
