//! The options that all commands on records share: how records are read, and what is shown while
//! they are.

use core::num::NonZero;
use std::thread;

use clap::{Args, ValueEnum};

use super::values::{Column, delimiter, field, pointer, threads};
use crate::error::Error;
use crate::key::{Fields, Key, Part, Quotes};
use crate::pipeline::{CHUNK, MOST_THREADS, Records};
use crate::policy::{self, Policy};
use crate::units::size;

// Not a doc comment: clap would print it as the description of the command.
// How records are read, and what is shown while they are.
#[allow(missing_docs, reason = "see above")]
#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    /// Records end with NUL
    #[arg(short = '0', long)]
    null: bool,

    /// Records are lines of hexadecimal digits, compared by the bytes that they encode
    #[arg(long, conflicts_with = "null")]
    hex: bool,

    /// The longest record allowed, in bytes; a longer one is an error
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    max_line: u64,

    /// The key is this field, counted from 1, or these fields, such as 1,3-5: records are
    /// duplicates if all of the fields are equal. With --header, names of columns too, such as
    /// id,name, wherever they are in an input. The order of the fields here makes no difference
    #[arg(long, value_name = "FIELD,...", value_parser = field, value_delimiter = ',')]
    key_field: Vec<Column>,

    /// The byte between fields: the byte itself, or \t, \0 or \xHH [default: \t, with --csv a
    /// comma]
    #[arg(long, value_name = "C", value_parser = delimiter, requires = "key_field")]
    delimiter: Option<u8>,

    /// Fields may be quoted as in CSV (RFC 4180): "a, b" is one field, "" inside it is a quote, and
    /// a line end inside it is part of it. Malformed rows are read as Python's csv module reads
    /// them, and counted
    #[arg(long, requires = "key_field")]
    csv: bool,

    /// Treat a double quote as an ordinary byte. Without this or --csv, a record with a quote at
    /// the start of a field has no key if the delimiter is a comma or a semicolon
    #[arg(long, requires = "key_field", conflicts_with = "csv")]
    no_csv: bool,

    /// The first record of each input is a header, the same in all inputs. It is printed once,
    /// before all other records and even if there are none, and has no key
    #[arg(long, conflicts_with = "json_key")]
    header: bool,

    /// The key is the value at this JSON pointer (RFC 6901), such as /user/id. With several such
    /// options, it is all of their values. Values of different types differ ("1" and 1), and so do
    /// numbers that are written differently. A value nested deeper than 127 cannot be a key
    #[arg(long, value_name = "POINTER", value_parser = pointer, conflicts_with = "key_field")]
    json_key: Vec<String>,

    /// The key is a URL; two URLs are equal if this normalisation makes them equal
    #[arg(long, value_name = "POLICY", value_enum)]
    url: Option<Policy>,

    /// The letters A to Z in keys equal a to z; other letters stay as they are. A saved filter
    /// records this option
    #[arg(long)]
    ignore_case: bool,

    /// A CR at the end of a line is no part of its key: lines that end in CR LF equal those that
    /// end in LF. They are printed as they are
    #[arg(long)]
    crlf: bool,

    /// Three things are errors instead of warnings: a record without a key, a malformed row of CSV,
    /// and inputs of which no record has the --delimiter. 'index' and 'which --verify' look for it
    /// in each file
    #[arg(long)]
    strict: bool,

    /// Do not decompress the input
    #[arg(long)]
    pub(crate) no_decompress: bool,

    /// The number of threads; at most 64 are used, and each takes some megabytes [default: all
    /// cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    /// Show progress on standard error [default: if that is a terminal and the output is not]
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) progress: bool,

    /// Print no summary and no progress; warnings are still printed
    #[arg(short, long, conflicts_with = "stats")]
    pub(crate) quiet: bool,

    /// Print the summary in this form, including the warnings
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) stats: Option<Stats>,
}

/// The form of the summary.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stats {
    /// One JSON object on one line
    Json,
}

impl RecordArgs {
    /// Returns how records are read, or an error if options contradict each other. `command`: whose
    /// help the error names.
    pub(crate) fn records(&self, command: &str) -> Result<Records, Error> {
        self.records_with(command, true)
    }

    /// [`records`](Self::records) for keys of a type. `total`: whether every record has a key of
    /// this type.
    pub(crate) fn records_with(&self, command: &str, total: bool) -> Result<Records, Error> {
        let usage = |text: &str| Err(Error::Usage(format!("{text}; see 'tamis {command} --help'")));
        let hex = self.hex;
        // clap does not enforce `requires` if the required option conflicts with one that is
        // present.
        if self.key_field.is_empty() && (self.csv || self.no_csv || self.delimiter.is_some()) {
            return usage("--delimiter, --csv and --no-csv need a --key-field");
        }
        // Select the key, and reject options that contradict it.
        let separator = if self.null { 0 } else { b'\n' };
        let delimiter = self.delimiter.unwrap_or(if self.csv { b',' } else { b'\t' });
        let policy = self.url.unwrap_or(Policy::None);
        let (indices, names) = self.columns();
        let several = indices.len() + names.len() > 1 || self.json_key.len() > 1;
        let part = match (self.key_field.as_slice(), self.json_key.as_slice()) {
            ([_, ..], _) | (_, [_, ..]) if hex => {
                return usage(
                    "with --hex the whole line is the key: omit --key-field and --json-key",
                );
            }
            ([_, ..], _) if delimiter == separator => {
                return usage("--delimiter is the byte that ends a record: choose another one");
            }
            ([_, ..], _) if self.csv && matches!(delimiter, b'"' | b'\r') => {
                return usage("--delimiter has a special meaning in CSV: choose another one");
            }
            _ if several && policy != Policy::None => {
                return usage("--url takes one --key-field or --json-key: the one that is a URL");
            }
            ([_, ..], _) => {
                if let Some(name) = names.first().filter(|_| !self.header) {
                    return usage(&format!(
                        "--key-field {} is a name, which needs --header; fields without one have numbers, from 1",
                        name.escape_debug()
                    ));
                }
                let quotes = match delimiter {
                    _ if self.csv => Quotes::Csv { separator },
                    b',' | b';' if !self.no_csv => Quotes::Refused,
                    _ => Quotes::Plain,
                };
                Part::Fields(Fields::new(indices, delimiter, quotes).named(names))
            }
            (_, [_, ..]) => {
                // Their order makes no difference to which records are equal.
                let mut pointers = self.json_key.clone();
                pointers.sort_unstable();
                pointers.dedup();
                Part::Json(pointers)
            }
            _ if hex => Part::Hex,
            _ => Part::Record,
        };
        if hex && self.ignore_case {
            return usage("with --hex the key is bytes, which have no case: omit --ignore-case");
        }
        if self.crlf && separator != b'\n' {
            return usage("--crlf is for records that end in a line end: omit it");
        }
        if hex && policy != Policy::None {
            return usage("with --hex the key is bytes, not a URL: omit --url");
        }
        if self.strict && total && matches!(part, Part::Record) && policy == Policy::None {
            return usage("--strict has no effect if the key is the whole record: omit it");
        }
        Ok(Records {
            separator,
            max_record: self.max_line,
            key: Key {
                part,
                form: policy::Form { url: policy, ignore_case: self.ignore_case },
                crlf: self.crlf,
            },
            header: self.header,
            strict: self.strict,
            threads: self.threads.unwrap_or_else(cores).min(MOST_THREADS),
            chunk: CHUNK,
            most: None,
        })
    }
}

impl RecordArgs {
    /// The numbers of the key's fields, from 0, and the names of others.
    fn columns(&self) -> (Vec<usize>, Vec<String>) {
        let (mut indices, mut names) = (Vec::new(), Vec::new());
        for column in &self.key_field {
            match column {
                Column::Numbers(numbers) => indices.extend(numbers.clone()),
                Column::Name(name) => names.push(name.clone()),
            }
        }
        (indices, names)
    }

    /// Returns the name of a field that only a header resolves.
    pub(crate) fn name(&self) -> Option<String> {
        self.columns().1.pop()
    }
}

/// The default number of threads.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
