//! Measures the figures of the report and appends them to a file, a line of JSON each.
//!
//! Figures in the file are not measured again, so that a run continues where another ended, unless
//! `--again` is given.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use tamis_benches::measure::{AXES, Scale, Survey};

/// Measures the filters along one axis after another
#[derive(Debug, Parser)]
struct Args {
    /// Take two minutes: smaller filters, fewer runs
    #[arg(long)]
    quick: bool,
    /// Measure along this axis; along all, if none is named
    #[arg(long = "axis", value_name = "NAME", value_parser = names())]
    axes: Vec<String>,
    /// Also measure what the file has; a report takes the better figures: for noisy machines
    #[arg(long)]
    again: bool,
    /// The file of records; figures in it are not measured again
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn names() -> PossibleValuesParser {
    AXES.map(|(name, _)| name).into()
}

fn main() -> io::Result<()> {
    let Args { quick, axes, again, out } = Args::parse();
    let scale = if quick { Scale::QUICK } else { Scale::FULL };
    let mut survey = Survey::new(scale, &out, again)?;
    for (name, measure) in AXES {
        if axes.is_empty() || axes.iter().any(|axis| axis == name) {
            let start = Instant::now();
            measure(&mut survey)?;
            eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
