//! Saves a filter to a file, atomically.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crate::filters::saved::{Saved, header_of};
use crate::io::early_sync::{EarlySync, with_early_sync};
use crate::io::replace::{Complete, Target};
use crate::io::write::{algorithm, alloc, encoded_len};
use crate::layout::body::for_each_chunk;
use crate::layout::checksum::checksum;
use crate::layout::header::Header;
use crate::layout::source::Source;
use crate::layout::table::Table;
use crate::options::Options;
use crate::save_error::SaveError;

/// Saves a filter to a file, atomically: at every moment, and after a crash at any moment, the path
/// has the old file or the new one.
///
/// The filter is written to a temporary file in the same directory, `.tamis-NAME-0.tmp` for a file
/// NAME. (It is another number if several writers save to one path at the same time, and a checksum
/// instead of a long NAME.) The file is synced to the disk, then renamed, then the directory is
/// synced. A crash can leave the temporary file: the next save to the same path removes it, where
/// the file system has locks, except for the files of a ninth and further writer at the same time,
/// whose names are random (`.tamis-NAME-RANDOM.tmp`). If the path is a symbolic link, the file that
/// it points to is replaced. Mappings and other hard links of an existing file keep the old file.
///
/// # Access
///
/// A new file gets the usual permissions. A file that replaces another gives nobody access who had
/// none: it has the permissions, the group and, on Linux, the access control list (POSIX ACL) of
/// the old file. If the process may not set the group, the permissions of the group are cleared,
/// and others lose those that the group did not have. If it may not set an access control list,
/// only the owner has access. The owner is kept if the process may set it, as root may; otherwise
/// the user of the process owns the new file. The set-user-ID, set-group-ID and sticky bits are not
/// kept. Before the end of the save, the temporary file of an existing file is accessible to the
/// user of the process only.
///
/// # Copies
///
/// Other threads may insert meanwhile. The file then holds every item whose insert happened before
/// the call. Some filters are copied first, and take twice their memory meanwhile:
///
/// * A [`RotatingBloomFilter`](tamis_bloom::RotatingBloomFilter) is always copied.
/// * A cuckoo filter that grows is always copied. Its inserts wait for the copy.
/// * Another cuckoo filter is copied, and its file is written a second time, only if another thread
///   relocates an item during the save, or removes one that has copies in both of its buckets.
///
/// # Secrets
///
/// The file contains the seed or key of the hasher. If it is secret, create the file beforehand
/// with narrow permissions.
///
/// # Errors
///
/// [`SaveError`] if the path is not that of a file, if the file cannot be written or replaced (a
/// file that is mounted alone cannot, nor that of another user in a sticky directory), or if a copy
/// of the filter cannot be allocated ([`SaveError::Alloc`]). An existing file is then as before,
/// unless only the sync of the directory failed: then the path has the new file, but a crash may
/// undo it.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{load, save};
/// use tamis::{OnceCuckooFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("jobs.tamis");
/// let builder = OnceCuckooFilter::<u64>::builder().capacity(100).hasher(Rapid::with_seed(7));
/// let jobs = builder.build()?;
/// jobs.insert(&17)?;
/// save(&jobs, &path)?;
/// assert!(load::<OnceCuckooFilter<u64, Rapid>>(&path)?.contains(&17));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<F: Saved>(filter: &F, path: impl AsRef<Path>) -> Result<(), SaveError> {
    Options::new().save(filter, path)
}

impl Options {
    /// Saves a filter with this normalization, as [`save`](crate::save) does.
    ///
    /// # Errors
    ///
    /// As [`save`](crate::save).
    pub fn save<F: Saved>(&self, filter: &F, path: impl AsRef<Path>) -> Result<(), SaveError> {
        Ok(self.prepare(filter, path)?.rename()?)
    }

    /// Writes the file of a filter, which has not got its name yet: for programs that change
    /// several files together.
    #[doc(hidden)]
    pub fn prepare<F: Saved>(
        &self,
        filter: &F,
        path: impl AsRef<Path>,
    ) -> Result<Complete, SaveError> {
        let target = Target::new(path.as_ref())?;
        let file = target.temporary()?;
        let mut write = |file: &mut EarlySync<'_>| self.write_to(file, filter);
        with_early_sync(file.as_file(), encoded_len(filter), &mut write)?;
        Ok(target.complete(file)?)
    }

    /// Writes the file of a filter, from its start.
    pub(crate) fn write_to<F: Saved>(
        &self,
        file: &mut dyn Output,
        filter: &F,
    ) -> Result<(), SaveError> {
        let header = |geometry| header_of(filter, self.normalization, geometry);
        let (geometry, mut passing) = filter.passing().map_err(alloc)?;
        if write_lines(file, header(geometry), &mut *passing)? {
            return Ok(());
        }
        // The lines were read at different moments. Those of a copy are of one: begin again with
        // it.
        drop(passing);
        let (geometry, mut still) = filter.still().map_err(alloc)?;
        write_lines(file, header(geometry), &mut *still)?;
        Ok(())
    }
}

/// What a file is written to.
pub(crate) trait Output: Write + Seek {}

impl<T: Write + Seek> Output for T {}

/// Writes a file in one pass over the lines: first the body, then what comes before it. Returns
/// whether the file is complete: `false` if the lines were read at different moments.
pub(crate) fn write_lines(
    file: &mut dyn Output,
    mut header: Header,
    lines: &mut dyn Source,
) -> Result<bool, SaveError> {
    file.seek(SeekFrom::Start(header.body_offset()))?;
    let mut table = Table::new();
    let is_whole = for_each_chunk(&header, lines, &mut |chunk| {
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
