//! A filter in a file: any kind that the file format has, with the hash algorithm and the key that
//! the file names.

use core::iter;
use std::path::Path;

use tamis::formats::{self, Geometry, Kind as Saved};
use tamis::hash::AnyStable;
use tamis::{
    BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, CuckooFilter, Hashed as _,
    InsertError, OnceBloomFilter, OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter,
    ScalableBloomFilter,
};

use crate::dedup::Tables;
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::geometry::GENERATIONS;
use crate::kind::Kind;
use crate::memory;
use crate::output::Unnamed;
use crate::units::bytes;

mod collect;
mod decide;
mod figures;
mod growing;
mod header;
mod lock;
mod next;
mod reader;
mod room;

pub(crate) use self::collect::{Collect, Hashes};
pub(crate) use self::decide::{discovery, insertion, lookup, removal};
pub(crate) use self::figures::Described;
pub(crate) use self::header::Header;
pub(crate) use self::lock::Lock;
pub(crate) use self::next::{Union, command_without};
pub(crate) use self::reader::Reader;
pub(crate) use self::room::Room;

/// A filter of any kind.
#[allow(clippy::large_enum_variant, reason = "a command has one or two")]
pub(crate) enum AnyFilter {
    Bloom(BloomFilter<[u8], AnyStable>),
    Blocked(BlockedBloomFilter<[u8], AnyStable>),
    Once(OnceBloomFilter<[u8], AnyStable>),
    /// One of a fixed size, or one that grows, as the next.
    Cuckoo(CuckooFilter<[u8], AnyStable>),
    OnceCuckoo(OnceCuckooFilter<[u8], AnyStable>),
    Counting(CountingBloomFilter<[u8], AnyStable>),
    Rotating(RotatingBloomFilter<[u8], AnyStable>),
    /// A growing filter that a program saved: no command builds one.
    ScalableBloom(ScalableBloomFilter<[u8], AnyStable>),
    Scalable(OnceScalableBloomFilter<[u8], AnyStable>),
    Table(Tables),
}

/// Evaluates an expression with the filter, whatever its kind, and another one with a table.
macro_rules! each {
    ($any:expr, $filter:ident => $run:expr, $table:ident => $tabled:expr) => {
        match $any {
            AnyFilter::Bloom($filter) => $run,
            AnyFilter::Blocked($filter) => $run,
            AnyFilter::Once($filter) => $run,
            AnyFilter::Cuckoo($filter) => $run,
            AnyFilter::OnceCuckoo($filter) => $run,
            AnyFilter::Counting($filter) => $run,
            AnyFilter::Rotating($filter) => $run,
            AnyFilter::ScalableBloom($filter) => $run,
            AnyFilter::Scalable($filter) => $run,
            AnyFilter::Table($table) => $tabled,
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
    /// Builds an empty filter, if there is memory for it. The capacity of a window is its length,
    /// and that of a filter that grows is the number of items with which it begins.
    pub(crate) fn build(
        kind: FileKind,
        copies: Copies,
        capacity: u64,
        rate: f64,
        hasher: AnyStable,
    ) -> Result<Self, Error> {
        let refused = |source| Error::Filter { kind, capacity: Some(capacity), rate, source };
        if let Some(sizes) = kind.geometry(capacity, rate).map_err(refused)? {
            memory::check(sizes.size_in_bytes())?;
        }
        let items = usize::try_from(capacity).map_err(|_| refused(BuildError::TooLarge))?;
        macro_rules! built {
            ($filter:ident $(, $option:ident = $value:expr)?) => {
                $filter::<[u8]>::builder()
                    .capacity(items)
                    .false_positive_rate(rate)
                    $(.$option($value))?
                    .hasher(hasher)
                    .build()
                    .map_err(refused)?
            };
        }
        Ok(match (kind, copies) {
            (FileKind::Fixed(Kind::Bloom), _) => Self::Bloom(built!(BloomFilter)),
            (FileKind::Fixed(Kind::Blocked), _) => Self::Blocked(built!(BlockedBloomFilter)),
            (FileKind::Fixed(Kind::Once), _) => Self::Once(built!(OnceBloomFilter)),
            (FileKind::Fixed(Kind::Cuckoo), Copies::Counted) => Self::Cuckoo(built!(CuckooFilter)),
            (FileKind::Fixed(Kind::Cuckoo), Copies::Once) => {
                Self::OnceCuckoo(built!(OnceCuckooFilter))
            }
            (FileKind::Counting, _) => Self::Counting(built!(CountingBloomFilter)),
            (FileKind::Rotating, _) => {
                Self::Rotating(built!(RotatingBloomFilter, generations = GENERATIONS))
            }
            (FileKind::Scalable, _) => Self::Scalable(built!(OnceScalableBloomFilter)),
            (FileKind::GrowingCuckoo, _) => {
                Self::Cuckoo(growing::build(items, rate, hasher, refused)?)
            }
        })
    }

    /// Loads a filter that [`Header::open`] has accepted.
    pub(crate) fn load(header: &Header<'_>) -> Result<Self, Error> {
        header.check_memory()?;
        let options = header.options();
        let loaded = match header.info.kind() {
            Saved::Bloom => options.load(header.path).map(Self::Bloom),
            Saved::BlockedBloom => options.load(header.path).map(Self::Blocked),
            Saved::OnceBloom => options.load(header.path).map(Self::Once),
            Saved::Cuckoo => options.load(header.path).map(Self::Cuckoo),
            Saved::OnceCuckoo => options.load(header.path).map(Self::OnceCuckoo),
            Saved::CountingBloom => options.load(header.path).map(Self::Counting),
            Saved::RotatingBloom => options.load(header.path).map(Self::Rotating),
            Saved::ScalableBloom => options.load(header.path).map(Self::ScalableBloom),
            Saved::OnceScalableBloom => options.load(header.path).map(Self::Scalable),
            Saved::Table => match header.info.geometry() {
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

    /// Writes the file of the filter, which gets this name later.
    pub(crate) fn prepare(
        &self,
        path: &Path,
        policy: formats::Normalization,
    ) -> Result<Unnamed, Error> {
        let options = formats::Options::new().normalization(policy);
        let prepared = each!(
            self,
            filter => options.prepare(filter, path),
            tables => tables.prepare(&options, path)
        );
        Unnamed::new(prepared, path)
    }

    /// Adds the items of the filter in another file, which [`Header::require_like`] has accepted.
    pub(crate) fn merge(&mut self, other: &Header<'_>) -> Result<(), Error> {
        let options = other.options();
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
            // `Header::require_mergeable` has refused these.
            Self::Rotating(_) | Self::ScalableBloom(_) | Self::Scalable(_) => return Ok(()),
            Self::Counting(filter) => {
                if let Self::Counting(more) = Self::load(other)?
                    && filter.union_with(&more).is_err()
                {
                    return Err(other.refused("has other sizes than the filters before it"));
                }
                return Ok(());
            }
            Self::Table(tables) => {
                if let Self::Table(more) = Self::load(other)? {
                    if !tables.is_like(&more) {
                        return Err(other.other_table());
                    }
                    tables.merge(more).map_err(|error| ungrown(other, error))?;
                }
                return Ok(());
            }
        };
        merged.map_err(|error| other.unreadable(error))
    }

    /// The hash function.
    pub(crate) fn hasher(&self) -> &AnyStable {
        each!(self, filter => filter.hasher(), table => table.hasher())
    }

    /// Inserts all items, in order, and reports of each whether it was new. Of a filter that counts
    /// copies, each is. (A table inserts through its shards only.)
    pub(crate) fn insert(
        &self,
        hashes: impl Iterator<Item = u64>,
        mut report: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        let sure = |item, new| report(item, Ok(new));
        match self {
            Self::Bloom(filter) => filter.insert_hashes(hashes, sure),
            Self::Blocked(filter) => filter.insert_hashes(hashes, sure),
            Self::Once(filter) => filter.insert_hashes(hashes, sure),
            Self::Cuckoo(filter) => growing::insert(filter, hashes, report),
            Self::OnceCuckoo(filter) => growing::insert(filter, hashes, report),
            Self::Counting(filter) => filter.insert_hashes(hashes, sure),
            Self::Rotating(filter) => filter.insert_hashes(hashes, sure),
            Self::ScalableBloom(filter) => filter.insert_hashes(hashes, sure),
            Self::Scalable(filter) => filter.insert_hashes(hashes, sure),
            Self::Table(_) => {}
        }
    }

    /// Whether the filter may contain an item. (Of a table, no item is found: its shards look.)
    pub(crate) fn contains(&self, hash: u64) -> bool {
        each!(self, filter => filter.contains_hash(hash), _table => false)
    }

    /// Queries all items, in order. (Of a table, no answer is reported.)
    fn contains_hashes(&self, hashes: impl Iterator<Item = u64>, report: impl FnMut(usize, bool)) {
        each!(self, filter => filter.contains_hashes(hashes, report), _table => {});
    }

    /// Inserts the items that the filter does not contain, in order, and reports which these were.
    pub(crate) fn insert_new(
        &self,
        hashes: impl Iterator<Item = u64>,
        mut report: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        if !self.can_remove() {
            return self.insert(hashes, report);
        }
        // A filter that counts copies would add one. No other thread inserts the same items.
        for (number, hash) in hashes.enumerate() {
            if self.contains(hash) {
                report(number, Ok(false));
            } else {
                self.insert(iter::once(hash), |_, new| report(number, new));
            }
        }
    }

    /// Whether items can be removed.
    pub(crate) const fn can_remove(&self) -> bool {
        matches!(self, Self::Cuckoo(_) | Self::Counting(_))
    }

    /// Returns whether no removal takes the item out: its counters are saturated.
    pub(crate) fn stays(&self, hash: u64) -> bool {
        matches!(self, Self::Counting(filter) if filter.by_hash().count(hash) == SATURATED)
    }

    /// Removes one copy of each item, in order, and reports of each whether there was one. (A
    /// filter that cannot remove items reports nothing.)
    pub(crate) fn remove(
        &self,
        hashes: impl Iterator<Item = u64>,
        report: impl FnMut(usize, bool),
    ) {
        match self {
            Self::Cuckoo(filter) => filter.by_hash().remove_many_with(hashes, report),
            Self::Counting(filter) => filter.by_hash().remove_many_with(hashes, report),
            _ => {}
        }
    }
}

/// The copies of an item at which its counters stay as they are.
const SATURATED: u32 = 15;

/// The error for a table that could not take the items of another.
fn ungrown(other: &Header<'_>, error: Error) -> Error {
    other.refused(match error {
        Error::Memory { needed, available: Some(available) } => format!(
            "cannot be merged: out of memory: the tables need {}, but {} are available",
            bytes(needed),
            bytes(available)
        ),
        Error::Memory { needed, available: None } => {
            format!("cannot be merged: out of memory: the tables need {} more", bytes(needed))
        }
        error => format!("cannot be merged: {error}"),
    })
}
