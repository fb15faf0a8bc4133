//! Compares two Bloom filters with `HashSet`s under arbitrary operations.
//!
//! Each filter has a twin with the same items. The filter inserts through `&self`, the twin through
//! `&mut self`. Both must have the same bits, so both must have the same fill and return the same
//! answers.

use std::collections::HashSet;

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};

use crate::bloom::Bloom;

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    bits: u16,
    probes: u8,
    /// The number of bits by which the second filter is larger.
    more_bits: u8,
    other_seed: bool,
    /// Hashes that many operations use.
    few: [u64; 8],
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Classic,
    Blocked,
    Once,
}

/// An operation on one of the two filters.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Op {
    on: bool,
    what: What,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum What {
    Insert(u8),
    InsertAny(u64),
    Contains(u64),
    UnionWithOther,
    Snapshot(u8),
    Clear,
}

/// Checks that no operation loses an item, and that every answer follows from the operations before
/// it.
pub(crate) fn ops_bloom(data: &[u8]) {
    let mut rest = Unstructured::new(data);
    let Ok(case) = Case::arbitrary(&mut rest) else { return };
    match case.kind {
        Kind::Classic => run::<BloomFilter<u64, Rapid>>(&case, &mut rest),
        Kind::Blocked => run::<BlockedBloomFilter<u64, Rapid>>(&case, &mut rest),
        Kind::Once => run::<OnceBloomFilter<u64, Rapid>>(&case, &mut rest),
    }
}

/// Reads the operations one by one, since an arbitrary `Vec` is short: it ends with probability 1/2
/// after each element.
fn run<F: Bloom>(case: &Case, ops: &mut Unstructured<'_>) {
    let probes = 1 + u32::from(case.probes % 16);
    let bits = 1 + u64::from(case.bits);
    let (more, seed) = (bits + u64::from(case.more_bits), 1 + u64::from(case.other_seed));
    let first = Tracked::<F>::new(bits, probes, 1);
    let mut filters = [first, Tracked::new(more, probes, seed)];
    let few = |index: u8| case.few[usize::from(index) % case.few.len()];
    while let (false, Ok(Op { on, what })) = (ops.is_empty(), ops.arbitrary()) {
        let [first, second] = &mut filters;
        let (one, other) = if on { (second, first) } else { (first, second) };
        match what {
            What::Insert(index) => one.insert(few(index)),
            What::InsertAny(hash) => one.insert(hash),
            What::Contains(hash) => one.agree(hash),
            What::UnionWithOther => one.union_with(other, case.other_seed),
            What::Snapshot(index) => one.snapshot(few(index)),
            What::Clear => one.clear(&case.few),
        }
        one.check();
        case.few.iter().for_each(|&hash| one.agree(hash));
    }
}

/// A filter, its twin, and the items of both.
struct Tracked<F> {
    filter: F,
    twin: F,
    /// An empty filter for comparison.
    empty: F,
    known: HashSet<u64>,
}

impl<F: Bloom> Tracked<F> {
    fn new(bits: u64, probes: u32, seed: u64) -> Self {
        let build = || F::build(bits, probes, seed).expect("a small filter can be allocated");
        Self { filter: build(), twin: build(), empty: build(), known: HashSet::new() }
    }

    fn insert(&mut self, hash: u64) {
        let known = self.filter.contains(hash);
        let fill = self.filter.fill();
        // With one thread the answer is exact: `true` if and only if a bit was missing.
        assert_eq!(self.filter.insert(hash), !known);
        assert_eq!(self.twin.insert_exclusive(hash), !known);
        assert_eq!(self.filter.fill() > fill, !known, "only a new item sets bits");
        self.known.insert(hash);
    }

    fn union_with(&mut self, other: &Self, other_seed: bool) {
        let before = self.filter.fill();
        let united = self.filter.union_with(&other.filter);
        let same_geometry = self.filter.geometry() == other.filter.geometry();
        assert_eq!(united.is_ok(), same_geometry && !other_seed, "{united:?}");
        assert_eq!(self.twin.union_with(&other.filter), united);
        if united.is_ok() {
            let (fill, other_fill) = (self.filter.fill(), other.filter.fill());
            assert!(fill >= before.max(other_fill) && fill <= before + other_fill + 1e-9);
            self.known.extend(&other.known);
        } else {
            assert_eq!(self.filter.fill(), before, "a union that fails changes nothing");
        }
    }

    /// Checks that an insert after a snapshot does not change the snapshot.
    fn snapshot(&mut self, hash: u64) {
        let snapshot = self.filter.snapshot();
        let (fill, had) = (snapshot.fill(), snapshot.contains(hash));
        self.insert(hash);
        assert_eq!((snapshot.fill(), snapshot.contains(hash)), (fill, had));
        assert!(self.known.iter().all(|&item| item == hash || snapshot.contains(item)));
        // From here on the snapshot replaces the filter.
        self.filter = snapshot;
        self.filter.insert(hash);
    }

    fn clear(&mut self, hashes: &[u64]) {
        self.filter.clear();
        self.twin.clear();
        self.known.clear();
        assert_eq!(self.filter.fill(), 0.0);
        assert_eq!(self.filter.len_estimate(), 0.0);
        // The answer need not be `false`: a probe of a lock bit always hits.
        let is_as_empty = |&hash: &u64| self.filter.contains(hash) == self.empty.contains(hash);
        assert!(hashes.iter().all(is_as_empty));
    }

    /// Checks that the filter and its twin return the same answer.
    fn agree(&self, hash: u64) {
        assert_eq!(self.filter.contains(hash), self.twin.contains(hash));
    }

    fn check(&self) {
        assert!(self.known.iter().all(|&hash| self.filter.contains(hash)), "a false negative");
        let (fill, rate) = (self.filter.fill(), self.filter.false_positive_rate());
        assert_eq!(fill, self.twin.fill());
        assert!((0.0..=1.0).contains(&fill), "{fill}");
        assert!((0.0..=1.0).contains(&rate), "{rate}");
        assert!(self.known.is_empty() || rate > 0.0);
        let (saturation, items) = (self.filter.saturation(), self.filter.len_estimate());
        assert!(items >= 0.0 && saturation >= 0.0, "{items} {saturation}");
        assert_eq!(items.is_finite(), saturation.is_finite(), "{items} {saturation}");
    }
}
