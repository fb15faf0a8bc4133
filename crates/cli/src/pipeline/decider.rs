//! What a command does with the keys of records, which decides which records are printed.

use super::chunk::Chunk;
use super::hasher::Hasher;
use super::plan::Plan;

/// Decides chunks of records for a command. Several workers call it at once, each with its own
/// chunk.
pub(crate) trait Decider: Sync {
    /// The hash function for keys.
    fn hasher(&self) -> &Hasher;

    /// What the steps before and after the decision do with a chunk.
    fn plan(&self) -> Plan;

    /// Decides the records of a chunk that have a key. Once `failed` returns `true`, nothing is
    /// printed any more and nothing needs to be decided; but the chunk must enter every turnstile
    /// of the decider all the same.
    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool);
}
