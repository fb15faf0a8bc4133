//! The union of two tables of one shard, without the hashes of their items.
//!
//! A slot and the number of its bucket give a tag and a position, which is all that a table knows
//! of an item. Tables with the same number of positions take the same items for the same, however
//! often each of them has doubled. So the union has exactly the items of both tables, and gives the
//! answers of one table that got all of them.

use core::mem;

use super::{Place, Table};
use crate::error::Error;

impl Table {
    /// Whether both tables have the same number of positions, as all tables of the same first size
    /// do.
    pub(in crate::dedup) fn is_like(&self, other: &Self) -> bool {
        self.positions.0 == other.positions.0
    }

    /// Inserts the items of another table, which must be like this one.
    pub(in crate::dedup) fn merge(&mut self, mut other: Self) -> Result<(), Error> {
        // Insert the items of the table that has fewer.
        if other.items > self.items {
            mem::swap(self, &mut other);
        }
        let layout = other.size.layout;
        for (bucket, line) in other.memory.lines().iter().enumerate() {
            for slot in 0..layout.count(line) {
                let (tag, rest) = layout.get(line, slot);
                let position = layout.position(Place { bucket, rest });
                self.insert(self.positions.item_at(position, tag))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::Size;
    use super::super::item::Item;
    use super::super::line::Layout;
    use super::*;

    proptest! {
        /// The union of two tables that have grown differently is the union of two sets, also where
        /// items are confused: there are few positions and tags.
        #[test]
        fn the_union_is_that_of_two_sets(
            lines in 1_u64..20,
            bits in 0..8_u32,
            tags in 1..12_u32,
            one in vec((any::<u64>(), any::<u32>()), 0..1000),
            other in vec((any::<u64>(), any::<u32>()), 0..300),
            asked in vec((any::<u64>(), any::<u32>()), 0..300),
        ) {
            let table = || Table::of_size(Size { lines, layout: Layout::of_bits(bits) }).expect("small");
            let mut tables = [table(), table()];
            let positions = tables[0].positions;
            let item = |&(position, tag): &(u64, u32)| {
                let tag = (1 + tag % tags).wrapping_mul(0x9E37_79B9);
                positions.item_at(tamis::hash::fastrange(position, positions.0), tag)
            };
            let class = |item: Item| {
                let [one, other] = item.positions;
                (item.tag, one.min(other), one.max(other))
            };
            let mut set = HashSet::new();
            for (table, items) in tables.iter_mut().zip([&one, &other]) {
                for item in items.iter().map(item) {
                    // A table that cannot grow further refuses some.
                    if table.insert(item).is_ok() {
                        set.insert(class(item));
                    }
                }
            }
            let [mut union, more] = tables;
            prop_assert!(union.is_like(&more));
            match union.merge(more) {
                Ok(()) => {
                    prop_assert_eq!(union.items, set.len() as u64);
                    for item in one.iter().chain(&other).chain(&asked).map(item) {
                        prop_assert_eq!(union.contains(item), set.contains(&class(item)));
                    }
                }
                Err(error) => {
                    prop_assert!(matches!(error, Error::Outgrown) && union.size.layout.bits == 0);
                }
            }
        }
    }

    #[test]
    fn tables_of_another_first_size_are_not_alike() {
        let table = |lines, bits| {
            Table::of_size(Size { lines, layout: Layout::of_bits(bits) }).expect("small")
        };
        assert!(table(64, 5).is_like(&table(128, 4)));
        assert!(!table(64, 5).is_like(&table(65, 5)));
    }
}
