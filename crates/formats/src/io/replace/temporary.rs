//! A temporary file: its name follows from that of the file which it is to replace, so that the
//! next writer finds those that killed writers have left.
//!
//! A writer holds the lock of its temporary file (that of the system, which a kill releases). A
//! file whose lock is free has no writer any more. Where the file system has no locks, nothing is
//! removed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::{Builder, NamedTempFile};

use super::registry::{self, Listed};
use crate::layout::checksum::checksum;

/// The number of names for the temporary files of one file. If all are in use, by as many writers
/// at the same time, the name is random, and nobody removes that file after a kill.
///
/// MEASURED: to look for all of these names takes 0.03 ms, in a directory of any size, compared
/// with 8 ms to list a directory of 10,000 files (ext4, Zen 4, two cores that others use).
const NAMES: usize = 8;

/// The longest name, in bytes, that is a part of that of the temporary file. Of a longer one the
/// checksum is.
const LONGEST: usize = 100;

/// How long a process waits for another one that creates the same file. No longer: the other one
/// may be stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks at its lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A file that is removed when it is dropped, unless it is renamed before.
#[derive(Debug)]
pub struct Temporary {
    file: NamedTempFile,
    listed: Listed,
}

impl Temporary {
    /// Creates the file for a file of this name, and removes those that killed writers have left
    /// for it. `folder` is an absolute path. `private`: for this user only. Otherwise the umask
    /// decides, as for every new file.
    pub(super) fn new(folder: &Path, name: &OsStr, private: bool) -> io::Result<Self> {
        Self::remove_left(folder, name);
        let mut files = registry::enter();
        for number in 0..NAMES {
            let name = temporary_name(name, number);
            let mut builder = Builder::new();
            if let Some(file) = create(folder, builder.prefix(&name).rand_bytes(0), private)? {
                return Ok(Self { listed: files.add(file.path().to_owned()), file });
            }
        }
        let mut prefix = prefix(name);
        prefix.push("-");
        let file = create(folder, Builder::new().prefix(&prefix).suffix(".tmp"), private)?;
        let file = file.ok_or(ErrorKind::AlreadyExists)?;
        Ok(Self { listed: files.add(file.path().to_owned()), file })
    }

    /// As [`new`](Self::new), but for one process at a time. If another one has a temporary file
    /// for this name, this waits for its end, and returns nothing: look again.
    pub(super) fn new_alone(
        folder: &Path,
        name: &OsStr,
        private: bool,
    ) -> io::Result<Option<Self>> {
        let file = Self::new(folder, name, private)?;
        let first = folder.join(temporary_name(name, 0));
        // This process does not wait for itself.
        if file.file.path() == first || registry::enter().contains(&first) {
            return Ok(Some(file));
        }
        drop(file);
        match wait_for(&first) {
            Ok(true) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // A writer that was killed or is stopped, no writer, or a file system without locks.
            Ok(false) | Err(_) => Self::new(folder, name, private).map(Some),
        }
    }

    /// Removes what killed writers have left for a file of this name.
    pub(super) fn remove_left(folder: &Path, name: &OsStr) {
        let files = registry::enter();
        for left in (0..NAMES).map(|number| folder.join(temporary_name(name, number))) {
            if !files.contains(&left) {
                remove_left(&left);
            }
        }
    }

    /// The open file.
    #[must_use]
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// The open file.
    #[must_use]
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the file another name, also if that is one of a file.
    pub(super) fn rename(self, to: &Path) -> io::Result<File> {
        self.persist(|file| file.persist(to))
    }

    /// Gives the file another name, unless there is a file of that name.
    pub(super) fn rename_to_free(self, to: &Path) -> io::Result<File> {
        self.persist(|file| file.persist_noclobber(to))
    }

    fn persist(
        self,
        rename: impl FnOnce(NamedTempFile) -> Result<File, tempfile::PersistError>,
    ) -> io::Result<File> {
        let Self { file, listed } = self;
        let mut files = registry::enter();
        // On a network file system without locks between machines, another one may have removed it.
        if !is_at(file.as_file(), file.path())? {
            files.forget(&listed);
            return Err(io::Error::other("another program has removed the temporary file"));
        }
        let renamed = rename(file);
        if renamed.is_ok() {
            files.forget(&listed);
        }
        // `listed` is dropped after the list is released: it takes that for itself.
        drop(files);
        let file = renamed.map_err(|error| error.error)?;
        // The new file may stay open, and its lock is for others to use.
        let _ = file.unlock();
        Ok(file)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// What the names of all temporary files for a file begin with.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".tamis-");
    match name.len() {
        ..=LONGEST => prefix.push(name),
        _ => prefix.push(format!("{:016x}", checksum(name.as_encoded_bytes()))),
    }
    prefix
}

fn temporary_name(name: &OsStr, number: usize) -> OsString {
    let mut prefix = prefix(name);
    prefix.push(format!("-{number}.tmp"));
    prefix
}

/// Creates a file and locks it. Returns `None` if there is one of that name, or if another process
/// takes it for one that was left, between its creation and its lock.
fn create(
    folder: &Path,
    builder: &mut Builder<'_, '_>,
    private: bool,
) -> io::Result<Option<NamedTempFile>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o666 });
    #[cfg(not(unix))]
    let _ = private;
    // The library's own way to open it would return an error without the number of the system.
    let file = match builder.disable_cleanup(true).make_in(folder, |path| options.open(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.as_file().try_lock() {
        Ok(()) => match is_at(file.as_file(), file.path()) {
            Ok(is_ours) => Ok(is_ours.then_some(file)),
            Err(error) => {
                let _ = fs::remove_file(file.path());
                Err(error)
            }
        },
        Err(TryLockError::WouldBlock) => Ok(None),
        // There are no locks here, so nobody removes it.
        Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// Removes a file that a killed writer has left.
fn remove_left(path: &Path) {
    let Ok(file) = open(path) else { return };
    let is_left = file.metadata().is_ok_and(|found| found.is_file())
        && file.try_lock().is_ok()
        && is_at(&file, path).is_ok_and(|is_there| is_there);
    if is_left {
        let _ = fs::remove_file(path);
    }
}

/// Waits until nobody has locked a file, for at most [`PATIENCE`]. Returns whether it has been
/// renamed or removed.
fn wait_for(path: &Path) -> io::Result<bool> {
    let (file, start) = (open(path)?, Instant::now());
    while let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
        if start.elapsed() > PATIENCE {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
    is_at(&file, path).map(|is_there| !is_there)
}

/// Opens a file for its lock. Some network file systems lock only what may be written. Nobody else
/// gave it this name, or somebody did on purpose: a link is not followed, and a pipe is not waited
/// for.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    match options.clone().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => options.open(path),
        result => result,
    }
}

/// Returns whether the path is still that of the open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            found => found?,
        };
        let ours = file.metadata()?;
        Ok((found.dev(), found.ino()) == (ours.dev(), ours.ino()))
    }
    // Other systems do not remove a file that is open.
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_target_and_are_short() {
        assert_eq!(temporary_name(OsStr::new("seen"), 0), ".tamis-seen-0.tmp");
        let long = ["a".repeat(255), "a".repeat(254), "é".repeat(101)];
        let names = long.map(|name| temporary_name(OsStr::new(&name), 7));
        assert!(names.iter().all(|name| name.len() < 40), "{names:?}");
        assert!(names[0] != names[1] && names[1] != names[2]);
    }

    /// A process that has opened and locked the file between its creation and its lock may remove
    /// it.
    #[test]
    fn a_file_that_another_locks_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".tamis-a-0.tmp");
        let held = File::create(&path).unwrap();
        held.lock().unwrap();
        let temporary = Temporary::new(folder.path(), OsStr::new("a"), true).unwrap();
        assert_eq!(temporary.file.path(), folder.path().join(".tamis-a-1.tmp"));
        drop(temporary);
        // Of a writer that was killed it is removed, and its name is used.
        // (A process that another test starts meanwhile may have a copy of the descriptor.)
        held.unlock().unwrap();
        drop(held);
        fs::write(folder.path().join(".tamis-a-7.tmp"), "left").unwrap();
        let temporary = Temporary::new(folder.path(), OsStr::new("a"), true).unwrap();
        assert_eq!(temporary.file.path(), path);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(temporary);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Nobody waits for a file that no writer has locked.
    #[test]
    fn a_file_that_cannot_be_removed_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".tamis-a-0.tmp");
        let held = File::create(&path).unwrap();
        held.lock_shared().unwrap();
        let new = || Temporary::new_alone(folder.path(), OsStr::new("a"), false);
        let other = new().unwrap().expect("its own file");
        assert_eq!(other.file.path(), folder.path().join(".tamis-a-1.tmp"));
        // Alone, and again in the same process.
        drop((held, other));
        let first = new().unwrap().expect("the first name");
        assert_eq!(first.file.path(), path);
        assert!(new().unwrap().is_some());
    }

    #[test]
    fn more_writers_than_names_get_random_ones() {
        let folder = tempfile::tempdir().unwrap();
        let new = |_| Temporary::new(folder.path(), OsStr::new("a"), false).unwrap();
        let all: Vec<_> = (0..NAMES + 2).map(new).collect();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), NAMES + 2);
        drop(all);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// What another program has put there is not renamed in its place.
    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_not_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = Temporary::new(folder.path(), OsStr::new("a"), true).unwrap();
        let path = temporary.file.path().to_owned();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "of another").unwrap();
        assert!(temporary.rename(&folder.path().join("a")).is_err());
        assert!(path.exists() && !folder.path().join("a").exists());
    }
}
