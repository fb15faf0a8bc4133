//! The options of `tamis index`.

use std::path::PathBuf;

use clap::Args;

use super::records::RecordArgs;
use super::values::seed;
use crate::kind::Kind;
use crate::pipeline::Seed;
use crate::units::rate;

/// Build a filter for each file, so that 'tamis which' finds the files that may contain a key
///
/// Each filter contains the keys of all records of its file. The filters are saved together, with
/// the names of the files as they are given here, in one step at the end. Until then, and if the
/// run fails, a file of that name stays as it is. For one file per thread, the hashes of the keys
/// are in memory, in 8 to 24 bytes per distinct key.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Files to read. Input is decompressed if its first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The file of the index
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: PathBuf,

    /// Keep the other files of an existing index, without reading them again. A file that the index
    /// already names is indexed again, and comes last. The hash and the URL policy are those of the
    /// index; the kind and the rate may differ
    #[arg(long)]
    pub(crate) add: bool,

    /// The false-positive rate of each filter, such as 1e-4 or 1%: with 1000 files and the rate
    /// 1e-3, 'tamis which' prints about one file too many per key
    // MEASURED: one key in an index of files of 1 MB with 4,288 distinct keys, blocked filters. At
    // 1e-3, 'tamis which' and a program that then searches the false positives read 17.4 KB per
    // indexed file, compared with 22 KB at 1e-2 and 20.6 KB at 1e-4 (any machine).
    #[arg(long, value_name = "P", default_value = "1e-3", value_parser = rate)]
    pub(crate) rate: f64,

    /// The kind of the filters
    #[arg(long, value_enum, default_value_t = Kind::Blocked)]
    pub(crate) kind: Kind,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// The seed of the hash, which is saved with the filters: a number, or 'random' (a keyed hash
    /// with a random key) for records chosen by an attacker [default: 0, with --add that of the
    /// index]
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) seed: Option<Seed>,
}
