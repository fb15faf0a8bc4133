//! What all parts of a filter share: its description, its connections, and the slice that each
//! shard has reached.

use core::ops::Deref;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use redis::{Cmd, Value};
use tamis_hash::{AnyStable, ItemHasher};
use tokio::time::{Instant, sleep};

use crate::calls::access::Access;
use crate::calls::current::Current;
use crate::error::Error;
use crate::events::Event;
use crate::lock::lock;
use crate::process::OwnProcess;
use crate::servers::nodes::Lane;
use crate::servers::router::{Failure, Kind, Router};
use crate::servers::sending::Replies;
use crate::servers::settled::Settled;
use crate::window::{Known, Window};
use crate::wire::descriptor::Descriptor;
use crate::wire::name::Name;
use crate::wire::search::Search;
use crate::wire::sizes::{Sizes, Slice};
use crate::wire::tag::{Identity, State};
use crate::wire::{commands, scripts};

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
    pub(crate) router: OwnProcess<Arc<Router>>,
    pub(crate) confirm: Option<Confirm>,
    /// Whether this filter is still the one of its name.
    pub(crate) is_current: Current,
    /// The epochs of each shard, if the filter has a window.
    pub(crate) epochs: Known,
    /// The slice of each shard that was open when it was last asked: a hint, which each
    /// command checks. Locked for moments: a command takes the server longer.
    slices: Mutex<Box<[u32]>>,
}

impl Shared {
    pub(crate) fn new(
        name: Name,
        descriptor: Descriptor,
        router: Arc<Router>,
        confirm: Option<Confirm>,
    ) -> Self {
        let slices = vec![0; descriptor.sizes.shards as usize];
        let slices = Mutex::new(slices.into_boxed_slice());
        let epochs = Known::new(descriptor.window.map_or(0, |_| descriptor.sizes.shards));
        let is_current = Current::new();
        let router = OwnProcess::new(router);
        Self { name, descriptor, router, confirm, is_current, epochs, slices }
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

    /// Returns an error if a local filter does not hash as this one.
    pub(crate) fn require_hasher(&self, local: &AnyStable) -> Result<(), Error> {
        let same = self.descriptor.hasher.hash_probe() == local.hash_probe();
        if same { Ok(()) } else { Err(Error::Mismatch { field: "hash or seed" }) }
    }

    pub(crate) fn slice(&self, number: u32) -> &Slice {
        self.sizes().slice(number)
    }

    /// Returns the slice that was open when the shard was last asked.
    pub(crate) fn current(&self, shard: u32) -> u32 {
        lock(&self.slices)[shard as usize]
    }

    /// Records that all slices below this one are closed. A late reply does not take back what
    /// is known since.
    pub(crate) fn advance(&self, shard: u32, slice: u32) {
        let known = &mut lock(&self.slices)[shard as usize];
        *known = slice.max(*known);
    }

    /// Returns the key of a slice of a shard.
    pub(crate) fn key(&self, shard: u32, slice: u32) -> String {
        self.name.bits(self.identity(), shard, slice)
    }

    /// Begins a call, which must end before the deadline of the settings.
    pub(crate) fn call(&self) -> Call<'_> {
        self.call_until(self.router.deadline())
    }

    /// Begins a part of a call.
    pub(crate) const fn call_until(&self, end: Instant) -> Call<'_> {
        Call { filter: self, end, lane: None }
    }
}

/// A call of a method of a filter. All that it sends has one deadline.
#[derive(Clone, Copy)]
pub(crate) struct Call<'f> {
    filter: &'f Shared,
    end: Instant,
    /// The connections of this call alone, if replicas confirm what it writes.
    lane: Option<u32>,
}

impl Deref for Call<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.filter
    }
}

/// How long a call waits before it reads a moving slot again.
const MOVING: Duration = Duration::from_millis(100);

impl<'f> Call<'f> {
    pub(crate) const fn end(&self) -> Instant {
        self.end
    }

    /// Returns whether the call should have ended. It goes on while the servers answer.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Returns what reaches the keys of the filter before it is ready.
    pub(crate) fn access(&self) -> Access<'f> {
        Access { name: &self.filter.name, router: &self.filter.router, end: self.end }
    }

    /// Reports that a shard was not grown. It concerns no item: a later insert tries again.
    pub(crate) fn growth_failed(&self, shard: u32, slice: u32, error: Error) {
        self.router.events().raise(|| Event::GrowthFailed { shard, slice, error });
    }

    /// Takes connections for this call alone. They must be kept until its writes are confirmed.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if too many calls wait for replicas until the deadline.
    pub(crate) async fn alone(self) -> Result<(Self, Lane<'f>), Error> {
        let lane = self.filter.router.nodes.lane(self.end).await?;
        Ok((Self { lane: Some(lane.number), ..self }, lane))
    }

    /// Sends commands for a shard whose replies are no verdicts: if they are lost, the server
    /// counts as not available.
    pub(crate) async fn send(
        &self,
        shard: u32,
        commands: &[Cmd],
        kind: Kind,
    ) -> Result<Vec<Value>, Error> {
        let sent = self.write(shard, commands, kind).await;
        sent.map(|replies| replies.values).map_err(Failure::of_read)
    }

    /// Sends commands for a shard, and returns the connection with the replies.
    pub(crate) async fn write(
        &self,
        shard: u32,
        commands: &[Cmd],
        kind: Kind,
    ) -> Result<Replies, Failure> {
        let slot = self.name.slot(shard);
        let sent = self.router.send_over(self.lane, slot, commands, kind, self.end);
        self.router.events().watched(self.end, sent).await
    }

    /// Sends one command, as [`send`](Self::send) does.
    pub(crate) async fn send_one(
        &self,
        shard: u32,
        command: Cmd,
        kind: Kind,
    ) -> Result<Value, Error> {
        let replies = self.send(shard, &[command], kind).await?;
        replies.into_iter().next().ok_or(Error::Reply { expected: "one reply" })
    }

    /// Asks which slice of a shard is open.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if one of the slices up to it is gone, [`Error::Replaced`] if the
    /// filter is.
    pub(crate) async fn find_current(&self, shard: u32) -> Result<u32, Error> {
        let mut search = Search::new(self.sizes().slices.len() as u32);
        loop {
            let tags = search.tags();
            let command = |number| commands::state(&self.key(shard, number), self.slice(number));
            let sent: Vec<Cmd> = tags.map(command).collect();
            let replies = self.send(shard, &sent, Kind::Read).await?;
            let states = replies.iter().map(|reply| commands::stated(reply, self.identity()));
            let states: Option<Vec<State>> = states.collect();
            let states = states.ok_or(Error::Reply { expected: "a tag" })?;
            match search.read(&states) {
                Some(Ok(open)) => {
                    lock(&self.slices)[shard as usize] = open;
                    return Ok(open);
                }
                Some(Err(slice)) => {
                    self.lost(shard, slice).await?;
                    search = Search::new(self.sizes().slices.len() as u32);
                }
                None => {}
            }
        }
    }

    /// Finds out whether a key is lost that was missing. Without an error it may be there, and is
    /// read again.
    ///
    /// # Errors
    ///
    /// [`Error::Replaced`] if the filter is gone. [`Error::Lost`] if the owner of the slot, which
    /// does not move, says that the key is missing. [`Error::Unavailable`] with the state of the
    /// slot, if it moves until the deadline.
    pub(crate) async fn lost(&self, shard: u32, slice: u32) -> Result<(), Error> {
        self.lost_at(&self.key(shard, slice), shard, slice).await
    }

    /// As [`lost`](Self::lost), by a key of the shard that has no tag.
    pub(crate) async fn lost_at(&self, key: &str, shard: u32, slice: u32) -> Result<(), Error> {
        if !self.ask().await? {
            return Err(Error::Replaced);
        }
        let tag = commands::state(key, self.slice(slice));
        let reason = match self.router.settled(self.name.slot(shard), tag, self.end).await {
            Settled::Reply(reply) => match commands::stated(&reply, self.identity()) {
                Some(State::Gone) => return Err(Error::Lost { shard, slice }),
                Some(_) => "a key of the filter comes and goes".to_owned(),
                None => return Err(Error::Reply { expected: "a tag" }),
            },
            Settled::Moving(reason) => reason,
        };
        if Instant::now() + MOVING > self.end {
            return Err(Error::Unavailable { reason: reason.into() });
        }
        sleep(MOVING).await;
        Ok(())
    }

    /// Closes a slice of a shard and creates the next, unless another client has done so.
    /// `kind`: [`Kind::Once`] if a verdict waits for it, or [`Kind::Idempotent`].
    ///
    /// # Errors
    ///
    /// An error leaves the slice open, and a later insert tries again. While its slot moves, a
    /// shard cannot grow.
    pub(crate) async fn grow(&self, shard: u32, slice: u32, kind: Kind) -> Result<(), Error> {
        let next = slice + 1;
        if next as usize >= self.sizes().slices.len() {
            return Ok(());
        }
        let keys = [self.key(shard, slice), self.key(shard, next)];
        let slices = [self.slice(slice), self.slice(next)];
        let command = scripts::grow([&keys[0], &keys[1]], slices, self.identity());
        match self.send_one(shard, command, kind).await? {
            Value::Int(created @ (0 | 1)) => {
                self.advance(shard, next);
                if created == 1 {
                    self.router.events().raise(|| Event::Grown { shard, slice: next });
                }
                Ok(())
            }
            Value::Int(-1) => self.lost(shard, slice).await,
            _ => Err(Error::Reply { expected: "0, 1 or -1" }),
        }
    }
}
