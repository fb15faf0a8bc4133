//! Measures the filters that grow, count or rotate, and writes a page with tables and a chart.

use core::error::Error;
use std::path::PathBuf;

use clap::Parser;
use tamis_benches::{growing, report};

/// Measures the filters that grow, count or rotate
#[derive(Debug, Parser)]
struct Args {
    /// The folder to write GROWING.md and growing.svg to
    out: PathBuf,
    /// Measure with a tenth of the items
    #[arg(long)]
    quick: bool,
    /// The inserts whose latency is measured; by default 100 million, or 10 million with `--quick`
    #[arg(long)]
    inserts: Option<u64>,
    /// The command that reproduces the page
    #[arg(long, default_value = "growing")]
    command: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { out, quick, inserts, command } = Args::parse();
    let default = if quick { 10_000_000 } else { 100_000_000 };
    let figures = growing::measure(quick, inserts.unwrap_or(default));
    println!("{}", report::write_growing(&figures, &out, &command)?.display());
    Ok(())
}
