//! `--repeated` prints the second record of every repeated key, and nothing else.

use std::fs;

use crate::common::{assert_expected, dedup, homepages, line_said, nth_of_each, records};
use tamis_cli::Kind;
use tamis_cli::dedup::{Filter, Options, Seed, run};
use tamis_cli::input::Input;

#[test]
fn repeated_real_lines_are_printed_exactly() {
    let input = fs::read(homepages()).expect("the data is there");
    let expected = nth_of_each(2, &records(&[&input], b'\n'), b'\n', Some);
    assert!(expected.len() > 100_000);
    for threads in ["1", "2", "8"] {
        for args in [
            &["-d"][..],
            &["--repeated", "--kind", "cuckoo"],
            &["-d", "--rate", "1e-6"],
            &["-d", "--capacity", "100"],
            &["-d", "--capacity", "100", "--kind", "blocked"],
        ] {
            let output = dedup(&["-j", threads]).args(args).arg(homepages()).assert().success();
            assert!(output.get_output().stdout == expected, "{threads} {args:?}");
        }
    }
}

/// False positives of both filters are as frequent as the summary expects. With one hash for both
/// filters they are not: at a rate of 0.2 the second filter loses half as many lines again, and of
/// lines that come twice in the same order it loses almost none.
#[test]
fn the_numbers_of_lost_and_extra_lines_agree_with_the_summary() {
    /// The probability that any case fails by chance stays below this.
    const ALPHA: f64 = 1e-6;
    const LINES: u64 = 100_000;
    let once: String = (0..LINES).map(|line| format!("line {line} of many\n")).collect();
    let twice = once.repeat(2);
    for kind in [Kind::Blocked, Kind::Cuckoo] {
        for (rate, capacity) in [(1e-2, LINES), (1e-3, LINES), (0.2, LINES / 10)] {
            let (mut extra, mut lost) = ((0, 0.0), (0, 0.0));
            for seed in 0..5 {
                let options = Options {
                    repeated: true,
                    filter: Filter::Chain { kind, rate },
                    capacity: Some(capacity),
                    seed: Seed::Fixed(seed),
                    ..Options::default()
                };
                let run = |input: &str| {
                    let inputs = vec![Input::new("lines", input.as_bytes())];
                    run(inputs, &mut std::io::sink(), &options, &mut ()).expect("nothing fails")
                };
                // No line is repeated, so no line should be printed. A few of the lines printed
                // wrongly are lost in turn by the second filter.
                let summary = run(&once);
                extra.0 += summary.tally.printed;
                extra.1 += summary.expected_extra - summary.expected_lost;
                // Every line is repeated, so all of them reach the second filter.
                let summary = run(&twice);
                lost.0 += LINES - summary.tally.printed;
                lost.1 += summary.expected_lost;
            }
            for (what, (seen, expected)) in [("extra", extra), ("lost", lost)] {
                let case = format!("{kind} {rate} {capacity} {what}");
                assert_expected(seen, expected, ALPHA / 12.0, &case);
            }
        }
    }
}

#[test]
fn the_second_record_of_each_key_is_printed_and_records_without_a_key_are_left_out() {
    let input = "1\ta\nnone\n2\tb\n3\ta\nnone\n4\ta\n5\tb\n6\tc\n";
    let run = dedup(&["-d", "--key-field", "2"]).write_stdin(input).assert().success();
    let text = line_said(&run.stdout("3\ta\n5\tb\n"));
    assert!(text.contains("2 records without a key were left out"), "{text}");
    assert!(text.contains("standard input, line 2: too few fields"), "{text}");
}
