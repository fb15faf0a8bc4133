//! `-o FILE`: the file is complete or unchanged, even if it is one of those read.

use std::fs::{self, OpenOptions};
use std::process::Stdio;

use crate::common::{Files, dedup, exact, homepages, line_said, program};

#[test]
fn a_file_may_be_input_and_output() {
    let files = Files::new();
    let file = files.path("lines.txt");
    let input = fs::read(homepages()).expect("the data is there");
    for (number, args) in [["-o"].as_slice(), &["-j", "4", "--output"]].iter().enumerate() {
        fs::write(&file, &input).expect("written");
        dedup(args).arg(&file).arg(&file).assert().success().stdout("").stderr("");
        assert!(fs::read(&file).expect("written") == exact(&[&input]), "{number}");
        assert_eq!(files.names(), ["lines.txt"]);
    }
}

#[test]
fn the_output_may_be_a_new_file_or_standard_output() {
    let files = Files::new();
    let input = "b\na\nb\n";
    dedup(&["-o", "new.txt"])
        .current_dir(&files.0)
        .write_stdin(input)
        .assert()
        .success()
        .stdout("");
    assert_eq!(fs::read(files.path("new.txt")).expect("written"), b"b\na\n");
    dedup(&["-o", "-"]).write_stdin(input).assert().success().stdout("b\na\n");
    assert_eq!(files.names(), ["new.txt"]);
}

#[test]
fn a_failed_run_leaves_the_file_unchanged_and_no_other_file() {
    let files = Files::new();
    let file = files.write("old.txt", "a\na\ntoo long\n");
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
        assert_eq!(files.names(), ["old.txt"]);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_2_before_anything_is_read() {
    let files = Files::new();
    for place in ["", "missing/new.txt", "new/", "new/."].map(|name| files.path(name)) {
        let run = dedup(&["-o"]).arg(&place).write_stdin("a\n").assert().code(2).stdout("");
        let text = line_said(&run);
        assert!(text.starts_with("tamis: -o "), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let files = Files::new();
    let (file, link) = (files.path("file"), files.path("link"));
    fs::write(&file, "a\na\n").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink("file", &link).expect("made");
    dedup(&["-o"]).arg(&link).arg(&link).assert().success();
    assert_eq!(fs::read(&file).expect("there"), b"a\n");
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(files.names(), ["file", "link"]);
    // A link to a missing file would be replaced, so it is an error.
    symlink("nothing", files.path("dangling")).expect("made");
    let text = dedup(&["-o", "dangling"]).current_dir(&files.0).write_stdin("a\n").assert().code(2);
    assert!(line_said(&text).contains("is a link"));
    assert_eq!(files.names(), ["dangling", "file", "link"]);
    // A new file has the usual permissions, and is not private to its owner.
    dedup(&["-o", "new"]).current_dir(&files.0).write_stdin("a\n").assert().success();
    fs::write(files.path("other"), "").expect("written");
    let mode = |name: &str| fs::metadata(files.path(name)).expect("there").permissions().mode();
    assert_eq!(mode("new"), mode("other"));
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;

    dedup(&["-o", "/dev/null"]).write_stdin("a\n").assert().success().stdout("");
    assert!(fs::metadata("/dev/null").expect("Unix has it").file_type().is_char_device());
}

/// Under any of its names: the file behind it is not replaced, and its contents stay.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_name_is_appended_to() {
    let files = Files::new();
    let file = files.write("log", "old\n");
    std::os::unix::fs::symlink("/dev/stdout", files.path("link")).expect("linked");
    let link = files.path("link");
    let names = ["-", "/dev/stdout", "//dev/fd/1", link.to_str().expect("a name")];
    for name in names {
        let append = OpenOptions::new().append(true).open(&file).expect("ours");
        let mut command = program();
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
    let files = Files::new();
    let file = files.path("log");
    std::os::unix::fs::symlink("/dev/stderr", files.path("link")).expect("linked");
    fs::write(&file, "old\n").expect("written");
    // Also of another process, here of this test: its standard output is not that of the program.
    let held = fs::File::open(&file).expect("ours");
    let number = std::os::fd::AsRawFd::as_raw_fd(&held);
    let other = format!("/proc/{}/fd/{number}", std::process::id());
    for name in ["/dev/stderr", "/dev/fd/2", "link", &other] {
        for command in [&["dedup", "-q", "-o", name][..], &["build", "-q", "-o", name]] {
            let append = OpenOptions::new().append(true).open(&file).expect("ours");
            let mut run = program();
            run.args(command).current_dir(&files.0).stdin(Stdio::null()).stderr(append);
            assert_eq!(run.status().expect("it runs").code(), Some(2), "{command:?}");
            let text = fs::read_to_string(&file).expect("there");
            assert!(text.starts_with("old\n") && text.contains("is open already"), "{text}");
            fs::write(&file, "old\n").expect("written");
        }
    }
    assert_eq!(files.names(), ["link", "log"]);
}
