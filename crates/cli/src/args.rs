//! The command line: its options, their help texts, and the checks that options do not contradict each other.

use core::num::NonZero;
use core::ops::Range;
use std::path::PathBuf;
use std::thread;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::dedup::{CHUNK, Filter, Options, Seed};
use crate::key::{Fields, Key, Part, Quotes};
use crate::policy::{self, Policy};
use crate::units::{Wrong, count, number, rate, size};
use crate::{Error, Kind};

/// The largest number that --threads accepts.
const MAX_THREADS: usize = 1024;

/// The rate of --kind without --rate.
const DEFAULT_RATE: f64 = 1e-6;

/// The rates at which --rate without --kind selects cuckoo filters, which take fewer bits there than blocked ones. Below,
/// a chain of cuckoo filters does not grow far on a processor without buckets of 128 bits: each slice takes more than
/// 4e-10 of the rate. (A table, which is the default, takes less memory there than a chain, and loses nothing.)
const SMALL_CUCKOO: Range<f64> = 1e-7..1e-3;

/// The examples in the help. A test runs each of them.
pub(crate) const EXAMPLES: &str = "\
Examples:
  The distinct lines of two files, one of them compressed, in input order:
    tamis dedup monday.txt tuesday.txt.gz -o both.txt
  The first row for each customer and day, fields 2 and 4 of a CSV file:
    tamis dedup --csv --key-field 2,4 orders.csv > first.csv
  The second occurrence of every repeated event, by the value of a JSON field:
    zcat events.json.gz | tamis dedup -d --json-key /id -q";

/// Remove repeated records from streams, in 5 to 10 bytes of memory per distinct record
#[derive(Debug, Parser)]
#[command(name = "tamis", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(DedupArgs),
    Plan(PlanArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, in roff
    Man {
        /// The command whose page is printed [default: the page of tamis itself]
        command: Option<String>,
    },
}

/// Print the first record of every key, in input order
///
/// The output is that of `awk '!seen[$0]++'`, the same to the byte for any number of threads. Fingerprints of the records
/// are kept, not the records, so a record may be taken for a duplicate although it is not; then it is lost. This is
/// improbable: with up to 100 million distinct records, fewer than 0.01 of them are expected to be lost in the whole run.
/// With --rate or --kind more are. The summary reports how many are expected to be lost. If that is above 0.01, a warning
/// says so, even with --quiet.
///
/// Exit codes: 0 success (also if the output pipe was closed, or nothing was printed); 1 failure while running; 2 bad
/// usage or bad input.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("part").args(["key_field", "json_key"]))]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", policy::help()))]
pub(crate) struct DedupArgs {
    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its first bytes are those
    /// of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write to this file instead of standard output. It may be one of the files read: it is replaced at the end of the
    /// run, and is not changed if the run fails. '-' is standard output
    ///
    /// Until the end the output is in a file '.tamis-*' in the same folder, so the disk needs space for both. If a
    /// signal such as Ctrl-C ends the run, that file remains.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print repeated records only: of every key that occurs more than once, the second record (which equals the first
    /// if the key is the whole record). This needs a second filter, and so up to twice the memory. False positives may
    /// print records that are not repeated; the summary reports how many are expected. Records without a key are left
    /// out
    #[arg(short = 'd', long)]
    repeated: bool,

    /// Do not decompress the input
    #[arg(long)]
    pub(crate) no_decompress: bool,

    /// Lose records, for less memory: each distinct record is lost with at most this probability, such as 1e-6 (one of a
    /// million) or 0.01%. The memory needed is about 2 bytes per distinct record at 1%; at 1e-6 3 to 4 with --capacity and 6 without [default: none is
    /// expected to be lost]
    #[arg(long, value_name = "P", value_parser = rate)]
    rate: Option<f64>,

    /// The expected number of distinct records, such as 10M: saves memory. If there are more, the memory grows as without
    /// this option
    #[arg(long, value_name = "N", value_parser = count)]
    capacity: Option<u64>,

    /// Do not grow: stop with exit code 1 at the first new record beyond --capacity
    #[arg(long, requires = "capacity")]
    fixed: bool,

    /// Keep the records in filters of this kind, which lose records as --rate says [default: without --rate a table, which
    /// is expected to lose none; with a --rate from 1e-7 to 1e-3 cuckoo, with any other blocked]
    ///
    /// Without --rate, filters have the rate 1e-6. 'bloom' takes less memory and more time than 'blocked', and so does
    /// 'cuckoo' at low rates. 'once' prints the same as 'blocked' and has no advantage here, since one thread decides each
    /// record.
    #[arg(long, value_enum)]
    kind: Option<Kind>,

    /// Records end with NUL; the same as --input nul
    #[arg(short = '0', long, conflicts_with = "input")]
    null: bool,

    /// The form of records, in the input and the output
    #[arg(long, value_enum, default_value_t = Form::Lines)]
    input: Form,

    /// The longest record allowed, in bytes; a longer one is an error
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    max_line: u64,

    /// The key is this field, counted from 1, or these fields: records are duplicates if all of the fields are equal
    #[arg(long, value_name = "N,...", value_parser = field, value_delimiter = ',')]
    key_field: Vec<NonZero<usize>>,

    /// The byte between fields: the byte itself, or \t, \0 or \xHH [default: \t, with --csv a comma]
    #[arg(long, value_name = "C", value_parser = delimiter, requires = "key_field")]
    delimiter: Option<u8>,

    /// Fields may be quoted as in CSV (RFC 4180): "a, b" is one field, and "" inside it is a quote. Every row must end
    /// on its line, or in NUL with -0
    #[arg(long, requires = "key_field")]
    csv: bool,

    /// Treat a double quote as an ordinary byte. Without this or --csv, a quote at the start of any field is an error
    /// if the delimiter is a comma or a semicolon
    #[arg(long, requires = "key_field", conflicts_with = "csv")]
    no_csv: bool,

    /// The key is the value at this JSON pointer (RFC 6901), such as /user/id. Values of different types differ ("1"
    /// and 1), and so do numbers that are written differently. A value nested deeper than 127 cannot be a key
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    json_key: Option<String>,

    /// The key is a URL; two URLs are equal if this normalisation makes them equal
    #[arg(long, value_name = "POLICY", value_enum)]
    url: Option<Policy>,

    /// Treat a record without a key as an error. Otherwise it is printed, and a warning reports the number of such
    /// records
    #[arg(long)]
    strict: bool,

    /// The number of threads; at most 64 are used, and each takes some megabytes [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    /// The seed of the hash: a number, or 'random' (a keyed hash with a new key in every run) for input chosen by an
    /// attacker
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    seed: Seed,

    /// Show progress on standard error [default: if that is a terminal and the output is not]
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) progress: bool,

    /// Print no summary and no progress; warnings are still printed
    #[arg(short, long, conflicts_with = "stats")]
    pub(crate) quiet: bool,

    /// Print a longer summary, with the filter and the time
    #[arg(short, long, conflicts_with_all = ["quiet", "stats"])]
    pub(crate) verbose: bool,

    /// Print the summary in this form, including the warnings
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) stats: Option<Stats>,

    /// An option of uniq that a filter cannot offer; it gets its own error message.
    #[arg(short = 'c', long, hide = true)]
    count: bool,

    /// An option of uniq that a filter cannot offer; it gets its own error message.
    #[arg(short = 'u', long, hide = true)]
    unique: bool,
}

/// The form of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines, compared as they are
    Lines,
    /// Records that end in NUL
    Nul,
    /// Lines of hexadecimal digits, compared by the bytes that they encode
    Hex,
}

/// The form of the summary.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stats {
    /// One JSON object on one line
    Json,
}

/// Print what each kind of filter costs and how much it holds
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The number of distinct items, such as 10M
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) capacity: u64,

    /// The false-positive rate, such as 1e-6 or 0.01%
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = rate)]
    pub(crate) rate: f64,

    /// Also print what fits into this amount of memory, such as 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl DedupArgs {
    /// Returns the options of the run, or an error if they contradict each other.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let usage = |text: &str| Err(Error::Usage(format!("{text}; see 'tamis dedup --help'")));
        let hex = self.input == Form::Hex;
        // Options of uniq that a filter cannot offer.
        if self.count {
            return usage("-c is not supported, since a filter cannot count; use 'sort | uniq -c'");
        }
        if self.unique {
            return usage(
                "-u is not supported: which lines are unique is known only at the end of the input, and a filter does \
                 not store lines; use 'sort | uniq -u'",
            );
        }
        // clap does not enforce `requires` if the required option conflicts with one that is present.
        if self.key_field.is_empty() && (self.csv || self.no_csv || self.delimiter.is_some()) {
            return usage("--delimiter, --csv and --no-csv need a --key-field");
        }
        // Select the key, and reject options that contradict it.
        let separator = if self.null || self.input == Form::Nul { 0 } else { b'\n' };
        let delimiter = self.delimiter.unwrap_or(if self.csv { b',' } else { b'\t' });
        let policy = self.url.unwrap_or(Policy::None);
        let part = match (self.key_field.as_slice(), &self.json_key) {
            ([_, ..], _) | (_, Some(_)) if hex => {
                return usage(
                    "with --input hex the whole line is the key: omit --key-field and --json-key",
                );
            }
            ([_, ..], _) if delimiter == separator => {
                return usage("--delimiter is the byte that ends a record: choose another one");
            }
            ([_, ..], _) if self.csv && matches!(delimiter, b'"' | b'\r') => {
                return usage("--delimiter has a special meaning in CSV: choose another one");
            }
            ([_, _, ..], _) if policy != Policy::None => {
                return usage("--url takes one --key-field: the one that is a URL");
            }
            (numbers @ [_, ..], _) => {
                let indices = numbers.iter().map(|number| number.get() - 1).collect();
                let quotes = match delimiter {
                    _ if self.csv => Quotes::Csv { separator },
                    b',' | b';' if !self.no_csv => Quotes::Refused,
                    _ => Quotes::Plain,
                };
                Part::Fields(Fields::new(indices, delimiter, quotes))
            }
            (_, Some(pointer)) => Part::Json(pointer.clone()),
            _ if hex => Part::Hex,
            _ => Part::Record,
        };
        if hex && policy != Policy::None {
            return usage("with --input hex the key is bytes, not a URL: omit --url");
        }
        if self.strict && matches!(part, Part::Record) && policy == Policy::None {
            return usage("--strict has no effect if the key is the whole record: omit it");
        }
        Ok(Options {
            separator,
            max_record: self.max_line,
            key: Key { part, policy },
            repeated: self.repeated,
            strict: self.strict,
            filter: filter(self.kind, self.rate),
            capacity: self.capacity,
            fixed: self.fixed,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
            chunk: CHUNK,
        })
    }
}

/// What the options select: without them a table, otherwise a chain of filters.
fn filter(kind: Option<Kind>, rate: Option<f64>) -> Filter {
    if kind.is_none() && rate.is_none() {
        return Filter::Table;
    }
    let rate = rate.unwrap_or(DEFAULT_RATE);
    let kind =
        kind.unwrap_or(if SMALL_CUCKOO.contains(&rate) { Kind::Cuckoo } else { Kind::Blocked });
    Filter::Chain { kind, rate }
}

/// The default number of threads.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    number(text)
        .ok()
        .and_then(|threads| usize::try_from(threads).ok())
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// Parses the number of a field.
fn field(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a number of at least 1: fields are counted from 1".into())
}

/// Parses a seed.
fn seed(text: &str) -> Result<Seed, String> {
    match text {
        "random" => Ok(Seed::Random),
        _ => number(text).map(Seed::Fixed).map_err(|wrong: Wrong| format!("{wrong}; or 'random'")),
    }
}

/// Parses one byte, written as it is or as an escape.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        b"\\t" => Some(b'\t'),
        b"\\0" => Some(0),
        [b'\\', b'x', hex @ ..] if hex.len() == 2 && hex.iter().all(u8::is_ascii_hexdigit) => {
            u8::from_str_radix(&text[2..], 16).ok()
        }
        _ => None,
    }
    .ok_or_else(|| r"expected one byte, such as , or \t or \x1f".into())
}

/// Checks a JSON pointer.
fn pointer(text: &str) -> Result<String, String> {
    let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if escaped && (text.is_empty() || text.starts_with('/')) {
        Ok(text.to_owned())
    } else {
        Err("expected a JSON pointer: empty, or '/name/0/name' with ~0 for ~ and ~1 for /".into())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn delimiters_are_one_byte() {
        for (text, byte) in [(",", b','), ("\t", b'\t'), ("\\t", b'\t'), ("\\0", 0), ("\\xfF", 255)]
        {
            assert_eq!(delimiter(text), Ok(byte));
        }
        for text in ["", "ab", "ä", "\\x", "\\x1", "\\x+1", "\\n1"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pointers_are_checked_as_rfc_6901_requires() {
        for text in ["", "/", "/a/0", "/a~1b~0", "//"] {
            assert_eq!(pointer(text).as_deref(), Ok(text));
        }
        for text in ["a", "a/b", "/~", "/~2", "/a~"] {
            assert!(pointer(text).is_err(), "{text}");
        }
    }
}
