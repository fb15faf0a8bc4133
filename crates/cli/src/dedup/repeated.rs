//! The filters of one shard: one of what was seen and, where what is repeated is to be printed, one of what was
//! printed.

use tamis::hash::{HashItem, Rapid};

use super::Options;
use super::chain::{self, Entry, Shard};
use super::levels::Levels;
use crate::Error;

/// The items that each slice of a filter has taken in; none where there is no such filter.
type Fills = Option<Vec<u64>>;

/// What makes another hash of one.
const SECOND: u64 = 2;

pub(super) struct Filters<'l> {
    seen: Box<dyn Shard + 'l>,
    again: Option<Box<dyn Shard + 'l>>,
}

/// What the filters say of each record of a chunk.
#[derive(Default)]
pub(super) struct Verdicts {
    /// Whether it is the first of its key.
    pub(super) fresh: Vec<bool>,
    /// Whether it is the second of its key. Empty unless repeated records are to be printed.
    pub(super) second: Vec<bool>,
    /// Those of a batch that are not the first.
    others: Vec<Entry>,
}

impl<'l> Filters<'l> {
    pub(super) fn new(levels: &'l Levels, options: &Options) -> Result<Self, Error> {
        let new = || chain::new(levels, options.kind);
        let again = if options.repeated { Some(new()?) } else { None };
        Ok(Self { seen: new()?, again })
    }

    /// Decides a batch, in order. On an error the record at which it happened, with those before it decided. Of
    /// the batch nothing is left.
    pub(super) fn decide(
        &mut self,
        batch: &mut [Entry],
        verdicts: &mut Verdicts,
    ) -> Result<(), (u32, Error)> {
        let Verdicts { fresh, second, others } = verdicts;
        let Some(again) = &mut self.again else { return self.seen.decide(batch, fresh) };
        others.clear();
        others.extend_from_slice(batch);
        let seen = self.seen.decide(batch, fresh);
        // What comes after an error is not decided, and so is not to be remembered.
        let end = seen.as_ref().err().map_or(u32::MAX, |&(record, _)| record);
        others.retain(|entry| entry.record < end && !fresh[entry.record as usize]);
        // By the same hash the second filter would err where the first does: an item that the first took for
        // another would stand in its way when that comes again, more often than any rate says.
        let hasher = Rapid::with_seed(SECOND);
        others.iter_mut().for_each(|entry| entry.hash = hasher.hash_item(&entry.hash));
        again.decide(others, second).and(seen)
    }

    /// The fills of what was seen, and of what was printed.
    pub(super) fn fills(&self) -> (Fills, Fills) {
        (Some(self.seen.fills()), self.again.as_ref().map(|again| again.fills()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    /// Where the first filter is full, what comes after is not asked of the second, whose own end would hide the place.
    #[test]
    fn the_first_record_that_finds_no_room_is_named() {
        let options = Options {
            kind: Kind::Cuckoo,
            capacity: Some(640_000),
            rate: 1e-9,
            repeated: true,
            ..Options::default()
        };
        let levels = Levels::new(&options).expect("small");
        // With slices before, what is not decided is not asked of the second filter in any case.
        assert!(levels.get(1).is_err());
        let room = levels.get(0).expect("small").items;
        let mut filters = Filters::new(&levels, &options).expect("small");
        let hasher = Rapid::with_seed(1);
        let mut decide = |items: core::ops::Range<u64>| {
            let mut batch: Vec<Entry> = (0..)
                .zip(items)
                .map(|(record, item)| Entry { hash: hasher.hash_item(&item), record })
                .collect();
            let no = vec![false; batch.len()];
            let mut verdicts = Verdicts { fresh: no.clone(), second: no, others: Vec::new() };
            filters.decide(&mut batch, &mut verdicts).map_err(|(record, _)| record)
        };
        assert_eq!(decide(0..room), Ok(()));
        assert_eq!(decide(0..room - 10), Ok(()));
        assert_eq!(decide(room - 1..room + 1000), Err(1));
    }
}
