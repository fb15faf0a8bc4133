//! `tamis plan`, `tamis completions` and `tamis man`.

use crate::common::{json, line_said, said, tamis};

fn stdout(args: &[&str]) -> String {
    let output = tamis().args(args).assert().success().stderr("").get_output().clone();
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn plan_reports_what_each_kind_costs() {
    let text = stdout(&["plan", "--capacity", "10M", "--rate", "1%", "--max-memory", "12MiB"]);
    for kind in ["bloom", "blocked", "once", "cuckoo", "counting", "rotating", "scalable"] {
        assert_eq!(text.lines().filter(|line| line.starts_with(kind)).count(), 2, "{text}");
    }
    assert!(text.contains("10,000,000 items"), "{text}");
    assert!(text.contains("   5 slots of 12 bits  97.5%  "), "{text}");
    assert!(
        text.contains("`.words(n)`): 1: 11.95 (default), 2: 10.20, 4: 10.11, 8: 10.10\n"),
        "{text}"
    );

    let args = ["plan", "--capacity", "10M", "--rate", "1%", "--max-memory", "12MiB", "--json"];
    let json = json(&stdout(&args));
    let kinds = json["kinds"].as_array().expect("an array");
    assert_eq!(kinds.len(), 7);
    for kind in kinds {
        let cuckoo = kind["kind"] == "cuckoo";
        let by_words = &kind["bits_per_item_by_words"];
        assert_eq!(by_words["1"].is_f64(), kind["kind"] == "blocked" || kind["kind"] == "once");
        assert!(by_words["2"].as_f64().is_none_or(|bits| (10.19..10.21).contains(&bits)), "{kind}");
        let bits = kind["bits_per_item"].as_f64().expect("a number");
        let expected = match kind["kind"].as_str().expect("a name") {
            "bloom" => 9.62,
            "cuckoo" => 13.13,
            // A counter instead of each bit.
            "counting" => 47.81,
            // Eight generations of a sixth of the items each.
            "rotating" => 21.13,
            // The first slice has a quarter of the rate, and locks.
            "scalable" => 14.07,
            _ => 11.95,
        };
        assert!((bits - expected).abs() < 0.01, "{kind}");
        let rate = kind["false_positive_rate"].as_f64().expect("a number");
        let expected = match kind["kind"].as_str().expect("a name") {
            // The rate of fingerprints of 12 bits, the next width that there is.
            "cuckoo" => 0.0023..=0.0025,
            "scalable" => 0.0024..=0.0025,
            "rotating" => 0.0094..=0.01,
            _ => 0.0097..=0.01,
        };
        assert!(expected.contains(&rate), "{kind}");
        let number = |field: &str| kind[field].as_f64().expect("a number");
        if cuckoo {
            assert_eq!((number("slots"), number("fingerprint_bits")), (5.0, 12.0));
            let load = 10e6 / (5.0 * number("buckets"));
            assert!((number("load") - load).abs() < 1e-9 && (0.97..0.98).contains(&load), "{kind}");
        } else {
            assert!(number("probes") >= number("words") && (0.3..0.6).contains(&number("fill")));
        }
        let fits = kind["bytes"].as_u64().expect("a number") <= 12 << 20;
        assert_eq!(kind["fits"], fits, "{kind}");
        let capacity = kind["capacity_that_fits"].as_u64().expect("a number");
        assert_eq!(capacity >= 10_000_000, fits, "{kind}");
        let rate = kind["rate_that_fits"].as_f64().expect("a number");
        assert_eq!(rate <= 0.01, fits, "{kind}");
    }
}

/// If one kind cannot keep the rate, the others are still printed.
#[test]
fn plan_reports_which_kind_cannot_keep_the_rate() {
    let plan = |rate, more: &[&str]| {
        stdout(&[&["plan", "--capacity", "1M", "--rate", rate][..], more].concat())
    };
    let text = plan("5e-13", &["--max-memory", "1GiB"]);
    let lines = |kind: &'static str| text.lines().filter(move |line| line.starts_with(kind));
    assert!(
        ["bloom", "blocked", "once"].into_iter().all(|kind| lines(kind).count() == 2),
        "{text}"
    );
    let mut cuckoo = lines("cuckoo");
    let lowest = cuckoo.next().and_then(|line| line.strip_prefix("cuckoo   cannot go below rate "));
    assert!(cuckoo.next().is_some_and(|line| line.contains("items at rate 5e-13")), "{text}");
    // The rate that it names as the lowest is possible. It depends on the buckets that the
    // processor supports.
    let lowest = lowest.expect("a rate").trim();
    assert!(plan(lowest, &[]).contains("slots of"), "{text}");
    let named: f64 = lowest.parse().expect("a number");

    let json = json(&plan("5e-13", &["--json"]));
    let kinds = json["kinds"].as_array().expect("an array");
    for kind in kinds {
        let lowest = kind["lowest_rate"].as_f64();
        assert_eq!(lowest.is_some(), kind["kind"] == "cuckoo", "{kind}");
        assert_eq!(lowest.is_none(), kind["bytes"].is_u64(), "{kind}");
        assert!(lowest.is_none_or(|lowest| (lowest / named - 1.0).abs() < 0.1), "{kind}");
    }

    // With this number of items, half of the rate goes to equal hashes; only Bloom filters report
    // that as an error.
    let text = stdout(&["plan", "--capacity", "10T", "--rate", "1e-6"]);
    assert_eq!(text.matches("cannot go below rate 1.1e-6").count(), 5, "{text}");
    // Generations add up.
    assert_eq!(text.matches("cannot go below rate ").count(), 6, "{text}");
    assert!(text.contains("cuckoo  "), "{text}");
    // Equal hashes alone make 0.54 of this rate: less than it, and more than half.
    let refused = tamis().args(["plan", "--capacity", "10M", "--rate", "1e-12"]).assert().code(2);
    let text = said(&refused);
    assert!(text.contains("the rate is at least 1.1e-12") && !text.contains("exceed"), "{text}");
    let text = stdout(&["plan", "--capacity", "10M", "--rate", "1.1e-12"]);
    assert!(text.contains("blocked "), "{text}");
}

#[test]
fn plan_rejects_impossible_filters() {
    for args in [
        ["plan", "--capacity", "0"].as_slice(),
        &["plan", "--capacity", "18446744073709551615", "--rate", "1e-6"],
        &["plan", "--capacity", "10", "--rate", "1e-300"],
        &["plan", "--capacity", "10", "--rate", "1"],
        &["plan"],
    ] {
        line_said(&tamis().args(args).assert().code(2).stdout(""));
    }
}

#[test]
fn completions_contain_the_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = stdout(&["completions", shell]);
        assert!(text.contains("dedup") && text.contains("max-line"), "{shell}");
        assert!(text.contains("convert"), "{shell}");
    }
    tamis().args(["completions", "csh"]).assert().code(2);
}

#[test]
fn manual_pages_contain_the_options() {
    let program = stdout(&["man"]);
    assert!(program.contains(".TH tamis 1") && program.contains("dedup"), "{program}");
    let dedup = stdout(&["man", "dedup"]);
    assert!(dedup.contains(".TH tamis-dedup 1"), "{dedup}");
    assert!(dedup.contains("key\\-field") && dedup.contains("crawl\\-1"), "{dedup}");
    assert!(dedup.contains("gclid"), "{dedup}");
    assert!(stdout(&["man", "convert"]).contains("\\-\\-from"));
    // Each option has a text after the line with its name.
    for command in ["build", "convert", "dedup", "index", "info", "new", "plan", "query", "which"] {
        let page = stdout(&["man", command]);
        let options = page.split("\n.TP\n").skip(1);
        for option in options {
            let text = option.lines().nth(1).unwrap_or_default();
            assert!(!text.is_empty() && !text.starts_with('.'), "{command}: {option}");
        }
    }
    tamis().args(["man", "nothing"]).assert().code(2);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [["--help"].as_slice(), &["dedup", "--help"], &["--version"]] {
        assert!(!stdout(args).is_empty());
    }
    tamis().assert().code(2).stdout("");
}

/// Also if it has a line end or a terminal command, or is no text.
#[test]
fn a_command_that_does_not_exist_is_named_in_one_line() {
    for name in ["a\nb", "\u{1b}[31mx"] {
        let said = line_said(&tamis().args(["man", name]).assert().code(2).stdout(""));
        assert!(said.contains(&format!("'{}'", name.escape_debug())), "{said}");
    }
    #[cfg(unix)]
    {
        let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff");
        line_said(&tamis().arg(name).assert().code(2).stdout(""));
    }
}
