//! `--repeated` prints the second record of every repeated key, and nothing else.

use std::collections::HashMap;
use std::fs;

use crate::common::{any_filter, assert_expected, dedup, homepages, line_said, records};
use proptest::collection::vec;
use proptest::prelude::*;
use tamis_cli::Kind;
use tamis_cli::dedup::{Filter, Options, Seed, run};
use tamis_cli::input::Input;
use tamis_cli::key::{Fields, Key, Part, Quotes};

/// Returns the exact answer: the second record of each repeated key.
fn second_of_each<'a>(
    records: &[&'a [u8]],
    separator: u8,
    key: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Vec<u8> {
    let mut counts = HashMap::new();
    let mut output = Vec::new();
    for &record in records {
        let Some(key) = key(record) else { continue };
        let count = counts.entry(key).or_insert(0);
        *count += 1;
        if *count == 2 {
            output.extend_from_slice(record);
            output.push(separator);
        }
    }
    output
}

/// Generates bytes in which records repeat and separators are frequent.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(b'\n'), Just(0), Just(b','), Just(b'a'), Just(b'b')];
    vec(byte, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_second_record_of_each_key_is_printed(
        data in input(),
        chunk in 1_usize..60,
        threads in 1_usize..8,
        field in any::<bool>(),
        filter in any_filter(),
        capacity in prop_oneof![Just(None), Just(Some(1)), Just(Some(1000))],
    ) {
        let fields = Fields::new(vec![1], b',', Quotes::Plain);
        let part = if field { Part::Fields(fields) } else { Part::Record };
        let options = Options {
            key: Key::from_part(part),
            repeated: true,
            filter,
            capacity,
            threads,
            chunk,
            ..Options::default()
        };
        let mut output = Vec::new();
        let summary = run(vec![Input::new("test", &data[..])], &mut output, &options, &mut ())
            .expect("nothing fails");

        let records = records(&[&data], b'\n');
        let key = |record| {
            if field { <[u8]>::split(record, |&byte| byte == b',').nth(1) } else { Some(record) }
        };
        prop_assert_eq!(&output, &second_of_each(&records, b'\n', key));
        let keys: Vec<_> = records.iter().filter_map(|record| key(record)).collect();
        let distinct = keys.iter().collect::<std::collections::HashSet<_>>().len();
        let tally = summary.tally;
        prop_assert_eq!(tally.lines, records.len() as u64);
        prop_assert_eq!(tally.duplicates, (keys.len() - distinct) as u64);
        prop_assert_eq!(tally.keyless, (records.len() - keys.len()) as u64);
        let printed = output.iter().filter(|&&byte| byte == b'\n').count() as u64;
        prop_assert_eq!(tally.printed, printed);
        prop_assert_eq!(tally.bytes_out, output.len() as u64);
        let first = records.iter().position(|record| key(record).is_none());
        prop_assert_eq!(
            summary.notes.keyless.map(|first| first.line),
            first.map(|place| place as u64 + 1)
        );
    }

    /// The place where a run stops, and what it has printed by then, depend only on the input.
    #[test]
    fn a_run_stops_at_the_same_place(
        data in input(),
        chunk in 1_usize..40,
        threads in 1_usize..8,
        filter in any_filter(),
        capacity in 1_u64..30,
    ) {
        let attempt = |chunk, threads| {
            let options = Options {
                repeated: true,
                fixed: true,
                capacity: Some(capacity),
                filter,
                chunk,
                threads,
                ..Options::default()
            };
            let mut output = Vec::new();
            let inputs = vec![Input::new("test", &data[..])];
            let end = run(inputs, &mut output, &options, &mut ()).map(|summary| summary.tally);
            (end.map_err(|error| error.to_string()), output)
        };
        let (end, output) = attempt(chunk, threads);
        // It stops before the first record with a new key beyond the capacity.
        let records = records(&[&data], b'\n');
        let mut keys = std::collections::HashSet::new();
        let fit = records.iter().take_while(|record| {
            keys.insert(**record);
            keys.len() as u64 <= capacity
        });
        let fit = fit.count();
        prop_assert_eq!(&output, &second_of_each(&records[..fit], b'\n', Some));
        prop_assert_eq!(end.is_err(), fit < records.len());
        prop_assert_eq!((end, output), attempt(1 << 18, 1));
    }
}

#[test]
fn repeated_real_lines_are_printed_exactly() {
    let input = fs::read(homepages()).expect("the data is there");
    let expected = second_of_each(&records(&[&input], b'\n'), b'\n', Some);
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
