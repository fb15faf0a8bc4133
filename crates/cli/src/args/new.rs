//! The options of `tamis new`.

use core::time::Duration;
use std::path::PathBuf;

use clap::Args;

use super::examples::FILTER_EXAMPLES;
use super::foreign::{FromArgs, KeyArgs};
use super::records::RecordArgs;
use super::server::ServerArgs;
use super::values::{Window, chunk, duration, seed, window};
use crate::file_kind::FileKind;
use crate::pipeline::Seed;
use crate::units::{count, rate};

/// Print the records that a filter does not contain, in input order, and add them to it
///
/// If there is no filter of that name, the command creates one: the same table that dedup uses, or
/// with --kind, --rate or --window a filter of another kind. A second run with the same input
/// prints nothing. The filter is saved at the end of the input, and when Ctrl-C or SIGTERM ends the
/// run. It never contains a record that was not printed: if the run fails while it prints, or the
/// output pipe is closed, the filter is not saved, and the next run prints the records again.
///
/// If the output is a pipe or a socket, the filter is saved when the reader has taken all of it. If
/// the reader ends before that, nothing is saved, and a warning says how many records the next run
/// prints again. If a reader takes nothing for 3 s, a line says so, and the program waits on. A
/// signal ends this wait without a save, and --no-wait omits it. The program does not know what a
/// reader has taken but not handled, or what a program between (tee, pv) holds back. If two
/// programs write to one pipe, each waits until all bytes of both are taken. The safe way is -o
/// FILE: the file and the filter then change together, at the end. On systems other than Linux the
/// program does not wait. A TCP socket has taken what the system at its other end has received.
///
/// After Ctrl-C, SIGTERM or SIGHUP during the input, what was printed is saved if the reader takes
/// it, unless it takes nothing for 1 s. A second signal ends the program at once. The status is
/// that of the signal. With -o FILE a signal changes nothing. If it comes when both files are
/// complete, it is too late, and the status is 0. A signal that is ignored when the program starts,
/// as with nohup, stays ignored (on systems other than Linux: SIGHUP only, which ends the program
/// there without a save).
///
/// If the filter exists, a --kind, --rate, --window, --seed, --url or --ignore-case that is not
/// that of the filter is an error, and so is the --capacity of a filter of fixed size. The options
/// that select the key (--key-field, --json-key, --csv) are not saved with it: give the same in
/// each run.
///
/// A filter may be in Redis or Valkey: redis://[user:password@]host[:port]/[database]#name, or with
/// the scheme rediss, valkey, valkeys (rediss and valkeys are encrypted), or
/// unix:///path/of/socket#name. In a user name, a password or a name, / ? # @ : % + and & are
/// written as %2F %3F %23 %40 %3A %25 %2B and %26, and a space may be %20. The command creates the
/// filter if there is none of that name. The filter grows, and any number of runs on any number of
/// machines may share it: exactly one of them prints each record. The server stores each record at
/// once. So a record may be claimed and not printed if the process is killed (at most --chunk per
/// thread), or if the reply of the server is lost; the run then fails and gives the number. After
/// Ctrl-C or SIGTERM all claimed records are printed first.
///
/// Two runs on one filter in a file take turns: the second waits until the first has ended. Records
/// without a key are printed each time. The output and the file of the filter are the same for any
/// number of threads.
///
/// Exit codes: 0 success (also if the output pipe was closed, or nothing was printed); 1 failure
/// while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
#[command(after_long_help = FILTER_EXAMPLES)]
pub(crate) struct NewArgs {
    /// The file of the filter, or its address in Redis
    pub(crate) filter: PathBuf,

    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its
    /// first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write to this file instead of standard output. It is replaced at the end of the run. If the
    /// run fails or is ended by a signal, neither this file nor the filter is changed. It is
    /// compressed if its name ends in .gz or .zst. '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Create a filter of this kind. A kind of fixed size needs a --capacity [default: a table, or
    /// with --rate blocked]
    #[arg(long, value_enum)]
    pub(crate) kind: Option<FileKind>,

    /// The number of distinct records expected in the created filter, such as 10M. A table and the
    /// kinds that grow begin with it; a filter of fixed size keeps its rate up to it
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) capacity: Option<u64>,

    /// Keep only the last N printed records (--kind rotating), such as 10M. None of them is printed
    /// again; an older record may be, and after about 1.2 N + 5 printed records it is forgotten.
    /// For a filter in Redis: remember each record for this time, such as 24h, and at most a third
    /// longer; --capacity is then the number of records in this time
    #[arg(long, value_name = "N|TIME", value_parser = window)]
    pub(crate) window: Option<Window>,

    /// Create a filter that loses a new record with at most this probability, such as 1e-6 or
    /// 0.01%. A filter of fixed size keeps to it up to --capacity records [default: 1e-6, with
    /// --window in a file 1e-9; a table has no rate]
    #[arg(long, value_name = "P", value_parser = rate)]
    pub(crate) rate: Option<f64>,

    /// Fill a filter of fixed size even above twice the requested false-positive rate. Without this
    /// option the run stops before the first record that would exceed it, saves what it printed,
    /// and exits with 1. The number of records in an existing filter is an estimate
    #[arg(long)]
    pub(crate) overfull: bool,

    /// Also save the filter at these intervals, such as 30s, 10min or 1h: for input that never
    /// ends. There is no save while the reader of a pipe has not taken all of the output
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "output")]
    pub(crate) save_every: Option<Duration>,

    /// Save without waiting until the reader of a pipe or socket has taken all. No run prints again
    /// what the reader then leaves unread
    #[arg(long)]
    pub(crate) no_wait: bool,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Claim at most this number of records in Redis at once, per thread. A killed run may have
    /// claimed this number of records and not printed them. A smaller number is slower [default:
    /// 4096]
    #[arg(long, value_name = "N", value_parser = chunk)]
    pub(crate) chunk: Option<usize>,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// The seed of the hash of a created filter, which is saved with it: a number, or 'random' (a
    /// keyed hash with a random key) for records chosen by an attacker [default: 0]
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) seed: Option<Seed>,
}
