//! Reading of files: regular files only, and from any offset.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::LoadError;

/// An open regular file, and its length when it was opened.
#[derive(Debug)]
pub(crate) struct File {
    file: fs::File,
    len: u64,
}

impl File {
    /// Opens a regular file. A pipe or a device could block or never end.
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        // Look before the file is opened: to open a pipe waits for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(LoadError::NotAFile);
        }
        let file = fs::File::open(path)?;
        let len = len_of(&file)?;
        Ok(Self { file, len })
    }

    /// Returns the length of the file when it was opened.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns a reader of the bytes from `offset` on.
    pub(crate) const fn at(&self, offset: u64) -> At<'_> {
        At { file: &self.file, offset }
    }
}

/// Returns the length of a regular file.
pub(crate) fn len_of(file: &fs::File) -> Result<u64, LoadError> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile);
    }
    Ok(metadata.len())
}

/// A reader of a file with an offset of its own, so that several can read one file.
#[derive(Debug)]
pub(crate) struct At<'f> {
    file: &'f fs::File,
    offset: u64,
}

impl<'f> At<'f> {
    pub(crate) const fn new(file: &'f fs::File, offset: u64) -> Self {
        Self { file, offset }
    }
}

impl Read for At<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, to, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &fs::File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, offset)
}

#[cfg(windows)]
fn read_at(file: &fs::File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, to, offset)
}

#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &fs::File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(to)
}

/// Reads until the buffer is full or the input ends. Returns the number of bytes read.
pub(crate) fn fill(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < to.len() {
        match from.read(&mut to[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
