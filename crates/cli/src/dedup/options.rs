//! The options of a run.

use crate::file_kind::FileKind;
use crate::key::Key;
use crate::kind::Kind;
use crate::pipeline::{CHUNK, MOST_THREADS, Records, Seed};

/// The options of a run. The default is what the program does without options, on one thread.
#[derive(Clone, Debug)]
pub struct Options {
    /// The byte that ends a record.
    pub separator: u8,
    /// The longest record accepted, in bytes without its separator.
    pub max_record: u64,
    /// Which part of a record is compared: records with equal keys are duplicates.
    pub key: Key,
    /// Whether the first record of each input is a header: it has no key, must be the same in all
    /// inputs, and is printed once.
    pub header: bool,
    /// Whether to print the second record of every key, once per repeated key, instead of the
    /// first.
    pub repeated: bool,
    /// Whether a record without a key is an error, and so is a malformed row of CSV. Otherwise a
    /// record without a key is printed; with [`repeated`](Self::repeated) it is left out.
    pub strict: bool,
    /// What the keys seen are kept in.
    pub filter: Filter,
    /// The number of items expected; the filter grows beyond it.
    pub capacity: Option<u64>,
    /// Whether to stop at the first new item after `capacity` items instead of growing.
    pub fixed: bool,
    /// How keys are hashed.
    pub seed: Seed,
    /// Worker threads, including the calling one; at most 64 are used.
    pub threads: usize,
    /// Bytes per chunk, 1 to 1 GiB.
    pub chunk: usize,
    /// The most records of a chunk, if they are limited: at least 1.
    pub most: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            separator: b'\n',
            max_record: 1 << 30,
            key: Key::record(),
            header: false,
            repeated: false,
            strict: false,
            filter: Filter::Table,
            capacity: None,
            fixed: false,
            seed: Seed::Fixed(0),
            threads: 1,
            chunk: CHUNK,
            most: None,
        }
    }
}

impl Options {
    /// How records are read.
    pub(crate) fn records(&self) -> Records {
        Records {
            separator: self.separator,
            max_record: self.max_record,
            key: self.key.clone(),
            header: self.header,
            strict: self.strict,
            threads: self.threads.min(MOST_THREADS),
            chunk: self.chunk,
            most: self.most,
        }
    }
}

/// What the keys seen are kept in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// A table of fingerprints, which are long enough that no loss is expected: less than 0.01
    /// lines of a whole run of up to 10^8 distinct lines.
    Table,
    /// A chain of filters, for less memory.
    Chain {
        /// The kind of the filters.
        kind: Kind,
        /// The false-positive rate that the whole chain stays below.
        rate: f64,
    },
    /// A filter that forgets: a record is printed unless it is among the last ones printed.
    /// [`Options::capacity`] and [`Options::repeated`] have no meaning then and are refused.
    Window {
        /// The number of printed records that are kept; up to a fifth more may be.
        items: u64,
        /// The false-positive rate with all of them.
        rate: f64,
    },
}

impl Filter {
    /// The name of the kind.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Chain { kind, .. } => kind.name(),
            Self::Window { .. } => FileKind::Rotating.name(),
        }
    }

    /// The rate asked for.
    pub(super) const fn rate(self) -> Option<f64> {
        match self {
            Self::Table => None,
            Self::Chain { rate, .. } | Self::Window { rate, .. } => Some(rate),
        }
    }

    /// The records of a window.
    pub(super) const fn window(self) -> Option<u64> {
        match self {
            Self::Table | Self::Chain { .. } => None,
            Self::Window { items, .. } => Some(items),
        }
    }
}
