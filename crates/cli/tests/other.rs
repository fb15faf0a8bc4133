//! `tamis plan`, `tamis completions` and `tamis man`.

mod common;

use common::tamis;

fn stdout(args: &[&str]) -> String {
    let output = tamis().args(args).assert().success().stderr("").get_output().clone();
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn plan_says_what_each_kind_costs() {
    let text = stdout(&["plan", "--capacity", "10M", "--rate", "1%", "--max-memory", "12MiB"]);
    for kind in ["bloom", "blocked", "once"] {
        assert_eq!(text.lines().filter(|line| line.starts_with(kind)).count(), 2, "{text}");
    }
    assert!(text.contains("10,000,000 items"), "{text}");

    let json =
        stdout(&["plan", "--capacity", "10M", "--rate", "1%", "--max-memory", "12MiB", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one JSON object");
    let kinds = json["kinds"].as_array().expect("an array");
    assert_eq!(kinds.len(), 3);
    for kind in kinds {
        let bits = kind["bits_per_item"].as_f64().expect("a number");
        assert!((9.5..11.5).contains(&bits), "{kind}");
        let rate = kind["false_positive_rate"].as_f64().expect("a number");
        assert!((0.0097..=0.01).contains(&rate), "{kind}");
        let fits = kind["bytes"].as_u64().expect("a number") <= 12 << 20;
        assert_eq!(kind["fits"], fits, "{kind}");
        let capacity = kind["capacity_that_fits"].as_u64().expect("a number");
        assert_eq!(capacity >= 10_000_000, fits, "{kind}");
        let rate = kind["rate_that_fits"].as_f64().expect("a number");
        assert_eq!(rate <= 0.01, fits, "{kind}");
    }
}

#[test]
fn plan_refuses_what_cannot_be() {
    for args in [
        ["plan", "--capacity", "0"].as_slice(),
        &["plan", "--capacity", "18446744073709551615", "--rate", "1e-6"],
        &["plan", "--capacity", "10", "--rate", "1e-300"],
        &["plan", "--capacity", "10", "--rate", "1"],
        &["plan"],
    ] {
        let output = tamis().args(args).assert().code(2).stdout("").get_output().clone();
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = stdout(&["completions", shell]);
        assert!(text.contains("dedup") && text.contains("max-line"), "{shell}");
    }
    tamis().args(["completions", "csh"]).assert().code(2);
}

#[test]
fn manual_pages() {
    let program = stdout(&["man"]);
    assert!(program.contains(".TH tamis 1") && program.contains("dedup"), "{program}");
    let dedup = stdout(&["man", "dedup"]);
    assert!(dedup.contains(".TH tamis-dedup 1"), "{dedup}");
    assert!(dedup.contains("key\\-field") && dedup.contains("crawl\\-1"), "{dedup}");
    assert!(dedup.contains("gclid"), "{dedup}");
    tamis().args(["man", "nothing"]).assert().code(2);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [["--help"].as_slice(), &["dedup", "--help"], &["--version"]] {
        assert!(!stdout(args).is_empty());
    }
    tamis().assert().code(2).stdout("");
}
