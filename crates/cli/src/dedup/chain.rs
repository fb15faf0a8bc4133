//! One shard: a chain of filters, whose growth depends only on what the shard has seen.

use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, BuildError, OnceBloomFilter, OnceCuckooFilter};

use super::growth::{Growth, Refusal, SliceSpec};
use super::shard::{Fill, Shard, keep};
use crate::error::{Error, Why};
use crate::geometry::Geometry;
use crate::kind::Kind;
use crate::pipeline::Entry;

/// Builds an empty shard with its first slice.
pub(super) fn new<'g>(growth: &'g Growth) -> Result<Box<dyn Shard + 'g>, Error> {
    Ok(match growth.kind() {
        Kind::Blocked => Box::new(Chain::<BlockedBloomFilter<[u8], Rapid>>::new(growth)?),
        Kind::Once => Box::new(Chain::<OnceBloomFilter<[u8], Rapid>>::new(growth)?),
        Kind::Bloom => Box::new(Chain::<BloomFilter<[u8], Rapid>>::new(growth)?),
        Kind::Cuckoo => Box::new(Chain::<OnceCuckooFilter<[u8], Rapid>>::new(growth)?),
    })
}

/// A filter that is used by one thread at a time.
trait Slice: Send + Sized {
    fn build(spec: &SliceSpec) -> Result<Self, BuildError>;
    fn prefetch(&self, hash: u64);
    fn contains(&self, hash: u64) -> bool;
    /// Queries all hashes in order and passes the index and the answer of each to `report`.
    fn contains_many_with(
        &self,
        hashes: impl Iterator<Item = u64>,
        report: impl FnMut(usize, bool),
    );
    /// Inserts the item and returns whether it was new. Returns `None`, and changes nothing, if it
    /// finds no room.
    fn insert(&mut self, hash: u64) -> Option<bool>;
    /// Inserts all items in order, passes to `report` the index of each and whether it was new, and
    /// returns their number. A kind whose inserts may find no room inserts nothing and returns 0.
    fn insert_many_with(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        report: impl FnMut(usize, bool),
    ) -> usize;
}

/// The methods that are the same for all kinds. The filters see only hashes: their own hasher is
/// not used.
macro_rules! common_methods {
    ($filter:ident, $sizes:ident) => {
        fn build(spec: &SliceSpec) -> Result<Self, BuildError> {
            let Geometry::$sizes(geometry) = spec.geometry else {
                return Err(BuildError::Layout);
            };
            $filter::<[u8]>::builder().like(geometry).hasher(Rapid::with_seed(0)).build()
        }

        #[inline]
        fn prefetch(&self, hash: u64) {
            self.by_hash().prefetch(hash);
        }

        #[inline]
        fn contains(&self, hash: u64) -> bool {
            self.by_hash().contains(hash)
        }

        #[inline]
        fn contains_many_with(
            &self,
            hashes: impl Iterator<Item = u64>,
            report: impl FnMut(usize, bool),
        ) {
            self.by_hash().contains_many_with(hashes, report);
        }
    };
}

macro_rules! bloom {
    ($($filter:ident)*) => {$(
        impl Slice for $filter<[u8], Rapid> {
            common_methods!($filter, Bloom);

            #[inline]
            fn insert(&mut self, hash: u64) -> Option<bool> {
                Some(self.get_mut().insert_hash(hash))
            }

            #[inline]
            fn insert_many_with(
                &mut self,
                hashes: impl ExactSizeIterator<Item = u64>,
                report: impl FnMut(usize, bool),
            ) -> usize {
                let count = hashes.len();
                self.get_mut().insert_hashes(hashes, report);
                count
            }
        }
    )*};
}

bloom!(BlockedBloomFilter OnceBloomFilter BloomFilter);

impl Slice for OnceCuckooFilter<[u8], Rapid> {
    common_methods!(OnceCuckooFilter, Cuckoo);

    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        self.by_hash().insert(hash).ok()
    }

    #[inline]
    fn insert_many_with(
        &mut self,
        _: impl ExactSizeIterator<Item = u64>,
        _: impl FnMut(usize, bool),
    ) -> usize {
        0
    }
}

/// The slices of one shard, the newest of which takes inserts.
struct Chain<'g, F> {
    growth: &'g Growth,
    /// The full slices, oldest first.
    older: Vec<F>,
    /// The number of items in each full slice.
    fills: Vec<u64>,
    newest: F,
    /// The number of items in the newest slice.
    items: u64,
    /// How many more items the newest slice takes.
    room: u64,
}

impl<'g, F: Slice> Chain<'g, F> {
    fn new(growth: &'g Growth) -> Result<Self, Error> {
        let (newest, room) = Self::slice(growth, 0)?;
        Ok(Self { growth, older: Vec::new(), fills: Vec::new(), newest, items: 0, room })
    }

    /// Inserts an item that the first `queried` slices do not contain, and returns whether it was
    /// new.
    #[inline]
    fn insert(&mut self, hash: u64, queried: usize) -> Result<bool, Error> {
        // The slices that became full in the course of this batch.
        if self.older[queried..].iter().any(|slice| slice.contains(hash)) {
            return Ok(false);
        }
        loop {
            if self.room > 0 {
                if let Some(new) = self.newest.insert(hash) {
                    self.items += u64::from(new);
                    self.room -= u64::from(new);
                    return Ok(new);
                }
                // A slice that found no place counts as full, even if `room` is left: the next
                // slice takes the item.
            } else if self.newest.contains(hash) {
                return Ok(false);
            }
            self.grow()?;
        }
    }

    /// Adds an empty slice, which becomes the newest.
    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let (slice, room) = Self::slice(self.growth, self.older.len() + 1)?;
        self.older.push(core::mem::replace(&mut self.newest, slice));
        self.fills.push(core::mem::replace(&mut self.items, 0));
        self.room = room;
        Ok(())
    }

    /// Builds the empty slice with this number; returns it and the number of items that it takes.
    fn slice(growth: &Growth, number: usize) -> Result<(F, u64), Error> {
        let to_error = |refusal| growth.error(number, refusal);
        let spec = growth.get(number).map_err(to_error)?;
        let slice = F::build(&spec).map_err(|error| to_error(Refusal::Sizes(error)))?;
        Ok((slice, spec.items))
    }
}

impl<F: Slice> Shard for Chain<'_, F> {
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Why)> {
        // Query the full slices with the whole batch, newest first: it is the largest and leaves
        // the fewest items to the others. Querying them before any insert gives the same answers,
        // since full slices do not change.
        let mut left = batch.len();
        for slice in self.older.iter().rev() {
            let queried = &batch[..left];
            slice.contains_many_with(queried.iter().map(|entry| entry.hash), |number, found| {
                fresh[queried[number].record as usize] = !found;
            });
            left = keep(&mut batch[..left], |entry| fresh[entry.record as usize]);
        }

        // Insert the items that no full slice contains. If the newest slice has room even if all
        // are new, they go in as one batch.
        let batch = &batch[..left];
        let mut inserted = 0;
        if self.room >= left as u64 {
            let mut new = 0;
            let hashes = batch.iter().map(|entry| entry.hash);
            inserted = self.newest.insert_many_with(hashes, |number, is_new| {
                fresh[batch[number].record as usize] = is_new;
                new += u64::from(is_new);
            });
            self.items += new;
            self.room -= new;
        }

        // Otherwise, and for a kind without batch inserts, one by one: any of them may make the
        // chain grow.
        let queried = self.older.len();
        let batch = &batch[inserted..];
        batch.iter().for_each(|entry| self.newest.prefetch(entry.hash));
        for entry in batch {
            let new =
                self.insert(entry.hash, queried).map_err(|error| (entry.record, error.into()))?;
            fresh[entry.record as usize] = new;
        }
        Ok(())
    }

    fn fill(&self) -> Fill {
        let slices: Vec<u64> = self.fills.iter().copied().chain([self.items]).collect();
        let size = |number| self.growth.get(number).map_or(0, |spec| spec.geometry.size_in_bytes());
        Fill { bytes: (0..slices.len()).map(size).sum(), slices }
    }
}

#[cfg(test)]
mod tests {
    use tamis::hash::HashItem;

    use super::*;
    use crate::dedup::Options;

    const ITEMS: u64 = 80_000;

    /// Decides some items twice, in batches of this size; returns the verdicts and the fills.
    ///
    /// The room of the first slice is set to be unlimited, so that it grows full and an insert
    /// finds no place.
    fn decided(growth: &Growth, batch: usize) -> (Vec<bool>, Vec<u64>) {
        let mut chain = Chain::<OnceCuckooFilter<[u8], Rapid>>::new(growth).expect("small");
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
        (verdicts, chain.fill().slices)
    }

    #[test]
    fn a_slice_that_finds_no_place_is_full() {
        let growth = Growth::new(Kind::Cuckoo, 1e-6, &Options::default()).expect("small");
        let (verdicts, fills) = decided(&growth, 1);
        let (first, again) = verdicts.split_at(ITEMS as usize);
        assert!(first.iter().all(|&new| new) && !again.iter().any(|&new| new));
        // The first slice was full only beyond its capacity; the slices after it have their usual
        // sizes.
        let capacity = growth.get(0).expect("small").items;
        assert!((capacity + 1..2 * capacity).contains(&fills[0]), "{fills:?}");
        assert_eq!(fills[1], growth.get(1).expect("small").items);
        assert_eq!(fills.iter().sum::<u64>(), ITEMS);
        for batch in [7, 1000, 40_000] {
            assert!(decided(&growth, batch) == (verdicts.clone(), fills.clone()), "{batch}");
        }
    }
}
