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
    match crawl::run(args::Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Who has closed standard error does not want to read it.
            _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}
