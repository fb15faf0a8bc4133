//! The lock of a saved filter, so that two programs that change it take turns.
//!
//! The filter's own file cannot be locked: each save replaces it. So the lock is on a file `FILTER.lock` next to it,
//! which is removed at the end. A program that waited for a removed file has the lock of nothing, and tries again. The
//! system releases the lock of a process that is killed; the file is then left, and the next program uses it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
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
                return Ok(Self { listed: cfg!(unix).then(|| Listed::new(path)), file });
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
