//! `tamis build`, `query`, `merge`, `remove` and `info`, against a `HashSet`.

mod convert;
mod kinds;
mod mismatches;
mod tables;

use std::collections::HashSet;
use std::fs;

use crate::common::{Files, by_shell, json, line_said, said};
use serde_json::Value;

const KINDS: [&str; 4] = ["bloom", "blocked", "once", "cuckoo"];

impl Files {
    /// Runs a command, and parses the summary that it prints for programs.
    fn stats(&self, args: &[&str]) -> (String, Value) {
        let (output, text) = self.run(&[args, &["--stats", "json"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        (output, json(&text))
    }

    /// Checks that a command fails with this code, prints nothing and says one line with these
    /// parts.
    fn fails(&self, code: i32, args: &[&str], parts: &[&str]) {
        let text = self.refused(code, args);
        assert!(
            text.starts_with("tamis: ") && parts.iter().all(|part| text.contains(part)),
            "{args:?}: {text}"
        );
    }
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|number| format!("line {number}\n")).collect()
}

/// Every line that was inserted is printed, in order, and hardly any other; `--invert` prints the
/// others.
#[test]
fn a_query_prints_what_was_built_and_inverted_the_rest() {
    let files = Files::new();
    files.write("in", lines((0..20_000).chain(5000..6000)));
    let asked = lines((10_000..60_000).rev().chain(0..10));
    files.write("asked", &asked);
    for kind in KINDS {
        for capacity in [&["--capacity", "21000"][..], &[]] {
            let build = ["build", "-o", "f", "--kind", kind, "--rate", "1%", "in"];
            let (output, stats) = files.stats(&[&build, capacity].concat());
            assert_eq!(output, "");
            assert_eq!((&stats["lines"], &stats["kind"]), (&21_000.into(), &kind.into()));
            let inserted = stats["inserted"].as_u64().expect("a number");
            // A filter that counts copies takes them all. Of the others, some lines were false
            // positives.
            let expected = if kind == "cuckoo" { 21_000..=21_000 } else { 19_700..=20_000 };
            assert!(expected.contains(&inserted), "{stats}");
            assert_eq!(stats["repeated"].as_u64(), Some(21_000 - inserted), "{stats}");
            for threads in ["1", "3"] {
                let (may, stats) = files.stats(&["query", "f", "asked", "-j", threads]);
                let (not, _) = files.stats(&["query", "f", "asked", "-j", threads, "--invert"]);
                // Both outputs are parts of the input, in its order, and together they are all of
                // it.
                let (mut may, mut not) = (may.lines().peekable(), not.lines().peekable());
                let printed = stats["printed"].as_u64().expect("a number");
                assert_eq!(may.clone().count() as u64, printed);
                let inside = 10_010;
                // With 40,000 queries at 1 %, this is 10 standard deviations.
                assert!((inside..inside + 600).contains(&printed), "{kind}: {printed}");
                let known: HashSet<String> = lines(0..20_000).lines().map(str::to_owned).collect();
                for line in asked.lines() {
                    if may.next_if_eq(&line).is_none() {
                        assert_eq!(not.next(), Some(line));
                        assert!(!known.contains(line), "{kind}: a false negative");
                    }
                }
                assert_eq!((may.next(), not.next()), (None, None));
            }
        }
    }
}

/// For Bloom filters the union is that of one build, to the byte. A cuckoo filter may store its
/// items elsewhere.
#[test]
fn merged_filters_are_those_of_all_lines() {
    let files = Files::new();
    files.write("a", lines(0..3000));
    files.write("b", lines(2000..6000));
    for kind in KINDS {
        let build = ["build", "--kind", kind, "--capacity", "10k", "-o"];
        files.run(&[&build[..], &["fa", "a"]].concat());
        files.run(&[&build[..], &["fb", "b"]].concat());
        files.run(&[&build[..], &["both", "a", "b"]].concat());
        let (output, text) = files.run(&["merge", "-o", "union", "fa", "fb"]);
        assert!(output.is_empty() && text.starts_with("2 filters merged; union holds"), "{text}");
        if kind == "cuckoo" {
            assert_eq!(files.info("union")["items"], 7000.0);
        } else {
            let read = |name: &str| files.read(name);
            assert!(read("union") == read("both"), "{kind}");
        }
        let (output, _) = files.run(&["query", "union", "a", "b"]);
        assert_eq!(output, lines((0..3000).chain(2000..6000)));
        // The new filter may replace one of them.
        files.run(&["merge", "-o", "fa", "fb", "fa", "-q"]);
        assert_eq!(files.run(&["query", "fa", "a", "b"]).0, output);
    }
}

/// A single filter is saved as it is, of a kind that cannot be merged too.
#[test]
fn a_merge_of_one_filter_is_a_copy() {
    let files = Files::new();
    files.write("in", lines(0..50));
    for options in
        [["--kind", "rotating", "--window", "100"], ["--kind", "scalable", "--rate", "1%"]]
    {
        files.run(&[&["new", "-q", "f", "in"], &options[..]].concat());
        files.run(&["merge", "-q", "-o", "copy", "f"]);
        assert_eq!(files.run(&["query", "-q", "copy", "in"]).0, lines(0..50));
        files.fails(2, &["merge", "-q", "-o", "both", "f", "copy"], &["cannot be merged"]);
        std::fs::remove_file(files.path("f")).expect("it is there");
    }
}

/// Removals that change nothing are reported.
#[test]
fn copies_that_cannot_be_removed_are_reported() {
    let files = Files::new();
    files.write("many", "a\n".repeat(15) + &"b\n".repeat(14));
    files.run(&["build", "-q", "--kind", "counting", "--capacity", "1000", "-o", "f", "many"]);
    let (_, stats) = files.stats(&["remove", "f", "many"]);
    assert_eq!((&stats["removed"], &stats["staying"]), (&29.into(), &15.into()), "{stats}");
    let warning =
        "15 of the removals had no effect: an item with 15 or more copies cannot be removed";
    assert_eq!(stats["warnings"][0], warning);
    assert_eq!(files.run(&["query", "-q", "f", "many"]).0, "a\n".repeat(15));
}

/// A filter that grows in place says where it ends.
#[test]
fn the_end_of_growth_is_reported() {
    let files = Files::new();
    files.write("in", "a\n");
    let sizes = ["--kind", "scalable-cuckoo", "--capacity", "300", "--rate", "1e-12"];
    let (_, text) = files.run(&[&["new", "f", "in"], &sizes[..]].concat());
    assert!(text.trim_end().ends_with(", grows to 600 items"), "{text}");
    assert_eq!(files.info("f")["capacity"], 600);
}

#[test]
fn removed_lines_are_gone() {
    let files = Files::new();
    files.write("in", lines((0..5000).chain(0..100)));
    files.write("out", lines((0..1000).chain(7000..7010)));
    files.run(&["build", "-o", "f", "--kind", "cuckoo", "--rate", "1e-9", "in"]);
    let (output, stats) = files.stats(&["remove", "f", "out", "-j", "3"]);
    assert_eq!(output, "");
    assert_eq!((&stats["removed"], &stats["missing"]), (&1000.into(), &10.into()), "{stats}");
    assert_eq!(stats["warnings"][0], "10 records were not in the filter");
    // The lines that were inserted twice have a copy left.
    let (output, _) = files.run(&["query", "f", "in"]);
    assert_eq!(output, lines((0..100).chain(1000..5000).chain(0..100)));
    assert_eq!(files.info("f")["items"], 4100.0);
    assert!(!files.path("f.lock").exists());
}

#[test]
fn info_describes_the_filter() {
    let files = Files::new();
    files.write("in", lines(0..1000));
    for (kind, layout) in
        [("bloom", "classic"), ("blocked", "line"), ("once", "line"), ("cuckoo", "buckets")]
    {
        let seed = "81985529216486895";
        let build = ["build", "-o", "f", "--kind", kind, "--capacity", "2000", "--rate", "1e-4"];
        files.run(&[&build[..], &["--seed", seed, "in"]].concat());
        let info = files.info("f");
        for (field, value) in
            [("kind", kind), ("layout", layout), ("hash", "rapidhash-v3"), ("url", "none")]
        {
            assert_eq!(info[field], value, "{info}");
        }
        let number =
            |field: &str| info[field].as_f64().unwrap_or_else(|| panic!("{field}: {info}"));
        assert_eq!((number("capacity"), &info["live"]), (2000.0, &false.into()));
        assert!((900.0..1100.0).contains(&number("items")), "{info}");
        assert_eq!(info["items_exact"], kind == "cuckoo");
        assert!((0.15..0.6).contains(&number("fill")), "{info}");
        assert!((0.4..0.6).contains(&number("saturation")), "{info}");
        assert!(number("false_positive_rate") < number("false_positive_rate_at_capacity"));
        assert!(number("false_positive_rate_at_capacity") < 1.03e-4);
        let size = fs::metadata(files.path("f")).expect("saved").len();
        assert_eq!(number("file_bytes"), size as f64);
        let (text, _) = files.run(&["info", "f"]);
        assert!(text.contains("rapidhash-v3") && text.contains("2,000 items"), "{text}");
        // The seed, in any form, is in neither.
        for text in [&text, &info.to_string()] {
            assert!(
                !text.contains(seed) && !text.to_lowercase().contains("123456789abcdef"),
                "{text}"
            );
        }
    }
}

/// The hash function is that of the file.
#[test]
fn filters_of_any_seed_are_queried() {
    let files = Files::new();
    let text = lines(0..2000);
    files.write("in", &text);
    for (seed, hash) in [("7", "rapidhash-v3"), ("random", "siphash-1-3")] {
        files.run(&["build", "-o", "f", "--seed", seed, "in"]);
        assert_eq!(files.info("f")["hash"], hash);
        assert_eq!(files.run(&["query", "f", "in"]).0, text);
    }
    // Two random keys differ.
    files.run(&["build", "-o", "g", "--seed", "random", "in"]);
    assert_ne!(files.read("f"), files.read("g"));
}

/// The same input and options give the same file, for any number of threads.
#[test]
fn a_build_can_be_repeated() {
    let files = Files::new();
    files.write("in", lines(0..100_000));
    for kind in ["bloom", "blocked", "once"] {
        for capacity in [&["--capacity", "100k"][..], &[]] {
            let build = |name, threads| {
                let args = ["build", "-o", name, "--kind", kind, "-j", threads, "in"];
                files.run(&[&args[..], capacity].concat());
                files.read(name)
            };
            assert!(build("f", "1") == build("g", "4"), "{kind} {capacity:?}");
        }
    }
}

#[test]
fn keys_are_fields_json_values_or_urls() {
    let files = Files::new();
    files.write("known", "x\tbob\ny\tann\nz\n");
    files.write("asked", "1\tann\n2\teve\n3\n4\tbob\n");
    let field = ["--key-field", "2"];
    let (_, text) = files.run(&[&["build", "-o", "f", "known"], &field[..]].concat());
    assert!(
        text.contains("1 record without a key was left out; the first: known, line 3"),
        "{text}"
    );
    let query = [&["query", "f", "asked"], &field[..]].concat();
    assert_eq!(files.run(&query).0, "1\tann\n4\tbob\n");
    // A record without a key is surely not in the filter.
    assert_eq!(files.run(&[&query[..], &["-v"]].concat()).0, "2\teve\n3\n");

    files.write("known", "{\"id\":1}\n{\"id\":\"a\"}\n");
    files.write("asked", "{\"n\":0,\"id\":\"a\"}\n{\"id\":2}\n{ \"id\" : 1 }\n");
    files.run(&["build", "-o", "f", "known", "--json-key", "/id"]);
    assert_eq!(
        files.run(&["query", "f", "asked", "--json-key", "/id"]).0,
        "{\"n\":0,\"id\":\"a\"}\n{ \"id\" : 1 }\n"
    );

    files.write("known", "HTTP://A.example#x\n");
    files.write("asked", "http://a.example/?utm_id=1\nhttp://a.example/\n");
    files.run(&["build", "-o", "f", "known", "--url", "whatwg-1"]);
    assert_eq!(files.run(&["query", "f", "asked", "--url", "whatwg-1"]).0, "http://a.example/\n");
    assert_eq!(files.info("f")["url"], "whatwg-1");
}

#[test]
fn an_overfilled_filter_is_reported() {
    let files = Files::new();
    files.write("in", lines(0..5000));
    for kind in ["bloom", "blocked", "once"] {
        let build = ["build", "-q", "-o", "f", "--capacity", "1000", "--kind", kind];
        let (_, text) = files.run(&[&build[..], &["--overfull", "in"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("tamis: warning: f holds about "), "{text}");
        assert!(
            text.contains("more than its capacity of 1,000") && text.contains("--capacity"),
            "{text}"
        );
    }
}

#[test]
fn a_full_cuckoo_filter_is_1_and_nothing_is_saved() {
    let files = Files::new();
    files.write("in", lines(0..5000));
    let build = ["build", "-o", "f", "--kind", "cuckoo", "--capacity"];
    files.fails(1, &[&build[..], &["1000", "in"]].concat(), &["in, line ", "full", "--capacity"]);
    files.write("same", "a\n".repeat(100));
    for more in [&["--capacity", "1000"][..], &[]] {
        let args = [&["build", "-o", "f", "--kind", "cuckoo", "same"], more].concat();
        files.fails(2, &args, &["copies", "dedup"]);
    }
    assert!(!files.path("f").exists());
    assert_eq!(fs::read_dir(&files.0).expect("the folder").count(), 2);
}

#[test]
fn damaged_filters_are_2_and_nothing_is_printed() {
    let files = Files::new();
    files.write("in", lines(0..3000));
    for kind in KINDS {
        files.run(&["build", "-o", "f", "--kind", kind, "in"]);
        let good = files.read("f");
        let mut damaged = vec![Vec::new(), b"line 1\n".to_vec(), good[..good.len() - 1].to_vec()];
        damaged.push([&good[..], b"\0"].concat());
        for at in [0, 9, 17, 60, 89, 130, 250, 258, 300, 4096, good.len() - 1] {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            damaged.push(bytes);
        }
        for bytes in damaged {
            files.write("bad", bytes);
            files.fails(2, &["info", "bad"], &["bad"]);
            // It loads the filter to change it, which is other code for a cuckoo filter.
            files.fails(2, &["merge", "-o", "out", "bad", "f"], &["bad"]);
        }
        // The other commands load it by the same code as one of these: one damaged file suffices.
        for args in [
            &["query", "bad", "in"][..],
            &["query", "-v", "bad", "in"],
            &["remove", "bad", "in"],
            &["merge", "-o", "out", "f", "bad"],
            &["info", "--json", "bad"],
            &["new", "bad", "in"],
        ] {
            files.fails(2, args, &["bad"]);
        }
        assert!(!files.path("out").exists() && !files.path("bad.lock").exists());
    }
}

#[test]
fn bad_usage_is_2() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-o", "f", "in"]);
    for (args, part) in [
        (&["build", "in"][..], "--output"),
        (&["build", "-o", ".", "in"], "is a directory"),
        (&["build", "-o", "no/f", "in"], "no/f"),
        (&["build", "-o", "-", "in"], "standard output"),
        (&["build", "-o", "f", "missing"], "missing"),
        (&["build", "-o", "f", "--capacity", "0", "in"], "--capacity"),
        (&["build", "-o", "f", "--capacity", "1T", "in"], "out of memory"),
        (&["build", "-o", "f", "--rate", "1e-300", "in"], "rate"),
        (&["build", "-o", "f", "--kind", "table", "in"], "--kind"),
        (&["build", "-o", "f", "--strict", "in"], "tamis build --help"),
        (&["query"], "<FILTER>"),
        (&["query", "missing", "in"], "missing: "),
        (&["query", ".", "in"], ".: "),
        (&["query", "f", "missing"], "missing"),
        (&["query", "f", "in", "--seed", "1"], "--seed"),
        (&["query", "f", "in", "--key-field", "1", "--json-key", "/a"], "--json-key"),
        (&["merge", "f"], "--output"),
        (&["merge", "-o", "g"], "<FILTER>"),
        (&["info"], "<FILTER>"),
        (&["info", "in"], "is not a file of Tamis"),
        (&["new", "g", "in", "--kind", "blocked"], "--capacity"),
        (&["new", "f", "in", "--save-every", "5"], "30s"),
        (&["new", "f", "in", "--save-every", "5s", "-o", "g"], "--output"),
        (&["new", "f", "in", "--seed", "1"], "seed"),
        (&["new", "f", "in", "--seed", "random"], "seed"),
        (&["new", "f", "in", "--kind", "bloom", "--capacity", "9"], "--kind"),
        (&["new", "f", "in", "--url", "crawl-1"], "run: tamis new f in"),
    ] {
        files.fails(2, args, &[part]);
    }
    #[cfg(unix)]
    files.fails(2, &["build", "-o", "/dev/null", "in"], &["/dev/null", "regular file"]);
    // A failed build leaves nothing.
    assert_eq!(fs::read_dir(&files.0).expect("the folder").count(), 2);
}

#[test]
fn a_record_without_a_key_is_2_if_strict() {
    let files = Files::new();
    files.write("in", "a\tb\nc\n");
    let key = ["--key-field", "2", "--strict"];
    files.fails(2, &[&["build", "-o", "f", "in"], &key[..]].concat(), &["in, line 2"]);
    assert!(!files.path("f").exists());
}

/// If the disk is full, the old filter stays, and nothing is left.
#[cfg(target_os = "linux")]
#[test]
fn a_save_that_fails_is_1_and_leaves_the_old_filter() {
    let files = Files::new();
    files.write("in", lines(0..50_000));
    files.write("few", lines(0..10));
    files.run(&["build", "-o", "f", "few"]);
    files.run(&["build", "-o", "c", "--kind", "cuckoo", "--capacity", "150k", "in"]);
    files.run(&["new", "n", "few"]);
    for (filter, args) in [
        ("f", &["build", "-o", "f", "in"][..]),
        ("f", &["merge", "-o", "f", "c", "c"]),
        ("c", &["remove", "c", "few"]),
        ("n", &["new", "n", "in"]),
    ] {
        let before = files.read(filter);
        // Files of 8 KiB at most; the signal about it is ignored.
        let output = by_shell("trap '' XFSZ; ulimit -f 16")
            .args(args)
            .current_dir(&files.0)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains(&format!("tamis: {filter}: cannot save the filter: ")), "{text}");
        assert!(files.read(filter) == before, "{args:?}");
        assert_eq!(fs::read_dir(&files.0).expect("the folder").count(), 5, "{args:?}");
    }
}

/// Without a capacity, a cuckoo filter has room for all copies, which fill its buckets less well
/// than distinct records do.
#[test]
fn a_cuckoo_filter_has_room_for_copies() {
    for copies in 1..=4 {
        for items in [1, 10, 1000, 50_000] {
            let files = Files::new();
            files.write("in", lines(0..items).repeat(copies));
            files.write("once", lines(0..items));
            files.run(&["build", "-q", "-o", "f", "--kind", "cuckoo", "in"]);
            for _ in 0..copies {
                assert_eq!(files.run(&["query", "-q", "f", "once"]).0, lines(0..items));
                files.run(&["remove", "-q", "f", "once"]);
            }
            assert_eq!(files.run(&["query", "-q", "f", "once"]).0, "", "{copies} of {items}");
        }
    }
}
