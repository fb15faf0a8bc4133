//! Compares two small cuckoo filters with lists of the hashes that they must contain, under
//! arbitrary operations.
//!
//! Two hashes that the filter cannot distinguish are of one class. Classes are computed here,
//! independently of the library, so that every count and the rate are exact. Only present items are
//! removed: that is the contract.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Unstructured};
use tamis::cuckoo::{Buildable, Builder, Geometry};
use tamis::hash::{Rapid, fastrange, split};
use tamis::{CuckooFilter, InsertError, MergeError, OnceCuckooFilter};

type Multiset = CuckooFilter<u64, Rapid>;
type Once = OnceCuckooFilter<u64, Rapid>;

#[derive(Arbitrary, Debug)]
struct Case {
    once: bool,
    shape: u8,
    /// Half the number of buckets, minus one.
    half: u8,
    /// The number of pairs of buckets by which the second filter is larger.
    more: u8,
    other_seed: bool,
    /// Hashes that many operations use.
    few: [u64; 8],
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
    /// Inserts several hashes derived from this number, so that a short input fills a filter.
    InsertMany(u16),
    /// Removes one of the present hashes.
    Remove(u16),
    Contains(u64),
    MergeWithOther,
    Snapshot(u8),
    Clear,
}

/// Checks that no operation loses an item or keeps a removed one, and that a failed operation
/// changes nothing.
pub(crate) fn ops_cuckoo(data: &[u8]) {
    let mut rest = Unstructured::new(data);
    let Ok(case) = Case::arbitrary(&mut rest) else { return };
    if case.once { run::<Once>(&case, &mut rest) } else { run::<Multiset>(&case, &mut rest) }
}

fn run<F: Cuckoo>(case: &Case, ops: &mut Unstructured<'_>) {
    let shapes: Vec<_> = Geometry::shapes().collect();
    let (slots, bits) = shapes[usize::from(case.shape) % shapes.len()];
    let sized = |half: u64| {
        let builder = CuckooFilter::<u64>::builder().buckets(2 * half).slots(slots);
        builder
            .fingerprint_bits(bits)
            .geometry()
            .expect("an even number of buckets and a supported shape")
    };
    let half = 1 + u64::from(case.half % 16);
    let second = sized(half + u64::from(case.more % 4));
    let seed = 1 + u64::from(case.other_seed);
    let mut filters = [Tracked::<F>::new(sized(half), 1), Tracked::new(second, seed)];
    let few = |index: u8| case.few[usize::from(index) % case.few.len()];
    while let (false, Ok(Op { on, what })) = (ops.is_empty(), ops.arbitrary()) {
        let [first, second] = &mut filters;
        let (one, other) = if on { (second, first) } else { (first, second) };
        match what {
            What::Insert(index) => one.insert(few(index)),
            What::InsertAny(hash) => one.insert(hash),
            What::InsertMany(from) => (0..16).for_each(|at| one.insert(spread(from, at))),
            What::Remove(index) => one.remove(index.into()),
            What::Contains(hash) => one.agree(hash),
            What::MergeWithOther => one.merge_with(other, case.other_seed),
            What::Snapshot(index) => one.snapshot(few(index)),
            What::Clear => one.clear(),
        }
        one.check(&case.few);
    }
}

fn spread(from: u16, at: u16) -> u64 {
    (u64::from(from) + u64::from(at) + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// A class: a fingerprint and its two buckets, the lower one first.
type Class = (u64, u64, u64);

/// Computes the class of a hash. Modulo the number of buckets, the sum of the two buckets is an odd
/// number that depends only on the fingerprint.
fn class(hash: u64, geometry: Geometry) -> Class {
    let fingerprint = split::fingerprint(hash, geometry.fingerprint_bits());
    let buckets = geometry.buckets();
    let spread = fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let sum = 2 * fastrange(spread, buckets / 2) + 1;
    let one = split::place(hash, buckets);
    let other = (sum + buckets - one) % buckets;
    (fingerprint, one.min(other), one.max(other))
}

/// A filter and its expected content.
struct Tracked<F> {
    filter: F,
    held: Held,
}

/// The present hashes, and the number of copies of each class.
#[derive(Clone)]
struct Held {
    geometry: Geometry,
    hashes: Vec<u64>,
    classes: HashMap<Class, u32>,
}

impl Held {
    fn new(geometry: Geometry) -> Self {
        Self { geometry, hashes: Vec::new(), classes: HashMap::new() }
    }

    fn copies(&self, hash: u64) -> u32 {
        self.classes.get(&class(hash, self.geometry)).copied().unwrap_or_default()
    }

    fn add(&mut self, hash: u64) {
        self.hashes.push(hash);
        *self.classes.entry(class(hash, self.geometry)).or_default() += 1;
    }

    fn take(&mut self, index: usize) -> u64 {
        let hash = self.hashes.swap_remove(index % self.hashes.len());
        let class = class(hash, self.geometry);
        let copies = self.classes.remove(&class).expect("the class of a present hash");
        if copies > 1 {
            self.classes.insert(class, copies - 1);
        }
        hash
    }

    /// Returns the capacity of two buckets, in copies.
    fn most(&self) -> u32 {
        2 * self.geometry.slots()
    }

    /// Returns whether an insert may fail: below this number of hashes every insert succeeds.
    fn may_be_full(&self) -> bool {
        self.hashes.len() >= self.most() as usize
    }
}

impl<F: Cuckoo> Tracked<F> {
    fn new(geometry: Geometry, seed: u64) -> Self {
        Self { filter: F::build(geometry, seed), held: Held::new(geometry) }
    }

    fn insert(&mut self, hash: u64) {
        let copies = self.held.copies(hash);
        let crowded = copies == self.held.most();
        match self.filter.insert(hash) {
            Ok(new) => {
                assert_eq!(new, !F::ONCE || copies == 0, "{copies} copies were present");
                assert!(!crowded);
                if new {
                    self.held.add(hash);
                }
            }
            Err(InsertError::TooManyCopies) => assert!(crowded && !F::ONCE),
            Err(InsertError::Full) => {
                assert!(!crowded && self.held.may_be_full());
                assert!(!F::ONCE || copies == 0, "a present item is found even in a full filter");
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn remove(&mut self, index: usize) {
        if F::ONCE || self.held.hashes.is_empty() {
            return;
        }
        let hash = self.held.take(index);
        assert!(self.filter.remove(hash), "a present item can be removed");
    }

    /// Checks that the merged filter contains the items of both, and that both are unchanged.
    fn merge_with(&mut self, other: &Self, other_seed: bool) {
        let merged = F::merge(&self.filter, &other.filter);
        self.check(&[]);
        other.check(&[]);
        let mut both = self.held.clone();
        for &hash in &other.held.hashes {
            if !F::ONCE || both.copies(hash) == 0 {
                both.add(hash);
            }
        }
        match merged {
            Ok(merged) => {
                assert!(self.held.geometry == other.held.geometry && !other_seed);
                (self.filter, self.held) = (merged, both);
            }
            Err(MergeError::Geometry) => assert_ne!(self.held.geometry, other.held.geometry),
            Err(MergeError::Hash) => assert!(other_seed),
            Err(MergeError::Insert(InsertError::Full)) => assert!(both.may_be_full()),
            Err(MergeError::Insert(InsertError::TooManyCopies)) => {
                let most = both.most();
                assert!(!F::ONCE && both.classes.into_values().any(|copies| copies > most));
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Checks that an insert after a snapshot does not change the snapshot. From here on the
    /// snapshot replaces the filter.
    fn snapshot(&mut self, hash: u64) {
        let (snapshot, held) = (self.filter.snapshot(), self.held.clone());
        self.insert(hash);
        self.check(&[hash]);
        (self.filter, self.held) = (snapshot, held);
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.held = Held::new(self.held.geometry);
    }

    fn agree(&self, hash: u64) {
        let copies = self.held.copies(hash);
        assert_eq!(self.filter.contains(hash), copies > 0);
        self.filter.has_copies(hash, copies);
    }

    /// Checks that the filter contains the expected items and no others, also after an insert that
    /// failed.
    fn check(&self, hashes: &[u64]) {
        let Held { geometry, hashes: held, classes } = &self.held;
        held.iter().chain(hashes).for_each(|&hash| self.agree(hash));
        assert_eq!(self.filter.len(), held.len() as u64);
        let rate = self.filter.false_positive_rate();
        let fingerprints = (1_u64 << geometry.fingerprint_bits()) - 1;
        let all = geometry.buckets() as f64 * fingerprints as f64 / 2.0;
        let exact = classes.len() as f64 / all;
        assert!((rate - exact).abs() <= exact * 1e-6 + 1e-17, "{rate:e}, not {exact:e}");
    }
}

/// The operations that both filters have, so that one target tests both.
trait Cuckoo: Sized {
    const ONCE: bool;

    fn build(geometry: Geometry, seed: u64) -> Self;
    /// Returns whether a copy was added.
    fn insert(&self, hash: u64) -> Result<bool, InsertError>;
    fn remove(&self, hash: u64) -> bool;
    fn contains(&self, hash: u64) -> bool;
    fn has_copies(&self, hash: u64, copies: u32);
    fn merge(a: &Self, b: &Self) -> Result<Self, MergeError>;
    fn snapshot(&self) -> Self;
    fn clear(&mut self);
    fn len(&self) -> u64;
    fn false_positive_rate(&self) -> f64;
}

fn like<F: Buildable>(new: tamis::cuckoo::Builder<F>, geometry: Geometry) -> F {
    new.like(geometry).build().expect("a small filter can be allocated")
}

/// Implements the trait: the given items differ between the filters, the others call the type's own
/// methods.
macro_rules! cuckoo {
    ($($name:ident { $($own:item)* })*) => {$(
        impl Cuckoo for $name {
            $($own)*

            fn build(geometry: Geometry, seed: u64) -> Self {
                like(Builder::<$name>::new(Rapid::with_seed(seed)), geometry)
            }

            fn contains(&self, hash: u64) -> bool {
                self.by_hash().contains(hash)
            }

            fn merge(a: &Self, b: &Self) -> Result<Self, MergeError> {
                Self::merge(a, b)
            }

            fn snapshot(&self) -> Self {
                self.clone()
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn len(&self) -> u64 {
                self.len() as u64
            }

            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }
        }
    )*};
}

cuckoo! {
    Multiset {
        const ONCE: bool = false;

        fn insert(&self, hash: u64) -> Result<bool, InsertError> {
            self.by_hash().insert(hash).map(|()| true)
        }

        fn remove(&self, hash: u64) -> bool {
            self.by_hash().remove(hash)
        }

        fn has_copies(&self, hash: u64, copies: u32) {
            assert_eq!(self.by_hash().count(hash), copies);
        }
    }
    Once {
        const ONCE: bool = true;

        fn insert(&self, hash: u64) -> Result<bool, InsertError> {
            self.by_hash().insert(hash)
        }

        fn remove(&self, _: u64) -> bool {
            unreachable!("the once filter has no remove")
        }

        fn has_copies(&self, _: u64, copies: u32) {
            assert!(copies <= 1);
        }
    }
}
