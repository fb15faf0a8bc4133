//! The page on the memory of `tamis dedup` by the number of lines.

use super::chart::Chart;
use super::figure::{bytes, count, figure};
use super::machine;
use super::plots;
use super::table::Table;
use crate::lines::Stop;

/// The bits per line that a run should not exceed.
const LIMIT: f64 = 100.0;
/// Each row of the table has this number of stops.
const STOPS: usize = 25;

/// The stops of a run, with the number of its threads. The first stop is after one line.
pub(super) type Run = (usize, Vec<Stop>);

/// Returns the page, and its chart, which is in the file `memory.svg`; `command` is the command
/// that reproduces them.
pub(super) fn page(runs: &[Run], command: &str) -> (String, Option<Chart>) {
    let facts = machine::facts();
    let rows: String =
        facts.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    let mut text = format!(
        "# Memory of `tamis dedup`\n\n| | |\n|---|---|\n{rows}| made by | `{command}` |\n\n\
         The peak memory of `tamis dedup --threads N`, with no other option that has an effect on it, while it reads \
         distinct lines from a pipe: the numbers from 0 on. At each count of lines the writer waits until the program \
         has printed exactly that number of lines, and reads the peak of all memory of the process (`VmHWM`). The \
         program does not know how many lines follow, so this is the peak of a run with that number of lines.\n\n\
         The counts are 1.2 % apart. A peak does not fall, so the peak at the next count limits the bits per line \
         between two counts. This limit is what \"at most\" shows.\n"
    );
    for (threads, stops) in runs {
        let from = holds_from(stops).map_or_else(
            || format!("The peak is more than {LIMIT} bits per line at the last count."),
            |from| {
                format!(
                    "From {} lines on, it is at most {LIMIT} bits per line at every count.",
                    count(from)
                )
            },
        );
        let fixed = fixed(stops);
        text += &format!(
            "\n## {}\n\n{from} One line takes {}; the last column leaves this out.\n\n{}",
            threads_of(*threads),
            bytes(fixed as f64),
            table(stops).markdown()
        );
    }
    let chart = plots::peaks(&curves(runs), LIMIT);
    if let Some(chart) = &chart {
        text += &format!("\n![{}](memory.svg)\n", chart.title);
    }
    (text, chart)
}

fn threads_of(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// The peak after one line.
fn fixed(stops: &[Stop]) -> u64 {
    stops.first().map_or(0, |stop| stop.peak)
}

fn bits(peak: u64, lines: u64) -> f64 {
    8.0 * peak as f64 / lines as f64
}

/// For each stop, the most bits per line at any count before the next stop.
fn most(stops: &[Stop]) -> impl DoubleEndedIterator<Item = (u64, f64)> {
    (0..stops.len()).map(|at| {
        let next = stops.get(at + 1).unwrap_or(&stops[at]);
        (stops[at].lines, bits(next.peak, stops[at].lines))
    })
}

/// The first stop from which on the limit holds at every count.
fn holds_from(stops: &[Stop]) -> Option<u64> {
    most(stops).rev().take_while(|&(_, bits)| bits <= LIMIT).last().map(|(lines, _)| lines)
}

fn table(stops: &[Stop]) -> Table {
    let fixed = fixed(stops);
    let columns = [
        "peak MiB",
        "bits per line",
        "at most, up to the next row",
        "bits per line without the memory of one line",
    ];
    let mut table = Table::new(columns);
    // The stop after one line is no part of the series.
    let all: Vec<(&Stop, f64)> =
        stops.iter().zip(most(stops).map(|(_, bits)| bits)).skip(1).collect();
    for row in all.chunks(STOPS) {
        let Some((stop, _)) = row.first() else { continue };
        let most = row.iter().map(|(_, most)| *most).fold(0.0, f64::max);
        let cells = [
            figure(stop.peak as f64 / 1024.0 / 1024.0),
            figure(bits(stop.peak, stop.lines)),
            figure(most),
            figure(bits(stop.peak - fixed, stop.lines)),
        ];
        table.add(count(stop.lines), cells);
    }
    table
}

/// The curves of the chart: all memory of each run, and that of the first run without its fixed
/// memory.
fn curves(runs: &[Run]) -> Vec<(String, Vec<(f64, f64)>)> {
    let curve = |stops: &[Stop], fixed: u64| {
        let points = stops.iter().skip(1);
        points.map(|stop| (stop.lines as f64, bits(stop.peak - fixed, stop.lines))).collect()
    };
    let all = runs.iter().map(|(threads, stops)| (threads_of(*threads), curve(stops, 0)));
    let above = runs.iter().take(1).map(|(threads, stops)| {
        let name = format!("{}, less one line's", threads_of(*threads));
        (name, curve(stops, fixed(stops)))
    });
    all.chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stops at 1, 100, 110, ... lines, with this memory for one line, and this for each line.
    fn stops(fixed: u64, each: u64) -> Vec<Stop> {
        let lines = [1].into_iter().chain((10..60).map(|ten| 10 * ten));
        lines.map(|lines| Stop { lines, peak: fixed + each * (lines - 1) }).collect()
    }

    #[test]
    fn the_limit_holds_from_where_no_later_count_exceeds_it() {
        // At 100 lines, before 110: 8 · (400 + 5 · 109) / 100 = 75.6.
        assert_eq!(holds_from(&stops(400, 5)), Some(100));
        // 8 · (1000 + 5 · (lines + 9)) / lines <= 100 from 139.3 lines on.
        assert_eq!(holds_from(&stops(1000, 5)), Some(140));
        assert_eq!(holds_from(&stops(0, 20)), None);
        // One stop above the limit moves the count behind it.
        let mut stops = stops(1000, 5);
        stops[40].peak += 8000;
        assert_eq!(holds_from(&stops), Some(stops[40].lines));
    }

    #[test]
    fn a_page_has_a_row_for_each_25_stops_and_a_chart() {
        let (text, chart) = page(&[(1, stops(1000, 5)), (2, stops(2000, 5))], "a command");
        for part in [
            "| made by | `a command` |",
            "\n## 1 thread\n\nFrom 140 lines on, it is at most 100 bits per line at every count. One line takes 1000 B;",
            "\n| 100 | 0.00 | 120 | 124 | 39.6 |\n| 350 | 0.00 | 62.7 | 63.9 | 39.9 |\n",
            "\n## 2 threads\n",
            "\n![Peak memory of tamis dedup](memory.svg)\n",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let lines = chart.expect("a chart").lines;
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["1 thread", "2 threads", "1 thread, less one line's", "100 bits"]);
    }
}
