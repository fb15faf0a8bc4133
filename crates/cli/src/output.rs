//! The output: standard output, or a file that is replaced at the end of the run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, is_separator};

use tamis::formats::replace::{Complete, Target, Temporary};
use tamis::formats::{Info, SaveError};

use crate::ending;
use crate::error::Error;
use crate::input::{promised, shown, unbuffered_stdout};

mod packed;
mod roles;

pub(crate) use self::packed::Packed;
pub(crate) use self::roles::Roles;

/// An output file that gets its name when it is complete. Until then, and if this is dropped, an
/// existing file of that name is not changed.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The file that is written, in the same directory.
    written: Temporary,
    target: Target,
}

/// Returns whether the output is a named file. The names of standard output do not count: to
/// replace the file behind it would lose the contents that the shell appends to.
pub(crate) fn is_file(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() != "-" && descriptor(path).as_deref() != Some("1"))
}

/// Returns the descriptor that a path leads to: its number, such as 1 for `/dev/stdout`, or the
/// path if it is one of another process.
fn descriptor(path: &Path) -> Option<String> {
    const LINKS: usize = 40;
    let own = fs::canonicalize("/proc/self/fd");
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // `/dev/fd` is a link to a directory in `/proc`, or a directory itself.
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        if own.as_ref().is_ok_and(|own| *own == folder) || folder == Path::new("/dev/fd") {
            return Some(path.file_name()?.to_string_lossy().into_owned());
        }
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            return Some(path.to_string_lossy().into_owned());
        }
        path = folder.join(fs::read_link(&path).ok()?);
    }
    None
}

/// Opens the output: a file, or standard output if there is no path or it is `-`.
pub(crate) fn open(path: Option<&Path>) -> Result<(File, Option<Pending>), Error> {
    let Some(path) = path.filter(|&path| is_file(Some(path))) else {
        return Ok((unbuffered_stdout().map_err(Error::Write)?, None));
    };
    ending::check_memory()?;
    let placed = || match kind(path)? {
        Kind::Stream => Ok((write_only(path)?, None)),
        Kind::File => place(path).map(|(file, pending)| (file, Some(pending))),
    };
    placed().map_err(|found| Error::Output { name: shown(path), found })
}

/// Makes an output of records, which is compressed if its name says so. `path`: the name by which
/// it was opened.
pub(crate) fn packed<W>(output: W, path: Option<&Path>) -> Packed<W> {
    Packed::new(output, path.filter(|&path| is_file(Some(path))))
}

/// Opens the output of records, as [`open`] does. It is compressed if its name says so.
pub(crate) fn open_packed(path: Option<&Path>) -> Result<(Packed<File>, Option<Pending>), Error> {
    let (file, pending) = open(path)?;
    Ok((packed(file, path), pending))
}

/// Checks that a filter can be saved under this name: as a file, not in a device or a pipe, and not
/// compressed.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let refused = |found: String| Error::Input { name: shown(path), found };
    if !is_file(Some(path)) {
        return Err(refused(
            "is standard output; a filter is saved in a file: give its name".into(),
        ));
    }
    if promised(path).is_some() {
        let found =
            "is the name of a compressed file, and a filter is not compressed: give another name";
        return Err(refused(found.into()));
    }
    ending::check_memory()?;
    match kind(path).map_err(refused)? {
        Kind::File => {
            // As a save does it, but without the contents and the name. A directory that can be
            // written and not read, for example, is refused before anything is printed.
            let (_, Pending { written, target }) = place(path).map_err(refused)?;
            let complete = target.complete(written).map(drop);
            complete.map_err(|error| refused(format!("cannot be saved in its directory: {error}")))
        }
        Kind::Stream => {
            Err(refused("is a device or a pipe; a filter is saved in a regular file".into()))
        }
    }
}

/// What the name of an output is that of.
enum Kind {
    /// A file, which is replaced, or none yet.
    File,
    /// A device or a pipe, which is written to.
    Stream,
}

/// Finds out what is there, without opening it: that of a pipe waits for a reader.
fn kind(path: &Path) -> Result<Kind, String> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err("is a directory; expected a file".into()),
        Ok(found) if !found.is_file() => Ok(Kind::Stream),
        Ok(_) if descriptor(path).is_some() => Err(
            "is a file that is open already, which cannot be replaced; give its own name, or use standard output"
                .into(),
        ),
        Ok(_) => Ok(Kind::File),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Report now what would otherwise fail at the end of the run.
            if path.as_os_str().to_string_lossy().ends_with(is_separator) {
                return Err("is the name of a directory; expected a file".into());
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.exists()) {
                return Err(format!("the directory {} does not exist", shown(folder)));
            }
            if path.is_symlink() {
                return Err(
                    "is a link to a file that does not exist; give the file's own name".into()
                );
            }
            Ok(Kind::File)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Opens what exists for writing, and changes nothing.
fn write_only(path: &Path) -> Result<File, String> {
    OpenOptions::new().write(true).open(path).map_err(|error| error.to_string())
}

/// Creates a new file in the directory of `path`.
fn place(path: &Path) -> Result<(File, Pending), String> {
    // A file that may not be written is not replaced either.
    if path.exists() {
        write_only(path)?;
    }
    if Info::open(path).is_ok_and(|info| info.is_live()) {
        return Err(
            "is live: programs that use it would not see a file that replaces it; give another name with -o"
                .into(),
        );
    }
    let target = Target::new(path).map_err(|error| error.to_string())?;
    let failed = |error: io::Error| format!("cannot create a file in its directory: {error}");
    let written = ending::creating(|_| target.temporary()).map_err(failed)?;
    let file = written.as_file().try_clone().map_err(failed)?;
    Ok((file, Pending { written, target }))
}

impl Pending {
    /// Gives the file its name, which is the last change of the run. The contents of an old file
    /// are removed only after the new ones are on the disk.
    pub(crate) fn commit(self) -> Result<(), Error> {
        if self.target.exists() {
            let file = self.complete()?;
            return ending::last(|| file.rename()).map_err(Error::Write);
        }
        ending::last(|| self.target.replace_unsynced(self.written)).map_err(Error::Write)
    }

    /// Brings the contents to the disk, so that the file can get its name together with others.
    pub(crate) fn complete(self) -> Result<Complete, Error> {
        self.target.complete(self.written).map_err(Error::Write)
    }
}

/// The complete file of a filter, which has not got its name yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Unnamed {
    file: Complete,
    /// The name in messages.
    name: String,
}

impl Unnamed {
    /// Takes the file that was prepared for this path.
    pub(crate) fn new(prepared: Result<Complete, SaveError>, path: &Path) -> Result<Self, Error> {
        let name = shown(path);
        match prepared {
            Ok(file) => Ok(Self { file, name }),
            Err(source) => Err(Error::Save { name, source }),
        }
    }

    /// Gives the file its name. A file that exists there is replaced.
    pub(crate) fn rename(self) -> Result<(), Error> {
        let Self { file, name } = self;
        file.rename().map_err(|error| Error::Save { name, source: SaveError::Io(error) })
    }

    /// Gives the file its name, which is the last change of the run.
    pub(crate) fn commit(self) -> Result<(), Error> {
        ending::last(|| self.rename())
    }
}
