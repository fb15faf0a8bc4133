//! Uses the filter in a file in place.

use core::fmt;
use core::ops::Deref;

use tamis_core::Frozen;
use tamis_sync::{Lines, MapFile};

use crate::error::LoadError;
use crate::filters::saved::{Mappable, expect};
use crate::io::file::{At, len_of};
use crate::io::info::Info;
use crate::io::merge::check_rest;
use crate::layout::header::{HEADER, Header};
use crate::options::Options;

/// A filter in a file that is used in place, for queries only. It dereferences to [`Frozen`].
///
/// All processes of a machine that map the file share its pages. The mapping is private: this
/// process cannot change the file.
pub struct Mapped<F> {
    filter: Frozen<F>,
    file: MapFile,
    info: Info,
}

/// Maps the filter in a file, in constant time whatever its size. It checks the header and the
/// length of the file. It does not read the body: [`verify`](Mapped::verify) checks that.
///
/// The pages of a file are small: queries of a mapped filter of 1 GiB take 3 to 13 % longer than
/// those of a loaded one. Where a page is not in memory, the first query of it waits for the disk.
///
/// A [`MapFile`] is the promise that nobody makes the file shorter: an access to a page behind the
/// end of a file kills the process (SIGBUS). For a sealed `memfd` the system keeps this promise, so
/// it needs no unsafe code. If another process changes bytes of the file, the answers of the filter
/// may become wrong, and nothing else happens.
///
/// # Errors
///
/// [`LoadError`] if the file cannot be mapped, if its header or its length is wrong, if it holds
/// another filter than asked for, if that filter grows, if it is live, or on a big-endian
/// processor. Linux with `vm.overcommit_memory=2` counts the whole body as memory of each process
/// that maps it, and may refuse to map it.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use std::fs::File;
///
/// use tamis::formats::{MapFile, map, save};
/// use tamis::{CuckooFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("blocked.tamis");
/// let blocked = CuckooFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// blocked.insert("example.org")?;
/// save(&blocked, &path)?;
///
/// // SAFETY: `save` replaces a file, and nothing else writes to this one.
/// let file = unsafe { MapFile::new(File::open(&path)?) };
/// let mapped = map::<CuckooFilter<str, Rapid>>(file)?;
/// mapped.verify()?;
/// assert!(mapped.contains("example.org"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn map<F: Mappable>(file: MapFile) -> Result<Mapped<F>, LoadError> {
    Options::new().map(file)
}

impl Options {
    /// Maps the filter in a file with this normalization, as [`map`](crate::map) does. A live file
    /// is an error in any case.
    ///
    /// # Errors
    ///
    /// As [`map`](crate::map).
    pub fn map<F: Mappable>(&self, file: MapFile) -> Result<Mapped<F>, LoadError> {
        let header = header_of(&file)?;
        let hasher = expect::<F>(&header, &self.live(false))?;
        if !header.is_mappable() {
            return Err(LoadError::NotInPlace { kind: header.kind });
        }
        let lines = Lines::map_private(&file, header.body_offset(), header.lines())?;
        let filter = F::frozen_of_body(&header, hasher, lines)?;
        Ok(Mapped { filter, file, info: Info(header) })
    }
}

/// Reads and checks the header and the length of a file that is to be mapped.
pub(crate) fn header_of(file: &MapFile) -> Result<Header, LoadError> {
    // The words of the body are little-endian.
    if cfg!(target_endian = "big") {
        return Err(LoadError::BigEndian);
    }
    // The header is read once, into memory of this process, then checked: another process could
    // change it later.
    let len = len_of(file.file())?;
    let Info(header) = Info::read(At::new(file.file(), 0))?;
    header.check_file_len(len)?;
    Ok(header)
}

impl<F: Mappable> Mapped<F> {
    /// Checks the whole file, as [`load`](crate::load) does. It reads the file once.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the file cannot be read, or if a byte is wrong.
    pub fn verify(&self) -> Result<(), LoadError> {
        check_rest(&mut At::new(self.file.file(), HEADER as u64), &self.info.0)
    }

    /// Returns the description of the file.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Mappable, Mapped};
    ///
    /// fn file_len<F: Mappable>(mapped: &Mapped<F>) -> u64 {
    ///     mapped.info().file_len()
    /// }
    /// ```
    #[must_use]
    pub const fn info(&self) -> &Info {
        &self.info
    }
}

impl<F> Deref for Mapped<F> {
    type Target = Frozen<F>;

    #[inline]
    fn deref(&self) -> &Frozen<F> {
        &self.filter
    }
}

impl<F> fmt::Debug for Mapped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("info", &self.info).finish_non_exhaustive()
    }
}
