//! Sends commands to the node that has a slot, and never repeats one that may have been executed, unless it only reads.
//!
//! The cluster client of the crate `redis` repeats a command after a lost connection, and returns one error for a whole
//! pipeline. Both would lose verdicts: an insert that is repeated finds its own bits. So this file routes by itself, over
//! the crate's connections.
//!
//! # Which errors mean what
//!
//! | the error | executed? | what is done |
//! |---|---|---|
//! | no connection | no | the nodes are asked for the slots again, until the deadline |
//! | `MOVED`, `ASK` | no | sent to the named node |
//! | `TRYAGAIN`, `CLUSTERDOWN`, `LOADING`, `MASTERDOWN`, `READONLY`, `BUSY` | no | as without a connection |
//! | another error of the server | no | returned |
//! | the connection breaks, or the reply does not come in time | unknown | a read is repeated, a write is not |

use core::fmt::Display;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::{Cmd, Pipeline, ServerError, Value, cmd};
use tokio::time::{Instant, sleep};

use crate::Error;
use crate::events::{Event, Events};
use crate::nodes::Nodes;
use crate::slots::{Node, Slots, redirection};

/// The first pause before a command is sent again, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// How long the answer of a node counts as new: many commands may fail at once.
const FRESH: Duration = Duration::from_millis(50);

/// The most redirections in a row without a pause.
const MAX_REDIRECTIONS: u32 = 4;

/// How a filter uses its connections.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long a reply may take, and a connection.
    pub(crate) timeout: Duration,
    /// How long a command is tried that has not been executed.
    pub(crate) deadline: Duration,
    /// Whether queries may go to replicas, whose bits may be older.
    pub(crate) replicas_read: bool,
    /// Who hears what happens.
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
    /// The first writes and is not repeated. The others read.
    Write,
    /// All of them may be repeated, although they write.
    Idempotent,
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
struct Known {
    slots: Slots,
    /// Chooses among replicas in turn.
    turn: usize,
}

/// The replies to commands.
#[derive(Debug)]
pub(crate) struct Replies {
    pub(crate) values: Vec<Value>,
    /// The number of the connection.
    pub(crate) connection: u64,
}

/// Where to send commands next.
struct Target {
    node: Node,
    /// Whether the node only imports the slot.
    asking: bool,
    /// Whether the node may be a replica.
    replica: bool,
}

/// What the replies say.
enum Outcome {
    Done,
    Moved(u16, Node),
    Ask(Node),
    Later(String),
    Refused(String),
}

impl Router {
    /// Connects to the first address that answers, and asks it for the nodes.
    pub(crate) async fn connect(addresses: &[String], settings: Settings) -> Result<Self, Error> {
        let nodes = Nodes::new(addresses, settings.timeout)?;
        let slots = Slots::of_reply(&Value::Nil, &Node::default());
        let router = Self {
            nodes,
            settings,
            known: Mutex::new(Known { slots, turn: 0 }),
            refreshed: tokio::sync::Mutex::new(None),
        };
        let mut tries = Tries::new(router.deadline(), &router.settings.events);
        loop {
            match router.refresh().await {
                Ok(()) => break,
                Err(reason) => tries.pause(reason).await.map_err(Failure::of_read)?,
            }
        }
        Ok(router)
    }

    pub(crate) const fn events(&self) -> &Events {
        &self.settings.events
    }

    /// Returns when a call that begins now must have ended.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.settings.deadline
    }

    /// Sends commands to the node of a slot, in this order, and returns their replies. In the replies to
    /// [`Kind::Write`] commands after the first may be errors.
    pub(crate) async fn send(
        &self,
        slot: u16,
        commands: &[Cmd],
        kind: Kind,
        end: Instant,
    ) -> Result<Replies, Failure> {
        let mut tries = Tries::new(end, &self.settings.events);
        let mut redirections = 0;
        let mut redirected = None;
        loop {
            let Some(target) = redirected.take().or_else(|| self.target(slot, kind)) else {
                tries.pause(format!("no node has slot {slot}")).await?;
                _ = self.refresh().await;
                continue;
            };
            // Not executed: there is no connection.
            let mut connection = match self.nodes.connection(&target.node, target.replica).await {
                Ok(connection) => connection,
                Err(reason) => {
                    tries.pause(reason).await?;
                    _ = self.refresh().await;
                    continue;
                }
            };
            let (pipeline, skipped) = pipeline(commands, target.asking);
            let number = connection.number;
            let sent = connection.commands.send_packed_commands(&pipeline, 0, pipeline.len());
            let mut replies = match sent.await {
                Ok(replies) => replies,
                Err(error) => {
                    self.nodes.forget(number);
                    let reason = text(error);
                    if kind == Kind::Write {
                        return Err(Failure::Unknown(reason));
                    }
                    tries.pause(reason).await?;
                    _ = self.refresh().await;
                    continue;
                }
            };
            if skipped {
                // Behind each ASKING comes the reply.
                let mut number = 0;
                replies.retain(|_| {
                    number += 1;
                    number % 2 == 0
                });
            }
            if replies.len() != commands.len() {
                return Err(Failure::Unknown("the number of replies is wrong".into()));
            }
            // Of several commands, some may have been executed. One that writes is the first.
            let checked = if kind == Kind::Write { 1 } else { replies.len() };
            match outcome(&replies[..checked], &target.node) {
                Outcome::Done => return Ok(Replies { values: replies, connection: number }),
                Outcome::Refused(reason) => return Err(Failure::Refused(reason.into())),
                Outcome::Moved(slot, to) => {
                    // The whole map may have changed. What this node said is newer than what another one answers.
                    _ = self.refresh().await;
                    let name = || format!("{}:{}", to.0, to.1).into();
                    self.events().raise(|| Event::Moved { slot, to: name() });
                    self.known().slots.moved(slot, to);
                }
                Outcome::Ask(node) => {
                    redirected = Some(Target { node, asking: true, replica: false });
                }
                Outcome::Later(reason) => {
                    tries.pause(reason).await?;
                    _ = self.refresh().await;
                    continue;
                }
            }
            redirections += 1;
            if redirections > MAX_REDIRECTIONS {
                tries.pause("the nodes disagree about a slot".to_owned()).await?;
                _ = self.refresh().await;
                redirections = 0;
            }
        }
    }

    /// Chooses the node for commands.
    fn target(&self, slot: u16, kind: Kind) -> Option<Target> {
        let mut known = self.known();
        if kind == Kind::StaleRead && self.settings.replicas_read {
            known.turn = known.turn.wrapping_add(1);
            if let Some(node) = known.slots.replica(slot, known.turn) {
                return Some(Target { node: node.clone(), asking: false, replica: true });
            }
        }
        let node = known.slots.master(slot)?.clone();
        Some(Target { node, asking: false, replica: false })
    }

    /// Asks any node that answers which node has which slots, unless one was asked a moment ago.
    async fn refresh(&self) -> Result<(), String> {
        let mut refreshed = self.refreshed.lock().await;
        if refreshed.is_some_and(|last: Instant| last.elapsed() < FRESH) {
            return Ok(());
        }
        let asked = self.ask_all().await;
        if asked.is_ok() {
            *refreshed = Some(Instant::now());
        }
        drop(refreshed);
        if let Err(reason) = &asked {
            self.events().raise(|| Event::MapFailed { reason: reason.as_str().into() });
        }
        asked
    }

    async fn ask_all(&self) -> Result<(), String> {
        let nodes: Vec<Node> = self.known().slots.nodes().cloned().collect();
        let mut reason = "no address".to_owned();
        for node in nodes.into_iter().chain(self.nodes.seeds()) {
            match self.slots_by(&node).await {
                Ok(slots) if !slots.is_empty() => {
                    self.known().slots = slots;
                    return Ok(());
                }
                Ok(_) => reason = format!("{}:{} knows no slots", node.0, node.1),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    /// Asks a node which node has which slots.
    async fn slots_by(&self, node: &Node) -> Result<Slots, String> {
        let mut connection = self.nodes.connection(node, false).await?;
        let mut command = cmd("CLUSTER");
        command.arg("SLOTS");
        match connection.commands.send_packed_command(&command).await {
            Ok(Value::ServerError(error)) if no_cluster(&error) => Ok(Slots::single(node.clone())),
            Ok(Value::ServerError(error)) => Err(message(&error)),
            Ok(reply) => Ok(Slots::of_reply(&reply, node)),
            Err(error) => {
                if let Some(errors) = error.clone().into_server_errors() {
                    if errors.iter().any(|(_, error)| no_cluster(error)) {
                        return Ok(Slots::single(node.clone()));
                    }
                } else {
                    self.nodes.forget(connection.number);
                }
                Err(error.to_string())
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No code that could panic runs while it is locked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that is left for a command, and the next pause.
struct Tries<'e> {
    end: Instant,
    pause: Duration,
    events: &'e Events,
}

impl<'e> Tries<'e> {
    const fn new(end: Instant, events: &'e Events) -> Self {
        Self { end, pause: PAUSES[0], events }
    }

    /// Waits before the next try, or returns the reason of the last one if the time is over.
    async fn pause(&mut self, reason: impl Into<Arc<str>>) -> Result<(), Failure> {
        let reason = reason.into();
        if Instant::now() + self.pause > self.end {
            return Err(Failure::NotExecuted(reason));
        }
        self.events.retried(&reason, self.end);
        sleep(self.pause).await;
        self.pause = (2 * self.pause).min(PAUSES[1]);
        Ok(())
    }
}

/// Returns the commands as one pipeline; for a node that imports the slot, each behind an `ASKING`.
fn pipeline(commands: &[Cmd], asking: bool) -> (Pipeline, bool) {
    let mut pipeline = Pipeline::with_capacity(2 * commands.len());
    for command in commands {
        if asking {
            pipeline.add_command(cmd("ASKING"));
        }
        pipeline.add_command(command.clone());
    }
    (pipeline, asking)
}

/// Returns what the first error of some replies means.
fn outcome(replies: &[Value], asked: &Node) -> Outcome {
    let error = replies.iter().find_map(|reply| match reply {
        Value::ServerError(error) => Some(error),
        _ => None,
    });
    let Some(error) = error else { return Outcome::Done };
    let to = || redirection(error.details().unwrap_or_default(), asked);
    match error.code() {
        "MOVED" => match to() {
            Some((slot, node)) => Outcome::Moved(slot, node),
            None => Outcome::Later(message(error)),
        },
        "ASK" => match to() {
            Some((_, node)) => Outcome::Ask(node),
            None => Outcome::Later(message(error)),
        },
        "TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY" | "BUSY" => {
            Outcome::Later(message(error))
        }
        _ => Outcome::Refused(message(error)),
    }
}

/// Whether a server answers that it is not a node of a cluster, or does not let this user ask.
fn no_cluster(error: &ServerError) -> bool {
    let details = error.details().unwrap_or_default();
    error.code() == "NOPERM"
        || ["cluster support disabled", "unknown command"].iter().any(|no| details.contains(no))
}

fn message(error: &ServerError) -> String {
    format!("{} {}", error.code(), error.details().unwrap_or_default()).trim_end().to_owned()
}

fn text(error: impl Display) -> Arc<str> {
    error.to_string().into()
}
