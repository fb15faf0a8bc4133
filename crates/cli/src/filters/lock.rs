//! The lock of a saved filter, so that two programs that change it take turns.
//!
//! The filter's own file cannot be locked: each save replaces it. So the lock is on a file `FILTER.lock` next to it,
//! which is removed at the end. A program that waited for a removed file has the lock of nothing, and tries again. The
//! system releases the lock of a process that is killed; the file is then left, and the next program uses it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::Error;
use crate::input::shown;

/// The right to change a saved filter.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Holds the lock of the system.
    #[allow(dead_code, reason = "dropping it releases the lock")]
    file: File,
}

impl Lock {
    /// Waits until no other program has the lock of this filter. Calls `on_wait` if it must wait.
    pub(crate) fn take(filter: &Path, on_wait: impl FnOnce()) -> Result<Self, Error> {
        let path = lock_of(filter);
        let refused = |error: io::Error| Error::Input {
            name: shown(&path),
            found: format!("cannot be locked, so that no other run changes the filter: {error}"),
        };
        let mut on_wait = Some(on_wait);
        loop {
            let options = OpenOptions::new().write(true).create(true).truncate(false).clone();
            let file = options.open(&path).map_err(refused)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                    file.lock().map_err(refused)?;
                }
                Err(TryLockError::Error(error)) => return Err(refused(error)),
            }
            // The run before may have removed the file; then another run may lock a new one.
            let ours = Handle::from_file(file.try_clone().map_err(refused)?).map_err(refused)?;
            if Handle::from_path(&path).is_ok_and(|current| current == ours) {
                return Ok(Self { path, file });
            }
        }
    }

    /// Removes the file. The lock is held until the process ends or this is dropped.
    pub(crate) fn remove_file(&self) {
        // Windows cannot remove an open file at once; there it is left.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the lock is released, so that no other run has locked the file.
        self.remove_file();
    }
}

/// The name of the lock: one for all names of a filter that are links.
fn lock_of(filter: &Path) -> PathBuf {
    let mut name = OsString::from(fs::canonicalize(filter).unwrap_or_else(|_| filter.to_owned()));
    name.push(".lock");
    name.into()
}
