//! `tamis convert`: any form of our format becomes an ordinary filter.

use tamis::formats::{Live, Options, Parts};
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter};

use super::*;

/// The offset of the body in a file of less than a MiB.
const BODY: usize = 4096;

/// Builds a filter `f`, and a live file `live` with the same records.
fn live(files: &Files, kind: &str) -> Vec<u8> {
    files.write("in", lines(0..1000));
    let build = ["build", "-q", "-o", "f", "--kind", kind, "--capacity", "1000", "--rate", "1e-4"];
    files.run(&[&build[..], &["in"]].concat());
    macro_rules! create {
        ($filter:ident) => {{
            let builder = $filter::<[u8]>::builder().capacity(1000).false_positive_rate(1e-4);
            let geometry = builder.geometry().expect("small");
            let parts = Parts { geometry, capacity: 1000, hasher: Rapid::with_seed(0) };
            Live::<$filter<[u8], Rapid>>::create_file(files.path("live"), &parts, &Options::new())
        }};
    }
    let _ = fs::remove_file(files.path("live"));
    if kind == "bloom" { create!(BloomFilter) } else { create!(BlockedBloomFilter) }
        .expect("created");
    // The body of a live file is that of a saved one.
    let saved = files.read("f");
    let mut live = files.read("live");
    assert_eq!(live.len(), saved.len());
    live[BODY..].copy_from_slice(&saved[BODY..]);
    fs::write(files.path("live"), &live).expect("written");
    saved
}

#[test]
fn a_live_file_becomes_an_ordinary_one() {
    let files = Files::new();
    for kind in ["bloom", "blocked"] {
        let saved = live(&files, kind);
        assert_eq!(files.info("live")["live"], true);
        // Most commands do not take the live file, and say what to do.
        let next = "live: is live: other programs may be changing it; use a copy: tamis convert -o COPY live";
        files.fails(2, &["query", "live", "in"], &[next]);
        files.fails(2, &["new", "live", "in"], &[next]);
        let (output, said) = files.run(&["convert", "-o", "copy", "live"]);
        assert_eq!(output, "");
        assert!(said.starts_with("1 filter converted; copy holds about "), "{said}");
        assert!(files.read("copy") == saved, "{kind}");
        assert_eq!(files.run(&["query", "-q", "copy", "in"]).0, lines(0..1000));
        // The processes that share a live file would not see another one under its name.
        let before = files.read("live");
        for args in [
            &["convert", "-o", "live", "live"][..],
            &["merge", "-o", "live", "live", "live"],
            &["merge", "-o", "live", "copy"],
            &["build", "-o", "live", "in"],
            &["dedup", "-o", "live", "in"],
        ] {
            files.fails(2, args, &["live: is live: ", "give another name with -o"]);
        }
        assert!(files.read("live") == before);
    }
}

/// Also the policy stays, even one that this program does not have.
#[test]
fn an_ordinary_filter_keeps_its_bytes_through_files_and_pipes() {
    let files = Files::new();
    files.write("in", "http://a.example/\n");
    files.run(&["build", "-q", "-o", "f", "--url", "crawl-1", "--seed", "random", "in"]);
    files.run(&["new", "-q", "t", "in"]);
    let filter = BloomFilter::<[u8]>::builder()
        .capacity(10)
        .hasher(Rapid::with_seed(1))
        .build()
        .expect("small");
    let policy = tamis::formats::Normalization::new("other-v9").expect("short");
    Options::new().normalization(policy).save(&filter, files.path("g")).expect("saved");
    for name in ["f", "t", "g"] {
        let saved = files.read(name);
        files.run(&["convert", "-q", "-o", "copy", name, "--from", "tamis", "--to", "tamis"]);
        assert!(files.read("copy") == saved);
        // From standard input, to standard output.
        let convert = |args: &[&str]| {
            let mut run = files.tamis(&[&["convert", "-q"], args].concat());
            let run = run.write_stdin(saved.clone()).assert();
            run.success().stderr("").get_output().stdout.clone()
        };
        assert_eq!(convert(&["-", "-o", "copy2"]), b"");
        assert!(files.read("copy2") == saved);
        assert!(convert(&["-", "-o", "-"]) == saved);
        assert!(convert(&[name, "-o", "-"]) == saved);
        // In place.
        files.run(&["convert", "-q", "-o", name, name]);
        assert!(files.read(name) == saved);
    }
}

#[test]
fn what_is_wrong_is_2_and_nothing_is_written() {
    let files = Files::new();
    files.write("in", lines(0..100));
    files.run(&["build", "-q", "-o", "f", "in"]);
    let good = files.read("f");
    let mut flipped = good.clone();
    *flipped.last_mut().expect("a body") ^= 1;
    for (bytes, part) in [
        (&b""[..], "0 bytes of 256"),
        (b"PK\x03\x04 no filter", "starts with 50 4b"),
        (&good[..300], "is cut off: it has 300 bytes of"),
        (&[&good[..], b"\0"].concat(), "its filter ends after"),
        (&flipped, "chunk 0 of the body is damaged"),
    ] {
        files.write("bad", bytes);
        files.fails(2, &["convert", "-o", "out", "bad"], &["tamis: bad: ", part]);
        let mut run = files.tamis(&["convert", "-", "-o", "out"]);
        let text = line_said(&run.write_stdin(bytes).assert().code(2).stdout(""));
        assert!(text.starts_with("tamis: standard input: ") && text.contains(part), "{text}");
    }
    for (args, part) in [
        (&["convert", "f"][..], "--output"),
        (&["convert", "-o", "out"], "<FILTER>"),
        (&["convert", "-o", ".", "f"], "is a directory"),
        (&["convert", "-o", "out", "missing"], "missing: "),
        (&["convert", "-o", "out", "."], ".: "),
        (&["convert", "-o", "out", "f", "--to", "guava"], "tamis build --to guava"),
        (&["convert", "-o", "out", "f", "--to", "guva"], "guava:mitz32"),
        (&["convert", "-o", "out", "f", "--from", "guava"], "f: is a filter of tamis: omit --from"),
        (&["convert", "-o", "out", "in", "--from", "guava"], "in: guava: "),
        // Formats without a header take any bytes.
        (
            &["convert", "-o", "out", "f", "--from", "parquet"],
            "f: is a filter of tamis: omit --from",
        ),
        (&["new", "f", "in", "--from", "leveldb"], "f: is a filter of tamis: omit --from"),
        // Only a filter of tamis is created.
        (&["new", "out", "in", "--from", "guava"], "out: there is no such file"),
        (&["new", "out", "in", "--key-type", "i32"], "out: there is no such file"),
        (&["new", "out", "in", "--column", "a"], "out: there is no such file"),
        (&["merge", "-o", "out", "f", "f", "--from", "rocksdb"], "f: is a filter of tamis: omit"),
    ] {
        files.fails(2, args, &[part]);
    }
    assert!(!files.path("out").exists());
}

/// A file of rbloom does not say how its keys were hashed. The program says so, once.
#[test]
fn an_unknown_hash_is_a_warning() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-q", "-o", "f", "--to", "rbloom", "--capacity", "10", "in"]);
    for command in ["query", "new"] {
        let (_, said) = files.run(&[command, "-q", "--from", "rbloom", "f", "in"]);
        assert_eq!(said.matches("sha256(key)").count(), 1, "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// A filter of another system in a file of tamis may have no empty keys, as its own file has none.
#[test]
fn strict_has_an_effect_on_a_wrapped_filter() {
    let files = Files::new();
    files.write("in", "a\n\n");
    files.run(&["build", "-q", "-o", "f", "--to", "hadoop:bloom", "--capacity", "9", "in"]);
    files.run(&["convert", "-q", "-o", "W", "--from", "hadoop:bloom", "f"]);
    for args in [&["query", "--strict", "W", "in"][..], &["new", "--strict", "W", "in"]] {
        let (code, _, said) = files.ended(args);
        assert!(code == 2 && said.contains("in, line 2: the key is empty"), "{args:?}: {said}");
    }
    // With a filter of tamis, every line has a key.
    files.run(&["build", "-q", "-o", "F", "in"]);
    files.fails(2, &["query", "--strict", "F", "in"], &["--strict has no effect"]);
}
