//! The counting filter: the model is the number of copies of each hash.

use std::collections::HashMap;

use tamis::bloom::Builder;
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, CountingBloomFilter};
use tamis_bloom::raw;

use super::checked::{Checked, Sizes, check_figures, remove_all};
use super::saved::saved_and_loaded;

type Filter = CountingBloomFilter<u64, Rapid>;

pub(super) struct Counting {
    filter: Filter,
    copies: HashMap<u64, u64>,
    /// The copies, one by one, to choose one to remove.
    held: Vec<u64>,
}

fn empty(sizes: Sizes) -> Filter {
    let builder = Builder::<Filter>::new(Rapid::with_seed(1));
    let builder = builder.bits(1 + u64::from(sizes.capacity % 16_384));
    builder
        .probes(1 + u32::from(sizes.number % 16))
        .build()
        .expect("a small filter can be allocated")
}

impl Counting {
    fn empty(&self) -> Filter {
        let builder = Builder::<Filter>::new(Rapid::with_seed(1));
        builder.like(self.filter.geometry()).build().expect("a filter of this size was allocated")
    }

    fn added(&mut self, hash: u64) {
        *self.copies.entry(hash).or_default() += 1;
        self.held.push(hash);
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

    fn counters(filter: &Filter) -> Vec<[u64; raw::LINE_WORDS]> {
        let lines = raw::lines(filter.geometry());
        (0..lines).map(|line| raw::read_line(filter, line)).collect()
    }
}

impl Checked for Counting {
    type Filter = Filter;

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn new(sizes: Sizes) -> Option<Self> {
        let (copies, held) = (HashMap::new(), Vec::new());
        Some(Self { filter: empty(sizes), copies, held })
    }

    fn insert(&mut self, hash: u64) {
        let was_present = self.filter.by_hash().contains(hash);
        assert_eq!(self.filter.by_hash().insert(hash), !was_present);
        self.added(hash);
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let single = self.filter.clone();
        self.filter.by_hash().insert_many_with(hashes.iter().copied(), |number, new| {
            assert_eq!(new, single.by_hash().insert(hashes[number]));
        });
        hashes.iter().for_each(|&hash| self.added(hash));
    }

    fn insert_otherwise(&mut self, hash: u64) {
        let was_present = self.filter.by_hash().contains(hash);
        assert_eq!(self.filter.get_mut().insert_hash(hash), !was_present);
        self.added(hash);
    }

    fn remove(&mut self, at: usize, count: usize, batch: bool) {
        let count = count.min(self.held.len());
        let hashes: Vec<u64> = (0..count).map(|_| self.taken(at)).collect();
        remove_all(&self.filter, hashes, batch);
    }

    fn agree(&self, hash: u64) {
        let copies = self.copies.get(&hash).copied().unwrap_or_default();
        let count = self.filter.by_hash().count(hash);
        assert!(u64::from(count) >= copies.min(15), "{count} of {copies} copies");
        assert!(count <= 15);
        assert_eq!(self.filter.by_hash().contains(hash), count > 0);
        if count == 0 {
            assert!(!self.filter.by_hash().remove(hash), "an absent item was removed");
        }
    }

    /// Unites the filter with another that has a part of its items, and compares it with its copy
    /// in bits.
    fn special(&mut self, number: u16) {
        let other = self.empty();
        let part: Vec<u64> =
            self.held.iter().copied().step_by(1 + usize::from(number % 64)).collect();
        if part.len() + self.held.len() <= super::checked::MOST {
            part.iter().for_each(|&hash| _ = other.by_hash().insert(hash));
            self.filter.union_with(&other).expect("the same geometry and hash");
            part.into_iter().for_each(|hash| self.added(hash));
        }
        let blocked: BlockedBloomFilter<u64, Rapid> = BlockedBloomFilter::from(&self.filter);
        assert!(self.held.iter().all(|&hash| blocked.by_hash().contains(hash)));
        assert_eq!(blocked.figures().fill.value, self.filter.figures().fill.value);
    }

    fn snapshot(&mut self, hash: u64) {
        let copy = self.filter.clone();
        let count = copy.by_hash().count(hash);
        self.filter.by_hash().insert(hash);
        assert_eq!(copy.by_hash().count(hash), count, "an insert changed the snapshot");
        self.filter = copy;
    }

    fn save_and_load(&mut self, hashes: &[u64]) {
        let hashes = hashes.iter().chain(self.copies.keys()).copied();
        let loaded = saved_and_loaded(&self.filter, hashes);
        assert!(Self::counters(&loaded) == Self::counters(&self.filter), "other counters");
        self.filter = loaded;
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.copies.clear();
        self.held.clear();
        assert_eq!((self.filter.figures().fill.value, self.filter.saturated()), (0.0, 0));
    }

    fn check(&self) {}

    fn check_all(&self) {
        self.copies.keys().for_each(|&hash| self.agree(hash));
        check_figures(
            self.filter.false_positive_rate(),
            self.filter.figures().items.value,
            self.filter.saturation(),
        );
        // A saturated counter stays, so if there is none now, there was none.
        if self.filter.saturated() == 0 {
            let again = self.empty();
            self.held.iter().for_each(|&hash| _ = again.by_hash().insert(hash));
            assert!(Self::counters(&again) == Self::counters(&self.filter), "other counters");
        }
    }
}
