//! The shard and its clients: the events that can happen next, and what must be true at the end.

use super::client::{Client, Outcome, Task};
use super::explore::Model;
use super::shard::{Command, SLICES, Shard};
use super::{Defect, LOOP, MISSED, NO_REASON, NONE, NOT_STORED, STUCK, TWO};
use crate::wire::round::{Inserts, Item, Query};

/// An item that no client inserts before the end.
const FRESH: u64 = 7;

/// What can happen next. The numbers are those of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A client decides what it sends.
    Decision(usize),
    /// The server executes the next command of a client.
    Command(usize),
    /// A client reads its replies.
    Reading(usize),
    /// The server executes the next command of a client, and the reply is lost.
    LostReply(usize),
    /// The next command of a client is lost, which the client cannot know.
    LostCommand(usize),
    /// A client does not reach the server, and knows that its next command was not executed.
    NoConnection(usize),
    /// A number of commands is taken back.
    Failover(usize),
    /// The key of a slice is evicted.
    Eviction(u32),
}

/// What can go wrong, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Faults {
    pub(super) failovers: u32,
    /// The most commands that a failover takes back.
    pub(super) back: usize,
    /// Commands and replies.
    pub(super) losses: u32,
    pub(super) evictions: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) shard: Shard,
    /// What each process takes for the open slice.
    guesses: Vec<u32>,
    clients: Vec<Client>,
    defect: Defect,
    /// What can still go wrong, and the shard before each of the last commands.
    faults: Faults,
    before: Vec<Shard>,
    /// Whether item 0 was there from the start.
    present: bool,
    /// Whether clients read replies late. It matters only if clients share a guess.
    late: bool,
    /// What has gone wrong. `regrown`: a growth was taken back, and the shard has grown again.
    lost: bool,
    failed: bool,
    evicted: bool,
    taken_back: bool,
    regrown: bool,
    /// Whether two winners are a violation after that too.
    strict: bool,
}

impl World {
    /// Returns a shard that has grown up to a slice, and the guesses of processes.
    pub(super) fn new(open: u32, guesses: &[u32]) -> Self {
        Self {
            shard: Shard::new(open, false),
            guesses: guesses.to_vec(),
            clients: Vec::new(),
            defect: Defect::None,
            faults: Faults::default(),
            before: Vec::new(),
            present: false,
            late: false,
            lost: false,
            failed: false,
            evicted: false,
            taken_back: false,
            regrown: false,
            strict: false,
        }
    }

    /// Adds a client that inserts items.
    pub(super) fn insert(self, process: usize, items: &[u64]) -> Self {
        let items = items.iter().enumerate();
        let items: Vec<Item> = items.map(|(number, &hash)| Item { number, hash }).collect();
        self.client(process, Task::Insert(Inserts::new(&items)))
    }

    /// Adds a client that inserts item 0, which counts: the shard grows with it, if it is new.
    pub(super) fn insert_counted(mut self, process: usize) -> Self {
        self = self.insert(process, &[0]);
        self.clients.last_mut().expect("a client").counts = true;
        self
    }

    /// Adds a client that queries item 0.
    pub(super) fn query(self, process: usize) -> Self {
        self.client(process, Task::Query(Query::new(), Item { number: 0, hash: 0 }))
    }

    /// Adds a client that finds these slices full, one after the other.
    pub(super) fn grow(self, process: usize, slices: &[u32]) -> Self {
        let defect = self.defect;
        let commands = slices.iter().flat_map(|&number| match defect {
            Defect::CreatesThenCloses => vec![Command::Create(number), Command::Close(number)],
            Defect::ClosesThenCreates => vec![Command::Close(number), Command::Create(number)],
            _ => vec![Command::Grow(number)],
        });
        let task = Task::Grow(commands.collect());
        self.client(process, task)
    }

    fn client(mut self, process: usize, task: Task) -> Self {
        self.clients.push(Client::new(process, task));
        self
    }

    /// Plants a defect. It comes before the clients.
    pub(super) const fn defect(mut self, defect: Defect) -> Self {
        self.defect = defect;
        self
    }

    pub(super) const fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    pub(super) const fn late(mut self) -> Self {
        self.late = true;
        self
    }

    pub(super) const fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Puts item 0 into slice 0.
    pub(super) fn present(mut self, open: u32) -> Self {
        self.present = true;
        self.shard = Shard::new(open, true);
        self
    }

    fn step(&mut self, event: Event) -> Result<(), &'static str> {
        let defect = self.defect;
        match event {
            Event::Decision(number) => {
                let client = &mut self.clients[number];
                client.decide(self.guesses[client.process], defect)?;
            }
            Event::Command(client) => self.execute(client),
            Event::Reading(number) => {
                let client = &mut self.clients[number];
                client.read(&mut self.guesses[client.process], self.evicted, defect)?;
            }
            Event::LostReply(client) => {
                self.faults.losses -= 1;
                self.lost = true;
                self.execute(client);
                self.clients[client].lose(defect);
            }
            Event::LostCommand(client) => {
                self.faults.losses -= 1;
                self.lost = true;
                self.clients[client].lose(defect);
            }
            Event::NoConnection(client) => {
                self.faults.losses -= 1;
                self.lost = true;
                self.clients[client].disconnect(defect);
            }
            Event::Failover(back) => {
                self.faults.failovers -= 1;
                let closed = self.shard.closed();
                let left = self.before.len() - back;
                self.shard = self.before[left].clone();
                self.before.truncate(if self.faults.failovers > 0 { left } else { 0 });
                self.failed = true;
                self.taken_back |= self.shard.closed() < closed;
                self.clients.iter_mut().for_each(Client::interrupt);
                self.excuse();
            }
            Event::Eviction(number) => {
                self.faults.evictions -= 1;
                self.remember();
                self.shard.evict(number);
                self.evicted = true;
                self.excuse();
            }
        }
        Ok(())
    }

    /// Executes the next command of a client.
    fn execute(&mut self, number: usize) {
        let client = &self.clients[number];
        let command = client.next().expect("a command");
        // A query must find what is there when it begins.
        if client.must_find.is_none() {
            let must_find = self.shard.contains(0) || self.is_acknowledged();
            self.clients[number].must_find = Some(must_find);
        }
        if matches!(command, Command::Set(_) | Command::Count(_) | Command::Grow(_)) {
            self.remember();
        }
        let closed = self.shard.closed();
        let asked = self.clients[number].asked();
        let reply = self.shard.execute(number, command, asked, self.defect);
        self.regrown |= self.taken_back && self.shard.closed() > closed;
        self.clients[number].receive(reply);
    }

    /// Keeps the shard for a failover.
    fn remember(&mut self) {
        if self.faults.failovers > 0 {
            if self.before.len() == self.faults.back {
                self.before.remove(0);
            }
            self.before.push(self.shard.clone());
        }
    }

    /// Bits are lost: queries that have begun may miss them.
    fn excuse(&mut self) {
        for client in &mut self.clients {
            client.must_find = client.must_find.map(|_| false);
        }
    }

    /// Returns whether an insert of item 0 has returned, and no fault excuses its loss.
    fn is_acknowledged(&self) -> bool {
        let verdict = |(_, item, outcome)| {
            item == 0 && matches!(outcome, Some(Outcome::New | Outcome::Known))
        };
        !self.failed
            && !self.evicted
            && self.clients.iter().any(|client| client.results().any(verdict))
    }

    /// Checks what new clients with a guess find: item 0, if it is there, and that another item is
    /// new, unless a part of the filter is gone.
    fn recovers(&self, guess: u32) -> Result<(), &'static str> {
        let mut after = Self::new(0, &[guess; 2]).query(0).insert(1, &[FRESH]);
        after.shard = self.shard.clone();
        after.evicted = self.evicted;
        after.settle()?;
        for _ in 0..1000 {
            let Some(event) = after.events().first().copied() else {
                let outcome = after.clients[1].results().next().and_then(|(_, _, outcome)| outcome);
                let right = match outcome {
                    Some(Outcome::New) => !self.shard.is_broken(),
                    Some(Outcome::Lost | Outcome::Unknown) => self.shard.is_broken(),
                    Some(Outcome::Known | Outcome::Unavailable) | None => false,
                };
                return if right { Ok(()) } else { Err(STUCK) };
            };
            after.happen(event)?;
        }
        Err(LOOP)
    }
}

impl Model for World {
    type Event = Event;

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (number, client) in self.clients.iter().enumerate() {
            let Some(command) = client.next() else {
                events.extend(own(number, client));
                continue;
            };
            events.push(Event::Command(number));
            if self.faults.losses > 0 {
                events.push(Event::NoConnection(number));
                if matches!(command, Command::Set(_) | Command::Count(_)) {
                    events.extend([Event::LostReply(number), Event::LostCommand(number)]);
                }
            }
        }
        if events.is_empty() {
            return events;
        }
        if self.faults.failovers > 0 {
            events.extend((1..=self.before.len()).map(Event::Failover));
        }
        if self.faults.evictions > 0 {
            let there = (0..SLICES).filter(|number| self.shard.has_tag(*number));
            events.extend(there.map(Event::Eviction));
        }
        events
    }

    fn happen(&mut self, event: Event) -> Result<(), &'static str> {
        self.step(event)?;
        self.settle()
    }

    /// Lets clients go on until each waits for the server, unless they may be late: nobody else
    /// sees when they do.
    fn settle(&mut self) -> Result<(), &'static str> {
        let next = |world: &Self| {
            (0..).zip(&world.clients).find_map(|(number, client)| own(number, client))
        };
        while let Some(event) = next(self).filter(|_| !self.late) {
            self.step(event)?;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), &'static str> {
        for item in 0..2 {
            let present = self.present && item == 0;
            let inserts: Vec<(usize, usize, Outcome)> = (0..)
                .zip(&self.clients)
                .flat_map(|(client, own)| own.results().map(move |result| (client, result)))
                .filter(|(_, (_, own, _))| *own == item)
                .map(|(client, (number, _, outcome))| (client, number, outcome.expect("a result")))
                .collect();
            // At most one `true`. After a failover: at most one whose bits are still there.
            let counts = |(client, number, outcome): &&(usize, usize, Outcome)| {
                let there = !self.failed || self.shard.is_winner(*client, *number);
                *outcome == Outcome::New && there
            };
            let winners = inserts.iter().filter(counts).count() + usize::from(present);
            if winners > 1 && (self.strict || !self.regrown) {
                return Err(TWO);
            }
            // At least one, if each insert has a verdict.
            let known = inserts.iter().all(|(_, _, outcome)| *outcome == Outcome::Known);
            if known && !inserts.is_empty() && !present {
                return Err(NONE);
            }
            // Without a fault each insert has a verdict.
            let mut unknown = inserts.iter().filter(|(_, _, outcome)| *outcome == Outcome::Unknown);
            if unknown.next().is_some() && !(self.lost || self.failed || self.evicted) {
                return Err(NO_REASON);
            }
            // These errors state that nothing was stored.
            let claims = |outcome| matches!(outcome, Outcome::Lost | Outcome::Unavailable);
            let mut claims = inserts.iter().filter(|(_, _, outcome)| claims(*outcome));
            if claims.any(|(client, number, _)| self.shard.is_stored(*client, *number)) {
                return Err(NOT_STORED);
            }
        }
        if self.is_acknowledged() && !self.shard.contains(0) {
            return Err(MISSED);
        }
        (0..SLICES).try_for_each(|guess| self.recovers(guess))
    }

    fn show(&self, event: Event, next: &Self) -> String {
        let command = match event {
            Event::Command(client) | Event::LostReply(client) | Event::LostCommand(client) => {
                self.clients[client].next()
            }
            _ => None,
        };
        format!("{event:?} {command:?}:{:?}", next.shard)
    }
}

/// Returns what a client does next without the server.
fn own(number: usize, client: &Client) -> Option<Event> {
    let event = if client.is_idle() { Event::Decision(number) } else { Event::Reading(number) };
    (!client.is_done() && client.next().is_none()).then_some(event)
}
