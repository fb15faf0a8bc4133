//! A shard with epochs in memory, and the scripts of `window/scripts.rs`, line by line.

use core::fmt;
use std::collections::BTreeMap;

use super::Defect;
use crate::window::{Epoch, Epochs, Reply, Window};
use crate::wire::tag::Identity;

const IDENTITY: Identity = Identity::of_random(77);

/// An epoch of two ticks.
pub(super) const WINDOW: Window = Window::of_millis(6);

/// The slices that an epoch can have.
pub(super) const SLICES: u32 = 2;

/// How long after its epoch a key is there.
const MARGIN: i64 = 1;

/// The bits of a slice. No two items share one: bit `i` stands for all bits of item `i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    items: u8,
    expires: i64,
}

/// When an item was stored, by clocks that nobody sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stored {
    pub(super) at: Time,
    /// The insert: its client, and its number there.
    pub(super) by: (usize, usize),
}

/// The time that has passed, and by how much the clock was set ahead and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Time {
    pub(super) passed: i64,
    pub(super) ahead: i64,
    pub(super) back: i64,
}

/// The keys, and what is true of their bits. A failover takes all of it back.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Shard {
    list: Option<Epochs>,
    keys: BTreeMap<(u64, u32), Key>,
    /// When each item was new the last time.
    pub(super) stored: [Option<Stored>; 2],
}

impl Shard {
    /// Creates the first epoch.
    pub(super) fn new(now: i64) -> Self {
        let mut shard = Self { list: Some(first(now)), keys: BTreeMap::new(), stored: [None; 2] };
        shard.create((0, 0), now, Defect::None);
        shard
    }

    /// Returns the list.
    pub(super) const fn list(&self) -> Option<&Epochs> {
        self.list.as_ref()
    }

    /// Returns the items of a slice, if it has not expired.
    pub(super) fn read(&mut self, key: (u64, u32), now: i64) -> Option<u8> {
        if self.keys.get(&key).is_some_and(|key| now >= key.expires) {
            self.keys.remove(&key);
        }
        self.keys.get(&key).map(|key| key.items)
    }

    /// Inserts an item. `named`: the list whose keys the client names; `begins`: whether it names
    /// the next epoch, too.
    pub(super) fn insert(
        &mut self,
        named: &Epochs,
        begins: bool,
        item: u64,
        (now, stored): (i64, Stored),
        defect: Defect,
    ) -> Reply {
        // 1. The version.
        if self.list.as_ref() != Some(named) && (self.list.is_none() || defect != Defect::NoVersion)
        {
            return Reply::Other(self.list.clone());
        }
        let mut list = named.list().to_vec();

        // 2. A clock that was set back.
        let before = list.clone();
        let mut newest = named.newest().start;
        if now < newest && defect != Defect::NoShift {
            list.iter_mut().for_each(|epoch| epoch.start -= newest - now);
            if defect != Defect::LostIsFrozen {
                self.list = Some(Epochs::new(IDENTITY, list.clone()));
            }
            newest = now;
        }

        // 3. The keys of the epochs that are live.
        let life = match defect {
            Defect::ShortLife => WINDOW.life() - WINDOW.epoch(),
            _ => WINDOW.life(),
        };
        let is_live = |epoch: &Epoch| now < epoch.start + life.cast_signed();
        let (mut keys, mut due) = (Vec::new(), Vec::new());
        for epoch in &list {
            for slice in 0..=epoch.open {
                let key = (epoch.number, slice);
                if !is_live(epoch) {
                    due.push(key);
                } else if self.read(key, now).is_none() && defect != Defect::MissingIsEmpty {
                    return Reply::Lost(slice);
                } else {
                    keys.push(key);
                }
            }
        }
        if list != before {
            self.list = Some(Epochs::new(IDENTITY, list.clone()));
        }

        // 4. The next epoch.
        if now >= newest + WINDOW.epoch().cast_signed() {
            if !begins {
                return Reply::Ended;
            }
            due.iter().for_each(|key| _ = self.keys.remove(key));
            let number = named.newest().number + 1;
            let start = match defect {
                Defect::BeginsLate => newest + WINDOW.epoch().cast_signed(),
                _ => now,
            };
            self.create((number, 0), start, defect);
            list.retain(is_live);
            list.push(Epoch { number, start, open: 0 });
            self.list = Some(Epochs::new(IDENTITY, list.clone()));
            keys.push((number, 0));
        }

        // 5. The item.
        let open = keys.pop().expect("the newest epoch is live");
        let bit = 1 << item;
        let known =
            keys.iter().any(|key| self.keys.get(key).is_some_and(|key| key.items & bit != 0));
        let mut new = false;
        if !known || defect == Defect::Refreshes {
            let none = Key { items: 0, expires: i64::MAX };
            let key = self.keys.entry(open).or_insert(none);
            new = !known && key.items & bit == 0;
            key.items |= bit;
        }
        if new {
            self.stored[item as usize] = Some(stored);
        }
        let ones = if new { u64::from(self.keys[&open].items.count_ones()) } else { 0 };
        Reply::Done(Some(Epochs::new(IDENTITY, list)), vec![new], Some(ones))
    }

    /// Grows the newest epoch. Returns the list as it is now.
    pub(super) fn grow(&mut self, named: &Epochs, defect: Defect) -> Option<Epochs> {
        let same = self.list.as_ref() == Some(named);
        if same || (self.list.is_some() && defect == Defect::GrowthNoVersion) {
            let grown = named.grown(IDENTITY);
            let Epoch { number, start, open } = grown.newest();
            self.create((number, open), start, defect);
            self.list = Some(grown);
        }
        self.list.clone()
    }

    /// Creates the empty key of an epoch with this start.
    fn create(&mut self, key: (u64, u32), start: i64, defect: Defect) {
        let margin = if defect == Defect::NoMargin { 0 } else { MARGIN };
        let expires = start + WINDOW.life().cast_signed() + margin;
        self.keys.insert(key, Key { items: 0, expires });
    }

    /// Returns the keys that the server may delete at this time.
    pub(super) fn expired(&self, now: i64) -> impl Iterator<Item = (u64, u32)> {
        self.keys.iter().filter(move |(_, key)| now >= key.expires).map(|(key, _)| *key)
    }

    /// Returns the keys with bits.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u64, u32)> {
        self.keys.keys().copied()
    }

    /// Removes a key; `None`: the list.
    pub(super) fn remove(&mut self, key: Option<(u64, u32)>) {
        match key {
            Some(key) => _ = self.keys.remove(&key),
            None => self.list = None,
        }
    }
}

/// The first list: what a client knows that knows nothing yet.
pub(super) fn first(now: i64) -> Epochs {
    Epochs::new(IDENTITY, vec![Epoch { number: 0, start: now, open: 0 }])
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.list.as_ref().map_or("no list", |list| &list.text()[16..]))?;
        let mut keys = self.keys.iter();
        keys.try_for_each(|((epoch, slice), key)| {
            write!(f, " {epoch}:{slice}={:02b} until {}", key.items, key.expires)
        })
    }
}
