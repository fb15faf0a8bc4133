//! Paths: replaced atomically, with their permissions, behind symbolic links; and paths that are no
//! files.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::common::{Bloom, bytes_of, small_bloom};
use tamis_formats::{Info, LoadError, Options, SaveError, load, map, save, write};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The names in a directory.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_has_the_usual_permissions() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("usual")).unwrap();
    save(&small_bloom(), folder.path().join("saved")).unwrap();
    assert_eq!(mode(&folder.path().join("saved")), mode(&folder.path().join("usual")));
    assert_eq!(names(folder.path()), ["saved", "usual"]);
}

#[test]
fn the_permissions_of_an_existing_file_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    for kept in [0o600, 0o640, 0o666, 0o444] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        save(&small_bloom(), &path).unwrap();
        assert_eq!(mode(&path), kept);
        assert!(load::<Bloom>(&path).is_ok());
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn the_file_behind_a_symbolic_link_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("file"), "old").unwrap();
    symlink("inner/link", folder.path().join("link")).unwrap();
    symlink("file", inner.join("link")).unwrap();
    save(&small_bloom(), folder.path().join("link")).unwrap();
    assert!(fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(inner.join("link")).unwrap().is_symlink());
    assert!(
        load::<Bloom>(inner.join("file")).is_ok()
            && load::<Bloom>(folder.path().join("link")).is_ok()
    );
    // A link to no file: the file is created.
    symlink(inner.join("new"), folder.path().join("dangling")).unwrap();
    assert!(matches!(load::<Bloom>(folder.path().join("dangling")), Err(LoadError::Io(_))));
    save(&small_bloom(), folder.path().join("dangling")).unwrap();
    assert!(load::<Bloom>(inner.join("new")).is_ok());
    // A link to itself.
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(matches!(save(&small_bloom(), folder.path().join("loop")), Err(SaveError::Io(_))));
    assert!(matches!(load::<Bloom>(folder.path().join("loop")), Err(LoadError::Io(_))));
    assert_eq!(names(&inner), ["file", "link", "new"]);
}

/// Each call returns an error at once, and changes nothing.
#[test]
fn a_folder_a_pipe_and_devices_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let bloom = small_bloom();
    for path in
        [folder.path(), &pipe, Path::new("/dev/zero"), Path::new("/dev/null"), Path::new("/")]
    {
        assert!(matches!(load::<Bloom>(path), Err(LoadError::NotAFile)), "{}", path.display());
        assert!(matches!(Options::new().load_frozen::<Bloom>(path), Err(LoadError::NotAFile)));
        assert!(matches!(Options::new().merge_from(&bloom, path), Err(LoadError::NotAFile)));
        assert!(matches!(Info::open(path), Err(LoadError::NotAFile)));
        assert!(matches!(save(&bloom, path), Err(SaveError::NotAFile)));
        assert!(!fs::metadata(path).unwrap().is_file());
    }
    for path in [folder.path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
        let error = map::<Bloom>(crate::common::map_file(path)).unwrap_err();
        assert!(matches!(error, LoadError::NotAFile), "{}", path.display());
    }
    let error = save(&bloom, folder.path().join("none/.")).unwrap_err();
    assert!(matches!(error, SaveError::NotAFile), "{error}");
    assert_eq!(names(folder.path()), ["pipe"]);
    let error = save(&bloom, folder.path().join("none/file")).unwrap_err();
    assert!(matches!(error, SaveError::Io(_)), "{error}");
    assert!(save(&bloom, "").is_err() && load::<Bloom>("").is_err());
}

/// The link of an open file gives the name that the file had, with another ending.
#[cfg(target_os = "linux")]
#[test]
fn an_open_file_without_a_name_is_not_saved_to() {
    use std::os::fd::AsRawFd;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    let file = File::create(&path).unwrap();
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    save(&small_bloom(), &link).unwrap();
    assert!(load::<Bloom>(&path).is_ok(), "the file had its name");
    assert!(matches!(save(&small_bloom(), &link), Err(SaveError::NotAFile)));
    assert_eq!(names(folder.path()), ["saved"]);
    // Another file has that name now.
    fs::write(folder.path().join("saved (deleted)"), "of another").unwrap();
    assert!(matches!(save(&small_bloom(), &link), Err(SaveError::NotAFile)));
    assert_eq!(fs::read(folder.path().join("saved (deleted)")).unwrap(), b"of another");
}

#[test]
fn a_full_device_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let error = write(&small_bloom(), full).unwrap_err();
    assert!(matches!(error, SaveError::Io(_)), "{error}");
}

#[test]
fn an_error_of_the_system_keeps_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let number = |error: SaveError| match error {
        SaveError::Io(error) => error.raw_os_error(),
        other => panic!("{other}"),
    };
    let missing = folder.path().join("missing").join("saved");
    let error = number(save(&small_bloom(), &missing).unwrap_err());
    assert_eq!(error, fs::metadata(&missing).unwrap_err().raw_os_error());
    assert!(error.is_some());
}

/// A file that a crash left is removed by the next save to that path. Others are left alone, and
/// are no obstacle.
#[test]
fn what_a_crash_left_for_this_path_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| fs::write(folder.path().join(name), "left by a crash").unwrap();
    [".tamis-aaaaaa.tmp", ".tamis-saved-0.tmp", ".tamis-saved-5.tmp"].into_iter().for_each(write);
    [".tamis-save-0.tmp", ".tamis-saved-0-0.tmp", ".tamis-saved-8.tmp"].into_iter().for_each(write);
    // What somebody has put there on purpose.
    symlink("other", folder.path().join(".tamis-saved-1.tmp")).unwrap();
    write("other");
    let pipe = folder.path().join(".tamis-saved-2.tmp");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(folder.path().join(".tamis-saved-3.tmp")).unwrap();

    save(&small_bloom(), folder.path().join("saved")).unwrap();
    assert_eq!(
        names(folder.path()),
        [
            ".tamis-aaaaaa.tmp",
            ".tamis-save-0.tmp",
            ".tamis-saved-0-0.tmp",
            ".tamis-saved-1.tmp",
            ".tamis-saved-2.tmp",
            ".tamis-saved-3.tmp",
            ".tamis-saved-8.tmp",
            "other",
            "saved"
        ]
    );
}

/// A name as long as the system allows.
#[test]
fn a_long_name_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n".repeat(255));
    save(&small_bloom(), &path).unwrap();
    save(&small_bloom(), &path).unwrap();
    assert!(load::<Bloom>(&path).is_ok());
    assert_eq!(names(folder.path()).len(), 1);
}

/// Several writers of one path do not remove the files of each other.
#[test]
fn writers_at_the_same_time_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| save(&small_bloom(), &path).unwrap()));
        }
    });
    assert!(load::<Bloom>(&path).is_ok());
    assert_eq!(names(folder.path()), ["saved"]);
}

/// A reader finds the old file or the new one at every moment.
#[test]
fn a_file_is_replaced_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    let (one, other) = (small_bloom(), crate::common::filled(small_bloom(), 90));
    save(&one, &path).unwrap();
    let both = [bytes_of(&one), bytes_of(&other)];
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..50 {
                save(&other, &path).unwrap();
                save(&one, &path).unwrap();
            }
        });
        while !writer.is_finished() {
            let loaded = load::<Bloom>(&path).unwrap();
            assert!(both.contains(&bytes_of(&loaded)));
        }
    });
    assert_eq!(names(folder.path()), ["saved"]);
}

/// A mapped filter is that of the file that was mapped, whatever is saved later.
#[test]
fn a_mapping_outlives_the_replacement_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    save(&small_bloom(), &path).unwrap();
    let mapped = map::<Bloom>(crate::common::map_file(&path)).unwrap();
    save(&crate::common::filled(small_bloom(), 2000), &path).unwrap();
    assert!((0..50).all(|item| mapped.contains(&item)));
    assert!((50..1000).filter(|item| mapped.contains(item)).count() < 200);
    mapped.verify().unwrap();
}
