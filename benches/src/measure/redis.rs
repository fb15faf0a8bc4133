//! What a Bloom filter in Redis costs by several schemes: CPU time of the server and of the client,
//! and items per second.
//!
//! All schemes are measured in one process and on one server, in turn and with the same items, in
//! several rounds.

mod awake;
mod scheme;
mod server;

use self::awake::Awake;
use self::scheme::{Filter, Scheme};
pub(super) use self::server::program;
use self::server::{Cost, Server};
use super::setup::{Fallible, Setup};
use crate::record::{Record, Runs};

/// The rates of the filters.
const RATES: [f64; 2] = [0.01, 1e-6];

/// The first absent item. All that are inserted are below.
const ABSENT: u64 = 1 << 50;

/// The operations of a round: inserts of new items, inserts of items that are there, queries for
/// items that are there, and queries for absent items.
const OPERATIONS: [&str; 4] = ["insert, new", "insert, again", "contains, hit", "contains, miss"];

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Extent {
    capacity: u64,
    rounds: u64,
    /// The items of a round for a scheme with several items per call, and for one with one.
    many: u64,
    single: u64,
}

/// Measures all schemes.
pub(super) fn measure(setup: &Setup) -> Fallible<Vec<Record>> {
    let _awake = Awake::keep()?;
    measure_to(
        &Server::start()?,
        if setup.quick {
            Extent { capacity: 1_000_000, rounds: 1, many: 10_000, single: 1000 }
        } else {
            Extent { capacity: 10_000_000, rounds: 3, many: 100_000, single: 10_000 }
        },
    )
}

fn measure_to(server: &Server, extent: Extent) -> Fallible<Vec<Record>> {
    let mut records = Vec::new();
    for rate in RATES {
        records.extend(of_rate(server, extent, rate)?);
        server.command::<()>(&["FLUSHALL"])?;
    }
    Ok(records)
}

/// Measures all schemes at one rate.
fn of_rate(server: &Server, extent: Extent, rate: f64) -> Fallible<Vec<Record>> {
    let create = |scheme| Filter::create(server, scheme, (extent.capacity, rate));
    let mut filters = scheme::ALL.into_iter().map(create).collect::<Fallible<Vec<_>>>()?;
    let mut runs = Runs::default();
    for round in 0..extent.rounds {
        for filter in &mut filters {
            let name = filter.scheme.name;
            let costs = self::round(server, filter, (1 << 40) + (round << 32), extent, rate)?;
            for (operation, Cost { server, client, wall }) in OPERATIONS.into_iter().zip(costs) {
                for (part, value) in [("server", server), ("client", client), ("wall", wall)] {
                    let operation = format!("{operation}, {part}");
                    let record = Record::new(name, &operation, extent.capacity, rate);
                    runs.add(Record { unit: "µs".to_owned(), ..record }, value);
                }
            }
        }
    }
    Ok(runs.medians())
}

/// Inserts new items, inserts them again, queries them, and queries absent ones. Returns what each
/// costs. A scheme with a round trip per
/// item gets fewer items.
fn round(
    server: &Server,
    filter: &mut Filter,
    first: u64,
    Extent { many, single, .. }: Extent,
    rate: f64,
) -> Fallible<[Cost; 4]> {
    let Scheme { name, batch, .. } = filter.scheme;
    let count = if batch > 1 { many } else { single } as usize;
    let present: Vec<u64> = (first..).take(count).collect();
    let absent: Vec<u64> = (ABSENT + first..).take(count).collect();
    let (new, first_insert) = server.cost(count, || filter.call(&present, true))?;
    let (again, second_insert) = server.cost(count, || filter.call(&present, true))?;
    let (hits, hit) = server.cost(count, || filter.call(&present, false))?;
    let (misses, miss) = server.cost(count, || filter.call(&absent, false))?;
    let count = |answers: &[bool], answer| answers.iter().filter(|is| **is == answer).count();
    let wrong = [count(&again, true), count(&hits, true)];
    let false_positives = count(&new, false).max(count(&misses, false));
    if wrong != [0, 0] || false_positives as f64 > 2.0 * rate * present.len() as f64 + 5.0 {
        let lengths = [new.len(), again.len(), hits.len(), misses.len()];
        let text = format!("{name}: {wrong:?} wrong, {false_positives} false of {lengths:?}");
        return Err(text.into());
    }
    Ok([first_insert, second_insert, hit, miss])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each scheme must answer rightly: `round` returns an error if not.
    #[test]
    fn all_schemes_answer_rightly() {
        let extent = Extent { capacity: 20_000, rounds: 1, many: 3000, single: 300 };
        let Some(server) = Server::start_or_skip() else { return };
        let records = measure_to(&server, extent).unwrap();
        let figures = OPERATIONS.len() * 3;
        assert_eq!(records.len(), RATES.len() * scheme::ALL.len() * figures);
        let walls = records.iter().filter(|record| record.operation.ends_with("wall"));
        assert!(walls.clone().count() > 0 && walls.clone().all(|wall| wall.value > 0.0));
    }
}
