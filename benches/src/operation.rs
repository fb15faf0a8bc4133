//! The operations that are timed, and the loops that perform them on a filter of any type.

use self::Operation::{
    Half, Hit, HitMany, Insert, InsertLast, InsertMany, Miss, MissMany, Mixed, Remove,
};
use crate::contender::filter::Filter;
use crate::item::Item;

/// One of this number of operations of the mixed kind is an insert.
pub(crate) const MIXED: usize = 10;

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
            InsertMany => "insert_many",
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

/// How often an answer was "found" or "new".
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answers {
    pub(crate) found: u64,
    pub(crate) new: u64,
}

/// A filter without its type. The loops over items are inside.
pub(crate) trait Subject<K> {
    /// Performs the operation on all items.
    fn perform(&mut self, operation: Operation, items: &[K]) -> Answers;

    /// Calls [`Filter::bytes`].
    fn bytes(&self) -> u64;

    /// Calls [`Filter::clear`].
    fn clear(&mut self) -> bool;
}

impl<K: Item, C: Filter<K>> Subject<K> for C {
    #[inline(never)]
    fn perform(&mut self, operation: Operation, items: &[K]) -> Answers {
        let count = |found: bool| u64::from(found);
        let mut answers = Answers::default();
        match operation {
            Insert | InsertLast => {
                answers.new = items.iter().map(|item| count(self.insert(item))).sum();
            }
            InsertMany => self.insert_many(items, |_, new| answers.new += count(new)),
            Hit | Miss | Half => {
                answers.found = items.iter().map(|item| count(self.contains(item))).sum();
            }
            HitMany | MissMany => {
                self.contains_many(items, |_, found| answers.found += count(found));
            }
            Mixed => {
                for ten in items.chunks(MIXED) {
                    let (asked, inserted) = ten.split_at(ten.len().min(MIXED - 1));
                    answers.found +=
                        asked.iter().map(|item| count(self.contains(item))).sum::<u64>();
                    answers.new +=
                        inserted.iter().map(|item| count(self.insert(item))).sum::<u64>();
                }
            }
            Remove => {
                answers.found = items.iter().map(|item| count(self.remove(item))).sum();
            }
        }
        answers
    }

    fn bytes(&self) -> u64 {
        Filter::bytes(self)
    }

    fn clear(&mut self) -> bool {
        Filter::clear(self)
    }
}
