//! The operations that all three Bloom filters have, as a trait, so that one target tests all of
//! them.

use tamis::bloom::Geometry;
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, BuildError, OnceBloomFilter, UnionError};

/// A Bloom filter of hashes.
pub(crate) trait Bloom: Sized {
    fn sized_by_items(capacity: u64, rate: f64) -> Result<Geometry, BuildError>;
    fn sized_by_bits(bits: u64, probes: u32) -> Result<Geometry, BuildError>;
    fn build(bits: u64, probes: u32, seed: u64) -> Result<Self, BuildError>;
    fn insert(&self, hash: u64) -> bool;
    fn insert_exclusive(&mut self, hash: u64) -> bool;
    fn contains(&self, hash: u64) -> bool;
    fn union_with(&self, other: &Self) -> Result<(), UnionError>;
    fn snapshot(&self) -> Self;
    fn clear(&mut self);
    fn geometry(&self) -> Geometry;
    fn fill(&self) -> f64;
    fn false_positive_rate(&self) -> f64;
    fn saturation(&self) -> f64;
    fn len_estimate(&self) -> f64;
}

/// Implements the trait with the type's own methods.
macro_rules! bloom {
    ($($name:ident),*) => {$(
        impl Bloom for $name<u64, Rapid> {
            fn sized_by_items(capacity: u64, rate: f64) -> Result<Geometry, BuildError> {
                $name::<u64>::builder().capacity(capacity as usize).false_positive_rate(rate).geometry()
            }

            fn sized_by_bits(bits: u64, probes: u32) -> Result<Geometry, BuildError> {
                $name::<u64>::builder().bits(bits).probes(probes).geometry()
            }

            fn build(bits: u64, probes: u32, seed: u64) -> Result<Self, BuildError> {
                let builder = $name::<u64>::builder().bits(bits).probes(probes);
                builder.hasher(Rapid::with_seed(seed)).build()
            }

            fn insert(&self, hash: u64) -> bool {
                self.by_hash().insert(hash)
            }

            fn insert_exclusive(&mut self, hash: u64) -> bool {
                self.get_mut().insert_hash(hash)
            }

            fn contains(&self, hash: u64) -> bool {
                self.by_hash().contains(hash)
            }

            fn union_with(&self, other: &Self) -> Result<(), UnionError> {
                self.union_with(other)
            }

            fn snapshot(&self) -> Self {
                self.clone()
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn geometry(&self) -> Geometry {
                self.geometry()
            }

            fn fill(&self) -> f64 {
                self.figures().fill.value
            }

            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }

            fn saturation(&self) -> f64 {
                self.saturation()
            }

            fn len_estimate(&self) -> f64 {
                self.figures().items.value
            }
        }
    )*};
}

bloom!(BloomFilter, BlockedBloomFilter, OnceBloomFilter);
