//! The lock of a saved filter, so that two programs that change it take turns.
//!
//! The filter's own file cannot be locked: each save replaces it. So the lock is on a file `FILTER.lock` next to it,
//! which is removed at the end. A program that waited for a removed file has the lock of nothing, and tries again. The
//! system releases the lock of a process that is killed; the file is then left, and the next program uses it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use same_file::Handle;
use tamis::formats::replace::{Listed, place};

use crate::Error;
use crate::input::shown;

/// The right to change a saved filter.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The file, which is removed before the lock is released, so that no other run has locked it. Windows cannot remove
    /// an open file at once; there it is left.
    listed: Option<Listed>,
    /// Holds the lock of the system.
    #[allow(dead_code, reason = "dropping it releases the lock")]
    file: File,
}

impl Lock {
    /// Waits until no other program has the lock of this filter. Calls `on_wait` if it must wait.
    pub(crate) fn take(filter: &Path, on_wait: impl FnOnce()) -> Result<Self, Error> {
        let path = Self::name_of(filter);
        let refused = |error: io::Error| Error::Input {
            name: shown(&path),
            found: format!("cannot be locked, so that no other run changes the filter: {error}"),
        };
        let (mut on_wait, mut waited) = (Some(on_wait), None);
        loop {
            match Listed::create(|| attempt(&path, waited.take())) {
                Ok((file, listed)) if cfg!(unix) => return Ok(Self { listed: Some(listed), file }),
                Ok((file, listed)) => {
                    core::mem::forget(listed);
                    return Ok(Self { listed: None, file });
                }
                Err(Failed::Held(file)) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                    file.lock().map_err(refused)?;
                    waited = Some(file);
                }
                Err(Failed::Removed) => {}
                Err(Failed::Refused(error)) => return Err(refused(error)),
            }
        }
    }

    /// Removes the file. The lock is held until the process ends or this is dropped.
    pub(crate) fn remove_file(&self) {
        if let Some(listed) = &self.listed {
            listed.remove_file();
        }
    }

    /// The name of the lock: one for all names of a filter that are links, also before there is a filter.
    pub(crate) fn name_of(filter: &Path) -> PathBuf {
        let mut name = OsString::from(place(filter));
        name.push(".lock");
        name.into()
    }
}

/// Why there is no lock yet.
enum Failed {
    /// Another run has the lock of this file.
    Held(File),
    /// The run before has removed the file; then another run may lock a new one.
    Removed,
    Refused(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

/// Takes the lock, if that is possible without waiting. `waited`: the file, if its lock is ours already.
fn attempt(path: &Path, waited: Option<File>) -> Result<(File, PathBuf), Failed> {
    let file = match waited {
        Some(file) => file,
        None => {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => file,
                Err(TryLockError::WouldBlock) => return Err(Failed::Held(file)),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    };
    let ours = Handle::from_file(file.try_clone()?)?;
    if Handle::from_path(path).is_ok_and(|current| current == ours) {
        Ok((file, path.to_owned()))
    } else {
        Err(Failed::Removed)
    }
}

/// Opens or creates the file. One that a killed run of another user has left may be for reading only.
fn open(path: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            File::open(path).map_err(|_| error)
        }
        result => result,
    }
}
