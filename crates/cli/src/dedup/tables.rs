//! The tables of all shards as one set, which is saved in a file and loaded from it.
//!
//! The body of the file is a directory of 24 lines, with three words for each shard: its lines, its
//! items, and the bits of a rest. The lines of the shards follow, first to last.

use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tamis::formats::replace::Complete;
use tamis::formats::{self, LoadError, SaveError, TableParts, TableSizes};
use tamis::hash::AnyStable;

use super::options::Options;
use super::repeated::Filters;
use super::shard::{Fill, Shard};
use super::table::{FIELDS, Sizes, Table, Words};
use crate::error::{Error, Why};
use crate::pipeline::{Entry, SHARDS};

/// The lines of the directory.
const DIRECTORY: usize = FIELDS * SHARDS as usize / 8;

/// The tables of all shards.
pub(crate) struct Tables {
    shards: Vec<RwLock<Table>>,
    hasher: AnyStable,
}

impl Tables {
    /// Builds empty tables for a capacity, or for an unknown one.
    pub(crate) fn new(capacity: Option<u64>, hasher: AnyStable) -> Result<Self, Error> {
        let sizes = Sizes::new(&Options { capacity, ..Options::default() })?;
        let shards = (0..SHARDS as usize).map(|shard| Table::new(&sizes, shard).map(RwLock::new));
        Ok(Self { shards: shards.collect::<Result<_, _>>()?, hasher })
    }

    /// The shards, behind locks, so that the tables can be saved between two chunks.
    pub(crate) fn filters(&self) -> Vec<Filters<'_>> {
        self.shards.iter().map(|shard| Filters::of(Box::new(Part(shard)))).collect()
    }

    fn read(&self, shard: usize) -> RwLockReadGuard<'_, Table> {
        read(&self.shards[shard])
    }

    fn sum(&self, of_table: impl Fn(&Table) -> u64) -> u64 {
        self.shards.iter().map(|shard| of_table(&read(shard))).sum()
    }

    /// Saves all tables. Nobody may insert meanwhile.
    pub(crate) fn prepare(
        &self,
        options: &formats::Options,
        path: &Path,
    ) -> Result<Complete, SaveError> {
        let tables: Vec<_> = self.shards.iter().map(read).collect();
        let mut directory = [0; 8 * DIRECTORY];
        let (fields, _) = directory.as_chunks_mut::<FIELDS>();
        fields.iter_mut().zip(&tables).for_each(|(fields, table)| *fields = table.fields());
        // The number of the first line of each shard.
        let mut starts = Vec::with_capacity(tables.len());
        let mut lines = 0;
        for table in &tables {
            starts.push(lines);
            lines += table.line_count();
        }
        let line = |number: u64| -> Words {
            let (heads, _) = directory.as_chunks::<8>();
            if let Some(head) = heads.get(number as usize) {
                return *head;
            }
            let number = number - DIRECTORY as u64;
            let shard = starts.partition_point(|&start| start <= number) - 1;
            tables[shard].words(number - starts[shard])
        };
        let too_large = SaveError::Alloc { bytes: u64::MAX };
        let parts = TableParts {
            sizes: TableSizes::new(lines).ok_or(too_large)?,
            hasher: self.hasher.clone(),
            capacity: self.capacity(),
            items: self.items(),
        };
        options.prepare_table(&parts, line, path)
    }

    /// Loads tables of these sizes, which the header of the file has.
    pub(crate) fn load(
        options: &formats::Options,
        path: &Path,
        sizes: TableSizes,
    ) -> Result<Self, LoadError> {
        let mut directory = Vec::with_capacity(8 * DIRECTORY);
        let mut tables: Vec<Table> = Vec::new();
        // The next line of which shard comes next.
        let (mut shard, mut line) = (0, 0);
        let mut refused = None;
        let loaded = options.load_table(path, |_, words| {
            if refused.is_some() {
                return Some(0);
            }
            if directory.len() < directory.capacity() {
                directory.extend_from_slice(words);
                if directory.len() == 8 * DIRECTORY {
                    let (fields, _) = directory.as_chunks::<FIELDS>();
                    match of_directory(fields, sizes.lines())? {
                        Ok(built) => tables = built,
                        Err(bytes) => refused = Some(LoadError::Alloc { bytes }),
                    }
                }
                return Some(0);
            }
            let count = tables.get_mut(shard)?.set_words(line, words)?;
            line += 1;
            if line == tables[shard].line_count() {
                (shard, line) = (shard + 1, 0);
            }
            Some(count)
        });
        // Without its tables no file has as many items as its header says.
        if let Some(error) = refused {
            return Err(error);
        }
        let parts = loaded?;
        // Another file may have this name by now.
        if parts.sizes != sizes {
            return Err(LoadError::OtherSizes);
        }
        // Each shard must have all its lines, and as many items as the directory says.
        let (fields, _) = directory.as_chunks::<FIELDS>();
        for (number, table) in tables.iter().enumerate() {
            if table.fields() != fields[number] || number >= shard {
                return Err(LoadError::SpareBits { line: (number * FIELDS / 8) as u64 });
            }
        }
        let shards = tables.into_iter().map(RwLock::new).collect();
        let tables = Self { shards, hasher: parts.hasher };
        let (found, expected) = (parts.capacity, tables.capacity());
        if found != expected {
            return Err(LoadError::Field { field: "capacity", found, expected });
        }
        Ok(tables)
    }

    /// Whether the tables of each shard have equal numbers of positions, so that they can be
    /// merged.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let mut pairs = self.shards.iter().zip(&other.shards);
        pairs.all(|(one, other)| read(one).is_like(&read(other)))
    }

    /// Inserts the items of other tables, which must be like these and have the same hash function.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Error> {
        let of = |shard: RwLock<Table>| shard.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut pairs = self.shards.iter_mut().zip(other.shards);
        pairs.try_for_each(|(one, other)| {
            one.get_mut().unwrap_or_else(PoisonError::into_inner).merge(of(other))
        })
    }

    pub(crate) const fn hasher(&self) -> &AnyStable {
        &self.hasher
    }

    /// Queries entries of one shard, in order.
    pub(crate) fn query(&self, shard: usize, entries: &[Entry], report: impl FnMut(Entry, bool)) {
        self.read(shard).query(entries, report);
    }

    /// The number of items that the tables take before they grow.
    pub(crate) fn capacity(&self) -> u64 {
        self.sum(Table::room).max(1)
    }

    pub(crate) fn items(&self) -> u64 {
        self.sum(Table::items)
    }

    /// The share of the slots that are occupied.
    pub(crate) fn load_factor(&self) -> f64 {
        self.items() as f64 / self.sum(Table::slots) as f64
    }

    /// The probability that a new item is taken for one that is here.
    pub(crate) fn false_positive_rate(&self) -> f64 {
        let sum: f64 = self.shards.iter().map(|shard| read(shard).confusions()).sum();
        sum / f64::from(SHARDS)
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.sum(|table| table.fill().bytes)
    }
}

fn read(shard: &RwLock<Table>) -> RwLockReadGuard<'_, Table> {
    shard.read().unwrap_or_else(PoisonError::into_inner)
}

/// Builds the tables of a directory, which have this number of lines together. Returns `None` if
/// there are no such tables, or the memory that is missing.
fn of_directory(directory: &[[u64; FIELDS]], lines: u64) -> Option<Result<Vec<Table>, u64>> {
    // Before anything is allocated.
    let sum = directory.iter().try_fold(0_u64, |sum, fields| sum.checked_add(fields[0]));
    if sum != Some(lines) {
        return None;
    }
    let mut tables = Vec::with_capacity(directory.len());
    for &fields in directory {
        match Table::of_fields(fields)? {
            Ok(table) => tables.push(table),
            Err(Error::Memory { needed, .. }) => {
                return Some(Err(needed));
            }
            Err(_) => return None,
        }
    }
    Some(Ok(tables))
}

/// One table, which is locked for the length of a batch.
struct Part<'t>(&'t RwLock<Table>);

impl Part<'_> {
    fn table(&self) -> RwLockWriteGuard<'_, Table> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard for Part<'_> {
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Why)> {
        self.table().decide(batch, fresh)
    }

    fn fill(&self) -> Fill {
        self.table().fill()
    }
}

#[cfg(test)]
mod tests {
    use tamis::hash::{HashItem, Rapid, Xxh3, split};
    use tempfile::tempdir;

    use super::*;
    use crate::pipeline::Batch;

    /// Inserts the items from `first` to `end`.
    fn filled(tables: &Tables, items: core::ops::Range<u64>) {
        let mut shards = tables.filters();
        for item in items {
            let hash = tables.hasher.hash_item(&item);
            let entries = &mut [Entry { hash, record: 0 }];
            let batch = Batch { entries, fresh: &mut [false], second: &mut [] };
            let shard = &mut shards[split::shard(hash, SHARDS) as usize];
            shard.decide(batch).map_err(|(_, error)| error).expect("it grows");
        }
    }

    fn load(path: &Path) -> Result<Tables, LoadError> {
        let formats::Geometry::Table(sizes) = formats::Info::open(path)?.geometry() else {
            panic!("a table was saved")
        };
        Tables::load(&formats::Options::new(), path, sizes)
    }

    /// A loaded table gives the same answers, is saved as the same bytes, and grows as the saved
    /// one does.
    #[test]
    fn loaded_tables_are_the_saved_ones() {
        let folder = tempdir().expect("a directory");
        let (path, again) = (folder.path().join("f"), folder.path().join("g"));
        let options = formats::Options::new();
        for (capacity, items) in
            [(None, 0), (None, 300_000), (Some(1), 1000), (Some(200_000), 100_000)]
        {
            let tables = Tables::new(capacity, Rapid::with_seed(7).into()).expect("small");
            filled(&tables, 0..items);
            tables.prepare(&options, &path).expect("space").rename().expect("saved");
            let loaded = load(&path).expect("valid");
            loaded.prepare(&options, &again).expect("space").rename().expect("saved");
            let read = |path| std::fs::read(path).expect("saved");
            assert!(read(&path) == read(&again));
            // Both get the same items.
            filled(&tables, items..2 * items + 5);
            filled(&loaded, items..2 * items + 5);
            assert_eq!((tables.items(), loaded.items()), (2 * items + 5, 2 * items + 5));
            for item in 0..4 * items + 10 {
                let hash = tables.hasher.hash_item(&item);
                let shard = split::shard(hash, SHARDS) as usize;
                loaded.query(shard, &[Entry { hash, record: 0 }], |_, found| {
                    assert_eq!(found, item < 2 * items + 5, "{item}");
                });
            }
        }
    }

    /// The room of a table is what the specification says, and a file with any other capacity is
    /// refused.
    #[test]
    fn a_capacity_that_does_not_follow_from_the_sizes_is_refused() {
        let folder = tempdir().expect("a directory");
        let path = folder.path().join("f");
        for (capacity, items) in [(None, 0), (None, 90_000), (Some(1), 9), (Some(300_000), 1000)] {
            let tables = Tables::new(capacity, Rapid::with_seed(7).into()).expect("small");
            filled(&tables, 0..items);
            let room = |table: &RwLock<Table>| {
                let [lines, _, bits] = read(table).fields();
                24 * lines * (512 / (32 + bits)) / 25
            };
            let expected: u64 = tables.shards.iter().map(room).sum();
            assert_eq!(tables.capacity(), expected);
            let options = formats::Options::new();
            tables.prepare(&options, &path).expect("space").rename().expect("saved");
            assert!(load(&path).is_ok());
            let bytes = std::fs::read(&path).expect("saved");
            for wrong in [1, expected / 4, expected - 1, expected + 1, 4 * expected, u64::MAX >> 1]
            {
                let mut bytes = bytes.clone();
                bytes[104..112].copy_from_slice(&wrong.to_le_bytes());
                let checksum = Xxh3::with_seed(0).hash_bytes(&bytes[..248]);
                bytes[248..256].copy_from_slice(&checksum.to_le_bytes());
                std::fs::write(&path, bytes).expect("written");
                // The library does not know the bits of the rests, and refuses what no bits would
                // give.
                let possible = formats::Info::open(&path).is_ok();
                assert_eq!(possible, wrong.abs_diff(expected) == 1, "{wrong} {expected}");
                let sizes = TableSizes::new(lines_of(&tables)).expect("saved");
                assert!(Tables::load(&options, &path, sizes).is_err(), "{wrong} {expected}");
            }
        }
    }

    fn lines_of(tables: &Tables) -> u64 {
        tables.sum(Table::line_count)
    }

    /// A directory that does not fit the header is refused before anything is allocated.
    #[test]
    fn directories_that_do_not_fit_are_refused() {
        let good = [[7, 0, 17]; SHARDS as usize];
        let refused = |change: fn(&mut [[u64; FIELDS]])| {
            let mut directory = good;
            change(&mut directory);
            of_directory(&directory, 7 * 64).is_none()
        };
        assert!(!refused(|_| ()));
        assert!(refused(|directory| directory[3][0] = 8));
        assert!(refused(|directory| directory[3][0] = u64::MAX));
        assert!(refused(|directory| directory[0][0] = 0));
        assert!(refused(|directory| (directory[0][0], directory[1][0]) = (14, 0)));
        assert!(refused(|directory| directory[63][1] = 7 * 10 + 1));
        assert!(refused(|directory| directory[63][2] = 25));
        assert!(refused(|directory| directory[63][2] = u64::MAX));
    }
}
