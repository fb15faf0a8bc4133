//! Saves a filter to a file, atomically.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::body::for_each_chunk;
use crate::checksum::checksum;
use crate::early_sync::with_early_sync;
use crate::header::Header;
use crate::saved::header_of;
use crate::source::Source;
use crate::table::Table;
use crate::write::{algorithm, alloc};
use crate::{Options, SaveError, Saved, encoded_len};

/// The most symbolic links that are followed.
const MAX_LINKS: usize = 40;

/// Saves a filter to a file, atomically: at every moment, and after a crash at any moment, the path has the old file or
/// the new one.
///
/// The filter is written to a temporary file in the same folder, `.tamis-` with a random name. The file is synced to
/// the disk, then renamed, then the folder is synced. A crash can leave the temporary file, which can be deleted. A new
/// file gets the usual permissions; the permissions of an existing file are kept, its owner and its group are not. If the
/// path is a symbolic link, the file that it points to is replaced. Mappings and other hard links of an existing file
/// keep the old file.
///
/// Other threads may insert meanwhile. The file then holds every item whose insert happened before the call. A cuckoo
/// filter is copied if another thread relocates an item during the save, which is then written a second time: it takes
/// twice its memory meanwhile.
///
/// The file contains the seed or key of the hasher. If it is secret, create the file beforehand with narrow permissions:
/// they are kept.
///
/// # Errors
///
/// [`SaveError`] if the path is not that of a file, or if the file cannot be written. An existing file is then as
/// before, unless only the sync of the folder failed: then the path has the new file, but a crash may undo it.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{load, save};
/// use tamis::{OnceCuckooFilter, hash::Rapid};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("jobs.tamis");
/// let jobs = OnceCuckooFilter::<u64>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// jobs.insert(&17)?;
/// save(&jobs, &path)?;
/// assert!(load::<OnceCuckooFilter<u64, Rapid>>(&path)?.contains(&17));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<F: Saved>(filter: &F, path: impl AsRef<Path>) -> Result<(), SaveError> {
    Options::new().save(filter, path)
}

impl Options {
    /// Saves a filter with this policy, as [`save`](crate::save) does.
    ///
    /// # Errors
    ///
    /// As [`save`](crate::save).
    ///
    /// # Examples
    ///
    /// See [`Options`].
    pub fn save<F: Saved>(&self, filter: &F, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let target = Target::new(path.as_ref())?;
        let file = target.temporary()?;
        with_early_sync(file.as_file(), encoded_len(filter), |file| self.write_to(file, filter))?;
        target.replace(file)
    }

    /// Writes the file of a filter, from its start.
    pub(crate) fn write_to<F: Saved>(
        &self,
        file: &mut (impl Write + Seek),
        filter: &F,
    ) -> Result<(), SaveError> {
        let passing = filter.passing().map_err(alloc)?;
        if write_lines(file, header_of(filter, self.policy, &passing), passing)? {
            return Ok(());
        }
        // The lines do not belong together. Those of a copy do: begin again with one.
        let still = filter.still().map_err(alloc)?;
        write_lines(file, header_of(filter, self.policy, &still), still)?;
        Ok(())
    }
}

/// Writes a file in one pass over the lines: first the body, then what comes before it. Returns whether the file is
/// complete: `false` if the lines do not belong together.
pub(crate) fn write_lines(
    file: &mut (impl Write + Seek),
    mut header: Header,
    mut lines: impl Source,
) -> Result<bool, SaveError> {
    file.seek(SeekFrom::Start(header.body_offset()))?;
    let mut table = Table::new();
    let is_whole = for_each_chunk(&header, &mut lines, |chunk| {
        table.push(checksum(chunk));
        file.write_all(chunk)
    })?;
    // The number of items is known after the last line.
    let Some(items) = lines.items().filter(|_| is_whole) else { return Ok(false) };
    header.items = items;
    header.table_checksum = table.checksum();
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header.to_bytes().map_err(algorithm)?)?;
    file.write_all(&table.with_padding(&header))?;
    Ok(true)
}

/// The place of a file that is to be created or replaced.
pub(crate) struct Target {
    path: PathBuf,
    folder: PathBuf,
    /// The permissions of the file that exists there.
    permissions: Option<Permissions>,
}

impl Target {
    /// Returns the place that a path names, behind symbolic links.
    pub(crate) fn new(path: &Path) -> Result<Self, SaveError> {
        let path = behind_links(path)?;
        // A rename would replace a device such as /dev/null with a file.
        let permissions = match fs::metadata(&path) {
            Ok(existing) if !existing.is_file() => return Err(SaveError::NotAFile),
            Ok(existing) => Some(existing.permissions()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        Ok(Self { path, folder, permissions })
    }

    /// Returns whether there was a file.
    pub(crate) const fn exists(&self) -> bool {
        self.permissions.is_some()
    }

    /// Creates a temporary file in the folder, with the permissions of the final file.
    pub(crate) fn temporary(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tamis-").suffix(".tmp");
        match &self.permissions {
            Some(existing) => {
                let file = builder.permissions(existing.clone()).tempfile_in(&self.folder)?;
                // The system removed the bits of the umask.
                file.as_file().set_permissions(existing.clone())?;
                Ok(file)
            }
            None => usual_permissions(&mut builder).tempfile_in(&self.folder),
        }
    }

    /// Moves the temporary file to the path, over a file that exists there.
    pub(crate) fn replace(&self, file: NamedTempFile) -> Result<(), SaveError> {
        file.as_file().sync_all()?;
        let folder = self.open_folder()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(sync_folder(folder)?)
    }

    /// Moves the temporary file to the path, and returns it open. If a file exists there, returns
    /// [`ErrorKind::AlreadyExists`].
    pub(crate) fn create(&self, file: NamedTempFile) -> io::Result<File> {
        file.as_file().sync_all()?;
        let folder = self.open_folder()?;
        let file = file.persist_noclobber(&self.path).map_err(|error| error.error)?;
        sync_folder(folder)?;
        Ok(file)
    }

    /// Opens the folder for [`sync_folder`], before the rename: a folder that cannot be read is then an error that
    /// changes nothing.
    fn open_folder(&self) -> io::Result<Option<File>> {
        cfg!(unix).then(|| File::open(&self.folder)).transpose()
    }
}

/// Makes a rename in the folder durable, where the system offers that.
fn sync_folder(folder: Option<File>) -> io::Result<()> {
    match folder.map_or(Ok(()), |folder| folder.sync_all()) {
        // The file system does not sync folders.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
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

/// Lets the umask decide on the permissions of a new file, as for every other file.
fn usual_permissions<'b, 'p, 's>(
    builder: &'b mut tempfile::Builder<'p, 's>,
) -> &'b mut tempfile::Builder<'p, 's> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}
