//! `-o FILE`: the file is complete or unchanged, even if it is one of those read.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{dedup, exact, homepages};
use tempfile::tempdir;

/// Returns the names in a directory, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_may_be_input_and_output() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("lines.txt");
    let input = fs::read(homepages()).expect("the data is there");
    for (number, args) in [["-o"].as_slice(), &["-j", "4", "--output"]].iter().enumerate() {
        fs::write(&file, &input).expect("written");
        dedup(args).arg(&file).arg(&file).assert().success().stdout("").stderr("");
        assert!(fs::read(&file).expect("written") == exact(&[&input]), "{number}");
        assert_eq!(names(folder.path()), ["lines.txt"]);
    }
}

#[test]
fn the_output_may_be_a_new_file_or_standard_output() {
    let folder = tempdir().expect("a folder");
    let input = "b\na\nb\n";
    dedup(&["-o", "new.txt"]).current_dir(&folder).write_stdin(input).assert().success().stdout("");
    assert_eq!(fs::read(folder.path().join("new.txt")).expect("written"), b"b\na\n");
    dedup(&["-o", "-"]).write_stdin(input).assert().success().stdout("b\na\n");
    assert_eq!(names(folder.path()), ["new.txt"]);
}

#[test]
fn a_failed_run_leaves_the_file_unchanged_and_no_other_file() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("old.txt");
    fs::write(&file, "a\na\ntoo long\n").expect("written");
    for threads in ["1", "4"] {
        dedup(&["--max-line", "3", "-j", threads, "-o"])
            .arg(&file)
            .arg(&file)
            .assert()
            .code(2)
            .stdout("");
        assert_eq!(fs::read(&file).expect("there"), b"a\na\ntoo long\n");
        dedup(&["--fixed", "--capacity", "1", "-o"]).arg(&file).arg(&file).assert().code(1);
        dedup(&["--capacity", "1T", "-o"]).arg(&file).arg(&file).assert().code(2);
        assert_eq!(names(folder.path()), ["old.txt"]);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_2_before_anything_is_read() {
    let folder = tempdir().expect("a folder");
    for place in ["", "missing/new.txt", "new/"].map(|name| folder.path().join(name)) {
        let output = dedup(&["-o"]).arg(&place).write_stdin("a\n").assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.starts_with("tamis: -o ") && text.lines().count() == 1, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempdir().expect("a folder");
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "a\na\n").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink("file", &link).expect("made");
    dedup(&["-o"]).arg(&link).arg(&link).assert().success();
    assert_eq!(fs::read(&file).expect("there"), b"a\n");
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(names(folder.path()), ["file", "link"]);
    // A link to a missing file would be replaced, so it is an error.
    symlink("nothing", folder.path().join("dangling")).expect("made");
    let text = dedup(&["-o", "dangling"]).current_dir(&folder).write_stdin("a\n").assert().code(2);
    assert!(String::from_utf8_lossy(&text.get_output().stderr).contains("is a link"));
    assert_eq!(names(folder.path()), ["dangling", "file", "link"]);
    // A new file has the usual permissions, and is not private to its owner.
    dedup(&["-o", "new"]).current_dir(&folder).write_stdin("a\n").assert().success();
    fs::write(folder.path().join("other"), "").expect("written");
    let mode =
        |name: &str| fs::metadata(folder.path().join(name)).expect("there").permissions().mode();
    assert_eq!(mode("new"), mode("other"));
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;

    dedup(&["-o", "/dev/null"]).write_stdin("a\n").assert().success().stdout("");
    assert!(fs::metadata("/dev/null").expect("Unix has it").file_type().is_char_device());
}

/// The shell has already opened the output: the contents of the file must stay.
#[test]
fn standard_output_that_is_an_input_is_2() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("lines.txt");
    for stdin in [false, true] {
        fs::write(&file, "a\na\n").expect("written");
        let append = OpenOptions::new().append(true).open(&file).expect("ours");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("tamis"));
        command.args(["dedup", "-q"]).stdout(append).stderr(Stdio::piped());
        if stdin {
            command.stdin(fs::File::open(&file).expect("ours"));
        } else {
            command.arg(&file);
        }
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("-o FILE") && text.lines().count() == 1, "{text}");
        assert_eq!(fs::read(&file).expect("there"), b"a\na\n");
    }
}

/// Under any of its names: the file behind it is not replaced, and its contents stay.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_name_is_appended_to() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("log");
    fs::write(&file, "old\n").expect("written");
    std::os::unix::fs::symlink("/dev/stdout", folder.path().join("link")).expect("linked");
    let link = folder.path().join("link");
    let names = ["-", "/dev/stdout", "//dev/fd/1", link.to_str().expect("a name")];
    for name in names {
        let append = OpenOptions::new().append(true).open(&file).expect("ours");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("tamis"));
        command.args(["dedup", "-q", "-o", name]).arg(homepages()).stdout(append);
        assert!(command.status().expect("it runs").success());
    }
    let once = exact(&[&fs::read(homepages()).expect("the data is there")]);
    let expected = [b"old\n".as_slice(), &once, &once, &once, &once].concat();
    assert!(fs::read(&file).expect("there") == expected);
}

/// Files that the shell has opened under another number: each write of another program would be in
/// the file that was there before.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_open_is_not_replaced() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("log");
    std::os::unix::fs::symlink("/dev/stderr", folder.path().join("link")).expect("linked");
    fs::write(&file, "old\n").expect("written");
    // Also of another process, here of this test: its standard output is not that of the program.
    let held = fs::File::open(&file).expect("ours");
    let number = std::os::fd::AsRawFd::as_raw_fd(&held);
    let other = format!("/proc/{}/fd/{number}", std::process::id());
    for name in ["/dev/stderr", "/dev/fd/2", "link", &other] {
        for command in [&["dedup", "-q", "-o", name][..], &["build", "-q", "-o", name]] {
            let append = OpenOptions::new().append(true).open(&file).expect("ours");
            let mut run = Command::new(assert_cmd::cargo::cargo_bin!("tamis"));
            run.args(command).current_dir(folder.path()).stdin(Stdio::null()).stderr(append);
            assert_eq!(run.status().expect("it runs").code(), Some(2), "{command:?}");
            let text = fs::read_to_string(&file).expect("there");
            assert!(text.starts_with("old\n") && text.contains("is open already"), "{text}");
            fs::write(&file, "old\n").expect("written");
        }
    }
    assert_eq!(names(folder.path()), ["link", "log"]);
}
