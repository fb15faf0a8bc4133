//! `tamis which --verify`: exactly the files that have a key, and what it says of files that it
//! cannot read.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Files, json, program, words};
use crate::index::{example, index};

/// Runs `which` with these arguments; returns its exit code and what it prints.
fn which(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = program();
    let command = command.arg("which").args(args).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
}

/// With filters that are wrong one time in ten: no name is missing, and none is wrong.
#[test]
fn only_the_right_files_are_printed() {
    let (files, exact) = example();
    index(&files, &exact, &["--rate", "10%"]);
    let mut keys: Vec<Vec<u8>> =
        exact.iter().flat_map(|(_, keys)| keys.iter().step_by(61).cloned()).collect();
    keys.extend((0..200).map(|number| format!("no homepage {number}").into_bytes()));
    // A key that is asked twice is answered twice.
    keys.push(keys[0].clone());
    files.write("keys", keys.join(&b'\n'));
    let mut expected = String::new();
    for key in &keys {
        for (name, _) in exact.iter().filter(|(_, set)| set.contains(key)) {
            expected += &format!("{}\t{name}\n", String::from_utf8_lossy(key));
        }
    }
    let (_, all, _) = which(files.0.path(), &["INDEX", "--keys", "keys", "-q"]);
    assert!(all.lines().count() > 2 * expected.lines().count());
    for threads in ["1", "7"] {
        let args = ["INDEX", "--keys", "keys", "--verify", "--stats", "json", "-j", threads];
        let (code, found, said) = which(files.0.path(), &args);
        assert!(code == 0 && found == expected, "-j {threads}: {said}");
        let stats = json(&said);
        let wrong = all.lines().count() - expected.lines().count();
        assert_eq!(stats["false_positives"], wrong);
        assert_eq!(
            (&stats["unverified"], &stats["printed"]),
            (&0.into(), &expected.lines().count().into())
        );
    }
    // A key that is in no file.
    let wrong = all.lines().find(|line| line.starts_with("no homepage")).expect("one in ten");
    let (key, _) = wrong.split_once('\t').expect("a tab");
    assert_eq!(which(files.0.path(), &["INDEX", key, "-q"]).0, 0);
    let (code, found, said) = which(files.0.path(), &["INDEX", key, "--verify"]);
    assert_eq!((code, found.as_str()), (1, ""));
    assert!(
        said.contains("1 key, 0 in files that the index names; 0 names of 60 files printed; "),
        "{said}"
    );
    assert!(said.contains(" false positive"), "{said}");
}

/// The keys are those of the records, also in compressed files.
#[test]
fn keys_are_parts_of_records_and_in_normal_form() {
    let files = Files::new();
    let gzip = |name: &str, text: &str| {
        files.write("plain", text);
        files.run(&["dedup", "-q", "plain", "-o", name]);
    };
    gzip("a.csv.gz", "1,\"x, y\"\n2,z\n");
    files.write("b.csv", "1,x\n2,\"z\"\n");
    let csv = ["--csv", "--key-field", "2"];
    files.run(
        &[&["index", "-q", "-o", "C", "a.csv.gz", "b.csv", "--rate", "50%"], &csv[..]].concat(),
    );
    let csv =
        |record| which(files.0.path(), &[&["C", "--verify", "-q", record], &csv[..]].concat());
    assert_eq!(csv("9,z").1, "a.csv.gz\nb.csv\n");
    assert_eq!(csv("9,\"x, y\"").1, "a.csv.gz\n");
    assert_eq!((csv("9,y").0, csv("9,y").1.as_str()), (1, ""));

    gzip("a.json.zst", "{\"id\": {\"b\": 1, \"a\": [2]}}\n{}\n");
    files.write("b.json", "{\"id\": 7}\n{\"id\": \"7\"}\n");
    files.run(&words("index -q -o J a.json.zst b.json --json-key /id --rate 50%"));
    let json =
        |record| which(files.0.path(), &["J", "--verify", "-q", "--json-key", "/id", record]);
    assert_eq!(json("{\"id\":{\"a\":[2],\"b\":1},\"other\":1}").1, "a.json.zst\n");
    assert_eq!(json("{\"id\":\"7\"}").1, "b.json\n");
    assert_eq!(json("{\"id\":7.0}").0, 1);

    files.write("urls", "HTTP://a.example/?utm_source=x\nno URL\n");
    files.run(&["index", "-q", "-o", "U", "urls", "--url", "crawl-1"]);
    let url = ["U", "--verify", "-q", "--url", "crawl-1", "http://a.example"];
    assert_eq!(which(files.0.path(), &url).1, "urls\n");

    files.write("zeros", "a\nb\0c");
    files.run(&["index", "-q", "-o", "Z", "zeros", "-0"]);
    assert_eq!(which(files.0.path(), &["Z", "--verify", "-q", "-0", "a\nb"]).1, "zeros\0");
    assert_eq!(which(files.0.path(), &["Z", "--verify", "-q", "-0", "c"]).1, "zeros\0");
    // The last record may have no separator, and an empty one is a record too.
    files.write("last", "\nx");
    files.run(&["index", "-q", "-o", "L", "last"]);
    assert_eq!(which(files.0.path(), &["L", "--verify", "-q", "", "x"]).1, "\tlast\nx\tlast\n");
}

/// What was verified is printed; the exit code and one line say that something is missing.
#[test]
fn a_file_that_cannot_be_read_is_2_and_named() {
    let files = Files::new();
    let names = ["a", "b", "c", "d", "e"];
    names.iter().for_each(|name| _ = files.write(name, "key\nother\n"));
    files.run(&[&["index", "-q", "-o", "I"], &names[..]].concat());
    fs::remove_file(files.path("b")).expect("there");
    for threads in ["1", "4"] {
        let (code, found, said) =
            which(files.0.path(), &["I", "key", "--verify", "-q", "-j", threads]);
        assert_eq!((code, found.as_str()), (2, "a\nc\nd\ne\n"));
        let line = "tamis: b: No such file or directory (os error 2); names of an index are relative to the current directory\n";
        assert_eq!(said, line);
    }
    // A directory, and a pipe that would never end.
    fs::remove_file(files.path("d")).expect("there");
    fs::create_dir(files.path("d")).expect("made");
    #[cfg(unix)]
    {
        fs::remove_file(files.path("e")).expect("there");
        let made = std::process::Command::new("mkfifo").arg(files.path("e")).status();
        assert!(made.expect("it runs").success());
        let (code, found, said) = which(files.0.path(), &["I", "key", "--verify"]);
        assert_eq!((code, found.as_str()), (2, "a\nc\n"));
        assert!(
            said.contains("; 0 other names were false positives, 3 could not be verified\n"),
            "{said}"
        );
        assert!(said.contains("warning: 2 other files could not be read either\n"), "{said}");
        assert!(
            said.ends_with("current directory\n") && said.contains("\ntamis: b: No such"),
            "{said}"
        );
    }
    // Nothing is verified, and nothing can be said: not 1.
    fs::remove_file(files.path("a")).expect("there");
    fs::remove_file(files.path("c")).expect("there");
    let (code, found, _) = which(files.0.path(), &["I", "key", "--verify", "-q"]);
    assert_eq!((code, found.as_str()), (2, ""));
    // Of another directory.
    let elsewhere = Files::new();
    elsewhere.write("a", "key\n");
    let index = files.path("I");
    let index = index.to_str().expect("text");
    let (code, found, said) = which(elsewhere.0.path(), &[index, "key", "--verify", "-q"]);
    assert_eq!((code, found.as_str()), (2, "a\n"), "{said}");
    // Without --verify no file is read.
    assert_eq!(which(files.0.path(), &["I", "key", "-q"]).0, 0);
}

/// A file is read until all keys are found: what comes after them does not matter.
#[test]
fn a_file_that_is_damaged_later_shows_what_is_before() {
    let files = Files::new();
    let lines: String =
        (0..400_000_u32).map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761))).collect();
    let pack = |text: &str| {
        files.write("in", text);
        files.run(&["dedup", "-q", "in", "-o", "in.gz"]);
    };
    pack(&format!("first\n{lines}last\n"));
    files.run(&["index", "-q", "-o", "I", "in.gz"]);
    // The file is another one now, and the checksum at its end is wrong.
    pack(&format!("first\n{lines}"));
    let mut damaged = fs::read(files.path("in.gz")).expect("read");
    let length = damaged.len();
    damaged[length - 8] ^= 1;
    files.write("in.gz", damaged);
    let verify = |keys: &[&str]| {
        which(files.0.path(), &[&["I", "--verify", "-q", "-j", "1"], keys].concat())
    };
    assert_eq!(verify(&["first"]), (0, "in.gz\n".into(), String::new()));
    // The key that is not found could be in the damaged part.
    let (code, found, said) = verify(&["first", "last"]);
    assert_eq!((code, found.as_str()), (2, "first\tin.gz\n"));
    assert!(said.starts_with("tamis: in.gz, line 400,00") && said.lines().count() == 1, "{said}");
}

/// The name `-` in an index is that of a file.
#[test]
fn a_file_called_dash_is_not_standard_input() {
    use tamis::formats::SetWriter;
    use tamis::hash::Rapid;
    let files = Files::new();
    files.write("-", "key\n");
    let filter = tamis::BlockedBloomFilter::<[u8]>::builder()
        .capacity(9)
        .hasher(Rapid::with_seed(0))
        .build()
        .expect("memory");
    filter.insert(&b"key"[..]);
    let mut set = SetWriter::create(files.path("I")).expect("made");
    set.add("-", &filter).expect("written");
    set.finish().expect("saved");
    assert_eq!(
        which(files.0.path(), &["I", "key", "--verify", "-q"]),
        (0, "-\n".into(), String::new())
    );
}

/// `--strict` is as in other commands.
#[test]
fn a_record_without_a_key_is_an_error_only_if_asked() {
    let files = Files::new();
    files.write("a", "no field\n1\tx\n");
    files.run(&["index", "-q", "-o", "I", "a", "--key-field", "2"]);
    let field = ["I", "--verify", "-q", "--key-field", "2", "1\tx"];
    assert_eq!(which(files.0.path(), &field).1, "a\n");
    let (code, _, said) = which(files.0.path(), &[&field[..], &["--strict"]].concat());
    assert!(code == 2 && said.contains("a, line 1: too few fields"), "{code}: {said}");
}

/// Without the options of the index, no record has the key. A wrong answer would look like a right
/// one.
#[test]
fn options_that_were_forgotten_are_noticed() {
    let files = Files::new();
    files.write("a", "1\tx\n");
    files.write("b", "2\tx\n");
    files.run(&["index", "-q", "-o", "I", "a", "b", "--key-field", "2"]);
    let (code, found, said) = which(files.0.path(), &["I", "x", "--verify", "-q"]);
    assert_eq!((code, found.as_str()), (1, ""));
    assert!(said.starts_with("tamis: warning: no name is right, and by chance "), "{said}");
    assert!(said.ends_with(", or 'tamis index' had other options for records\n"), "{said}");
    let right = ["I", "\tx", "--verify", "-q", "--key-field", "2"];
    assert_eq!(which(files.0.path(), &right), (0, "a\nb\n".into(), String::new()));
}
