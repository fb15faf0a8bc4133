//! How records are read: where they end, and which part of them is the key.

use super::entry::SHARDS;
use crate::error::Error;
use crate::key::Key;

/// Bytes per chunk: enough to make the cost of the locks small and to query each shard for many
/// records at once, and few enough to stay in a core's own L2 cache. MEASURED: 10 million URLs
/// without a capacity take 1.07 s of CPU with chunks of 512 KiB, 1.23 s with 256 KiB and 0.99 s
/// with 1 MiB, on a shared Xeon (Sapphire or Emerald Rapids) with 2 MiB of L2 per core. 1 MiB is
/// not the choice because other machines, such as a Zen 4, have 1 MiB of L2 per core.
pub const CHUNK: usize = 1 << 19;

/// The most worker threads of a run: more than there are shards would only wait.
pub(crate) const MOST_THREADS: usize = SHARDS as usize;

/// How a run reads records.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    /// The byte that ends a record.
    pub(crate) separator: u8,
    /// The longest record accepted, in bytes without its separator.
    pub(crate) max_record: u64,
    /// Which part of a record is compared.
    pub(crate) key: Key,
    /// Whether the first record of each input is a header.
    pub(crate) header: bool,
    /// Whether a record without a key, and a malformed row, is an error.
    pub(crate) strict: bool,
    /// Worker threads, including the calling one: 1 to [`MOST_THREADS`].
    pub(crate) threads: usize,
    /// Bytes per chunk, 1 to 1 GiB.
    pub(crate) chunk: usize,
    /// The most records of a chunk, if they are limited: at least 1.
    pub(crate) most: Option<usize>,
}

impl Records {
    /// Returns the same for a filter of another system.
    pub(crate) fn foreign(&self) -> Result<Self, Error> {
        let key = self.key.foreign().map_err(Error::Usage)?;
        Ok(Self { key, ..self.clone() })
    }
}
