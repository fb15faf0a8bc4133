//! Measures the sections of the report, and writes its pages and charts.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use tamis_benches::measure::{self, Fallible, Setup};
use tamis_benches::report;

/// Measures the filters, and writes pages with tables and charts
#[derive(Debug, Parser)]
struct Args {
    /// Measure smaller filters, with fewer runs
    #[arg(long)]
    quick: bool,
    /// In the section `growing`, measure also filters that grow to 100 million items
    #[arg(long, conflicts_with = "quick")]
    long: bool,
    /// Measure only this section; the figures of the others stay
    #[arg(long, value_name = "SECTION", value_parser = PossibleValuesParser::new(measure::names()))]
    only: Vec<String>,
    /// Measure nothing
    #[arg(long)]
    draw: bool,
    /// The program `tamis`, for the section `dedup`
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The command that does all of this, for the pages
    #[arg(long, default_value = "report")]
    command: String,
    /// The directory of the files of figures
    data: PathBuf,
    /// The directory of the pages
    out: PathBuf,
}

fn main() -> Fallible<()> {
    let Args { quick, long, only, draw, program, command, data, out } = Args::parse();
    let setup = Setup { quick, long, program };
    for name in measure::names() {
        if !draw && (only.is_empty() || only.iter().any(|only| *only == name)) {
            measure::measure(name, &setup, &data, &command)?;
        }
    }
    println!("{}", report::write(&data, &out)?.display());
    Ok(())
}
