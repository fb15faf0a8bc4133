//! What the three filter types share: hashing an item, and figures read off the bits.

use core::borrow::Borrow;
use core::marker::PhantomData;

use libm::pow;
use tamis_hash::{HashItem, ItemHasher};
use tamis_sync::{LINE_BYTES, LINE_WORDS};

use crate::array::Array;
use crate::geometry::{Layout, with_equal_hashes};
use crate::many::many;
use crate::probe::batch::Batch;
use crate::regions::set_all;
use crate::sizing::line::chance_in_word;
use crate::{BuildError, Geometry, UnionError};

/// A filter: the bits, what they mean, and how items are hashed. The public types are names for it.
pub(crate) struct Shared<A, T: ?Sized, S> {
    array: A,
    geometry: Geometry,
    capacity: u64,
    hasher: S,
    /// Items pass through and none is kept: `Send` and `Sync` whatever `T` is.
    item: PhantomData<fn(&T)>,
}

impl<A: Array, T: ?Sized, S> Shared<A, T, S> {
    pub(crate) fn new(geometry: Geometry, capacity: u64, hasher: S) -> Result<Self, BuildError> {
        let array = A::zeroed(geometry).map_err(|error| BuildError::Alloc {
            bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX),
        })?;
        Ok(Self { array, geometry, capacity, hasher, item: PhantomData })
    }

    #[inline]
    pub(crate) fn insert<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        // The user's code runs here, before a line is touched or locked.
        self.array.set(self.hasher.hash_item(item))
    }

    #[inline]
    pub(crate) fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.array.has(self.hasher.hash_item(item))
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.array.prefetch(hash);
    }

    #[inline]
    pub(crate) fn set(&self, hash: u64) -> bool {
        self.array.set(hash)
    }

    #[inline]
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.array.has(hash)
    }

    #[inline]
    pub(crate) fn set_alone(&mut self, hash: u64) -> bool {
        self.array.set_alone(hash)
    }

    #[inline]
    pub(crate) fn set_many(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, bool),
    ) {
        let one = |array: &mut &A, hash| array.set(hash);
        let batch = |array: &mut &A, this: &Batch, next: &Batch| array.set_batch(this, next);
        many(&self.array, hashes, one, batch, told);
    }

    #[inline]
    pub(crate) fn has_many(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, bool),
    ) {
        let one = |array: &mut &A, hash| array.has(hash);
        let batch = |array: &mut &A, this: &Batch, next: &Batch| array.has_batch(this, next);
        many(&self.array, hashes, one, batch, told);
    }

    /// All of them, in any order.
    #[inline]
    pub(crate) fn set_all_alone<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        hash: impl Fn(&S, I) -> u64,
    ) {
        let Self { array, hasher, .. } = self;
        set_all(array, items.into_iter().map(|item| hash(hasher, item)));
    }

    /// All of them, in any order, on all threads.
    #[cfg(feature = "rayon")]
    pub(crate) fn par_set_all_alone<I: rayon::iter::ParallelIterator>(
        &mut self,
        items: I,
        hash: impl Fn(&S, I::Item) -> u64 + Sync + Send,
    ) where
        A: Sync,
        S: Sync,
    {
        let Self { array, hasher, .. } = self;
        let hasher = &*hasher;
        crate::parallel::set_all(array, items.map(|item| hash(hasher, item)));
    }

    #[inline]
    pub(crate) fn set_many_alone<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        hash: impl Fn(&S, I) -> u64,
        told: impl FnMut(usize, bool),
    ) {
        let Self { array, hasher, .. } = self;
        let hashes = items.into_iter().map(|item| hash(hasher, item));
        let one = |array: &mut &mut A, hash| array.set_alone(hash);
        let batch =
            |array: &mut &mut A, this: &Batch, next: &Batch| array.set_batch_alone(this, next);
        many(array, hashes, one, batch, told);
    }

    /// The hashes of items. The user's code runs here, before a line is touched or locked.
    #[inline]
    pub(crate) fn hashes<'i, Q: ?Sized + 'i>(
        &self,
        items: impl IntoIterator<Item = &'i Q>,
    ) -> impl Iterator<Item = u64>
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        items.into_iter().map(|item| self.hasher.hash_item(item))
    }

    pub(crate) fn clear(&mut self) {
        self.array.clear();
    }

    pub(crate) fn hasher(&self) -> &S {
        &self.hasher
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(crate) fn capacity(&self) -> u64 {
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
        for line in 0..self.geometry.lines() {
            // Read first, then write: at no time is a lock held while another line is waited for.
            let bits = other.array.read(line);
            if bits != [0; LINE_WORDS] {
                self.array.unite(line, bits);
            }
        }
        Ok(())
    }

    pub(crate) fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        let Self { geometry, capacity, .. } = *self;
        let array = self.array.copy().unwrap_or_else(|_| refused(geometry.size_in_bytes()));
        Self { array, geometry, capacity, hasher: self.hasher.clone(), item: PhantomData }
    }

    pub(crate) fn fill(&self) -> f64 {
        let ones: u64 = self.lines().map(ones).sum();
        ones as f64 / self.geometry.usable_bits() as f64
    }

    pub(crate) fn fill_sampled(&self, lines: u64) -> f64 {
        let all = self.geometry.lines();
        let step = (all / lines.max(1)).max(1);
        let read = (0..all).step_by(step as usize);
        let (ones, usable) = read.fold((0, 0), |(sum, usable), line| {
            (sum + ones(self.array.read(line)), usable + self.geometry.usable_bits_of(line))
        });
        ones as f64 / usable as f64
    }

    pub(crate) fn len_estimate(&self) -> f64 {
        self.geometry.items_at_fill(self.fill())
    }

    pub(crate) fn saturation(&self) -> f64 {
        self.len_estimate() / self.capacity as f64
    }

    pub(crate) fn false_positive_rate(&self) -> f64 {
        let items = self.len_estimate();
        with_equal_hashes(self.rate_of_bits(), items)
    }

    /// The chance that all bits of a hash drawn at random are set.
    fn rate_of_bits(&self) -> f64 {
        let (shape, locked) = match self.geometry.layout() {
            Layout::Classic { probes } => return pow(self.fill(), f64::from(probes)),
            Layout::Line { shape, .. } => (shape, self.geometry.locked()),
        };
        // By the number of ones, where an item has so many bits in a word.
        let table = |probes: u32| -> [f64; 65] {
            core::array::from_fn(|ones| chance_in_word(probes, ones as u32))
        };
        let most = shape.group_probes(0);
        // Where the most is one bit, there is no group with less.
        let tables = [table(most), table(most.max(2) - 1)];
        let words = shape.group_words() as usize;
        let rate_of_line = |line: [u64; LINE_WORDS]| -> f64 {
            let groups = line.chunks(words).zip(0..).map(|(group, number)| {
                let table = &tables[(most - shape.group_probes(number)) as usize];
                let chances = group.iter().zip(0..).map(|(word, index)| {
                    // A query takes the lock bit, which is masked here, as set.
                    let lock = usize::from(locked && number == 0 && index == 0);
                    table[word.count_ones() as usize + lock]
                });
                chances.sum::<f64>() / words as f64
            });
            groups.product()
        };
        self.lines().map(rate_of_line).sum::<f64>() / self.geometry.lines() as f64
    }

    fn lines(&self) -> impl Iterator<Item = [u64; LINE_WORDS]> {
        (0..self.geometry.lines()).map(|line| self.array.read(line))
    }
}

fn ones(line: [u64; LINE_WORDS]) -> u64 {
    line.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Memory is refused where std would not return an error either.
pub(crate) fn refused(bytes: u64) -> ! {
    let bytes = usize::try_from(bytes).unwrap_or(isize::MAX as usize);
    let layout = core::alloc::Layout::from_size_align(bytes, LINE_BYTES);
    alloc::alloc::handle_alloc_error(layout.unwrap_or(core::alloc::Layout::new::<u64>()))
}

#[cfg(test)]
mod tests {
    //! A filter of more than 2^32 bits: positions that 32 bits cannot hold.

    use statrs::distribution::{Binomial, DiscreteCDF};
    use tamis_hash::Rapid;
    use tamis_sync::LINE_BITS;

    use super::*;
    use crate::array::{Classic, InLine};
    use crate::bits::Free;
    use crate::exact::Exact;
    use crate::probe::line::Shape;

    const BITS: u64 = (1 << 32) + (1 << 30) + 12_345;
    const ITEMS: u64 = 30_000_000;
    const REGIONS: u64 = 64;

    fn bounds(chance: f64, of: u64) -> core::ops::RangeInclusive<u64> {
        let binomial = Binomial::new(chance, of).unwrap();
        binomial.inverse_cdf(0.5e-6)..=binomial.inverse_cdf(1.0 - 0.5e-6)
    }

    fn reaches_every_region_at_its_rate<A: Array>(probes: u32) {
        reaches_every_region::<A>(Geometry::for_bits(A::KIND, BITS, probes).unwrap());
    }

    fn reaches_every_region<A: Array>(geometry: Geometry) {
        let probes = geometry.probes();
        let hasher = Rapid::with_seed(9);
        let mut filter: Shared<A, u64, Rapid> = Shared::new(geometry, ITEMS, hasher).unwrap();
        for item in 0..ITEMS {
            filter.set_alone(filter.hasher.hash_item(&item));
        }
        let lines = geometry.lines();
        let region = lines / REGIONS;
        let fill = filter.fill();
        for number in 0..REGIONS {
            let all = region * number..region * (number + 1);
            let ones: u64 = all.map(|line| ones(filter.array.read(line))).sum();
            // Bits of one item in one line are not independent of each other: so few probes are here
            // that the count spreads at most by their root as far. A region missed would have none.
            let usable = region * geometry.usable_bits() / lines;
            let spread = (ones as f64 - fill * usable as f64).abs();
            let sigma = (fill * usable as f64 * f64::from(probes)).sqrt();
            assert!(spread < 5.5 * sigma, "region {number}: {ones} ones, {spread} off, σ {sigma}");
        }
        let rate = filter.false_positive_rate();
        let queries = (1500.0 / rate) as u64;
        let hits = (ITEMS..ITEMS + queries).filter(|item| filter.contains(item)).count() as u64;
        let bounds = bounds(rate, queries);
        assert!(bounds.contains(&hits), "{hits} hits, {bounds:?} expected");
        let ratio = rate / geometry.false_positive_rate_at(ITEMS);
        assert!((0.99..1.01).contains(&ratio), "reported over expected: {ratio}");
        assert!((0..10_000).all(|item| filter.contains(&item)), "a false negative");
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
        reaches_every_region_at_its_rate::<Exact>(2);
    }

    #[test]
    fn more_than_2_to_the_32_bits_once_by_lock() {
        let shape = Shape { words: 2, probes: 2 };
        let geometry = Geometry::of_lines(BITS / LINE_BITS, shape, true);
        assert!(geometry.locked());
        reaches_every_region::<Exact>(geometry);
    }
}
