//! The connections to the nodes: one per node, made when it is needed.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, Value, cmd};
use tokio::time::Instant;

use crate::slots::Node;
use crate::{Error, address, commands};

/// How long the result of an attempt to connect counts for the tasks that waited for it.
const FRESH: Duration = Duration::from_millis(100);

/// A connection, and its number. A node to which the connection was lost has another number afterwards.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) commands: MultiplexedConnection,
    pub(crate) number: u64,
}

/// The connections of a filter.
pub(crate) struct Nodes {
    /// The addresses of the builder, by which all nodes are found: at least one.
    seeds: Vec<ConnectionInfo>,
    config: AsyncConnectionConfig,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// By node, and whether it is asked as a replica.
    entries: HashMap<(Node, bool), Entry>,
    /// The number of the last connection.
    last: u64,
}

#[derive(Default)]
struct Entry {
    connection: Option<Connection>,
    /// Locked by the task that connects. Holds when that failed last, and why.
    connecting: Arc<tokio::sync::Mutex<Option<(Instant, String)>>>,
}

impl Nodes {
    /// Checks the addresses, and connects to none of them.
    pub(crate) fn new(addresses: &[String], timeout: Duration) -> Result<Self, Error> {
        let info = |address: &String| {
            let info = address::parse(address)?;
            // Commands are sent at once: each batch is written as a whole.
            let tcp = info.tcp_settings().clone().set_nodelay(true);
            Ok(info.set_tcp_settings(tcp))
        };
        let seeds: Vec<_> = addresses.iter().map(info).collect::<Result<_, Error>>()?;
        // Without a provider, or with several to choose from, a connection with encryption would panic. One that the
        // program has installed is kept.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(timeout))
            .set_response_timeout(Some(timeout));
        Ok(Self { seeds, config, table: Mutex::new(Table::default()) })
    }

    /// Returns the nodes of the builder's addresses.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = Node> {
        self.seeds.iter().map(node_of)
    }

    /// Returns the connection to a node, which is made if there is none.
    pub(crate) async fn connection(
        &self,
        node: &Node,
        replica: bool,
    ) -> Result<Connection, String> {
        let key = (node.clone(), replica);
        let connecting = {
            let mut table = self.table();
            let entry = table.entries.entry(key.clone()).or_default();
            match &entry.connection {
                Some(connection) => return Ok(connection.clone()),
                None => Arc::clone(&entry.connecting),
            }
        };
        // One task connects. The others use its connection, or fail as it has failed: one after another they would wait
        // for many timeouts.
        let mut failed = connecting.lock().await;
        let made = self.table().entries.get(&key).and_then(|entry| entry.connection.clone());
        if let Some(connection) = made {
            return Ok(connection);
        }
        if let Some((when, reason)) = &*failed
            && when.elapsed() < FRESH
        {
            return Err(reason.clone());
        }
        match self.open(node, replica).await {
            Ok(commands) => {
                let mut table = self.table();
                table.last += 1;
                let connection = Connection { commands, number: table.last };
                table.entries.entry(key).or_default().connection = Some(connection.clone());
                Ok(connection)
            }
            Err(reason) => {
                *failed = Some((Instant::now(), reason.clone()));
                Err(reason)
            }
        }
    }

    async fn open(&self, node: &Node, replica: bool) -> Result<MultiplexedConnection, String> {
        // The address of the builder itself may say more than host and port. All other nodes have the users, the
        // passwords and the encryption of the first.
        let own = self.seeds.iter().find(|seed| node_of(seed) == *node);
        let info = match (own, self.seeds.first()) {
            (Some(own), _) => own.clone(),
            (None, Some(first)) => first.clone().set_addr(address_of(first, node)),
            (None, None) => return Err("no address".to_owned()),
        };
        let client = Client::open(info.clone()).map_err(|error| address::message(&info, &error))?;
        let opened = client.get_multiplexed_async_connection_with_config(&self.config).await;
        let mut connection = opened.map_err(|error| address::message(&info, &error))?;
        if replica {
            // Without it a replica redirects to its master.
            let reply = connection.send_packed_command(&cmd("READONLY")).await;
            reply.map_err(|error| error.to_string())?;
        }
        Ok(connection)
    }

    /// Drops a connection, so that the next command makes a new one.
    pub(crate) fn forget(&self, number: u64) {
        for entry in self.table().entries.values_mut() {
            entry.connection.take_if(|connection| connection.number == number);
        }
    }

    /// Waits until replicas have all that was written over a connection, for at most `wait`. Returns their number: 0 if
    /// the connection is lost, since the server has forgotten then what was written over it.
    pub(crate) async fn confirm(&self, connection: u64, replicas: u32, wait: Duration) -> u32 {
        let found = {
            let table = self.table();
            let mut all = table.entries.values().filter_map(|entry| entry.connection.as_ref());
            all.find(|known| known.number == connection).cloned()
        };
        let Some(mut found) = found else { return 0 };
        let milliseconds = wait.as_millis().try_into().unwrap_or(u64::MAX);
        let command = commands::wait(replicas, milliseconds);
        match found.commands.send_packed_command(&command).await {
            Ok(Value::Int(replicas)) => replicas.try_into().unwrap_or(0),
            _ => 0,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code that could panic runs while it is locked.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
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
