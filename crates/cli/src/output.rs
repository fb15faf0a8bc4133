//! The output: standard output, or a file that is replaced at the end of the run.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, is_separator};

use tempfile::{Builder, TempPath};

use crate::Error;
use crate::input::{shown, unbuffered_stdout};
use crate::remote::Address;

/// An output file that gets its name when it is complete. Until then, and if this is dropped, an existing file of that
/// name is not changed.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The file that is written, in the same folder.
    written: TempPath,
    target: PathBuf,
    /// Whether there was a file of that name.
    replaces: bool,
}

/// Returns whether the output is a named file. The names of standard output do not count: to replace the file behind it
/// would lose the contents that the shell appends to.
pub(crate) fn is_file(path: Option<&Path>) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    path.is_some_and(|path| names.iter().all(|name| path.as_os_str() != *name))
}

/// Opens the output: a file, or standard output if there is no path or it is `-`.
pub(crate) fn open(path: Option<&Path>) -> Result<(File, Option<Pending>), Error> {
    match path.filter(|&path| is_file(Some(path))) {
        None => Ok((unbuffered_stdout().map_err(Error::Write)?, None)),
        Some(path) => place(path).map_err(|found| Error::Output { name: shown(path), found }),
    }
}

/// Checks that a filter can be saved under this name: as a file, not in a device or a pipe.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let refused = |found: String| Error::Input { name: shown(path), found };
    if Address::is_one(path) {
        return Err(Address::unexpected(path));
    }
    if !is_file(Some(path)) {
        return Err(refused(
            "is standard output; a filter is saved in a file: give its name".into(),
        ));
    }
    // Look before it is opened: to open a pipe waits for its reader.
    let found = fs::metadata(path);
    if found.is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(refused("is a device or a pipe; a filter is saved in a regular file".into()));
    }
    match place(path) {
        Ok((_, Some(_))) => Ok(()),
        Ok((_, None)) => {
            Err(refused("is a device or a pipe; a filter is saved in a regular file".into()))
        }
        Err(found) => Err(refused(found)),
    }
}

/// Creates a new file in the folder of `path`; or opens `path` itself, if it is a device or a pipe.
fn place(path: &Path) -> Result<(File, Option<Pending>), String> {
    let text = |error: io::Error| error.to_string();
    // Find the file to replace, and its permissions.
    let (target, permissions) = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err("is a directory; expected a file".into()),
        Ok(found) => {
            // Check that it may be written; this does not truncate it.
            let file = OpenOptions::new().write(true).open(path).map_err(text)?;
            if !found.is_file() {
                return Ok((file, None));
            }
            // Follow links, so that the file is replaced and not the link to it.
            (fs::canonicalize(path).map_err(text)?, Some(found.permissions()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Report now what would otherwise fail at the end of the run.
            if path.as_os_str().to_string_lossy().ends_with(is_separator) {
                return Err("is the name of a directory; expected a file".into());
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
    // Create the new file in the same folder, so that it can be renamed.
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".tamis-");
    if let Some(permissions) = default_permissions() {
        builder.permissions(permissions);
    }
    let failed = |error: io::Error| format!("cannot create a file in its folder: {error}");
    let (file, written) = builder.tempfile_in(folder).map_err(failed)?.into_parts();
    // A replaced file keeps its permissions.
    let replaces = permissions.is_some();
    if let Some(permissions) = permissions {
        file.set_permissions(permissions).map_err(failed)?;
    }
    Ok((file, Some(Pending { written, target, replaces })))
}

/// The permissions that programs usually create files with; the system removes those in the user's mask.
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
    /// Gives the file its name. `file` is its open handle.
    pub(crate) fn commit(self, file: &File) -> Result<(), Error> {
        // The old contents are removed only after the new ones are on the disk.
        if self.replaces {
            file.sync_all().map_err(Error::Write)?;
        }
        self.written.persist(&self.target).map_err(|error| Error::Write(error.error))
    }
}
