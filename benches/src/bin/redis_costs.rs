//! Measures what a Bloom filter in Redis costs by several schemes, and writes a page with tables.

use core::error::Error;
use std::path::PathBuf;

use clap::Parser;
use tamis_benches::{redis_costs, report};

/// Measures what a Bloom filter in Redis costs by several schemes
#[derive(Debug, Parser)]
struct Args {
    /// The folder to write REDIS.md to
    out: PathBuf,
    /// Measure with a tenth of the items
    #[arg(long)]
    quick: bool,
    /// Measure only the rows of our library, to compare two versions of it
    #[arg(long)]
    ours: bool,
    /// The command that reproduces the page
    #[arg(long, default_value = "redis_costs")]
    command: String,
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let Args { out, quick, ours, command } = Args::parse();
    let figures = redis_costs::measure(quick, ours)?;
    println!("{}", report::write_redis_costs(&figures, &out, &command)?.display());
    Ok(())
}
