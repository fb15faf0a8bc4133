//! The buckets of a table at rest: their reads, and the adds.

use tamis_sync::{LINE_WORDS, Ordering, Word};

use super::Table;
use crate::bucket::Shape;
use crate::place::Class;
use crate::unpaired;

/// The buckets of a table, together with their shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets<'t> {
    pub(crate) table: &'t Table,
    pub(crate) shape: Shape,
}

impl Table {
    /// Returns the buckets, with the shape read from the geometry.
    #[inline]
    pub(crate) fn buckets(&self) -> Buckets<'_> {
        self.buckets_of(self.geometry.shape())
    }

    /// Returns the buckets, with a shape that the caller knows. If it is a constant, the compiler
    /// computes everything that derives from it.
    #[inline(always)]
    pub(crate) fn buckets_of(&self, shape: Shape) -> Buckets<'_> {
        debug_assert_eq!(shape, self.geometry.shape());
        Buckets { table: self, shape }
    }
}

impl<'t> Buckets<'t> {
    /// Returns the class of a hash.
    #[inline(always)]
    pub(crate) fn class(self, hash: u64) -> Class {
        Class::of_hash(hash, self.table.geometry.buckets(), self.shape.width)
    }

    /// Returns whether the buckets have 128 bits and there is no access to pairs of words.
    #[inline(always)]
    pub(super) fn is_unpaired(self) -> bool {
        self.shape.is_pair() && self.table.pairs.is_none()
    }

    /// Returns the word that contains the bucket, and the bucket's bit offset in it. For buckets of
    /// at most 64 bits.
    #[inline(always)]
    pub(super) fn word(self, bucket: u64) -> (&'t Word, u32) {
        (self.table.words.word(self.shape.word(bucket)), self.shape.offset(bucket))
    }

    /// Returns the value of a bucket of any table, for a report on its contents.
    #[inline]
    pub(crate) fn read_any(self, bucket: u64) -> u128 {
        if self.is_unpaired() {
            unpaired::read(&self.table.words, bucket)
        } else {
            self.read(bucket)
        }
    }

    /// Returns the value of a bucket, for a query. The table must not be unpaired.
    #[inline(always)]
    pub(crate) fn read(self, bucket: u64) -> u128 {
        // ORDERING: Acquire, in both, pairs with the Release of `StripeGuard::clear_slot`: a reader
        // that sees the cleared slot also sees the copy that replaces it, and the advance of the
        // version, if there was one (proof: step 2.1).
        if self.shape.is_pair() {
            return self.table.pair(bucket).load(Ordering::Acquire);
        }
        let (word, at) = self.word(bucket);
        u128::from(self.shape.cut(word.load(Ordering::Acquire), at))
    }

    /// Returns the value of a bucket, for an update or a search. Every update checks the value
    /// again. Under the lock of a class's stripe, the value is exact for that class. The table must
    /// not be unpaired.
    #[inline(always)]
    pub(crate) fn peek(self, bucket: u64) -> u128 {
        if self.shape.is_pair() {
            return self.table.pair(bucket).peek();
        }
        let (word, at) = self.word(bucket);
        u128::from(self.shape.cut(word.peek(), at))
    }

    /// Replaces `from` by `to` in the first slot that holds it, in one atomic read-modify-write.
    /// Each is a fingerprint, or 0 for an empty slot. Returns `false`, and writes nothing, if no
    /// slot holds `from`.
    #[inline(always)]
    pub(super) fn replace(self, bucket: u64, from: u64, to: u64, order: Ordering) -> bool {
        let shape = self.shape;
        // Each closure is called again if another thread changed the word meanwhile, and finds the
        // slot again.
        if shape.is_pair() {
            // ORDERING: the caller's.
            let changed = self.table.pair(bucket).try_update(order, |slots| {
                Some(slots ^ u128::from(from ^ to) << shape.find(slots, from)?)
            });
            return changed.is_ok();
        }
        let (word, at) = self.word(bucket);
        // ORDERING: the caller's.
        let changed = word.try_update(order, |bits| {
            let at = at + shape.find(u128::from(shape.cut(bits, at)), from)?;
            // An empty slot has no bits to remove.
            let kept = if from == 0 { bits } else { bits & !(shape.mask() << at) };
            Some(kept | to << at)
        });
        changed.is_ok()
    }

    /// Prefetches both buckets of a class, for a query.
    #[inline(always)]
    pub(crate) fn prefetch(self, class: Class) {
        class.buckets.iter().for_each(|&bucket| self.prefetch_bucket(bucket));
    }

    #[inline(always)]
    fn prefetch_bucket(self, bucket: u64) {
        if self.shape.is_pair() {
            match &self.table.pairs {
                Some(pairs) => pairs.prefetch(bucket as usize),
                None => self.table.words.prefetch_word(2 * bucket as usize),
            }
        } else {
            self.table.words.prefetch_word(self.shape.word(bucket));
        }
    }

    /// Prefetches both buckets of a class, for an insert or a removal: the first bucket for
    /// writing, because most writes go there.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(self, class: Class) {
        let [one, other] = class.buckets;
        if self.shape.is_pair() {
            self.table.pairs().prefetch_to_write(one as usize);
        } else {
            self.table.words[self.shape.word(one) / LINE_WORDS].prefetch_to_write();
        }
        self.prefetch_bucket(other);
    }

    /// Adds a copy to an empty slot of the bucket. Returns `false` if there is none.
    #[inline(always)]
    pub(super) fn add_to(self, bucket: u64, fingerprint: u64) -> bool {
        // ORDERING: Relaxed: a read-modify-write keeps the release sequences of earlier clears. The
        // caller orders its query after its insert (proof: (c)), and the Release of the advance
        // follows the add of a relocation (step 2.4).
        self.replace(bucket, 0, fingerprint, Ordering::Relaxed)
    }

    /// Adds a copy to the first of the two buckets that has an empty slot. Returns `false` if
    /// neither has one.
    #[inline(always)]
    pub(crate) fn add(self, class: Class) -> bool {
        // The compiler does not inline `any` over the two buckets. MEASURED: an insert executes 139
        // instructions with `any`, and 87 instructions written out (any machine: counted by
        // callgrind on x86-64 with AVX2).
        let [one, other] = class.buckets;
        self.add_to(one, class.fingerprint) || self.add_to(other, class.fingerprint)
    }
}
