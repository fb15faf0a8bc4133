//! `tamis index` and `which`, against exact sets and against what they must refuse.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Files, homepages, json, tamis, words};

/// The names of files, and their keys.
pub(crate) type Exact = Vec<(String, BTreeSet<Vec<u8>>)>;

/// Real lines in 60 files: each line in the files that its number selects.
pub(crate) fn example() -> (Files, Exact) {
    let text = fs::read(homepages()).expect("read");
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let files = Files::new();
    let mut exact = Exact::new();
    for number in 0..60 {
        let name = format!("part-{number}.txt");
        let part = lines
            .iter()
            .enumerate()
            .filter(|(line, _)| line / 900 == number || line % 997 == number);
        let part: Vec<&[u8]> = part.map(|(_, line)| *line).collect();
        files.write(&name, [&part.join(&b'\n')[..], b"\n"].concat());
        exact.push((name, part.iter().map(|line| line.to_vec()).collect()));
    }
    (files, exact)
}

pub(crate) fn index(files: &Files, exact: &[(String, BTreeSet<Vec<u8>>)], more: &[&str]) -> String {
    let names = exact.iter().map(|(name, _)| name.as_str());
    let args: Vec<&str> =
        ["index", "-o", "INDEX"].into_iter().chain(names).chain(more.iter().copied()).collect();
    files.run(&args).1
}

/// Every right line is printed, in the order of keys and files, and at most as many others as the
/// rate allows.
#[test]
fn which_prints_a_superset_of_the_right_files() {
    let (files, exact) = example();
    for (kind, rate) in
        [("blocked", "1e-3"), ("bloom", "1e-2"), ("once", "1e-3"), ("cuckoo", "1e-3")]
    {
        index(&files, &exact, &["--kind", kind, "--rate", rate]);
        // Keys of all files, and others.
        let mut keys: Vec<Vec<u8>> =
            exact.iter().flat_map(|(_, keys)| keys.iter().step_by(37).cloned()).collect();
        keys.extend((0..1000).map(|number| format!("no homepage {number}").into_bytes()));
        keys.sort();
        keys.dedup();
        files.write("keys", keys.join(&b'\n'));
        let (found, _) = files.run(&["which", "INDEX", "--keys", "keys"]);

        let found: Vec<(&[u8], &str)> = found
            .lines()
            .map(|line| line.rsplit_once('\t').expect("a tab"))
            .map(|(key, file)| (key.as_bytes(), file))
            .collect();
        let mut rest = found.iter().peekable();
        let (mut right, mut asked) = (0, 0);
        for key in &keys {
            for (name, set) in &exact {
                let printed = rest.next_if(|(k, file)| k == key && file == name).is_some();
                assert!(printed || !set.contains(key), "{kind}: {name} is missing");
                right += usize::from(set.contains(key));
                asked += usize::from(!set.contains(key));
            }
        }
        assert!(rest.peek().is_none(), "{kind}: the order is wrong");
        // Six standard deviations of the binomial distribution, and at most the rate.
        let mean = asked as f64 * rate.parse::<f64>().expect("a rate");
        let wrong = (found.len() - right) as f64;
        assert!(wrong <= mean + 6.0 * mean.sqrt(), "{kind}: {wrong} of {mean} names too many");
    }
}

#[test]
fn the_index_does_not_depend_on_the_number_of_threads() {
    let (files, exact) = example();
    let mut first: Option<Vec<u8>> = None;
    for threads in ["1", "2", "7", "100"] {
        index(&files, &exact, &["-j", threads]);
        let bytes = files.read("INDEX");
        assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "-j {threads}");
    }
}

#[test]
fn one_key_prints_names_and_several_print_keys_too() {
    let files = Files::new();
    files.write("a", "x\ny\n");
    files.write("b", "y\nz");
    files.write("empty", "");
    let (_, said) = files.run(&["index", "-o", "I", "a", "b", "empty", "--rate", "1e-9"]);
    assert_eq!(
        said,
        "4 lines of 3 files, 4 keys; I has filters of 192 B; for a key in no file, 0.00 files are expected\n"
    );
    let which = |args: &[&str]| {
        let (code, text, said) = files.ended(&[&["which", "-q", "I"], args].concat());
        // As grep: 0 if something is printed, and 1 otherwise.
        assert_eq!(code, i32::from(text.is_empty()), "{said}");
        text
    };
    assert_eq!(which(&["y"]), "a\nb\n");
    assert_eq!(which(&["z"]), "b\n");
    assert_eq!(which(&["none"]), "");
    assert_eq!(which(&["z", "none", "x"]), "z\tb\nx\ta\n");
    assert_eq!(which(&["--with-key", "z"]), "z\tb\n");
    assert_eq!(which(&["-0", "y"]), "a\0b\0");
    files.write("keys", "y");
    assert_eq!(which(&["--keys", "keys"]), "y\ta\ny\tb\n");
    assert_eq!(which(&["z", "--keys", "keys"]), "z\tb\ny\ta\ny\tb\n");
    files.write("none", "");
    assert_eq!(which(&["--keys", "none"]), "");
    // An empty record is a key as any other.
    assert_eq!(which(&[""]), "");
    files.write("a", "\n");
    files.run(&["index", "-q", "-o", "I", "a", "b"]);
    assert_eq!(which(&[""]), "a\n");
    files.write("keys", "\n");
    assert_eq!(which(&["--keys", "keys"]), "\ta\n");
    // From standard input.
    let mut which = files.tamis(&["which", "-q", "I", "--keys", "-"]);
    which.write_stdin("z\n").assert().success().stdout("z\tb\n");
}

#[test]
fn keys_are_parts_of_records() {
    let files = Files::new();
    files.write("a.csv", "id,name\n1,\"x, y\"\n");
    files.write("b.csv", "id,name\n2,z\n");
    files.run(&words("index -q -o I a.csv b.csv --csv --key-field 2 --rate 1e-9"));
    assert_eq!(files.run(&["which", "-q", "I", "x, y"]).0, "a.csv\n");
    files.write("wanted.csv", "9,z\n8,\"x, y\"\n");
    let args = ["which", "-q", "I", "--csv", "--key-field", "2", "--keys", "wanted.csv"];
    assert_eq!(files.run(&args).0, "9,z\tb.csv\n8,\"x, y\"\ta.csv\n");

    files.write("a.json", "{\"id\": \"u1\"}\n{}\n");
    files.write("b.json", "{\"id\": {\"b\": 1, \"a\": 2}}\n");
    let (_, said) =
        files.run(&["index", "-o", "J", "a.json", "b.json", "--json-key", "/id", "--rate", "1e-9"]);
    assert!(
        said.contains("1 record without a key was left out; the first: a.json, line 2"),
        "{said}"
    );
    let which = |key: &str| files.run(&["which", "-q", "J", "--json-key", "", key]).0;
    assert_eq!(which("\"u1\""), "a.json\n");
    assert_eq!(which("{\"a\":2, \"b\":1}"), "b.json\n");
}

/// The policy is in the index; another one is refused, with the command to run.
#[test]
fn the_url_policy_is_kept() {
    let files = Files::new();
    files.write("a", "http://a.example/?utm_source=x\n");
    files.run(&["index", "-q", "-o", "I", "a", "--url", "crawl-1"]);
    assert_eq!(files.run(&["which", "-q", "I", "--url", "crawl-1", "HTTP://a.example"]).0, "a\n");
    let said = files.refused(2, &["which", "I", "http://a.example/"]);
    assert!(said.contains("run: tamis which --url crawl-1 I http://a.example/"), "{said}");
    let said = files.refused(1, &["which", "-q", "I", "--url", "crawl-1", "no URL"]);
    assert!(said.contains("1 record without a key was left out"), "{said}");
    let said = files.refused(2, &["which", "I", "--url", "crawl-1", "--strict", "no URL"]);
    assert!(said.contains("KEY, line 1: "), "{said}");
}

#[test]
fn the_summary_is_json_when_asked() {
    let files = Files::new();
    files.write("a", "x\nx\ny\n");
    let stats = |args: &[&str]| json(&files.run(args).1);
    let index = stats(&["index", "-o", "I", "a", "--stats", "json"]);
    for (field, value) in [("files", 1), ("lines", 3), ("keys", 2)] {
        assert_eq!(index[field], value, "{field}");
    }
    let which = stats(&["which", "I", "x", "--stats", "json"]);
    for field in ["files", "keys", "printed"] {
        assert_eq!(which[field], 1, "{field}");
    }
}

/// A run that fails changes nothing and leaves no file.
#[test]
fn bad_input_is_refused() {
    let files = Files::new();
    files.write("a", "x\n");
    files.write("b", "{}\n");
    files.run(&["index", "-q", "-o", "I", "a"]);
    let before = (files.names(), files.read("I"));
    for (args, expected) in [
        (&["index", "-o", "I", "a", "none"][..], "none: No such file"),
        (&["index", "-o", "I", "a", "a"], "a: is given twice"),
        (&["index", "-o", "I", "-"], "-: is standard input"),
        (&["index", "-o", "a", "a"], "a: is also the index"),
        (&["index", "-o", "I", "a", "./I"], "./I: is also the index"),
        (&["index", "-o", "-", "a"], "-: is standard output"),
        (&["index", "-o", "I", "a", "b", "--json-key", "/id", "--strict"], "a, line 1: "),
        (&["index", "-o", "I"], "see 'tamis index --help'"),
        (&["index", "-o", "I", "a", "--rate", "1e-30"], "no filter of rate 1e-30"),
        (&["which", "I"], "see 'tamis which --help'"),
        (&["which", "none", "x"], "none: No such file"),
        (&["which", "a", "x"], "a: "),
        (&["which", "I", "--keys", "none"], "none: No such file"),
        (&["query", "I", "a"], "I: "),
    ] {
        let said = files.refused(2, args);
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!((files.names(), files.read("I")) == before, "{args:?}");
    }
    // A filter is not an index, and a damaged index gives no wrong answer.
    files.run(&["build", "-q", "-o", "F", "a"]);
    let said = files.refused(2, &["which", "F", "x"]);
    assert_eq!(
        said,
        "tamis: F: does not end as an index does: it is no index, or one that was cut off\n"
    );
    let mut damaged = before.1;
    damaged[4096] ^= 1;
    files.write("I", damaged);
    let said = files.refused(2, &["which", "I", "x"]);
    assert!(said.starts_with("tamis: I: filter 0 of the set, `a`: "), "{said}");
}

/// With `--strict`, a file without the delimiter is named, among others that have it.
#[test]
fn a_file_without_the_delimiter_is_named() {
    let files = Files::new();
    files.write("a", "1,x\n");
    files.write("b", "2\n");
    let key = ["--key-field", "1", "--delimiter", ",", "--strict", "-q"];
    let said = files.refused(2, &[&["index", "-o", "I", "a", "b"], &key[..]].concat());
    assert!(said.starts_with("tamis: b: no record has the delimiter"), "{said}");
    assert!(!files.path("I").exists());
    files.run(&[&["index", "-o", "I", "a", "b"], &key[..4], &["-q"]].concat());
    // The key is not there any more.
    files.write("b", "3\n");
    let said = files.refused(2, &[&["which", "I", "--verify", "2"], &key[..]].concat());
    assert!(said.starts_with("tamis: b: no record has the delimiter"), "{said}");
}

/// As the help says.
#[test]
fn at_most_64_threads_are_used() {
    let files = Files::new();
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    names.iter().for_each(|name| _ = files.write(name, "x\n"));
    let mut args = vec!["index", "-o", "I", "-j", "1024", "--stats", "json"];
    args.extend(names.iter().map(String::as_str));
    assert_eq!(json(&files.run(&args).1)["threads"], 64);
}

#[cfg(unix)]
#[test]
fn names_are_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let files = Files::new();
    let name = OsStr::from_bytes(b"a\xff\nb");
    fs::write(files.0.path().join(Path::new(name)), "x\n").expect("written");
    let run = |args: &[&OsStr]| tamis().current_dir(&files.0).args(args).assert().success();
    let text = OsStr::new;
    run(&[text("index"), text("-q"), text("-o"), text("I"), name]);
    let output = run(&[text("which"), text("-q"), text("-0"), text("I"), text("x")]);
    assert_eq!(output.get_output().stdout, b"a\xff\nb\0");
}

/// An index of a later version is still an index, not a filter with something behind it.
#[test]
fn an_index_of_another_version_is_named_as_one() {
    let files = Files::new();
    files.write("a", "x\n");
    files.run(&["index", "-q", "-o", "INDEX", "a"]);
    let mut bytes = files.read("INDEX");
    let version = bytes.len() - 64 + 8;
    bytes[version] = 2;
    files.write("INDEX", bytes);
    let text = files.refused(2, &["info", "INDEX"]);
    assert!(text.contains("is an index, not a filter"), "{text}");
    let text = files.refused(2, &["which", "INDEX", "x"]);
    assert!(text.contains("version"), "{text}");
}
