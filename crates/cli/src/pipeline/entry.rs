//! The hash of a record's key, and the number of shards that it may belong to.

/// The number of shards. It does not depend on the number of threads, because the output depends on
/// it. It limits how many workers can decide at once, and each chunk takes this many locks, usually
/// uncontended.
pub(crate) const SHARDS: u32 = 64;

/// The hash of a record's key.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    /// The number of the record in its chunk.
    pub(crate) record: u32,
}
