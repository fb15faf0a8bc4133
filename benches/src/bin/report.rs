//! Writes the report on a file of records.

use core::error::Error;
use std::path::PathBuf;

use clap::Parser;

/// Writes the report on a file of records
#[derive(Debug, Parser)]
struct Args {
    /// The file of records
    input: PathBuf,
    /// The folder to write REPORT.md and plots/*.svg to
    out: PathBuf,
    /// The command that reproduces the report
    #[arg(default_value = "report")]
    command: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { input, out, command } = Args::parse();
    println!("{}", tamis_benches::report::write(&input, &out, &command)?.display());
    Ok(())
}
