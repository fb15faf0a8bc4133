//! Knows which node has which slot, and asks the nodes when that has changed.
//!
//! The cluster client of the crate `redis` repeats a command after a lost connection, and returns
//! one error for a whole pipeline. Both would lose verdicts: an insert that is repeated finds its
//! own bits. So Tamis routes by itself, over the crate's connections. `sending.rs` sends the
//! commands.
//!
//! # Which errors mean what
//!
//! Each command of a pipeline has a reply of its own. Those that were executed keep it; only the
//! others are sent again, in their order.
//!
//! | the error | executed? | what is done |
//! |---|---|---|
//! | no connection | no | the nodes are asked for the slots again, until the deadline |
//! | no first connection, for a reason that does not heal (`stream.rs`, `connection.rs`) | no | returned |
//! | `MOVED`, `ASK` | no | sent to the named node |
//! | `TRYAGAIN`, `CLUSTERDOWN`, `LOADING`, `MASTERDOWN`, `BUSY`, `NOREPLICAS` | no | as without a connection |
//! | `READONLY` | no | as without a connection, over a new one: the name of the host may mean another |
//! | another error of the server | no | returned |
//! | the connection breaks, and took no byte since the command was handed over (`watched.rs`) | no | as without a connection |
//! | the connection breaks otherwise, or the reply does not come in time | unknown | a read is repeated, a write is not |
//!
//! A growth waits for nothing and is sent once ([`Kind::Once`]). A replica that does not answer is
//! left alone for a while, and the master is asked.

use core::pin::pin;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::{StreamExt, stream};
use redis::{ServerError, Value, cmd};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::events::{Event, Events};
use crate::lock::lock;
use crate::servers::connection::Connection;
use crate::servers::nodes::{Nodes, Use};
use crate::servers::slots::{Node, Slots};
use crate::servers::stream::Trouble;
use crate::servers::tries::{Tries, after};

/// The code of the error for a command or a key that the user has no right to.
pub(crate) const NO_RIGHT: &str = "NOPERM";

/// How long the answer of a node counts as new: many commands may fail at once.
const FRESH: Duration = Duration::from_millis(50);

/// The nodes that are asked for the slots at once: some may be gone without a word, each of which
/// takes [`Settings::timeout`].
const NODES_AT_ONCE: usize = 4;

/// How a filter uses its connections.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long a reply may take, and a connection.
    pub(crate) timeout: Duration,
    /// How long a call tries to reach a server.
    pub(crate) deadline: Duration,
    /// Whether queries may go to replicas, whose bits may be older.
    pub(crate) replicas_read: bool,
    /// Where events go.
    pub(crate) events: Events,
}

/// Why commands have no replies.
#[derive(Debug)]
pub(crate) enum Failure {
    /// They were not executed.
    NotExecuted(Arc<str>),
    /// They may have been executed.
    Unknown(Arc<str>),
    /// The server refused the first of them.
    Refused(Arc<str>),
}

impl Failure {
    /// The error for a command that changes nothing, or nothing when it is repeated.
    pub(crate) fn of_read(self) -> Error {
        match self {
            Self::NotExecuted(reason) | Self::Unknown(reason) => Error::Unavailable { reason },
            Self::Refused(reason) => Error::Refused { reason },
        }
    }

    /// The error for a command that may have changed something without a reply.
    pub(crate) fn of_write(self) -> Error {
        match self {
            Self::Unknown(reason) => Error::VerdictUnknown { reason },
            other => other.of_read(),
        }
    }
}

/// Which commands are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All of them read only.
    Read,
    /// As `Read`, and older bits will do.
    StaleRead,
    /// The first writes and is not repeated. The others read, and their replies may be errors or
    /// nothing.
    Write,
    /// All of them may be repeated, although they write.
    Idempotent,
    /// They are tried without a pause, and given up if no node takes them now.
    Once,
}

/// The way of commands to the nodes.
pub(crate) struct Router {
    pub(crate) nodes: Nodes,
    settings: Settings,
    known: Mutex<Known>,
    /// When the nodes were last asked for the slots. Locked while they are asked.
    refreshed: tokio::sync::Mutex<Option<Instant>>,
}

/// What is known about the nodes.
pub(crate) struct Known {
    pub(crate) slots: Slots,
    /// Chooses among replicas in turn.
    turn: usize,
}

impl Router {
    /// Connects to the first address that answers, and asks it for the nodes.
    pub(crate) async fn connect(
        addresses: &[String],
        settings: Settings,
        end: Instant,
    ) -> Result<Self, Error> {
        let nodes = Nodes::new(addresses, settings.timeout)?;
        let slots = Slots::of_reply(&Value::Nil, &Node::default());
        let router = Self {
            nodes,
            settings,
            known: Mutex::new(Known { slots, turn: 0 }),
            refreshed: tokio::sync::Mutex::new(None),
        };
        let mut tries = Tries::new(end, &router.settings.events);
        loop {
            let late = || Err(Trouble::passing("no server answered before the deadline"));
            match timeout_at(end, router.refresh()).await.unwrap_or_else(|_| late()) {
                Ok(()) => return Ok(router),
                Err(trouble) if trouble.heals => {
                    let paused = tries.pause(trouble.reason).await;
                    paused.map_err(|reason| Error::Unavailable { reason })?;
                }
                Err(trouble) => return Err(Error::Connect { reason: trouble.reason.into() }),
            }
        }
    }

    pub(crate) const fn events(&self) -> &Events {
        &self.settings.events
    }

    /// Returns when a call that begins now must have ended.
    pub(crate) fn deadline(&self) -> Instant {
        after(self.settings.deadline)
    }

    /// Returns until when a command is tried that begins now, in a call that has to end at `end`. A
    /// call with many commands may last longer while the servers answer: each of its later commands
    /// then has the time of one reply.
    pub(crate) fn extended(&self, end: Instant) -> Instant {
        if Instant::now() < end { end } else { after(self.settings.timeout) }
    }

    /// Drops the shared connection to the node that has a slot, so that the next command makes
    /// another.
    pub(crate) fn renew(&self, slot: u16) {
        let node = self.known().slots.master(slot).cloned();
        node.iter().for_each(|node| self.nodes.drop_shared(node));
    }

    /// Returns the replica that may answer a query, unless all of them have failed a moment ago.
    pub(crate) fn replica(&self, slot: u16) -> Option<Node> {
        if !self.settings.replicas_read {
            return None;
        }
        let mut known = self.known();
        known.turn = known.turn.wrapping_add(1);
        let turn = known.turn;
        let replicas = known.slots.replicas(slot);
        let mut all = (0..replicas.len()).map(|number| &replicas[(turn + number) % replicas.len()]);
        all.find(|replica| !self.nodes.shuns(replica)).cloned()
    }

    /// Asks any node that answers which node has which slots, unless one was asked a moment ago.
    pub(crate) async fn refresh(&self) -> Result<(), Trouble> {
        let mut refreshed = self.refreshed.lock().await;
        if refreshed.is_some_and(|last: Instant| last.elapsed() < FRESH) {
            return Ok(());
        }
        let asked = self.ask_all().await;
        if asked.is_ok() {
            *refreshed = Some(Instant::now());
        }
        drop(refreshed);
        if let Err(trouble) = &asked {
            self.events().raise(|| Event::MapFailed { reason: trouble.reason.as_str().into() });
        }
        asked
    }

    async fn ask_all(&self) -> Result<(), Trouble> {
        let nodes: Vec<Node> = self.known().slots.nodes().cloned().collect();
        let nodes = nodes.into_iter().chain(self.nodes.seeds());
        let asked = stream::iter(nodes).map(async |node| (self.slots_by(&node).await, node));
        let mut asked = pin!(asked.buffer_unordered(NODES_AT_ONCE));
        let mut last = Trouble::lasting("no address");
        while let Some((answer, node)) = asked.next().await {
            match answer {
                Ok(slots) if !slots.is_empty() => {
                    self.nodes.keep(&slots);
                    self.known().slots = slots;
                    return Ok(());
                }
                Ok(_) => {
                    last = Trouble::passing(format!("{}:{} knows no slots", node.0, node.1));
                }
                // One that may heal is reported, since it is waited for.
                Err(trouble) if trouble.heals || !last.heals => last = trouble,
                Err(_) => {}
            }
        }
        Err(last)
    }

    /// Asks a node which node has which slots.
    async fn slots_by(&self, node: &Node) -> Result<Slots, Trouble> {
        let mut connection = self.nodes.connection(node, Use::Shared).await?;
        match self.ask(&mut connection, cmd("CLUSTER").arg("SLOTS").take()).await? {
            Value::ServerError(error) if no_cluster(&error) => {
                self.require_data(&mut connection).await?;
                Ok(Slots::single(node.clone()))
            }
            Value::ServerError(error) => {
                let lasting = ["NOAUTH", "WRONGPASS", "DENIED"].contains(&error.code());
                Err(Trouble { reason: message(&error), heals: !lasting })
            }
            reply => Ok(Slots::of_reply(&reply, node)),
        }
    }

    /// Returns an error if a server is a Sentinel, which has no data.
    async fn require_data(&self, connection: &mut Connection) -> Result<(), Trouble> {
        match self.ask(connection, cmd("ROLE")).await? {
            Value::Array(fields) if fields.first() == Some(&text("sentinel")) => {
                let reason = "this is a Sentinel, which stores no data: give the address of a server that it watches";
                Err(Trouble::lasting(reason))
            }
            // A user may lack the right to ask.
            _ => Ok(()),
        }
    }

    /// Sends one command that may be repeated.
    pub(crate) async fn ask(
        &self,
        connection: &mut Connection,
        command: redis::Cmd,
    ) -> Result<Value, Trouble> {
        let limit = self.nodes.timeout(Use::Shared);
        let sent = connection.send_one(command, limit, after(limit)).await;
        sent.map_err(|broken| {
            if broken.is_dead {
                self.nodes.forget(connection.number);
            }
            Trouble::passing(broken.reason)
        })
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }
}

/// Whether a server answers that it is not a node of a cluster, or does not let this user ask.
pub(crate) fn no_cluster(error: &ServerError) -> bool {
    let details = error.details().unwrap_or_default();
    error.code() == NO_RIGHT
        || ["cluster support disabled", "unknown command"].iter().any(|no| details.contains(no))
}

pub(crate) fn message(error: &ServerError) -> String {
    format!("{} {}", error.code(), error.details().unwrap_or_default()).trim_end().to_owned()
}

fn text(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}
