//! A command that replaces a file gives nobody access who had none. What a killed run has left, the
//! next one removes.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Files, homepages, program};
use rustix::process::{getegid, geteuid, getgroups};

/// Calls `check` with each command that replaces the file `old`, and the next of these modes. The
/// three files of records and the seven others get each of three modes.
fn each<M: Copy>(modes: &[M], check: impl Fn(&Files, &[&str], M)) {
    let foreign = ["build", "-q", "-o", "old", "--to", "guava", "--capacity", "9", "in"];
    for ((prepare, args), mode) in [
        (&["new", "-q", "old", "none"][..], &["new", "-q", "old", "in"][..]),
        (&["new", "-q", "old", "none"], &["merge", "-q", "-o", "old", "old", "other"]),
        (&["build", "-q", "-o", "old", "none"], &["build", "-q", "-o", "old", "in"]),
        (&["new", "-q", "old", "none"], &["convert", "-q", "-o", "old", "other"]),
        (&["build", "-q", "-o", "old", "--kind", "cuckoo", "in"], &["remove", "-q", "old", "in"]),
        (&foreign, &["new", "-q", "--from", "guava", "old", "more"]),
        (&["index", "-q", "-o", "old", "none"], &["index", "-q", "-o", "old", "in"]),
        (&["dedup", "-q", "-o", "old", "none"], &["dedup", "-q", "-o", "old", "in"]),
        (&["dedup", "-q", "-o", "old", "none"], &["query", "-q", "other", "in", "-o", "old"]),
        (&["dedup", "-q", "-o", "old", "none"], &["new", "-q", "fresh", "in", "-o", "old"]),
    ]
    .into_iter()
    .zip(modes.iter().cycle())
    {
        let files = Files::new();
        files.write("none", "");
        files.write("in", "a\nb\n");
        files.write("more", "c\nd\n");
        files.run(&["new", "-q", "other", "in"]);
        files.run(prepare);
        check(&files, args, *mode);
    }
}

fn access(path: &Path) -> (u32, u32, u32) {
    let found = fs::metadata(path).expect("there");
    (found.uid(), found.gid(), found.mode() & 0o7777)
}

/// A group that this process may give to a file: as root any, otherwise one that it is in, if
/// possible not its first.
fn group() -> u32 {
    let others = getgroups().expect("known");
    let other = others.into_iter().find(|group| *group != getegid()).unwrap_or(getegid());
    if geteuid().is_root() { 4242 } else { other.as_raw() }
}

#[test]
fn the_owner_the_group_and_the_permissions_are_kept() {
    let owner = if geteuid().is_root() { 4243 } else { geteuid().as_raw() };
    each(&[0o640, 0o664, 0o604], |files, args, mode| {
        let old = files.path("old");
        let before = fs::read(&old).expect("there");
        chown(&old, Some(owner), Some(group())).expect("may be set");
        fs::set_permissions(&old, Permissions::from_mode(mode)).expect("may be set");
        files.run(args);
        assert_eq!(access(&old), (owner, group(), mode), "{args:?}");
        assert!(fs::read(&old).expect("there") != before, "{args:?} has changed nothing");
    });
}

/// The other user, whose only group has the same number.
const OTHER: u32 = 4243;

/// Gives a directory these permissions, and returns a command that runs the program in it as
/// another user; or `None`, and says so, where that takes more rights than this process has.
fn as_other(files: &Files, mode: u32) -> Option<Command> {
    if !geteuid().is_root() {
        println!("NOT TESTED: only root can run the program as another user");
        return None;
    }
    // The other user may not read where the program is. A process of its own copies it: a file that
    // this process writes is open in every child that another test forks at that moment, and a file
    // that is open for writing cannot be run.
    let (program, copy) = (program(), files.path("tamis"));
    let copied = Command::new("cp").arg(program.get_program()).arg(&copy).status();
    assert!(copied.expect("cp runs").success());
    fs::set_permissions(files.0.path(), Permissions::from_mode(mode)).expect("ours");
    let mut run = Command::new(copy);
    run.current_dir(&files.0).stdin(Stdio::null()).uid(OTHER).gid(OTHER);
    Some(run)
}

/// A user who may write in the directory, and is not in the group of the file.
#[test]
fn a_group_that_cannot_be_kept_gets_nothing() {
    let folder = Files::new();
    // What the group could not do, its members cannot do now that they are others.
    each(&[(0o646, 0o604), (0o666, 0o606), (0o606, 0o600)], |files, args, (mode, left)| {
        let Some(mut run) = as_other(&folder, 0o755) else { return };
        let old = files.path("old");
        fs::set_permissions(files.0.path(), Permissions::from_mode(0o777)).expect("ours");
        chown(&old, Some(0), Some(4242)).expect("root");
        fs::set_permissions(&old, Permissions::from_mode(mode)).expect("ours");
        let output = run.args(args).current_dir(&files.0).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(access(&old), (OTHER, OTHER, left), "{args:?}");
    });
}

/// A save syncs the directory, and opens it for that.
#[test]
fn a_directory_that_cannot_be_read_is_refused_before_any_output() {
    let files = Files::new();
    files.write("in", "a\nb\n");
    fs::create_dir(files.path("drop")).expect("created");
    fs::set_permissions(files.path("drop"), Permissions::from_mode(0o733)).expect("ours");
    for args in [&["new", "drop/f", "in"][..], &["build", "-o", "drop/f", "in"]] {
        let Some(mut run) = as_other(&files, 0o755) else { return };
        let output = run.args(args).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{text}");
        assert!(text.contains("drop/f") && text.contains("ermission"), "{text}");
        assert_eq!(fs::read_dir(files.path("drop")).expect("root").count(), 0, "{args:?}");
    }
}

/// What the system does not let another file replace is found before any output, and before the
/// file of `-o` is replaced.
#[test]
fn a_filter_that_cannot_be_replaced_is_refused_before_any_output() {
    let files = Files::new();
    files.write("in", "a\nb\n");
    files.write("out", "old");
    files.run(&["new", "-q", "f", "/dev/null"]);
    // A user who may write the file, and may not remove it.
    fs::set_permissions(files.path("f"), Permissions::from_mode(0o666)).expect("ours");
    let Some(mut sticky) = as_other(&files, 0o1777) else { return };
    sticky.args(["new", "f", "in", "-o", "out"]);
    // A file that is mounted alone, as for a container.
    let mut mounted = Command::new("unshare");
    mounted.args(["-m", "sh", "-c", "mount --bind f f && exec ./tamis new f in -o out"]);
    let runs = [(sticky, "sticky"), (mounted, "mount point")];
    for (mut run, cause) in runs.into_iter().take(if cfg!(target_os = "linux") { 2 } else { 1 }) {
        let Ok(output) = run.current_dir(&files.0).stdin(Stdio::null()).output() else {
            println!("NOT TESTED: there is no unshare");
            continue;
        };
        let text = String::from_utf8_lossy(&output.stderr);
        if text.contains("unshare failed") || text.contains("mount:") {
            println!("NOT TESTED: this container cannot mount: {text}");
            continue;
        }
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{text}");
        assert!(text.contains(cause) && text.lines().count() == 1, "{text}");
        assert_eq!(files.read("out"), b"old");
    }
}

/// The lock that a killed run of another user has left is used, and removed.
#[test]
fn the_lock_of_another_user_is_no_obstacle() {
    let files = Files::new();
    files.write("f.lock", "");
    let Some(mut run) = as_other(&files, 0o777) else { return };
    assert!(run.args(["new", "-q", "f"]).status().expect("it runs").success());
    assert_eq!(files.names(), ["f", "tamis"]);
}

/// The moments at which a run is killed, evenly in its first 20 ms: under `cargo xtask ci --long`,
/// which sets `TAMIS_LONG` for the compiler, 100.
const KILLS: u64 = if option_env!("TAMIS_LONG").is_some() { 100 } else { 20 };

/// The kills come at all moments: before the file is created, while it is written, while it is
/// synced. More come as soon as there is a temporary file, until the last has left one.
#[test]
fn what_killed_runs_have_left_the_next_one_removes() {
    let input = homepages();
    let input = input.to_str().expect("text");
    for args in [
        &["build", "-q", "-o", "old", input][..],
        &["new", "-q", "old", input, "--save-every", "1ms"],
        &["dedup", "-q", "-o", "old", input],
    ] {
        let files = Files::new();
        let start = || {
            program()
                .current_dir(&files.0)
                .args(args)
                .stdout(Stdio::null())
                .spawn()
                .expect("it runs")
        };
        let has_temporary = || files.names().iter().any(|name| name.ends_with(".tmp"));
        let (mut kill, mut is_left) = (0, false);
        while kill < KILLS || !is_left {
            assert!(kill < KILLS + 1000, "{args:?} leaves no temporary file");
            let mut run = start();
            if kill < KILLS {
                // Of a new filter the first moments matter: a later run has nothing to save.
                thread::sleep(Duration::from_micros(kill * 20_000 / KILLS));
            } else {
                while !has_temporary() && run.try_wait().expect("its state").is_none() {}
            }
            let _ = run.kill();
            run.wait().expect("it ends");
            is_left = has_temporary();
            let _ = fs::remove_file(files.path("old"));
            kill += 1;
        }
        assert!(start().wait().expect("it ends").success());
        assert_eq!(files.names(), ["old"], "{args:?}");
    }
}
