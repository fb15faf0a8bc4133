//! The shard, its clock, and its clients: the events that can happen next, and what must be true at
//! the end.

use super::client::{Client, Moment, Task};
use super::shard::{Shard, Time, WINDOW, first};
use super::{Defect, NOT_STORED, STUCK};
use crate::models::client::Outcome;
use crate::models::explore::Model;

/// The time at which a shard is created.
const BEGIN: i64 = 100;

/// What can happen next. The numbers are those of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The server executes the next command of a client.
    Command(usize),
    /// The server executes an insert, and the reply is lost.
    LostReply(usize),
    /// An insert is lost, which the client cannot know.
    LostCommand(usize),
    /// A tick of the clock.
    Tick,
    /// The clock is set by this.
    Set(i64),
    /// A number of commands is taken back, by a server whose clock is off by this.
    Failover(usize, i64),
    /// The server deletes a key that has expired.
    Expiry((u64, u32)),
    /// A key is evicted; `None`: the list.
    Eviction(Option<(u64, u32)>),
}

/// What happens, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Faults {
    pub(super) ticks: u32,
    /// How often the clock is set, and by what.
    pub(super) sets: u32,
    pub(super) by: [i64; 2],
    pub(super) losses: u32,
    pub(super) evictions: u32,
    pub(super) failovers: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    shard: Shard,
    clock: i64,
    time: Time,
    clients: Vec<Client>,
    /// The number of the first client: those that come at the end have others.
    first: usize,
    defect: Defect,
    faults: Faults,
    /// The shard before each of the last commands.
    before: Vec<Shard>,
    /// Whether a key was evicted, or has expired by a clock that was set back later.
    missing: bool,
}

impl World {
    pub(super) fn new(defect: Defect) -> Self {
        Self {
            shard: Shard::new(BEGIN),
            clock: BEGIN,
            time: Time::default(),
            clients: Vec::new(),
            first: 0,
            defect,
            faults: Faults::default(),
            before: Vec::new(),
            missing: false,
        }
    }

    /// Adds a client that inserts items, one after the other.
    pub(super) fn insert(self, items: &[u64]) -> Self {
        self.client(items.iter().map(|item| Task::Insert(*item)).collect())
    }

    /// Adds a client that asks for item 0, again and again.
    pub(super) fn query(self, times: usize) -> Self {
        self.client(vec![Task::Query; times])
    }

    fn client(mut self, tasks: Vec<Task>) -> Self {
        self.clients.push(Client::new(self.first + self.clients.len(), tasks, first(BEGIN)));
        self
    }

    pub(super) const fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    fn execute(&mut self, number: usize, lost: bool) -> Result<(), &'static str> {
        if self.faults.failovers > 0 && self.before.last() != Some(&self.shard) {
            if self.before.len() == 2 {
                self.before.remove(0);
            }
            self.before.push(self.shard.clone());
        }
        let Self { clock: now, time, missing, defect, .. } = *self;
        let moment = Moment { now, time, missing, defect };
        self.clients[number].execute(&mut self.shard, &moment, lost)
    }

    fn set(&mut self, by: i64) {
        self.clock += by;
        self.time.ahead += by.max(0);
        self.time.back += (-by).max(0);
        // A key may have expired by the clock as it was.
        self.missing |= by < -1;
    }

    /// Checks what a new client finds: another item is new, once; after the life of an epoch, item
    /// 0 too.
    fn recovers(&self) -> Result<(), &'static str> {
        let list = self.shard.list().is_some();
        let mut after = Self { clients: Vec::new(), first: 100, ..self.clone() };
        after.faults = Faults::default();
        after.missing = true;
        for _ in 0..2 {
            after = after.insert(&[0, 1, 0]);
            while let Some(event) = after.events().first().copied() {
                after.happen(event)?;
            }
            after.clock += WINDOW.life().cast_signed();
            after.time.passed += WINDOW.life().cast_signed();
        }
        // What is lost before is forgotten.
        let results: Vec<Outcome> =
            after.clients[1].results.iter().map(|(_, outcome)| *outcome).collect();
        let healed = [Outcome::New, Outcome::New, Outcome::Known];
        let expected = if list { &healed } else { &[Outcome::Lost; 3] };
        if results == expected { Ok(()) } else { Err(STUCK) }
    }
}

impl Model for World {
    type Event = Event;

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (number, client) in self.clients.iter().enumerate().filter(|(_, own)| !own.is_done()) {
            events.push(Event::Command(number));
            if self.faults.losses > 0 && client.is_inserting() {
                events.extend([Event::LostReply(number), Event::LostCommand(number)]);
            }
        }
        if events.is_empty() {
            return events;
        }
        if self.faults.ticks > 0 {
            events.push(Event::Tick);
        }
        if self.faults.sets > 0 {
            events.extend(self.faults.by.map(Event::Set));
        }
        events.extend(self.shard.expired(self.clock).map(Event::Expiry));
        if self.faults.evictions > 0 {
            events.extend(self.shard.keys().map(|key| Event::Eviction(Some(key))));
            events.push(Event::Eviction(None));
        }
        if self.faults.failovers > 0 {
            let all = (0..=self.before.len()).flat_map(|back| [-1, 0, 1].map(|by| (back, by)));
            events.extend(all.map(|(back, by)| Event::Failover(back, by)));
        }
        events
    }

    fn happen(&mut self, event: Event) -> Result<(), &'static str> {
        match event {
            Event::Command(client) => self.execute(client, false)?,
            Event::LostReply(client) => {
                self.faults.losses -= 1;
                self.execute(client, true)?;
            }
            Event::LostCommand(client) => {
                self.faults.losses -= 1;
                self.clients[client].lose(self.defect);
            }
            Event::Tick => {
                self.faults.ticks -= 1;
                self.clock += 1;
                self.time.passed += 1;
            }
            Event::Set(by) => {
                self.faults.sets -= 1;
                self.set(by);
            }
            Event::Failover(back, by) => {
                self.faults.failovers -= 1;
                let left = self.before.len() - back;
                if back > 0 {
                    self.shard = self.before[left].clone();
                }
                self.before.truncate(left);
                self.set(by);
                self.clients.iter_mut().for_each(Client::interrupt);
            }
            Event::Expiry(key) => self.shard.remove(Some(key)),
            Event::Eviction(key) => {
                self.faults.evictions -= 1;
                self.shard.remove(key);
                self.missing = true;
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<(), &'static str> {
        // `Lost` states that nothing was stored.
        for (number, client) in self.clients.iter().enumerate() {
            let lost = client.results.iter().filter(|(_, outcome)| *outcome == Outcome::Lost);
            for (insert, _) in lost {
                let by = (number, *insert);
                if self.shard.stored.iter().flatten().any(|stored| stored.by == by) {
                    return Err(NOT_STORED);
                }
            }
        }
        self.recovers()
    }

    fn show(&self, event: Event, after: &Self) -> String {
        format!("{event:?} at {}: {:?}", after.clock, after.shard)
    }
}
