//! The filters that are measured: a list of ours, the peers and the exact sets.

pub mod filter;
mod ours;
#[cfg(feature = "peers")]
mod peer;
mod rival;

use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

use self::filter::{Filter, Traits};
pub use self::ours::Exclusive;
use crate::item::Item;
use crate::operation::Operation;
use crate::subject::{SharedSubject, Subject};

/// The false-positive rate of every contender at its capacity, unless a measurement varies it.
pub const RATE: f64 = 0.01;

/// The names of ours and of the fastest peers: the contenders where all would take too long.
pub const BEST: [&str; 8] = [
    "blocked",
    "once",
    "classic",
    "cuckoo",
    "once cuckoo",
    "fastbloom, atomic",
    "fastbloom",
    "sbbf-rs-safe",
];

/// How large a filter is for its items.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// As large as this rate of false positives takes.
    Rate(f64),
    /// This number of bits per item.
    Bits(f64),
}

/// Makes a filter of this size for a number of items, if there is such a filter.
type Make<F> = fn(u64, Size) -> Option<Box<F>>;

/// A filter in the list, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contender<K> {
    /// What it can do.
    pub traits: Traits,
    /// Makes an empty filter.
    pub make: Make<dyn Subject<K>>,
    /// The same for several threads; none if threads cannot share the filter.
    pub shared: Option<Make<dyn SharedSubject<K>>>,
}

impl<K: Item> Contender<K> {
    /// Returns whether the filter performs this operation, and not by a loop instead of a batch.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        let Traits { many, removes, .. } = self.traits;
        (many || !operation.is_many()) && (removes || operation != Operation::Remove)
    }

    pub(crate) fn of<F: Filter<K>>() -> Self {
        let make: Make<dyn Subject<K>> = |items, size| Some(Box::new(made::<K, F>(items, size)?));
        Self { traits: F::TRAITS, make, shared: None }
    }

    fn of_shared<F: Filter<K> + Sync>() -> Self {
        let shared: Make<dyn SharedSubject<K>> =
            |items, size| Some(Box::new(made::<K, F>(items, size)?));
        Self { shared: Some(shared), ..Self::of::<F>() }
    }
}

fn made<K: Item, F: Filter<K>>(items: u64, size: Size) -> Option<F> {
    let mut filter = match size {
        Size::Rate(rate) => F::new(items, rate)?,
        Size::Bits(bits) => F::with_bits(items, bits)?,
    };
    filter.clear();
    Some(filter)
}

/// Returns all contenders: ours, and the peers and exact sets if they are compiled in.
#[must_use]
pub fn all<K: Item>() -> Vec<Contender<K>> {
    #[cfg_attr(not(feature = "peers"), expect(unused_mut))]
    let mut all = vec![
        Contender::of_shared::<BlockedBloomFilter<K>>(),
        Contender::of_shared::<OnceBloomFilter<K>>(),
        Contender::of_shared::<BloomFilter<K>>(),
        Contender::of_shared::<CuckooFilter<K>>(),
        Contender::of_shared::<OnceCuckooFilter<K>>(),
    ];
    #[cfg(feature = "peers")]
    all.extend(peer::all());
    all
}

/// Returns ours with exclusive access.
#[must_use]
pub fn exclusive() -> [Contender<u64>; 3] {
    [
        Contender::of::<Exclusive<BlockedBloomFilter<u64>>>(),
        Contender::of::<Exclusive<OnceBloomFilter<u64>>>(),
        Contender::of::<Exclusive<BloomFilter<u64>>>(),
    ]
}

/// Returns the filters that store fingerprints: the cuckoo filters, the quotient filter, and the rival design.
#[must_use]
pub fn fingerprints() -> Vec<Contender<u64>> {
    let mut all = all();
    all.retain(|contender| contender.traits.removes || contender.traits.name == "once cuckoo");
    all.push(Contender::of_shared::<rival::TwoChoice>());
    all
}

/// Returns the contenders of these names.
#[must_use]
pub fn named(contenders: &[Contender<u64>], names: &[&str]) -> Vec<Contender<u64>> {
    contenders.iter().copied().filter(|contender| names.contains(&contender.traits.name)).collect()
}
