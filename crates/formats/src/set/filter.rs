//! One filter of a set, of any kind, loaded or mapped for queries.

use core::borrow::Borrow;
use core::fmt;
use std::io::Read;

use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_core::Frozen;
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::{AnyStable, HashItem};
use tamis_sync::{Lines, MapFile};

use crate::error::LoadError;
use crate::filters::saved::{Mappable, expect};
use crate::io::info::Info;
use crate::io::load::read_body;
use crate::io::merge::check_rest;
use crate::kind::Kind;
use crate::layout::header::Header;
use crate::options::Options;

/// One filter of a [`FilterSet`](crate::FilterSet), of any kind, for queries only.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{FilterSet, Kind, SetWriter};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("segments.set");
/// let filter = BloomFilter::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// filter.insert("ash");
/// let mut set = SetWriter::<str>::create(&path)?;
/// set.add("00.sst", &filter)?;
/// set.finish()?;
///
/// let set = FilterSet::<str>::open(&path, 1 << 20)?;
/// let filter = set.get(0)?;
/// assert_eq!(filter.info().kind(), Kind::Bloom);
/// assert!(filter.contains("ash"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetFilter<T: ?Sized> {
    any: Any<T>,
    info: Info,
}

/// A filter of one of the kinds.
enum Any<T: ?Sized> {
    Bloom(Frozen<BloomFilter<T, AnyStable>>),
    BlockedBloom(Frozen<BlockedBloomFilter<T, AnyStable>>),
    OnceBloom(Frozen<OnceBloomFilter<T, AnyStable>>),
    Cuckoo(Frozen<CuckooFilter<T, AnyStable>>),
    OnceCuckoo(Frozen<OnceCuckooFilter<T, AnyStable>>),
}

/// Runs an expression with the filter of its kind.
macro_rules! with_kind {
    ($any:expr, $filter:ident => $run:expr) => {
        match $any {
            Any::Bloom($filter) => $run,
            Any::BlockedBloom($filter) => $run,
            Any::OnceBloom($filter) => $run,
            Any::Cuckoo($filter) => $run,
            Any::OnceCuckoo($filter) => $run,
        }
    };
}

impl<T: ?Sized> SetFilter<T>
where
    AnyStable: HashItem<T>,
{
    /// Reads what follows a header, with all checks.
    pub(super) fn read(info: Info, from: &mut dyn Read) -> Result<Self, LoadError> {
        Self::with_lines(info, |header| read_body(from, header))
    }

    /// Maps the body of a filter that starts at `offset` in the file. Reads no byte of it.
    pub(super) fn map(info: Info, file: &MapFile, offset: u64) -> Result<Self, LoadError> {
        Self::with_lines(info, |header| {
            let offset = offset + header.body_offset();
            Ok(Lines::map_private(file, offset, header.lines())?)
        })
    }

    fn with_lines(
        info: Info,
        lines: impl FnOnce(&Header) -> Result<Lines, LoadError>,
    ) -> Result<Self, LoadError> {
        if !info.0.is_mappable() {
            return Err(no_filter(&info));
        }
        let any = match info.kind() {
            Kind::Bloom => Any::Bloom(frozen(&info, lines)?),
            Kind::BlockedBloom => Any::BlockedBloom(frozen(&info, lines)?),
            Kind::OnceBloom => Any::OnceBloom(frozen(&info, lines)?),
            Kind::Cuckoo => Any::Cuckoo(frozen(&info, lines)?),
            Kind::OnceCuckoo => Any::OnceCuckoo(frozen(&info, lines)?),
            _ => return Err(no_filter(&info)),
        };
        Ok(Self { any, info })
    }

    /// Returns whether the filter may contain the item.
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        with_kind!(&self.any, filter => filter.contains(item))
    }

    /// Queries an item by its hash.
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        with_kind!(&self.any, filter => filter.contains_hash(hash))
    }

    /// Queries many items by their hashes, as [`Frozen::contains_hashes`] does.
    pub fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        with_kind!(&self.any, filter => filter.contains_hashes(hashes, on_result));
    }

    /// Returns the memory of the filter in bytes: of the pages of the file, if it is mapped.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        with_kind!(&self.any, filter => filter.size_in_bytes())
    }

    /// Returns the false-positive rate of the filter, as [`Frozen::false_positive_rate`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, SetError};
    ///
    /// fn worst_rate(set: &FilterSet<str>) -> Result<f64, SetError> {
    ///     (0..set.len()).try_fold(0.0, |worst, i| Ok(set.get(i)?.false_positive_rate().max(worst)))
    /// }
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        with_kind!(&self.any, filter => filter.false_positive_rate())
    }
}

impl<T: ?Sized> SetFilter<T> {
    /// Returns the description of the filter.
    #[must_use]
    pub const fn info(&self) -> &Info {
        &self.info
    }
}

fn frozen<F: Mappable>(
    info: &Info,
    lines: impl FnOnce(&Header) -> Result<Lines, LoadError>,
) -> Result<Frozen<F>, LoadError> {
    let hasher = expect::<F>(&info.0, &Options::new().normalization(info.normalization()))?;
    F::frozen_of_body(&info.0, hasher, lines(&info.0)?)
}

/// Reads what follows the header of a filter, with all checks, and keeps nothing.
pub(super) fn check(info: &Info, from: &mut dyn Read) -> Result<(), LoadError> {
    if info.0.is_mappable() { check_rest(from, &info.0) } else { Err(no_filter(info)) }
}

/// The error for a filter that cannot be mapped, and for a table: only the program uses tables.
fn no_filter(info: &Info) -> LoadError {
    match info.kind() {
        kind @ Kind::Table => LoadError::Kind { found: kind.code() },
        kind if kind.is_mappable() => LoadError::NotInPlace { kind },
        kind => LoadError::NotInSet { kind },
    }
}

/// Prints the description of the filter.
impl<T: ?Sized> fmt::Debug for SetFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetFilter").field("info", &self.info).finish_non_exhaustive()
    }
}
