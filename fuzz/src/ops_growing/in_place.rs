//! The cuckoo filter that grows in place: the model is the number of copies of each hash. No split
//! changes the answer for a hash that is not the one inserted, nor alike.

use std::collections::HashMap;

use tamis::cuckoo::Builder;
use tamis::hash::Rapid;
use tamis::{BuildError, CuckooFilter, InsertError, MergeError};

use super::checked::{Checked, Sizes, check_figures, remove_all};
use super::saved::saved_and_loaded;

type Filter = CuckooFilter<u64, Rapid>;

/// The hashes whose numbers of copies are compared before and after each insert.
const WATCHED: usize = 16;

pub(super) struct InPlace {
    filter: Filter,
    copies: HashMap<u64, u32>,
    /// The copies, one by one, to choose one to remove.
    held: Vec<u64>,
    /// The bytes of the empty filter.
    first_size: u64,
}

impl InPlace {
    /// Applies an insert to the model, and checks its result.
    fn model(&mut self, hash: u64, result: Result<(), InsertError>) {
        match result {
            Ok(()) => {
                *self.copies.entry(hash).or_default() += 1;
                self.held.push(hash);
            }
            // Two buckets are full of one class.
            Err(InsertError::TooManyCopies) => assert!(self.filter.by_hash().count(hash) >= 4),
            Err(InsertError::Full) => {}
            // No other thread holds a lock.
            Err(other) => panic!("{other}"),
        }
    }

    /// Returns hashes that are present or not, some with the place of a hash and another
    /// fingerprint, or the reverse.
    fn watched(&self, hash: u64) -> [u64; WATCHED] {
        core::array::from_fn(|at| match at {
            0..4 => hash ^ 1 << (16 * at + 7),
            _ if self.held.is_empty() => hash.rotate_left(at as u32),
            _ => self.held[((hash as usize).wrapping_add(at * 7919)) % self.held.len()],
        })
    }

    fn taken(&mut self, at: usize) -> u64 {
        let hash = self.held.swap_remove(at % self.held.len());
        let copies = self.copies.get_mut(&hash).expect("it is held");
        *copies -= 1;
        if *copies == 0 {
            self.copies.remove(&hash);
        }
        hash
    }
}

impl Checked for InPlace {
    type Filter = Filter;

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn new(sizes: Sizes) -> Option<Self> {
        let capacity = usize::from(sizes.capacity % 2048);
        let builder = Builder::<Filter>::new(Rapid::with_seed(1)).capacity(capacity);
        let builder = builder.false_positive_rate(sizes.rate());
        let more = usize::from(sizes.limit.unwrap_or(u16::MAX));
        match builder.max_capacity(capacity + 1 + more).build() {
            Ok(filter) => {
                let (copies, held) = (HashMap::new(), Vec::new());
                let first_size = filter.size_in_bytes();
                Some(Self { filter, copies, held, first_size })
            }
            Err(BuildError::RateTooLow { .. }) => None,
            Err(other) => panic!("{other}"),
        }
    }

    fn insert(&mut self, hash: u64) {
        let watched = self.watched(hash);
        let before = watched.map(|hash| self.filter.by_hash().count(hash));
        let result = self.filter.by_hash().insert(hash);
        self.model(hash, result);
        let count = self.filter.by_hash().count(hash);
        for (watched, before) in watched.into_iter().zip(before) {
            let after = self.filter.by_hash().count(watched);
            let is_alike = after == count && after == before + 1;
            assert!(after == before || is_alike, "{watched:x}: {before}, then {after} copies");
        }
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let mut results = Vec::new();
        self.filter.by_hash().insert_many_with(hashes.iter().copied(), |number, result| {
            assert_eq!(number, results.len());
            results.push(result);
        });
        assert_eq!(results.len(), hashes.len());
        hashes.iter().zip(results).for_each(|(&hash, result)| self.model(hash, result));
    }

    fn insert_otherwise(&mut self, hash: u64) {
        self.insert(hash);
        self.insert(hash);
    }

    fn remove(&mut self, at: usize, count: usize, batch: bool) {
        let count = count.min(self.held.len());
        let hashes: Vec<u64> = (0..count).map(|_| self.taken(at)).collect();
        remove_all(&self.filter, hashes, batch);
    }

    fn agree(&self, hash: u64) {
        let copies = self.copies.get(&hash).copied().unwrap_or_default();
        let count = self.filter.by_hash().count(hash);
        assert!(count >= copies, "{count} of {copies} copies");
        assert_eq!(self.filter.by_hash().contains(hash), count > 0);
        assert!(count as usize <= self.held.len(), "more copies than the filter has");
        if count == 0 {
            assert!(!self.filter.by_hash().remove(hash), "an absent item was removed");
        }
    }

    /// Merges the filter with one of some of its items.
    fn special(&mut self, number: u16) {
        let other = Builder::from(&self.filter).build().expect("a small filter");
        let items = self.held.iter().copied().take(usize::from(number % 512));
        let items: Vec<u64> = items.filter(|&hash| other.by_hash().insert(hash).is_ok()).collect();
        match Filter::merge(&self.filter, &other) {
            Ok(merged) => {
                self.filter = merged;
                items.into_iter().for_each(|hash| self.model(hash, Ok(())));
            }
            Err(MergeError::Insert(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }

    fn snapshot(&mut self, hash: u64) {
        let copy = self.filter.clone();
        let count = copy.by_hash().count(hash);
        if self.filter.by_hash().insert(hash).is_ok() {
            assert_eq!(self.filter.by_hash().count(hash), count + 1);
        }
        assert_eq!(copy.by_hash().count(hash), count, "an insert changed the snapshot");
        self.filter = copy;
    }

    fn save_and_load(&mut self, hashes: &[u64]) {
        let hashes = hashes.iter().chain(self.copies.keys()).copied();
        let loaded = saved_and_loaded(&self.filter, hashes);
        assert_eq!(loaded.size_in_bytes(), self.filter.size_in_bytes());
        assert_eq!(loaded.geometry(), self.filter.geometry());
        assert_eq!(loaded.capacity(), self.filter.capacity());
        self.filter = loaded;
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.copies.clear();
        self.held.clear();
        assert_eq!(self.filter.false_positive_rate(), 0.0);
        assert_eq!(self.filter.size_in_bytes(), self.first_size);
    }

    fn check(&self) {
        assert_eq!(self.filter.len(), self.held.len());
        assert_eq!(self.filter.is_empty(), self.held.is_empty());
        assert!(self.filter.size_in_bytes() >= self.first_size);
    }

    fn check_all(&self) {
        self.check();
        self.copies.keys().for_each(|&hash| self.agree(hash));
        let items = self.filter.figures().items.value;
        assert_eq!(items, self.held.len() as f64);
        check_figures(self.filter.false_positive_rate(), items, self.filter.saturation());
    }
}
