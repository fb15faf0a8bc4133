//! What the index and the headers of a set say. No filter is loaded.

use core::fmt;
use std::io::{Read, Take};
use std::path::Path;

use tamis_hash::Algorithm;

use super::error::SetError;
use super::filter::check;
use super::index::{Index, Place, header_checksum};
use super::trailer::{TRAILER, Trailer};
use crate::error::LoadError;
use crate::io::file::{At, File};
use crate::io::info::Info;
use crate::layout::fill::fill;
use crate::layout::header::{HEADER, Header};
use crate::normalization::Normalization;

/// A description of a set of filters, from its index. No filter is loaded.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{Kind, SetInfo, SetWriter};
/// use tamis::{OnceCuckooFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("segments.set");
/// let mut set = SetWriter::<u64>::create(&path)?;
/// let filter = OnceCuckooFilter::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// set.add("00.sst", &filter)?;
/// set.finish()?;
///
/// let info = SetInfo::open(&path)?;
/// assert!(info.names().eq([b"00.sst"]));
/// assert_eq!(info.position("00.sst"), Some(0));
/// assert_eq!(info.info(0)?.kind(), Kind::OnceCuckoo);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetInfo {
    file: File,
    index: Index,
    /// The description of filter 0, whose hash and normalization all filters have.
    first: Option<Info>,
}

impl SetInfo {
    /// Opens a set, and reads and checks its index and the header of its first filter.
    ///
    /// # Errors
    ///
    /// [`SetError`] if the file cannot be read, or if the trailer, the index or the first header is
    /// wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SetError> {
        Self::of_file(File::open(path.as_ref()))
    }

    /// Reads and checks the index of an open file.
    pub(super) fn of_file(file: Result<File, LoadError>) -> Result<Self, SetError> {
        let file = file.map_err(|error| match error {
            LoadError::Io(error) => SetError::Io(error),
            _ => SetError::NotAFile,
        })?;
        // The trailer says where the index is, and both lengths give that of the file.
        let short = SetError::Length { found: file.len(), expected: TRAILER as u64 };
        let Some(start) = file.len().checked_sub(TRAILER as u64) else { return Err(short) };
        let mut bytes = [0; TRAILER];
        if fill(&mut file.at(start), &mut bytes)? < TRAILER {
            return Err(short);
        }
        let trailer = Trailer::of_bytes(&bytes, file.len())?;
        let index = Index::read(&mut file.at(trailer.index_offset), &trailer)?;
        let mut info = Self { file, index, first: None };
        if !info.is_empty() {
            info.first = Some(info.info(0)?);
        }
        Ok(info)
    }

    /// Returns the number of filters.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns whether the set has no filters.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the filter of this number, counted from 0.
    #[must_use]
    pub fn name(&self, filter: usize) -> Option<&[u8]> {
        self.index.name(filter)
    }

    /// Returns the names of all filters, in the order in which the filters were added.
    #[must_use]
    pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|filter| self.name(filter).unwrap_or_default())
    }

    /// Returns the number of the filter of this name.
    #[must_use]
    pub fn position(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        self.index.position(name.as_ref())
    }

    /// Returns the normalization of all filters, or [`Normalization::NONE`] if there is no filter.
    #[must_use]
    pub fn normalization(&self) -> Normalization {
        self.first.as_ref().map_or(Normalization::NONE, Info::normalization)
    }

    /// Returns the hash algorithm of all filters, or `None` if there is no filter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// # use tamis::formats::{SetInfo, SetWriter};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("segments.set");
    /// SetWriter::<str>::create(&path)?.finish()?;
    /// assert_eq!(SetInfo::open(&path)?.algorithm(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn algorithm(&self) -> Option<Algorithm> {
        self.first.as_ref().map(Info::algorithm)
    }

    /// Reads and checks the header of a filter.
    ///
    /// # Errors
    ///
    /// [`SetError`] if there is no filter of this number, if its header cannot be read, or if the
    /// header is wrong.
    pub fn info(&self, filter: usize) -> Result<Info, SetError> {
        let place = self.place(filter)?;
        let mut bytes = [0; HEADER];
        let read = fill(&mut self.at(place.offset), &mut bytes)?;
        let wrong = |error| self.wrong(filter, error);
        let header = Header::of_bytes(&bytes[..read]).map_err(wrong)?;
        header.check_file_len(place.len).map_err(wrong)?;
        let (found, expected) = (header_checksum(&bytes), place.header_checksum);
        if found != expected {
            return Err(SetError::OtherHeader { filter, found, expected });
        }
        let info = Info(header);
        if let Some(first) = &self.first {
            if !info.has_hash_of(first) {
                return Err(wrong(LoadError::OtherHash));
            }
            let (found, expected) = (info.normalization(), first.normalization());
            if found != expected {
                return Err(wrong(LoadError::OtherNormalization { found, expected }));
            }
        }
        if info.is_live() {
            return Err(wrong(LoadError::Live));
        }
        Ok(info)
    }

    /// Returns the description of filter 0.
    pub(super) const fn first(&self) -> Option<&Info> {
        self.first.as_ref()
    }

    /// Returns where a filter is.
    pub(super) fn place(&self, filter: usize) -> Result<Place, SetError> {
        self.index.place(filter).ok_or(SetError::NoFilter { filter, len: self.len() })
    }

    /// Checks all bytes of a filter, and the zeros after it. Returns its description.
    pub(super) fn verify(&self, filter: usize) -> Result<Info, SetError> {
        let info = self.info(filter)?;
        let place = self.place(filter)?;
        check(&info, &mut self.rest(place)).map_err(|error| self.wrong(filter, error))?;
        self.check_zeros(filter, place)?;
        Ok(info)
    }

    /// Returns a reader of all bytes of a filter.
    pub(super) fn bytes(&self, filter: usize) -> Result<Take<At<'_>>, SetError> {
        let place = self.place(filter)?;
        Ok(self.at(place.offset).take(place.len))
    }

    /// Returns a reader of what follows the header of a filter. The length of the filter is that of
    /// the entry.
    pub(super) fn rest(&self, place: Place) -> impl Read {
        self.at(place.offset + HEADER as u64).take(place.len - HEADER as u64)
    }

    /// Checks the zeros up to the next filter, which belong to this one.
    pub(super) fn check_zeros(&self, filter: usize, place: Place) -> Result<(), SetError> {
        let end = place.offset + place.len;
        let mut zeros = vec![0; (place.padded_end() - end) as usize];
        if fill(&mut self.at(end), &mut zeros)? < zeros.len() {
            let (found, expected) = (place.len, place.padded_end() - place.offset);
            return Err(self.wrong(filter, LoadError::Truncated { found, expected }));
        }
        match zeros.iter().position(|byte| *byte != 0) {
            None => Ok(()),
            Some(byte) => Err(SetError::NotZero { offset: end + byte as u64 }),
        }
    }

    /// Returns a reader of the file from `offset` on.
    const fn at(&self, offset: u64) -> At<'_> {
        self.file.at(offset)
    }

    /// Adds to an error which filter it concerns.
    pub(super) fn wrong(&self, filter: usize, error: LoadError) -> SetError {
        SetError::Filter { filter, name: self.name(filter).unwrap_or_default().to_vec(), error }
    }
}

/// Prints the number of filters and the description of the first.
impl fmt::Debug for SetInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetInfo")
            .field("filters", &self.len())
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}
