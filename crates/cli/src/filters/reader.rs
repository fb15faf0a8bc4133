//! A saved filter that is only queried, which is possible on every processor.
//!
//! Some cuckoo filters have buckets of 128 bits, which not every processor can change.

use tamis::formats::{Geometry, Kind as Saved};
use tamis::hash::AnyStable;
use tamis::{CuckooFilter, Frozen, OnceCuckooFilter};

use super::AnyFilter;
use super::figures::Described;
use super::header::Header;
use crate::dedup::Tables;
use crate::error::Error;
use crate::kind::Kind;

/// A filter of any kind, for queries.
#[allow(clippy::large_enum_variant, reason = "a command has one")]
pub(crate) enum Reader {
    Cuckoo(Frozen<CuckooFilter<[u8], AnyStable>>),
    OnceCuckoo(Frozen<OnceCuckooFilter<[u8], AnyStable>>),
    /// A filter of another kind.
    Other(AnyFilter),
}

impl Reader {
    /// Loads a filter that [`Header::open`] has accepted.
    pub(crate) fn load(header: &Header<'_>) -> Result<Self, Error> {
        if !matches!(header.info.geometry(), Geometry::Cuckoo(_)) {
            return AnyFilter::load(header).map(Self::Other);
        }
        header.check_memory()?;
        let options = header.options();
        match header.info.kind() {
            Saved::OnceCuckoo => options.load_frozen(header.path).map(Self::OnceCuckoo),
            _ => options.load_frozen(header.path).map(Self::Cuckoo),
        }
        .map_err(|error| header.unreadable(error))
    }

    /// The hash function.
    pub(crate) fn hasher(&self) -> &AnyStable {
        match self {
            Self::Cuckoo(cuckoo) => cuckoo.hasher(),
            Self::OnceCuckoo(cuckoo) => cuckoo.hasher(),
            Self::Other(filter) => filter.hasher(),
        }
    }

    /// Describes the filter. Reads all of it.
    pub(crate) fn described(&self) -> Described {
        match self {
            Self::Cuckoo(cuckoo) => Described::of_frozen(Kind::Cuckoo.name(), cuckoo),
            Self::OnceCuckoo(cuckoo) => Described::of_frozen("once-cuckoo", cuckoo),
            Self::Other(filter) => filter.described(),
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
            Self::Cuckoo(cuckoo) => cuckoo.contains_hashes(hashes, report),
            Self::OnceCuckoo(cuckoo) => cuckoo.contains_hashes(hashes, report),
            Self::Other(filter) => filter.contains_hashes(hashes, report),
        }
    }
}
