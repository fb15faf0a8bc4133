//! What the public type of a growing filter consists of: the slices, the hasher, and the
//! batches.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use tamis_core::{AsItem, BuildError, Figures, Sampled};
use tamis_hash::HashItem;
use tamis_sync::{AllocError, BATCH, BatchWork, out_of_memory, run_batches};

use crate::error::InsertError;
use crate::place::Class;
use crate::plan::Plan;
use crate::shared::bytes;
use crate::slices::Slices;
use crate::{occupancy, sizing};

/// A growing filter.
pub(crate) struct Growing<T: ?Sized, S> {
    pub(crate) slices: Slices,
    capacity: usize,
    hasher: S,
    /// No item is stored, so the filter is `Send` and `Sync` for every `T`.
    item: PhantomData<fn(&T)>,
}

impl<T: ?Sized, S> Growing<T, S> {
    /// Allocates an empty filter that holds at most `capacity` items at its rate.
    pub(crate) fn new(plan: Plan, capacity: usize, hasher: S) -> Result<Self, BuildError> {
        Ok(Self::of(Slices::new(plan)?, capacity, hasher))
    }

    pub(crate) const fn of(slices: Slices, capacity: usize, hasher: S) -> Self {
        Self { slices, capacity, hasher, item: PhantomData }
    }

    /// Hashes an item. Of these operations only this one runs code of the user, and it holds no
    /// lock.
    #[inline]
    pub(crate) fn hash<Q: ?Sized>(&self, item: &Q) -> u64
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.hasher.hash_item(item)
    }

    /// Returns the hashes of items. The user's code runs here and in the callbacks; no lock is
    /// held.
    #[inline]
    pub(crate) fn hashes<I>(&self, items: I) -> impl Iterator<Item = u64>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        items.into_iter().map(|item| self.hasher.hash_item(item.as_item()))
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.slices.contains(self.slices.plan().class(hash))
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.slices.prefetch(self.slices.plan().class(hash));
    }

    #[inline]
    pub(crate) fn contains_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Contains(&self.slices), hashes, on_result);
    }

    #[inline]
    pub(crate) fn insert_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<(), InsertError>),
    ) {
        run_batches(Insert(&self.slices), hashes, on_result);
    }

    #[inline]
    pub(crate) fn remove_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Remove(&self.slices), hashes, on_result);
    }

    pub(crate) const fn hasher(&self) -> &S {
        &self.hasher
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn len(&self) -> usize {
        // This fits: a slot has at least 8 bits, so a filter has no more slots than its memory has
        // bytes.
        self.slices.len() as usize
    }

    pub(crate) fn saturation(&self) -> f64 {
        self.len() as f64 / self.capacity as f64
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.slices.size_in_bytes()
    }

    /// Returns a copy of the filter, which may be in use meanwhile.
    pub(crate) fn try_snapshot(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        // The hasher first: it is foreign code, and must not run under the locks.
        let hasher = self.hasher.clone();
        Ok(Self::of(self.slices.copy()?, self.capacity, hasher))
    }

    /// Returns a copy of the filter. Ends the program as std's collections do if the allocation
    /// fails.
    pub(crate) fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        self.try_snapshot().unwrap_or_else(|error| out_of_memory(bytes(error)))
    }

    /// Reads all buckets, or at least this number of each slice. The number of copies is
    /// exact.
    pub(crate) fn figures(&self, buckets: Option<u64>) -> Figures {
        let mut slots = 0.0;
        for slice in self.slices.iter() {
            let geometry = slice.table.geometry();
            slots += geometry.buckets() as f64 * f64::from(geometry.slots());
        }
        let [items, fill, saturation] =
            [self.len() as f64, self.len() as f64 / slots, self.saturation()].map(Sampled::exact);
        Figures::new(items, fill, saturation, self.false_positive_rate(buckets))
    }

    /// Returns the probability that a random hash has the class of some copy, from every bucket or
    /// a sample of them.
    ///
    /// The classes of the slices are added up. A class with copies in several slices
    /// counts several times, so the rate may be lower by a fraction of itself.
    pub(crate) fn false_positive_rate(&self, buckets: Option<u64>) -> Sampled {
        let (mut value, mut variance) = (0.0, 0.0);
        for slice in self.slices.iter() {
            let all = slice.table.geometry().buckets();
            let step = buckets.map_or(1, |buckets| (all / buckets.max(1)).max(1));
            let sampled = (0..all).step_by(usize::try_from(step).unwrap_or(usize::MAX));
            let table = slice.table.buckets();
            let pairs = Sampled::mean(
                sampled.map(|bucket| f64::from(occupancy::pairs_in(table, bucket))),
                all,
            );
            // A class accounts for two pairs.
            value += pairs.value * all as f64 / 2.0;
            let error = pairs.standard_error * all as f64 / 2.0;
            variance += error * error;
        }
        let classes = self.slices.plan().classes();
        Sampled {
            value: sizing::with_equal_hashes(value / classes, value),
            standard_error: libm::sqrt(variance) / classes,
        }
    }
}

/// Prints the type only: the public type prints its figures.
impl<T: ?Sized, S> fmt::Debug for Growing<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Growing").finish_non_exhaustive()
    }
}

/// A batch of items: their hashes and classes.
#[derive(Clone, Copy, Debug)]
struct Items {
    hashes: [u64; BATCH],
    classes: [Class; BATCH],
}

impl Items {
    /// A value to be overwritten.
    const EMPTY: Self =
        Self { hashes: [0; BATCH], classes: [Class { fingerprint: 1, buckets: [0; 2] }; BATCH] };
}

/// The batch operations, each by a function of a hash and a class.
macro_rules! batches {
    ($($name:ident -> $answer:ty = $idle:expr, pulls first: $first:literal,
        |$slices:ident, $hash:ident, $class:ident| $run:expr;)*) => {$(
        struct $name<'f>(&'f Slices);

        impl BatchWork for $name<'_> {
            type Batch = Items;
            type Answer = $answer;
            const EMPTY: Items = Items::EMPTY;
            const IDLE: $answer = $idle;
            const PULLS_FIRST: bool = $first;

            #[inline]
            fn spread(&self, hashes: &[u64; BATCH], batch: &mut Items) {
                let plan = *self.0.plan();
                *batch = Items { hashes: *hashes, classes: hashes.map(|hash| plan.class(hash)) };
            }

            #[inline]
            fn prefetch(&self, hash: u64) {
                self.0.prefetch(self.0.plan().class(hash));
            }

            #[inline]
            fn prefetch_batch(&self, batch: &Items) {
                batch.classes.iter().for_each(|&class| self.0.prefetch(class));
            }

            #[inline]
            fn one(&mut self, $hash: u64) -> $answer {
                let ($slices, $class) = (self.0, self.0.plan().class($hash));
                $run
            }

            #[inline]
            fn begin(&mut self, this: &Items, next: &Items, answers: &mut [$answer; BATCH]) {
                for item in 0..BATCH {
                    self.0.prefetch(next.classes[item]);
                    let ($slices, $hash, $class) = (self.0, this.hashes[item], this.classes[item]);
                    answers[item] = $run;
                }
            }
        }
    )*};
}

batches! {
    Contains -> bool = false, pulls first: false,
        |slices, _hash, class| slices.contains(class);
    Insert -> Result<(), InsertError> = Ok(()), pulls first: true,
        |slices, hash, class| slices.insert(hash, class);
    Remove -> bool = false, pulls first: true,
        |slices, hash, class| slices.remove(hash, class);
}
