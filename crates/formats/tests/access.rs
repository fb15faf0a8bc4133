//! Who may read and write a saved file: nobody who might not before.
#![cfg(target_os = "linux")]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, removexattr, setxattr};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgroups};
use tamis_formats::{SetWriter, save};

use crate::common::small_bloom;

/// Saves a filter and a set in place of an old file, and calls `check` with each.
fn replaced(prepare: impl Fn(&Path), check: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    for set in [false, true] {
        fs::write(&path, "old").unwrap();
        prepare(&path);
        if set {
            SetWriter::<u64>::create(&path).unwrap().finish().unwrap();
        } else {
            save(&small_bloom(), &path).unwrap();
        }
        assert_ne!(fs::read(&path).unwrap(), b"old");
        check(&path);
        fs::remove_file(&path).unwrap();
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A group that this process may give to a file: as root any, otherwise one that it is in, if
/// possible not its first.
fn group() -> u32 {
    let own = getegid();
    let others = getgroups().unwrap();
    let other = others.into_iter().find(|group| *group != own).unwrap_or(own).as_raw();
    if geteuid().is_root() { 4242 } else { other }
}

#[test]
fn the_group_is_kept_and_so_are_its_permissions() {
    for bits in [0o640, 0o660, 0o604, 0o664] {
        let prepare = |path: &Path| {
            chown(path, None, Some(group())).unwrap();
            set_mode(path, bits);
        };
        replaced(prepare, |path| {
            assert_eq!((fs::metadata(path).unwrap().gid(), mode(path)), (group(), bits));
        });
    }
}

/// Root saves the file of another user, who can still use it.
#[test]
fn the_owner_is_kept_where_it_can_be() {
    let user = if geteuid().is_root() { 4243 } else { geteuid().as_raw() };
    let prepare = |path: &Path| {
        set_mode(path, 0o600);
        chown(path, Some(user), None).unwrap();
    };
    replaced(prepare, |path| {
        assert_eq!((fs::metadata(path).unwrap().uid(), mode(path)), (user, 0o600));
    });
}

#[test]
fn the_bits_that_run_a_program_as_its_owner_are_not_kept() {
    replaced(|path| set_mode(path, 0o6755), |path| assert_eq!(mode(path), 0o755));
}

const FILE: &str = "system.posix_acl_access";
const FOLDER: &str = "system.posix_acl_default";

/// A list with one named user, as Linux stores it.
fn acl(user: u16, group: u16, mask: u16) -> Vec<u8> {
    let none = u32::MAX;
    let entries =
        [(1, 6, none), (2, user, 4242), (4, group, none), (16, mask, none), (32, 0, none)];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        let (tag, rights): (u16, u16) = (tag, rights);
        bytes.extend(tag.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

fn acl_of(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut room = [0; 256];
    match getxattr(path, name, &mut room[..]) {
        Ok(len) => Some(room[..len].to_vec()),
        Err(error) => {
            assert_eq!(error, Errno::NODATA);
            None
        }
    }
}

/// Whether the file system of temporary directories has access control lists.
fn has_lists() -> bool {
    let file = tempfile::NamedTempFile::new().unwrap();
    let set = setxattr(file.path(), FILE, &acl(4, 4, 4), XattrFlags::empty());
    if set == Err(Errno::OPNOTSUPP) {
        println!("NOT TESTED: {} has no access control lists", file.path().display());
    } else {
        set.unwrap();
    }
    set.is_ok()
}

#[test]
fn an_access_control_list_is_kept() {
    if !has_lists() {
        return;
    }
    // The user may read, or is denied what the group may do. The bits of the group in the mode are
    // the mask.
    for list in [acl(6, 0, 6), acl(0, 6, 6), acl(6, 6, 0)] {
        let prepare = |path: &Path| setxattr(path, FILE, &list, XattrFlags::empty()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let like = folder.path().join("like");
        File::create(&like).unwrap();
        prepare(&like);
        replaced(prepare, |path| {
            assert_eq!(acl_of(path, FILE), Some(list.clone()));
            assert_eq!(mode(path), mode(&like));
        });
    }
}

/// A list that the directory gives to new files says nothing about a file that had none.
#[test]
fn the_list_of_the_folder_gives_nobody_access_to_an_old_file() {
    if !has_lists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    setxattr(folder.path(), FOLDER, &acl(7, 7, 7), XattrFlags::empty()).unwrap();
    fs::write(&old, "old").unwrap();
    removexattr(&old, FILE).unwrap();
    set_mode(&old, 0o660);
    save(&small_bloom(), &old).unwrap();
    assert_eq!((acl_of(&old, FILE), mode(&old)), (None, 0o660));
    // A new file gets what every new file gets.
    save(&small_bloom(), &new).unwrap();
    File::create(folder.path().join("usual")).unwrap();
    assert_eq!(acl_of(&new, FILE), acl_of(&folder.path().join("usual"), FILE));
    assert!(acl_of(&new, FILE).is_some());
}

/// While it is written, the file of a secret is not readable by others.
#[test]
fn a_file_is_at_no_moment_wider_than_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o640);
    let set = SetWriter::<u64>::create(&path).unwrap();
    assert_eq!(mode(&folder.path().join(".tamis-saved-0.tmp")), 0o600);
    // What is decided meanwhile counts.
    set_mode(&path, 0o400);
    set.finish().unwrap();
    assert_eq!(mode(&path), 0o400);
}
