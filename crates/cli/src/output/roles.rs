//! Which files a command reads, and which it writes: an output must not destroy what the command
//! needs.

use std::fs::{self, File};
use std::io::ErrorKind;
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use tamis::formats::replace::place;

use super::is_file;
use crate::error::Error;
use crate::filters::Lock;
use crate::input::{is_stdin, shown, unbuffered_stdin, unbuffered_stdout};

/// What a file is for a command.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Filter,
    /// The lock of a filter.
    Lock,
    Index,
    /// The file of --keys.
    Keys,
    Input,
}

/// The files that a command reads, or that other programs need. None is to be its output.
#[derive(Default)]
pub(crate) struct Roles {
    list: Vec<(Role, String, Identity)>,
    /// Whether an output file may replace an input.
    may_replace: bool,
}

impl Roles {
    /// Those of a command that reads these files, or standard input if there is none.
    pub(crate) fn of(inputs: &[PathBuf]) -> Self {
        let stdin = [PathBuf::from("-")];
        let inputs = if inputs.is_empty() { &stdin } else { inputs };
        inputs.iter().fold(Self::default(), |roles, input| roles.and(Role::Input, input))
    }

    /// Lets an output file replace an input, which happens at the end of the run.
    pub(crate) fn or_replaced(self) -> Self {
        Self { may_replace: true, ..self }
    }

    /// Adds a filter that is read, and its lock.
    pub(crate) fn and_filter(self, path: &Path) -> Self {
        self.and(Role::Filter, path).and(Role::Lock, &Lock::name_of(path))
    }

    /// Adds an index that is read.
    pub(crate) fn and_index(self, path: &Path) -> Self {
        self.and(Role::Index, path)
    }

    /// Adds files that an index names.
    pub(crate) fn and_indexed(self, paths: impl Iterator<Item = PathBuf>) -> Self {
        paths.fold(self, |roles, path| roles.and(Role::Input, &path))
    }

    /// Adds the file of --keys.
    pub(crate) fn and_keys(self, path: &Path) -> Self {
        self.and(Role::Keys, path)
    }

    fn and(mut self, role: Role, path: &Path) -> Self {
        let (name, identity) = if is_stdin(path) {
            ("standard input".into(), unbuffered_stdin().ok().and_then(|file| of_open(&file)))
        } else {
            (shown(path), identity(path))
        };
        // Devices can be both.
        self.list.extend(identity.map(|identity| (role, name, identity)));
        self
    }

    /// Returns an error if the output of records, a file or standard output, is one of these files.
    pub(crate) fn print_to(&self, output: Option<&Path>) -> Result<(), Error> {
        let Some(output) = output.filter(|&path| is_file(Some(path))) else {
            return self.print_to_stdout();
        };
        let Some(identity) = identity(output) else { return Ok(()) };
        let clash = self.list.iter().find(|(role, _, other)| {
            *other == identity && !(self.may_replace && *role == Role::Input && output.is_file())
        });
        clash.map_or(Ok(()), |(role, name, _)| Err(output_is(output, *role, name)))
    }

    /// As [`print_to`](Self::print_to), for standard output. The shell has opened it, so it can be
    /// too late for its contents.
    fn print_to_stdout(&self) -> Result<(), Error> {
        let Some(output) = unbuffered_stdout().ok().and_then(|file| of_open(&file)) else {
            return Ok(());
        };
        let Some((role, name, _)) = self.list.iter().find(|(.., other)| *other == output) else {
            return Ok(());
        };
        let is_empty = || unbuffered_stdout().is_ok_and(|file| len(&file) == 0);
        let found = match role {
            Role::Input | Role::Keys if self.may_replace => {
                "is also the output; -o FILE replaces a file at the end of the run"
            }
            Role::Filter | Role::Index if is_empty() => {
                "is also the output, and is empty: '>' empties a file before the program starts; redirect the output to \
                 another file"
            }
            _ => "is also the output; redirect the output to another file",
        };
        Err(Error::Input { name: name.clone(), found: found.into() })
    }

    /// Returns an error if a filter or an index that is replaced at the end of the run, or its
    /// lock, is one of these files. It may be a filter that is read: that is how filters are
    /// changed. `what`: "filter" or "index".
    pub(crate) fn save_to(&self, output: &Path, what: &str) -> Result<(), Error> {
        let lock = Lock::name_of(output);
        let [output_is_at, lock_is_at] = [output, &lock].map(identity);
        for (role, name, other) in &self.list {
            let found = if output_is_at.as_ref() == Some(other) && *role == Role::Lock {
                return Err(output_is(output, *role, name));
            } else if output_is_at.as_ref() == Some(other) && *role != Role::Filter {
                format!(
                    "is also the {what}, which this command replaces; omit it, or choose another {what}"
                )
            } else if lock_is_at.as_ref() == Some(other) && *role != Role::Lock {
                format!(
                    "is the lock of {}, which this command removes; give it another name",
                    shown(output)
                )
            } else {
                continue;
            };
            return Err(Error::Input { name: name.clone(), found });
        }
        Ok(())
    }
}

/// The error for an output file that has a role already.
fn output_is(output: &Path, role: Role, name: &str) -> Error {
    let role = match role {
        Role::Filter => "the filter",
        Role::Lock => "the lock of the filter",
        Role::Index => "the index",
        Role::Keys => "the file of --keys",
        Role::Input => "an input",
    };
    let output = shown(output);
    let other = if output == name { String::new() } else { format!(" ({name})") };
    let found = format!("is also {role}{other}; give the output another name");
    Error::Output { name: output, found }
}

/// Which file a name stands for.
#[derive(PartialEq)]
enum Identity {
    /// A file that exists, whatever its names. It is not opened for that: it may not be readable.
    #[cfg(unix)]
    File { device: u64, inode: u64 },
    #[cfg(not(unix))]
    File(same_file::Handle),
    /// The name of a file that does not exist yet.
    Name(PathBuf),
}

/// Returns which file or named pipe a name stands for. Returns `None` for a directory and a device.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        // A run that reads what it writes waits for itself.
        #[cfg(unix)]
        Ok(found) if found.file_type().is_fifo() => Some(of_inode(&found)),
        #[cfg(unix)]
        Ok(found) => of_metadata(&found),
        #[cfg(not(unix))]
        Ok(_) => of_open(&File::open(path).ok()?),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(Identity::Name(place(path))),
        Err(_) => None,
    }
}

/// Returns which file an open file is.
fn of_open(file: &File) -> Option<Identity> {
    let found = file.metadata().ok()?;
    #[cfg(unix)]
    {
        of_metadata(&found)
    }
    #[cfg(not(unix))]
    {
        let handle = same_file::Handle::from_file(file.try_clone().ok()?);
        found.is_file().then_some(Identity::File(handle.ok()?))
    }
}

#[cfg(unix)]
fn of_metadata(found: &fs::Metadata) -> Option<Identity> {
    found.is_file().then(|| of_inode(found))
}

#[cfg(unix)]
fn of_inode(found: &fs::Metadata) -> Identity {
    Identity::File { device: found.dev(), inode: found.ino() }
}

fn len(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}
