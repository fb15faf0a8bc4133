//! Saves that are killed or that reach a limit: the path has the old file or the new one, and the
//! error is clear.
//!
//! `cargo xtask faults` does this at every system call.
#![cfg(target_os = "linux")]

mod common;
#[allow(dead_code, reason = "each test uses a part")]
mod crew;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{Bloom, Cuckoo, bytes_of, filled, small_bloom};
use crew::{Board, Role, until};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tamis_bloom::BloomFilter;
use tamis_cuckoo::CuckooFilter;
use tamis_formats::foreign::{Error, Format};
use tamis_formats::{SaveError, Saved, SetInfo, SetWriter, encoded_len, load, save};
use tamis_hash::{HashItem, Rapid};

/// Kills of a process that saves.
const KILLS: u64 = if option_env!("TAMIS_LONG").is_some() { 100 } else { 20 };

/// Two filters of each kind, with a body of two chunks and a part of a third one.
fn blooms() -> [Bloom; 2] {
    [1000, 2000].map(|items| {
        let builder = BloomFilter::<u64>::builder().bits(5 << 22).probes(7);
        filled(builder.hasher(Rapid::with_seed(1)).build().unwrap(), items)
    })
}

fn cuckoos() -> [Cuckoo; 2] {
    [1000, 2000].map(|items| {
        let builder = CuckooFilter::<u64>::builder().buckets(5 << 16).slots(4);
        let builder = builder.fingerprint_bits(16).hasher(Rapid::with_seed(1));
        filled(builder.build().unwrap(), items)
    })
}

/// Every process of every test: the program is started again with this test only. Otherwise it does
/// nothing.
#[test]
fn process() {
    let Some(role) = Role::of_this_process() else { return };
    match role.name.as_str() {
        "limited bloom" => save_with_every_limit(&role, &blooms()),
        "limited cuckoo" => save_with_every_limit(&role, &cuckoos()),
        "saver" => save_for_ever(&role),
        "mover" => save_and_move(&role),
        "reserver" => reserve_too_much(),
        name => panic!("no role {name}"),
    }
}

/// Limits the length of files that this process writes.
fn limit(len: u64) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: Some(len), maximum }).unwrap();
}

/// Starts a process that ignores the signal for a file that is too long, or that does not.
fn run_limited(role: &str, folder: &Path, ignores: bool) -> std::process::ExitStatus {
    let trap = if ignores { "trap '' XFSZ; exec \"$0\" \"$@\"" } else { "exec \"$0\" \"$@\"" };
    let command = Role::command(role, 0, folder);
    let mut shell = Command::new("sh");
    shell.args(["-c", trap]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.stdout(Stdio::null()).status().unwrap()
}

/// What a process does that cannot write long files.
fn save_with_every_limit<F: Saved<Hasher: HashItem<u64>>>(role: &Role, filters: &[F; 2]) {
    let path = role.folder.join("saved");
    let old = fs::read(&path).unwrap();
    let len = encoded_len(&filters[1]);
    // The end of the file, of a header, of the table, of each chunk, and some others.
    let chunk = 1 << 20;
    let ends = [0, 256, 4096, 4096 + chunk, 4096 + 2 * chunk, len];
    let others = (1..20).map(|part| len * part / 20);
    for end in ends.into_iter().flat_map(|end| [end.saturating_sub(1), end, end + 1]).chain(others)
    {
        limit(end);
        let result = save(&filters[1], &path);
        if end >= len {
            result.unwrap();
            assert!(fs::read(&path).unwrap() == bytes_of(&filters[1]), "{end}");
            // The next limit may be too low for the old file.
            limit(u64::MAX >> 1);
            fs::write(&path, &old).unwrap();
        } else {
            let error = result.unwrap_err();
            assert!(matches!(error, SaveError::Io(_)), "{error:?}");
            assert!(error.to_string().contains("File too large"), "{error}");
            assert!(fs::read(&path).unwrap() == old, "the old file changed at {end}");
        }
        let files = fs::read_dir(&role.folder).unwrap().count();
        assert_eq!(files, 1, "a temporary file is left after limit {end}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_the_old_file_stays() {
    fn check<F: Saved>(role: &str, filters: &[F; 2]) {
        let folder = tempfile::tempdir().unwrap();
        save(&filters[0], folder.path().join("saved")).unwrap();
        assert!(run_limited(role, folder.path(), true).success(), "see the message above");
        // Without a handler, the signal kills the process in the middle of the first save.
        let status = run_limited(role, folder.path(), false);
        assert_eq!(status.signal(), Some(Signal::XFSZ.as_raw()), "{status}");
        assert!(fs::read(folder.path().join("saved")).unwrap() == bytes_of(&filters[0]));
    }
    check("limited bloom", &blooms());
    check("limited cuckoo", &cuckoos());
}

/// What a process does that is to be killed: it saves one filter and the other, and never ends.
fn save_for_ever(role: &Role) {
    let board = Board::open(&role.folder, 1, 0);
    let (blooms, cuckoos) = (blooms(), cuckoos());
    for saves in 1.. {
        let [bloom, other] = [&blooms[saves % 2], &blooms[(saves + 1) % 2]];
        save(bloom, role.folder.join("bloom")).unwrap();
        save(other, role.folder.join("other")).unwrap();
        save(&cuckoos[saves % 2], role.folder.join("cuckoo")).unwrap();
        board.publish(0, saves as u64);
    }
}

#[test]
fn a_save_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Board::create(folder, 1, 0);
    let board = Board::open(folder, 1, 0);
    let [blooms, cuckoos] = [blooms().map(|f| bytes_of(&f)), cuckoos().map(|f| bytes_of(&f))];
    let left = || {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".tmp")).collect::<Vec<_>>()
    };
    // Until each path had either file, and the last kill has left a temporary one.
    let (mut kill, mut seen) = (0, HashSet::new());
    while kill < KILLS || seen.len() < 6 || left().is_empty() {
        assert!(kill < KILLS + 200, "{seen:?} alone, or no temporary file: {:?}", left());
        board.publish(0, 0);
        let saver = Role::start("saver", 0, folder);
        until(|| board.number_of(0) > kill % 2);
        thread::sleep(Duration::from_micros(Rapid::with_seed(1).hash_item(&kill) % 20_000));
        assert!(!saver.kill().success(), "the saver ended before it was killed");
        for (name, both) in [("bloom", &blooms), ("other", &blooms), ("cuckoo", &cuckoos)] {
            let found = fs::read(folder.join(name)).unwrap();
            let which = both.iter().position(|bytes| *bytes == found);
            assert!(which.is_some(), "{name} is another file after kill {kill}");
            seen.insert((name, which));
        }
        load::<Bloom>(folder.join("bloom")).unwrap();
        load::<Cuckoo>(folder.join("cuckoo")).unwrap();
        kill += 1;
    }
    // What the kills left is no filter, unless it is a whole one.
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let is_whole = blooms.contains(&bytes) || cuckoos.contains(&bytes);
        let loads = load::<Bloom>(&path).is_ok() || load::<Cuckoo>(&path).is_ok();
        assert!(is_whole || !loads, "{} is taken for a filter", path.display());
    }
    // The next save to a path removes what is left of those before.
    save(&small_bloom(), folder.join("bloom")).unwrap();
    save(&small_bloom(), folder.join("other")).unwrap();
    save(&small_bloom(), folder.join("cuckoo")).unwrap();
    assert!(left().is_empty(), "{:?}", left());
}

/// A relative path names the file of the directory in which the save began.
#[test]
fn a_process_that_changes_its_directory_replaces_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    [&one, &other].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(other.join("saved"), "of another").unwrap();
    assert!(Role::start("mover", 0, folder.path()).wait().success());
    assert!(SetInfo::open(one.join("saved")).is_ok());
    assert_eq!(fs::read(other.join("saved")).unwrap(), b"of another");
}

fn save_and_move(role: &Role) {
    env::set_current_dir(role.folder.join("one")).unwrap();
    let set = SetWriter::<u64>::create("saved").unwrap();
    env::set_current_dir(role.folder.join("other")).unwrap();
    set.finish().unwrap();
}

/// A filter of another system for more keys than there is memory for.
#[test]
fn a_filter_of_another_system_that_is_too_large_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Role::start("reserver", 0, folder.path()).wait().success());
}

fn reserve_too_much() {
    setrlimit(Resource::As, Rlimit { current: Some(1 << 30), maximum: None }).unwrap();
    let built = |capacity| Format::BitsAndBlooms.build(capacity, None, None);
    assert!(built(1 << 20).is_ok());
    let error = built(1 << 36).unwrap_err();
    assert!(matches!(error, Error::Alloc { bytes } if bytes > 1 << 36), "{error}");
}
