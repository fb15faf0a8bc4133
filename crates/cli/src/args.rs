//! The command line.

use core::num::NonZero;
use std::path::PathBuf;
use std::thread;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::dedup::{CHUNK, Options, Seed};
use crate::key::{Fields, Key, Part, Quotes};
use crate::policy::{self, Policy};
use crate::units::{Wrong, count, number, rate, size};
use crate::{Error, Kind};

const MOST_THREADS: usize = 1024;

/// Each of them is run by a test.
pub(crate) const EXAMPLES: &str = "\
Examples:
  The distinct lines of two files, one of them compressed, in input order:
    tamis dedup monday.txt tuesday.txt.gz -o both.txt
  The first row for each customer and day, fields 2 and 4 of a CSV file:
    tamis dedup --csv --key-field 2,4 orders.csv > first.csv
  The events of a stream that come a second time, by the value of a JSON field:
    zcat events.json.gz | tamis dedup -d --json-key /id -q";

/// Sieves for streams of records: first occurrences only, in a few bits a record.
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
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, as roff
    Man {
        /// Of this command
        command: Option<String>,
    },
}

/// Print the first record of every key, in input order
///
/// Prints what `awk '!seen[$0]++'` prints, to the byte the same for every number of threads, but
/// for false positives: a record is taken for a duplicate of one that it is not with a chance below
/// --rate. The summary states how many lines are expected to be lost; a warning does if they are more than
/// 0.01, even with --quiet.
///
/// Exit codes: 0 done (a closed pipe and nothing printed included); 1 failed while running; 2 bad
/// usage or bad input.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("part").args(["key_field", "json_key"]))]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", policy::help()))]
pub(crate) struct DedupArgs {
    /// Files to read, in order; '-' or none is standard input. Input whose first bytes are those of gzip or
    /// Zstandard is decompressed
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write to this file, which may be one of those read: it is replaced when all is done, and stays as it was
    /// if anything fails. '-' is standard output
    ///
    /// Until then the output is in a file '.tamis-*' in the same folder, which needs room for both. A run that a signal
    /// ends, such as Ctrl-C, leaves it there.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print repeated records only: of every key that comes more than once, the second record (the same as the
    /// first, if the key is the whole record). Takes a second filter, and so up to twice the memory. A false positive
    /// may print a record that is not repeated; the summary says how many to expect. A record without a key is left out
    #[arg(short = 'd', long)]
    repeated: bool,

    /// Read compressed input as it is
    #[arg(long)]
    pub(crate) no_decompress: bool,

    /// False-positive rate that the filter stays below, such as 1e-6 or 0.01%
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = rate)]
    rate: f64,

    /// Distinct records expected, such as 10M; the filter grows beyond. Knowing it saves memory and
    /// time
    #[arg(long, value_name = "N", value_parser = count)]
    capacity: Option<u64>,

    /// Do not grow: stop with exit code 1 at the first new record after --capacity of them
    #[arg(long, requires = "capacity")]
    fixed: bool,

    /// Kind of filter. Every record is decided by one thread alone, so 'once' prints what 'blocked'
    /// prints and gains nothing here; 'bloom' is smaller and slower, and so, at low rates, is 'cuckoo'
    #[arg(long, value_enum, default_value_t = Kind::Blocked)]
    kind: Kind,

    /// Records end in NUL: short for --input nul
    #[arg(short = '0', long, conflicts_with = "input")]
    null: bool,

    /// How records are read and printed
    #[arg(long, value_enum, default_value_t = Form::Lines)]
    input: Form,

    /// Longest record in bytes; a longer one is an error
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    max_line: u64,

    /// The key is this field, counted from 1, or these: two records are the same if all of them are
    #[arg(long, value_name = "N,...", value_parser = field, value_delimiter = ',')]
    key_field: Vec<NonZero<usize>>,

    /// The byte between fields, as it is or as \t, \0 or \xHH [default: \t, with --csv a comma]
    #[arg(long, value_name = "C", value_parser = delimiter, requires = "key_field")]
    delimiter: Option<u8>,

    /// Fields may be quoted as in CSV (RFC 4180): "a, b" is one field, and "" in it a quote. Every row must end on
    /// its line, or in NUL with -0
    #[arg(long, requires = "key_field")]
    csv: bool,

    /// A double quote is a byte like any other. Without this or --csv, a quote at the head of any field is an error
    /// if the delimiter is a comma or a semicolon
    #[arg(long, requires = "key_field", conflicts_with = "csv")]
    no_csv: bool,

    /// The key is the value at this JSON pointer (RFC 6901), such as /user/id. Values of different
    /// types differ ("1" and 1), and so do numbers that are written differently. A value nested
    /// deeper than 127 is no key
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    json_key: Option<String>,

    /// The key is a URL, compared in this normal form
    #[arg(long, value_name = "POLICY", value_enum)]
    url: Option<Policy>,

    /// A record without a key is an error. Otherwise it is printed, and a warning says how many there were
    #[arg(long)]
    strict: bool,

    /// Threads, of which at most 64 are used; each holds some megabytes [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    /// Seed of the hash: a number, or 'random' (another one each time, and a keyed hash), for input
    /// that an enemy chooses
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    seed: Seed,

    /// Show progress on standard error [default: if that is a terminal and the output is not]
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) progress: bool,

    /// No summary and no progress; warnings stay
    #[arg(short, long, conflicts_with = "stats")]
    pub(crate) quiet: bool,

    /// Say more in the summary: the filter, and the time
    #[arg(short, long, conflicts_with_all = ["quiet", "stats"])]
    pub(crate) verbose: bool,

    /// Print the summary in this form, with the warnings in it
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) stats: Option<Stats>,

    /// As in uniq, which a filter cannot do.
    #[arg(short = 'c', long, hide = true)]
    count: bool,

    /// As in uniq, which a filter cannot do.
    #[arg(short = 'u', long, hide = true)]
    unique: bool,
}

/// What records look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines, as they are
    Lines,
    /// Records that end in NUL
    Nul,
    /// Lines that spell an item in hexadecimal
    Hex,
}

/// Forms of the summary.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stats {
    /// One JSON object on one line
    Json,
}

/// What each kind of filter costs and holds
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Distinct items, such as 10M
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) capacity: u64,

    /// False-positive rate, such as 1e-6 or 0.01%
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = rate)]
    pub(crate) rate: f64,

    /// Say what fits into so much memory, such as 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl DedupArgs {
    /// What to do, if the options go together.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let usage = |text: &str| Err(Error::Usage(format!("{text}; see 'tamis dedup --help'")));
        let hex = self.input == Form::Hex;
        if self.count {
            return usage("a filter cannot count: -c is for 'sort | uniq -c'");
        }
        if self.unique {
            return usage(
                "-u is known only at the end of the input, when a filter has forgotten the lines: it is for \
                 'sort | uniq -u'",
            );
        }
        // A requirement is met, says clap, where what is required would conflict with what is there.
        if self.key_field.is_empty() && (self.csv || self.no_csv || self.delimiter.is_some()) {
            return usage("--delimiter, --csv and --no-csv are for fields: give a --key-field");
        }
        let separator = if self.null || self.input == Form::Nul { 0 } else { b'\n' };
        let delimiter = self.delimiter.unwrap_or(if self.csv { b',' } else { b'\t' });
        let policy = self.url.unwrap_or(Policy::None);
        let part = match (self.key_field.as_slice(), &self.json_key) {
            ([_, ..], _) | (_, Some(_)) if hex => {
                return usage("--input hex is the key: it takes no --key-field or --json-key");
            }
            ([_, ..], _) if delimiter == separator => {
                return usage("--delimiter is the byte that ends a record: there are no fields");
            }
            ([_, ..], _) if self.csv && matches!(delimiter, b'"' | b'\r') => {
                return usage("--delimiter has a meaning of its own in CSV: give another one");
            }
            ([_, _, ..], _) if policy != Policy::None => {
                return usage("--url takes one --key-field: that which is a URL");
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
            return usage("--input hex has bytes for a key: it takes no --url");
        }
        if self.strict && matches!(part, Part::Record) && policy == Policy::None {
            return usage("--strict is for keys, and every whole record has one: leave it away");
        }
        Ok(Options {
            separator,
            max_record: self.max_line,
            key: Key { part, policy },
            repeated: self.repeated,
            strict: self.strict,
            rate: self.rate,
            capacity: self.capacity,
            fixed: self.fixed,
            kind: self.kind,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
            chunk: CHUNK,
        })
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS)
}

fn threads(text: &str) -> Result<usize, String> {
    number(text)
        .ok()
        .and_then(|threads| usize::try_from(threads).ok())
        .filter(|threads| (1..=MOST_THREADS).contains(threads))
        .ok_or_else(|| format!("expected a number from 1 to {MOST_THREADS}"))
}

fn field(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a number from 1: fields are counted from 1".into())
}

fn seed(text: &str) -> Result<Seed, String> {
    match text {
        "random" => Ok(Seed::Random),
        _ => number(text).map(Seed::Fixed).map_err(|wrong: Wrong| format!("{wrong}; or 'random'")),
    }
}

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
    fn pointers_as_rfc_6901_says() {
        for text in ["", "/", "/a/0", "/a~1b~0", "//"] {
            assert_eq!(pointer(text).as_deref(), Ok(text));
        }
        for text in ["a", "a/b", "/~", "/~2", "/a~"] {
            assert!(pointer(text).is_err(), "{text}");
        }
    }
}
