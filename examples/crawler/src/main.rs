//! A parallel crawler that fetches each URL once. README.md has its design.

mod args;
mod claims;
mod crawl;
mod failure;
mod fetch;
mod frontier;
mod hosts;
mod links;
mod log;
mod page;
mod report;
mod seen;
mod urls;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    // They live as long as the process.
    let args = Box::leak(Box::new(args::Args::parse()));
    if let Err(failure) = crawl::run(args).await {
        // If standard error is closed, nobody wants to read it.
        _ = writeln!(io::stderr(), "error: {failure}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
