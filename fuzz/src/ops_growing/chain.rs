//! The growing Bloom filters: each slice has a filter of a fixed size and of the same geometry as
//! its model.

use std::collections::HashSet;

use tamis::bloom::ScalableBuilder;
use tamis::hash::Rapid;
use tamis::{
    BlockedBloomFilter, BuildError, Hashed, OnceBloomFilter, OnceScalableBloomFilter,
    ScalableBloomFilter,
};
use tamis_bloom::raw::{self, Lines, SliceSizes};

use super::checked::{Checked, Sizes, check_figures};
use super::saved::saved_and_loaded;

pub(super) type Any = ScalableBloomFilter<u64, Rapid>;
pub(super) type Once = OnceScalableBloomFilter<u64, Rapid>;

/// A growing filter, and for each of its slices a filter with the same bits.
pub(super) struct Chain<F: Growing> {
    filter: F,
    slices: Vec<F::Slice>,
    /// The inserts that returned `true` since the filter was empty.
    new: u64,
    limit: Option<u64>,
    /// A copy has no prepared slice, and so may grow later.
    is_copy: bool,
}

/// Returns an empty filter like a slice.
fn empty<F: Growing>(sizes: SliceSizes) -> F::Slice {
    let lines = Lines::zeroed(raw::lines(sizes.geometry));
    F::slice(sizes, lines.expect("a slice of this size was allocated"))
}

impl<F: Growing> Chain<F> {
    fn has(&self, hash: u64) -> bool {
        self.slices.iter().any(|slice| F::slice_contains(slice, hash))
    }

    /// Applies an insert to the model, and checks its answer.
    fn model(&mut self, hash: u64, answer: bool) {
        assert_eq!(answer, !self.has(hash), "`true` exactly if no slice has the item");
        if answer {
            self.new += 1;
            F::slice_insert(self.slices.last().expect("a slice"), hash);
        }
    }

    /// Adds slices to the model.
    fn grow(&mut self) {
        let sizes = self.filter.slices();
        assert!(sizes.len() >= self.slices.len(), "slices only get more");
        self.slices.extend(sizes[self.slices.len()..].iter().copied().map(empty::<F>));
    }
}

impl<F: Growing> Checked for Chain<F> {
    type Filter = F;

    fn filter(&self) -> &F {
        &self.filter
    }

    fn new(sizes: Sizes) -> Option<Self> {
        let limit = sizes.limit.map(|limit| u64::from(limit) * 16);
        let filter = match F::build((sizes.capacity % 4096).into(), sizes.rate(), limit) {
            Err(BuildError::Alloc { bytes }) if limit.is_some_and(|limit| bytes > limit) => {
                return None;
            }
            result => result.expect("a small filter can be allocated"),
        };
        let mut chain = Self { filter, slices: Vec::new(), new: 0, limit, is_copy: false };
        chain.grow();
        Some(chain)
    }

    fn insert(&mut self, hash: u64) {
        let answer = self.filter.insert(hash);
        self.model(hash, answer);
        self.grow();
        assert!(!self.filter.insert(hash), "new twice");
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let mut answers = Vec::new();
        self.filter.insert_batch(hashes, &mut answers);
        if self.filter.slices().len() == self.slices.len() {
            for (&hash, &answer) in hashes.iter().zip(&answers) {
                self.model(hash, answer);
            }
        } else {
            // Which slice took an item depends on when the batch grew.
            let mut new = HashSet::new();
            for (&hash, &answer) in hashes.iter().zip(&answers) {
                assert!(!answer || !self.has(hash) && new.insert(hash), "a present item was new");
            }
            self.new += new.len() as u64;
            self.slices = copies(&self.filter);
        }
        assert_eq!(answers.len(), hashes.len());
        self.grow();
        assert!(hashes.iter().all(|&hash| self.filter.contains_hash(hash)), "a false negative");
    }

    fn insert_otherwise(&mut self, hash: u64) {
        self.insert_batch(&[hash, hash]);
    }

    fn agree(&self, hash: u64) {
        assert_eq!(self.filter.contains_hash(hash), self.has(hash));
    }

    fn special(&mut self, _: u16) {}

    fn snapshot(&mut self, hash: u64) {
        let copy = self.filter.copy();
        let had = copy.contains_hash(hash);
        self.filter.insert(hash);
        assert_eq!(copy.contains_hash(hash), had, "an insert after the snapshot changed it");
        self.filter = copy;
        self.is_copy = true;
    }

    fn save_and_load(&mut self, hashes: &[u64]) {
        let loaded = self.filter.saved_and_loaded(hashes);
        assert_eq!(loaded.slices(), self.filter.slices());
        self.filter = loaded;
        self.is_copy = true;
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.slices.clear();
        self.new = 0;
        self.grow();
        assert_eq!((self.slices.len(), self.filter.figures().1), (1, 0.0));
    }

    fn check(&self) {
        let sizes = self.filter.slices();
        assert_eq!(sizes.len(), self.slices.len());
        let capacity = sizes.iter().fold(0, |sum, slice| slice.capacity + sum);
        assert_eq!(self.filter.capacity() as u64, capacity);
        // In slices of this size every new item counts.
        if sizes.iter().all(|slice| slice.capacity < 1 << 17) {
            assert_eq!(sizes.iter().map(|slice| slice.items).sum::<u64>(), self.new);
            if self.limit.is_none() && !self.is_copy {
                assert!(sizes.iter().all(|slice| slice.items <= slice.capacity), "overfull");
            }
        }
        assert!(self.limit.is_none_or(|limit| self.filter.size_in_bytes() <= limit));
    }

    fn check_all(&self) {
        self.check();
        let (rate, items, saturation) = self.filter.figures();
        check_figures(rate, items, saturation);
        let sizes = self.filter.slices();
        for (number, (slice, sizes)) in self.slices.iter().zip(sizes).enumerate() {
            let lines = raw::lines(sizes.geometry);
            let differs =
                |&line: &u64| self.filter.line(number, line) != F::slice_line(slice, line);
            assert_eq!((0..lines).find(differs), None, "slice {number} has other bits");
        }
    }
}

/// Returns filters with the bits of all slices.
fn copies<F: Growing>(filter: &F) -> Vec<F::Slice> {
    let copy = |(number, sizes): (usize, SliceSizes)| {
        let mut lines = Lines::zeroed(raw::lines(sizes.geometry)).expect("lines of a small filter");
        for (line, to) in (0..).zip(lines.iter_mut()) {
            for (word, bits) in to.words.iter_mut().zip(filter.line(number, line)) {
                word.update(|word| *word = bits);
            }
        }
        F::slice(sizes, lines)
    };
    filter.slices().into_iter().enumerate().map(copy).collect()
}

/// The operations that both types have.
pub(super) trait Growing: Hashed + Sized {
    /// A filter with the bits of one slice.
    type Slice;

    fn slice(sizes: SliceSizes, lines: Lines) -> Self::Slice;
    fn slice_contains(slice: &Self::Slice, hash: u64) -> bool;
    fn slice_insert(slice: &Self::Slice, hash: u64);
    fn slice_line(slice: &Self::Slice, line: u64) -> [u64; raw::LINE_WORDS];
    fn build(capacity: usize, rate: f64, limit: Option<u64>) -> Result<Self, BuildError>;
    fn insert(&self, hash: u64) -> bool;
    fn insert_batch(&self, hashes: &[u64], answers: &mut Vec<bool>);
    fn copy(&self) -> Self;
    fn saved_and_loaded(&self, hashes: &[u64]) -> Self;
    fn clear(&mut self);
    fn slices(&self) -> Vec<SliceSizes>;
    fn line(&self, slice: usize, line: u64) -> [u64; raw::LINE_WORDS];
    fn capacity(&self) -> usize;
    fn size_in_bytes(&self) -> u64;
    /// The rate, the number of items, and the saturation.
    fn figures(&self) -> (f64, f64, f64);
}

macro_rules! growing {
    ($($name:ident $slice:ident),*) => {$(
        impl Growing for $name {
            type Slice = $slice<u64, Rapid>;

            fn slice(sizes: SliceSizes, lines: Lines) -> Self::Slice {
                let (geometry, capacity) = (sizes.geometry, sizes.capacity as usize);
                raw::from_lines(geometry, capacity, Rapid::with_seed(1), lines)
                    .expect("the lines of a slice")
            }

            fn slice_contains(slice: &Self::Slice, hash: u64) -> bool {
                slice.by_hash().contains(hash)
            }

            fn slice_insert(slice: &Self::Slice, hash: u64) {
                slice.by_hash().insert(hash);
            }

            fn slice_line(slice: &Self::Slice, line: u64) -> [u64; raw::LINE_WORDS] {
                raw::read_line(slice, line)
            }

            fn build(capacity: usize, rate: f64, limit: Option<u64>) -> Result<Self, BuildError> {
                let builder = ScalableBuilder::<Self>::new(Rapid::with_seed(1)).capacity(capacity);
                let builder = builder.false_positive_rate(rate);
                match limit {
                    Some(limit) => builder.max_size_in_bytes(limit).build(),
                    None => builder.build(),
                }
            }

            fn insert(&self, hash: u64) -> bool {
                self.by_hash().insert(hash)
            }

            fn insert_batch(&self, hashes: &[u64], answers: &mut Vec<bool>) {
                self.by_hash().insert_many_with(hashes.iter().copied(), |number, new| {
                    assert_eq!(number, answers.len());
                    answers.push(new);
                });
            }

            fn copy(&self) -> Self {
                self.clone()
            }

            fn saved_and_loaded(&self, hashes: &[u64]) -> Self {
                saved_and_loaded(self, hashes.iter().copied())
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn slices(&self) -> Vec<SliceSizes> {
                raw::slices(self)
            }

            fn line(&self, slice: usize, line: u64) -> [u64; raw::LINE_WORDS] {
                raw::read_slice_line(self, slice, line)
            }

            fn capacity(&self) -> usize {
                self.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn figures(&self) -> (f64, f64, f64) {
                (self.false_positive_rate(), self.figures().items.value, self.saturation())
            }
        }
    )*};
}

growing!(Any BlockedBloomFilter, Once OnceBloomFilter);
