//! The filters of one shard: one for the keys seen and, if repeated records are printed, one for
//! the keys printed.

use tamis::hash::{HashItem, Rapid};

use super::shard::{Fill, Shard};
use super::store::Store;
use crate::error::{Error, Why};
use crate::pipeline::{Batch, Entry};

/// The seed with which the second filter hashes the hashes of the first.
const SECOND: u64 = 2;

/// The filters of one shard.
pub(crate) struct Filters<'s> {
    /// Contains the keys seen.
    seen: Box<dyn Shard + 's>,
    /// Contains the keys seen again, which have been printed.
    again: Option<Box<dyn Shard + 's>>,
    /// The entries of a batch that are not the first of their keys.
    others: Vec<Entry>,
}

impl<'s> Filters<'s> {
    /// Builds the filters of the shard with this number; two if repeated records are printed.
    pub(super) fn new(store: &'s Store, shard: usize, repeated: bool) -> Result<Self, Error> {
        let again = if repeated { Some(store.shard(shard)?) } else { None };
        Ok(Self { seen: store.shard(shard)?, again, others: Vec::new() })
    }

    /// Keeps the keys seen in this shard, whatever it is.
    pub(crate) fn of(seen: Box<dyn Shard + 's>) -> Self {
        Self { seen, again: None, others: Vec::new() }
    }

    /// Decides a batch, in order. On an error, returns the record at which it happened; the records
    /// before it are decided. Overwrites the batch.
    pub(super) fn decide(&mut self, batch: Batch<'_>) -> Result<(), (u32, Why)> {
        let Batch { entries, fresh, second } = batch;
        let Self { seen, again, others } = self;
        let Some(again) = again else { return seen.decide(entries, fresh) };
        // Copy the batch, which the first filter overwrites.
        others.clear();
        others.extend_from_slice(entries);
        let seen = seen.decide(entries, fresh);
        // The records that the first filter contained go to the second. Records after an error were
        // not decided, so the second filter must not insert them.
        let end = seen.as_ref().err().map_or(u32::MAX, |&(record, _)| record);
        others.retain(|entry| entry.record < end && !fresh[entry.record as usize]);
        // With the same hash, the second filter would err where the first does. Suppose the first
        // filter took item A for item B: then A would go into the second filter, which would take B
        // for A when B is repeated. That would happen more often than the rate allows.
        let hasher = Rapid::with_seed(SECOND);
        others.iter_mut().for_each(|entry| entry.hash = hasher.hash_item(&entry.hash));
        again.decide(others, second).and(seen)
    }

    /// How much the filter of keys seen contains, and the filter of keys printed, if there is one.
    pub(super) fn fills(&self) -> (Option<Fill>, Option<Fill>) {
        (Some(self.seen.fill()), self.again.as_ref().map(|again| again.fill()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::options::{Filter, Options};
    use crate::kind::Kind;

    /// If the first filter is full, the records after that are not passed to the second filter,
    /// which may be full too: its error would hide the place of the first.
    #[test]
    fn the_first_record_that_finds_no_room_is_reported() {
        // A rate that leaves nothing for a second slice.
        let rate = 2.5 * Kind::Cuckoo.lowest_rate(10_000);
        let filter = Filter::Chain { kind: Kind::Cuckoo, rate };
        let options =
            Options { filter, capacity: Some(640_000), repeated: true, ..Options::default() };
        let store = Store::new(&options).expect("small");
        let Store::Chain(growth) = &store else { panic!("a chain was asked for") };
        // There is one slice only. With older slices, undecided records are never passed to the
        // second filter.
        assert!(growth.get(1).is_err());
        let room = growth.get(0).expect("small").items;
        let mut filters = Filters::new(&store, 0, true).expect("small");
        let hasher = Rapid::with_seed(1);
        let mut decide = |items: core::ops::Range<u64>| {
            let mut entries: Vec<Entry> = (0..)
                .zip(items)
                .map(|(record, item)| Entry { hash: hasher.hash_item(&item), record })
                .collect();
            let (fresh, second) =
                (&mut vec![false; entries.len()], &mut vec![false; entries.len()]);
            let batch = Batch { entries: &mut entries, fresh, second };
            filters.decide(batch).map_err(|(record, _)| record)
        };
        assert_eq!(decide(0..room), Ok(()));
        assert_eq!(decide(0..room - 10), Ok(()));
        assert_eq!(decide(room - 1..room + 1000), Err(1));
    }
}
