//! Measures the peak memory of `tamis dedup` by the number of lines, and writes a page with a table
//! and a chart.

use core::error::Error;
use std::path::PathBuf;

use clap::Parser;
use tamis_benches::{lines, report};

/// Measures the peak memory of `tamis dedup` by the number of lines
#[derive(Debug, Parser)]
struct Args {
    /// The program `tamis`
    program: PathBuf,
    /// The folder to write MEMORY.md and memory.svg to
    out: PathBuf,
    /// The most lines
    #[arg(long, default_value_t = 100_000_000)]
    lines: u64,
    /// The command that reproduces the page
    #[arg(long, default_value = "lines")]
    command: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { program, out, lines, command } = Args::parse();
    let counts = lines::counts(lines);
    let run = |threads| Ok((threads, lines::run(&program, threads, &counts)?));
    let runs = [1, 2].into_iter().map(run).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    println!("{}", report::write_lines(&runs, &out, &command)?.display());
    Ok(())
}
