//! The operations that are timed.

use self::Operation::{Half, Hit, HitMany, Insert, InsertMany, Miss, MissMany, Remove};

/// What is done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Insert an absent item into a filter on its way from empty to full.
    Insert,
    /// Query a full filter for a present item.
    Hit,
    /// Query a full filter for an absent item.
    Miss,
    /// Query a full filter for present and absent items in random order, half of them each.
    Half,
    /// [`Insert`](Self::Insert) in batches.
    InsertMany,
    /// [`Hit`](Self::Hit) in batches.
    HitMany,
    /// [`Miss`](Self::Miss) in batches.
    MissMany,
    /// Remove a present item from a filter on its way from full to empty.
    Remove,
}

impl Operation {
    /// All. Queries come after inserts, which leave the filter full, and the removals last.
    pub const ALL: [Self; 8] = [Insert, Hit, Miss, Half, InsertMany, HitMany, MissMany, Remove];

    /// Returns the name in records: the method, and of which items.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Insert => "insert",
            Hit => "contains, hit",
            Miss => "contains, miss",
            Half => "contains, half and half",
            InsertMany => "insert_many_with",
            HitMany => "contains_many_with, hit",
            MissMany => "contains_many_with, miss",
            Remove => "remove",
        }
    }

    /// Returns whether it writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Insert | InsertMany | Remove)
    }

    /// Returns whether it is done in batches.
    #[must_use]
    pub const fn is_many(self) -> bool {
        matches!(self, InsertMany | HitMany | MissMany)
    }
}
