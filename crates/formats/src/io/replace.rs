//! Replaces a file, atomically: a temporary file in the same directory is written, synced and
//! renamed.
//!
//! | module | its job |
//! |---|---|
//! | `temporary` | the temporary file: its name, its lock, and what killed writers have left |
//! | `access` | who may read and write: as before |
//! | `registry` | the files that this process removes if a signal ends it |
//!
//! For the program `tamis`, which replaces other files in the same way. Other programs use
//! [`save`](crate::save).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::save_error::SaveError;

mod access;
mod registry;
mod temporary;

use self::access::Access;
pub use self::registry::abandon;
pub use self::temporary::Temporary;

/// The most symbolic links that are followed.
const MAX_LINKS: usize = 40;

/// The most looks at a file that others replace.
#[cfg(unix)]
const MAX_LOOKS: usize = 16;

/// The place of a file that is to be created or replaced.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    folder: PathBuf,
    name: OsString,
    /// Who may access the file that exists there.
    access: Option<Access>,
}

impl Target {
    /// Returns the place that a path names, behind symbolic links.
    ///
    /// # Errors
    ///
    /// [`SaveError`] if the path is that of a directory, a pipe, a device or a removed file, or if
    /// the system cannot find out.
    pub fn new(path: &Path) -> Result<Self, SaveError> {
        // An empty path has no absolute form.
        if path.as_os_str().is_empty() {
            return Err(io::Error::from(ErrorKind::NotFound).into());
        }
        // A final `.` names a directory, and an absolute path has none.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/.") {
            return Err(SaveError::NotAFile);
        }
        // The directory of the process may be another one at the end.
        let given = std::path::absolute(path)?;
        let path = behind_links(&given)?;
        if !leads_to(&given, &path) {
            return Err(SaveError::NotAFile);
        }
        // A rename would replace a device such as /dev/null with a file.
        let access = match fs::metadata(&path) {
            Ok(existing) if !existing.is_file() => return Err(SaveError::NotAFile),
            Ok(_) => Access::of(&path)?,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let name = path.file_name().ok_or(ErrorKind::NotFound).map_err(io::Error::from)?.to_owned();
        let folder = folder_of(&path).to_owned();
        Ok(Self { path, folder, name, access })
    }

    /// Returns whether there was a file.
    #[must_use]
    pub const fn exists(&self) -> bool {
        self.access.is_some()
    }

    /// Creates a temporary file in the directory, and removes those that killed writers have left
    /// there for this file.
    ///
    /// # Errors
    ///
    /// That of the system, if the file cannot be created, or if it would refuse to replace the file
    /// that exists: a mount point, or the file of another user in a sticky directory.
    pub fn temporary(&self) -> io::Result<Temporary> {
        if self.exists() {
            access::require_replaceable(&self.path, &self.folder)?;
        }
        Temporary::new(&self.folder, &self.name, self.exists())
    }

    /// Creates a temporary file for a file that does not exist, unless another process has one:
    /// then waits for its end, and returns nothing.
    pub(super) fn temporary_alone(&self) -> io::Result<Option<Temporary>> {
        Temporary::new_alone(&self.folder, &self.name, false)
    }

    /// Removes the temporary files that killed writers have left for this file.
    pub(super) fn remove_left(&self) {
        Temporary::remove_left(&self.folder, &self.name);
    }

    /// Brings the contents of the temporary file to the disk, so that it can get its name.
    ///
    /// # Errors
    ///
    /// That of the system. The path has the old file then.
    pub fn complete(&self, file: Temporary) -> io::Result<Complete> {
        self.keep_access(&file)?;
        file.as_file().sync_all()?;
        // Before the rename: a directory that cannot be read is then an error that changes nothing.
        let folder = cfg!(unix).then(|| File::open(&self.folder)).transpose()?;
        Ok(Complete { file, path: self.path.clone(), folder })
    }

    /// Moves the temporary file to the path, over a file that exists there, without syncs: a crash
    /// of the system may leave an incomplete file.
    ///
    /// # Errors
    ///
    /// That of the system. The path has the old file then.
    pub fn replace_unsynced(&self, file: Temporary) -> io::Result<()> {
        self.keep_access(&file)?;
        file.rename(&self.path).map(drop)
    }

    /// Moves the temporary file to the path, makes that durable, and returns the file, open.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if a file exists there, or the error of the system.
    pub fn create(&self, file: Temporary) -> io::Result<File> {
        let Complete { file, path, folder } = self.complete(file)?;
        let file = file.rename_to_free(&path)?;
        sync_folder(folder)?;
        Ok(file)
    }

    /// Gives the temporary file to those who may access the file that it replaces: as that is now,
    /// or as it was.
    fn keep_access(&self, file: &Temporary) -> io::Result<()> {
        let now = Access::of(&self.path)?;
        now.as_ref().or(self.access.as_ref()).map_or(Ok(()), |access| access.give(file.as_file()))
    }
}

/// A file whose contents are on the disk, and which has not got its name yet. It is removed when
/// this value is dropped.
#[derive(Debug)]
#[must_use]
pub struct Complete {
    file: Temporary,
    path: PathBuf,
    /// The directory, open.
    folder: Option<File>,
}

impl Complete {
    /// Gives the file its name, over a file that exists there, and makes that durable.
    ///
    /// # Errors
    ///
    /// That of the system. The path has the old file then, unless only the last sync of the
    /// directory failed.
    pub fn rename(self) -> io::Result<()> {
        self.file.rename(&self.path)?;
        sync_folder(self.folder)
    }
}

/// Makes a rename in the directory durable, where the system offers that.
fn sync_folder(folder: Option<File>) -> io::Result<()> {
    match folder.map_or(Ok(()), |folder| folder.sync_all()) {
        // The file system does not sync directories.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Returns the one name of a file that exists or that is to be created: behind symbolic links, in
/// the directory's canonical form. A file whose directory cannot be found keeps its name.
#[must_use]
pub fn place(path: &Path) -> PathBuf {
    let path = behind_links(path).unwrap_or_else(|_| path.to_owned());
    let folder = fs::canonicalize(folder_of(&path));
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// The directory of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent.as_os_str() != *OsStr::new("")).unwrap_or(Path::new("."))
}

/// Follows symbolic links, also if the last one points to no file.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(to) = fs::read_link(&path) else { return Ok(path) };
        path.pop();
        path.push(to);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "too many symbolic links"))
}

/// Returns whether the path is that of the file behind the links, or the links lead to no file. A
/// link in `/proc/self/fd` leads to an open file, and gives a name that the file may have no more.
fn leads_to(links: &Path, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let file = |path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        // Another process may replace the file between the two looks.
        links == path
            || (0..MAX_LOOKS).any(|_| file(links).is_none_or(|there| file(path) == Some(there)))
    }
    #[cfg(not(unix))]
    {
        let _ = (links, path);
        true
    }
}
