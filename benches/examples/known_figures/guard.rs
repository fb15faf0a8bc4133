//! The guard of a store with 80,000 keys in 195 KB: the published rates and times of its queries,
//! and those of a classic and of a blocked filter.

use std::hint::black_box;
use std::time::Instant;

use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter};

use crate::Fallible;
use crate::bounds::{Bounds, deviations};
use crate::rates::formula;
use crate::size::Size;
use crate::table::{Table, number, per_cent};

const KEYS: u64 = 80_000;
/// 200,000 bytes, which are 195 times 1024.
const BITS: u64 = 20 * KEYS;

/// A published result: the rate in percent, and the microseconds per query.
type Published = (f64, f64);

/// The published results by the probes: after 10 and after 20 million queries.
const CASES: [(u32, [Published; 2]); 2] =
    [(6, [(0.03035, 2.5), (0.029, 2.55)]), (14, [(0.00605, 3.7), (0.00612, 4.2)])];

/// The queries of the first published result; the second one has twice as many.
const QUERIES: u64 = 10_000_000;

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    table.title(&format!(
        "A guard for {} keys in {} bytes (195 KB): the rate, and the time of a query on one thread",
        number(KEYS),
        number(BITS / 8)
    ));
    let queries = size.of(QUERIES, 50);
    for (probes, published) in CASES {
        let hasher = || Rapid::with_seed(80);
        let builder = BloomFilter::<u64>::builder().hasher(hasher()).bits(BITS).probes(probes);
        let classic = builder.build()?;
        (0..KEYS).for_each(|key| _ = classic.insert(&key));
        bounds.classic(&format!("k = {probes}"), &classic.figures(), [BITS, KEYS, probes.into()]);
        let case = Case { name: "classic", probes, expected: formula(20, probes), queries };
        let reported = classic.false_positive_rate();
        case.add(table, bounds, reported, &published, |key| classic.contains(&key));

        let builder =
            BlockedBloomFilter::<u64>::builder().hasher(hasher()).bits(BITS).probes(probes);
        let blocked = builder.build()?;
        (0..KEYS).for_each(|key| _ = blocked.insert(&key));
        let expected = blocked.geometry().false_positive_rate_at(KEYS as usize);
        let case = Case { name: "blocked", expected, ..case };
        let reported = blocked.false_positive_rate();
        case.add(table, bounds, reported, &published, |key| blocked.contains(&key));
    }
    let below = |published: f64, queries| -deviations(published / 100.0, formula(20, 14), queries);
    let [(first, _), (second, _)] = CASES[1].1;
    table.note(format!(
        "k = 14: the published counts lie {:.1} and {:.1} standard deviations below the formula",
        below(first, QUERIES),
        below(second, 2 * QUERIES)
    ));
    Ok(())
}

/// A filter to measure.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    probes: u32,
    expected: f64,
    /// The queries of the first row; the second one has twice as many.
    queries: u64,
}

impl Case {
    fn add(
        self,
        table: &mut Table,
        bounds: &mut Bounds,
        reported: f64,
        published: &[Published; 2],
        contains: impl Fn(u64) -> bool,
    ) {
        let Self { name, probes, expected, queries } = self;
        let missing = (0..KEYS).find(|&key| !contains(key));
        assert_eq!(missing, None, "{name}, k = {probes}: a key is missing");
        let (start, mut hits) = (Instant::now(), 0);
        for (part, &(rate, time)) in (0..).zip(published) {
            // Absent keys, other ones in each part.
            let first = KEYS + part * queries;
            let absent = black_box(first)..first + queries;
            hits += absent.filter(|&key| contains(key)).count() as u64;
            let asked = (part + 1) * queries;
            let what = format!("{name}, k = {probes}, {} queries", number(asked));
            bounds.rate(&what, hits, asked, reported);
            let micros = start.elapsed().as_secs_f64() * 1e6 / asked as f64;
            table.row(
                what,
                format!("{rate} %, {time} µs"),
                per_cent(expected),
                format!("{}, {micros:.4} µs", per_cent(hits as f64 / asked as f64)),
            );
        }
    }
}
