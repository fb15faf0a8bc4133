//! What the steps before and after the decision do with a chunk.

use tamis::formats::foreign::KeyType;

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
    /// The keys that the decider sees; without them, it sees only hashes.
    pub(crate) keys: Option<Taken>,
}

impl Plan {
    /// The plan of a decider that sees hashes only, in input order.
    pub(crate) const fn of(printed: Printed) -> Self {
        Self { printed, keyless: true, sharded: false, limit: None, keys: None }
    }
}

/// Which keys a decider takes. A record with another key has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) key_type: KeyType,
    /// Whether an empty key is one.
    pub(crate) empty: bool,
}

/// Which records are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Printed {
    /// The fresh ones.
    Fresh,
    /// Those that are the second of their key.
    Second,
    /// None.
    #[default]
    None,
}
