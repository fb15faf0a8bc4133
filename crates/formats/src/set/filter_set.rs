//! A set of filters that are loaded or mapped on demand, and the queries of all of them.

use core::borrow::Borrow;
use core::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tamis_core::AsItem;
use tamis_hash::{AnyStable, HashItem, StableHasher};
use tamis_sync::MapFile;

use super::cache::Cache;
use super::error::SetError;
use super::filter::SetFilter;
use super::info::SetInfo;
use crate::error::LoadError;
use crate::io::file::File;
use crate::options::Options;

/// The most filters that a set keeps mapped: a quarter of what Linux allows a process by default.
/// Threads and allocations need mappings, too.
const MAX_MAPPINGS: usize = 1 << 14;

/// A set of filters in a file. It loads or maps each filter when a query needs it, and keeps the
/// most recently used ones.
///
/// All threads can query a set by `&self`. No lock is held while a filter is loaded, so two threads
/// that need the same filter at the same time may both load it.
///
/// [`open`](Self::open) loads filters: each is checked, and takes memory of this process.
/// [`map`](Self::map) maps them: a filter is there in constant time, and all processes that map the
/// file share its pages.
///
/// The file stays open. If it is replaced, as [`SetWriter`](crate::SetWriter) does, the set still
/// has the old filters.
pub struct FilterSet<T: ?Sized> {
    info: SetInfo,
    /// The hasher of all filters, or `None` if there is no filter.
    hasher: Option<AnyStable>,
    /// The file, if its filters are mapped.
    mapped: Option<MapFile>,
    cache: Mutex<Cache<SetFilter<T>>>,
}

impl<T: ?Sized> FilterSet<T>
where
    AnyStable: HashItem<T>,
{
    /// Opens a set, and reads and checks its index. Each filter is checked when it is loaded.
    ///
    /// The filters that the set keeps in memory take at most `budget` bytes. In addition, a query
    /// holds the filter that it uses: one in each thread that queries. A filter larger than the
    /// budget is loaded for each query.
    ///
    /// # Errors
    ///
    /// [`SetError`] if the file cannot be read, if the trailer, the index or the first header is
    /// wrong, or if the set has a normalization.
    pub fn open(path: impl AsRef<Path>, budget: u64) -> Result<Self, SetError> {
        Options::new().open_set(path, budget)
    }

    /// Opens a set whose filters are mapped instead of loaded. It reads and checks the index.
    ///
    /// A filter is mapped when a query needs it. This checks its header and its length, and reads
    /// no byte of its body: [`verify`](Self::verify) checks that. The mappings that the set keeps
    /// have at most `budget` bytes. Each filter is a mapping of its own, and the system limits
    /// their number in a process (Linux: 65,530 by default, `vm.max_map_count`). So the set keeps
    /// at most 16,384, the most recently used ones: a query of more filters maps and unmaps some
    /// each time. Where a process has several large sets, raise the limit of the system, or
    /// [`open`](Self::open) them: a process that has used up its mappings can allocate no memory.
    ///
    /// A [`MapFile`] is the promise that nobody makes the file shorter; see [`map`](crate::map()).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and on a big-endian processor.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use std::fs::File;
    ///
    /// use tamis::formats::{FilterSet, MapFile, SetWriter};
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
    /// // SAFETY: `SetWriter` replaces a file, and nothing else writes to this one.
    /// let file = unsafe { MapFile::new(File::open(&path)?) };
    /// let set = FilterSet::<str>::map(file, u64::MAX)?;
    /// (0..set.len()).try_for_each(|filter| set.verify(filter))?;
    /// assert_eq!(set.which("ash")?, [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map(file: MapFile, budget: u64) -> Result<Self, SetError> {
        Options::new().map_set(file, budget)
    }

    /// Returns a filter. If the set does not keep it, it is loaded or mapped.
    ///
    /// # Errors
    ///
    /// [`SetError`] if there is no filter of this number, or if it cannot be loaded. The other
    /// filters can be used.
    pub fn get(&self, filter: usize) -> Result<Arc<SetFilter<T>>, SetError> {
        if let Some(loaded) = self.cache().get(filter) {
            return Ok(loaded);
        }
        let loaded = Arc::new(self.load(filter)?);
        let dropped = self.cache().put(filter, Arc::clone(&loaded), cost(&loaded));
        // The lock is released.
        drop(dropped);
        Ok(loaded)
    }

    /// Returns the numbers of the filters that may contain the item, in ascending order. It hashes
    /// the item once.
    ///
    /// It queries the filters in memory first, then loads the others. So if the budget is a part of
    /// the set, that part of the filters is not loaded again in the next call.
    ///
    /// # Errors
    ///
    /// [`SetError`] if a filter cannot be loaded. [`get`](Self::get) can still query the other
    /// filters.
    pub fn which<Q: ?Sized>(&self, item: &Q) -> Result<Vec<usize>, SetError>
    where
        T: Borrow<Q>,
        AnyStable: HashItem<Q>,
    {
        let Some(hasher) = &self.hasher else { return Ok(Vec::new()) };
        let hash = hasher.hash_item(item);
        let mut found = Vec::new();
        self.for_each(|number, filter| {
            if filter.contains_hash(hash) {
                found.push(number);
            }
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// Returns for each item, owned or borrowed, the numbers of the filters that may contain it, in
    /// ascending order. It uses each filter once, for all items.
    ///
    /// # Errors
    ///
    /// As [`which`](Self::which).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, SetError};
    ///
    /// fn candidates(segments: &FilterSet<str>) -> Result<(), SetError> {
    ///     let keys = ["ash", "oak"];
    ///     for (key, found) in keys.iter().zip(segments.which_many(keys)?) {
    ///         println!("{key} may be in {} segments", found.len());
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn which_many<I>(&self, items: I) -> Result<Vec<Vec<usize>>, SetError>
    where
        I: IntoIterator<Item: AsItem<T>>,
        AnyStable: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        let items = items.into_iter();
        let Some(hasher) = &self.hasher else { return Ok(items.map(|_| Vec::new()).collect()) };
        let hashes: Vec<u64> = items.map(|item| hasher.hash_item(item.as_item())).collect();
        let mut found = vec![Vec::new(); hashes.len()];
        self.for_each(|number, filter| {
            filter.contains_hashes(hashes.iter().copied(), |item, hit| {
                if hit {
                    found[item].push(number);
                }
            });
        })?;
        found.iter_mut().for_each(|filters: &mut Vec<usize>| filters.sort_unstable());
        Ok(found)
    }

    /// Calls `visit` with each filter: first those in memory, then the others, each loaded.
    fn for_each(&self, mut visit: impl FnMut(usize, &SetFilter<T>)) -> Result<(), SetError> {
        // In one order from first to last, each filter would be dropped shortly before it is
        // needed.
        let (held, others): (Vec<usize>, Vec<usize>) = {
            let cache = self.cache();
            (0..self.len()).partition(|number| cache.holds(*number))
        };
        for number in held.into_iter().chain(others) {
            visit(number, &*self.get(number)?);
        }
        Ok(())
    }

    /// Loads a filter from the file, or maps it.
    fn load(&self, filter: usize) -> Result<SetFilter<T>, SetError> {
        let info = self.info.info(filter)?;
        let place = self.info.place(filter)?;
        let loaded = match &self.mapped {
            Some(file) => SetFilter::map(info, file, place.offset),
            None => SetFilter::read(info, &mut self.info.rest(place)),
        };
        let loaded = loaded.map_err(|error| self.info.wrong(filter, error))?;
        if self.mapped.is_none() {
            self.info.check_zeros(filter, place)?;
        }
        Ok(loaded)
    }
}

impl<T: ?Sized> FilterSet<T> {
    /// Returns the number of filters.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, SetWriter};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("segments.set");
    /// SetWriter::<str>::create(&path)?.finish()?;
    /// let set = FilterSet::<str>::open(&path, 0)?;
    /// assert!(set.len() == 0 && set.is_empty() && set.info().is_empty());
    /// assert!(set.which("a")?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.info.len()
    }

    /// Returns whether the set has no filters.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.info.is_empty()
    }

    /// Returns the name of the filter of this number, counted from 0.
    #[must_use]
    pub fn name(&self, filter: usize) -> Option<&[u8]> {
        self.info.name(filter)
    }

    /// Checks all bytes of a filter, as a load does, and keeps nothing: for a set whose filters are
    /// mapped.
    ///
    /// # Errors
    ///
    /// [`SetError`] if there is no filter of this number, if it cannot be read, or if a byte is
    /// wrong.
    pub fn verify(&self, filter: usize) -> Result<(), SetError> {
        self.info.verify(filter).map(drop)
    }

    /// Returns the names, the normalization and the other parts of the index.
    #[must_use]
    pub const fn info(&self) -> &SetInfo {
        &self.info
    }

    /// Returns the hash function of all filters, or `None` if there is no filter. Filters that are
    /// added to the set have the same.
    #[must_use]
    pub const fn hasher(&self) -> Option<&AnyStable> {
        self.hasher.as_ref()
    }

    /// Returns the memory of the filters that the set keeps, in bytes: that of the mappings, if
    /// they are mapped. It is at most the budget.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, SetWriter};
    /// use tamis::{BloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("segments.set");
    /// let mut set = SetWriter::<str>::create(&path)?;
    /// let filter = BloomFilter::builder().capacity(10_000).hasher(Rapid::with_seed(7)).build()?;
    /// set.add("00.sst", &filter)?;
    /// set.finish()?;
    ///
    /// let set = FilterSet::<str>::open(&path, 1 << 20)?;
    /// assert_eq!(set.cached_bytes(), 0);
    /// set.which("ash")?;
    /// assert!(set.cached_bytes() >= set.get(0)?.size_in_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cached_bytes(&self) -> u64 {
        self.cache().bytes()
    }

    /// Locks the cache. Its methods do not panic.
    fn cache(&self) -> MutexGuard<'_, Cache<SetFilter<T>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes that a filter takes in the cache: its array and the rest.
fn cost<T: ?Sized>(filter: &SetFilter<T>) -> u64
where
    AnyStable: HashItem<T>,
{
    filter.size_in_bytes() + size_of::<SetFilter<T>>() as u64
}

impl Options {
    /// Opens a set of filters that has this normalization, as [`FilterSet::open`] does.
    ///
    /// # Errors
    ///
    /// As [`FilterSet::open`].
    pub fn open_set<T: ?Sized>(
        &self,
        path: impl AsRef<Path>,
        budget: u64,
    ) -> Result<FilterSet<T>, SetError>
    where
        AnyStable: HashItem<T>,
    {
        self.set_of(SetInfo::open(path)?, None, budget)
    }

    /// Opens a set of filters that has this normalization, whose filters are mapped, as
    /// [`FilterSet::map`] does.
    ///
    /// # Errors
    ///
    /// As [`FilterSet::map`].
    pub fn map_set<T: ?Sized>(&self, file: MapFile, budget: u64) -> Result<FilterSet<T>, SetError>
    where
        AnyStable: HashItem<T>,
    {
        // The set reads its index through a second handle, which has the same file.
        let info =
            SetInfo::of_file(file.file().try_clone().map_err(LoadError::Io).and_then(File::new))?;
        if cfg!(target_endian = "big") {
            return Err(info.wrong(0, LoadError::BigEndian));
        }
        self.set_of(info, Some(file), budget)
    }

    fn set_of<T: ?Sized>(
        &self,
        info: SetInfo,
        mapped: Option<MapFile>,
        budget: u64,
    ) -> Result<FilterSet<T>, SetError> {
        let most = if mapped.is_some() { MAX_MAPPINGS } else { usize::MAX };
        let cache = Mutex::new(Cache::new(budget, most));
        let Some(first) = info.first() else {
            return Ok(FilterSet { info, hasher: None, mapped, cache });
        };
        self.expect_normalization(first.normalization()).map_err(|error| info.wrong(0, error))?;
        // The header is correct, so its key is one of the algorithm.
        let hasher = AnyStable::from_key(first.0.algorithm, first.0.key);
        let hasher = Some(hasher.ok_or_else(|| info.wrong(0, LoadError::Key))?);
        Ok(FilterSet { info, hasher, mapped, cache })
    }
}

/// Prints the description of the set.
impl<T: ?Sized> fmt::Debug for FilterSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterSet")
            .field("info", &self.info)
            .field("cached_bytes", &self.cached_bytes())
            .finish_non_exhaustive()
    }
}
