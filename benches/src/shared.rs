//! What each of several threads does with one filter: the loops over items, without the filter's type.

use core::ops::Range;

use crate::contender::filter::Filter;
use crate::item::Item;

/// The items of a batch.
const BATCH: usize = 1024;

/// A filter that threads share, or memory instead of one.
pub trait SharedSubject<K>: Sync {
    /// Inserts new items, one by one or in batches; returns how many are reported as new.
    fn insert_all(&self, items: Range<u64>, many: bool) -> u64;

    /// Queries `count` items of the range, from the `first`th on and cyclically; returns how many are found.
    fn query(&self, items: Range<u64>, first: u64, count: u64) -> u64;

    /// Inserts the items one by one; after each insert of an item it removes the item `kept` below, if that is given.
    ///
    /// Before each of these operations, it makes `queries` queries as [`query`](Self::query) does; returns how many
    /// items they find.
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

/// Returns the items of the range from the `first`th on, cyclically.
fn cyclic(items: Range<u64>, first: u64) -> impl Iterator<Item = u64> {
    (items.start + first % (items.end - items.start)..items.end).chain(items.cycle())
}

impl<K: Item, F: Filter<K> + Sync> SharedSubject<K> for F {
    fn insert_all(&self, items: Range<u64>, many: bool) -> u64 {
        if !many {
            return items.map(|item| u64::from(self.insert_shared(&K::nth(item)))).sum();
        }
        let mut batch = Vec::with_capacity(BATCH);
        let mut count = 0;
        for first in items.clone().step_by(BATCH) {
            batch.clear();
            batch.extend((first..items.end.min(first + BATCH as u64)).map(K::nth));
            self.insert_many_shared(&batch, |_, new| count += u64::from(new));
        }
        count
    }

    fn query(&self, items: Range<u64>, first: u64, count: u64) -> u64 {
        let items = cyclic(items, first).take(count as usize);
        items.map(|item| u64::from(self.contains(&K::nth(item)))).sum()
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
            items.map(|item| u64::from(self.contains(&K::nth(item)))).sum::<u64>()
        };
        let mut sum = 0;
        for item in inserts {
            sum += found();
            self.insert_shared(&K::nth(item));
            if let Some(kept) = kept {
                sum += found();
                let removed = self.remove_shared(&K::nth(item - kept));
                assert!(removed || !F::SURE, "{} misses an item of its own", F::NAME);
            }
        }
        sum
    }
}
