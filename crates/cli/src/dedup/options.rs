//! The options of a run, and the hash function that they choose.

use tamis::hash::{Rapid, SipHash13};

use crate::key::Key;
use crate::{Error, Kind};

/// The number of shards. It does not depend on the number of threads, because the output depends on it. It limits how
/// many workers can decide at once, and each chunk takes this many locks, usually uncontended.
pub(super) const SHARDS: u32 = 64;

/// Bytes per chunk: enough to make the cost of the locks small and to query each shard for many records at once, and
/// few enough to stay in a core's own L2 cache. MEASURED: 10 million URLs without a capacity take 1.07 s of CPU with
/// chunks of 512 KiB, 1.23 s with 256 KiB and 0.99 s with 1 MiB, on a shared Xeon (Sapphire or Emerald Rapids) with 2
/// MiB of L2 per core. 1 MiB is not the choice because other machines, such as a Zen 4, have 1 MiB of L2 per core.
pub const CHUNK: usize = 1 << 19;

/// The options of a run. The default is what the program does without options, on one thread.
#[derive(Clone, Debug)]
pub struct Options {
    /// The byte that ends a record.
    pub separator: u8,
    /// The longest record accepted, in bytes without its separator.
    pub max_record: u64,
    /// Which part of a record is compared: records with equal keys are duplicates.
    pub key: Key,
    /// Whether to print the second record of every key, once per repeated key, instead of the first.
    pub repeated: bool,
    /// Whether a record without a key is an error. Otherwise it is printed; with [`repeated`](Self::repeated) it is
    /// left out.
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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            separator: b'\n',
            max_record: 1 << 30,
            key: Key::record(),
            repeated: false,
            strict: false,
            filter: Filter::Table,
            capacity: None,
            fixed: false,
            seed: Seed::Fixed(0),
            threads: 1,
            chunk: CHUNK,
        }
    }
}

/// What the keys seen are kept in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// A table of fingerprints, which are long enough that no loss is expected: less than 0.01 lines of a whole run of
    /// up to 10^8 distinct lines.
    Table,
    /// A chain of filters, for less memory.
    Chain {
        /// The kind of the filters.
        kind: Kind,
        /// The false-positive rate that the whole chain stays below.
        rate: f64,
    },
}

impl Filter {
    /// The name of the kind.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Chain { kind, .. } => kind.name(),
        }
    }

    /// The rate asked for.
    pub(super) const fn rate(self) -> Option<f64> {
        match self {
            Self::Table => None,
            Self::Chain { rate, .. } => Some(rate),
        }
    }
}

/// How keys are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// By rapidhash with this seed: the fastest, and every run gives the same result.
    Fixed(u64),
    /// By SipHash-1-3 with a random key: for input chosen by an attacker.
    Random,
}

/// The hash function for keys.
pub(super) enum Hasher {
    Fixed(Rapid),
    Random(SipHash13),
}

impl Hasher {
    pub(super) fn new(seed: Seed) -> Result<Self, Error> {
        Ok(match seed {
            Seed::Fixed(seed) => Self::Fixed(Rapid::with_seed(seed)),
            Seed::Random => {
                let mut key = [0; 16];
                getrandom::fill(&mut key).map_err(|_| Error::Random)?;
                Self::Random(SipHash13::with_key(key))
            }
        })
    }
}
