//! What a header says about the filter in its file.

use std::io::Read;
use std::path::Path;

use tamis_hash::Algorithm;

use crate::error::LoadError;
use crate::io::file::File;
use crate::kind::Kind;
use crate::layout::fill::fill;
use crate::layout::header::{HEADER, Header};
use crate::normalization::Normalization;
use crate::sizes::geometry::Geometry;

/// A description of a file, from its header. The body is not read.
///
/// The seed or key is in the file, but not here: neither a method nor `Debug` shows it.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{Info, Kind, save};
/// use tamis::{CuckooFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("sessions.tamis");
/// let filter = CuckooFilter::<str>::builder().capacity(1000).hasher(Rapid::with_seed(7)).build()?;
/// filter.insert("a3f1")?;
/// save(&filter, &path)?;
///
/// let info = Info::open(&path)?;
/// assert_eq!((info.kind(), info.capacity(), info.items()), (Kind::Cuckoo, 1000, Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info(pub(crate) Header);

impl Info {
    /// Reads the header of a file, and compares the length of the file with it.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the file cannot be read, or if its header or its length is wrong.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, LoadError};
    /// assert!(matches!(Info::open("no such file"), Err(LoadError::Io(_))));
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Ok(Self(open(path.as_ref())?.1))
    }

    /// Reads the 256 bytes of a header.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the bytes cannot be read, or if they are not a correct header.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, LoadError};
    /// let error = Info::read(&b""[..]).unwrap_err();
    /// assert_eq!(error.to_string(), "the file is cut off: it has 0 bytes of 256");
    /// ```
    pub fn read(mut from: impl Read) -> Result<Self, LoadError> {
        let mut bytes = [0; HEADER];
        let read = fill(&mut from, &mut bytes)?;
        Header::of_bytes(&bytes[..read]).map(Self)
    }

    /// Returns the type of the filter.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the hash algorithm. A filter of another system has its own: then the result means
    /// nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, write};
    /// use tamis::hash::{Algorithm, Xxh3};
    /// use tamis::BloomFilter;
    ///
    /// let filter = BloomFilter::<str>::builder().capacity(9).hasher(Xxh3::with_seed(1)).build()?;
    /// let mut bytes = Vec::new();
    /// write(&filter, &mut bytes)?;
    /// assert_eq!(Info::read(&bytes[..])?.algorithm(), Algorithm::Xxh3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// Returns the name of the normal form that items had before they were hashed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, Options, Normalization};
    /// use tamis::{BloomFilter, hash::Rapid};
    ///
    /// let filter = BloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(1)).build()?;
    /// let normalization = Normalization::new("url-v1")?;
    /// let mut bytes = Vec::new();
    /// Options::new().normalization(normalization).write(&filter, &mut bytes)?;
    /// assert_eq!(Info::read(&bytes[..])?.normalization(), normalization);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn normalization(&self) -> Normalization {
        self.0.normalization
    }

    /// Returns the sizes of the filter.
    #[must_use]
    pub const fn geometry(&self) -> Geometry {
        self.0.geometry
    }

    /// Returns the number of items that the filter was built for. It is 1 for a filter of another
    /// system, whose file does not have the number.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.0.capacity
    }

    /// Returns the number of fingerprints in a cuckoo filter or a table, or `None` for a Bloom
    /// filter, which does not count them, and for a filter of another system.
    #[must_use]
    pub const fn items(&self) -> Option<u64> {
        match self.0.geometry {
            Geometry::Bloom(_)
            | Geometry::Chain(_)
            | Geometry::Window(_)
            | Geometry::Foreign(_) => None,
            Geometry::Cuckoo(_) | Geometry::GrowingCuckoo(_) | Geometry::Table(_) => {
                Some(self.0.items)
            }
        }
    }

    /// Returns whether the file is a [`Live`](crate::Live) filter, which processes may be changing.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        self.0.is_live
    }

    /// Returns the offset of the body in the file, a multiple of 4096.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, write};
    /// use tamis::{BloomFilter, hash::Rapid};
    ///
    /// let builder = BloomFilter::<str>::builder().bits(999).probes(6).hasher(Rapid::with_seed(1));
    /// let filter = builder.build()?;
    /// let mut bytes = Vec::new();
    /// write(&filter, &mut bytes)?;
    /// let info = Info::read(&bytes[..])?;
    /// assert_eq!((info.body_offset(), info.body_len(), info.file_len()), (4096, 128, 4224));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn body_offset(&self) -> u64 {
        self.0.body_offset()
    }

    /// Returns the length of the body in bytes, a multiple of 64.
    #[must_use]
    pub const fn body_len(&self) -> u64 {
        self.0.body_len()
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.0.file_len()
    }

    /// Returns whether both filters have the same hash algorithm and the same seed or key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, write};
    /// use tamis::{BloomFilter, hash::Rapid};
    ///
    /// let info = |seed| -> Result<Info, Box<dyn std::error::Error>> {
    ///     let filter = BloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(seed)).build()?;
    ///     let mut bytes = Vec::new();
    ///     write(&filter, &mut bytes)?;
    ///     Ok(Info::read(&bytes[..])?)
    /// };
    /// assert!(info(1)?.has_hash_of(&info(1)?));
    /// assert!(!info(1)?.has_hash_of(&info(2)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_hash_of(&self, other: &Self) -> bool {
        (self.0.algorithm, self.0.key) == (other.0.algorithm, other.0.key)
    }
}

/// Opens a file and checks its header and its length.
pub(crate) fn open(path: &Path) -> Result<(File, Header), LoadError> {
    let file = File::open(path)?;
    let Info(header) = Info::read(file.at(0))?;
    header.check_file_len(file.len())?;
    Ok((file, header))
}
