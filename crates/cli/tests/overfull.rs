//! Filters of fixed size stop before their rate is twice the one that was asked for, unless
//! `--overfull` is given; and filters that are built as `merge` advises merge at the rate.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;

use crate::common::Files;
use tamis_cli::dedup::CHUNK;

/// Each kind of fixed size that takes any number of items.
const KINDS: [&str; 4] = ["blocked", "once", "bloom", "counting"];

/// Distinct lines, each twice.
fn twice(range: core::ops::Range<u64>) -> String {
    range.fold(String::new(), |mut text, number| {
        writeln!(text, "https://example.org/{number}\nhttps://example.org/{number}").expect("text");
        text
    })
}

/// Distinct lines.
fn once(range: core::ops::Range<u64>) -> String {
    range.map(|number| format!("https://example.org/{number}\n")).collect()
}

/// Runs a command that fails with 1; returns what it prints.
fn failing(files: &Files, args: &[&str]) -> (String, String) {
    let (code, output, said) = files.ended(args);
    assert_eq!(code, 1, "{args:?}: {said}");
    (output, said)
}

/// A number from the JSON of `tamis info`.
fn number(files: &Files, filter: &str, field: &str) -> f64 {
    files.info(filter)[field].as_f64().expect("a number")
}

#[test]
fn build_refuses_what_doubles_the_rate_and_keeps_the_old_file() {
    let files = Files::new();
    files.write("few", twice(0..1000));
    files.write("many", twice(0..2000));
    for kind in KINDS {
        let sized = ["build", "-q", "--kind", kind, "--capacity", "1000", "--rate", "1e-4"];
        let build = |input| [&sized[..], &["-o", "f", input]].concat();
        // As many as it was built for, also in copies.
        files.run(&build("few"));
        let before = fs::read(files.path("f")).expect("saved");
        let (_, text) = failing(&files, &build("many"));
        assert!(text.starts_with("tamis: f: with more than 1,"), "{kind}: {text}");
        assert!(text.contains("is above 2.0e-4") && text.contains("--overfull"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(fs::read(files.path("f")).expect("kept") == before, "{kind}");
        // The advice.
        files.run(&["build", "-q", "--kind", kind, "--rate", "1e-4", "-o", "g", "many"]);
        assert!(number(&files, "g", "false_positive_rate") < 2e-4, "{kind}");
        files.run(&[&build("many")[..], &["--overfull"]].concat());
        assert!(number(&files, "f", "false_positive_rate") > 2e-4, "{kind}");
    }
}

/// Whatever the threads and chunks do, the filter has exactly what was printed: everything printed
/// is in it, and the run that may overfill it prints all the rest.
#[test]
fn new_stops_before_the_record_that_doubles_the_rate() {
    let files = Files::new();
    // Several chunks, so that the limit is passed in the middle of one that is decided by the
    // shards or not: the last of three.
    let input = twice(0..30_000);
    assert!(twice(0..22_000).len() > 2 * CHUNK && input.len() <= 3 * CHUNK);
    files.write("in", &input);
    let lines: Vec<&str> = input.lines().step_by(2).collect();
    for kind in KINDS {
        for threads in ["1", "4"] {
            let sized = ["--kind", kind, "--capacity", "22k", "--rate", "1e-7"];
            let new = |name: &'static str| {
                [&["new", "-q", "--threads", threads, name, "in"], &sized[..]].concat()
            };
            let (first, text) = failing(&files, &new("f"));
            let printed: Vec<&str> = first.lines().collect();
            let count = printed.len();
            assert!((22_000..24_200).contains(&count), "{kind}: {count}");
            assert!(text.starts_with("tamis: in, line ") && text.contains(" f: with more than "));
            assert!(text.contains("2.0e-7") && text.contains("--overfull"), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
            // The line is that of the first record that was not printed and is new.
            let line = text["tamis: in, line ".len()..].split(':').next().expect("a line");
            let line: usize = line.replace(',', "").parse().expect("a number");
            let printed: HashSet<&str> = printed.into_iter().collect();
            assert!(!printed.contains(input.lines().nth(line - 1).expect("a line")));
            // What was printed is in the filter.
            let rest = files.run(&["query", "-q", "-v", "f", "in"]).0;
            let rest: HashSet<&str> = rest.lines().collect();
            assert!(rest.is_disjoint(&printed), "{kind}");
            // Nothing else is: all lines are one or the other, but for false positives.
            assert!(rest.len() + printed.len() >= lines.len() - 2, "{kind}: {}", rest.len());
            assert!(number(&files, "f", "false_positive_rate") < 2.2e-7, "{kind}");

            // A filter that is full already prints nothing, and is not changed.
            let before = fs::read(files.path("f")).expect("saved");
            files.write("more", twice(100_000..110_000));
            let (more, text) = failing(&files, &["new", "-q", "f", "more"]);
            assert!(more.lines().count() < 1000, "{kind}: {}", more.lines().count());
            assert!(text.starts_with("tamis: more, line "), "{text}");
            fs::write(files.path("f"), before).expect("written");
            // What is in it is no news.
            files.write("seen", first.as_bytes());
            assert_eq!(files.run(&["new", "-q", "f", "seen"]).0, "");
            // All the rest, if it may be overfull.
            let (last, _) = files.run(&[&new("f")[..], &["--overfull"]].concat());
            assert!(first.lines().count() + last.lines().count() >= lines.len() - 100, "{kind}");
            fs::remove_file(files.path("f")).expect("saved");
        }
    }
}

/// A rate that never doubles has no limit, and a full filter has any number of items.
#[test]
fn a_filter_without_a_limit_may_be_full() {
    let files = Files::new();
    files.write("in", twice(0..50_000));
    let new = ["new", "-q", "f", "in", "--kind", "bloom", "--capacity", "10", "--rate", "0.5"];
    assert!(!files.run(&new).0.is_empty());
    assert_eq!(files.run(&new).0, "");
}

/// The rate that --kind stands for decides as one that is given, in the next run too.
#[test]
fn the_limit_is_that_of_the_options() {
    let files = Files::new();
    files.write("in", twice(0..3000));
    let new = |name: &'static str, rate: &[&'static str]| {
        let sized = ["new", "-q", name, "in", "--kind", "blocked", "--capacity", "1000"];
        failing(&files, &[&sized[..], rate].concat())
    };
    let (given, _) = new("given", &["--rate", "1e-6"]);
    let (default, _) = new("default", &[]);
    assert_eq!((given.len(), given == default), (default.len(), true));
    assert_eq!(new("default", &[]).0, "");
}

/// A record without a key is printed and takes no room; an error in the input before the limit
/// counts first.
#[test]
fn records_without_a_key_take_no_room() {
    let files = Files::new();
    let mut input = String::new();
    (0..3000).for_each(|number| writeln!(input, "x\n{number},b").expect("text"));
    files.write("in", &input);
    let new = ["new", "-q", "f", "in", "--key-field", "2", "--delimiter", ",", "--capacity", "9"];
    assert_eq!(files.run(&[&new[..], &["--rate", "1e-3"]].concat()).0.lines().count(), 3001);
}

/// The kinds that grow, forget or refuse items themselves have no such limit.
#[test]
fn other_kinds_are_not_limited() {
    let files = Files::new();
    files.write("in", twice(0..5000));
    for size in [
        &["--kind", "scalable", "--capacity", "10"][..],
        &["--kind", "scalable-cuckoo", "--capacity", "10"],
        &["--window", "100"],
        &["--capacity", "10"],
    ] {
        let (news, _) = files.run(&[&["new", "-q", "f", "in"], size].concat());
        assert!(news.lines().count() > 4900, "{size:?}");
        fs::remove_file(files.path("f")).expect("saved");
    }
    files.write("few", "a\nb\n");
    for args in [
        &["build", "-o", "f", "few", "--to", "parquet", "--overfull"][..],
        &["new", "g", "few", "--from", "guava", "--overfull"],
    ] {
        files.run(&["build", "-q", "-o", "g", "few", "--to", "guava", "--capacity", "10"]);
        let text = files.refused(2, args);
        assert!(text.contains("--overfull") && text.contains("omit it"), "{text}");
    }
}

/// A filter of another system does not say for how many keys it was built, but `build` knows it,
/// and `new` sees the bits.
#[test]
fn filters_of_other_systems_are_not_overfull_in_silence() {
    let files = Files::new();
    files.write("in", (0..5000).map(|number| format!("{number}\n")).collect::<String>());
    files.write("few", (0..1040).map(|number| format!("{number}\n")).collect::<String>());
    for system in ["guava", "parquet", "leveldb", "hadoop:bloom"] {
        let build = ["build", "-q", "-o", "f", "--to", system, "--capacity", "1000"];
        let text = files.refused(1, &[&build[..], &["in"]].concat());
        assert!(
            text.starts_with("tamis: f: ") && text.contains("more than its capacity of 1,000"),
            "{text}"
        );
        assert!(text.contains("--overfull") && !files.path("f").exists(), "{text}");
        // A few more are none.
        assert_eq!(files.run(&[&build[..], &["few"]].concat()), Default::default());
        let (_, said) = files.run(&[&build[..], &["in", "--overfull"]].concat());
        assert!(said.contains("of all absent keys for present ones"), "{said}");
        let (_, said) = files.run(&["new", "-q", "--from", system, "f", "in"]);
        assert!(said.contains("of all absent keys for present ones"), "{said}");
        fs::remove_file(files.path("f")).expect("saved");
    }
}

/// Repeats are no more keys, counters count them, and some formats grow.
#[test]
fn keys_that_fit_are_not_refused() {
    let files = Files::new();
    files.write("twice", twice(0..1000));
    files.write("many", (0..5000).map(|number| format!("{number}\n")).collect::<String>());
    let build = |system, input| {
        let args = ["build", "-q", "-o", "f", "--to", system, "--capacity", "1000", input];
        let args = [&args[..], &["--key-type", "utf8"]].concat();
        assert_eq!(files.run(&args), Default::default(), "{system}");
    };
    for system in ["guava", "parquet", "leveldb", "hadoop:bloom", "hadoop:counting", "rbloom"] {
        build(system, "twice");
    }
    for system in ["redisbloom:bf", "pybloom_live:scalable"] {
        build(system, "many");
    }
}

/// A cuckoo filter refuses items itself: what was printed before the first one is saved, and
/// nothing else.
#[test]
fn a_full_cuckoo_filter_has_what_was_printed() {
    for threads in ["1", "4"] {
        let files = Files::new();
        files.write("in", once(0..300_000));
        let new = ["new", "-q", "-j", threads, "--kind", "cuckoo", "--capacity", "1000", "f", "in"];
        let (printed, said) = failing(&files, &new);
        let count = printed.lines().count();
        assert!(count >= 1000 && once(0..300_000).starts_with(&printed), "{count}");
        assert!(said.contains("in, line 1,"), "{said}");
        assert_eq!(number(&files, "f", "items"), count as f64);
        // Nothing is printed again.
        let (again, _) = failing(&files, &["new", "-q", "-j", threads, "f", "in"]);
        assert_eq!(again, "");
    }
}

/// Follows the advice of `merge` to the letter.
#[test]
fn filters_that_are_built_as_merge_advises_merge_at_the_rate() {
    let files = Files::new();
    files.write("one", once(0..1000));
    files.write("two", once(500..6000));
    for kind in ["blocked", "once", "bloom", "counting", "cuckoo"] {
        for rate in ["1e-6", "1e-3"] {
            let build = |name, capacity| {
                let input = name;
                let output = if input == "one" { "f" } else { "g" };
                let sized = ["build", "-q", "-o", output, "--kind", kind, "--rate", rate];
                files.run(&[&sized[..], &["--capacity", capacity, input]].concat());
            };
            build("one", "2000");
            build("two", "12k");
            let text = files.refused(2, &["merge", "-o", "m", "f", "g"]);
            let advice = text.trim_end().rsplit_once(": tamis ").expect("a command").1;
            assert!(advice.contains("--capacity 14000"), "{advice}");
            for (name, input) in [("f", "one"), ("g", "two")] {
                let advice = advice.replace("NEW", name).replace("FILE...", input);
                files.run(&advice.split(' ').collect::<Vec<_>>());
            }
            files.run(&["merge", "-q", "-o", "m", "f", "g"]);
            let rate: f64 = rate.parse().expect("a number");
            let merged = number(&files, "m", "false_positive_rate");
            assert!(merged <= rate, "{kind}: {merged} for {rate}: {advice}");
        }
    }
}

/// A filter may hold more than it was built for: the advice counts what it holds.
#[test]
fn the_advice_of_merge_counts_the_items_of_an_overfull_filter() {
    let files = Files::new();
    files.write("one", twice(0..1000));
    files.write("two", twice(1000..6000));
    files.run(&["build", "-q", "-o", "f", "--capacity", "1000", "one"]);
    files.run(&["build", "-q", "-o", "g", "--capacity", "2000", "--overfull", "two"]);
    let text = files.refused(2, &["merge", "-o", "m", "f", "g"]);
    let capacity = text.split("--capacity ").nth(1).and_then(|rest| rest.split(' ').next());
    let capacity: u64 = capacity.expect("a capacity").parse().expect("a number");
    assert!((5700..6500).contains(&capacity), "{text}");
}
