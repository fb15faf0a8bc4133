//! The lock of a saved filter, so that two programs that change it take turns.
//!
//! The filter's own file cannot be locked: each save replaces it. So the lock is on a file
//! `FILTER.lock` next to it, which is removed at the end. A program that waited for a removed file
//! has the lock of nothing, and tries again. The system releases the lock of a process that is
//! killed; the file is then left, and the next program uses it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use same_file::Handle;
use tamis::formats::replace::place;

use crate::ending::{self, List, Listed};
use crate::error::Error;
use crate::input::shown;
use crate::screen;

/// The right to change a saved filter.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Holds the lock of the system.
    #[allow(dead_code, reason = "dropping it releases the lock")]
    file: File,
    /// Removes the file if a signal ends the program.
    #[allow(dead_code, reason = "dropping it takes the file from the list")]
    listed: Listed,
}

impl Lock {
    /// Waits until no other program has the lock of this filter. Says so if it must wait, unless
    /// `quiet`.
    pub(crate) fn take(filter: &Path, quiet: bool) -> Result<Self, Error> {
        ending::check_memory()?;
        let path = Self::name_of(filter);
        let refused = |error: io::Error| Error::Input {
            name: shown(&path),
            found: format!("cannot be locked, so that no other run changes the filter: {error}"),
        };
        let mut is_said = quiet;
        let mut waited = None;
        loop {
            let tried = ending::creating(|list| Attempt::new(&path, waited.take(), list));
            match tried.map_err(refused)? {
                Attempt::Taken(file, listed) => return Ok(Self { path, file, listed }),
                Attempt::Removed => {}
                Attempt::Held(file) => {
                    if !is_said {
                        screen::wait_for(filter, &path);
                        is_said = true;
                    }
                    file.lock().map_err(refused)?;
                    waited = Some(file);
                }
            }
        }
    }

    /// The name of the lock: one for all names of a filter that are links, also before there is a
    /// filter.
    pub(crate) fn name_of(filter: &Path) -> PathBuf {
        let mut name = OsString::from(place(filter));
        name.push(".lock");
        name.into()
    }
}

/// What came of an attempt to take a lock without waiting.
enum Attempt {
    Taken(File, Listed),
    /// Another program has it.
    Held(File),
    /// The run before has removed the file; then another run may lock a new one.
    Removed,
}

impl Attempt {
    /// Locks the file of this name. `waited`: that file, if it has been locked before.
    fn new(path: &Path, waited: Option<File>, list: &mut List) -> io::Result<Self> {
        let file = match waited {
            Some(file) => file,
            None => {
                require_lock(path)?;
                open(path)?
            }
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Self::Held(file)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let ours = Handle::from_file(file.try_clone()?)?;
        match Handle::from_path(path) {
            Ok(current) if current == ours => Ok(Self::Taken(file, list.file(path))),
            // To try again after any other error would never end.
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(Self::Removed),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the lock is released, so that no other run has locked the file. Windows cannot
        // remove an open file at once; there it is left.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns an error for what is no lock: it is removed at the end. A lock is an empty file; to open
/// a pipe could wait for ever, and a link could lead anywhere.
fn require_lock(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(found) if found.len() > 0 => {
            Err(io::Error::other("it is not empty, so it is no lock; give the filter another name"))
        }
        _ => Ok(()),
    }
}

/// Opens or creates the file. One that a killed run of another user has left may be for reading
/// only.
fn open(path: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            File::open(path).map_err(|_| error)
        }
        result => result,
    }
}
