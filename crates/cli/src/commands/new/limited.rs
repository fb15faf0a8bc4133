//! Stops `tamis new` before the record that a filter has no room for.
//!
//! Nothing that is not printed may be inserted, and a filter of bits cannot remove items. The
//! shards insert the records of several chunks at the same time, so they decide a chunk only if all
//! records under way have room, even if all are new. From the first chunk on that may go beyond,
//! chunks are decided one by one and in input order. A cuckoo filter refuses items itself, and
//! nobody knows which one is the first, so all its chunks are decided so.

use core::iter;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dedup::Sharded;
use crate::error::Why;
use crate::filters::{AnyFilter, Room};
use crate::pipeline::{Batch, Chunk, Turnstile};

/// The shards of a filter of fixed size, and how many items it takes.
pub(super) struct Limited<'f> {
    sharded: Sharded<'f>,
    filter: &'f AnyFilter,
    /// The name of the filter in messages.
    name: String,
    /// The room, or `None` if the filter refuses items itself.
    room: Option<Room>,
    /// The items of the filter, if all records of the chunks in the shards are new.
    items: Mutex<u64>,
    entrance: Turnstile<Entrance>,
    /// Whether a record was refused. Nothing after it is decided.
    exit: Turnstile<bool>,
}

/// What is known when a chunk enters.
#[derive(Default)]
struct Entrance {
    /// Whether the chunks from here on are decided one by one.
    one_by_one: bool,
    /// Whether a chunk before was cut, because the input is wrong after its last record.
    cut: bool,
}

impl<'f> Limited<'f> {
    /// Takes the shards of a filter. The number of items in it is an estimate.
    pub(super) fn new(
        sharded: Sharded<'f>,
        filter: &'f AnyFilter,
        name: String,
        room: Option<Room>,
    ) -> Self {
        // The conversion saturates: the estimate of a filter with all bits set is infinite.
        let items = Mutex::new(filter.described().items().round() as u64);
        let (entrance, exit) = (Turnstile::new(Entrance::default()), Turnstile::new(false));
        Self { sharded, filter, name, room, items, entrance, exit }
    }

    fn items(&self) -> MutexGuard<'_, u64> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides a chunk in input order, while no other is decided. Returns the first record that has
    /// no room, and why.
    fn decide_in_order(&self, batch: Batch<'_>) -> Option<(u32, Why)> {
        let Some(room) = self.room else { return self.decide_each(batch) };
        let Batch { entries, fresh, .. } = batch;
        let Room { items: most, rate } = room;
        let mut items = self.items();
        let mut left = &*entries;
        while !left.is_empty() {
            let room = most.saturating_sub(*items);
            if room == 0 {
                let absent = left.iter().find(|entry| !self.filter.contains(entry.hash))?;
                let why = Why::Overfull { filter: self.name.clone(), items: most, rate };
                return Some((absent.record, why));
            }
            // As many records as have room even if all are new.
            let count = left.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (part, rest) = left.split_at(count);
            self.filter.insert_new(part.iter().map(|entry| entry.hash), |number, new| {
                let new = new.unwrap_or(false);
                fresh[part[number].record as usize] = new;
                *items += u64::from(new);
            });
            left = rest;
        }
        None
    }

    /// The same for a filter that refuses items itself: nothing after the first such item is
    /// inserted.
    fn decide_each(&self, Batch { entries, fresh, .. }: Batch<'_>) -> Option<(u32, Why)> {
        entries.iter().find_map(|entry| {
            let mut refused = None;
            self.filter.insert_new(iter::once(entry.hash), |_, new| match new {
                Ok(new) => fresh[entry.record as usize] = new,
                Err(error) => refused = Some((entry.record, Why::Insert(error))),
            });
            refused
        })
    }

    /// Decides a chunk.
    pub(super) fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        let count = chunk.batch().entries.len() as u64;
        // Decide in the order of the chunks whether this one may go through the shards.
        let Some(mut entrance) = self.entrance.enter(chunk.turn) else { return };
        let after_cut = entrance.cut;
        entrance.cut |= chunk.is_cut();
        let mut items = self.items();
        let most = self.room.map_or(0, |room| room.items);
        entrance.one_by_one |= items.checked_add(count).is_none_or(|items| items > most);
        let one_by_one = entrance.one_by_one;
        if !one_by_one {
            *items += count;
        }
        drop(items);
        drop(entrance);

        if !one_by_one {
            self.sharded.decide(chunk, failed);
        }
        // When a chunk enters here, all chunks before it are decided, and the number of items is
        // exact for them.
        let Some(mut refused) = self.exit.enter(chunk.turn) else { return };
        if !one_by_one {
            let Batch { entries, fresh, .. } = chunk.batch();
            let new = entries.iter().filter(|entry| fresh[entry.record as usize]).count();
            *self.items() -= count - new as u64;
        } else if !after_cut
            && !*refused
            && !failed()
            && let Some((record, why)) = self.decide_in_order(chunk.batch())
        {
            *refused = true;
            chunk.stop(record, why);
        }
    }
}
