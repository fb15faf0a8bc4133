//! Any operations on two small cuckoo filters, against what was inserted and not removed.
//!
//! Classes (which hashes cannot be told apart) are worked out here, apart from the library, so that every
//! count and the rate are exact. Only what is in is removed: that is the contract.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Unstructured};
use tamis::cuckoo::{Buildable, Geometry};
use tamis::hash::{Rapid, fastrange, split};
use tamis::{CuckooFilter, InsertError, MergeError, OnceCuckooFilter};

type Multiset = CuckooFilter<u64, Rapid>;
type Once = OnceCuckooFilter<u64, Rapid>;

const SHAPES: [(u32, u32); 6] = [(4, 8), (8, 8), (5, 12), (4, 16), (3, 20), (2, 32)];

#[derive(Arbitrary, Debug)]
struct Case {
    once: bool,
    shape: u8,
    /// Half the buckets, less one.
    half: u8,
    /// By how many pairs of buckets the second filter is larger.
    more: u8,
    other_seed: bool,
    /// Hashes that come again and again.
    few: [u64; 8],
}

/// An operation on one of the two.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Op {
    on: bool,
    what: What,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum What {
    Insert(u8),
    InsertAny(u64),
    /// Hashes spread from this one, so that a few bytes fill a filter.
    InsertMany(u16),
    /// One of those that are in.
    Remove(u16),
    Contains(u64),
    MergeWithOther,
    Snapshot(u8),
    Clear,
}

/// No operation loses an item or keeps one too many, and what is refused has changed nothing.
pub fn ops_cuckoo(data: &[u8]) {
    let mut rest = Unstructured::new(data);
    let Ok(case) = Case::arbitrary(&mut rest) else { return };
    if case.once { run::<Once>(&case, &mut rest) } else { run::<Multiset>(&case, &mut rest) }
}

fn run<F: Cuckoo>(case: &Case, ops: &mut Unstructured<'_>) {
    let (slots, bits) = SHAPES[usize::from(case.shape) % SHAPES.len()];
    let sized = |half: u64| {
        let builder = CuckooFilter::<u64>::builder().buckets(2 * half).slots(slots);
        builder.fingerprint_bits(bits).geometry().expect("an even number of a shape there is")
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

/// A fingerprint and its two buckets, the lower one first.
type Class = (u64, u64, u64);

/// The two buckets of a fingerprint sum to an odd number that it fixes, modulo the number of buckets.
fn class(hash: u64, geometry: Geometry) -> Class {
    let fingerprint = split::fingerprint(hash, geometry.fingerprint_bits());
    let buckets = geometry.buckets();
    let spread = fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let sum = 2 * fastrange(spread, buckets / 2) + 1;
    let one = split::place(hash, buckets);
    let other = (sum + buckets - one) % buckets;
    (fingerprint, one.min(other), one.max(other))
}

/// A filter, and what is in it.
struct Tracked<F> {
    filter: F,
    held: Held,
}

/// The hashes that are in, and how many of each class.
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
        let copies = self.classes.remove(&class).expect("a class of what is in");
        if copies > 1 {
            self.classes.insert(class, copies - 1);
        }
        hash
    }

    /// The copies that two buckets hold.
    fn most(&self) -> u32 {
        2 * self.geometry.slots()
    }

    /// Whether more is in than always fits, whatever it is.
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
                assert_eq!(new, !F::ONCE || copies == 0, "{copies} copies were in");
                assert!(!crowded);
                if new {
                    self.held.add(hash);
                }
            }
            Err(InsertError::TooManyCopies) => assert!(crowded && !F::ONCE),
            Err(InsertError::Full) => {
                assert!(!crowded && self.held.may_be_full());
                assert!(!F::ONCE || copies == 0, "what is in can be asked for in a full filter");
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn remove(&mut self, index: usize) {
        if F::ONCE || self.held.hashes.is_empty() {
            return;
        }
        let hash = self.held.take(index);
        assert!(self.filter.remove(hash), "what is in can be removed");
    }

    /// The items of both, and both as they were.
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

    /// What goes into a filter after its snapshot does not get into the snapshot, which stands in for it
    /// from here on.
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

    /// The filter holds this and nothing else, also after an insert that was refused.
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

/// What the two filters have in common, so that one target serves both.
trait Cuckoo: Sized {
    const ONCE: bool;

    fn build(geometry: Geometry, seed: u64) -> Self;
    /// Whether it was added.
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
    new.like(geometry).build().expect("such few buckets can be had")
}

/// What differs is written out; the rest is passed on to the type's own.
macro_rules! cuckoo {
    ($($name:ident { $($own:item)* })*) => {$(
        impl Cuckoo for $name {
            $($own)*

            fn build(geometry: Geometry, seed: u64) -> Self {
                like($name::builder_with_hasher(Rapid::with_seed(seed)), geometry)
            }

            fn contains(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn merge(a: &Self, b: &Self) -> Result<Self, MergeError> {
                Self::merge(a, b)
            }

            fn snapshot(&self) -> Self {
                self.snapshot()
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
            self.insert_hash(hash).map(|()| true)
        }

        fn remove(&self, hash: u64) -> bool {
            self.remove_hash(hash)
        }

        fn has_copies(&self, hash: u64, copies: u32) {
            assert_eq!(self.count_hash(hash), copies);
        }
    }
    Once {
        const ONCE: bool = true;

        fn insert(&self, hash: u64) -> Result<bool, InsertError> {
            self.insert_hash(hash)
        }

        fn remove(&self, _: u64) -> bool {
            unreachable!("the once filter has no remove")
        }

        fn has_copies(&self, _: u64, copies: u32) {
            assert!(copies <= 1);
        }
    }
}
