//! Every order of the commands of clients that create, use and delete filters of one name, with
//! clients that are killed at any moment. The commands are those of `create.rs`, `destroy.rs` and
//! `life.rs`, and the scripts of `lives.rs`.

use std::collections::BTreeMap;

use super::explore::Model;
use super::{model, mutant};

const LEAKED: &str = "a key remains that no deletion would find";
const LEFT: &str = "a key of a deleted filter remains, although no client was killed";
const BROKEN: &str = "a filter is ready, and a key of it is missing";
const FALSELY_LOST: &str = "a client of a deleted filter takes it for a lost one";
const TWO: &str = "an item has two winners in one life";
const UNUSABLE: &str = "no new filter can be created";
const EMPTIED: &str = "an empty filter takes the place of one that was not deleted";
const UNDESCRIBED: &str = "a life is ready without a descriptor, and none was lost";
const NOT_DELETED: &str = "a deletion leaves a key";
const HARMED: &str = "a deletion ends a filter that was created after its call";

/// The fewest states of a scene.
const STATES: usize = 600;

/// The shards of a filter.
const SHARDS: usize = 2;

/// A planted defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    None,
    /// The identity is not in the names of the keys.
    OneName,
    /// A life is listed when the filter is ready.
    ListedLate,
    /// A life is forgotten as soon as its keys were removed.
    ForgottenAtOnce,
    /// A filter is made ready without a look at the descriptor.
    PublishesBlindly,
    /// A deletion removes the keys before the descriptor.
    KeysFirst,
    /// A client that misses a key does not ask for the descriptor.
    AsksNobody,
    /// A client does not remove the key that it has written into a deleted filter.
    LeavesItsKey,
    /// A client that was killed while it created a filter keeps its place for ever.
    NoTakeover,
    /// A life that is ready without a descriptor counts as deleted.
    LostIsDeleted,
    /// A deletion ends all lives, whether or not it has read of them.
    EndsAll,
}

/// What is recorded about a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Whether the time of its client is over.
    Creating(bool),
    Ready,
    Ended,
    Swept,
}

/// A key with bits: whether it has a tag, and who won the item in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    tagged: bool,
    item: bool,
}

/// What a client does next. The numbers are those of lives and shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Command {
    Begin(u8),
    Create(u8, usize),
    Publish(u8),
    /// Reads the descriptor, to delete the filter.
    Destroy,
    /// Reads the lives then.
    Look(Option<(u8, bool)>),
    /// Ends lives, a bit for each. Those that are ready as well, and what else has this descriptor,
    /// if the filter is deleted.
    End {
        lives: u128,
        deletes: bool,
        descriptor: Option<(u8, bool)>,
    },
    /// Reads the list of lives.
    List,
    Unlink(u8, usize),
    Swept(u8),
    /// Inserts the item.
    Insert(u8),
    /// Reads the descriptor after a missed key.
    Ask(u8),
    Remove(u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    /// The last is the next.
    commands: Vec<Command>,
    /// Killed with a command on its way, which is executed at any later time.
    killed: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    defect: Defect,
    descriptor: Option<(u8, bool)>,
    lives: BTreeMap<u8, State>,
    keys: BTreeMap<(u8, usize), Key>,
    winners: BTreeMap<u8, u8>,
    clients: Vec<Client>,
    /// How many clients can still be killed, and whether one was.
    kills: u32,
    killed: bool,
    /// Whether a server may still lose the descriptor, and the life that has lost it.
    loses: bool,
    lost: Option<u8>,
    /// Whether a deletion may still be sent twice, and the lives that had begun when its call
    /// ended, if that is not over.
    repeats: bool,
    ended: Option<u128>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Next(usize),
    /// A client dies. What it has sent is executed later, or never.
    Kill(usize),
    Vanish(usize),
    /// The time of a client that creates a filter is over.
    Expiry(u8),
    /// A server evicts the descriptor of a filter that is ready.
    Loss(u8),
    /// The reply to a deletion is late, and its client sends it again. The first command is
    /// executed at any later time, or never.
    Repeat(usize),
}

/// Ends a life that is being created.
const fn abandon(life: u8) -> Command {
    Command::End { lives: 1 << life, deletes: false, descriptor: Some((life, false)) }
}

impl World {
    /// Returns a name with a filter that is ready, or with none.
    fn new(defect: Defect, there: bool, kills: u32) -> Self {
        let mut world = Self {
            defect,
            descriptor: there.then_some((0, true)),
            lives: BTreeMap::new(),
            keys: BTreeMap::new(),
            winners: BTreeMap::new(),
            clients: Vec::new(),
            kills,
            killed: false,
            loses: false,
            lost: None,
            repeats: false,
            ended: None,
        };
        if there {
            world.lives.insert(0, State::Ready);
            let key = Key { tagged: true, item: false };
            (0..SHARDS).for_each(|shard| _ = world.keys.insert(world.key(0, shard), key));
        }
        world
    }

    fn client(mut self, commands: &[Command]) -> Self {
        let commands = commands.iter().rev().copied().collect();
        self.clients.push(Client { commands, killed: false });
        self
    }

    /// Adds a client that creates a filter.
    fn create(self, life: u8) -> Self {
        self.client(&[Command::Begin(life)])
    }

    /// Adds a client that deletes the filter.
    fn destroy(self) -> Self {
        match self.defect {
            Defect::KeysFirst => {
                let commands = (0..SHARDS).map(|shard| Command::Unlink(0, shard));
                let commands: Vec<_> = commands.chain([Command::Destroy]).collect();
                self.client(&commands)
            }
            _ => self.client(&[Command::Destroy]),
        }
    }

    /// Adds a client that has opened filter 0, and inserts the item.
    fn insert(self) -> Self {
        self.client(&[Command::Insert(0)])
    }

    fn key(&self, life: u8, shard: usize) -> (u8, usize) {
        (if self.defect == Defect::OneName { 0 } else { life }, shard)
    }

    /// Executes a command, and returns what its client does then.
    fn execute(&mut self, command: Command) -> Result<Vec<Command>, &'static str> {
        let sweep = |life: u8| {
            let shards = (0..SHARDS).map(move |shard| Command::Unlink(life, shard));
            shards.chain([Command::Swept(life)])
        };
        Ok(match command {
            Command::Begin(life) => {
                let listed =
                    |(life, _)| self.defect != Defect::ListedLate || self.lives.contains_key(&life);
                let there = self.descriptor.is_some_and(listed);
                let mut free = !there;
                for (number, state) in &mut self.lives {
                    match state {
                        State::Ready if !there && self.lost != Some(*number) => {
                            return Err(UNDESCRIBED);
                        }
                        State::Ready if there || self.defect != Defect::LostIsDeleted => {
                            return Ok(Vec::new());
                        }
                        State::Creating(false) if there => return Ok(Vec::new()),
                        State::Creating(_) if self.defect != Defect::NoTakeover => free = true,
                        State::Ended | State::Swept => continue,
                        _ => {}
                    }
                    *state = State::Ended;
                }
                if !free {
                    return Ok(Vec::new());
                }
                if self.lost.is_some() {
                    return Err(EMPTIED);
                }
                self.descriptor = Some((life, false));
                if self.defect != Defect::ListedLate {
                    self.lives.insert(life, State::Creating(false));
                }
                let creates = (0..SHARDS).map(|shard| Command::Create(life, shard));
                creates.chain([Command::Publish(life), Command::List]).collect()
            }
            Command::Create(life, shard) => {
                let key = self.key(life, shard);
                if self.keys.contains_key(&key) {
                    return Ok(vec![abandon(life)]);
                }
                self.keys.insert(key, Key { tagged: true, item: false });
                Vec::new()
            }
            Command::Publish(life) => {
                let own = self.descriptor == Some((life, false));
                if !own && self.defect != Defect::PublishesBlindly {
                    return Ok(vec![abandon(life)]);
                }
                self.descriptor = Some((life, true));
                self.lives.insert(life, State::Ready);
                Vec::new()
            }
            Command::Destroy => vec![Command::Look(self.descriptor)],
            Command::Look(descriptor) => {
                let current = |state: &State| matches!(state, State::Creating(_) | State::Ready);
                let lives = self.lives.iter().filter(|(_, state)| current(state));
                let lives = lives.fold(0, |lives, (life, _)| lives | 1 << life);
                vec![Command::End { lives, deletes: true, descriptor }]
            }
            Command::End { lives, deletes, descriptor } => {
                let ends_all = deletes && self.defect == Defect::EndsAll;
                self.descriptor = self.descriptor.filter(|_| self.descriptor != descriptor);
                for (number, state) in &mut self.lives {
                    let ends = matches!(state, State::Creating(_))
                        || deletes && matches!(state, State::Ready);
                    if ends && (lives >> number & 1 != 0 || ends_all) {
                        if deletes && self.ended.is_some_and(|before| before >> number & 1 == 0) {
                            return Err(HARMED);
                        }
                        *state = State::Ended;
                        self.descriptor = None;
                        self.lost = self.lost.filter(|lost| lost != number);
                    }
                }
                let over = |life: &u8| matches!(self.lives[life], State::Ended | State::Swept);
                let named = |life: &u8| deletes || lives >> life & 1 != 0;
                let swept = self.lives.keys().filter(|life| over(life) && named(life));
                swept.copied().flat_map(sweep).collect()
            }
            Command::List => {
                let lives = self.lives.iter().filter(|(_, state)| **state == State::Ended);
                lives.map(|(life, _)| *life).flat_map(sweep).collect()
            }
            Command::Unlink(life, shard) => {
                self.keys.remove(&self.key(life, shard));
                Vec::new()
            }
            Command::Swept(life) => {
                let ended = matches!(self.lives.get(&life), Some(State::Ended | State::Swept));
                if ended && self.defect == Defect::ForgottenAtOnce {
                    self.lives.remove(&life);
                } else if ended {
                    self.lives.insert(life, State::Swept);
                }
                Vec::new()
            }
            Command::Insert(life) => {
                // The command creates the key, if it is missing.
                let key = self.keys.entry(self.key(life, 0)).or_default();
                if !key.tagged {
                    return Ok(vec![Command::Ask(life)]);
                }
                let won = u8::from(!core::mem::replace(&mut key.item, true));
                let winners = self.winners.entry(life).or_default();
                *winners += won;
                if *winners > 1 {
                    return Err(TWO);
                }
                Vec::new()
            }
            Command::Ask(life) => {
                let asks = self.defect != Defect::AsksNobody;
                let current = matches!(self.descriptor, Some((other, _)) if other == life);
                if !asks || current {
                    return Err(FALSELY_LOST);
                }
                let removes = self.defect != Defect::LeavesItsKey;
                removes.then_some(Command::Remove(life)).into_iter().collect()
            }
            Command::Remove(life) => {
                let key = self.key(life, 0);
                if self.keys.get(&key).is_some_and(|key| !key.tagged) {
                    self.keys.remove(&key);
                }
                Vec::new()
            }
        })
    }

    /// Lets one client run alone.
    fn run(&mut self, command: Command) -> Result<(), &'static str> {
        let mut commands = vec![command];
        while let Some(command) = commands.pop() {
            let next = self.execute(command)?;
            if matches!(command, Command::Publish(_)) && !next.is_empty() {
                return Err(UNUSABLE);
            }
            commands.extend(next.into_iter().rev());
        }
        Ok(())
    }
}

impl Model for World {
    type Event = Event;

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (number, client) in self.clients.iter().enumerate() {
            if client.commands.is_empty() {
                continue;
            }
            events.push(Event::Next(number));
            if self.repeats
                && matches!(client.commands.last(), Some(Command::End { deletes: true, .. }))
            {
                events.push(Event::Repeat(number));
            }
            if client.killed {
                events.push(Event::Vanish(number));
            } else if self.kills > 0 {
                events.push(Event::Kill(number));
            }
        }
        // Time passes while a client does something, or at the end.
        let creating = self.lives.iter().filter(|(_, state)| **state == State::Creating(false));
        events.extend(creating.map(|(life, _)| Event::Expiry(*life)));
        if let Some((life, true)) = self.descriptor.filter(|_| self.loses) {
            events.push(Event::Loss(life));
        }
        events
    }

    fn happen(&mut self, event: Event) -> Result<(), &'static str> {
        match event {
            Event::Next(number) => {
                let Some(command) = self.clients[number].commands.pop() else { return Ok(()) };
                let next = self.execute(command)?;
                let client = &mut self.clients[number];
                if client.killed {
                    client.commands.clear();
                } else if matches!(next.first(), Some(Command::End { deletes: false, .. })) {
                    // It has lost the filter that it creates: nothing else is done.
                    client.commands = next;
                } else {
                    client.commands.extend(next.into_iter().rev());
                }
            }
            Event::Kill(number) => {
                self.kills -= 1;
                self.killed = true;
                self.clients[number].killed = true;
            }
            Event::Vanish(number) => self.clients[number].commands.clear(),
            Event::Expiry(life) => _ = self.lives.insert(life, State::Creating(true)),
            Event::Repeat(number) => {
                self.repeats = false;
                let command = self.clients[number].commands.pop();
                self.clients.push(Client { commands: command.into_iter().collect(), killed: true });
                let next = command.map_or(Ok(Vec::new()), |command| self.execute(command))?;
                self.clients[number].commands.extend(next.into_iter().rev());
                self.ended = Some(self.lives.keys().fold(0, |lives, life| lives | 1 << life));
            }
            Event::Loss(life) => {
                self.loses = false;
                self.lost = Some(life);
                self.descriptor = None;
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<(), &'static str> {
        // 1. Each key is found by the next deletion. None is left, unless a client was killed.
        let named = self.defect != Defect::OneName;
        if named && self.keys.keys().any(|(life, _)| !self.lives.contains_key(life)) {
            return Err(LEAKED);
        }
        let over = |life| matches!(self.lives.get(life), Some(State::Ended | State::Swept));
        if named && !self.killed && self.keys.keys().any(|(life, _)| over(life)) {
            return Err(LEFT);
        }
        // 2. A filter that is ready has its keys.
        if let Some((life, true)) = self.descriptor {
            let there = |shard| self.keys.get(&self.key(life, shard)).is_some_and(|key| key.tagged);
            if !(0..SHARDS).all(there) {
                return Err(BROKEN);
            }
        }
        // 3. The name can be used again: by a new filter, unless the descriptor of one is lost, or
        //    by a deletion and a new filter.
        for deletes in [self.lost.is_some(), true] {
            let mut after = self.clone();
            if deletes {
                after.ended = None;
                after.run(Command::Destroy)?;
                if !after.keys.is_empty() {
                    return Err(NOT_DELETED);
                }
            }
            after.run(Command::Begin(100))?;
            if !matches!(after.descriptor, Some((_, true))) {
                return Err(UNUSABLE);
            }
        }
        Ok(())
    }

    fn show(&self, event: Event, next: &Self) -> String {
        let command = match event {
            Event::Next(number) => self.clients[number].commands.last(),
            _ => None,
        };
        format!("{event:?} {command:?}: {:?} {:?} {:?}", next.descriptor, next.lives, next.keys)
    }
}

/// Two clients replace a filter that another uses.
fn replaced(defect: Defect, kills: u32) -> World {
    World::new(defect, true, kills).insert().insert().destroy().create(1)
}

/// Clients create a filter at the same time, and one deletes it.
fn created(defect: Defect, kills: u32) -> World {
    World::new(defect, false, kills).create(1).create(2).destroy()
}

/// A deletion is sent twice, and its first command comes late.
fn repeated(world: World) -> World {
    World { repeats: true, ..world }
}

/// The descriptor of a filter that is ready is lost at any moment.
fn lost(world: World) -> World {
    World { loses: true, ..world }
}

#[test]
fn model_no_filter_takes_the_place_of_one_whose_descriptor_is_lost() {
    model(18_000_000_000, 10 * STATES, [lost(replaced(Defect::None, 1))]);
    model(430_000_000_000, 10 * STATES, [lost(created(Defect::None, 1))]);
}

#[test]
fn model_a_filter_is_replaced_under_its_clients() {
    model(48_000_000, STATES, [replaced(Defect::None, 0)]);
    model(2_000_000_000, STATES, [replaced(Defect::None, 1)]);
}

#[test]
fn model_clients_create_and_delete_a_filter_at_once() {
    model(8_000_000_000, STATES, [created(Defect::None, 0)]);
    model(200_000_000_000, STATES, [created(Defect::None, 1)]);
    model(2_000_000_000_000, STATES, [created(Defect::None, 2)]);
}

#[test]
fn mutant_defects_under_the_clients_of_a_filter_are_found() {
    for (message, defect, kills) in [
        (BROKEN, Defect::OneName, 0),
        (LEAKED, Defect::ForgottenAtOnce, 1),
        (FALSELY_LOST, Defect::KeysFirst, 0),
        (FALSELY_LOST, Defect::AsksNobody, 0),
        (LEFT, Defect::LeavesItsKey, 0),
    ] {
        mutant(defect, message, &replaced(defect, kills));
    }
}

#[test]
fn mutant_defects_of_clients_that_create_and_delete_at_once_are_found() {
    for (message, defect, kills) in [
        (LEAKED, Defect::ListedLate, 1),
        (BROKEN, Defect::PublishesBlindly, 0),
        (UNUSABLE, Defect::NoTakeover, 1),
    ] {
        mutant(defect, message, &created(defect, kills));
    }
}

#[test]
fn mutant_a_lost_descriptor_that_counts_as_a_deletion_is_found() {
    let defect = Defect::LostIsDeleted;
    mutant(defect, EMPTIED, &lost(replaced(defect, 0)));
}

#[test]
fn model_a_deletion_that_is_sent_twice_harms_no_later_filter() {
    let scenes = [replaced(Defect::None, 0), created(Defect::None, 0)].map(repeated);
    model(20_000_000_000_000, 10 * STATES, scenes);
}

#[test]
fn mutant_a_deletion_that_ends_all_lives_is_found() {
    mutant(Defect::EndsAll, HARMED, &repeated(replaced(Defect::EndsAll, 0)));
}
