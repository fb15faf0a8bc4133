//! Reading of files: regular files only, and from any offset.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::error::LoadError;

/// An open regular file, and its length when it was opened.
#[derive(Debug)]
pub(crate) struct File {
    file: fs::File,
    len: u64,
}

impl File {
    /// Opens a regular file. A pipe or a device could block or never end.
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        // Look before the file is opened: to open a pipe or a device may have effects.
        if !fs::metadata(path)?.is_file() {
            return Err(LoadError::NotAFile);
        }
        // Another process may have replaced the file since, so look again, at the open file.
        Self::new(without_waiting(fs::File::options().read(true)).open(path)?)
    }

    /// Takes an open file if it is a regular one.
    pub(crate) fn new(file: fs::File) -> Result<Self, LoadError> {
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

/// Lets an open return at once if the path names a pipe, instead of waiting for a writer. A
/// terminal does not become that of the process. It has no effect on a regular file.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    options
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

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// What happens if a process replaces the file by a pipe or a directory after the first look.
    #[test]
    fn a_pipe_that_replaces_a_file_is_an_error_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&pipe, folder.path(), Path::new("/dev/zero"), Path::new("/dev/tty")] {
            // In a thread: an open that waits must not keep the test from its end.
            let (send, receive) = mpsc::channel();
            let to_open = path.to_owned();
            thread::spawn(move || {
                send.send(without_waiting(fs::File::options().read(true)).open(to_open))
            });
            let opened = receive.recv_timeout(Duration::from_secs(20)).expect("the open waits");
            match opened.map_err(LoadError::Io).and_then(File::new) {
                // A process without a terminal has no /dev/tty.
                Err(LoadError::NotAFile | LoadError::Io(_)) => {}
                other => panic!("{}: {other:?}", path.display()),
            }
        }
    }
}
