//! The temporary files that this process removes when it is ended early.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{process, thread};

static FILES: Mutex<Files> =
    Mutex::new(Files { paths: BTreeMap::new(), next: 0, abandoned: false });

/// The names of the files, by numbers: a file that was renamed leaves its name to another one.
pub(super) struct Files {
    paths: BTreeMap<u64, PathBuf>,
    next: u64,
    /// Whether [`abandon`] has removed them.
    abandoned: bool,
}

/// A file that is removed when this value is dropped, or by [`abandon`].
#[derive(Debug)]
pub(super) struct Listed {
    number: u64,
    process: u32,
}

/// Removes all temporary files of this process, for a signal that ends it. The caller ends the
/// process: a thread that creates or renames such a file later waits for that, so none is left
/// behind and no rename half done is reported.
pub fn abandon() {
    let mut files = lock();
    files.abandoned = true;
    for path in core::mem::take(&mut files.paths).into_values() {
        let _ = fs::remove_file(path);
    }
}

/// Returns the list, while no other thread changes it.
fn lock() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the list, for a change. If the process is being ended, does not return.
pub(super) fn enter() -> MutexGuard<'static, Files> {
    let files = lock();
    if !files.abandoned {
        return files;
    }
    drop(files);
    loop {
        thread::park();
    }
}

impl Files {
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.paths.values().any(|ours| ours == path)
    }

    /// Adds a file that this process has just created.
    pub(super) fn add(&mut self, path: PathBuf) -> Listed {
        let number = self.next;
        self.next += 1;
        self.paths.insert(number, path);
        Listed { number, process: process::id() }
    }

    /// Forgets a file that has another name now.
    pub(super) fn forget(&mut self, file: &Listed) {
        self.paths.remove(&file.number);
    }
}

impl Drop for Listed {
    /// Removes the file, once: later another process may have one of that name.
    fn drop(&mut self) {
        // A forked child has a copy of this, and the parent writes the file. Another thread may
        // have held the lock at the fork.
        if self.process != process::id() {
            return;
        }
        let mut files = lock();
        if let Some(path) = files.paths.remove(&self.number) {
            let _ = fs::remove_file(path);
        }
    }
}
