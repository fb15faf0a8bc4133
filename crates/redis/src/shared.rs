//! What all parts of a filter share: its description, its connections, and the generation that each shard has reached.

use core::ops::Deref;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::Error;
use crate::commands;
use crate::current::Current;
use crate::descriptor::Descriptor;
use crate::events::Event;
use crate::name::Name;
use crate::router::{Failure, Kind, Replies, Router};
use crate::scripts;
use crate::search::Search;
use crate::sizes::{Generation, Sizes};
use crate::tag::{Identity, State};

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
    pub(crate) router: Arc<Router>,
    pub(crate) confirm: Option<Confirm>,
    /// Whether this filter is still the one of its name.
    pub(crate) is_current: Current,
    /// The generation of each shard that was open when it was last asked: a hint, which each command
    /// checks. Locked for moments: a command takes the server longer.
    generations: Mutex<Box<[u32]>>,
}

impl Shared {
    pub(crate) fn new(
        name: Name,
        descriptor: Descriptor,
        router: Arc<Router>,
        confirm: Option<Confirm>,
    ) -> Self {
        let generations = vec![0; descriptor.sizes.shards as usize];
        let generations = Mutex::new(generations.into_boxed_slice());
        Self { name, descriptor, router, confirm, is_current: Current::new(), generations }
    }

    pub(crate) const fn sizes(&self) -> &Sizes {
        &self.descriptor.sizes
    }

    pub(crate) const fn identity(&self) -> Identity {
        self.descriptor.identity
    }

    pub(crate) fn generation(&self, number: u32) -> &Generation {
        self.sizes().generation(number)
    }

    /// Returns the generation that was open when the shard was last asked.
    pub(crate) fn current(&self, shard: u32) -> u32 {
        self.generations()[shard as usize]
    }

    /// Records that all generations below this one are closed. A late reply does not take back what is known since.
    pub(crate) fn advance(&self, shard: u32, generation: u32) {
        let known = &mut self.generations()[shard as usize];
        *known = generation.max(*known);
    }

    /// Returns the key of a generation of a shard.
    pub(crate) fn key(&self, shard: u32, generation: u32) -> String {
        self.name.bits(self.identity(), shard, generation)
    }

    /// Begins a call, which must end before the deadline of the settings.
    pub(crate) fn call(&self) -> Call<'_> {
        Call { filter: self, end: self.router.deadline() }
    }

    fn generations(&self) -> MutexGuard<'_, Box<[u32]>> {
        // No code that could panic runs while it is locked.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(crate) const fn end(&self) -> Instant {
        self.end
    }

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
        let sent = self.router.send(self.name.slot(shard), commands, kind, self.end);
        self.router.events().watched(self.end, sent).await
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
    /// [`Error::Lost`] if one of the generations up to it is gone, [`Error::Replaced`] if the filter is.
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
                    self.generations()[shard as usize] = open;
                    return Ok(open);
                }
                Some(Err(generation)) => return Err(self.lost(shard, generation).await),
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
        let command = scripts::grow([&keys[0], &keys[1]], generations, self.identity());
        match self.send_one(shard, command, Kind::Idempotent).await? {
            Value::Int(created @ (0 | 1)) => {
                self.advance(shard, next);
                if created == 1 {
                    self.router.events().raise(|| Event::Grown { shard, generation: next });
                }
                Ok(())
            }
            Value::Int(-1) => Err(self.lost(shard, generation).await),
            _ => Err(Error::Reply { expected: "0, 1 or -1" }),
        }
    }
}
