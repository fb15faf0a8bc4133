//! The filters that are measured: a list of ours and of the peers.

#[macro_use]
mod adapter;
mod entry;
mod memory;
pub(crate) mod ours;
#[cfg(feature = "peers")]
mod peer;

use tamis::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, OnceBloomFilter,
    OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
};

pub use self::entry::Contender;

/// Returns all contenders: the bare memory, ours, and the peers if they are compiled in.
#[must_use]
pub fn all() -> Vec<Contender> {
    #[cfg_attr(not(feature = "peers"), expect(unused_mut))]
    let mut all = vec![
        Contender::of_shared::<memory::BareMemory>(),
        Contender::of_shared::<BlockedBloomFilter<u64>>(),
        Contender::of_shared::<OnceBloomFilter<u64>>(),
        Contender::of_shared::<BloomFilter<u64>>(),
        Contender::of_shared::<CuckooFilter<u64>>(),
        Contender::of_shared::<OnceCuckooFilter<u64>>(),
        Contender::of_shared::<CountingBloomFilter<u64>>(),
        Contender::of_shared::<RotatingBloomFilter<u64>>(),
        Contender::of_shared::<ScalableBloomFilter<u64>>(),
        Contender::of_shared::<OnceScalableBloomFilter<u64>>(),
        Contender::of_shared::<ours::Growing<CuckooFilter<u64>>>(),
        Contender::of_shared::<ours::Growing<OnceCuckooFilter<u64>>>(),
        Contender::of::<ours::Exclusive<BlockedBloomFilter<u64>>>(),
        Contender::of::<ours::Exclusive<BloomFilter<u64>>>(),
    ];
    #[cfg(feature = "peers")]
    all.extend(peer::all());
    all
}
