//! The loops over items, without the filter's type: of one thread with all of a filter, and of
//! threads that share it.

use core::ops::Range;

use crate::contender::filter::{Filter, Traits};
use crate::item::Item;
use crate::operation::Operation::{
    self, Half, Hit, HitMany, Insert, InsertLast, InsertMany, Miss, MissMany, Mixed, Remove,
};

/// One of this number of operations of the mixed kind is an insert.
pub(crate) const MIXED: usize = 10;

/// The items of a batch of threads.
const BATCH: usize = 1024;

/// How often an answer was "found" or "new".
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    pub(crate) found: u64,
    pub(crate) new: u64,
}

/// A filter without its type.
pub trait Subject<K> {
    /// Performs the operation on all items.
    fn perform(&mut self, operation: Operation, items: &[K]) -> Answers;

    /// Calls [`Filter::bytes`].
    fn bytes(&self) -> u64;

    /// Calls [`Filter::clear`].
    fn clear(&mut self) -> bool;
}

/// A filter that threads share, or memory instead of one.
pub trait SharedSubject<K>: Sync {
    /// Inserts new items, one by one or in batches; returns how many are reported as new.
    fn insert_all(&self, items: Range<u64>, many: bool) -> u64;

    /// Queries `count` items of the range, from the `first`th on and cyclically; returns how many
    /// are found.
    fn query(&self, items: Range<u64>, first: u64, count: u64) -> u64;

    /// Inserts the items one by one; after each insert of an item it removes the item `kept` below,
    /// if that is given.
    ///
    /// Before each of these operations, it makes `queries` queries as [`query`](Self::query) does;
    /// returns how many items they find.
    ///
    /// # Panics
    ///
    /// If it cannot remove what must be there.
    fn mix(
        &self,
        queries: u64,
        of: Range<u64>,
        first: u64,
        inserts: Range<u64>,
        kept: Option<u64>,
    ) -> u64;
}

/// Returns how many of the items an operation returns `true` for.
#[inline(always)]
fn count<I>(items: impl Iterator<Item = I>, mut operation: impl FnMut(I) -> bool) -> u64 {
    items.map(|item| u64::from(operation(item))).sum()
}

impl<K: Item, F: Filter<K>> Subject<K> for F {
    #[inline(never)]
    fn perform(&mut self, operation: Operation, items: &[K]) -> Answers {
        let (mut found, mut new) = (0, 0);
        match operation {
            Insert | InsertLast => new = count(items.iter(), |item| self.insert(item)),
            InsertMany => self.insert_many_with(items, |_, answer| new += u64::from(answer)),
            Hit | Miss | Half => found = count(items.iter(), |item| self.contains(item)),
            HitMany | MissMany => {
                self.contains_many_with(items, |_, answer| found += u64::from(answer));
            }
            Mixed => {
                for ten in items.chunks(MIXED) {
                    let (asked, inserted) = ten.split_at(ten.len().min(MIXED - 1));
                    found += count(asked.iter(), |item| self.contains(item));
                    new += count(inserted.iter(), |item| self.insert(item));
                }
            }
            Remove => found = count(items.iter(), |item| self.remove(item)),
        }
        Answers { found, new }
    }

    fn bytes(&self) -> u64 {
        Filter::bytes(self)
    }

    fn clear(&mut self) -> bool {
        Filter::clear(self)
    }
}

/// Returns the items of the range from the `first`th on, cyclically.
fn cyclic(items: Range<u64>, first: u64) -> impl Iterator<Item = u64> {
    (items.start + first % (items.end - items.start)..items.end).chain(items.cycle())
}

impl<K: Item, F: Filter<K> + Sync> SharedSubject<K> for F {
    fn insert_all(&self, items: Range<u64>, many: bool) -> u64 {
        if !many {
            return count(items, |item| self.insert_shared(&K::nth(item)));
        }
        let mut batch = Vec::with_capacity(BATCH);
        let mut new = 0;
        for first in items.clone().step_by(BATCH) {
            batch.clear();
            batch.extend((first..items.end.min(first + BATCH as u64)).map(K::nth));
            self.insert_many_shared(&batch, |_, answer| new += u64::from(answer));
        }
        new
    }

    fn query(&self, items: Range<u64>, first: u64, queries: u64) -> u64 {
        let items = cyclic(items, first).take(queries as usize);
        count(items, |item| self.contains(&K::nth(item)))
    }

    fn mix(
        &self,
        queries: u64,
        of: Range<u64>,
        first: u64,
        inserts: Range<u64>,
        kept: Option<u64>,
    ) -> u64 {
        let mut asked = cyclic(of, first);
        let mut found = || {
            let items = asked.by_ref().take(queries as usize);
            count(items, |item| self.contains(&K::nth(item)))
        };
        let mut sum = 0;
        for item in inserts {
            sum += found();
            self.insert_shared(&K::nth(item));
            if let Some(kept) = kept {
                sum += found();
                let removed = self.remove_shared(&K::nth(item - kept));
                let Traits { name, sure, .. } = F::TRAITS;
                assert!(removed || !sure, "{name} misses an item of its own");
            }
        }
        sum
    }
}
