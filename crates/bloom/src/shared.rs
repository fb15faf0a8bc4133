//! The part that the filter types share: the array, the hasher, and the operations by hash.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use tamis_core::BuildError;
use tamis_core::many::change;
use tamis_hash::ItemHasher;
use tamis_sync::{LINE_WORDS, out_of_memory, run_batches};

use crate::array::{Array, Removable};
use crate::build::insert_all;
#[cfg(feature = "rayon")]
use crate::build::parallel;
use crate::error::UnionError;
use crate::geometry::Geometry;
use crate::many::{Contains, Insert, InsertMut, Remove, singly};

/// A filter: the bits, their layout, and the hasher. The public types wrap it.
pub struct Shared<A, T: ?Sized, S> {
    pub(crate) array: A,
    geometry: Geometry,
    capacity: usize,
    pub(crate) hasher: S,
    /// No item is stored: the filter is `Send` and `Sync` whatever `T` is.
    item: PhantomData<fn(&T)>,
}

/// Without the bits and the hasher, which are not for users.
impl<A, T: ?Sized, S> fmt::Debug for Shared<A, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("geometry", &self.geometry).finish_non_exhaustive()
    }
}

impl<A: Array, T: ?Sized, S> Shared<A, T, S> {
    pub(crate) fn new(geometry: Geometry, capacity: usize, hasher: S) -> Result<Self, BuildError> {
        let array = A::zeroed(geometry).map_err(|error| BuildError::Alloc {
            bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX),
        })?;
        Ok(Self::of_array(array, geometry, capacity, hasher))
    }

    /// Takes an array of this geometry.
    pub(crate) fn of_array(array: A, geometry: Geometry, capacity: usize, hasher: S) -> Self {
        Self { array, geometry, capacity, hasher, item: PhantomData }
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.array.prefetch(hash);
    }

    #[inline]
    pub(crate) fn insert_hash(&self, hash: u64) -> bool {
        self.array.insert(hash)
    }

    #[inline(always)]
    pub(crate) fn contains_hash(&self, hash: u64) -> bool {
        self.array.contains(hash)
    }

    #[inline]
    pub(crate) fn insert_hash_mut(&mut self, hash: u64) -> bool {
        self.array.insert_mut(hash)
    }

    #[inline]
    pub(crate) fn insert_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        // In a small array item by item is faster: see `inserts_singly`.
        if self.array.inserts_singly() {
            return singly(hashes, |hash| self.array.insert(hash), on_result);
        }
        run_batches(Insert(&self.array), hashes, on_result);
    }

    #[inline]
    pub(crate) fn contains_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Contains(&self.array), hashes, on_result);
    }

    /// Inserts all items, in any order.
    #[inline]
    pub(crate) fn insert_all_mut<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        hash: impl Fn(&S, I) -> u64,
    ) {
        let Self { array, hasher, .. } = self;
        insert_all(array, items.into_iter().map(|item| hash(hasher, item)));
    }

    /// Inserts all items, in any order, on all threads.
    #[cfg(feature = "rayon")]
    pub(crate) fn par_insert_all_mut<I: rayon::iter::ParallelIterator>(
        &mut self,
        items: I,
        hash: impl Fn(&S, I::Item) -> u64 + Sync + Send,
    ) where
        A: Sync,
        S: Sync,
    {
        let Self { array, hasher, .. } = self;
        let hasher = &*hasher;
        parallel::insert_all(array, items.map(|item| hash(hasher, item)));
    }

    #[inline]
    pub(crate) fn insert_many_mut<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        hash: impl Fn(&S, I) -> u64,
        on_result: impl FnMut(usize, bool),
    ) {
        let Self { array, hasher, .. } = self;
        run_batches(InsertMut(array), items.into_iter().map(|item| hash(hasher, item)), on_result);
    }

    /// Hashes all items, then inserts them.
    #[inline]
    pub(crate) fn collect_many_mut<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        hash: impl Fn(&S, I) -> u64,
    ) -> Vec<bool> {
        let Self { array, hasher, .. } = self;
        let hashes = items.into_iter().map(|item| hash(hasher, item));
        change(
            array,
            hashes,
            |array, hash| array.insert_mut(hash),
            |array, all, results| {
                run_batches(InsertMut(&mut **array), all, |_, new| results.push(new));
            },
        )
    }

    pub(crate) fn clear(&mut self) {
        self.array.clear();
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn union_with(&self, other: &Self) -> Result<(), UnionError>
    where
        S: ItemHasher,
    {
        if self.geometry != other.geometry {
            return Err(UnionError::Geometry);
        }
        if self.hasher.hash_probe() != other.hasher.hash_probe() {
            return Err(UnionError::Hash);
        }
        for line in 0..self.geometry.array_lines() {
            // Read first, then write: no lock is held while the thread waits for another line.
            let bits = other.array.read_stored(line);
            if bits != [0; LINE_WORDS] {
                self.array.union_line(line, bits);
            }
        }
        Ok(())
    }

    pub(crate) fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        let Self { geometry, capacity, .. } = *self;
        let array = self.array.copy().unwrap_or_else(|_| out_of_memory(geometry.size_in_bytes()));
        Self { array, geometry, capacity, hasher: self.hasher.clone(), item: PhantomData }
    }
}

impl<A: Removable, T: ?Sized, S> Shared<A, T, S> {
    #[inline]
    pub(crate) fn remove_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        // As for inserts: item by item, where that is faster.
        if self.array.inserts_singly() {
            return singly(hashes, |hash| self.array.remove(hash), on_result);
        }
        run_batches(Remove(&self.array), hashes, on_result);
    }
}

#[cfg(test)]
mod tests {
    //! Filters of more than 2^32 bits: positions that 32 bits cannot hold.

    use statrs::distribution::{Binomial, DiscreteCDF};
    use tamis_hash::{HashItem, Rapid};
    use tamis_sync::LINE_BITS;

    use super::*;
    use crate::array::classic::Classic;
    use crate::array::line::InLine;
    use crate::array::once::OnceArray;
    use crate::bits::Free;
    use crate::figures::ones;
    use crate::probe::line::Shape;

    const BITS: u64 = (1 << 32) + (1 << 30) + 12_345;
    const ITEMS: u64 = 30_000_000;
    const REGIONS: u64 = 64;

    fn bounds(chance: f64, of: u64) -> core::ops::RangeInclusive<u64> {
        let binomial = Binomial::new(chance, of).unwrap();
        binomial.inverse_cdf(0.5e-6)..=binomial.inverse_cdf(1.0 - 0.5e-6)
    }

    fn reaches_every_region_at_its_rate<A: Array>(probes: u32) {
        reaches_every_region::<A>(Geometry::for_bits(A::KIND, BITS, probes, None).unwrap());
    }

    fn reaches_every_region<A: Array>(geometry: Geometry) {
        let probes = geometry.probes();
        let hasher = Rapid::with_seed(9);
        let mut filter: Shared<A, u64, Rapid> =
            Shared::new(geometry, ITEMS as usize, hasher).unwrap();
        for item in 0..ITEMS {
            filter.insert_hash_mut(filter.hasher.hash_item(&item));
        }
        let lines = geometry.lines();
        let region = lines / REGIONS;
        let fill = filter.read_figures(None).fill.value;
        for number in 0..REGIONS {
            let all = region * number..region * (number + 1);
            let ones: u64 = all.map(|line| ones(filter.array.read(line))).sum();
            // The bits of an item in one line are not independent. With `probes` probes the
            // standard deviation of the count grows at most by their root. A region that no item
            // reaches would have no ones.
            let usable = region * geometry.usable_bits() / lines;
            let spread = (ones as f64 - fill * usable as f64).abs();
            let sigma = (fill * usable as f64 * f64::from(probes)).sqrt();
            assert!(spread < 5.5 * sigma, "region {number}: {ones} ones, {spread} off, σ {sigma}");
        }
        let rate = filter.read_figures(None).false_positive_rate.value;
        let queries = (1500.0 / rate) as u64;
        let contains = |item: &u64| filter.contains_hash(filter.hasher.hash_item(item));
        let hits = (ITEMS..ITEMS + queries).filter(contains).count() as u64;
        let bounds = bounds(rate, queries);
        assert!(bounds.contains(&hits), "{hits} hits, {bounds:?} expected");
        let ratio = rate / geometry.false_positive_rate_at(ITEMS as usize);
        assert!((0.99..1.01).contains(&ratio), "reported over expected: {ratio}");
        assert!((0..10_000).all(|item| contains(&item)), "a false negative");
    }

    #[test]
    fn more_than_2_to_the_32_bits_classic() {
        reaches_every_region_at_its_rate::<Classic>(1);
    }

    #[test]
    fn more_than_2_to_the_32_bits_blocked() {
        reaches_every_region_at_its_rate::<InLine<Free>>(2);
    }

    #[test]
    fn more_than_2_to_the_32_bits_once() {
        reaches_every_region_at_its_rate::<OnceArray>(2);
    }

    #[test]
    fn more_than_2_to_the_32_bits_once_by_lock() {
        let shape = Shape { words: 2, probes: 2 };
        let geometry = Geometry::of_lines(BITS / LINE_BITS, shape, OnceArray::KIND);
        assert!(geometry.locked());
        reaches_every_region::<OnceArray>(geometry);
    }
}
