//! One shard: filters in a chain, which grows by what the shard has seen and nothing else.

use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, BuildError, OnceBloomFilter};

use super::levels::{Level, Levels, Refusal};
use crate::{Error, Kind};

/// A record's key, for the shard that it belongs to.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) hash: u64,
    /// Which record of its chunk.
    pub(super) record: u32,
}

/// One shard, whatever its kind of filter. It is called once for a chunk's items, not once an item.
pub(super) trait Shard: Send {
    /// Says in `fresh`, at the record of each item of the batch, whether it is new, in order. On an
    /// error the record at which it happened, with those before it decided.
    fn decide(&mut self, batch: &[Entry], fresh: &mut [bool]) -> Result<(), (u32, Error)>;

    /// The items that each slice has taken in.
    fn fills(&self) -> Vec<u64>;
}

/// An empty shard with its first slice.
pub(super) fn new<'l>(levels: &'l Levels, kind: Kind) -> Result<Box<dyn Shard + 'l>, Error> {
    Ok(match kind {
        Kind::Blocked => Box::new(Chain::<BlockedBloomFilter<[u8], Rapid>>::new(levels)?),
        Kind::Once => Box::new(Chain::<OnceBloomFilter<[u8], Rapid>>::new(levels)?),
        Kind::Bloom => Box::new(Chain::<BloomFilter<[u8], Rapid>>::new(levels)?),
    })
}

/// A filter that is asked and told from one thread at a time.
trait Slice: Send + Sized {
    fn build(level: &Level) -> Result<Self, BuildError>;
    fn prefetch(&self, hash: u64);
    fn has(&self, hash: u64) -> bool;
    /// Whether it is new.
    fn add(&mut self, hash: u64) -> bool;
}

macro_rules! slice {
    ($filter:ident) => {
        impl Slice for $filter<[u8], Rapid> {
            fn build(level: &Level) -> Result<Self, BuildError> {
                // Only hashes go in and out: the hasher is not used.
                $filter::<[u8]>::builder().like(level.geometry).hasher(Rapid::with_seed(0)).build()
            }

            #[inline]
            fn prefetch(&self, hash: u64) {
                self.prefetch_hash(hash);
            }

            #[inline]
            fn has(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            #[inline]
            fn add(&mut self, hash: u64) -> bool {
                self.get_mut().insert_hash(hash)
            }
        }
    };
}

slice!(BlockedBloomFilter);
slice!(OnceBloomFilter);
slice!(BloomFilter);

struct Chain<'l, F> {
    levels: &'l Levels,
    /// Full slices, oldest first.
    older: Vec<F>,
    newest: F,
    /// Items in the newest slice, and how many more it takes.
    items: u64,
    room: u64,
}

impl<'l, F: Slice> Chain<'l, F> {
    fn new(levels: &'l Levels) -> Result<Self, Error> {
        let level = levels.get(0).map_err(|refusal| levels.error(refusal))?;
        let newest = F::build(&level).map_err(|error| levels.error(Refusal::Sizes(error)))?;
        Ok(Self { levels, older: Vec::new(), newest, items: 0, room: level.items })
    }

    /// Whether the item, which the slices before `asked` do not have, is new; then it is in.
    #[inline]
    fn insert(&mut self, hash: u64, asked: usize) -> Result<bool, Error> {
        if self.older[asked..].iter().any(|slice| slice.has(hash)) {
            return Ok(false);
        }
        if self.room == 0 {
            if self.newest.has(hash) {
                return Ok(false);
            }
            self.grow()?;
        }
        let new = self.newest.add(hash);
        self.items += u64::from(new);
        self.room -= u64::from(new);
        Ok(new)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let levels = self.levels;
        let level = levels.get(self.older.len() + 1).map_err(|refusal| levels.error(refusal))?;
        let slice = F::build(&level).map_err(|error| levels.error(Refusal::Sizes(error)))?;
        self.older.push(core::mem::replace(&mut self.newest, slice));
        self.items = 0;
        self.room = level.items;
        Ok(())
    }
}

impl<F: Slice> Shard for Chain<'_, F> {
    fn decide(&mut self, batch: &[Entry], fresh: &mut [bool]) -> Result<(), (u32, Error)> {
        // Ask about all before deciding any: the questions do not depend on each other, so their
        // cache misses overlap. What a slice has now it has later, and only the newest changes.
        for entry in batch {
            fresh[entry.record as usize] = true;
        }
        for slice in core::iter::once(&self.newest).chain(self.older.iter().rev()) {
            for entry in batch {
                slice.prefetch(entry.hash);
            }
            for entry in batch {
                let fresh = &mut fresh[entry.record as usize];
                *fresh = *fresh && !slice.has(entry.hash);
            }
        }
        let asked = self.older.len();
        for entry in batch {
            let fresh = &mut fresh[entry.record as usize];
            if *fresh {
                *fresh = self.insert(entry.hash, asked).map_err(|error| (entry.record, error))?;
            }
        }
        Ok(())
    }

    fn fills(&self) -> Vec<u64> {
        let full = (0..self.older.len()).map(|number| self.levels.get(number));
        let full = full.map(|level| level.map_or(0, |level| level.items));
        full.chain([self.items]).collect()
    }
}
