//! The options for filters of other systems.

use std::path::Path;

use clap::{Args, ValueEnum};
use tamis::formats::{Info, Kind, foreign};

use super::format::{Format, format};
use crate::error::Error;

// Not a doc comment: clap would print it as the description of the command.
// How a filter of another system is read.
#[allow(missing_docs, reason = "see above")]
#[derive(Args, Clone, Debug)]
pub(crate) struct FromArgs {
    /// The format of the filter, such as guava, spark:v1 or redisbloom:cf; 'tamis convert --help'
    /// lists them. A command that changes the filter saves it in this format
    #[arg(long, value_name = "FORMAT", value_parser = format, default_value_t = Format::Tamis)]
    pub(crate) from: Format,

    /// The column of a Parquet file, such as a.b [default: the only one that has filters]
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
}

// Not a doc comment: clap would print it as the description of the command.
// What the keys of another system are.
#[allow(missing_docs, reason = "see above")]
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct KeyArgs {
    /// The type of the keys of a filter of another system [default: bytes]. A record of another
    /// type has no key. With --json-key a string is its text, without quotes
    #[arg(long, value_name = "TYPE", value_enum)]
    pub(crate) key_type: Option<KeyType>,
}

impl FromArgs {
    /// Whether the options say that the filter is one of another system.
    pub(crate) fn is_foreign(&self) -> bool {
        self.from != Format::Tamis || self.column.is_some()
    }

    /// Whether every record has a key of this type for the filter in this file. Some systems have
    /// no empty keys, and a file of tamis may hold one of their filters.
    pub(crate) fn takes_all(&self, keys: KeyArgs, filter: &Path) -> bool {
        let is_wrapped = || Info::open(filter).is_ok_and(|info| info.kind() == Kind::Foreign);
        self.from == Format::Tamis && keys.takes_all() && !is_wrapped()
    }
}

/// The type of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyType {
    /// The bytes of the key
    Bytes,
    /// The same bytes, as a string
    Utf8,
    /// A decimal integer of 32 bits
    I32,
    /// A decimal integer of 64 bits
    I64,
}

impl KeyArgs {
    /// The type of keys that is asked for.
    pub(crate) fn key_type(self) -> foreign::KeyType {
        match self.key_type {
            None | Some(KeyType::Bytes) => foreign::KeyType::Bytes,
            Some(KeyType::Utf8) => foreign::KeyType::Text,
            Some(KeyType::I32) => foreign::KeyType::I32,
            Some(KeyType::I64) => foreign::KeyType::I64,
        }
    }

    /// Returns an error if a type is given, for a command that is about filters of tamis.
    pub(crate) fn require_foreign(self) -> Result<(), Error> {
        let unneeded = "--key-type is for filters of other systems: omit it, or give a --to";
        self.key_type.map_or(Ok(()), |_| Err(Error::Usage(unneeded.into())))
    }

    /// Whether every key has this type.
    pub(crate) fn takes_all(self) -> bool {
        self.key_type() == foreign::KeyType::Bytes
    }
}
