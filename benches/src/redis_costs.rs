//! What a Bloom filter in Redis costs by several schemes: CPU time of the server and of the client,
//! and items per second.
//!
//! All schemes are measured in one process and on one server, in turn and with the same items, in
//! several rounds.

mod awake;
mod batch;
mod commands;
mod layout;
mod query;
mod race;
mod scheme;
mod server;

use std::error::Error;
use std::time::Instant;

use tamis::BlockedBloomFilter;
use tamis::bloom::Geometry;

use self::awake::Awake;
pub use self::batch::{Blocking, Sizes};
pub(crate) use self::query::ITEMS as QUERIES_AT_ONCE;
pub use self::query::Queries;
pub use self::race::Race;
pub use self::scheme::Scheme;
#[cfg(test)]
pub(crate) use self::scheme::all as schemes;
use self::scheme::{Client, Filter};
pub use self::server::Cost;
use self::server::{Fallible, Server};
use crate::growing::median;

/// The rates of the filters.
const RATES: [f64; 2] = [0.01, 1e-6];

/// The rates at which an item of a filter in memory has bits in 1, 2, 4 and 8 words.
const QUERY_RATES: [f64; 4] = [0.01, 1e-4, 1e-6, 1e-11];

/// The first absent item. All that are inserted are below.
const ABSENT: u64 = 1 << 50;

/// What the page shows.
#[derive(Debug)]
pub struct Figures {
    /// The version of the server.
    pub version: String,
    /// The items that the filters are made for; they hold half of them, and those of the rounds.
    pub capacity: u64,
    /// The rounds.
    pub rounds: usize,
    /// The schemes at each rate.
    pub schemes: Vec<Schemes>,
    /// Commands with several numbers of items, at each rate.
    pub sizes: Vec<Sizes>,
    /// Ways to query, by the words of an item.
    pub queries: Vec<Queries>,
}

/// The figures at one rate.
#[derive(Debug)]
pub struct Schemes {
    /// The rate.
    pub rate: f64,
    /// The bits per item.
    pub probes: u32,
    /// The words of an item in our layout that have these bits.
    pub words: u32,
    /// The figures of each scheme.
    pub rows: Vec<Row>,
}

/// The figures of a scheme.
#[derive(Debug)]
pub struct Row {
    /// The scheme.
    pub scheme: Scheme,
    /// What inserts of new items cost, inserts of items that are there, queries for items that are
    /// there, and queries for absent items.
    pub costs: [Cost; 4],
    /// The time per new item in the slowest round, in microseconds.
    pub slowest: f64,
    /// What two clients got that inserted the same items.
    pub race: Race,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Extent {
    capacity: u64,
    rounds: usize,
    /// The items of a round for a scheme with several items per call, and for one with one.
    many: u64,
    single: u64,
    /// Whether only the schemes of our library are measured.
    ours: bool,
}

/// Measures all; with `quick` on a tenth of the items, with `ours` only the schemes of our library.
///
/// # Errors
///
/// If `redis-server` is not installed, or an answer is wrong.
pub fn measure(quick: bool, ours: bool) -> Result<Figures, Box<dyn Error + Send + Sync>> {
    measure_to(if quick {
        Extent { capacity: 1_000_000, rounds: 3, many: 10_000, single: 1000, ours }
    } else {
        Extent { capacity: 10_000_000, rounds: 5, many: 100_000, single: 10_000, ours }
    })
}

fn measure_to(extent: Extent) -> Fallible<Figures> {
    let Extent { capacity, rounds, many, ours, .. } = extent;
    let start = Instant::now();
    let note = |what: &str| eprintln!("{:.0} s: {what}", start.elapsed().as_secs_f64());
    let mut server = Server::start()?;
    let _awake = Awake::keep()?;
    let version = server.info("server", "redis_version")?;
    // Without the other schemes there is nothing to compare with these.
    let [query_rates, rates] = if ours { [&[][..]; 2] } else { [&QUERY_RATES, &RATES[..]] };
    note("queries");
    let query = |rate: &f64| query::measure(&mut server, in_memory(capacity, *rate)?, rounds, many);
    let queries = query_rates.iter().map(query).collect::<Fallible<_>>()?;
    note("batches");
    let size = |rate: &f64| {
        let geometry = scheme::geometry(&server, capacity, *rate)?;
        batch::measure(&mut server, *rate, geometry, rounds, many)
    };
    let sizes = rates.iter().map(size).collect::<Fallible<_>>()?;
    let mut schemes = Vec::new();
    for rate in RATES {
        note(&format!("schemes at a rate of {rate}"));
        schemes.push(of_rate(&mut server, extent, rate)?);
    }
    note("done");
    Ok(Figures { version, capacity, rounds, schemes, sizes, queries })
}

/// Returns the geometry of a filter in memory, which has more words the lower the rate is.
fn in_memory(capacity: u64, rate: f64) -> Fallible<Geometry> {
    let builder = BlockedBloomFilter::<u64>::builder().capacity(usize::try_from(capacity)?);
    Ok(builder.false_positive_rate(rate).geometry()?)
}

/// Measures all schemes at one rate.
fn of_rate(server: &mut Server, extent: Extent, rate: f64) -> Fallible<Schemes> {
    let geometry = scheme::geometry(server, extent.capacity, rate)?;
    let mut filters: Vec<(Filter, Client, [Vec<Cost>; 4])> = Vec::new();
    let measured = scheme::all().into_iter().filter(|scheme| scheme.is_ours() || !extent.ours);
    for (number, scheme) in measured.enumerate() {
        let named = (format!("filter-{number}"), scheme);
        let filter = Filter::create(server, named, extent.capacity, rate, geometry)?;
        let client = filter.connect(server)?;
        filters.push((filter, client, Default::default()));
    }
    for round in 0..extent.rounds as u64 {
        for (filter, client, costs) in &mut filters {
            let first = (1 << 40) + (round << 32);
            let round = self::round(server, filter, client, first, extent, rate)?;
            costs.iter_mut().zip(round).for_each(|(costs, cost)| costs.push(cost));
        }
    }
    let mut rows = Vec::new();
    for (filter, client, costs) in filters {
        drop(client);
        let items: Vec<u64> = (1 << 45..).take(items(filter.scheme, extent)).collect();
        let race = race::run(server, &filter, &items, rate)?;
        let slowest = costs[0].iter().map(|cost| cost.wall).fold(0.0, f64::max);
        let costs = costs.map(|costs| medians(&costs));
        rows.push(Row { scheme: filter.scheme, costs, slowest, race });
        filter.delete(server)?;
    }
    Ok(Schemes { rate, probes: geometry.probes(), words: geometry.words(), rows })
}

/// Returns the items of a round of a scheme: fewer if it makes a round trip per item, or twelve.
fn items(scheme: Scheme, Extent { many, single, .. }: Extent) -> usize {
    let items = if scheme.batch > 1 { many } else { single / u64::from(scheme.round_trips) };
    items.max(1) as usize
}

/// Inserts new items, inserts them again, queries them, and queries absent ones. Returns what each
/// costs.
fn round(
    server: &mut Server,
    filter: &Filter,
    client: &mut Client,
    first: u64,
    extent: Extent,
    rate: f64,
) -> Fallible<[Cost; 4]> {
    let Scheme { name, batch, .. } = filter.scheme;
    let count = items(filter.scheme, extent);
    let present: Vec<u64> = (first..).take(count).collect();
    let absent: Vec<u64> = (ABSENT + first..).take(count).collect();
    let (new, first_insert) = server.cost(count, || client.insert(&present, batch))?;
    let (again, second_insert) = server.cost(count, || client.insert(&present, batch))?;
    let (hits, hit) = server.cost(count, || client.contains(&present, batch))?;
    let (misses, miss) = server.cost(count, || client.contains(&absent, batch))?;
    let count = |answers: &[bool], answer| answers.iter().filter(|is| **is == answer).count();
    let wrong = [count(&again, true), count(&hits, false)];
    let false_positives = count(&new, false).max(count(&misses, true));
    if wrong != [0, 0] || false_positives as f64 > 2.0 * rate * present.len() as f64 + 5.0 {
        let lengths = [new.len(), again.len(), hits.len(), misses.len()];
        let text = format!("{name}: {wrong:?} wrong, {false_positives} false of {lengths:?}");
        return Err(text.into());
    }
    Ok([first_insert, second_insert, hit, miss])
}

/// Returns the median of each part of the costs.
fn medians(costs: &[Cost]) -> Cost {
    let of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect()).unwrap_or_default();
    Cost {
        server: of(|cost| cost.server),
        client: of(|cost| cost.client),
        wall: of(|cost| cost.wall),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each scheme must answer rightly: `round` and `race` return an error if not.
    #[test]
    fn all_schemes_answer_rightly() {
        let extent = Extent { capacity: 20_000, rounds: 1, many: 3000, single: 300, ours: false };
        let figures = match measure_to(extent) {
            Err(error) if error.to_string().starts_with("redis-server: ") => {
                assert!(std::env::var_os("TAMIS_REQUIRE_REDIS").is_none(), "{error}");
                eprintln!("SKIPPED: {error}");
                return;
            }
            figures => figures.unwrap(),
        };
        let words: Vec<u32> = figures.queries.iter().map(|queries| queries.words).collect();
        assert_eq!(words, [1, 2, 4, 8]);
        for Schemes { rows, .. } in &figures.schemes {
            assert_eq!(rows.len(), scheme::all().len());
            assert!(rows.iter().flat_map(|row| row.costs).all(|cost| cost.wall > 0.0));
        }
    }
}
