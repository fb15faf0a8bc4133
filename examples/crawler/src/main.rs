//! A parallel crawler that fetches each URL once. README.md has its design.

mod args;
mod claims;
mod crawl;
mod fetch;
mod frontier;
mod hosts;
mod links;
mod log;
mod page;
mod report;
mod seen;
mod urls;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

/// What ends a crawl early: an error of a library, or a message.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(Failure::from).and_then(|runtime| {
        let outcome = runtime.block_on(crawl::run(args));
        // Do not wait for a name that is being looked up.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
