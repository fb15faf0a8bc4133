//! Whether a file may be replaced, and who may read and write the new one: nobody who might not
//! before.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Who may read and write a file.
#[derive(Debug)]
pub(super) struct Access {
    #[cfg(unix)]
    mode: u32,
    #[cfg(unix)]
    owner: u32,
    #[cfg(unix)]
    group: u32,
    /// The access control list, in the form of the system.
    #[cfg(unix)]
    acl: Option<Vec<u8>>,
    #[cfg(not(unix))]
    permissions: fs::Permissions,
}

#[cfg(not(unix))]
impl Access {
    /// Reads that of a file. Returns `None` if there is none.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(found) => Ok(Some(Self { permissions: found.permissions() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets that of a file.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        file.set_permissions(self.permissions.clone())
    }
}

/// Returns an error if the system would refuse to rename another file over this one.
#[cfg(not(unix))]
pub(super) const fn require_replaceable(_path: &Path, _folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns an error if the system would refuse to rename another file over this one.
#[cfg(unix)]
pub(super) fn require_replaceable(path: &Path, folder: &Path) -> io::Result<()> {
    const STICKY: u32 = 0o1000;
    let file = match fs::metadata(path) {
        // Another program has removed it.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let folder = fs::metadata(folder)?;
    let owners = [file.uid(), folder.uid()];
    let user = rustix::process::geteuid().as_raw();
    if folder.mode() & STICKY != 0 && !owners.contains(&user) && !system::may_replace_any() {
        let text = "the file belongs to another user, and its directory is sticky: it cannot be \
                    replaced";
        return Err(io::Error::new(ErrorKind::PermissionDenied, text));
    }
    if system::is_mount_point(path) {
        let text = "the file is a mount point, which cannot be replaced: mount its directory";
        return Err(io::Error::new(ErrorKind::ResourceBusy, text));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    use rustix::thread::{CapabilitySet, capabilities};

    /// Returns whether this process may replace the files of others in a sticky directory.
    pub(super) fn may_replace_any() -> bool {
        capabilities(None).is_ok_and(|found| found.effective.contains(CapabilitySet::FOWNER))
    }

    /// Returns whether a file system, or a part of one, is mounted at this path. An older kernel
    /// does not say.
    pub(super) fn is_mount_point(path: &Path) -> bool {
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        found.is_ok_and(|found| {
            let known = found.stx_attributes & found.stx_attributes_mask;
            known.contains(StatxAttributes::MOUNT_ROOT)
        })
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod system {
    use std::path::Path;

    pub(super) fn may_replace_any() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Such a system does not say.
    pub(super) const fn is_mount_point(_path: &Path) -> bool {
        false
    }
}

#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

#[cfg(unix)]
impl Access {
    /// Reads that of a file. Returns `None` if there is none.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mode, owner, group) = (found.mode(), found.uid(), found.gid());
        Ok(Some(Self { mode, owner, group, acl: acl::of(path)? }))
    }

    /// Sets that of a file that only its owner may access yet, so that it is wider at no moment.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        let now = file.metadata()?;
        // A process may set the groups that it belongs to. A group that is gone has no members.
        let group = now.gid() == self.group || fchown(file, None, Some(self.group)).is_ok();
        let acl = match &self.acl {
            // Its entry for the group is about the old one.
            Some(acl) => group && acl::set(file, acl).is_ok(),
            // The directory may have given the file one, which the bits of the group would switch
            // on.
            None => acl::remove(file).is_ok(),
        };
        file.set_permissions(fs::Permissions::from_mode(kept(self.mode, group, acl)))?;
        // Last, since it takes the right to set the others. Only root may do this; for others the
        // file has a new owner.
        if now.uid() != self.owner {
            let _ = fchown(file, Some(self.owner), None);
        }
        Ok(())
    }
}

/// Returns the bits of the new file. `group`, `acl`: whether it has the group and the access
/// control list of the old one. The bits that run a program as its owner are not kept: these are
/// other contents.
#[cfg(unix)]
const fn kept(mode: u32, group: bool, acl: bool) -> u32 {
    match (group, acl) {
        (true, true) => mode & 0o777,
        // The members of the old group are others now, and may do no more than before.
        (false, true) => mode & 0o700 | mode & (mode >> 3) & 0o007,
        // Each user or group in the list may have been allowed less than the others.
        (_, false) => mode & 0o700,
    }
}

#[cfg(target_os = "linux")]
mod acl {
    //! The access control list of a file, as Linux stores it.

    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr};
    use rustix::io::Errno;

    const NAME: &str = "system.posix_acl_access";

    /// The most bytes of an attribute.
    const MAX: usize = 1 << 16;

    /// Returns that of a file, if it has one.
    pub(super) fn of(path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut room = vec![0; 256];
        loop {
            match getxattr(path, NAME, &mut room[..]) {
                Ok(len) => {
                    room.truncate(len);
                    return Ok(Some(room));
                }
                Err(Errno::RANGE) if room.len() < MAX => room.resize(MAX, 0),
                // Another process has removed the file meanwhile.
                Err(Errno::NOENT) => return Ok(None),
                Err(error) if is_none(error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn set(file: &File, acl: &[u8]) -> io::Result<()> {
        Ok(fsetxattr(file, NAME, acl, XattrFlags::empty())?)
    }

    /// Removes that of a file, if it has one.
    pub(super) fn remove(file: &File) -> io::Result<()> {
        match fremovexattr(file, NAME) {
            Err(error) if !is_none(error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The file has no list, or the file system has none at all.
    fn is_none(error: Errno) -> bool {
        [Errno::NODATA, Errno::OPNOTSUPP, Errno::NOSYS].contains(&error)
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod acl {
    //! The access control lists of other systems are not kept.

    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) const fn of(_: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(super) const fn set(_: &File, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub(super) const fn remove(_: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_taken_away() {
        for (old, kept_all, other_group, no_acl) in [
            (0o644, 0o644, 0o604, 0o600),
            (0o664, 0o664, 0o604, 0o600),
            (0o604, 0o604, 0o600, 0o600),
            (0o606, 0o606, 0o600, 0o600),
            (0o646, 0o646, 0o604, 0o600),
            (0o777, 0o777, 0o707, 0o700),
            (0o444, 0o444, 0o404, 0o400),
            (0o4755, 0o755, 0o705, 0o700),
            (0o2750, 0o750, 0o700, 0o700),
            (0o100_640, 0o640, 0o600, 0o600),
        ] {
            let all = [(true, true), (false, true), (true, false), (false, false)]
                .map(|(group, acl)| kept(old, group, acl));
            assert_eq!(all, [kept_all, other_group, no_acl, no_acl], "{old:o}");
        }
    }

    /// Another process may remove the file before its list is read.
    #[test]
    fn a_file_that_is_gone_has_no_list() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(acl::of(&folder.path().join("gone")), Ok(None)));
    }

    /// For every mode: no class of users has a right that it had not.
    #[test]
    fn nobody_gains_a_right() {
        for old in 0..0o1000 {
            for (group, acl) in [(true, true), (false, true), (true, false), (false, false)] {
                let new = kept(old, group, acl);
                assert_eq!(new & !old, 0, "{old:o} {new:o}");
                // A user of the old group is now one of the others. Any other user may be in the
                // new group.
                if !group {
                    assert_eq!(new & 0o007 & !(old >> 3), 0, "{old:o} {new:o}");
                    assert_eq!(new & 0o070, 0, "{old:o} {new:o}");
                }
            }
        }
    }
}
