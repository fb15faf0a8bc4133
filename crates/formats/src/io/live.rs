//! A Bloom filter in a file that several processes share for writing.

use core::fmt;
use core::ops::Deref;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use tamis_bloom as bloom;
use tamis_core::BuildError;
use tamis_sync::{Lines, MapFile};

use crate::error::LoadError;
use crate::filters::saved::{SavedBloom, expect, expect_like_parts};
use crate::io::file::{At, len_of, without_waiting};
use crate::io::info::Info;
use crate::io::map::header_of;
use crate::io::replace::Target;
use crate::io::write::algorithm;
use crate::layout::header::{CHUNK, Header};
use crate::options::Options;
use crate::save_error::SaveError;
use crate::sizes::geometry::Geometry;

/// The most attempts to open or create a file that others create and remove.
const MOST_ATTEMPTS: u32 = 64;

/// A Bloom filter in a file or a `memfd` that several processes use and change at the same time. It
/// dereferences to the filter.
///
/// Possible are [`BloomFilter`](tamis_bloom::BloomFilter),
/// [`BlockedBloomFilter`](tamis_bloom::BlockedBloomFilter), and
/// [`OnceBloomFilter`](tamis_bloom::OnceBloomFilter) with one word per item (`.words(1)` in its
/// builder). Their inserts take no lock, so a process that is killed at any moment leaves nothing
/// locked:
///
/// * Every bit that a process set stays set, whether or not it was killed.
/// * In a once filter, exactly one insert of an item returns `true`, in all processes together;
///   none does if the item is a false positive. If a process is killed after its insert set the
///   bits, the item stays claimed, even if the process did no work for it.
/// * The other filters need locks: a once filter with several words per item is an error, and a
///   cuckoo filter does not compile.
///
/// One word per item needs 12 bits per item at a rate of 1 %, 24 at 0.1 %, 58 at 1e-4 and 3907 at
/// 1e-6: use it down to about 1e-4.
///
/// The file is marked live: its header has a checksum, its body has none. [`map`](crate::map)
/// refuses it, and [`load`](crate::load) takes it only with [`Options::live`]. Save the filter, or
/// a snapshot of it, to get an ordinary file: `save(&*live, path)`. Use another path than that of
/// the live file: `save` replaces a file, and the processes that have the old one open would go on
/// without it. To keep the live file itself across a crash of the system, call
/// [`flush`](Self::flush).
///
/// No method gives exclusive access (`&mut`): other processes have access, too. All processes run
/// on one machine: a network file system does not keep the mappings of several machines equal.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{Live, MapFile, Options, Parts, load, save};
/// use tamis::{OnceBloomFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("claimed.tamis");
/// # let saved = directory.path().join("saved.tamis");
/// type Claims = OnceBloomFilter<str, Rapid>;
///
/// let builder = OnceBloomFilter::<str>::builder().capacity(1000).words(1);
/// let parts = Parts { geometry: builder.geometry()?, capacity: 1000, hasher: Rapid::with_seed(7) };
/// // Each process does this:
/// let file = Live::<Claims>::open_or_create_file(&path, &parts, &Options::new())?;
/// // SAFETY: no process makes the file shorter.
/// let claims = Live::<Claims>::open(unsafe { MapFile::new(file) })?;
/// assert!(claims.insert("https://example.org/"));
///
/// save(&*claims, &saved)?;
/// assert!(load::<Claims>(&saved)?.contains("https://example.org/"));
/// // A copy of the live file itself, on demand:
/// assert!(claims.info().is_live() && load::<Claims>(&path).is_err());
/// assert!(Options::new().live(true).load::<Claims>(&path)?.contains("https://example.org/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Live<F> {
    filter: F,
    file: MapFile,
    info: Info,
}

/// The sizes and the hasher of a [`Live`] filter that is to be created.
#[derive(Clone, Debug)]
pub struct Parts<S> {
    /// The sizes, from the builder of the filter.
    pub geometry: bloom::Geometry,
    /// The number of items that the filter is meant for. 0 counts as 1.
    pub capacity: usize,
    /// The hasher. Its seed or key is stored in the file.
    pub hasher: S,
}

impl<F: SavedBloom> Live<F> {
    /// Creates the file of an empty filter, and returns it, open for reading and writing.
    ///
    /// It writes a temporary file in the same directory, then renames it, so no process sees a file
    /// without its header. It allocates the whole file, so a full disk is an error here and does
    /// not kill a process later (SIGBUS). On a file system that copies data on each write, a full
    /// disk may still do that. While another process creates the file, the call waits for up to 10
    /// s: the disk may have room for only one.
    ///
    /// # Errors
    ///
    /// [`SaveError`] if the file exists or cannot be created; [`SaveError::Sizes`] if the sizes
    /// belong to another type of filter; [`SaveError::LiveLocks`] if the filter needs locks;
    /// [`SaveError::BigEndian`] on a big-endian processor.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Live, Options, Parts, SaveError};
    /// use tamis::{OnceBloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("claimed.tamis");
    /// let builder = OnceBloomFilter::<str>::builder().capacity(1000).words(2);
    /// let parts = Parts { geometry: builder.geometry()?, capacity: 1000, hasher: Rapid::with_seed(7) };
    /// let error = Live::<OnceBloomFilter<str, Rapid>>::create_file(&path, &parts, &Options::new());
    /// assert!(matches!(error, Err(SaveError::LiveLocks { words: 2, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_file(
        path: impl AsRef<Path>,
        parts: &Parts<F::Hasher>,
        options: &Options,
    ) -> Result<File, SaveError> {
        let header = live_header::<F>(parts, options)?;
        loop {
            let target = Target::new(path.as_ref())?;
            // Another process may create the file later, which the rename detects.
            if target.exists() {
                return Err(io::Error::from(ErrorKind::AlreadyExists).into());
            }
            if let Some(mut file) = target.temporary_alone()? {
                init(file.as_file_mut(), &header)?;
                return Ok(target.create(file)?);
            }
        }
    }

    /// Opens the file of a filter with these parts, or creates it as
    /// [`create_file`](Self::create_file) does. Any number of processes may do this at the same
    /// time: one creates the file, and the others wait for it and open it. The capacity of an
    /// existing file may differ: it is not compared.
    ///
    /// # Errors
    ///
    /// As [`create_file`](Self::create_file), except that the file may exist. If it does:
    /// [`SaveError::Existing`] unless it is a live filter with these sizes, this hasher and this
    /// normalization. [`ErrorKind::AlreadyExists`] if the path is neither that of a file nor free,
    /// such as `link/` of a link that leads nowhere.
    pub fn open_or_create_file(
        path: impl AsRef<Path>,
        parts: &Parts<F::Hasher>,
        options: &Options,
    ) -> Result<File, SaveError> {
        let path = path.as_ref();
        // A file that another process creates or removes meanwhile is found in the next attempt. A
        // path such as `link/` of a link that leads nowhere is neither there nor free, ever.
        for _ in 0..MOST_ATTEMPTS {
            match open_file(path) {
                Ok(file) => {
                    if let Ok(target) = Target::new(path) {
                        target.remove_left();
                    }
                    return expect_live::<F>(&file, parts, options)
                        .map(|()| file)
                        .map_err(SaveError::Existing);
                }
                Err(SaveError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            match Self::create_file(path, parts, options) {
                // Another process was faster.
                Err(SaveError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {}
                result => return result,
            }
        }
        Err(io::Error::from(ErrorKind::AlreadyExists).into())
    }

    /// Turns an empty file into an empty filter: a `memfd`, for example, which is then sealed and
    /// shared.
    ///
    /// # Errors
    ///
    /// As [`create_file`](Self::create_file). [`ErrorKind::AlreadyExists`] means that the file is
    /// not empty, and [`ErrorKind::InvalidInput`] that it is open for appending. After an error, a
    /// file that was empty is empty again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Info, Live, Options, Parts};
    /// use tamis::{BlockedBloomFilter, hash::Rapid};
    ///
    /// let builder = BlockedBloomFilter::<str>::builder().capacity(1000);
    /// let parts = Parts { geometry: builder.geometry()?, capacity: 1000, hasher: Rapid::with_seed(7) };
    /// let mut file = tempfile::tempfile()?;
    /// Live::<BlockedBloomFilter<str, Rapid>>::init_file(&mut file, &parts, &Options::new())?;
    /// assert!(file.metadata()?.len() > 4096);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn init_file(
        file: &mut File,
        parts: &Parts<F::Hasher>,
        options: &Options,
    ) -> Result<(), SaveError> {
        let header = live_header::<F>(parts, options)?;
        if file.metadata()?.len() != 0 {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "the file is not empty").into());
        }
        let result = init(file, &header).and_then(|()| {
            // In a file that is open for appending, the header is behind the zeros.
            if file.metadata()?.len() == header.file_len() {
                return Ok(());
            }
            let error = "the file is open for appending";
            Err(io::Error::new(ErrorKind::InvalidInput, error).into())
        });
        if result.is_err() {
            // Some file systems keep a part of what they could not allocate.
            let _ = file.set_len(0);
        }
        result
    }

    /// Maps the filter in a live file for reading and writing, in constant time. The file must be
    /// open for both.
    ///
    /// Every process checks the header and the length of the file. The body of a live file has no
    /// checksums.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the file cannot be mapped, if its header or its length is wrong, if it
    /// holds another filter than asked for, if it is not live, if it has a normalization (use
    /// [`Options::open_live`] then), or on a big-endian processor.
    pub fn open(file: MapFile) -> Result<Self, LoadError> {
        Options::new().open_live(file)
    }

    /// Returns the description of the file.
    #[must_use]
    pub const fn info(&self) -> &Info {
        &self.info
    }

    /// Writes all changes to the disk, and waits for that: each insert that returned before the
    /// call, in any process.
    ///
    /// Processes share the filter without it. Only a crash of the system, not of a process, loses
    /// changes that were not flushed. A crash during the call may leave some of the changed pages
    /// on the disk and not others. Bits are only set, so the filter then has some of the newer
    /// items, and all that were flushed before.
    ///
    /// It calls [`File::sync_data`] (`fdatasync`), which on Linux writes the pages that are changed
    /// through a mapping, as `msync` with `MS_SYNC` does, and the caches of the disk. POSIX
    /// promises this of `msync` only: on another Unix, and on Windows, which writes mapped pages at
    /// a time of its own, save the filter instead.
    ///
    /// # Errors
    ///
    /// The error of the system.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Live, SavedBloom};
    ///
    /// fn keep<F: SavedBloom>(live: &Live<F>) -> std::io::Result<()> {
    ///     live.flush()
    /// }
    /// ```
    pub fn flush(&self) -> io::Result<()> {
        self.file.file().sync_data()
    }
}

impl Options {
    /// Maps the filter in a live file with this normalization, as [`Live::open`] does. Live files
    /// are accepted whether or not [`live`](Self::live) is set.
    ///
    /// # Errors
    ///
    /// As [`Live::open`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Live, LoadError, MapFile, Options, Parts, Normalization};
    /// use tamis::{BlockedBloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("urls.tamis");
    /// type Urls = BlockedBloomFilter<str, Rapid>;
    ///
    /// let builder = BlockedBloomFilter::<str>::builder().capacity(1000);
    /// let parts = Parts { geometry: builder.geometry()?, capacity: 1000, hasher: Rapid::with_seed(7) };
    /// let options = Options::new().normalization(Normalization::new("url-v1")?);
    /// let file = Live::<Urls>::create_file(&path, &parts, &options)?;
    /// // SAFETY: no process makes the file shorter.
    /// let open = || unsafe { file.try_clone().map(|file| MapFile::new(file)) };
    /// let urls = options.open_live::<Urls>(open()?)?;
    /// assert_eq!(urls.info().normalization().name(), "url-v1");
    /// // A program that does not normalize URLs must not use this filter.
    /// assert!(matches!(Live::<Urls>::open(open()?), Err(LoadError::OtherNormalization { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_live<F: SavedBloom>(&self, file: MapFile) -> Result<Live<F>, LoadError> {
        let header = header_of(&file)?;
        let hasher = expect::<F>(&header, &self.live(true))?;
        if !header.is_live {
            return Err(LoadError::NotLive);
        }
        let lines = Lines::map_shared(&file, header.body_offset(), header.lines())?;
        let filter = F::of_body(&header, hasher, lines)?;
        Ok(Live { filter, file, info: Info(header) })
    }
}

impl<F> Deref for Live<F> {
    type Target = F;

    #[inline]
    fn deref(&self) -> &F {
        &self.filter
    }
}

impl<F> fmt::Debug for Live<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Returns the header of a live file with these parts.
fn live_header<F: SavedBloom>(
    parts: &Parts<F::Hasher>,
    options: &Options,
) -> Result<Header, SaveError> {
    if cfg!(target_endian = "big") {
        return Err(SaveError::BigEndian);
    }
    let geometry = Geometry::Bloom(parts.geometry);
    // The sizes of another type of filter do not survive the way through the numbers of a header.
    if Geometry::of_numbers(F::KIND, false, geometry.numbers(F::KIND)).ok() != Some(geometry) {
        return Err(SaveError::Sizes(BuildError::Layout));
    }
    if !geometry.is_lock_free(F::KIND) {
        return Err(SaveError::LiveLocks { kind: F::KIND, words: parts.geometry.words() });
    }
    let (hasher, capacity) = (&parts.hasher, parts.capacity.max(1) as u64);
    let header = Header::new(F::KIND, hasher, options.normalization, geometry, capacity);
    Ok(Header { is_live: true, ..header })
}

/// Writes a live file: the header, and zeros on allocated blocks.
fn init(file: &mut File, header: &Header) -> Result<(), SaveError> {
    let bytes = header.to_bytes().map_err(algorithm)?;
    allocate(file, header.file_len())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file.write_all(&bytes)?)
}

/// Makes an empty file `len` zeros long, on allocated blocks.
fn allocate(file: &mut File, len: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    loop {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        match fallocate(&*file, FallocateFlags::empty(), 0, len) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            // The file system does not offer it.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => break,
            Err(error) => return Err(error.into()),
        }
    }
    write_zeros(file, len)
}

fn write_zeros(file: &mut File, len: u64) -> io::Result<()> {
    let zeros = vec![0; len.min(CHUNK as u64) as usize];
    file.seek(SeekFrom::Start(0))?;
    let mut left = len;
    while left > 0 {
        let bytes = left.min(zeros.len() as u64);
        file.write_all(&zeros[..bytes as usize])?;
        left -= bytes;
    }
    Ok(())
}

/// Opens a regular file for reading and writing.
fn open_file(path: &Path) -> Result<File, SaveError> {
    // Look before the file is opened: to open a device may have effects. Another process may
    // replace the file then, so look again.
    if !fs::metadata(path)?.is_file() {
        return Err(SaveError::NotAFile);
    }
    let file = without_waiting(File::options().read(true).write(true)).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(SaveError::NotAFile) }
}

/// Checks that a file is a live filter with these parts and this normalization.
fn expect_live<F: SavedBloom>(
    file: &File,
    parts: &Parts<F::Hasher>,
    options: &Options,
) -> Result<(), LoadError> {
    let Info(header) = Info::read(At::new(file, 0))?;
    header.check_file_len(len_of(file)?)?;
    expect::<F>(&header, &options.live(true))?;
    if !header.is_live {
        return Err(LoadError::NotLive);
    }
    expect_like_parts(&header, Geometry::Bloom(parts.geometry), &parts.hasher)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// What `fallocate` gives where a file system offers it, and what is written elsewhere.
    #[test]
    fn both_ways_to_allocate_give_zeros() {
        for allocate in [allocate, write_zeros] {
            for len in [0, 1, 4096, CHUNK as u64 - 1, 3 * CHUNK as u64 + 64] {
                let mut file = tempfile::tempfile().unwrap();
                if len > 0 {
                    allocate(&mut file, len).unwrap();
                }
                file.seek(SeekFrom::Start(0)).unwrap();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                assert_eq!(bytes.len() as u64, len);
                assert!(bytes.iter().all(|byte| *byte == 0));
                // No page is a hole, which a full disk could not fill later.
                #[cfg(target_os = "linux")]
                {
                    use std::os::unix::fs::MetadataExt;
                    let allocated = 512 * file.metadata().unwrap().blocks();
                    assert!(allocated >= len, "{allocated} bytes of {len}");
                }
            }
        }
    }
}
