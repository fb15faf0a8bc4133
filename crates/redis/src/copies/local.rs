//! A local copy of a filter: a filter of Tamis with the same bits.

use core::borrow::Borrow;
use core::fmt;
use std::path::Path;

use tamis_bloom::{BlockedBloomFilter, Geometry, ScalableBloomFilter, raw};
use tamis_formats::{Normalization, Options, SaveError};
use tamis_hash::{AnyStable, HashItem};

use crate::wire::sizes::LINE_WORDS;

/// A filter in this process with the bits of one in Redis: from
/// [`RedisBloomFilter::pull`](crate::RedisBloomFilter::pull) or
/// [`RedisBloomFilter::local`](crate::RedisBloomFilter::local).
///
/// It gives the same answers, and can be saved in a file that every program with Tamis reads.
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::RedisBloomFilter;
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
/// let copy = seen.pull()?;
/// if !copy.contains("https://example.org/") {
///     // It was surely not in the filter when it was pulled.
/// }
/// copy.save("seen.tamis")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Local<T: ?Sized> {
    filter: LocalKind<T>,
    normalization: Normalization,
}

/// The filter of a [`Local`]: from [`Local::into_filter`], whose page has an example.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of them per copy, and each is megabytes"
)]
pub enum LocalKind<T: ?Sized> {
    /// One slice: of a filter that does not grow, or from
    /// [`RedisBloomFilter::local`](crate::RedisBloomFilter::local).
    Blocked(BlockedBloomFilter<T, AnyStable>),
    /// The slices of a filter that grows.
    Scalable(ScalableBloomFilter<T, AnyStable>),
}

impl<T: ?Sized> Local<T> {
    pub(crate) const fn new(filter: LocalKind<T>, normalization: Normalization) -> Self {
        Self { filter, normalization }
    }

    /// Returns whether the filter may contain an item. `false` is certain for what it contained
    /// when it was pulled.
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        match &self.filter {
            LocalKind::Blocked(filter) => filter.contains(item),
            LocalKind::Scalable(filter) => filter.contains(item),
        }
    }

    /// Inserts an item here, and not in Redis: see
    /// [`RedisBloomFilter::push`](crate::RedisBloomFilter::push). Returns `true` if the item was
    /// certainly new to the copy.
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        match &self.filter {
            LocalKind::Blocked(filter) => filter.insert(item),
            LocalKind::Scalable(filter) => filter.insert(item),
        }
    }

    /// Saves the filter in a file of Tamis, atomically. `tamis_formats::load` and the program
    /// `tamis` read it.
    ///
    /// # Errors
    ///
    /// [`SaveError`]. What was at the path is then still there, with one exception: see
    /// `tamis_formats::save`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError>
    where
        AnyStable: HashItem<T>,
    {
        let options = Options::new().normalization(self.normalization);
        match &self.filter {
            LocalKind::Blocked(filter) => options.save(filter, path),
            LocalKind::Scalable(filter) => options.save(filter, path),
        }
    }

    /// Returns the filter.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_redis::{LocalKind, RedisBloomFilter};
    /// # let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl").open()?;
    /// match seen.pull()?.into_filter() {
    ///     LocalKind::Blocked(filter) => assert!(filter.saturation() < 1.0),
    ///     LocalKind::Scalable(filter) => println!("{} bytes", filter.size_in_bytes()),
    /// }
    /// # Ok::<(), tamis_redis::Error>(())
    /// ```
    #[must_use]
    pub fn into_filter(self) -> LocalKind<T> {
        self.filter
    }

    /// Returns the hasher.
    #[must_use]
    pub fn hasher(&self) -> &AnyStable {
        match &self.filter {
            LocalKind::Blocked(filter) => filter.hasher(),
            LocalKind::Scalable(filter) => filter.hasher(),
        }
    }

    /// Returns the name of the normal form of the items.
    #[must_use]
    pub const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// Returns the geometries of the slices.
    pub(crate) fn geometries(&self) -> Vec<Geometry> {
        match &self.filter {
            LocalKind::Blocked(filter) => vec![filter.geometry()],
            LocalKind::Scalable(filter) => {
                raw::slices(filter).into_iter().map(|slice| slice.geometry).collect()
            }
        }
    }

    /// Reads the words of a line of a slice.
    pub(crate) fn line(&self, slice: usize, line: u64) -> [u64; LINE_WORDS as usize] {
        match &self.filter {
            LocalKind::Blocked(filter) => raw::read_line(filter, line),
            LocalKind::Scalable(filter) => raw::read_slice_line(filter, slice, line),
        }
    }
}

impl<T: ?Sized> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for LocalKind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(filter) => filter.fmt(f),
            Self::Scalable(filter) => filter.fmt(f),
        }
    }
}
