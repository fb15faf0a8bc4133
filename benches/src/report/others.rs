//! The other pages: `MEMORY.md` and `REDIS.md`.

use super::data::{Data, Point};
use super::page::Page;
use super::table::Table;
use crate::figure::{bytes, count, figure, percent};
use crate::record::Record;

/// The limit of the memory of `tamis dedup`, in bits per line.
const LIMIT: f64 = 100.0;

/// Each row of the table of that memory has this number of stops.
const STOPS: usize = 50;

/// Returns the page on the memory of `tamis dedup`.
pub(super) fn memory(data: &Data, charts: &[&str]) -> Option<String> {
    let [one, stops @ ..] = data.records("dedup") else { return None };
    let mut page = Page::new("Memory of `tamis dedup`");
    page.chart(charts, "dedup", "Bits of memory per distinct line by the number of lines");
    page.list([
        holds_from(stops).map(|lines| {
            let lines = count(lines);
            format!("From {lines} lines on, the peak is at most {LIMIT} bits per distinct line.")
        }),
        Some(format!("One line takes {}; the last column leaves this out.", bytes(one.value))),
    ]);
    page.text(
        "`tamis dedup --threads 1` reads distinct lines from a pipe, the numbers from 0 on. At a \
         count the writer waits until the program has printed exactly that number of lines, and \
         reads the peak of all memory of the process (`VmHWM`). The program does not know how many \
         lines follow, so this is the peak of a run with that number of lines. Counts are 1.2 % \
         apart. A peak does not fall, so the next peak limits the bits per line between them: \
         that is what \"at most\" shows.",
    );
    let all: Vec<(&Record, f64)> = stops.iter().zip(most(stops)).collect();
    let named = |name: &str| all.chunks(STOPS).find(|row| count(row[0].0.items) == name);
    let mut table = Table::new(all.chunks(STOPS).map(|row| count(row[0].0.items)));
    table.texts("peak MiB", |name| Some(figure(named(name)?[0].0.value / 1024.0 / 1024.0)));
    table.texts("bits per line", |name| Some(figure(bits(named(name)?[0].0, 0.0))));
    table.texts("at most, up to the next row", |name| {
        Some(figure(named(name)?.iter().map(|(_, most)| *most).fold(0.0, f64::max)))
    });
    table.texts("bits per line without the memory of one line", |name| {
        Some(figure(bits(named(name)?[0].0, one.value)))
    });
    page.text(&table.markdown());
    Some(page.finish(data, &["dedup"]))
}

/// Returns the bits per line, without fixed memory.
fn bits(stop: &Record, fixed: f64) -> f64 {
    8.0 * (stop.value - fixed) / stop.items as f64
}

/// Returns for each stop the most bits per line at any count before the next stop.
fn most(stops: &[Record]) -> impl DoubleEndedIterator<Item = f64> {
    (0..stops.len()).map(|at| {
        let next = stops.get(at + 1).unwrap_or(&stops[at]);
        8.0 * next.value / stops[at].items as f64
    })
}

/// Returns the first stop from which on the limit holds at every count.
fn holds_from(stops: &[Record]) -> Option<u64> {
    let most = most(stops).rev().zip(stops.iter().rev());
    most.take_while(|(most, _)| *most <= LIMIT).last().map(|(_, stop)| stop.items)
}

/// Returns the page on filters in Redis.
pub(super) fn redis(data: &Data) -> Option<String> {
    let point = data.at_most("redis");
    let mut page = Page::new("A Bloom filter in Redis");
    let server = data.0.get("redis")?.facts.iter().find_map(|(name, version)| {
        let product = [("redis-server", "Redis"), ("valkey-server", "Valkey")]
            .into_iter()
            .find_map(|(server, product)| (name == server).then_some(product))?;
        Some(format!("{product} {version}"))
    });
    page.text(&format!(
        "One client and one server ({}, without persistence), which share the cores of one \
         machine. So a round trip is as fast as it can be: a network adds its latency to each. All \
         schemes are measured in turn, with the same items; figures are medians. CPU time is in µs \
         per item. That of the server is user and system time of `INFO cpu`; that of the client is \
         of the whole process in Rust. The schemes of others use the blocking connection of the \
         crate `redis`.",
        server.as_deref().unwrap_or("of an unknown version"),
    ));
    page.text(&format!(
        "Each filter is made for {} items and holds half of them before the first round. All have \
         as many bits as ours of the rate.\n\n\
         - **tamis**: `RedisBloomFilter`. Of clients that insert the same item, one gets `true`.\n\
         - **`SETBIT` per bit**: the commands of a call are a pipeline; queries use `GETBIT`. Two \
         clients may both find that an item is new.\n\
         - **Lua script**: one `EVALSHA` per call, which calls `SETBIT` or `GETBIT` per bit.",
        count(point.items)
    ));
    for (title, operation) in
        [("New items", "insert, new"), ("Queries of present items", "contains, hit")]
    {
        let mut table = Table::new(point.contenders());
        cpu(&mut table, point, operation);
        page.head(title);
        page.text(&table.markdown());
    }
    Some(page.finish(data, &["redis"]))
}

/// Adds columns of the CPU times and of the items per second, at both rates.
fn cpu(table: &mut Table, point: Point<'_>, operation: &str) {
    for requested in [1e-2, 1e-6] {
        let point = Point { rate: requested, ..point };
        for part in ["server", "client"] {
            let head = format!("{}: {part} CPU", percent(requested));
            table.times(&head, |name| point.value(name, &format!("{operation}, {part}")));
        }
        table.texts(&format!("{}: items/s", percent(requested)), |name| {
            let wall = point.value(name, &format!("{operation}, wall"))?;
            Some(count((1e6 / wall).round() as u64))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stops at 100, 110, ... lines, with this memory for one line, and this for each line.
    fn stops(fixed: f64, each: f64) -> Vec<Record> {
        let lines = (10..60).map(|ten| 10 * ten);
        let peak = |lines: u64| fixed + each * (lines - 1) as f64;
        lines
            .map(|lines| Record { value: peak(lines), items: lines, ..Record::default() })
            .collect()
    }

    #[test]
    fn the_limit_holds_from_where_no_later_count_exceeds_it() {
        // At 100 lines, before 110: 8 · (400 + 5 · 109) / 100 = 75.6.
        assert_eq!(holds_from(&stops(400.0, 5.0)), Some(100));
        // 8 · (1000 + 5 · (lines + 9)) / lines <= 100 from 139.3 lines on.
        assert_eq!(holds_from(&stops(1000.0, 5.0)), Some(140));
        assert_eq!(holds_from(&stops(0.0, 20.0)), None);
        // One stop above the limit moves the count behind it.
        let mut stops = stops(1000.0, 5.0);
        stops[40].value += 8000.0;
        assert_eq!(holds_from(&stops), Some(stops[40].items));
    }
}
