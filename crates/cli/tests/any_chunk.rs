//! The answer is exact for any input, in any chunks, on any number of threads, with reads of any
//! size.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind, Read, Write};

use crate::common::{any_filter, nth_of_each, records};
use proptest::collection::vec;
use proptest::prelude::*;
use tamis_cli::dedup::{Filter, Options, run};
use tamis_cli::input::Input;
use tamis_cli::key::{Fields, Key, Part, Quotes};
use tamis_cli::{Error, Kind, Why};

/// A reader that returns a few bytes at a time, and is interrupted now and then.
struct Dribble<'a> {
    data: &'a [u8],
    sizes: &'a [usize],
    call: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.call % self.sizes.len()];
        self.call += 1;
        if size == 0 {
            return Err(ErrorKind::Interrupted.into());
        }
        let size = size.min(buffer.len());
        self.data.read(&mut buffer[..size])
    }
}

/// Generates bytes in which records repeat and separators are frequent.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(0), Just(b'\r'), Just(b','), Just(b'a'), any::<u8>()];
    vec(byte, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_first_or_second_record_of_each_key_is_printed(
        inputs in vec(input(), 1..4),
        sizes in vec(0_usize..20, 0..5),
        chunk in 1_usize..40,
        threads in 1_usize..8,
        separator in prop_oneof![Just(b'\n'), Just(0)],
        field in any::<bool>(),
        filter in any_filter(),
        capacity in prop_oneof![Just(None), Just(Some(1)), Just(Some(1000))],
        most in prop_oneof![Just(None), (1_usize..6).prop_map(Some)],
        repeated in any::<bool>(),
    ) {
        let sizes = [&sizes[..], &[5]].concat();
        let part = if field { Part::Fields(Fields::new(vec![1], b',', Quotes::Plain)) } else { Part::Record };
        let options = Options {
            key: Key::from_part(part),
            filter,
            capacity,
            separator,
            threads,
            chunk,
            most,
            repeated,
            ..Options::default()
        };
        let readers = inputs.iter().map(|data| {
            Input::new("test", Dribble { data, sizes: &sizes, call: 0 })
        }).collect();
        let mut output = Vec::new();
        let summary = run(readers, &mut output, &options, &mut ()).expect("nothing fails");

        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let records = records(&inputs, separator);
        let key = |record| {
            if field { <[u8]>::split(record, |&byte| byte == b',').nth(1) } else { Some(record) }
        };
        prop_assert_eq!(&output, &nth_of_each(1 + usize::from(repeated), &records, separator, key));
        let keys: Vec<_> = records.iter().filter_map(|record| key(record)).collect();
        let distinct = keys.iter().collect::<HashSet<_>>().len();
        let tally = summary.tally;
        prop_assert_eq!(tally.lines, records.len() as u64);
        prop_assert_eq!(tally.duplicates, (keys.len() - distinct) as u64);
        prop_assert_eq!(tally.keyless, (records.len() - keys.len()) as u64);
        let printed = output.iter().filter(|&&byte| byte == separator).count() as u64;
        prop_assert_eq!(tally.printed, printed);
        prop_assert_eq!(tally.bytes_in, inputs.concat().len() as u64);
        prop_assert_eq!(tally.bytes_out, output.len() as u64);
    }

    /// The place where a run stops, and what it has printed by then, depend only on the input.
    #[test]
    fn a_run_stops_at_the_same_place(
        data in input(),
        chunk in 1_usize..40,
        threads in 1_usize..8,
        max_record in 1_u64..30,
        filter in any_filter(),
        capacity in 1_u64..30,
        repeated in any::<bool>(),
    ) {
        let attempt = |chunk, threads| {
            let options = Options {
                fixed: true,
                capacity: Some(capacity),
                filter,
                max_record,
                repeated,
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
        // It stops before the first record that is too long, or has a new key beyond the capacity.
        let records = records(&[&data], b'\n');
        let mut keys = HashSet::new();
        let fit = records.iter().take_while(|record| {
            keys.insert(**record);
            keys.len() as u64 <= capacity && record.len() as u64 <= max_record
        });
        let fit = fit.count();
        let number = 1 + usize::from(repeated);
        prop_assert_eq!(&output, &nth_of_each(number, &records[..fit], b'\n', Some));
        prop_assert_eq!(end.is_err(), fit < records.len());
        prop_assert_eq!((end, output), attempt(1 << 18, 1));
    }
}

/// Growth through many slices, or doublings, does not depend on threads or chunks.
#[test]
fn growth_does_not_depend_on_threads_or_chunks() {
    let input: String = (0..30_000_u64).map(|n| format!("{}\n", n * n % 40_009)).collect();
    let [blocked, cuckoo] =
        [Kind::Blocked, Kind::Cuckoo].map(|kind| Filter::Chain { kind, rate: 0.3 });
    for filter in [blocked, cuckoo, Filter::Table] {
        let attempt = |threads, chunk| {
            let capacity = Some(64);
            let options = Options { filter, capacity, threads, chunk, ..Options::default() };
            let mut output = Vec::new();
            let inputs = vec![Input::new("test", input.as_bytes())];
            let summary = run(inputs, &mut output, &options, &mut ()).expect("nothing fails");
            (output, summary.slices, summary.filter_bytes)
        };
        let one = attempt(1, 1 << 18);
        // The tables begin with two lines each.
        let grown = if filter == Filter::Table { one.2 >= 64 * 64 * (2 << 5) } else { one.1 > 5 };
        assert!(grown, "{filter:?}: {} slices, {} bytes", one.1, one.2);
        for (threads, chunk) in [(2, 100), (5, 1000), (8, 7777)] {
            assert!(attempt(threads, chunk) == one, "{filter:?}");
        }
    }
}

/// A record is printed if it is not among the last printed ones of the window, and not if it is: a
/// window forgets up to a generation late. Where exactly, depends on the input only.
#[test]
fn a_window_forgets_late_and_never_early() {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    for items in [1_u64, 2, 7, 100, 1000] {
        // Every other record repeats one that came up to about four windows before.
        let mut records: Vec<u64> = Vec::new();
        for number in 0..(20 * items).clamp(2000, 20_000) {
            let back = 1 + next() % (4 * items + 20);
            let earlier = records.len().checked_sub(back as usize).filter(|_| next() % 2 == 0);
            records.push(earlier.map_or(number, |at| records[at]));
        }
        let input: String = records.iter().map(|record| format!("{record}\n")).collect();
        let attempt = |threads, chunk| {
            let filter = Filter::Window { items, rate: 1e-9 };
            let options = Options { filter, threads, chunk, ..Options::default() };
            let mut output = Vec::new();
            let inputs = vec![Input::new("test", input.as_bytes())];
            let summary = run(inputs, &mut output, &options, &mut ()).expect("nothing fails");
            assert_eq!(summary.tally.lines, records.len() as u64);
            output
        };
        let one = attempt(1, 1 << 18);
        for (threads, chunk) in [(2, 100), (5, 1000), (8, 7777)] {
            assert!(attempt(threads, chunk) == one, "{items} items, {threads} threads");
        }

        // All but one of seven generations cover the window, and locks may hold 1/64 of one
        // uncounted.
        let kept = items.div_ceil(6) * 7 * 65 / 64;
        let output = String::from_utf8(one).expect("text");
        let mut output =
            output.lines().map(|line| line.parse::<u64>().expect("a number")).peekable();
        let (mut printed, mut again) = (0_u64, 0);
        let mut last = HashMap::new();
        for record in records {
            let age = last.get(&record).map(|at| printed - at);
            if output.next_if_eq(&record).is_some() {
                assert!(age.is_none_or(|age| age > items), "{items} items: printed at age {age:?}");
                again += u64::from(age.is_some());
                last.insert(record, printed);
                printed += 1;
            } else {
                assert!(age.is_some_and(|age| age <= kept), "{items} items: lost at age {age:?}");
            }
        }
        assert!(output.next().is_none() && again > 20, "{items} items, {again} again");
    }
}

/// A window has no other capacity, and keeps no second records.
#[test]
fn a_window_refuses_options_that_have_no_meaning() {
    let filter = Filter::Window { items: 10, rate: 1e-6 };
    for options in [
        Options { filter, repeated: true, ..Options::default() },
        Options { filter, capacity: Some(10), ..Options::default() },
        Options { filter: Filter::Window { items: u64::MAX, rate: 1e-6 }, ..Options::default() },
        Options { filter: Filter::Window { items: 10, rate: 1e-300 }, ..Options::default() },
    ] {
        let inputs = vec![Input::new("test", &b"a\n"[..])];
        let mut output = Vec::new();
        let error = run(inputs, &mut output, &options, &mut ()).expect_err("no filter");
        assert_eq!((error.exit_code(), output.len()), (2, 0), "{error}");
    }
}

/// A reader and writer that fails after this number of bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.0.min(buffer.len());
        if size == 0 {
            return Err(io::Error::other("worn out"));
        }
        buffer[..size].fill(b'\n');
        self.0 -= size;
        Ok(size)
    }
}

impl Write for Failing {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let size = self.0.min(buffer.len());
        self.0 -= size;
        if size == 0 { Err(io::Error::other("worn out")) } else { Ok(size) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_the_reader_and_the_writer_are_returned() {
    for threads in 1..6 {
        let options = Options { threads, chunk: 10, ..Options::default() };
        let mut output = Vec::new();
        let error = run(vec![Input::new("bad", Failing(95))], &mut output, &options, &mut ());
        let Err(Error::At { line, why: Why::Read(_), .. }) = error else { panic!("{error:?}") };
        assert_eq!((line, output.as_slice()), (96, &b"\n"[..]));

        let input: String = (0..1000).map(|line| format!("{line}\n")).collect();
        let inputs = vec![Input::new("good", input.as_bytes())];
        let error = run(inputs, &mut Failing(100), &options, &mut ());
        assert!(matches!(error, Err(Error::Write(_))), "{error:?}");
    }
}

/// A reader and writer that panics.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a bug");
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("a bug");
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("a bug");
    }
}

/// The run may panic, but must not hang.
#[test]
fn a_panic_leaves_no_worker_waiting() {
    let input = "a\nb\nc\n".repeat(1000);
    let options = Options { threads: 4, chunk: 16, ..Options::default() };
    let attempt = std::panic::catch_unwind(|| {
        let _ = run(vec![Input::new("bad", Broken)], &mut io::sink(), &options, &mut ());
    });
    assert!(attempt.is_err());
    let attempt = std::panic::catch_unwind(|| {
        let _ = run(vec![Input::new("good", input.as_bytes())], &mut Broken, &options, &mut ());
    });
    assert!(attempt.is_err());
}
