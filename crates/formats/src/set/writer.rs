//! Writes a set of filters to a file, atomically.

use core::fmt;
use std::io::BufWriter;
use std::path::Path;

use tamis_core::Filter;

use super::info::SetInfo;
use super::save_error::SetSaveError;
use super::stream::SetStream;
use crate::filters::saved::Mappable;
use crate::io::replace::{Target, Temporary};
use crate::options::Options;

/// Writes a set of filters to a file, filter by filter, and moves the file to its path at the end.
///
/// [`finish`](Self::finish) is atomic, as [`save`](crate::save) is: until it returns, the path has
/// the old file or none. A writer that is dropped before removes its temporary file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{FilterSet, SetWriter};
/// use tamis::{BlockedBloomFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("segments.set");
/// let mut set = SetWriter::create(&path)?;
/// for (segment, keys) in [("00.sst", ["ash", "elm"]), ("01.sst", ["fir", "oak"])] {
///     let filter = BlockedBloomFilter::<str>::builder()
///         .capacity(keys.len())
///         .false_positive_rate(1e-4)
///         .hasher(Rapid::with_seed(7))
///         .build()?;
///     keys.iter().for_each(|key| _ = filter.insert(*key));
///     set.add(segment, &filter)?;
/// }
/// set.finish()?;
///
/// // At most 64 MiB of filters stay in memory.
/// let set = FilterSet::<str>::open(&path, 64 << 20)?;
/// for segment in set.which("oak")? {
///     println!("oak may be in {}", set.name(segment).unwrap().escape_ascii());
/// }
/// # assert_eq!(set.which("oak")?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetWriter<T: ?Sized> {
    set: SetStream<T, BufWriter<Temporary>>,
    target: Target,
}

impl<T: ?Sized> SetWriter<T> {
    /// Creates the temporary file, in the directory of the path.
    ///
    /// # Errors
    ///
    /// [`SetSaveError`] if the path is not that of a file, or if the temporary file cannot be
    /// created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, SetSaveError> {
        Options::new().create_set(path)
    }

    /// Writes a filter, as [`SetStream::add`] does.
    ///
    /// # Errors
    ///
    /// As [`SetStream::add`].
    pub fn add<F>(&mut self, name: impl AsRef<[u8]>, filter: &F) -> Result<(), SetSaveError>
    where
        F: Mappable + Filter<Item = T>,
    {
        self.set.add(name, filter)
    }

    /// Writes a filter of another set, with its name, byte for byte as it is there: to add filters
    /// to a set, or to leave some out. The filter is not loaded, and no item is needed.
    ///
    /// It reads the filter twice: it checks all bytes, then copies them. The other set may be the
    /// one that [`finish`](Self::finish) replaces.
    ///
    /// # Errors
    ///
    /// As [`SetStream::copy_from`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, Options, SetWriter};
    /// use tamis::{BlockedBloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("segments.set");
    /// let builder = BlockedBloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(7));
    /// let filter = builder.build()?;
    /// filter.insert("ash");
    /// let mut set = SetWriter::create(&path)?;
    /// set.add("00.sst", &filter)?;
    /// set.finish()?;
    ///
    /// // A new segment: its filter has the hash function of the set, and the others are copied.
    /// let old = FilterSet::<str>::open(&path, 0)?;
    /// let hasher = old.hasher().ok_or("the set is empty")?.clone();
    /// let filter = BlockedBloomFilter::<str>::builder().capacity(9).hasher(hasher).build()?;
    /// filter.insert("oak");
    /// let mut set = Options::new().normalization(old.info().normalization()).create_set(&path)?;
    /// for number in 0..old.len() {
    ///     set.copy_from(old.info(), number)?;
    /// }
    /// set.add("01.sst", &filter)?;
    /// set.finish()?;
    ///
    /// let set = FilterSet::<str>::open(&path, 0)?;
    /// assert_eq!((set.which("ash")?, set.which("oak")?), (vec![0], vec![1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copy_from(&mut self, set: &SetInfo, filter: usize) -> Result<(), SetSaveError> {
        self.set.copy_from(set, filter)
    }

    /// Writes the index, syncs the file to the disk, moves it to its path and syncs the directory.
    ///
    /// # Errors
    ///
    /// [`SetSaveError`] if a write or a sync failed. An existing file is then as before, unless
    /// only the sync of the directory failed: then the path has the new file, but a crash may undo
    /// it.
    pub fn finish(self) -> Result<(), SetSaveError> {
        let file = self.set.finish()?.into_inner().map_err(|error| error.into_error())?;
        Ok(self.target.complete(file)?.rename()?)
    }
}

impl Options {
    /// Creates a set of filters with this normalization, as [`SetWriter::create`] does.
    ///
    /// # Errors
    ///
    /// As [`SetWriter::create`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{FilterSet, Options, Normalization, SetInfo, SetWriter};
    /// use tamis::{BlockedBloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("segments.set");
    /// let options = Options::new().normalization(Normalization::new("url-v1")?);
    /// let builder = BlockedBloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(7));
    /// let filter = builder.build()?;
    /// let mut set: SetWriter<str> = options.create_set(&path)?;
    /// set.add("00.sst", &filter)?;
    /// set.finish()?;
    ///
    /// assert_eq!(SetInfo::open(&path)?.normalization().name(), "url-v1");
    /// assert!(FilterSet::<str>::open(&path, 0).is_err());
    /// assert!(options.open_set::<str>(&path, 0)?.which("a")?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_set<T: ?Sized>(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<SetWriter<T>, SetSaveError> {
        let target = Target::new(path.as_ref())?;
        let file = BufWriter::new(target.temporary()?);
        Ok(SetWriter { set: self.set_stream(file), target })
    }
}

/// Prints the number of filters.
impl<T: ?Sized> fmt::Debug for SetWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetWriter").field("target", &self.target).finish_non_exhaustive()
    }
}
