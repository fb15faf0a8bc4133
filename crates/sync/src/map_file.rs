//! Lines in a file: mapped privately, or shared with other processes.

use core::mem;
use core::ptr::NonNull;
use std::fs::File;
use std::io::{self, ErrorKind};

use memmap2::{MmapMut, MmapOptions};

use crate::line::{LINE_BYTES, Line};
use crate::lines::Lines;
use crate::memory::{Memory, Origin};

/// A file that no process makes shorter while it is mapped.
///
/// If a file is made shorter, an access to a mapped page behind its new end kills the process
/// (SIGBUS). No check can exclude that for an ordinary file, so [`new`](Self::new) is unsafe. Linux
/// excludes it for a `memfd` with a seal: [`sealed`](Self::sealed) is safe.
///
/// Other processes may change the bytes of the file at any time. Mapped lines are accessed as
/// atomic words only, so a change makes the answers of a filter wrong and has no other effect.
///
/// # Examples
///
/// ```
/// use std::fs::{self, File};
///
/// use tamis_sync::{Lines, MapFile, Ordering};
///
/// let path = std::env::temp_dir().join(format!("tamis-map-{}", std::process::id()));
/// fs::write(&path, [7; 128])?;
/// // SAFETY: only this program knows the file, and it does not make it shorter.
/// let file = unsafe { MapFile::new(File::open(&path)?) };
/// let lines = Lines::map_private(&file, 64, 1)?;
/// // ORDERING: Relaxed, there is one thread.
/// assert_eq!(lines[0].words[3].load(Ordering::Relaxed), 0x0707_0707_0707_0707);
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MapFile(File);

impl MapFile {
    /// Takes a file of which the caller promises that it keeps its length.
    ///
    /// # Safety
    ///
    /// While a mapping of the file exists, no process makes the file shorter. This includes this
    /// process, which can reach the file by [`file`](Self::file).
    #[must_use]
    pub const unsafe fn new(file: File) -> Self {
        Self(file)
    }

    /// Takes a `memfd` that is sealed against shrinking (`F_SEAL_SHRINK`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`] if the file has no such seal.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::fs::File;
    /// use tamis_sync::MapFile;
    ///
    /// let ordinary = File::open("/dev/null")?;
    /// assert!(MapFile::sealed(ordinary).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(target_os = "linux")]
    pub fn sealed(file: File) -> io::Result<Self> {
        use rustix::fs::{SealFlags, fcntl_get_seals};
        // A file that is not a memfd has no seals: the call fails.
        match fcntl_get_seals(&file) {
            Ok(seals) if seals.contains(SealFlags::SHRINK) => Ok(Self(file)),
            _ => Err(io::Error::new(
                ErrorKind::InvalidInput,
                "the file is not a memfd with the seal F_SEAL_SHRINK",
            )),
        }
    }

    /// Returns the file.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::fs::File;
    /// # use tamis_sync::MapFile;
    /// // SAFETY: the file is never mapped.
    /// let file = unsafe { MapFile::new(File::open("/dev/null")?) };
    /// assert_eq!(file.file().metadata()?.len(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.0
    }

    /// Maps `count` lines from `offset` bytes on.
    fn map(&self, offset: u64, count: u64, is_shared: bool) -> io::Result<Lines> {
        let invalid = |text| io::Error::new(ErrorKind::InvalidInput, text);
        let lines = usize::try_from(count).ok().filter(|&lines| lines > 0);
        let bytes = lines.and_then(|lines| lines.checked_mul(LINE_BYTES));
        let (Some(lines), Some(bytes)) = (lines, bytes) else {
            return Err(invalid("the number of lines is 0 or exceeds the address space"));
        };
        // The system would map pages behind the end of the file, too.
        let end = offset.checked_add(bytes as u64);
        if end.is_none_or(|end| self.0.metadata().is_ok_and(|file| file.len() < end)) {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the lines exceed the file"));
        }
        let mut options = MmapOptions::new();
        options.offset(offset).len(bytes);
        let mut mapping = if is_shared {
            // SAFETY: the file keeps its length (`MapFile::new`), and the bytes are accessed as
            // atomic words only.
            unsafe { options.map_mut(&self.0) }?
        } else {
            // Pages that are written become private copies. Nothing writes them, so no memory is
            // reserved for them.
            // SAFETY: as above.
            unsafe { options.no_reserve_swap().map_copy(&self.0) }?
        };
        let first = mapping.as_mut_ptr().cast::<Line>();
        match NonNull::new(first) {
            Some(first) if first.is_aligned() => {
                // SAFETY: the mapping has the bytes of these lines, and any bytes are valid words.
                Ok(unsafe { Lines::of_file(first, lines, mapping) })
            }
            _ => Err(invalid("the offset is not a multiple of 64")),
        }
    }
}

impl Lines {
    /// Maps `count` lines of a file, from `offset` bytes on, in constant time. All processes that
    /// map the file share its pages. A write to a line makes a private copy of its page; the file
    /// does not change.
    ///
    /// The words of the file are in the byte order of this processor. `&mut` access is not
    /// possible: as a slice, the lines are then empty, since another process may change the file.
    ///
    /// # Errors
    ///
    /// Those of the system; [`ErrorKind::UnexpectedEof`] if the file is too short,
    /// [`ErrorKind::InvalidInput`] if `count` is 0 or `offset` is not a multiple of 64.
    pub fn map_private(file: &MapFile, offset: u64, count: u64) -> io::Result<Self> {
        file.map(offset, count, false)
    }

    /// Maps `count` lines of a file that is open for writing, as [`map_private`](Self::map_private)
    /// does. All processes that map it this way see each other's writes. The system writes them to
    /// the disk at some time, or when [`File::sync_data`] is called.
    ///
    /// # Errors
    ///
    /// As for [`map_private`](Self::map_private).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::fs::{self, OpenOptions};
    ///
    /// use tamis_sync::{Lines, MapFile, Ordering};
    ///
    /// let path = std::env::temp_dir().join(format!("tamis-shared-{}", std::process::id()));
    /// fs::write(&path, [0; 64])?;
    /// // SAFETY: only this program knows the file, and it does not make it shorter.
    /// let file = unsafe { MapFile::new(OpenOptions::new().read(true).write(true).open(&path)?) };
    /// let (one, other) = (Lines::map_shared(&file, 0, 1)?, Lines::map_shared(&file, 0, 1)?);
    /// // ORDERING: Relaxed, there is one thread.
    /// one[0].words[0].fetch_or(1, Ordering::Relaxed);
    /// assert_eq!(other[0].words[0].load(Ordering::Relaxed), 1);
    /// assert_eq!(fs::read(&path)?[0], 1);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn map_shared(file: &MapFile, offset: u64, count: u64) -> io::Result<Self> {
        file.map(offset, count, true)
    }

    /// Takes lines of a mapped file.
    ///
    /// # Safety
    ///
    /// `first` must point to `count` lines of the mapping, at least one.
    unsafe fn of_file(first: NonNull<Line>, count: usize, mapping: MmapMut) -> Self {
        let origin = Origin::File { _mapping: mapping };
        Self::of_memory(Memory { lines: first, count, exclusive: 0, origin })
    }
}

const _: () = assert!(mem::align_of::<Line>() == LINE_BYTES);

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    use super::*;
    use core::sync::atomic::Ordering;

    /// Returns a file in memory whose byte `n` is `n / 64`.
    fn file(lines: u8, seals: SealFlags) -> File {
        let file = memfd_create("tamis", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        let mut file = File::from(file);
        (0..lines).for_each(|line| file.write_all(&[line; LINE_BYTES]).unwrap());
        fcntl_add_seals(&file, seals).unwrap();
        file
    }

    fn word(lines: &Lines, number: usize) -> u64 {
        // ORDERING: Relaxed, there is one thread.
        lines.word(number).load(Ordering::Relaxed)
    }

    #[test]
    fn only_a_seal_against_shrinking_is_accepted() {
        assert!(MapFile::sealed(file(1, SealFlags::GROW | SealFlags::WRITE)).is_err());
        assert!(MapFile::sealed(file(1, SealFlags::SHRINK)).is_ok());
        assert!(MapFile::sealed(File::open("/proc/self/exe").unwrap()).is_err());
    }

    /// The system maps whole pages, so only the check keeps lines behind the end out.
    #[test]
    fn lines_outside_the_file_are_errors() {
        let file = MapFile::sealed(file(3, SealFlags::SHRINK)).unwrap();
        for is_shared in [false, true] {
            let map =
                |offset, count| file.map(offset, count, is_shared).map_err(|error| error.kind());
            assert_eq!(word(&map(64, 2).unwrap(), 8), 0x0202_0202_0202_0202);
            assert_eq!(map(0, 0).unwrap_err(), ErrorKind::InvalidInput);
            assert_eq!(map(8, 2).unwrap_err(), ErrorKind::InvalidInput);
            assert_eq!(map(0, 4).unwrap_err(), ErrorKind::UnexpectedEof);
            assert_eq!(map(192, 1).unwrap_err(), ErrorKind::UnexpectedEof);
            assert_eq!(map(u64::MAX - 63, 1).unwrap_err(), ErrorKind::UnexpectedEof);
            assert_eq!(map(0, 1 << 58).unwrap_err(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_private_write_does_not_reach_the_file() {
        let file = MapFile::sealed(file(1, SealFlags::SHRINK)).unwrap();
        let private = Lines::map_private(&file, 0, 1).unwrap();
        let shared = Lines::map_shared(&file, 0, 1).unwrap();
        // ORDERING: Relaxed, there is one thread.
        shared.word(0).fetch_or(1, Ordering::Relaxed);
        assert_eq!(word(&private, 0), 1);
        // ORDERING: Relaxed, likewise.
        private.word(0).fetch_or(2, Ordering::Relaxed);
        assert_eq!((word(&private, 0), word(&shared, 0)), (3, 1));
    }

    /// Another process may change mapped lines, so `&mut` gives access to none of them.
    #[test]
    fn mapped_lines_have_no_exclusive_access() {
        let file = MapFile::sealed(file(2, SealFlags::SHRINK)).unwrap();
        for is_shared in [false, true] {
            let mut lines = file.map(0, 2, is_shared).unwrap();
            assert_eq!((lines.len(), lines.iter_mut().count()), (2, 0));
        }
    }

    /// The private mapping of a file that is larger than the memory takes no memory: neither its
    /// pages nor a promise of the system to have some for copies (`MAP_NORESERVE`).
    #[test]
    fn a_private_mapping_of_a_file_larger_than_the_memory_takes_none() {
        const LINES: u64 = (1 << 40) / LINE_BYTES as u64;
        // With this setting the system counts every private mapping as memory.
        let setting = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
        if setting.is_ok_and(|setting| setting.trim() == "2") {
            return;
        }
        let sparse = file(1, SealFlags::empty());
        sparse.set_len(1 << 40).unwrap();
        fcntl_add_seals(&sparse, SealFlags::SHRINK).unwrap();
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() << 12
        };
        let before = resident();
        let lines = Lines::map_private(&MapFile::sealed(sparse).unwrap(), 0, LINES).unwrap();
        assert_eq!((lines.len() as u64, word(&lines, 8 * LINES as usize - 1)), (LINES, 0));
        // Other tests of this process run meanwhile.
        let after = resident();
        assert!(after < before + (1 << 30), "{before} {after}");
    }
}
