//! A temporary directory that is removed however the program ends, but for SIGKILL.

use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::ending::{self, Listed};

/// The directory. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    /// Removes it if a signal ends the program.
    #[allow(dead_code, reason = "dropping it takes the directory from the list")]
    listed: Listed,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        ending::creating(|list| {
            let folder = tempfile::tempdir()?;
            let listed = list.folder(folder.path());
            Ok(Self { folder, listed })
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}
