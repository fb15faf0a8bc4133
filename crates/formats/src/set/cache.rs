//! The most recently used filters, within a budget of bytes and up to a number.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Keeps values by number. When a new value exceeds the budget, or is one too many, it drops the
/// values whose last use is longest ago.
pub(super) struct Cache<V> {
    budget: u64,
    /// The most values, at least 1.
    most: usize,
    /// The sum of the bytes of all values.
    bytes: u64,
    /// Counts the uses.
    clock: u64,
    kept: HashMap<usize, Kept<V>>,
    /// The numbers of the values by their last use.
    by_use: BTreeMap<u64, usize>,
}

struct Kept<V> {
    value: Arc<V>,
    bytes: u64,
    last_use: u64,
}

impl<V> Cache<V> {
    pub(super) fn new(budget: u64, most: usize) -> Self {
        Self { budget, most, bytes: 0, clock: 0, kept: HashMap::new(), by_use: BTreeMap::new() }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn holds(&self, number: usize) -> bool {
        self.kept.contains_key(&number)
    }

    /// Returns a value, which is now the most recently used one.
    pub(super) fn get(&mut self, number: usize) -> Option<Arc<V>> {
        let kept = self.kept.get_mut(&number)?;
        self.by_use.remove(&kept.last_use);
        self.clock += 1;
        kept.last_use = self.clock;
        self.by_use.insert(kept.last_use, number);
        Some(Arc::clone(&kept.value))
    }

    /// Keeps a value, unless it is larger than the budget, or one of this number is kept. Returns
    /// the values that this drops, so that the caller can free their memory after it releases a
    /// lock.
    #[must_use = "free the memory after the lock is released"]
    pub(super) fn put(&mut self, number: usize, value: Arc<V>, bytes: u64) -> Vec<Arc<V>> {
        let mut dropped = Vec::new();
        if bytes > self.budget || self.holds(number) {
            return dropped;
        }
        while self.bytes > self.budget - bytes || self.kept.len() == self.most {
            let oldest = self.by_use.pop_first().and_then(|(_, oldest)| self.kept.remove(&oldest));
            // A cache without values has no bytes, and may have one, so the loop ends before.
            let Some(oldest) = oldest else { break };
            self.bytes -= oldest.bytes;
            dropped.push(oldest.value);
        }
        self.clock += 1;
        self.by_use.insert(self.clock, number);
        self.kept.insert(number, Kept { value, bytes, last_use: self.clock });
        self.bytes += bytes;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the numbers kept, oldest use first.
    fn kept(cache: &Cache<usize>) -> Vec<usize> {
        cache.by_use.values().copied().collect()
    }

    #[test]
    fn the_least_recently_used_values_go_first() {
        let mut cache = Cache::new(10, 9);
        for number in [1, 2, 3] {
            assert!(cache.put(number, Arc::new(number), 3).is_empty());
        }
        assert_eq!(cache.get(1).as_deref(), Some(&1));
        assert_eq!(*cache.put(4, Arc::new(4), 5), [Arc::new(2), Arc::new(3)]);
        assert_eq!((kept(&cache), cache.bytes()), (vec![1, 4], 8));
    }

    #[test]
    fn a_value_larger_than_the_budget_is_not_kept_and_drops_nothing() {
        let mut cache = Cache::new(10, 9);
        assert!(cache.put(1, Arc::new(1), 10).is_empty());
        assert!(cache.put(2, Arc::new(2), 11).is_empty());
        assert_eq!((kept(&cache), cache.bytes()), (vec![1], 10));
    }

    proptest! {
        #[test]
        fn the_cache_agrees_with_a_list(
            uses in prop::collection::vec((0_usize..8, 0_u64..40, any::<bool>()), 0..200),
            budget in 0_u64..100,
            most in 1_usize..8,
        ) {
            let mut cache = Cache::new(budget, most);
            let mut list: Vec<(usize, u64)> = Vec::new();
            for (number, bytes, put) in uses {
                let at = list.iter().position(|(kept, _)| *kept == number);
                if !put {
                    prop_assert_eq!(cache.get(number).is_some(), at.is_some());
                    if let Some(at) = at {
                        let used = list.remove(at);
                        list.push(used);
                    }
                } else {
                    drop(cache.put(number, Arc::new(number), bytes));
                    if at.is_none() && bytes <= budget {
                        while list.iter().map(|(_, bytes)| bytes).sum::<u64>() + bytes > budget
                            || list.len() == most
                        {
                            list.remove(0);
                        }
                        list.push((number, bytes));
                    }
                }
                prop_assert_eq!(kept(&cache), list.iter().map(|(number, _)| *number).collect::<Vec<_>>());
                prop_assert_eq!(cache.bytes(), list.iter().map(|(_, bytes)| bytes).sum::<u64>());
                prop_assert!(cache.bytes() <= budget);
            }
        }
    }
}
