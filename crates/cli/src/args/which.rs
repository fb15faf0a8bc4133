//! The options of `tamis which`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::records::RecordArgs;

/// Print the names of the files that may contain a key, in the order of the index
///
/// The index is a file of 'tamis index'. Every file that contains the key is printed. Any other
/// file is printed with the probability that the index was built for. The files themselves are read
/// only with --verify.
///
/// With several keys, or --keys, each line is a key, a tab and a name. A key in no file has no
/// line.
///
/// The options for records take the key from each argument, as from a record; without options the
/// key is the whole argument. So for an index of a field, give the field. For an index of a JSON
/// value, give the value and '--json-key ""'; a string has its quotes. With --verify, which needs
/// the options of the index, give a record that has the key.
///
/// Exit codes, as those of grep: 0 a name was printed (also if the output pipe was closed after
/// it); 1 none was; 2 any failure.
#[derive(Args, Debug)]
pub(crate) struct WhichArgs {
    /// The file of the index
    pub(crate) index: PathBuf,

    /// Keys to find
    #[arg(value_name = "KEY", required_unless_present = "keys")]
    pub(crate) key: Vec<OsString>,

    /// Find the keys of the records in this file; '-' is standard input. They are kept in memory
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,

    /// Print the key and a tab before each name, also for one key
    #[arg(long)]
    pub(crate) with_key: bool,

    /// Read the files that the index names, and print only those that have the key. The options for
    /// records must be those of 'tamis index'; a relative name starts at the current directory
    #[arg(long)]
    pub(crate) verify: bool,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}
