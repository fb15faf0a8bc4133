//! The operations that are timed.

use self::Operation::{
    Half, Hit, HitMany, Insert, InsertLast, InsertMany, Miss, MissMany, Mixed, Remove,
};
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
    /// Of ten operations, query nine present items and insert one, from nine tenths full to full.
    Mixed,
    /// [`Insert`](Self::Insert) in batches.
    InsertMany,
    /// [`Hit`](Self::Hit) in batches.
    HitMany,
    /// [`Miss`](Self::Miss) in batches.
    MissMany,
    /// Insert an absent item into a filter on its way from 95 % to full.
    InsertLast,
    /// Remove a present item from a filter on its way from full to empty.
    Remove,
}

impl Operation {
    /// All, in the order of a table's columns.
    pub const ALL: [Self; 10] =
        [Insert, Hit, Miss, Half, Mixed, InsertMany, HitMany, MissMany, InsertLast, Remove];

    /// Those that every contender is compared by.
    pub const COMMON: &[Self] = Self::ALL.split_at(8).0;

    /// Returns the name in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Insert => "insert",
            Hit => "hit",
            Miss => "miss",
            Half => "half",
            Mixed => "mixed",
            InsertMany => "insert_many_with",
            HitMany => "hit_many",
            MissMany => "miss_many",
            InsertLast => "insert, last 5 %",
            Remove => "remove",
        }
    }

    /// Returns whether it only writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Insert | InsertMany | InsertLast | Remove)
    }

    /// Returns whether it is done in batches.
    #[must_use]
    pub const fn is_many(self) -> bool {
        matches!(self, InsertMany | HitMany | MissMany)
    }

    /// Returns the number of items in a filter for `items` when the operation begins.
    pub(crate) const fn start(self, items: u64) -> u64 {
        match self {
            Insert | InsertMany => 0,
            InsertLast => items / 20 * 19,
            Mixed if items > 1 => items * 9 / 10,
            Mixed => 1,
            _ => items,
        }
    }
}
