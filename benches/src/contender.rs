//! The filters that are measured: a list of ours, the peers and the exact sets.

mod called;
mod entry;
pub mod filter;
mod growing;
mod ours;
#[cfg(feature = "peers")]
mod peer;
mod rival;

use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

pub use self::entry::{Contender, Size};
pub use self::ours::Exclusive;
use crate::item::Item;

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

/// Returns the classic filter, and the peer with the same layout, whose operations are not inlined
/// into the loops.
#[must_use]
pub fn called() -> Vec<Contender<u64>> {
    called::called()
}

/// Returns the filters that store fingerprints: the cuckoo filters, the quotient filter, and the
/// rival design.
#[must_use]
pub fn fingerprints() -> Vec<Contender<u64>> {
    let mut all = all();
    all.retain(|contender| contender.traits.removes || contender.traits.name == "once cuckoo");
    all.push(Contender::of_shared::<rival::TwoChoice>());
    all
}

/// Returns ours for a rate of one in a million: the blocked filter, the cuckoo filters, and one
/// with two slots of 32 bits per bucket, the only shape of 64 bits with a rate as low.
#[must_use]
pub fn low_rate() -> Vec<Contender<u64>> {
    let mut all = named(&all(), &["blocked", "cuckoo", "once cuckoo"]);
    all.push(ours::two_slots());
    all
}

/// Returns the filters that grow: ours, and those of other crates. Each grows from the number of
/// items it is made for.
#[must_use]
pub fn growing() -> Vec<Contender<u64>> {
    #[cfg_attr(not(feature = "peers"), expect(unused_mut))]
    let mut all = growing::growing();
    #[cfg(feature = "peers")]
    all.extend(peer::growing());
    all
}

/// Returns the filters that remove items, those that count copies among them.
#[must_use]
pub fn counting() -> Vec<Contender<u64>> {
    let mut all = vec![growing::counting()];
    all.extend(fingerprints().into_iter().filter(|contender| contender.traits.removes));
    #[cfg(feature = "peers")]
    all.push(peer::counting());
    all
}

/// Returns the filters of a window, by their number of generations.
#[must_use]
pub fn rotating() -> Vec<Contender<u64>> {
    growing::rotating()
}

/// Returns the contenders of these names.
#[must_use]
pub fn named(contenders: &[Contender<u64>], names: &[&str]) -> Vec<Contender<u64>> {
    contenders.iter().copied().filter(|contender| names.contains(&contender.traits.name)).collect()
}
