//! The options of `tamis dedup`.

use core::ops::Range;
use std::path::PathBuf;

use clap::Args;

use super::examples::EXAMPLES;
use super::records::RecordArgs;
use super::values::seed;
use crate::dedup::{Filter, Options};
use crate::error::Error;
use crate::file_kind::WINDOW_RATE;
use crate::kind::Kind;
use crate::pipeline::{Records, Seed};
use crate::policy;
use crate::units::{count, rate};

/// The rate of --kind without --rate.
const DEFAULT_RATE: f64 = 1e-6;

/// The rates at which --rate without --kind selects cuckoo filters, which take fewer bits there
/// than blocked ones. Below, a chain of cuckoo filters does not grow far on a processor without
/// buckets of 128 bits: each slice takes more than 4e-10 of the rate. (A table, which is the
/// default, takes less memory there than a chain, and loses nothing.)
const SMALL_CUCKOO: Range<f64> = 1e-7..1e-3;

/// Print the first record of every key, in input order
///
/// The output is that of `awk '!seen[$0]++'`, the same to the byte for any number of threads.
/// The program keeps fingerprints of the records, not the records. So it may take a new record for
/// a duplicate, and the record is lost. This is improbable: of up to 100 million distinct records,
/// a whole run is expected to lose fewer than 0.01. With --rate or --kind it loses more. The
/// summary reports the expected number. If that is above 0.01, a warning says so, even with
/// --quiet.
///
/// Exit codes: 0 success (also if the output pipe was closed, or nothing was printed); 1 failure
/// while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", policy::help()))]
pub(crate) struct DedupArgs {
    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its
    /// first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write to this file instead of standard output. It may be one of the files read: it is
    /// replaced at the end of the run, and is not changed if the run fails. It is compressed if its
    /// name ends in .gz or .zst. '-' is standard output
    ///
    /// Until the end the output is in a file '.tamis-*' in the same directory, so the disk needs
    /// space for both. If the run is killed, that file remains; the next run with this output
    /// removes it.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print repeated records only: the second record of every key that occurs more than once. (If
    /// the key is the whole record, it equals the first.) This needs a second filter, and so up to
    /// twice the memory. False positives may print records that are not repeated; the summary
    /// reports the expected number. Records without a key are left out
    #[arg(short = 'd', long)]
    repeated: bool,

    /// Allow the loss of each distinct record with this probability, for less memory, such as 1e-6
    /// (one of a million) or 0.01%. The memory is about 2 bytes per distinct record at 1%. At 1e-6
    /// it is 3 to 4 bytes with --capacity and 6 without [default: no loss is expected]
    #[arg(long, value_name = "P", value_parser = rate)]
    rate: Option<f64>,

    /// The expected number of distinct records, such as 10M: saves memory. If there are more, the
    /// memory grows as without this option
    #[arg(long, value_name = "N", value_parser = count)]
    capacity: Option<u64>,

    /// Do not grow: stop with exit code 1 at the first new record beyond --capacity
    #[arg(long, requires = "capacity")]
    fixed: bool,

    /// Keep only the last N printed records, such as 10M: bounded memory, for input that never
    /// ends. None of these N is printed again; an older record may be
    ///
    /// After about 1.2 N + 5 printed records every record is forgotten. Seeing a record again does
    /// not extend its stay: it is printed once per window. The rate is 1e-9 without --rate. Each of
    /// the N takes about 19 bytes, and 9 at a rate of 1e-6.
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["repeated", "kind", "capacity", "fixed"])]
    window: Option<u64>,

    /// Keep the records in filters of this kind, which lose records at the --rate [default: without
    /// --rate a table, which is expected to lose none; with a --rate from 1e-7 to 1e-3 cuckoo, with
    /// any other blocked]
    ///
    /// Without --rate, filters have the rate 1e-6. 'bloom' takes less memory and more time than
    /// 'blocked', and so does 'cuckoo' at low rates. 'once' prints the same as 'blocked' and has no
    /// advantage here, since one thread decides each record.
    #[arg(long, value_enum)]
    kind: Option<Kind>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// The seed of the hash: a number, or 'random' (a keyed hash with a new key in every run) for
    /// input chosen by an attacker
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    seed: Seed,

    /// Print a longer summary, with the filter and the time
    #[arg(long, conflicts_with_all = ["quiet", "stats"])]
    pub(crate) verbose: bool,
}

impl DedupArgs {
    /// Returns the options of the run, or an error if they contradict each other.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let Records { separator, max_record, key, header, strict, threads, chunk, .. } =
            self.records.records("dedup")?;
        Ok(Options {
            separator,
            max_record,
            key,
            header,
            repeated: self.repeated,
            strict,
            filter: filter(self.window, self.kind, self.rate),
            capacity: self.capacity,
            fixed: self.fixed,
            seed: self.seed,
            threads,
            chunk,
            most: None,
        })
    }
}

/// What the options select: a window, without options a table, otherwise a chain of filters.
fn filter(window: Option<u64>, kind: Option<Kind>, rate: Option<f64>) -> Filter {
    if let Some(items) = window {
        return Filter::Window { items, rate: rate.unwrap_or(WINDOW_RATE) };
    }
    if kind.is_none() && rate.is_none() {
        return Filter::Table;
    }
    let rate = rate.unwrap_or(DEFAULT_RATE);
    let kind =
        kind.unwrap_or(if SMALL_CUCKOO.contains(&rate) { Kind::Cuckoo } else { Kind::Blocked });
    Filter::Chain { kind, rate }
}
