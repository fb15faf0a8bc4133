//! Many items at a time: the memory of each is asked for while those before it are seen to.

use core::borrow::Borrow;
use core::mem::swap;

use tamis_hash::HashItem;

use crate::bucket::with_known_shape;
use crate::place::Class;
use crate::shared::Shared;
use crate::table::Table;
use crate::{CuckooFilter, InsertError, OnceCuckooFilter, evict};

/// Items of a batch: as many as there are lines on their way from memory at a time, two an item.
const BATCH: usize = 32;

/// Items that belong together: those seen to, or those whose memory is asked for meanwhile.
struct Batch {
    hashes: [u64; BATCH],
    classes: [Class; BATCH],
    items: usize,
}

impl Batch {
    const EMPTY: Self = Self {
        hashes: [0; BATCH],
        classes: [Class { fingerprint: 0, buckets: [0; 2] }; BATCH],
        items: 0,
    };

    /// Replaces the items by the next ones.
    #[inline]
    fn fill(&mut self, hashes: &mut impl Iterator<Item = u64>) {
        self.items = 0;
        for (to, hash) in self.hashes.iter_mut().zip(hashes) {
            *to = hash;
            self.items += 1;
        }
    }
}

/// Functions that do something to each item of a batch, in order, and ask for the memory of the next batch
/// meanwhile.
///
/// A macro, since closures would not be inlined into all shapes, and a shape that is no constant costs
/// half as much again.
macro_rules! batches {
    ($($name:ident -> $answer:ty, $prefetch:ident, |$buckets:ident, $class:ident| $one:expr;)*) => {$(
        fn $name(table: &Table, this: &Batch, next: &mut Batch, answers: &mut [$answer; BATCH]) {
            with_known_shape!(table.geometry().shape(), shape => {
                let $buckets = table.buckets_of(shape);
                // As many of both as there are of either, then the rest of the longer one: no branch an item.
                // (Neither has more than a batch; said again, it spares the checks of bounds.)
                let both = this.items.min(next.items).min(BATCH);
                for item in 0..both {
                    let class = $buckets.class(next.hashes[item]);
                    $buckets.$prefetch(class);
                    next.classes[item] = class;
                    let $class = this.classes[item];
                    answers[item] = $one;
                }
                for item in both..this.items {
                    let $class = this.classes[item];
                    answers[item] = $one;
                }
                for item in both..next.items {
                    let class = $buckets.class(next.hashes[item]);
                    $buckets.$prefetch(class);
                    next.classes[item] = class;
                }
            });
        }
    )*};
}

batches! {
    contains -> bool, prefetch, |buckets, class| buckets.contains(class);
    insert -> Result<(), InsertError>, prefetch_to_write, |buckets, class| evict::insert(buckets, class);
    insert_once -> Result<bool, InsertError>, prefetch_to_write, |buckets, class| {
        evict::insert_once(buckets, class)
    };
    remove -> bool, prefetch_to_write, |buckets, class| buckets.hold(class).remove();
}

/// Does something to the items with these hashes, batch after batch by `batch`, and tells each item's number
/// and answer, in order.
#[inline]
fn many<R: Copy>(
    hashes: impl IntoIterator<Item = u64>,
    idle: R,
    batch: impl Fn(&Batch, &mut Batch, &mut [R; BATCH]),
    mut told: impl FnMut(usize, R),
) {
    let mut hashes = hashes.into_iter().fuse();
    let mut room = [Batch::EMPTY, Batch::EMPTY];
    let [mut this, mut next] = room.each_mut();
    let mut answers = [idle; BATCH];
    let mut first = 0;
    loop {
        next.fill(&mut hashes);
        if this.items == 0 && next.items == 0 {
            return;
        }
        batch(this, next, &mut answers);
        for (number, &answer) in (first..).zip(&answers[..this.items]) {
            told(number, answer);
        }
        first += this.items;
        swap(&mut this, &mut next);
    }
}

impl<T: ?Sized, S> Shared<T, S> {
    #[inline]
    fn contains_many(&self, hashes: impl IntoIterator<Item = u64>, told: impl FnMut(usize, bool)) {
        let batch = |this: &Batch, next: &mut Batch, answers: &mut [bool; BATCH]| {
            contains(&self.table, this, next, answers);
        };
        many(hashes, false, batch, told);
    }

    #[inline]
    fn insert_many(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, Result<(), InsertError>),
    ) {
        let batch =
            |this: &Batch, next: &mut Batch, answers: &mut [Result<(), InsertError>; BATCH]| {
                insert(&self.table, this, next, answers);
                let inserted = answers[..this.items].iter().filter(|answer| answer.is_ok());
                self.len.add(inserted.count() as u64);
            };
        many(hashes, Ok(()), batch, told);
    }

    #[inline]
    fn insert_once_many(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        let batch =
            |this: &Batch, next: &mut Batch, answers: &mut [Result<bool, InsertError>; BATCH]| {
                insert_once(&self.table, this, next, answers);
                let new = answers[..this.items].iter().filter(|&&answer| answer == Ok(true));
                self.len.add(new.count() as u64);
            };
        many(hashes, Ok(false), batch, told);
    }

    #[inline]
    fn remove_many(&self, hashes: impl IntoIterator<Item = u64>, told: impl FnMut(usize, bool)) {
        let batch = |this: &Batch, next: &mut Batch, answers: &mut [bool; BATCH]| {
            remove(&self.table, this, next, answers);
            let removed = answers[..this.items].iter().filter(|&&removed| removed);
            self.len.subtract(removed.count() as u64);
        };
        many(hashes, false, batch, told);
    }

    /// The hashes of items. The user's code runs here, and where it is told; no stripe is held.
    #[inline]
    fn hashes<'i, Q: ?Sized + 'i>(
        &self,
        items: impl IntoIterator<Item = &'i Q>,
    ) -> impl Iterator<Item = u64>
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        items.into_iter().map(|item| self.hash(item))
    }
}

impl<T: ?Sized, S> CuckooFilter<T, S> {
    /// Inserts many items, and tells for each, by its number, what [`insert`](Self::insert) would have
    /// returned: the same as one after the other, in order. A refusal does not end it.
    ///
    /// Faster than one by one in filters beyond the caches, where the memory of an item is asked for some 32
    /// items ahead. Items are taken from the iterator up to 64 ahead of what is told, and are inserted
    /// although the filter is not asked again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::CuckooFilter;
    /// let filter = CuckooFilter::<u64>::with_capacity(1000)?;
    /// let mut refused = vec![];
    /// filter.insert_many(&[1, 2, 1], |number, result| {
    ///     if result.is_err() {
    ///         refused.push(number);
    ///     }
    /// });
    /// assert!(refused.is_empty());
    /// assert_eq!(filter.count(&1), 2);
    /// # Ok::<(), tamis_cuckoo::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many<'i, Q: ?Sized + 'i>(
        &self,
        items: impl IntoIterator<Item = &'i Q>,
        told: impl FnMut(usize, Result<(), InsertError>),
    ) where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.shared.insert_many(self.shared.hashes(items), told);
    }

    /// Removes one copy of each of many items, and tells for each, by its number, what
    /// [`remove`](Self::remove), whose contract holds for each, would have returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::CuckooFilter;
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("a")?;
    /// filter.remove_many(["a"], |_, removed| assert!(removed));
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove_many<'i, Q: ?Sized + 'i>(
        &self,
        items: impl IntoIterator<Item = &'i Q>,
        told: impl FnMut(usize, bool),
    ) where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.shared.remove_many(self.shared.hashes(items), told);
    }

    /// [`insert_many`](Self::insert_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::CuckooFilter;
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert_hashes([0x9E37_79B9_7F4A_7C15], |_, result| assert_eq!(result, Ok(())));
    /// # Ok::<(), tamis_cuckoo::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, Result<(), InsertError>),
    ) {
        self.shared.insert_many(hashes, told);
    }

    /// [`remove_many`](Self::remove_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::CuckooFilter;
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.remove_hashes([0x9E37_79B9_7F4A_7C15], |_, removed| assert!(!removed));
    /// # Ok::<(), tamis_cuckoo::BuildError>(())
    /// ```
    #[inline]
    pub fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, bool),
    ) {
        self.shared.remove_many(hashes, told);
    }
}

impl<T: ?Sized, S> OnceCuckooFilter<T, S> {
    /// Inserts many items, and tells for each, by its number, what [`insert`](Self::insert) would have
    /// returned: the same as one after the other, in order. A refusal does not end it.
    ///
    /// Faster than one by one in filters beyond the caches, where the memory of an item is asked for some 32
    /// items ahead. Items are taken from the iterator up to 64 ahead of what is told, and are inserted
    /// although the filter is not asked again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// let mut new = vec![];
    /// filter.insert_many(&[1, 2, 1], |_, result| new.push(result));
    /// assert_eq!(new, [Ok(true), Ok(true), Ok(false)]);
    /// # Ok::<(), tamis_cuckoo::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many<'i, Q: ?Sized + 'i>(
        &self,
        items: impl IntoIterator<Item = &'i Q>,
        told: impl FnMut(usize, Result<bool, InsertError>),
    ) where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.shared.insert_once_many(self.shared.hashes(items), told);
    }

    /// [`insert_many`](Self::insert_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert_hashes([0x9E37_79B9_7F4A_7C15], |_, result| assert_eq!(result, Ok(true)));
    /// # Ok::<(), tamis_cuckoo::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.shared.insert_once_many(hashes, told);
    }
}

macro_rules! queries {
    ($($name:ident $named:literal)*) => {$(
        impl<T: ?Sized, S> $name<T, S> {
            /// Looks for many items, and tells for each, by its number, what
            /// [`contains`](Self::contains) would have returned, in order.
            ///
            /// Faster than one by one in filters beyond the caches.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use tamis_cuckoo::", $named, ";")]
            #[doc = concat!("let filter = ", $named, "::<str>::with_capacity(1000)?;")]
            /// filter.insert("b")?;
            /// let mut hits = vec![];
            /// filter.contains_many(["a", "b"], |_, hit| hits.push(hit));
            /// assert_eq!(hits, [false, true]);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[inline]
            pub fn contains_many<'i, Q: ?Sized + 'i>(
                &self,
                items: impl IntoIterator<Item = &'i Q>,
                told: impl FnMut(usize, bool),
            ) where
                T: Borrow<Q>,
                S: HashItem<Q>,
            {
                self.shared.contains_many(self.shared.hashes(items), told);
            }

            /// [`contains_many`](Self::contains_many) by hash; see [`insert_hash`](Self::insert_hash).
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use tamis_cuckoo::", $named, ";")]
            #[doc = concat!("let filter = ", $named, "::<str>::with_capacity(1000)?;")]
            /// filter.contains_hashes([0x9E37_79B9_7F4A_7C15], |_, hit| assert!(!hit));
            /// # Ok::<(), tamis_cuckoo::BuildError>(())
            /// ```
            #[inline]
            pub fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                told: impl FnMut(usize, bool),
            ) {
                self.shared.contains_many(hashes, told);
            }
        }
    )*};
}

queries! { CuckooFilter "CuckooFilter" OnceCuckooFilter "OnceCuckooFilter" }
