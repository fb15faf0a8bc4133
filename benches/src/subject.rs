//! A filter without its type, and its loops over items: of one thread with all of a filter, and of
//! threads that share it.

use core::ops::Range;

use crate::filter::{Filter, Traits};
use crate::operation::Operation::{
    self, Half, Hit, HitMany, Insert, InsertMany, Miss, MissMany, Remove,
};

/// How often an answer was "found" or "new".
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    pub(crate) found: u64,
    pub(crate) new: u64,
}

/// A filter without its type.
pub trait Subject {
    /// Performs the operation on all items.
    fn perform(&mut self, operation: Operation, items: &[u64]) -> Answers;

    /// Calls [`Filter::bytes`].
    fn bytes(&self) -> u64;

    /// Calls [`Filter::load`].
    fn load(&self) -> Option<f64>;

    /// Calls [`Filter::clear`].
    fn clear(&mut self) -> bool;

    /// Inserts new items one by one, while other threads may do so; returns how many are reported
    /// as new.
    fn insert_all(&self, items: Range<u64>) -> u64;

    /// Queries `count` items of the range, from the `first`th on and cyclically; returns how many
    /// are found.
    fn query(&self, items: Range<u64>, first: u64, count: u64) -> u64;

    /// Inserts the items one by one, and after each insert removes the item `kept` below.
    ///
    /// # Panics
    ///
    /// If it cannot remove what must be there.
    fn churn(&self, items: Range<u64>, kept: u64);
}

/// Returns how many of the items an operation returns `true` for.
#[inline(always)]
fn count<I>(items: impl Iterator<Item = I>, mut operation: impl FnMut(I) -> bool) -> u64 {
    items.map(|item| u64::from(operation(item))).sum()
}

impl<F: Filter> Subject for F {
    #[inline(never)]
    fn perform(&mut self, operation: Operation, items: &[u64]) -> Answers {
        let (mut found, mut new) = (0, 0);
        match operation {
            Insert => new = count(items.iter(), |item| self.insert(item)),
            InsertMany => self.insert_many_with(items, |_, answer| new += u64::from(answer)),
            Hit | Miss | Half => found = count(items.iter(), |item| self.contains(item)),
            HitMany | MissMany => {
                self.contains_many_with(items, |_, answer| found += u64::from(answer));
            }
            Remove => found = count(items.iter(), |item| self.remove(item)),
        }
        Answers { found, new }
    }

    fn bytes(&self) -> u64 {
        Filter::bytes(self)
    }

    fn load(&self) -> Option<f64> {
        Filter::load(self)
    }

    fn clear(&mut self) -> bool {
        Filter::clear(self)
    }

    fn insert_all(&self, items: Range<u64>) -> u64 {
        count(items, |item| self.insert_shared(&item))
    }

    fn query(&self, items: Range<u64>, first: u64, queries: u64) -> u64 {
        let start = items.start + first % (items.end - items.start);
        let cyclic = (start..items.end).chain(items.cycle());
        count(cyclic.take(queries as usize), |item| self.contains(&item))
    }

    fn churn(&self, items: Range<u64>, kept: u64) {
        let Traits { name, sure, .. } = F::TRAITS;
        for item in items {
            self.insert_shared(&item);
            let removed = self.remove_shared(&(item - kept));
            assert!(removed || !sure, "{name} misses an item of its own");
        }
    }
}
