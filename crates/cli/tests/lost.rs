//! The number of lines lost to false positives agrees with the number that the summary expects.

use crate::common::assert_expected;
use tamis_cli::Kind;
use tamis_cli::dedup::{Filter, Options, Seed, run};
use tamis_cli::input::Input;

/// The probability that each case fails by chance stays below this.
const ALPHA: f64 = 1e-6;

/// Without options no line is lost: in all these runs together 4e-7 lines are expected to be.
/// `dedup/table/item.rs` counts how often the hashes of two lines are confused.
#[test]
fn the_default_loses_no_line() {
    const LINES: u64 = 500_000;
    let input: String = (0..LINES).map(|line| format!("{line}\n")).collect();
    for capacity in [None, Some(LINES), Some(100)] {
        let options = Options { capacity, seed: Seed::Fixed(0), threads: 2, ..Options::default() };
        let inputs = vec![Input::new("lines", input.as_bytes())];
        let mut output = Vec::new();
        let summary = run(inputs, &mut output, &options, &mut ()).expect("nothing fails");
        assert_eq!(summary.tally.printed, LINES);
        assert!(output == input.as_bytes());
        assert!(summary.expected_lost < 2e-6 / 15.0 && summary.warnings().is_empty());
    }
}

#[test]
fn the_number_of_lost_lines_agrees_with_the_summary() {
    const LINES: u64 = 200_000;
    let input: String = (0..LINES).map(|line| format!("line {line} of many\n")).collect();
    for kind in [Kind::Blocked, Kind::Once, Kind::Bloom, Kind::Cuckoo] {
        for (rate, capacity) in [
            (1e-2, None),
            (1e-2, Some(LINES)),
            (1e-2, Some(LINES / 10)),
            (1e-3, Some(LINES)),
            (0.2, Some(LINES)),
            (0.2, None),
        ] {
            let (mut lost, mut expected) = (0, 0.0);
            // POWER: of this case one run loses 5500 lines or more. A difference of an eighth is
            // found with a probability of 0.99.
            let runs = if (rate, capacity) == (0.2, Some(LINES)) { 1 } else { 5 };
            for seed in 0..runs {
                let options = Options {
                    filter: Filter::Chain { kind, rate },
                    capacity,
                    seed: Seed::Fixed(seed),
                    threads: 2,
                    ..Options::default()
                };
                let inputs = vec![Input::new("lines", input.as_bytes())];
                let summary =
                    run(inputs, &mut std::io::sink(), &options, &mut ()).expect("nothing fails");
                lost += LINES - summary.tally.printed;
                expected += summary.expected_lost;
                assert!(summary.expected_lost < rate * LINES as f64);
            }
            assert_expected(lost, expected, ALPHA, &format!("{kind} {rate} {capacity:?} lost"));
        }
    }
}
