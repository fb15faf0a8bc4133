//! What a command does with the keys of records, which decides which records are printed.

use super::chunk::Chunk;
use super::hasher::Hasher;

/// Decides chunks of records for a command. Several workers call it at once, each with its own chunk.
pub(crate) trait Decider: Sync {
    /// The hash function for keys.
    fn hasher(&self) -> &Hasher;

    /// What the steps before and after the decision do with a chunk.
    fn plan(&self) -> Plan;

    /// Decides the records of a chunk that have a key. Once `failed` returns `true`, nothing is printed any more and
    /// nothing needs to be decided; but the chunk must enter every turnstile of the decider all the same.
    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool);
}

/// What the steps before and after the decision do with a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Which records are printed.
    pub(crate) printed: Printed,
    /// Whether a record without a key counts as fresh.
    pub(crate) keyless: bool,
    /// Whether the hashes are sorted by shard.
    pub(crate) sharded: bool,
    /// The number of items after which the next fresh record with a key is an error.
    pub(crate) limit: Option<u64>,
}

/// Which records are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// The fresh ones.
    Fresh,
    /// Those that are the second of their key.
    Second,
    /// None.
    None,
}
