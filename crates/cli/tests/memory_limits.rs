//! Memory that is not there is an error in one line, never an abort and never "damaged"; what is
//! not a regular file is no filter; and what the system of a filter does not have is no key.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use crate::common::{Files, by_shell, json, tamis};

/// Runs a command with a limit on its address space, in KiB.
fn limited(files: &Files, kib: u64, args: &[&str]) -> Output {
    by_shell(&format!("ulimit -c 0; ulimit -v {kib}"))
        .args(args)
        .current_dir(&files.0)
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

/// The smallest limit, in KiB, at which the program says its version; a process needs about as much
/// to start.
fn start(files: &Files) -> u64 {
    let mut limits = (1..200).map(|step| 1024 * step);
    limits.find(|&kib| limited(files, kib, &["--version"]).status.success()).expect("a limit")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files of all tests: records, and filters of several kinds with them.
fn filters() -> Files {
    let files = Files::new();
    let lines: String = (0..60_000).map(|line| format!("https://example.org/{line}\n")).collect();
    files.write("in", &lines);
    files.write("many", lines.repeat(2));
    files.run(&["new", "-q", "table", "in", "-o", "out"]);
    for kind in ["blocked", "cuckoo", "counting", "scalable"] {
        files.run(&["build", "-q", "-o", kind, "--kind", kind, "in"]);
    }
    // `info` takes little but the filter: it must need more than the rounding of `start`. Address
    // space counts for all of the growth.
    let (kind, capacity) = ("scalable-cuckoo", "64k");
    files.run(&["build", "-q", "-o", kind, "--kind", kind, "--capacity", capacity, "in"]);
    files.run(&["build", "-q", "-o", "guava", "--to", "guava", "--capacity", "4M", "in"]);
    files.run(&["convert", "-q", "--from", "guava", "-o", "wrapped", "guava"]);
    files.run(&["index", "-q", "-o", "index", "in"]);
    files
}

/// Commands that take memory in different ways.
const COMMANDS: [&str; 21] = [
    "dedup -q in -o out",
    "dedup -q in -o out.zst",
    "query -q blocked many -o out.zst",
    "dedup -q --threads 4 --rate 1e-6 in -o out",
    "new -q created in",
    "new -q table in",
    "new -q --from guava guava in",
    "new -q --kind blocked --capacity 1M bloom in",
    "build -q -o built in",
    "build -q -o built --capacity 1M in",
    "build -q -o built --to redisbloom:cf --capacity 1M in",
    "query -q counting in -o out",
    "query -q --from guava guava in -o out",
    "remove -q cuckoo in",
    "merge -q -o merged blocked blocked",
    "convert -q -o converted scalable",
    "convert -q -o converted wrapped",
    "index -q -o indexed in",
    "which -q index --keys in",
    "info scalable-cuckoo",
    "info --from guava guava",
];

/// Each command either runs or says in one line that memory is short, at any limit with which the
/// process starts. Larger limits than two at which it has run are for `cargo xtask ci --long`,
/// which sets `TAMIS_LONG` for the compiler.
#[test]
fn a_lack_of_memory_is_one_clear_line() {
    let files = filters();
    let kept = ["guava", "cuckoo"].map(|name| (name, files.read(name)));
    let start = start(&files);
    for command in COMMANDS {
        let args: Vec<&str> = command.split(' ').collect();
        let (mut short, mut ran) = (0, 0);
        for step in 0..16 {
            if ran == 2 && option_env!("TAMIS_LONG").is_none() {
                break;
            }
            let kib = start + 1500 * step;
            let output = limited(&files, kib, &args);
            let stderr = text(&output.stderr);
            match output.status.code() {
                Some(0) => ran += 1,
                Some(1 | 2) => {
                    short += 1;
                    // `new` may have no memory to save what it printed before.
                    assert!((1..=2).contains(&stderr.lines().count()), "{command} {kib}: {stderr}");
                    for line in stderr.lines() {
                        let is_clear = line.contains("out of memory") && line.contains("needs");
                        assert!(is_clear, "{command} {kib}: {stderr}");
                    }
                    for wrong in ["damaged", "not valid", "panicked"] {
                        assert!(!stderr.contains(wrong), "{command} {kib}: {stderr}");
                    }
                }
                _ => panic!("{command} {kib}: {}: {stderr}", output.status),
            }
        }
        assert!(short > 0, "{command} always ran");
        // With enough, it runs, whatever the runs before have left.
        let restore = || kept.iter().for_each(|(name, bytes)| drop(files.write(name, bytes)));
        restore();
        let output = limited(&files, 4_000_000, &args);
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
        restore();
    }
}

/// `which` fails with 2, also if there is no memory for its start: 1 would mean that it found
/// nothing.
#[test]
fn which_fails_with_2_however_early() {
    let files = Files::new();
    let start = start(&files);
    for (args, code) in [("which index key", 2), ("query -qe filter", 2), ("query -q filter", 1)] {
        let args: Vec<&str> = args.split(' ').collect();
        let runs = (1..8).map(|step| limited(&files, start - 256 * step, &args));
        let early: Vec<_> =
            runs.filter(|run| text(&run.stderr).contains("out of memory")).collect();
        assert!(!early.is_empty());
        assert!(early.iter().all(|run| run.status.code() == Some(code)), "{early:?}");
    }
}

/// So it is with a header of any length, and any number of columns.
#[test]
fn a_giant_header_is_read_or_one_clear_line() {
    let files = Files::new();
    files.write("long", vec![b'0'; 20 << 20]);
    files.write("many", vec![b','; 4 << 20]);
    let start = start(&files);
    for name in ["long", "many"] {
        let args = ["dedup", "-q", "--csv", "--header", "--key-field", "1", name];
        for more in [10, 30, 50, 70, 100] {
            let output = limited(&files, start + (more << 10), &args);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name}, {more} MiB: {stderr}");
            assert!(stderr.contains("out of memory") && stderr.lines().count() == 1, "{stderr}");
        }
        assert!(limited(&files, 4_000_000, &args).status.success(), "{name}");
    }
}

/// A filter that fits is read: the file twice, and little more.
#[test]
fn a_filter_that_fits_is_read() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-q", "-o", "guava", "--to", "guava", "--capacity", "60M", "in"]);
    let file = fs::metadata(files.path("guava")).expect("saved").len() / 1024;
    let start = start(&files);
    for args in [
        &["info", "--from", "guava", "guava"][..],
        &["convert", "-q", "--from", "guava", "-o", "wrapped", "guava"],
        &["info", "wrapped"],
    ] {
        let fits = limited(&files, start + 2 * file + 6000, args);
        assert!(fits.status.success(), "{args:?}: {}", text(&fits.stderr));
        let less = limited(&files, start + 2 * file - 6000, args);
        let stderr = text(&less.stderr);
        assert_eq!(less.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains("out of memory: it needs ") && stderr.contains("are available"));
    }
}

/// A cuckoo filter that grows is built and saved with little address space too: it grows less far.
/// The filter for 300,000 records would take 1.9 GiB to grow 1024-fold.
#[test]
fn a_filter_grows_as_far_as_the_address_space_allows() {
    let files = Files::new();
    files.write("in", "a\n");
    let args = ["--kind", "scalable-cuckoo", "--capacity", "300k", "--rate", "1e-6"];
    let mut last = 0;
    for mib in [200, 500, 1000, 2000] {
        for command in [&["build", "-q", "-o", "f", "in"][..], &["new", "-q", "f", "in"]] {
            let output = limited(&files, mib << 10, &[command, &args].concat());
            assert!(output.status.success(), "{mib}: {}", text(&output.stderr));
            if command[0] == "build" {
                let capacity = files.info("f")["capacity"].as_u64().expect("a number");
                assert!(capacity >= last.max(600_000), "{mib}: {capacity}");
                last = capacity;
            } else {
                // It has no copy of what the filter contains.
                assert!(output.stdout.is_empty());
            }
        }
        fs::remove_file(files.path("f")).expect("saved");
        let output = limited(&files, mib << 10, &[&["new", "-q", "f", "in"][..], &args].concat());
        assert!(output.status.success(), "{mib}: {}", text(&output.stderr));
        fs::remove_file(files.path("f")).expect("saved");
    }
    assert!(last >= 4 * 600_000, "{last}");
}

/// A filter that can be loaded can be saved: the copy has no room for growth.
#[test]
fn a_save_takes_no_address_space_for_growth() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-q", "-o", "f", "--kind", "scalable-cuckoo", "--capacity", "100k", "in"]);
    let info = files.info("f");
    assert_eq!(info["capacity"], 102_400_000, "{info}");
    files.write("more", "b\n");
    let start = start(&files);
    // The least with which it can be loaded, in steps of 16 MiB.
    let mut limits = (0..256).map(|step| start + (step << 14));
    let least = limits.find(|&kib| limited(&files, kib, &["info", "f"]).status.success());
    let least = least.expect("a limit");
    assert!(least > start + (300 << 10), "{least}");
    let output = limited(&files, least + (200 << 10), &["new", "-q", "f", "more"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "b\n");
    assert_eq!(files.run(&["new", "-q", "f", "more"]).0, "");
}

/// 24 bytes that become 256 MiB at the first key.
#[test]
fn a_tiny_header_of_a_large_filter_is_refused_before_the_run() {
    let files = Files::new();
    files.write("in", "a\n");
    let tiny = ["build", "-q", "-o", "f", "--to", "datasketches", "--seed", "1", "--rate", "0.5"];
    files.write("none", "");
    files.run(&[&tiny[..], &["--capacity", "1G", "none"]].concat());
    assert_eq!(fs::metadata(files.path("f")).expect("saved").len(), 24);
    // To look at it takes nothing.
    assert!(limited(&files, 100_000, &["info", "--from", "datasketches", "f"]).status.success());
    let new = ["new", "-q", "--from", "datasketches", "f", "in"];
    let output = limited(&files, 150_000, &new);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("tamis: f: out of memory: it needs 17") && output.stdout.is_empty());
    assert_eq!(fs::metadata(files.path("f")).expect("kept").len(), 24);
}

/// To open a pipe would wait for its other end, and a device never ends.
#[test]
fn pipes_and_devices_are_no_filters() {
    let files = Files::new();
    files.write("in", "a\n");
    assert!(Command::new("mkfifo").arg(files.path("pipe")).status().expect("it runs").success());
    std::os::unix::fs::symlink(files.path("pipe"), files.path("link")).expect("created");
    for filter in ["pipe", "link", "/dev/zero", "/dev/null"] {
        for from in [&[][..], &["--from", "redisbloom:cf"]] {
            for command in [
                "info F",
                "query F in",
                "new F in",
                "remove F in",
                "merge -o o F F",
                "convert -o o F",
            ] {
                let args: Vec<&str> = command
                    .split(' ')
                    .map(|word| if word == "F" { filter } else { word })
                    .collect();
                let mut run = tamis();
                run.current_dir(&files.0).args(&args).args(from);
                // The time only ends a command that waits.
                let output = run.timeout(std::time::Duration::from_secs(60)).assert().code(2);
                let stderr = text(&output.get_output().stderr);
                assert!(
                    stderr.contains("a device") && stderr.contains(filter),
                    "{args:?}: {stderr}"
                );
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
            }
        }
        let mut which = tamis();
        which.current_dir(&files.0).args(["which", filter, "x"]);
        which.timeout(std::time::Duration::from_secs(60)).assert().code(2);
    }
    for pipe in ["pipe", "link"] {
        let mut build = tamis();
        build.current_dir(&files.0).args(["build", "-o", pipe, "in"]);
        build.timeout(std::time::Duration::from_secs(60)).assert().code(2);
    }
}

/// Standard input may be endless: it is read as far as memory allows.
#[test]
fn endless_input_of_convert_ends_with_an_error() {
    let files = Files::new();
    let mut run = by_shell("ulimit -c 0; ulimit -v 200000")
        .args(["convert", "--from", "guava", "-o", "f", "-"])
        .current_dir(&files.0)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = run.stdin.take().expect("piped");
    let zeros = vec![0; 1 << 20];
    while input.write_all(&zeros).is_ok() {}
    let output = run.wait_with_output().expect("it ends");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("tamis: standard input: out of memory: it needs "), "{stderr}");
    assert!(!files.path("f").exists());
}

/// Hadoop has no empty keys, and DataSketches ignores the empty string.
#[test]
fn a_key_that_the_system_does_not_have_is_a_record_without_a_key() {
    for (system, key_type) in
        [("hadoop:bloom", "bytes"), ("hadoop:counting", "utf8"), ("datasketches", "utf8")]
    {
        let files = Files::new();
        files.write("in", "a\n\nb\n\n");
        let keys = ["--key-type", key_type, "--stats", "json", "in"];
        let from = ["--from", system, "f"];
        let build = ["build", "-o", "f", "--to", system, "--capacity", "100"];
        let (_, stats) = files.run(&[&build[..], &keys].concat());
        assert_eq!((&json(&stats)["keyless"], &json(&stats)["inserted"]), (&2.into(), &2.into()));
        // It is in no filter, and printed again by each run.
        let (found, stats) = files.run(&[&["query"], &from[..], &keys].concat());
        assert_eq!((&*found, &json(&stats)["keyless"]), ("a\nb\n", &2.into()), "{system}");
        assert_eq!(files.run(&[&["query", "-v"], &from[..], &keys].concat()).0, "\n\n");
        let (news, stats) = files.run(&[&["new"], &from[..], &keys].concat());
        let warning = json(&stats)["first_keyless"].as_str().expect("a text").to_owned();
        assert_eq!((&*news, &json(&stats)["new"]), ("\n\n", &0.into()), "{system}");
        assert!(warning.contains("in, line 2: the key is empty"), "{warning}");
        if system == "hadoop:counting" {
            let (_, stats) = files.run(&[&["remove"], &from[..], &keys].concat());
            let stats = json(&stats);
            assert_eq!((&stats["keyless"], &stats["removed"]), (&2.into(), &2.into()));
        }
    }
}
