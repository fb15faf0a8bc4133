//! The page on the costs of a Bloom filter in Redis: from figures to `REDIS.md`.

use super::figure::{bytes, count, figure, percent};
use super::machine;
use super::table::{Cell, Table};
use crate::redis_costs::{Figures, QUERIES_AT_ONCE, Queries, Race, Row, Scheme, Schemes, Sizes};

/// Returns the page; `command` is the command that reproduces it.
pub(super) fn page(figures: &Figures, command: &str) -> String {
    let Figures { version, capacity, rounds, schemes, sizes, queries } = figures;
    let facts = machine::facts();
    let rows: String =
        facts.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    let mut text = format!(
        "# A Bloom filter in Redis\n\n| | |\n|---|---|\n{rows}| redis-server | {version}, without persistence |\n\
         | made by | `{command}` |\n\n\
         One client and one server, which share the cores named above, over loopback. So a round trip is as fast as it can be: \
         a network adds its latency to each. All schemes are measured in one process, on one server, in turn, with the same \
         items, in {rounds} rounds. Figures are medians of the rounds. CPU time is in µs per item. That of the server is \
         user and system time of `INFO cpu`. That of the client is of the whole process in Rust, hashing included; the \
         schemes other than ours use the blocking connection of the crate `redis`.\n\n\
         Items are 64-bit integers. Each filter is made for {} items and holds half of them before the first round. All \
         but scrapy-redis-bloomfilter have as many bits per filter and per item as ours of the rate, which does not grow. \
         On a virtual machine, to wake an idle core can take longer than the work of a round trip. So a program of the lowest \
         priority keeps each core awake.\n\n\
         * **ours**: `RedisBloomFilter`, by `insert` and `contains` (1 item per call), or `insert_many` and \
         `contains_many`. \"Grown\" is a filter that was made for an eighth of the items, and has grown to three \
         generations.\n\
         * **`BITFIELD` without our library**: the same commands on one key, on a blocking connection.\n\
         * **`SETBIT` per bit**: the commands of a call are a pipeline; queries use `GETBIT`.\n\
         * **Lua script**: one `EVALSHA` per call, which calls `SETBIT` per bit, or `GETBIT` until a bit is 0.\n\
         * **scrapy-redis-bloomfilter**: a key of 2^30 bits and 6 bits per item. It waits for the reply to each `GETBIT`, \
         and, if the item is new, to each `SETBIT`. Its hash functions are replaced by ours, which are faster.\n\n\
         A round trip is one wait for the server: the commands of a batch are sent at once.\n",
        count(*capacity),
    );
    for Schemes { rate, probes, words, rows } in schemes {
        text += &format!(
            "\n## Schemes, at a rate of {}\n\n{probes} bits per item; in our layout they are in {} of a line. \
             \"One winner\" is whether exactly one of several clients that insert an item finds it new. In brackets: \
             the items that were won twice when two clients inserted the same items at the same time, the items of each call in \
             opposite orders.\n\n### New items\n\n{}\n### Items that are there, and absent \
             items\n\n{}",
            percent(*rate),
            number(*words as usize, "word"),
            new(rows).markdown(),
            others(rows).markdown(),
        );
    }
    text += &format!(
        "\n## Items per command\n\nNew items by `BITFIELD` on one key of {} and {}. CPU time is that of the server, from \
         reading the command to sending the reply; the other columns are the execution alone, as `INFO latencystats` \
         reports it. A command blocks the server for about its CPU time.\n\n{}",
        bytes(sizes.first().map_or(0, |sizes| sizes.bytes) as f64),
        bytes(sizes.last().map_or(0, |sizes| sizes.bytes) as f64),
        self::sizes(sizes).markdown(),
    );
    text += &format!(
        "\n## Ways to query\n\n{QUERIES_AT_ONCE} items per command or pipeline, half of which are present. CPU time in µs per \
         item.\n\n{}",
        self::queries(queries).markdown(),
    );
    text
}

/// Returns a cell that wins if it is the lowest of its column.
fn lowest(value: f64) -> Cell {
    Cell { shown: figure(value), rank: Some(value) }
}

/// Returns the cell of the items per second at this time per item: it wins if it is the highest.
fn rate(micros: f64) -> Cell {
    Cell { shown: count((1e6 / micros).round() as u64), rank: Some(micros) }
}

/// Returns a number of things.
fn number(value: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(value as u64), if value == 1 { "" } else { "s" })
}

fn name(scheme: &Scheme) -> String {
    format!("{}, {} per call", scheme.name, number(scheme.batch, "item"))
}

/// Returns the number of round trips per item.
fn round_trips(scheme: &Scheme, trips: u32) -> Cell {
    let each = f64::from(trips) / scheme.batch as f64;
    if each < 1.0 { format!("{each:.4}") } else { trips.to_string() }.into()
}

/// Returns the table of inserts of new items.
fn new(rows: &[Row]) -> Table {
    let columns = [
        "round trips per item",
        "server CPU",
        "client CPU",
        "items/s",
        "items/s in the slowest round",
        "one winner",
    ];
    let mut table = Table::new(columns);
    for Row { scheme, costs: [cost, ..], slowest, race } in rows {
        let cells = [
            round_trips(scheme, scheme.round_trips_if_new),
            lowest(cost.server),
            lowest(cost.client),
            rate(cost.wall),
            rate(*slowest),
            winners(scheme, *race),
        ];
        table.add(name(scheme), cells);
    }
    table
}

fn winners(scheme: &Scheme, race: Race) -> Cell {
    let one = if scheme.one_winner { "yes" } else { "no" };
    format!("{one} ({} of {})", count(race.twice as u64), count(race.items as u64)).into()
}

/// Returns the table of inserts of items that are there, and of queries.
fn others(rows: &[Row]) -> Table {
    let of = ["insert again", "query of a present item", "query of an absent item"];
    let columns = of.iter().flat_map(|of| {
        ["server CPU", "client CPU", "items/s"].map(|of_cost| format!("{of}: {of_cost}"))
    });
    let mut table = Table::new(["round trips per item".to_owned()].into_iter().chain(columns));
    for Row { scheme, costs: [_, others @ ..], .. } in rows {
        let trips = round_trips(scheme, scheme.round_trips);
        let costs = others
            .iter()
            .flat_map(|cost| [lowest(cost.server), lowest(cost.client), rate(cost.wall)]);
        table.add(name(scheme), [trips].into_iter().chain(costs));
    }
    table
}

/// Returns the table of commands by the number of their items.
fn sizes(all: &[Sizes]) -> Table {
    let columns = all.iter().flat_map(|sizes| {
        let probes = sizes.probes;
        ["CPU per item", "CPU per command", "99 % execute within", "longest execution"]
            .map(|column| format!("{probes} bits: {column}, µs"))
    });
    let mut table = Table::new(columns);
    let Some(first) = all.first() else { return table };
    for (row, (items, _)) in first.rows.iter().enumerate() {
        let cells = all.iter().filter_map(|sizes| sizes.rows.get(row)).flat_map(|(_, cost)| {
            [cost.cpu, cost.cpu * *items as f64, cost.p99, cost.longest].map(figure)
        });
        table.add(number(*items, "item"), cells);
    }
    table
}

/// Returns the table of ways to query.
fn queries(all: &[Queries]) -> Table {
    let columns = all.iter().flat_map(|queries| {
        let (bits, words) = (queries.probes, number(queries.words as usize, "word"));
        ["server", "client"].map(|part| format!("{bits} bits in {words}: {part}"))
    });
    let mut table = Table::new(columns);
    let Some(first) = all.first() else { return table };
    for (row, (name, _)) in first.rows.iter().enumerate() {
        let cells = all.iter().filter_map(|queries| queries.rows.get(row));
        table.add((*name).to_owned(), cells.flat_map(|(_, cost)| cost.map(lowest)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis_costs::{Blocking, Cost, schemes};

    #[test]
    fn a_page_has_a_row_for_each_scheme_size_and_way() {
        let cost = |server| Cost { server, client: 2.5, wall: 20.0 };
        let row = |scheme: Scheme| {
            // The first row is the best.
            let costs =
                [1.0, 2.0, 3.0, 4.0].map(|server| cost(server + f64::from(scheme.round_trips)));
            Row { scheme, costs, slowest: 25.0, race: Race { items: 1234, twice: 0 } }
        };
        let rows = schemes().into_iter().map(row).collect();
        let blocking = Blocking { cpu: 2.0, p99: 30.0, longest: 40.0 };
        let figures = Figures {
            version: "7.0".to_owned(),
            capacity: 5000,
            rounds: 3,
            schemes: vec![Schemes { rate: 0.01, probes: 5, words: 1, rows }],
            sizes: vec![Sizes { rate: 0.01, probes: 5, bytes: 2048, rows: vec![(64, blocking)] }],
            queries: vec![Queries { probes: 16, words: 4, rows: vec![("a way", [1.25, 0.75])] }],
        };
        let text = page(&figures, "a command");
        for part in [
            "| redis-server | 7.0, without persistence |\n| made by | `a command` |",
            "\n## Schemes, at a rate of 1 %\n\n5 bits per item; in our layout they are in 1 word of a line.",
            "\n| ours, 200 items per call | 0.0050 | **2.00** | **2.50** | **50,000** | **40,000** | yes (0 of 1,234) |\n",
            "\n| scrapy-redis-bloomfilter, 1 item per call | 12 | 7.00 | **2.50** | **50,000** | **40,000** | no (0 of 1,234) |\n",
            "\n| scrapy-redis-bloomfilter, 1 item per call | 6 | 8.00 | **2.50** | **50,000** | 9.00 |",
            "\n| 64 items | 2.00 | 128 | 30.0 | 40.0 |\n",
            "| 16 bits in 4 words: server | 16 bits in 4 words: client |\n|---|---:|---:|\n| a way | 1.25 | 0.75 |\n",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
