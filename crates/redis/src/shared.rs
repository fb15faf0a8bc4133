//! What all parts of a filter share: its description, its connections, and the generation that each shard has reached.

use core::ops::Deref;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::Error;
use crate::commands;
use crate::descriptor::Descriptor;
use crate::name::Name;
use crate::router::{Failure, Kind, Replies, Router};
use crate::search::Search;
use crate::sizes::{Generation, Sizes};
use crate::tag::{Identity, State};
use crate::window::{Known, Window};

/// The shards that are served at once.
pub(crate) const SHARDS_AT_ONCE: usize = 64;

/// How many replicas must confirm an insert, and for how long it waits for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confirm {
    pub(crate) replicas: u32,
    pub(crate) wait: Duration,
}

/// A filter.
pub(crate) struct Shared {
    pub(crate) name: Name,
    pub(crate) descriptor: Descriptor,
    pub(crate) router: Router,
    pub(crate) confirm: Option<Confirm>,
    /// The epochs of each shard, if the filter has a window.
    pub(crate) epochs: Known,
    /// Locked for moments: a command takes the server longer.
    shards: Mutex<Box<[Shard]>>,
}

/// What this client knows about a shard.
#[derive(Clone, Copy, Default)]
struct Shard {
    /// The generation that was open when it was last asked: a hint, which each command checks.
    generation: u32,
    /// The items that were inserted since the bits were last counted.
    uncounted: u32,
}

impl Shared {
    pub(crate) fn new(
        name: Name,
        descriptor: Descriptor,
        router: Router,
        confirm: Option<Confirm>,
    ) -> Self {
        let shards = vec![Shard::default(); descriptor.sizes.shards as usize];
        let shards = Mutex::new(shards.into_boxed_slice());
        let epochs = Known::new(descriptor.window.map_or(0, |_| descriptor.sizes.shards));
        Self { name, descriptor, router, confirm, epochs, shards }
    }

    pub(crate) const fn sizes(&self) -> &Sizes {
        &self.descriptor.sizes
    }

    pub(crate) const fn identity(&self) -> Identity {
        self.descriptor.identity
    }

    /// Returns what the filter remembers, if it forgets.
    pub(crate) const fn window(&self) -> Option<Window> {
        self.descriptor.window
    }

    /// Returns an error if the filter forgets.
    pub(crate) const fn require_all(&self) -> Result<(), Error> {
        if self.window().is_some() { Err(Error::Window) } else { Ok(()) }
    }

    /// Returns the number of items that the filter was made for.
    pub(crate) fn capacity(&self) -> u64 {
        self.descriptor.capacity()
    }

    pub(crate) fn generation(&self, number: u32) -> &Generation {
        self.sizes().generation(number)
    }

    /// Returns the generation that was open when the shard was last asked.
    pub(crate) fn current(&self, shard: u32) -> u32 {
        self.shards()[shard as usize].generation
    }

    /// Records that all generations below this one are closed. A late reply does not take back what is known since.
    pub(crate) fn advance(&self, shard: u32, generation: u32) {
        let known = &mut self.shards()[shard as usize].generation;
        *known = generation.max(*known);
    }

    /// Counts items that are about to be inserted, and returns whether the bits should be counted with them.
    pub(crate) fn is_count_due(&self, shard: u32, generation: &Generation, items: u32) -> bool {
        let every = (generation.capacity / u64::from(self.sizes().shards) / 1024).clamp(1, 512);
        let uncounted = &mut self.shards()[shard as usize].uncounted;
        let sum = uncounted.saturating_add(items);
        let due = u64::from(sum) >= every;
        *uncounted = if due { 0 } else { sum };
        due
    }

    /// Returns the key of a generation of a shard.
    pub(crate) fn key(&self, shard: u32, generation: u32) -> String {
        self.name.bits(shard, generation)
    }

    /// Begins a call, which must end before the deadline of the settings.
    pub(crate) fn call(&self) -> Call<'_> {
        Call { filter: self, end: self.router.deadline() }
    }

    fn shards(&self) -> MutexGuard<'_, Box<[Shard]>> {
        // No code that could panic runs while it is locked.
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call of a method of a filter. All that it sends has one deadline.
#[derive(Clone, Copy)]
pub(crate) struct Call<'f> {
    filter: &'f Shared,
    end: Instant,
}

impl Deref for Call<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.filter
    }
}

impl Call<'_> {
    /// Sends commands for a shard.
    pub(crate) async fn send(
        &self,
        shard: u32,
        commands: &[Cmd],
        kind: Kind,
    ) -> Result<Vec<Value>, Failure> {
        self.write(shard, commands, kind).await.map(|replies| replies.values)
    }

    /// Sends commands for a shard, and returns the connection with the replies.
    pub(crate) async fn write(
        &self,
        shard: u32,
        commands: &[Cmd],
        kind: Kind,
    ) -> Result<Replies, Failure> {
        self.router.send(self.name.slot(shard), commands, kind, self.end).await
    }

    /// Sends one command for a shard that may be repeated.
    pub(crate) async fn send_one(
        &self,
        shard: u32,
        command: Cmd,
        kind: Kind,
    ) -> Result<Value, Error> {
        let replies = self.send(shard, &[command], kind).await.map_err(Failure::of_read)?;
        replies.into_iter().next().ok_or(Error::Reply { expected: "one reply" })
    }

    /// Asks which generation of a shard is open.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if one of the generations up to it is gone.
    pub(crate) async fn find_current(&self, shard: u32) -> Result<u32, Error> {
        let mut search = Search::new(self.sizes().generations.len() as u32);
        loop {
            let tags = search.tags();
            let command =
                |number| commands::state(&self.key(shard, number), self.generation(number));
            let sent: Vec<Cmd> = tags.map(command).collect();
            let replies = self.send(shard, &sent, Kind::Read).await.map_err(Failure::of_read)?;
            let state = |reply| commands::queried(reply, self.identity(), core::iter::empty());
            let states = replies.iter().map(|reply| state(reply).map(|(state, _)| state));
            let states: Option<Vec<State>> = states.collect();
            let states = states.ok_or(Error::Reply { expected: "a tag" })?;
            match search.read(&states) {
                Some(Ok(open)) => {
                    self.shards()[shard as usize].generation = open;
                    return Ok(open);
                }
                Some(Err(generation)) => return Err(Error::Lost { shard, generation }),
                None => {}
            }
        }
    }

    /// Closes a generation of a shard and creates the next, unless another client has done so.
    ///
    /// # Errors
    ///
    /// An error leaves the generation open, and a later insert tries again.
    pub(crate) async fn grow(&self, shard: u32, generation: u32) -> Result<(), Error> {
        let next = generation + 1;
        if next as usize >= self.sizes().generations.len() {
            return Ok(());
        }
        let keys = [self.key(shard, generation), self.key(shard, next)];
        let generations = [self.generation(generation), self.generation(next)];
        let command = commands::grow([&keys[0], &keys[1]], generations, self.identity());
        match self.send_one(shard, command, Kind::Idempotent).await? {
            Value::Int(0 | 1) => {
                self.advance(shard, next);
                Ok(())
            }
            Value::Int(-1) => Err(Error::Lost { shard, generation }),
            _ => Err(Error::Reply { expected: "0, 1 or -1" }),
        }
    }
}
