//! A saved filter that is only queried, which is possible on every processor.
//!
//! Some cuckoo filters have buckets of 128 bits, which not every processor can change.

use tamis::formats::{Geometry, Kind as Saved};
use tamis::hash::AnyStable;
use tamis::{CuckooFilter, Filter, Frozen, OnceCuckooFilter};

use super::{AnyFilter, Figures, Header};
use crate::dedup::Tables;
use crate::{Error, Kind};

/// A filter of any kind, for queries.
#[allow(clippy::large_enum_variant, reason = "a command has one")]
pub(crate) enum Reader {
    Cuckoo(FrozenCuckoo<CuckooFilter<[u8], AnyStable>>),
    OnceCuckoo(FrozenCuckoo<OnceCuckooFilter<[u8], AnyStable>>),
    /// A filter of another kind.
    Other(AnyFilter),
}

impl Reader {
    /// Loads a filter that [`Header::open`] has accepted.
    pub(crate) fn load(header: &Header<'_>) -> Result<Self, Error> {
        let slots = match header.info.geometry() {
            Geometry::Cuckoo(sizes) => sizes.buckets() * u64::from(sizes.slots()),
            _ => return AnyFilter::load(header).map(Self::Other),
        };
        header.check_memory()?;
        let options = header.options();
        match header.info.kind() {
            Saved::OnceCuckoo => options.load_frozen(header.path).map(|filter| {
                Self::OnceCuckoo(FrozenCuckoo { filter, slots, name: "once-cuckoo" })
            }),
            _ => options.load_frozen(header.path).map(|filter| {
                Self::Cuckoo(FrozenCuckoo { filter, slots, name: Kind::Cuckoo.name() })
            }),
        }
        .map_err(|error| header.unreadable(error))
    }

    /// The hash function.
    pub(crate) fn hasher(&self) -> &AnyStable {
        match self {
            Self::Cuckoo(cuckoo) => cuckoo.filter.hasher(),
            Self::OnceCuckoo(cuckoo) => cuckoo.filter.hasher(),
            Self::Other(filter) => filter.hasher(),
        }
    }

    pub(crate) fn figures(&self) -> &dyn Figures {
        match self {
            Self::Cuckoo(cuckoo) => cuckoo,
            Self::OnceCuckoo(cuckoo) => cuckoo,
            Self::Other(filter) => filter.figures(),
        }
    }

    /// The tables of `tamis new`, which are queried shard by shard.
    pub(super) const fn tables(&self) -> Option<&Tables> {
        match self {
            Self::Other(AnyFilter::Table(tables)) => Some(tables),
            _ => None,
        }
    }

    /// Queries all hashes, in order. (Of tables, no answer is reported.)
    pub(super) fn contains(
        &self,
        hashes: impl Iterator<Item = u64>,
        report: impl FnMut(usize, bool),
    ) {
        match self {
            Self::Cuckoo(cuckoo) => cuckoo.filter.contains_hashes(hashes, report),
            Self::OnceCuckoo(cuckoo) => cuckoo.filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Bloom(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Blocked(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Once(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Cuckoo(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::OnceCuckoo(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Counting(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::Rotating(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::ScalableBloom(filter)) => {
                filter.contains_hashes(hashes, report);
            }
            Self::Other(AnyFilter::Scalable(filter)) => filter.contains_hashes(hashes, report),
            Self::Other(AnyFilter::ScalableCuckoo(filter)) => {
                filter.contains_hashes(hashes, report);
            }
            Self::Other(AnyFilter::Table(_)) => {}
        }
    }
}

/// A cuckoo filter that is not changed.
pub(crate) struct FrozenCuckoo<F> {
    filter: Frozen<F>,
    /// The number of slots in all buckets.
    slots: u64,
    name: &'static str,
}

impl<F: Filter> Figures for FrozenCuckoo<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn counts(&self) -> bool {
        true
    }

    fn capacity(&self) -> u64 {
        self.filter.capacity() as u64
    }

    fn items(&self) -> f64 {
        self.filter.len_estimate()
    }

    fn fill(&self) -> Option<f64> {
        Some(self.items() / self.slots as f64)
    }

    fn saturation(&self) -> f64 {
        self.filter.saturation()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    fn size_in_bytes(&self) -> u64 {
        self.filter.size_in_bytes()
    }
}
