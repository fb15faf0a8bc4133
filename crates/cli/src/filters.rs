//! A filter in a file: any kind that the file format has, with the hash algorithm and the key that the file names.

use core::convert::Infallible;
use std::path::Path;

use tamis::formats::{self, Geometry, Kind as Saved};
use tamis::hash::AnyStable;
use tamis::{
    BlockedBloomFilter, BloomFilter, BuildError, CuckooFilter, Filter, InsertError,
    OnceBloomFilter, OnceCuckooFilter,
};

use crate::dedup::Tables;
use crate::input::shown;
use crate::policy::Policy;
use crate::{Error, Kind, memory};

mod collect;
mod decide;
mod header;
mod lock;
mod next;

pub(crate) use self::collect::Collect;
pub(crate) use self::decide::{Insert, Lookup, Remove};
pub(crate) use self::header::Header;
pub(crate) use self::lock::Lock;

/// A filter of any kind.
pub(crate) enum AnyFilter {
    Bloom(BloomFilter<[u8], AnyStable>),
    Blocked(BlockedBloomFilter<[u8], AnyStable>),
    Once(OnceBloomFilter<[u8], AnyStable>),
    Cuckoo(CuckooFilter<[u8], AnyStable>),
    OnceCuckoo(OnceCuckooFilter<[u8], AnyStable>),
    Table(Tables),
}

/// Evaluates an expression with the filter, whatever its kind.
macro_rules! each {
    ($any:expr, $filter:ident => $run:expr) => {
        match $any {
            AnyFilter::Bloom($filter) => $run,
            AnyFilter::Blocked($filter) => $run,
            AnyFilter::Once($filter) => $run,
            AnyFilter::Cuckoo($filter) => $run,
            AnyFilter::OnceCuckoo($filter) => $run,
            AnyFilter::Table($filter) => $run,
        }
    };
}

/// Which cuckoo filter `--kind cuckoo` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copies {
    /// The one that counts copies, from which items can be removed.
    Counted,
    /// The one that contains each item once.
    Once,
}

impl AnyFilter {
    /// Builds an empty filter, if there is memory for it.
    pub(crate) fn build(
        kind: Kind,
        copies: Copies,
        capacity: u64,
        rate: f64,
        hasher: AnyStable,
    ) -> Result<Self, Error> {
        let refused = |source| Error::Filter { kind, capacity: Some(capacity), rate, source };
        let sizes = kind.geometry(capacity, rate).map_err(refused)?;
        memory::check(sizes.size_in_bytes())?;
        let items = usize::try_from(capacity).map_err(|_| refused(BuildError::TooLarge))?;
        macro_rules! built {
            ($filter:ident) => {
                $filter::<[u8]>::builder()
                    .capacity(items)
                    .false_positive_rate(rate)
                    .hasher(hasher)
                    .build()
                    .map_err(refused)?
            };
        }
        Ok(match (kind, copies) {
            (Kind::Bloom, _) => Self::Bloom(built!(BloomFilter)),
            (Kind::Blocked, _) => Self::Blocked(built!(BlockedBloomFilter)),
            (Kind::Once, _) => Self::Once(built!(OnceBloomFilter)),
            (Kind::Cuckoo, Copies::Counted) => Self::Cuckoo(built!(CuckooFilter)),
            (Kind::Cuckoo, Copies::Once) => Self::OnceCuckoo(built!(OnceCuckooFilter)),
        })
    }

    /// Loads a filter that [`Header::open`] has accepted.
    pub(crate) fn load(header: &Header<'_>) -> Result<Self, Error> {
        header.check_memory()?;
        let info = &header.info;
        let options = formats::Options::new().policy(info.policy()).live(info.is_live());
        let loaded = match header.info.kind() {
            Saved::Bloom => options.load(header.path).map(Self::Bloom),
            Saved::BlockedBloom => options.load(header.path).map(Self::Blocked),
            Saved::OnceBloom => options.load(header.path).map(Self::Once),
            Saved::Cuckoo => options.load(header.path).map(Self::Cuckoo),
            Saved::OnceCuckoo => options.load(header.path).map(Self::OnceCuckoo),
            Saved::Table => match info.geometry() {
                Geometry::Table(sizes) => {
                    Tables::load(&options, header.path, sizes).map(Self::Table)
                }
                _ => return Err(header.refused("is no table")),
            },
            kind => {
                return Err(header
                    .refused(format!("is a {kind}, which this version of tamis does not read")));
            }
        };
        loaded.map_err(|error| header.unreadable(error))
    }

    /// Saves the filter: the file of this name is then this filter, or what it was before.
    pub(crate) fn save(&self, path: &Path, policy: Policy) -> Result<(), Error> {
        let options = formats::Options::new().policy(policy.saved());
        let saved = match self {
            Self::Bloom(filter) => options.save(filter, path),
            Self::Blocked(filter) => options.save(filter, path),
            Self::Once(filter) => options.save(filter, path),
            Self::Cuckoo(filter) => options.save(filter, path),
            Self::OnceCuckoo(filter) => options.save(filter, path),
            Self::Table(tables) => tables.save(&options, path),
        };
        saved.map_err(|source| Error::Save { name: shown(path), source })
    }

    /// Adds the items of the filter in another file, which [`Header::require_like`] has accepted.
    pub(crate) fn merge(&mut self, other: &Header<'_>) -> Result<(), Error> {
        let info = &other.info;
        let options = formats::Options::new().policy(info.policy()).live(info.is_live());
        let merged = match self {
            Self::Bloom(filter) => options.merge_from(filter, other.path),
            Self::Blocked(filter) => options.merge_from(filter, other.path),
            Self::Once(filter) => options.merge_from(filter, other.path),
            // A cuckoo filter is loaded whole: its items go to other places.
            Self::Cuckoo(filter) => {
                if let Self::Cuckoo(more) = Self::load(other)? {
                    let merged = CuckooFilter::merge(filter, &more);
                    *filter = merged.map_err(|error| other.unmerged(error))?;
                }
                return Ok(());
            }
            Self::OnceCuckoo(filter) => {
                if let Self::OnceCuckoo(more) = Self::load(other)? {
                    let merged = OnceCuckooFilter::merge(filter, &more);
                    *filter = merged.map_err(|error| other.unmerged(error))?;
                }
                return Ok(());
            }
            Self::Table(_) => return Err(other.refused("is a table, which cannot be merged")),
        };
        merged.map_err(|error| other.unreadable(error))
    }

    /// The hash function.
    pub(crate) fn hasher(&self) -> &AnyStable {
        each!(self, filter => filter.hasher())
    }

    /// Queries all hashes, in order. (A table is queried shard by shard, see [`Lookup`].)
    pub(crate) fn contains(
        &self,
        hashes: impl Iterator<Item = u64>,
        report: impl FnMut(usize, bool),
    ) {
        match self {
            Self::Bloom(filter) => filter.contains_hashes(hashes, report),
            Self::Blocked(filter) => filter.contains_hashes(hashes, report),
            Self::Once(filter) => filter.contains_hashes(hashes, report),
            Self::Cuckoo(filter) => filter.contains_hashes(hashes, report),
            Self::OnceCuckoo(filter) => filter.contains_hashes(hashes, report),
            Self::Table(_) => {}
        }
    }

    /// Inserts all items, in order, and reports of each whether it was new. Of a filter that counts copies, each is.
    /// (A table inserts through its shards only.)
    pub(crate) fn insert(
        &self,
        hashes: impl Iterator<Item = u64>,
        mut report: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        let sure = |item, new: Result<bool, Infallible>| {
            let Ok(new) = new;
            report(item, Ok(new));
        };
        match self {
            Self::Bloom(filter) => filter.try_insert_hashes(hashes, sure),
            Self::Blocked(filter) => filter.try_insert_hashes(hashes, sure),
            Self::Once(filter) => filter.try_insert_hashes(hashes, sure),
            Self::Cuckoo(filter) => filter.try_insert_hashes(hashes, report),
            Self::OnceCuckoo(filter) => filter.try_insert_hashes(hashes, report),
            Self::Table(_) => {}
        }
    }

    /// Inserts the items that the filter does not contain, in order, and reports which these were.
    pub(crate) fn insert_new(
        &self,
        hashes: impl Iterator<Item = u64>,
        mut report: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        // A filter that counts copies would add one. No other thread inserts the same items.
        if let Self::Cuckoo(filter) = self {
            for (number, hash) in hashes.enumerate() {
                let contained = filter.contains_hash(hash);
                report(
                    number,
                    if contained { Ok(false) } else { filter.insert_hash(hash).map(|()| true) },
                );
            }
        } else {
            self.insert(hashes, report);
        }
    }

    /// Whether the filter is of this kind.
    pub(crate) const fn is(&self, kind: Kind) -> bool {
        match self {
            Self::Bloom(_) => matches!(kind, Kind::Bloom),
            Self::Blocked(_) => matches!(kind, Kind::Blocked),
            Self::Once(_) => matches!(kind, Kind::Once),
            Self::Cuckoo(_) | Self::OnceCuckoo(_) => matches!(kind, Kind::Cuckoo),
            Self::Table(_) => false,
        }
    }

    /// The name of the kind.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Bloom(_) => Kind::Bloom.name(),
            Self::Blocked(_) => Kind::Blocked.name(),
            Self::Once(_) => Kind::Once.name(),
            Self::Cuckoo(_) => Kind::Cuckoo.name(),
            Self::OnceCuckoo(_) => "once-cuckoo",
            Self::Table(_) => "table",
        }
    }

    /// Whether the number of items is exact.
    pub(crate) const fn counts(&self) -> bool {
        matches!(self, Self::Cuckoo(_) | Self::OnceCuckoo(_) | Self::Table(_))
    }

    /// The number of items that the filter was built for.
    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.capacity() as u64,
            Self::Blocked(filter) => filter.capacity() as u64,
            Self::Once(filter) => filter.capacity() as u64,
            Self::Cuckoo(filter) => filter.capacity() as u64,
            Self::OnceCuckoo(filter) => filter.capacity() as u64,
            Self::Table(tables) => tables.capacity(),
        }
    }

    /// The number of items: exact in a cuckoo filter, otherwise an estimate.
    pub(crate) fn items(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.len_estimate(),
            Self::Blocked(filter) => filter.len_estimate(),
            Self::Once(filter) => filter.len_estimate(),
            Self::Cuckoo(filter) => filter.len_estimate(),
            Self::OnceCuckoo(filter) => filter.len_estimate(),
            Self::Table(tables) => tables.items() as f64,
        }
    }

    /// The share of the bits that are set, or of the slots that are occupied.
    pub(crate) fn fill(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.fill(),
            Self::Blocked(filter) => filter.fill(),
            Self::Once(filter) => filter.fill(),
            Self::Cuckoo(filter) => filter.load_factor(),
            Self::OnceCuckoo(filter) => filter.load_factor(),
            Self::Table(tables) => tables.load_factor(),
        }
    }

    pub(crate) fn saturation(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.saturation(),
            Self::Blocked(filter) => filter.saturation(),
            Self::Once(filter) => filter.saturation(),
            Self::Cuckoo(filter) => filter.saturation(),
            Self::OnceCuckoo(filter) => filter.saturation(),
            // It grows.
            Self::Table(tables) => tables.items() as f64 / tables.capacity() as f64,
        }
    }

    pub(crate) fn false_positive_rate(&self) -> f64 {
        each!(self, filter => filter.false_positive_rate())
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        each!(self, filter => filter.size_in_bytes())
    }
}
