//! The filters that are measured: one trait over ours, the peers and the exact sets, and a list of them all.

mod ours;
#[cfg(feature = "peers")]
mod peer;
mod rival;

use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

pub use self::ours::Exclusive;
use crate::course::Course;
use crate::item::{Distribution, Item};
use crate::operation::Operation;
use crate::shared::SharedSubject;

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

/// What a filter does, and which of the optional capabilities it has.
///
/// A filter for one thread implements `insert`, one that threads share `insert_shared`; so with `remove`, which is
/// optional.
pub trait Filter<K: Item>: Sized + 'static {
    /// The name in tables and records.
    const NAME: &'static str;
    /// Whether batches are more than loops.
    const MANY: bool = false;
    /// Whether the filter never errs, whatever rate is requested.
    const EXACT: bool = false;
    /// The lowest rate that the filter can keep. It keeps this rate if a lower one is requested.
    const LOWEST: f64 = 0.0;
    /// Whether items can be removed.
    const REMOVES: bool = false;
    /// Whether two items that the filter cannot distinguish are stored twice, so that both can be removed.
    const COPIES: bool = true;
    /// Whether a removal finds an item while another thread relocates it.
    const SURE: bool = true;

    /// Makes an empty filter for `items` items at this rate; none if the filter does not support this.
    fn new(items: u64, rate: f64) -> Option<Self>;

    /// Makes an empty filter with `bits` bits per item; none if its size cannot be chosen.
    #[must_use]
    fn with_bits(_items: u64, _bits: f64) -> Option<Self> {
        None
    }

    /// Returns the bytes of memory, as the filter reports them where it does.
    fn bytes(&self) -> u64;

    /// Returns whether the item may have been inserted.
    fn contains(&self, item: &K) -> bool;

    /// Inserts; returns whether the item was new, or `true` if the filter does not report this.
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        self.insert_shared(item)
    }

    /// Inserts while other threads may do the same.
    fn insert_shared(&self, _item: &K) -> bool {
        unreachable!("{} is for one thread", Self::NAME)
    }

    /// Removes; returns whether the item was found.
    #[inline]
    fn remove(&mut self, item: &K) -> bool {
        self.remove_shared(item)
    }

    /// Removes while other threads may write.
    fn remove_shared(&self, _item: &K) -> bool {
        unreachable!("{} cannot remove", Self::NAME)
    }

    /// Inserts all, and passes to `verdict` what [`insert`](Self::insert) would return for each index.
    #[inline]
    fn insert_many(&mut self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert(item));
        }
    }

    /// Inserts all while other threads may do the same.
    #[inline]
    fn insert_many_shared(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert_shared(item));
        }
    }

    /// Passes to `verdict`, for the index of each item, whether the item may have been inserted.
    #[inline]
    fn contains_many(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.contains(item));
        }
    }

    /// Empties the filter with all memory touched; `false` if it cannot, and a new one must be made.
    fn clear(&mut self) -> bool {
        false
    }
}

/// How large a filter is for its items.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// As large as this rate of false positives takes.
    Rate(f64),
    /// This number of bits per item.
    Bits(f64),
}

/// Makes a shared filter for a number of items and a rate.
type MakeShared<K> = fn(u64, f64) -> Option<Box<dyn SharedSubject<K>>>;

/// A filter in the list, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contender<K: Item> {
    /// [`Filter::NAME`].
    pub name: &'static str,
    many: bool,
    /// [`Filter::EXACT`].
    pub exact: bool,
    /// [`Filter::LOWEST`].
    pub lowest: f64,
    /// [`Filter::REMOVES`].
    pub removes: bool,
    /// Makes a filter of this size for a number of items, and a course for it; none if there is no such filter.
    pub course: fn(u64, Size, Distribution) -> Option<Course<K>>,
    /// Makes a filter for several threads; none if threads cannot share the filter.
    pub shared: Option<MakeShared<K>>,
}

impl<K: Item> Contender<K> {
    /// Returns whether the filter performs this operation, and not by a loop instead of a batch.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        (self.many || !operation.is_many()) && (self.removes || operation != Operation::Remove)
    }

    fn of<C: Filter<K>>() -> Self {
        let course = |items, size, distribution| match size {
            Size::Rate(rate) => Course::new(items, rate, distribution, move || C::new(items, rate)),
            Size::Bits(bits) => {
                // Eight times the rate of the best classic filter: no layout is as bad.
                let rate = 8.0 * (-bits * core::f64::consts::LN_2.powi(2)).exp();
                Course::new(items, rate, distribution, move || C::with_bits(items, bits))
            }
        };
        Self {
            name: C::NAME,
            many: C::MANY,
            exact: C::EXACT,
            lowest: C::LOWEST,
            removes: C::REMOVES,
            course,
            shared: None,
        }
    }

    fn of_shared<F: Filter<K> + Sync>() -> Self {
        let shared: MakeShared<K> = |items, rate| {
            let mut filter = F::new(items, rate)?;
            filter.clear();
            Some(Box::new(filter))
        };
        Self { shared: Some(shared), ..Self::of::<F>() }
    }
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
    all.retain(|contender| contender.removes || contender.name == "once cuckoo");
    all.push(Contender::of_shared::<rival::TwoChoice>());
    all
}

/// Returns the contenders of these names.
#[must_use]
pub fn named(contenders: &[Contender<u64>], names: &[&str]) -> Vec<Contender<u64>> {
    contenders.iter().copied().filter(|contender| names.contains(&contender.name)).collect()
}
