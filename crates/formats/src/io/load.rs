//! Loads a filter from a file.

use std::io::Read;
use std::path::Path;

use tamis_core::Frozen;

use crate::error::LoadError;
use crate::filters::saved::{Saved, expect, expect_writable};
use crate::io::file::File;
use crate::io::info::open;
use crate::layout::body::Body;
use crate::layout::header::{HEADER, Header};
use crate::layout::table::Table;
use crate::options::Options;

/// Loads a filter from a file.
///
/// It checks the header and the length of the file before it allocates, and every chunk before it
/// is used. It takes the memory of the filter, 8 bytes per MiB for the checksums, and 1 MiB.
///
/// # Errors
///
/// [`LoadError`] if the file cannot be read, if a byte is wrong, or if the file holds another
/// filter than asked for. On a processor without atomics of 128 bits, a cuckoo filter with buckets
/// of 128 bits is an error; [`Options::load_frozen`] can load it, unless it is one that grows.
///
/// A cuckoo filter that grows reserves address space for all of its growth, and if the system
/// refuses that, the result is [`LoadError::Alloc`].
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{load, save};
/// use tamis::hash::{AnyStable, Rapid};
/// use tamis::BloomFilter;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("seen.tamis");
/// let seen = BloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// seen.insert("a");
/// save(&seen, &path)?;
///
/// let again: BloomFilter<str, Rapid> = load(&path)?;
/// assert!(again.contains("a") && again.insert("b"));
/// // `AnyStable` takes a file with any of the hash algorithms.
/// let any: BloomFilter<str, AnyStable> = load(&path)?;
/// assert!(any.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load<F: Saved>(path: impl AsRef<Path>) -> Result<F, LoadError> {
    Options::new().load(path)
}

impl Options {
    /// Loads a filter with these options, as [`load`](crate::load) does.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load).
    pub fn load<F: Saved>(&self, path: impl AsRef<Path>) -> Result<F, LoadError> {
        let (file, header) = open(path.as_ref())?;
        let hasher = expect::<F>(&header, self)?;
        expect_writable(&header)?;
        F::of_body(&header, hasher, load_body(&file, &header)?)
    }

    /// Loads a filter from a file for queries only: no operation of [`Frozen`] writes.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load), but buckets of 128 bits are loaded on every processor, except
    /// those of a filter that grows.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Options, save};
    /// use tamis::{CuckooFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("seen.tamis");
    /// let seen = CuckooFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
    /// seen.insert("a")?;
    /// save(&seen, &path)?;
    /// let frozen = Options::new().load_frozen::<CuckooFilter<str, Rapid>>(&path)?;
    /// assert!(frozen.contains("a"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_frozen<F: Saved>(&self, path: impl AsRef<Path>) -> Result<Frozen<F>, LoadError> {
        let (file, header) = open(path.as_ref())?;
        let hasher = expect::<F>(&header, self)?;
        F::frozen_of_body(&header, hasher, load_body(&file, &header)?)
    }
}

/// Reads what follows the header of a file, with all checks.
fn load_body<B: Body>(file: &File, header: &Header) -> Result<B, LoadError> {
    // The file has the length of the filter, but a sparse file takes no space for it. So first ask
    // for the memory of the filter: a size that the system refuses is an error before the table is
    // read.
    let body = B::reserve(header)?;
    let from = &mut file.at(HEADER as u64);
    let table = Table::read(from, header)?;
    body.fill(from, header, &table)
}

/// Reads what follows a header in a stream, with all checks.
pub(crate) fn read_body<B: Body>(from: &mut dyn Read, header: &Header) -> Result<B, LoadError> {
    // The header alone proves no length, so first read the table.
    let table = Table::read(from, header)?;
    B::reserve(header)?.fill(from, header, &table)
}
