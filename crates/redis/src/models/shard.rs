//! A shard in memory. Its commands are atomic, as those of a server.

use core::fmt;

use super::Defect;
use crate::wire::round::{Item, Reply};
use crate::wire::tag::State;

/// The slices that the shard can have.
pub(super) const SLICES: u32 = 4;

/// A command that clients send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Command {
    /// Reads the tag of a slice, and whether it has the items.
    Read(u32),
    /// Reads the tag.
    Tag(u32),
    /// Reads the tag and sets the bits.
    Set(u32),
    /// Reads the tag and sets the bits, unless the slice is gone. If it is open and the item
    /// new, closes it and creates the next.
    Count(u32),
    /// Closes a slice and creates the next. The reply has the state `Closed` if there is a
    /// next one.
    Grow(u32),
    /// Of a planted defect: creates the next slice.
    Create(u32),
    /// Of a planted defect: closes a slice.
    Close(u32),
}

/// The key of a slice. A key without a tag is gone, and may have bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    state: State,
    /// Bit `i`: all bits of item `i` are set. No two items share one.
    items: u8,
}

const NO_KEY: Key = Key { state: State::Gone, items: 0 };

/// The keys, and what is true of their bits. A failover takes both back.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Shard {
    keys: [Key; SLICES as usize],
    /// The inserts that set bits in a key which was open, and that were the first: their verdict is
    /// `true`.
    winners: u16,
    /// The inserts that set bits in a key with a tag, and that were the first.
    stored: u16,
}

impl Shard {
    /// Returns a shard that has grown up to a slice. `present`: whether slice 0 has item
    /// 0.
    pub(super) fn new(open: u32, present: bool) -> Self {
        let mut keys = [NO_KEY; SLICES as usize];
        for (number, key) in (0..=open).zip(&mut keys) {
            key.state = if number == open { State::Open } else { State::Closed };
        }
        keys[0].items = u8::from(present);
        Self { keys, winners: 0, stored: 0 }
    }

    /// Executes a command of a client.
    pub(super) fn execute(
        &mut self,
        client: usize,
        command: Command,
        items: &[Item],
        defect: Defect,
    ) -> Reply {
        match command {
            Command::Read(number) => {
                let Key { state, items: found } = self.keys[number as usize];
                (state, items.iter().map(|item| found & bit(item.hash) != 0).collect())
            }
            Command::Tag(number) => (self.keys[number as usize].state, Vec::new()),
            Command::Set(number) => {
                let key = &mut self.keys[number as usize];
                let mut new = Vec::new();
                for item in items {
                    let first = key.items & bit(item.hash) == 0;
                    new.push(first);
                    key.items |= bit(item.hash);
                    let insert = insert(client, item.number);
                    self.winners |= if first && key.state == State::Open { insert } else { 0 };
                    self.stored |= if first && key.state != State::Gone { insert } else { 0 };
                }
                (key.state, new)
            }
            Command::Count(number) => {
                if self.keys[number as usize].state == State::Gone {
                    return (State::Gone, vec![false]);
                }
                let reply = self.execute(client, Command::Set(number), items, defect);
                let is_last = number + 1 == SLICES;
                if reply == (State::Open, vec![true]) && !is_last {
                    self.execute(client, Command::Grow(number), items, defect);
                }
                reply
            }
            Command::Grow(number) => {
                let grows = self.keys[number as usize].state == State::Open;
                if grows {
                    let kept = if defect == Defect::GrowthKeepsBits { !0 } else { 0 };
                    let next = &mut self.keys[number as usize + 1];
                    *next = Key { state: State::Open, items: next.items & kept };
                    self.keys[number as usize].state = State::Closed;
                }
                (self.keys[number as usize].state, Vec::new())
            }
            Command::Create(number) => {
                self.keys[number as usize + 1] = Key { state: State::Open, items: 0 };
                (State::Closed, Vec::new())
            }
            Command::Close(number) => {
                self.keys[number as usize].state = State::Closed;
                (State::Closed, Vec::new())
            }
        }
    }

    /// Removes a key.
    pub(super) const fn evict(&mut self, number: u32) {
        self.keys[number as usize] = NO_KEY;
    }

    pub(super) fn has_tag(&self, number: u32) -> bool {
        self.keys[number as usize].state != State::Gone
    }

    /// Returns the number of closed slices before the first that is not closed.
    pub(super) fn closed(&self) -> usize {
        self.keys.iter().take_while(|key| key.state == State::Closed).count()
    }

    /// Returns whether a part of the filter is gone.
    pub(super) fn is_broken(&self) -> bool {
        self.keys.get(self.closed()).is_none_or(|key| key.state == State::Gone)
    }

    /// Returns whether an item is in the filter.
    pub(super) fn contains(&self, item: u64) -> bool {
        let tagged = self.keys[..(self.closed() + 1).min(self.keys.len())].iter();
        tagged.filter(|key| key.state != State::Gone).any(|key| key.items & bit(item) != 0)
    }

    /// Returns whether an insert got its `true` from bits that are still there.
    pub(super) const fn is_winner(&self, client: usize, number: usize) -> bool {
        self.winners & insert(client, number) != 0
    }

    /// Returns whether an insert was the first to set bits in a part of the filter, and these are
    /// still there.
    pub(super) const fn is_stored(&self, client: usize, number: usize) -> bool {
        self.stored & insert(client, number) != 0
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keys.iter().try_for_each(|key| write!(f, " {:?}:{:02b}", key.state, key.items))
    }
}

/// Returns the bit of an item.
const fn bit(item: u64) -> u8 {
    1 << item
}

/// Returns the bit of an insert: an item of the batch of a client.
const fn insert(client: usize, number: usize) -> u16 {
    1 << (2 * client + number)
}
