//! What a filter and its model can do together, and the sizes that an input gives.

use arbitrary::Arbitrary;
use tamis::{Hashed, HashedCopies};

/// The most items that one input inserts.
pub(super) const MOST: usize = 10_000;

/// What the builders are given. Each kind of filter reads it in its own way.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) capacity: u16,
    /// Chooses the rate.
    pub(super) rate: u8,
    /// A limit: of the memory, of the items, or of a span of time.
    pub(super) limit: Option<u16>,
    /// A number of generations or probes.
    pub(super) number: u8,
}

/// A filter and its model. Operations that the filter does not have do nothing.
pub(super) trait Checked: Sized {
    type Filter: Hashed;

    fn filter(&self) -> &Self::Filter;
    /// Returns `None` if the filter cannot have these sizes.
    fn new(sizes: Sizes) -> Option<Self>;
    fn insert(&mut self, hash: u64);
    fn insert_batch(&mut self, hashes: &[u64]);
    fn insert_otherwise(&mut self, hash: u64);
    fn remove(&mut self, _at: usize, _count: usize, _batch: bool) {}
    /// Checks the answer for one hash.
    fn agree(&self, hash: u64);
    fn contains_batch(&self, hashes: &[u64]) -> Vec<bool> {
        let mut answers = Vec::new();
        self.filter().contains_hashes(hashes.iter().copied(), |_, hit| answers.push(hit));
        answers
    }
    fn contains(&self, hash: u64) -> bool {
        self.filter().contains_hash(hash)
    }
    fn special(&mut self, number: u16);
    fn advance(&mut self, _time: u64) {}
    /// Replaces the filter by a snapshot of it, after it has inserted a hash that the snapshot must
    /// not have.
    fn snapshot(&mut self, hash: u64);
    /// Saves the filter, and replaces it by the loaded one. Both must give the same answers, also
    /// for these hashes.
    fn save_and_load(&mut self, hashes: &[u64]);
    fn clear(&mut self);
    /// Checks what can be checked after each step.
    fn check(&self);
    /// Checks everything.
    fn check_all(&self);
}

/// Asserts that a share is between 0 and 1, and that numbers are not negative, and infinite
/// together: if all bits are set.
pub(super) fn check_figures(rate: f64, items: f64, saturation: f64) {
    assert!((0.0..=1.0).contains(&rate), "{rate}");
    assert!(items >= 0.0 && saturation >= 0.0, "{items} {saturation}");
    assert_eq!(items.is_finite(), saturation.is_finite(), "{items} {saturation}");
}

/// Removes items that are present.
pub(super) fn remove_all(filter: &impl HashedCopies, hashes: Vec<u64>, batch: bool) {
    if batch {
        filter.remove_hashes(hashes, |_, removed| assert!(removed, "a present item"));
    } else {
        assert!(hashes.into_iter().all(|hash| filter.remove_hash(hash)), "a present item");
    }
}
