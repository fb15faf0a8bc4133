//! Writes a set of filters to a stream, filter by filter.

use core::fmt;
use core::marker::PhantomData;
use std::collections::HashSet;
use std::io::{self, ErrorKind, Read, Write};

use tamis_core::Filter;
use tamis_hash::{Algorithm, StableHasher};

use super::index::{Place, header_checksum};
use super::info::SetInfo;
use super::limits::{ALIGN, MAX_NAME};
use super::save_error::SetSaveError;
use super::trailer::Trailer;
use crate::filters::saved::Mappable;
use crate::io::info::Info;
use crate::layout::checksum::checksum;
use crate::layout::header::HEADER;
use crate::options::Options;
use crate::save_error::SaveError;
use crate::sizes::geometry::Geometry;

/// Writes a set of filters to a stream: a pipe, a socket, an object store.
/// [`SetWriter`](crate::SetWriter) writes a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{FilterSet, SetStream};
/// use tamis::{BlockedBloomFilter, CuckooFilter, hash::Rapid};
///
/// let mut set = SetStream::<str, _>::new(Vec::new());
/// let monday = BlockedBloomFilter::builder().capacity(10).hasher(Rapid::with_seed(1)).build()?;
/// monday.insert("a");
/// set.add("monday", &monday)?;
/// let tuesday = CuckooFilter::builder().capacity(10).hasher(Rapid::with_seed(1)).build()?;
/// tuesday.insert("b")?;
/// set.add("tuesday", &tuesday)?;
/// let bytes = set.finish()?;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("days.set");
/// std::fs::write(&path, bytes)?;
/// assert_eq!(FilterSet::<str>::open(&path, 1 << 20)?.which("b")?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetStream<T: ?Sized, W> {
    to: W,
    options: Options,
    /// The number of bytes written: a multiple of 4096.
    offset: u64,
    filters: u64,
    /// The bytes of the index.
    index: Vec<u8>,
    names: HashSet<Vec<u8>>,
    /// The hash algorithm and the key of the first filter.
    hash: Option<(Algorithm, [u8; 16])>,
    /// Whether an error left a part of a filter.
    is_broken: bool,
    items: PhantomData<fn(&T)>,
}

impl<T: ?Sized, W: Write> SetStream<T, W> {
    /// Starts a set. Nothing is written yet.
    pub fn new(to: W) -> Self {
        Options::new().set_stream(to)
    }

    /// Writes a filter. A name is any bytes, at most 65,535, and no two filters have the same. The
    /// filter is copied first, as [`write()`](crate::write()) does.
    ///
    /// All filters of a set have the same hash algorithm and the same seed or key, so that a query
    /// hashes an item once.
    ///
    /// # Errors
    ///
    /// [`SetSaveError`] if the filter grows, the name or the hash is refused, the copy cannot be
    /// allocated, or the stream returns an error. If nothing was written, the set is as before. If
    /// a part of the filter was written, nothing more can be written to this set.
    pub fn add<F>(&mut self, name: impl AsRef<[u8]>, filter: &F) -> Result<(), SetSaveError>
    where
        F: Mappable + Filter<Item = T>,
    {
        if matches!(filter.sizes(), Geometry::GrowingCuckoo(_)) {
            return Err(SetSaveError::Grows { kind: F::KIND });
        }
        let hash = (filter.hasher().algorithm(), filter.hasher().key());
        let options = self.options;
        self.push(name.as_ref(), hash, |to| options.write(filter, to))
    }

    /// Writes a filter of another set, with its name, byte for byte as it is there: to add filters
    /// to a set, or to leave some out. The filter is not loaded, and no item is needed.
    ///
    /// It reads the filter twice: it checks all bytes, then copies them.
    ///
    /// # Errors
    ///
    /// [`SetSaveError::Copy`] if there is no filter of this number, if a byte of it is wrong, or if
    /// it has another normalization; and as [`add`](Self::add). If nothing was written, the set is
    /// as before.
    pub fn copy_from(&mut self, set: &SetInfo, filter: usize) -> Result<(), SetSaveError> {
        // First all checks, so that a damaged filter changes nothing.
        let info = set.verify(filter)?;
        let same = self.options.expect_normalization(info.normalization());
        same.map_err(|error| set.wrong(filter, error))?;
        let Info(header) = &info;
        let bytes = set.bytes(filter)?;
        let name = set.name(filter).unwrap_or_default();
        self.push(name, (header.algorithm, header.key), |to| copy(bytes, to))
    }

    /// Writes a filter with `write`, then zeros up to the next one, and notes its entry.
    fn push(
        &mut self,
        name: &[u8],
        hash: (Algorithm, [u8; 16]),
        write: impl FnOnce(&mut Observed<&mut W>) -> Result<(), SaveError>,
    ) -> Result<(), SetSaveError> {
        if self.is_broken {
            return Err(SetSaveError::Broken);
        }
        if name.len() > MAX_NAME {
            return Err(SetSaveError::LongName { len: name.len() });
        }
        if self.names.contains(name) {
            return Err(SetSaveError::DuplicateName { name: name.to_vec() });
        }
        if self.hash.is_some_and(|first| first != hash) {
            return Err(SetSaveError::OtherHash);
        }
        // The filter, and zeros up to the next one.
        let mut to = Observed { to: &mut self.to, written: 0, header: [0; HEADER] };
        let mut done = write(&mut to);
        let len = to.written;
        if done.is_ok() {
            let zeros = len.next_multiple_of(ALIGN) - len;
            done = to.write_all(&[0; ALIGN as usize][..zeros as usize]).map_err(Into::into);
        }
        if let Err(error) = done {
            self.is_broken = to.written > 0;
            return Err(error.into());
        }
        // Its entry.
        let header_checksum = header_checksum(&to.header);
        let place = Place { offset: self.offset, len, header_checksum };
        place.push(name, &mut self.index);
        self.offset = place.padded_end();
        self.filters += 1;
        self.names.insert(name.to_vec());
        self.hash = Some(hash);
        Ok(())
    }

    /// Writes the index, flushes, and returns the stream. A set that is dropped before has no
    /// index: a reader refuses it.
    ///
    /// # Errors
    ///
    /// [`SetSaveError`] if the stream returns an error, or if an earlier error left a part of a
    /// filter.
    pub fn finish(mut self) -> Result<W, SetSaveError> {
        if self.is_broken {
            return Err(SetSaveError::Broken);
        }
        let trailer = Trailer {
            filters: self.filters,
            index_offset: self.offset,
            index_len: self.index.len() as u64,
            index_checksum: checksum(&self.index),
        };
        self.to.write_all(&self.index)?;
        self.to.write_all(&trailer.to_bytes())?;
        self.to.flush()?;
        Ok(self.to)
    }
}

impl Options {
    /// Starts a set of filters with this normalization, as [`SetStream::new`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Options, Normalization, SetStream};
    ///
    /// let options = Options::new().normalization(Normalization::new("url-v1")?);
    /// let set: SetStream<str, _> = options.set_stream(std::io::stdout().lock());
    /// # Ok::<(), tamis::formats::NormalizationError>(())
    /// ```
    pub fn set_stream<T: ?Sized, W: Write>(&self, to: W) -> SetStream<T, W> {
        SetStream {
            to,
            options: *self,
            offset: 0,
            filters: 0,
            index: Vec::new(),
            names: HashSet::new(),
            hash: None,
            is_broken: false,
            items: PhantomData,
        }
    }
}

/// Prints the number of filters.
impl<T: ?Sized, W> fmt::Debug for SetStream<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetStream").field("filters", &self.filters).finish_non_exhaustive()
    }
}

/// Copies all bytes of a filter, of which there are `limit`.
fn copy(mut from: io::Take<impl Read>, to: &mut impl Write) -> Result<(), SaveError> {
    io::copy(&mut from, to)?;
    // The file has become shorter since its check.
    if from.limit() > 0 { Err(io::Error::from(ErrorKind::UnexpectedEof).into()) } else { Ok(()) }
}

/// Counts the bytes written, and keeps the first ones: the header of a filter.
struct Observed<W> {
    to: W,
    written: u64,
    header: [u8; HEADER],
}

impl<W: Write> Write for Observed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        if self.written < HEADER as u64 {
            let header = &mut self.header[self.written as usize..];
            let kept = written.min(header.len());
            header[..kept].copy_from_slice(&bytes[..kept]);
        }
        self.written += written as u64;
        Ok(written)
    }

    // The set flushes once, at its end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
