//! The measurements: sections, each with its figures in a file of its own.

mod build;
mod dedup;
pub(crate) mod growing;
mod latency;
mod machine;
mod plan;
mod redis;
mod setup;
mod single;
mod threads;

use std::fs;
use std::path::Path;
use std::time::Instant;

pub(crate) use self::plan::LARGEST;
pub use self::setup::{Fallible, Setup};
use crate::record::{Record, Section};

/// Measures the figures of a section.
type Measure = fn(&Setup) -> Fallible<Vec<Record>>;

/// All sections, by the names of their files.
const SECTIONS: [(&str, Measure); 10] = [
    ("one_thread", |setup| Ok(single::measure(plan::ONE_THREAD, setup))),
    ("bits", |_| Ok(single::bits(&plan::BITS))),
    ("builds", |setup| Ok(build::measure(setup))),
    ("threads", |setup| Ok(threads::measure(plan::THREADS, setup))),
    ("growing", |setup| Ok(growing::measure(setup))),
    ("chains", |setup| Ok(single::measure(plan::CHAINS, setup))),
    ("removing", |setup| Ok(single::measure(plan::REMOVING, setup))),
    ("latency", |setup| Ok(latency::measure(setup))),
    ("dedup", dedup::measure),
    ("redis", redis::measure),
];

/// Returns the names of all sections.
#[must_use]
pub fn names() -> Vec<&'static str> {
    SECTIONS.map(|(name, _)| name).to_vec()
}

/// Measures a section, and writes its file into the directory. `command` is the command that does
/// so.
///
/// # Errors
///
/// If a program that is needed is missing, an answer is wrong, or the file cannot be written.
///
/// # Panics
///
/// If there is no such section, or a filter in this process gives a wrong answer.
pub fn measure(name: &str, setup: &Setup, data: &Path, command: &str) -> Fallible<()> {
    let start = Instant::now();
    let (_, measure) = SECTIONS.iter().find(|(of, _)| *of == name).expect("the name of a section");
    let records = measure(setup)?;
    let facts = machine::facts(command);
    fs::create_dir_all(data)?;
    Section { facts, records }.write(&data.join(name).with_extension("csv"))?;
    eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}
