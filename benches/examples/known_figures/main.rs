//! The known cases of such filters as one table: each row has a published figure, what the formula
//! gives, and what our filters do.
//!
//! `cargo run --release --example known_figures` takes less than a minute on two cores, and
//! `-- --quick` a few seconds. Rates are asserted, times are only printed. The row on Redis needs
//! `redis-server`. `-- --curve` prints the curve of the guide as SVG.

mod bounds;
mod cuckoo;
mod curve;
mod growth;
mod guard;
mod keys;
mod memories;
mod one_slot;
mod penetration;
mod rates;
#[path = "../../../crates/redis/tests/servers/harness/process.rs"]
#[allow(dead_code, reason = "the tests of tamis-redis also restart it")]
mod server;
mod size;
mod table;

use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use bounds::Bounds;
use size::Size;
use table::Table;

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Fallible {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = match arguments[..] {
        [] => known_figures(Size::Full)?,
        ["--quick"] => known_figures(Size::Quick)?,
        ["--curve"] => curve::svg(),
        _ => return Err("usage: known_figures [--quick | --curve]".into()),
    };
    // A reader that has enough, such as `head`, closes the pipe.
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Measures all cases, and returns the table.
///
/// # Panics
///
/// If a figure lies outside its bounds.
fn known_figures(size: Size) -> Fallible<String> {
    let (start, mut table, mut bounds) = (Instant::now(), Table::default(), Bounds::default());
    rates::add(&mut table, &mut bounds, size)?;
    guard::add(&mut table, &mut bounds, size)?;
    memories::add(&mut table, &mut bounds, size)?;
    growth::add(&mut table, &mut bounds, size)?;
    cuckoo::add(&mut table, &mut bounds, size)?;
    penetration::add(&mut table, &mut bounds, size)?;
    Ok(format!("{table}\n{bounds}\n{:.0} s\n", start.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_figure_is_measured() {
        let table = known_figures(Size::Quick).unwrap();
        println!("{table}");
        // One line per figure that the cases name.
        for figure in ["0.00889 %", "0.03035 %", "5 GB", "false true true", "98 %", "a ninth copy"]
        {
            assert!(table.contains(figure), "{figure} is missing");
        }
    }
}
