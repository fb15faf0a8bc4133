//! A folder for temporary files, which is removed at the end, also if a signal ends the program.

use std::io;
use std::path::{Path, PathBuf};

use tamis::formats::replace::Listed;
use tempfile::TempDir;

/// An empty folder of this user.
#[derive(Debug)]
pub(crate) struct TempFolder {
    /// Removes the folder, before `folder` would.
    #[allow(dead_code, reason = "dropping it removes the folder")]
    listed: Listed,
    folder: TempDir,
}

impl TempFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let (folder, listed) = Listed::create(|| {
            let folder = tempfile::tempdir()?;
            let path = folder.path().to_owned();
            Ok::<_, io::Error>((folder, path))
        })?;
        Ok(Self { listed, folder })
    }

    /// The path of a file in the folder.
    pub(crate) fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }
}
