//! Queries of a table that grows, while other threads add, relocate and remove copies and split
//! buckets.
//!
//! Each `ORDERING:` comment names the claim of [`growth`](crate::growth) that needs it.

use tamis_sync::Ordering;

use crate::growth::form::Form;
use crate::growth::layout::{Contents, low, place};
use crate::growth::pointer::Pointer;
use crate::growth::table::Table;
use crate::growth::words::{Memory, Words, with_memory};
use crate::place::Class;

/// A bucket that was read where the pointer says.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) value: u128,
    pub(crate) place: u64,
    /// The level and the form that the bucket has if it is at rest.
    pub(crate) level: u32,
    pub(crate) form: &'static Form,
}

impl Read {
    /// Returns what of the bucket differs from one at rest that holds the fingerprint in every
    /// slot.
    #[inline(always)]
    pub(crate) const fn differences<M: Memory>(&self, whole: u64) -> u128 {
        self.form.differences(M::PAIRED, self.value, whole >> self.level)
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
    /// Returns whether there is a copy of the class.
    #[inline(always)]
    pub(crate) fn contains(&self, class: Class) -> bool {
        match self.try_contains(class) {
            Some(found) => found,
            // Pass numbers, not structures: the compiler would spill those to the stack.
            None => self.contains_contended(class.fingerprint, class.buckets[0]),
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
        let found = with_memory!(&self.words, memory => self.find_in(memory, pointer, class));
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
    #[inline(always)]
    fn find_in<M: Memory>(&self, memory: &M, pointer: Pointer, class: Class) -> Option<bool> {
        // No iterator over the two buckets: the compiler does not inline it.
        let ([one, other], whole) = (class.buckets, class.fingerprint);
        let one = self.read_at(memory, pointer, one, whole);
        let other = self.read_at(memory, pointer, other, whole);
        let [one, other] = [one, other].map(|read| (read.form, read.differences::<M>(whole)));
        // Both tags in one branch, and both buckets without one.
        if Form::has_tag(M::PAIRED, one.1 | other.1) {
            Some(one.0.marks(M::PAIRED, one.1) | other.0.marks(M::PAIRED, other.1) != 0)
        } else {
            self.find_while_splitting(pointer.bits(), whole, class.buckets[0])
        }
    }

    /// Reads the bucket of a fingerprint at a position.
    #[inline(always)]
    pub(crate) fn read_at<M: Memory>(
        &self,
        memory: &M,
        pointer: Pointer,
        position: u64,
        whole: u64,
    ) -> Read {
        let is_ahead = pointer.is_split(position << pointer.level | low(whole, pointer.level));
        let level = pointer.level + u32::from(is_ahead);
        let place = place(position, low(whole, level), self.plan.buckets);
        // ORDERING: Acquire pairs with the Releases of clears, freezes and commits (claims 1, 5
        // and 6).
        let value = memory.load(place, Ordering::Acquire);
        // No branch on the level: the processor cannot predict it.
        Read { value, place, level, form: &self.forms(pointer.level)[usize::from(is_ahead)] }
    }

    /// Returns what [`find_in`](Self::find_in) does, when a bucket is being split, or has been
    /// since the pointer was loaded.
    #[cold]
    fn find_while_splitting(&self, pointer: u64, fingerprint: u64, position: u64) -> Option<bool> {
        let class = Class::of(fingerprint, position, self.plan.buckets);
        let [one, other] =
            class.buckets.map(|position| self.contents(Pointer::of(pointer), position, class));
        Some(one?.contains(class) | other?.contains(class))
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
            Some(Read { value, level, form, .. }) => {
                Contents { value, shape: &form.shape, level, low: low(whole, level) }
            }
            None => self.peek_while_splitting(position, whole),
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
        let read = self.read_at(memory, pointer, position, whole);
        read.is_at_rest::<M>().then_some(read)
    }

    #[cold]
    fn peek_while_splitting(&self, position: u64, whole: u64) -> Contents<'static> {
        let class = Class { fingerprint: whole, buckets: [position; 2] };
        loop {
            if let Some(contents) = self.contents(self.pointer(), position, class) {
                return contents;
            }
        }
    }
}
