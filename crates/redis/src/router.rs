//! Connections to the nodes: sends commands to the node that has a slot, and never repeats one that may have been
//! executed, unless it only reads.
//!
//! The cluster client of the crate `redis` repeats a command after a lost connection, and returns one error for a whole
//! pipeline. Both would lose verdicts: an insert that is repeated finds its own bits. So this file routes by itself, over
//! the crate's connections.
//!
//! # Which errors mean what
//!
//! | the error | executed? | what is done |
//! |---|---|---|
//! | no connection | no | the nodes are asked for the slots again, until the patience ends |
//! | `MOVED`, `ASK` | no | sent to the named node |
//! | `TRYAGAIN`, `CLUSTERDOWN`, `LOADING`, `MASTERDOWN`, `READONLY`, `BUSY` | no | as without a connection |
//! | another error of the server | no | returned |
//! | the connection breaks, or the reply does not come in time | unknown | a read is repeated, a write is not |

use core::fmt::Display;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    Pipeline, ServerError, Value, cmd,
};
use tokio::time::{Instant, sleep};

use crate::slots::{Node, Slots, redirection};
use crate::{Error, commands};

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
    pub(crate) patience: Duration,
    /// Whether queries may go to replicas, whose bits may be older.
    pub(crate) replicas_read: bool,
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

    /// The error for an insert.
    pub(crate) fn of_insert(self) -> Error {
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

/// The connections of a filter.
pub(crate) struct Router {
    /// The addresses of the builder, by which all nodes are found.
    seeds: Vec<ConnectionInfo>,
    config: AsyncConnectionConfig,
    settings: Settings,
    known: Mutex<Known>,
    /// Locked while a connection is made.
    connecting: tokio::sync::Mutex<()>,
    /// When the nodes were last asked for the slots. Locked while they are asked.
    refreshed: tokio::sync::Mutex<Option<Instant>>,
}

/// What is known about the nodes.
struct Known {
    slots: Slots,
    /// By node, and whether it is asked as a replica.
    connections: HashMap<(Node, bool), Connection>,
    /// The number of the last connection.
    last: u64,
    /// Chooses among replicas in turn.
    turn: usize,
}

/// A connection, and its number. A node to which the connection was lost has another number afterwards.
#[derive(Clone)]
struct Connection {
    commands: MultiplexedConnection,
    number: u64,
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
        let info = |address: &String| {
            let wrong = |error: redis::RedisError| Error::Address { reason: text(error) };
            address.as_str().into_connection_info().map_err(wrong)
        };
        let seeds: Vec<_> = addresses.iter().map(info).collect::<Result<_, _>>()?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(settings.timeout))
            .set_response_timeout(Some(settings.timeout));
        let router = Self {
            seeds,
            config,
            settings,
            known: Mutex::new(Known {
                slots: Slots::of_reply(&Value::Nil, &Node::default()),
                connections: HashMap::new(),
                last: 0,
                turn: 0,
            }),
            connecting: tokio::sync::Mutex::new(()),
            refreshed: tokio::sync::Mutex::new(None),
        };
        let mut tries = Tries::new(router.settings.patience);
        loop {
            match router.refresh().await {
                Ok(()) => return Ok(router),
                Err(reason) => tries.pause(reason).await.map_err(Failure::of_read)?,
            }
        }
    }

    /// Sends commands to the node of a slot, in this order, and returns their replies. In the replies to
    /// [`Kind::Write`] commands after the first may be errors.
    pub(crate) async fn send(
        &self,
        slot: u16,
        commands: &[Cmd],
        kind: Kind,
    ) -> Result<Replies, Failure> {
        let mut tries = Tries::new(self.settings.patience);
        let mut redirections = 0;
        let mut redirected = None;
        loop {
            let Some(target) = redirected.take().or_else(|| self.target(slot, kind)) else {
                tries.pause(format!("no node has slot {slot}")).await?;
                _ = self.refresh().await;
                continue;
            };
            // Not executed: there is no connection.
            let mut connection = match self.connection(&target.node, target.replica).await {
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
                    self.forget(number);
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

    /// Waits until replicas have all that was written over a connection, for at most `wait`. Returns their number: 0 if
    /// the connection is lost, since the server has forgotten then what was written over it.
    pub(crate) async fn confirm(&self, connection: u64, replicas: u32, wait: Duration) -> u32 {
        let found = {
            let known = self.known();
            known.connections.values().find(|known| known.number == connection).cloned()
        };
        let Some(mut found) = found else { return 0 };
        let milliseconds = wait.as_millis().try_into().unwrap_or(u64::MAX);
        let command = commands::wait(replicas, milliseconds);
        match found.commands.send_packed_command(&command).await {
            Ok(Value::Int(replicas)) => replicas.try_into().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the connection to a node, which is made if there is none.
    async fn connection(&self, node: &Node, replica: bool) -> Result<Connection, String> {
        // All nodes have the users, the passwords and the encryption of the first.
        let seed = self.seeds.first().ok_or("no address")?;
        let info = seed.clone().set_addr(address_of(seed, node));
        self.connection_by(info, node, replica).await
    }

    /// Returns the connection to a node, which is made by an address if there is none.
    async fn connection_by(
        &self,
        info: ConnectionInfo,
        node: &Node,
        replica: bool,
    ) -> Result<Connection, String> {
        let key = (node.clone(), replica);
        let known = |router: &Self| router.known().connections.get(&key).cloned();
        if let Some(connection) = known(self) {
            return Ok(connection);
        }
        // One task connects, and the others use its connection.
        let _connecting = self.connecting.lock().await;
        if let Some(connection) = known(self) {
            return Ok(connection);
        }
        let mut commands = self.open(info).await?;
        if replica {
            // Without it a replica redirects to its master.
            let reply = commands.send_packed_command(&cmd("READONLY")).await;
            reply.map_err(|error| error.to_string())?;
        }
        let mut known = self.known();
        known.last += 1;
        let connection = Connection { commands, number: known.last };
        known.connections.insert(key, connection.clone());
        Ok(connection)
    }

    async fn open(&self, info: ConnectionInfo) -> Result<MultiplexedConnection, String> {
        let client = Client::open(info).map_err(|error| error.to_string())?;
        let opened = client.get_multiplexed_async_connection_with_config(&self.config).await;
        opened.map_err(|error| error.to_string())
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
        asked
    }

    async fn ask_all(&self) -> Result<(), String> {
        let nodes: Vec<Node> = self.known().slots.nodes().cloned().collect();
        let mut reason = "no address".to_owned();
        for node in nodes.into_iter().chain(self.seeds.iter().map(node_of)) {
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
        // An address of the builder may be a Unix socket, which no host and port stand for.
        let mut connection = match self.seeds.iter().find(|seed| node_of(seed) == *node) {
            Some(seed) => self.connection_by(seed.clone(), node, false).await?,
            None => self.connection(node, false).await?,
        };
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
                    self.forget(connection.number);
                }
                Err(error.to_string())
            }
        }
    }

    /// Drops a connection, so that the next command makes a new one.
    fn forget(&self, number: u64) {
        self.known().connections.retain(|_, connection| connection.number != number);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No code that could panic runs while it is locked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that is left for a command, and the next pause.
struct Tries {
    end: Instant,
    pause: Duration,
}

impl Tries {
    fn new(patience: Duration) -> Self {
        Self { end: Instant::now() + patience, pause: PAUSES[0] }
    }

    /// Waits before the next try, or returns the reason of the last one if the time is over.
    async fn pause(&mut self, reason: impl Into<Arc<str>>) -> Result<(), Failure> {
        if Instant::now() + self.pause > self.end {
            return Err(Failure::NotExecuted(reason.into()));
        }
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

/// Whether a server answers that it is not a node of a cluster.
fn no_cluster(error: &ServerError) -> bool {
    error.details().is_some_and(|details| details.contains("cluster support disabled"))
}

fn message(error: &ServerError) -> String {
    format!("{} {}", error.code(), error.details().unwrap_or_default()).trim_end().to_owned()
}

fn text(error: impl Display) -> Arc<str> {
    error.to_string().into()
}

/// Returns the host and port of an address. A Unix socket has none, and is the only node.
fn node_of(info: &ConnectionInfo) -> Node {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            (host.clone(), *port)
        }
        ConnectionAddr::Unix(path) => (path.display().to_string(), 0),
        _ => Node::default(),
    }
}

/// Returns the address of a node, with the encryption of another.
fn address_of(like: &ConnectionInfo, node: &Node) -> ConnectionAddr {
    let (to_host, to_port) = (node.0.clone(), node.1);
    match like.addr().clone() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host: to_host, port: to_port, insecure, tls_params }
        }
        ConnectionAddr::Unix(path) if to_port == 0 => ConnectionAddr::Unix(path),
        _ => ConnectionAddr::Tcp(to_host, to_port),
    }
}
