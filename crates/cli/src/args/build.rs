//! The options of `tamis build`.

use std::path::PathBuf;

use clap::Args;

use super::examples::FILTER_EXAMPLES;
use super::foreign::KeyArgs;
use super::format::{Named, foreign};
use super::records::RecordArgs;
use super::values::seed;
use crate::file_kind::FileKind;
use crate::pipeline::Seed;
use crate::units::{count, rate};

/// Build a filter from records, and save it
///
/// The filter is saved at the end of the input, in one step. Until then, and if the run fails, a
/// file of that name stays as it is. The command prints only a summary.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
#[command(after_long_help = FILTER_EXAMPLES)]
pub(crate) struct BuildArgs {
    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its
    /// first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The file of the filter
    #[arg(short, long, value_name = "FILTER")]
    pub(crate) output: PathBuf,

    /// The number of distinct records, such as 10M, up to which the filter keeps its rate. Without
    /// this option the program counts the records: it keeps their hashes until the end of the
    /// input, in 8 to 24 bytes of memory per distinct record. A filter of a kind that grows begins
    /// with this number, and without this option with 65,536
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) capacity: Option<u64>,

    /// Build a window (--kind rotating): a record is kept for at least the next N new records, such
    /// as 10M, and for at most about 1.2 N + 5. A repeat does not extend its stay
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "capacity")]
    pub(crate) window: Option<u64>,

    /// The false-positive rate at that number of records, such as 1e-6 or 1% [default: 1e-6; with
    /// --to the default of the system]
    #[arg(long, value_name = "P", value_parser = rate)]
    pub(crate) rate: Option<f64>,

    /// The kind of the filter [default: blocked]
    ///
    /// 'cuckoo', 'counting' and 'scalable-cuckoo' let you remove records. They keep a copy of every
    /// record, repeated ones included. A cuckoo filter takes 4 to 16 copies of each. A counting
    /// filter takes any number of copies, but can remove those of a record only up to 14: of 15 or
    /// more, all stay.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<FileKind>,

    /// Build the filter even if its false-positive rate exceeds twice the requested one, or with
    /// --to if it gets more keys than 1.05 times its --capacity. Without this option that is an
    /// error, and an older file of that name is kept
    #[arg(long)]
    pub(crate) overfull: bool,

    /// Build a filter of another system, such as guava, spark:v1 or redisbloom:cf, as that system
    /// does with --capacity and --rate; 'tamis convert --help' lists the formats. Of these only
    /// 'parquet' needs no --capacity: where memory does not allow to count the records, the filter
    /// has 128 MiB first, and is folded at the end
    #[arg(long, value_name = "FORMAT", value_parser = foreign, conflicts_with_all = ["kind", "window"])]
    pub(crate) to: Option<Named>,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// The seed of the hash, which is saved with the filter: a number, or 'random' (a keyed hash
    /// with a random key) for records chosen by an attacker
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    pub(crate) seed: Seed,
}
