//! One shard: a cuckoo table of fingerprints, which doubles without the hashes of its items.
//!
//! An item has a tag and two positions (`item`). It is stored in the bucket of one of them. A
//! bucket is a cache line (`line`) and stands for `2^bits` adjacent positions: position `X` is in
//! bucket `X >> bits`, and the slot keeps the tag and the low bits of `X`, the rest. So a slot and
//! the number of its bucket give the tag and a position, and with them all that is known of the
//! item.
//!
//! To double the table, each line is split in two: the highest bit of a rest says which of the two
//! lines the item goes to. All items keep their tags and positions, so the answers stay the same,
//! wrong ones included: growth costs no accuracy. The rests are one bit shorter then, so a new line
//! has at least as many slots as an old one, and there is room for all its items.
//!
//! One thread at a time uses the table, so an insert relocates items without locks.

use core::hint::black_box;

mod item;
mod line;
mod memory;
mod merge;
mod saved;
mod sizes;

use self::item::{Item, Positions};
use self::line::{Layout, Line};
use self::memory::Memory;
use self::sizes::Size;
use super::shard::{Fill, Shard};
use crate::error::{Error, Why};
use crate::pipeline::Entry;

pub(super) use self::saved::{FIELDS, Words};
pub(super) use self::sizes::Sizes;

/// The items that an insert moves in a row before the table doubles.
const MOVES: u32 = 100;

/// The items of a batch whose lines are read ahead at a time: with two lines each they fit in an L1
/// cache of 32 KiB, and 512 KiB of URLs have fewer per shard.
const AHEAD: usize = 128;

/// The items of one shard.
pub(super) struct Table {
    positions: Positions,
    size: Size,
    memory: Memory,
    /// The number of items.
    items: u64,
}

impl Table {
    /// Builds the empty table of a shard.
    pub(super) fn new(sizes: &Sizes, shard: usize) -> Result<Self, Error> {
        Self::of_size(sizes.first(shard))
    }

    fn of_size(size: Size) -> Result<Self, Error> {
        let memory = size.allocate()?;
        Ok(Self { positions: size.positions(), size, memory, items: 0 })
    }

    /// Inserts an item and returns whether it was new.
    #[inline]
    fn insert(&mut self, item: Item) -> Result<bool, Error> {
        if self.contains(item) {
            return Ok(false);
        }
        if self.items >= self.size.room() {
            self.double()?;
        }
        // If an insert has moved too many items, the last of them is left without a place.
        let mut homeless = self.store(item);
        while let Some(item) = homeless {
            self.double()?;
            homeless = self.store(item);
        }
        self.items += 1;
        Ok(true)
    }

    #[inline]
    fn contains(&self, item: Item) -> bool {
        let (layout, lines) = (self.size.layout, self.memory.lines());
        let [one, other] = item.positions.map(|position| layout.place(position));
        let found = |place: Place| line::contains(&lines[place.bucket], item.tag);
        let holds = |place: Place| layout.contains(&lines[place.bucket], item.tag, place.rest);
        // Almost always one of the tags differs, or nothing does.
        (found(one) | found(other)) && (holds(one) || holds(other))
    }

    /// Passes to `report` of each entry, in order, whether its item is in the table.
    pub(super) fn query(&self, entries: &[Entry], mut report: impl FnMut(Entry, bool)) {
        let mut items = [Item::default(); AHEAD];
        for entries in entries.chunks(AHEAD) {
            let items = self.prepare(entries, &mut items);
            entries
                .iter()
                .zip(items)
                .for_each(|(&entry, item)| report(entry, self.contains(*item)));
        }
    }

    /// Computes the items of the entries, at most [`AHEAD`], and reads their lines.
    fn prepare<'i>(&self, entries: &[Entry], items: &'i mut [Item; AHEAD]) -> &'i [Item] {
        let items = &mut items[..entries.len()];
        let hashes = entries.iter().map(|entry| entry.hash);
        items.iter_mut().zip(hashes).for_each(|(item, hash)| *item = self.positions.item(hash));
        self.touch(items);
        items
    }

    /// Reads a word of each line that the items need. In a loop that does nothing else the
    /// processor waits for many lines at the same time.
    fn touch(&self, items: &[Item]) {
        let (layout, lines) = (self.size.layout, self.memory.lines());
        let positions = items.iter().flat_map(|item| item.positions);
        black_box(positions.fold(0, |sum, at| sum ^ lines[layout.place(at).bucket][0]));
    }

    /// The number of items.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// The number of items that the table takes before it doubles.
    pub(super) fn room(&self) -> u64 {
        self.size.room()
    }

    pub(super) fn slots(&self) -> u64 {
        self.size.lines * u64::from(self.size.layout.slots)
    }

    /// The expected number of items with which a new one is confused.
    pub(super) fn confusions(&self) -> f64 {
        self.items as f64 * self.positions.confusion()
    }

    /// Stores an item that is not in the table. If that moves too many items, returns the last of
    /// them, which is then not in the table.
    fn store(&mut self, mut item: Item) -> Option<Item> {
        let Self { positions, size: Size { layout, .. }, .. } = *self;
        let lines = self.memory.lines_mut();
        for number in 0..MOVES {
            // Take the emptier of the two buckets.
            let places = item.positions.map(|position| layout.place(position));
            let [one, other] = places.map(|place| layout.count(&lines[place.bucket]));
            let (Place { bucket, rest }, count) =
                if one <= other { (places[0], one) } else { (places[1], other) };
            if count < layout.slots {
                layout.set(&mut lines[bucket], count, item.tag, rest);
                return None;
            }
            // Both are full: replace an item that has room in the bucket of its other position,
            // which is the first one.
            let resident = |lines: &[Line], slot| {
                let (tag, rest) = layout.get(&lines[bucket], slot);
                positions.item_at(layout.position(Place { bucket, rest }), tag)
            };
            for slot in 0..layout.slots {
                let moved = resident(lines, slot);
                let to = layout.place(moved.positions[0]);
                let count = layout.count(&lines[to.bucket]);
                if count < layout.slots {
                    layout.set(&mut lines[to.bucket], count, moved.tag, to.rest);
                    layout.set(&mut lines[bucket], slot, item.tag, rest);
                    return None;
                }
            }
            // There is none: replace any item, and go on with that one.
            let slot = number % layout.slots;
            let moved = resident(lines, slot);
            layout.set(&mut lines[bucket], slot, item.tag, rest);
            item = moved;
        }
        Some(item)
    }

    /// Doubles the table.
    #[cold]
    fn double(&mut self) -> Result<(), Error> {
        let old = self.size.layout;
        let size = self.size.doubled()?;
        let (new, mut memory) = (size.layout, size.allocate()?);
        let pairs = memory.lines_mut().chunks_exact_mut(2);
        for (line, pair) in self.memory.lines().iter().zip(pairs) {
            let mut counts = [0; 2];
            for slot in 0..old.count(line) {
                let (tag, rest) = old.get(line, slot);
                let half = (rest >> new.bits) as usize;
                new.set(&mut pair[half], counts[half], tag, rest & new.mask());
                counts[half] += 1;
            }
        }
        self.size = size;
        self.memory = memory;
        Ok(())
    }
}

impl Shard for Table {
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Why)> {
        let mut items = [Item::default(); AHEAD];
        for entries in batch.chunks(AHEAD) {
            for (&item, entry) in self.prepare(entries, &mut items).iter().zip(entries) {
                let new = self.insert(item).map_err(|error| (entry.record, error.into()))?;
                fresh[entry.record as usize] = new;
            }
        }
        Ok(())
    }

    fn fill(&self) -> Fill {
        Fill { slices: vec![self.items], bytes: self.size.bytes() }
    }
}

/// Where an item may be stored: a bucket, and the rest for its slot.
#[derive(Clone, Copy)]
struct Place {
    bucket: usize,
    rest: u64,
}

impl Layout {
    #[inline]
    fn place(self, position: u64) -> Place {
        Place { bucket: (position >> self.bits) as usize, rest: position & self.mask() }
    }

    #[inline]
    fn position(self, place: Place) -> u64 {
        (place.bucket as u64) << self.bits | place.rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use tamis::hash::{HashItem, Rapid};

    use super::*;

    fn table(lines: u64, bits: u32) -> Table {
        Table::of_size(Size { lines, layout: Layout::of_bits(bits) }).expect("small")
    }

    /// The number of items that the lines contain.
    fn stored(table: &Table) -> u64 {
        let lines = table.memory.lines().iter();
        lines.map(|line| u64::from(table.size.layout.count(line))).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// The table is a set of pairs of a tag and an unordered pair of positions: exactly that
        /// set, through all doublings, to the end of its growth. There are few positions and tags,
        /// so that many items are confused.
        #[test]
        fn every_answer_is_that_of_a_set(
            lines in 1_u64..20,
            bits in 0..8_u32,
            tags in 1..12_u32,
            items in vec((any::<u64>(), any::<u32>()), 0..2000),
        ) {
            let mut table = table(lines, bits);
            let positions = table.positions;
            let class = |item: Item| {
                let [one, other] = item.positions;
                (item.tag, one.min(other), one.max(other))
            };
            let mut set = HashSet::new();
            for (position, tag) in items {
                let tag = (1 + tag % tags).wrapping_mul(0x9E37_79B9);
                let item = positions.item_at(tamis::hash::fastrange(position, positions.0), tag);
                prop_assert_eq!(table.contains(item), set.contains(&class(item)));
                let lines = table.size.lines;
                match table.insert(item) {
                    Ok(new) => prop_assert_eq!(new, set.insert(class(item))),
                    Err(error) => {
                        prop_assert!(matches!(error, Error::Outgrown) && table.size.layout.bits == 0);
                        break;
                    }
                }
                prop_assert_eq!(table.items, set.len() as u64);
                // After a doubling, all items are there, each once.
                if table.size.lines > lines {
                    prop_assert_eq!(stored(&table), table.items);
                    for &(tag, position, _) in &set {
                        prop_assert!(table.contains(positions.item_at(position, tag)));
                    }
                }
            }
        }
    }

    /// Decides the same items twice, in batches of this size; returns the verdicts and the fill.
    fn decided(batch: usize) -> (Vec<bool>, Fill) {
        let mut table = table(64, 17);
        let hasher = Rapid::with_seed(1);
        let hashes: Vec<u64> = (0..100_000_u64).map(|item| hasher.hash_item(&item)).collect();
        let mut verdicts = Vec::new();
        for hashes in [&hashes[..], &hashes].concat().chunks(batch) {
            let mut entries: Vec<Entry> =
                (0..).zip(hashes).map(|(record, &hash)| Entry { hash, record }).collect();
            let mut fresh = vec![false; hashes.len()];
            table.decide(&mut entries, &mut fresh).map_err(|(_, error)| error).expect("it grows");
            verdicts.extend(fresh);
        }
        (verdicts, table.fill())
    }

    #[test]
    fn batches_of_any_size_give_the_same_answers_and_the_same_table() {
        let (verdicts, fill) = decided(1);
        let (first, again) = verdicts.split_at(100_000);
        assert!(first.iter().all(|&new| new) && !again.iter().any(|&new| new));
        // Seven doublings: 64 lines of 10 slots become 8192 lines of 12 slots, which are filled to
        // a tenth or more.
        assert_eq!(fill, Fill { slices: vec![100_000], bytes: 16_384 * 64 });
        for batch in [7, 110, 150_000] {
            assert!(
                decided(batch)
                    == (verdicts.clone(), Fill { slices: vec![100_000], bytes: fill.bytes }),
                "{batch}"
            );
        }
    }

    /// A table takes the items that its size is computed for. (Very small tables may double
    /// before.)
    ///
    /// POWER: the more lines, the less one table differs from the next. A size at which a part of
    /// 0.02 of the tables of 64 lines doubles, or 0.05 of those of 500, 0.6 of those of 7500 or 0.9
    /// of the largest, is found with a probability of 0.99.
    #[test]
    fn no_table_doubles_before_it_is_filled() {
        for (lines, bits, tables) in [
            (64, 17, 300),
            (64, 24, 300),
            (500, 14, 100),
            (7500, 10, 5),
            (7500, 19, 5),
            (30_000, 7, 2),
            (30_000, 0, 2),
        ] {
            for seed in 0..tables {
                let mut table = table(lines, bits);
                let hasher = Rapid::with_seed(seed);
                for item in 0..table.size.room() {
                    let item = table.positions.item(hasher.hash_item(&item));
                    table.insert(item).expect("there is memory");
                }
                assert_eq!(table.size.lines, lines, "{bits}");
            }
        }
    }
}
