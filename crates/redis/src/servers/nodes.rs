//! The connections to the nodes, made when they are needed: one per node that all tasks share, and
//! more for tasks whose writes are confirmed.

use core::time::Duration;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use redis::{ConnectionAddr, ConnectionInfo, Value, cmd};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use crate::error::Error;
use crate::lock::lock;
use crate::servers::address;
use crate::servers::connection::Connection;
use crate::servers::slots::{Node, Slots};
use crate::servers::stream::Trouble;
use crate::servers::tries::after;
use crate::wire::commands;

/// How long the result of an attempt to connect counts for the tasks that waited for it.
const FRESH: Duration = Duration::from_millis(100);

/// The calls that wait for replicas at the same time, and so the most connections per node in
/// addition to the shared one.
const LANES: usize = 32;

/// How long a replica that has failed is left alone.
const SHUNNED: Duration = Duration::from_secs(10);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// All tasks send over it.
    Shared,
    /// All tasks send queries over it, whose answers may be old.
    Replica,
    /// One task sends over it, and then waits for the replicas of the node.
    Lane(u32),
}

/// The connections of a filter.
pub(crate) struct Nodes {
    /// The addresses of the builder, by which all nodes are found: at least one.
    seeds: Vec<ConnectionInfo>,
    /// How long a reply may take, and a connection.
    timeout: Duration,
    table: Mutex<Table>,
    lanes: Semaphore,
}

#[derive(Default)]
struct Table {
    entries: HashMap<(Node, Use), Entry>,
    /// The number of the last connection.
    last: u64,
    /// Whether any connection was ever made.
    connected: bool,
    /// The lanes that nobody uses. The last is taken first, since its connections exist.
    free: Vec<u32>,
    /// The lanes that were ever used.
    lanes: u32,
    /// Until when no replica of these nodes is asked.
    shunned: HashMap<Node, Instant>,
}

#[derive(Default)]
struct Entry {
    connection: Option<Connection>,
    /// Locked by the task that connects. Holds when that failed last, and why.
    connecting: Arc<tokio::sync::Mutex<Option<(Instant, Trouble)>>>,
}

/// Connections of one call, one per node. `WAIT` blocks a connection, and covers only what was
/// written over it.
pub(crate) struct Lane<'n> {
    nodes: &'n Nodes,
    pub(crate) number: u32,
    /// Whether the server may still owe replies.
    busy: bool,
    _permit: SemaphorePermit<'n>,
}

impl Lane<'_> {
    /// The call has all its replies.
    pub(crate) fn finish(mut self) {
        self.busy = false;
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let mut table = lock(&self.nodes.table);
        if self.busy {
            // The next call would wait behind this one.
            table.entries.retain(|(_, used), _| *used != Use::Lane(self.number));
        }
        table.free.push(self.number);
    }
}

impl Nodes {
    /// Checks the addresses, and connects to none of them.
    pub(crate) fn new(addresses: &[String], timeout: Duration) -> Result<Self, Error> {
        let info = |address: &String| address::parse(address);
        let seeds: Vec<_> = addresses.iter().map(info).collect::<Result<_, Error>>()?;
        // Without a provider, or with several to choose from, a connection with encryption would
        // panic. One that the program has installed is kept.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            seeds,
            timeout,
            table: Mutex::new(Table::default()),
            lanes: Semaphore::new(LANES),
        })
    }

    /// Returns the nodes of the builder's addresses.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = Node> {
        self.seeds.iter().map(node_of)
    }

    /// Returns how long a reply may take. Instead of a replica that is late, its master is asked.
    pub(crate) fn timeout(&self, used: Use) -> Duration {
        if used == Use::Replica { self.timeout / 10 } else { self.timeout }
    }

    /// Returns connections for one call, once fewer than [`LANES`] calls wait for replicas.
    pub(crate) async fn lane(&self, end: Instant) -> Result<Lane<'_>, Error> {
        let reason = "too many inserts wait for replicas";
        let waited = timeout_at(end, self.lanes.acquire()).await;
        let late = || Error::Unavailable { reason: reason.into() };
        let permit = waited.ok().and_then(Result::ok).ok_or_else(late)?;
        let mut table = lock(&self.table);
        let number = table.free.pop().unwrap_or_else(|| {
            table.lanes += 1;
            table.lanes
        });
        Ok(Lane { nodes: self, number, busy: true, _permit: permit })
    }

    /// Returns the connection to a node, which is made if there is none.
    pub(crate) async fn connection(&self, node: &Node, used: Use) -> Result<Connection, Trouble> {
        let key = (node.clone(), used);
        let connecting = {
            let mut table = lock(&self.table);
            let entry = table.entries.entry(key.clone()).or_default();
            match &entry.connection {
                Some(connection) => return Ok(connection.clone()),
                None => Arc::clone(&entry.connecting),
            }
        };
        // One task connects. The others use its connection, or fail as it has failed: one after
        // another they would wait for many timeouts.
        let mut failed = connecting.lock().await;
        let made = lock(&self.table).entries.get(&key).and_then(|entry| entry.connection.clone());
        if let Some(connection) = made {
            return Ok(connection);
        }
        if let Some((when, trouble)) = &*failed
            && when.elapsed() < FRESH
        {
            return Err(trouble.clone());
        }
        let limit = self.timeout(used);
        let late = || Trouble::passing(format!("no connection was made within {limit:?}"));
        let opened = timeout(limit, self.open(node, used)).await;
        match opened.unwrap_or_else(|_| Err(late())) {
            Ok(connection) => {
                let mut table = lock(&self.table);
                table.entries.entry(key).or_default().connection = Some(connection.clone());
                Ok(connection)
            }
            Err(trouble) => {
                *failed = Some((Instant::now(), trouble.clone()));
                Err(trouble)
            }
        }
    }

    async fn open(&self, node: &Node, used: Use) -> Result<Connection, Trouble> {
        // The address of the builder itself may say more than host and port. All other nodes have
        // the users, the passwords and the encryption of the first.
        let own = self.seeds.iter().find(|seed| node_of(seed) == *node);
        let info = match (own, self.seeds.first()) {
            (Some(own), _) => own.clone(),
            (None, Some(first)) => first.clone().set_addr(address_of(first, node)),
            (None, None) => return Err(Trouble::lasting("no address")),
        };
        let (number, probes) = {
            let mut table = lock(&self.table);
            table.last += 1;
            (table.last, !table.connected)
        };
        let mut connection = Connection::open(&info, number, self.timeout(used), probes).await?;
        lock(&self.table).connected = true;
        if used == Use::Replica {
            // Without it a replica redirects to its master.
            let limit = self.timeout(used);
            let reply = connection.send_one(cmd("READONLY"), limit, after(limit)).await;
            reply.map_err(|broken| Trouble::passing(broken.reason))?;
        }
        Ok(connection)
    }

    /// Drops a connection, so that the next command makes a new one.
    pub(crate) fn forget(&self, number: u64) {
        for entry in lock(&self.table).entries.values_mut() {
            entry.connection.take_if(|connection| connection.number == number);
        }
    }

    /// Forgets nodes that have left, once their connections have ended.
    pub(crate) fn keep(&self, slots: &Slots) {
        let known: HashSet<Node> = slots.nodes().cloned().chain(self.seeds()).collect();
        let mut table = lock(&self.table);
        table.entries.retain(|(node, _), entry| {
            known.contains(node) || entry.connection.as_ref().is_some_and(Connection::is_open)
        });
        table.shunned.retain(|node, _| known.contains(node));
    }

    /// Drops the shared connection to a node. Commands that are on their way over it go on.
    pub(crate) fn drop_shared(&self, node: &Node) {
        if let Some(entry) = lock(&self.table).entries.get_mut(&(node.clone(), Use::Shared)) {
            entry.connection = None;
        }
    }

    /// Records that a replica has failed.
    pub(crate) fn shun(&self, replica: Node) {
        lock(&self.table).shunned.insert(replica, Instant::now() + SHUNNED);
    }

    /// Returns whether a replica has failed a moment ago.
    pub(crate) fn shuns(&self, replica: &Node) -> bool {
        let mut table = lock(&self.table);
        let is_over = table.shunned.get(replica).is_some_and(|until| *until <= Instant::now());
        if is_over {
            table.shunned.remove(replica);
        }
        table.shunned.contains_key(replica)
    }

    /// Waits until replicas have all that was written over a connection, for at most `wait`.
    /// Returns their number: 0 if the connection is lost, since the server has forgotten then what
    /// was written over it. The reply is waited for until `end`, at least for `wait`.
    pub(crate) async fn confirm(
        &self,
        connection: u64,
        replicas: u32,
        wait: Duration,
        end: Instant,
    ) -> u32 {
        let found = {
            let table = lock(&self.table);
            let mut all = table.entries.values().filter_map(|entry| entry.connection.as_ref());
            all.find(|known| known.number == connection).cloned()
        };
        let Some(mut found) = found else { return 0 };
        let command = commands::wait(replicas, wait);
        let late = self.timeout.min(end.saturating_duration_since(Instant::now()));
        let limit = wait.saturating_add(late);
        match found.send_one(command, limit, after(limit)).await {
            Ok(Value::Int(replicas)) => replicas.try_into().unwrap_or(0),
            Ok(_) => 0,
            Err(_) => {
                // The server may wait still.
                self.forget(connection);
                0
            }
        }
    }
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
        _ => ConnectionAddr::Tcp(to_host, to_port),
    }
}
