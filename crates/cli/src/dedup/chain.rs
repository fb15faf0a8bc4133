//! One shard: filters in a chain, which grows by what the shard has seen and nothing else.

use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, BuildError, OnceBloomFilter, OnceCuckooFilter};

use super::levels::{Level, Levels, Refusal};
use crate::geometry::Geometry;
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
    /// error the record at which it happened, with those before it decided. Of the batch nothing is left.
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Error)>;

    /// The items that each slice has taken in.
    fn fills(&self) -> Vec<u64>;
}

/// An empty shard with its first slice.
pub(super) fn new<'l>(levels: &'l Levels, kind: Kind) -> Result<Box<dyn Shard + 'l>, Error> {
    Ok(match kind {
        Kind::Blocked => Box::new(Chain::<BlockedBloomFilter<[u8], Rapid>>::new(levels)?),
        Kind::Once => Box::new(Chain::<OnceBloomFilter<[u8], Rapid>>::new(levels)?),
        Kind::Bloom => Box::new(Chain::<BloomFilter<[u8], Rapid>>::new(levels)?),
        Kind::Cuckoo => Box::new(Chain::<OnceCuckooFilter<[u8], Rapid>>::new(levels)?),
    })
}

/// A filter that is asked and told from one thread at a time.
trait Slice: Send + Sized {
    fn build(level: &Level) -> Result<Self, BuildError>;
    fn prefetch(&self, hash: u64);
    fn has(&self, hash: u64) -> bool;
    fn has_many(&self, hashes: impl Iterator<Item = u64>, told: impl FnMut(usize, bool));
    /// Whether it is new; then it is in. None: there is no room for it, and nothing has changed.
    fn add(&mut self, hash: u64) -> Option<bool>;
    /// Adds all, in order, and tells of each whether it is new; or none, if one may find no room. How many it added.
    fn add_many(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        told: impl FnMut(usize, bool),
    ) -> usize;
}

/// What all kinds have in common. Only hashes go in and out: the hasher is not used.
macro_rules! made_of_hashes {
    ($filter:ident, $sizes:ident) => {
        fn build(level: &Level) -> Result<Self, BuildError> {
            let Geometry::$sizes(geometry) = level.geometry else {
                return Err(BuildError::Layout);
            };
            $filter::<[u8]>::builder().like(geometry).hasher(Rapid::with_seed(0)).build()
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
        fn has_many(&self, hashes: impl Iterator<Item = u64>, told: impl FnMut(usize, bool)) {
            self.contains_hashes(hashes, told);
        }
    };
}

macro_rules! bloom {
    ($($filter:ident)*) => {$(
        impl Slice for $filter<[u8], Rapid> {
            made_of_hashes!($filter, Bloom);

            #[inline]
            fn add(&mut self, hash: u64) -> Option<bool> {
                Some(self.get_mut().insert_hash(hash))
            }

            #[inline]
            fn add_many(
                &mut self,
                hashes: impl ExactSizeIterator<Item = u64>,
                told: impl FnMut(usize, bool),
            ) -> usize {
                let count = hashes.len();
                self.get_mut().insert_hashes(hashes, told);
                count
            }
        }
    )*};
}

bloom!(BlockedBloomFilter OnceBloomFilter BloomFilter);

impl Slice for OnceCuckooFilter<[u8], Rapid> {
    made_of_hashes!(OnceCuckooFilter, Cuckoo);

    #[inline]
    fn add(&mut self, hash: u64) -> Option<bool> {
        self.insert_hash(hash).ok()
    }

    #[inline]
    fn add_many(
        &mut self,
        _: impl ExactSizeIterator<Item = u64>,
        _: impl FnMut(usize, bool),
    ) -> usize {
        0
    }
}

struct Chain<'l, F> {
    levels: &'l Levels,
    /// Full slices, oldest first, and the items in each.
    older: Vec<F>,
    fills: Vec<u64>,
    newest: F,
    /// Items in the newest slice, and how many more it takes.
    items: u64,
    room: u64,
}

impl<'l, F: Slice> Chain<'l, F> {
    fn new(levels: &'l Levels) -> Result<Self, Error> {
        let (newest, room) = Self::slice(levels, 0)?;
        Ok(Self { levels, older: Vec::new(), fills: Vec::new(), newest, items: 0, room })
    }

    /// Whether the item, which the slices before `asked` do not have, is new; then it is in.
    #[inline]
    fn insert(&mut self, hash: u64, asked: usize) -> Result<bool, Error> {
        if self.older[asked..].iter().any(|slice| slice.has(hash)) {
            return Ok(false);
        }
        loop {
            if self.room > 0 {
                // A slice that refuses is full, whatever room is left: the next one takes the item.
                if let Some(new) = self.newest.add(hash) {
                    self.items += u64::from(new);
                    self.room -= u64::from(new);
                    return Ok(new);
                }
            } else if self.newest.has(hash) {
                return Ok(false);
            }
            self.grow()?;
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let (slice, room) = Self::slice(self.levels, self.older.len() + 1)?;
        self.older.push(core::mem::replace(&mut self.newest, slice));
        self.fills.push(core::mem::replace(&mut self.items, 0));
        self.room = room;
        Ok(())
    }

    /// The empty slice with this number, and the items that it takes.
    fn slice(levels: &Levels, number: usize) -> Result<(F, u64), Error> {
        let refused = |refusal| levels.error(number, refusal);
        let level = levels.get(number).map_err(refused)?;
        let slice = F::build(&level).map_err(|error| refused(Refusal::Sizes(error)))?;
        Ok((slice, level.items))
    }
}

impl<F: Slice> Shard for Chain<'_, F> {
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Error)> {
        // The largest first, which leaves the fewest to the others. What a slice has now it has later, and only
        // the newest changes.
        let mut left = batch.len();
        for slice in self.older.iter().rev() {
            let asked = &batch[..left];
            slice.has_many(asked.iter().map(|entry| entry.hash), |number, found| {
                fresh[asked[number].record as usize] = !found;
            });
            left = keep(&mut batch[..left], |entry| fresh[entry.record as usize]);
        }
        let batch = &batch[..left];
        let mut added = 0;
        if self.room >= left as u64 {
            let mut new = 0;
            added = self.newest.add_many(batch.iter().map(|entry| entry.hash), |number, is_new| {
                fresh[batch[number].record as usize] = is_new;
                new += u64::from(is_new);
            });
            self.items += new;
            self.room -= new;
        }
        let asked = self.older.len();
        let batch = &batch[added..];
        batch.iter().for_each(|entry| self.newest.prefetch(entry.hash));
        for entry in batch {
            let new = self.insert(entry.hash, asked).map_err(|error| (entry.record, error))?;
            fresh[entry.record as usize] = new;
        }
        Ok(())
    }

    fn fills(&self) -> Vec<u64> {
        self.fills.iter().copied().chain([self.items]).collect()
    }
}

/// Brings those to be kept to the front, in order; how many they are.
fn keep(batch: &mut [Entry], is_kept: impl Fn(Entry) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..batch.len() {
        batch[kept] = batch[at];
        kept += usize::from(is_kept(batch[at]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use tamis::hash::HashItem;

    use super::*;
    use crate::dedup::Options;

    const ITEMS: u64 = 80_000;

    /// Verdicts on some items that come twice, decided in batches of this size, and the fills.
    ///
    /// The first slice is told that there is no end to its room, so that it comes to refuse.
    fn decided(levels: &Levels, batch: usize) -> (Vec<bool>, Vec<u64>) {
        let mut chain = Chain::<OnceCuckooFilter<[u8], Rapid>>::new(levels).expect("small");
        chain.room = u64::MAX;
        let hasher = Rapid::with_seed(1);
        let hashes: Vec<u64> = (0..ITEMS).map(|item| hasher.hash_item(&item)).collect();
        let mut verdicts = Vec::new();
        for hashes in [&hashes[..], &hashes].concat().chunks(batch) {
            let mut entries: Vec<Entry> =
                (0..).zip(hashes).map(|(record, &hash)| Entry { hash, record }).collect();
            let mut fresh = vec![false; hashes.len()];
            chain.decide(&mut entries, &mut fresh).map_err(|(_, error)| error).expect("it grows");
            verdicts.extend(fresh);
        }
        (verdicts, chain.fills())
    }

    #[test]
    fn a_slice_that_refuses_is_full() {
        let options = Options { kind: Kind::Cuckoo, ..Options::default() };
        let levels = Levels::new(&options).expect("small");
        let (verdicts, fills) = decided(&levels, 1);
        let (first, again) = verdicts.split_at(ITEMS as usize);
        assert!(first.iter().all(|&new| new) && !again.iter().any(|&new| new));
        // It refused, after more than it was made for; those after it were as large as ever.
        let made_for = levels.get(0).expect("small").items;
        assert!((made_for + 1..2 * made_for).contains(&fills[0]), "{fills:?}");
        assert_eq!(fills[1], levels.get(1).expect("small").items);
        assert_eq!(fills.iter().sum::<u64>(), ITEMS);
        for batch in [7, 1000, 40_000] {
            assert!(decided(&levels, batch) == (verdicts.clone(), fills.clone()), "{batch}");
        }
    }
}
