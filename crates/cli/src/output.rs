//! The output: standard output, or a file that is replaced when all is done.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, is_separator};

use tempfile::{Builder, TempPath};

use crate::Error;
use crate::input::{shown, unbuffered_stdout};

/// A file that takes its name when it is complete. Until then, and if it is dropped, what has that name now stays.
#[derive(Debug)]
pub(crate) struct Pending {
    written: TempPath,
    target: PathBuf,
    /// Whether there was a file of that name.
    replaces: bool,
}

/// Whether the output is a file of this name, and not standard output, by whichever of its names: replacing the file
/// behind it would lose what the shell has it appended to.
pub(crate) fn is_file(path: Option<&Path>) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    path.is_some_and(|path| names.iter().all(|name| path.as_os_str() != *name))
}

/// Opens the output: a file, or standard output for none and `-`.
pub(crate) fn open(path: Option<&Path>) -> Result<(File, Option<Pending>), Error> {
    match path.filter(|&path| is_file(Some(path))) {
        None => Ok((unbuffered_stdout().map_err(Error::Write)?, None)),
        Some(path) => place(path).map_err(|found| Error::Output { name: shown(path), found }),
    }
}

/// A new file beside the one at `path`; or that itself, if it is a device or a pipe.
fn place(path: &Path) -> Result<(File, Option<Pending>), String> {
    let text = |error: io::Error| error.to_string();
    let (target, permissions) = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err("is a directory; expected a file".into()),
        Ok(found) => {
            // Nothing is cut off: this sees only whether it may be written.
            let file = OpenOptions::new().write(true).open(path).map_err(text)?;
            if !found.is_file() {
                return Ok((file, None));
            }
            // Through links, so that the file is replaced and not the link to it.
            (fs::canonicalize(path).map_err(text)?, Some(found.permissions()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Seen now, and not when all has been read.
            if path.as_os_str().to_string_lossy().ends_with(is_separator) {
                return Err("is a name for a directory; expected a file".into());
            }
            if path.is_symlink() {
                return Err(
                    "is a link to a file that does not exist; give the file's own name".into()
                );
            }
            (path.to_owned(), None)
        }
        Err(error) => return Err(text(error)),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".tamis-");
    if let Some(permissions) = default_permissions() {
        builder.permissions(permissions);
    }
    let beside = |error: io::Error| format!("cannot make a file in its folder: {error}");
    let (file, written) = builder.tempfile_in(folder).map_err(beside)?.into_parts();
    let replaces = permissions.is_some();
    if let Some(permissions) = permissions {
        file.set_permissions(permissions).map_err(beside)?;
    }
    Ok((file, Some(Pending { written, target, replaces })))
}

/// What a file is given that any program makes; the system takes away what the user's mask says.
fn default_permissions() -> Option<Permissions> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Some(Permissions::from_mode(0o666))
    }
    #[cfg(windows)]
    {
        None
    }
}

impl Pending {
    /// Gives `file`, which this is of, its name.
    pub(crate) fn commit(self, file: &File) -> Result<(), Error> {
        if self.replaces {
            // The old contents go only when the new ones are on the disk.
            file.sync_all().map_err(Error::Write)?;
        }
        self.written.persist(&self.target).map_err(|error| Error::Write(error.error))
    }
}
