//! The filters of other crates that store fingerprints.

use ahash::AHasher;
use atomic_cuckoo_filter::CuckooFilterBuilder;
use cuckoo_clock::config::CuckooConfiguration;
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use tamis::hash::DefaultHashBuilder;

use crate::filter::{Filter, Traits};
use crate::hasher;

/// Returns the slots of which the items fill 95 %. Most filters round up to a power of two.
fn slots(items: u64) -> usize {
    (items * 20).div_ceil(19) as usize
}

/// Returns the bits of a fingerprint with which a query, which compares eight slots, keeps the
/// rate.
fn fingerprint_bits(rate: f64) -> usize {
    (8.0 / rate).log2().ceil() as usize
}

/// atomic-cuckoo-filter, which reports how many slots it has, but not of how many bits.
pub(super) struct AtomicCuckoo {
    filter: atomic_cuckoo_filter::CuckooFilter<AHasher>,
    bits: usize,
}

contender!(
    AtomicCuckoo,
    "atomic-cuckoo-filter, atomic",
    // It looks for the item before it takes the lock under which others relocate it.
    [removes = true, sure = false],
    new = |items, rate| {
        let bits = [4, 8, 16, 32].into_iter().find(|&bits| bits >= fingerprint_bits(rate))?;
        let builder = CuckooFilterBuilder::default().capacity(slots(items));
        let filter = builder.fingerprint_size(bits).build().ok()?;
        Some(Self { filter, bits })
    },
    bytes = |it| it.filter.capacity() * it.bits / 8,
    contains = |it, item| it.filter.contains(item),
    insert_shared = |it, item| it.filter.insert(item).is_ok(),
    remove_shared = |it, item| it.filter.remove(item),
    clear = |it| it.filter.clear(),
);

// A lock and an allocation for each bucket; what the allocator adds is not counted. Queries write,
// too.
contender!(
    cuckoo_clock::CuckooFilter<DefaultHashBuilder>,
    "cuckoo-clock, locks",
    [removes = true, copies = false],
    new = |items, rate| {
        let bits = fingerprint_bits(rate).try_into().ok()?;
        let builder = CuckooConfiguration::builder(slots(items)).fingerprint_bits(bits);
        Some(Self::new(builder.build().ok()?, hasher()))
    },
    bytes = |filter| filter.get_memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    // It returns the item that it has dropped for this one.
    insert_shared = |filter, item| Self::insert(filter, item).is_none(),
    remove_shared = |filter, item| Self::remove(filter, item),
);

// Four slots of 8 bits, nothing else. A refused insert drops another item.
contender!(
    cuckoofilter::CuckooFilter<AHasher>,
    "cuckoofilter, one thread",
    [lowest = 0.03, removes = true],
    new = |items, _rate| Some(Self::with_capacity(slots(items))),
    bytes = |filter| filter.memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    insert = |filter, item| filter.add(item).is_ok(),
    remove = |filter, item| filter.delete(item),
);

contender!(
    ScalableCuckooFilter<u64, AHasher>,
    "scalable_cuckoo_filter, one thread",
    [removes = true],
    new = |items, rate| {
        let builder = ScalableCuckooFilterBuilder::new().initial_capacity(slots(items));
        Some(builder.false_positive_probability(rate).hasher(AHasher::default()).finish())
    },
    bytes = |filter| filter.bits() / 8,
    contains = |filter, item| Self::contains(filter, item),
    insert = |filter, item| {
        Self::insert(filter, item);
        true
    },
    remove = |filter, item| Self::remove(filter, item),
);

/// qfilter: a quotient filter.
pub(super) type Quotient = qfilter::Filter<Box<[u8]>, DefaultHashBuilder>;

contender!(
    Quotient,
    "qfilter, one thread",
    [removes = true, copies = false],
    new = |items, rate| Self::new_with_hasher(items, rate, hasher()).ok(),
    bytes = |filter| filter.memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    // It inserts the item unless it finds it.
    insert = |filter, item| Self::insert(filter, item).unwrap_or(false),
    remove = |filter, item| Self::remove(filter, item),
);
