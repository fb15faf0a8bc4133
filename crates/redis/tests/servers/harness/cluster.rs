//! A cluster of three masters and three replicas.

use redis::{Connection, Value, cmd};
use tamis_hash::Rapid;
use tamis_redis::{Builder, RedisBloomFilter};

use super::server::Server;
use super::{PATIENCE, wait};

/// The masters, and the slots of each.
const MASTERS: [[u16; 2]; 3] = [[0, 5460], [5461, 10_922], [10_923, 16_383]];

/// After how many milliseconds of silence a node counts as failed. No busy machine is silent for so
/// long.
const NODE_TIMEOUT: &str = "60000";

/// The same, while a replica takes the place of a master that was killed.
const FAILOVER_TIMEOUT: &str = "2000";

/// Six servers.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
}

impl Cluster {
    /// Starts a cluster. Returns `None` if `redis-server` is not installed and not required.
    pub(crate) fn start() -> Option<Self> {
        let arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT];
        // A replica that has not heard from its master for some time may still take its place.
        // Nodes name a replica to clients after the first byte from its master: without a write,
        // that is a ping, by default one in 10 s.
        let replicas = [
            ["--cluster-replica-validity-factor", "0"],
            ["--repl-diskless-sync-delay", "0"],
            ["--repl-ping-replica-period", "1"],
        ];
        let arguments = [&arguments[..], replicas.as_flattened()].concat();
        let start = |_| Server::start_with(&arguments);
        let nodes: Vec<Server> = (0..6).map(start).collect::<Option<_>>()?;
        let cluster = Self { nodes };
        for (node, slots) in cluster.nodes.iter().zip(MASTERS) {
            // Redis 6 has no command for a range of slots.
            let slots: Vec<u16> = (slots[0]..=slots[1]).collect();
            cmd("CLUSTER").arg("ADDSLOTS").arg(slots).exec(&mut node.connection()).unwrap();
        }
        let ports: Vec<String> = cluster.nodes.iter().map(|node| node.port().to_string()).collect();
        wait("all nodes know each other", || {
            let mut all_met = true;
            for node in cluster.nodes.iter().filter(|node| node.known_nodes() < 6) {
                all_met = false;
                // A message may be lost, so it is sent again.
                for port in &ports {
                    node.command(&["CLUSTER", "MEET", "127.0.0.1", port]);
                }
            }
            all_met
        });
        for (replica, master) in cluster.nodes[3..].iter().zip(&cluster.nodes) {
            // A replica must know its master first.
            let id = master.id();
            wait("a replica has its master", || {
                cmd("CLUSTER").arg(&["REPLICATE", &id]).exec(&mut replica.connection()).is_ok()
            });
        }
        wait("the cluster works", || {
            let ok = |node: &Server| node.info("cluster_state") == "ok";
            let linked = |node: &Server| node.replication("master_link_status") == "up";
            cluster.nodes.iter().all(ok)
                && cluster.nodes[3..].iter().all(linked)
                && cluster.nodes.iter().all(Server::knows_replicas)
        });
        Some(cluster)
    }

    pub(crate) fn url(&self) -> String {
        self.nodes[0].url()
    }

    /// Returns the key of a slice of a shard of a filter.
    pub(crate) fn bits_key(&self, name: &str, shard: u32, slice: u32) -> String {
        let slot = self.slot(name);
        let node = self.nodes.iter().find(|node| node.owns(slot)).unwrap();
        node.bits_key(name, shard, slice)
    }

    /// Returns the slot of a key, by the account of a server.
    pub(crate) fn slot(&self, key: &str) -> u16 {
        self.nodes[2].query(&["CLUSTER", "KEYSLOT", key])
    }

    /// Returns a builder of a filter, which any master can be asked for.
    pub(crate) fn builder(&self, name: &str) -> Builder<u64> {
        let builder = RedisBloomFilter::builder(&self.url(), name);
        let builder = builder.or_address(&self.nodes[1].url()).or_address(&self.nodes[2].url());
        builder.hasher(Rapid::with_seed(1)).timeout(PATIENCE).deadline(PATIENCE)
    }

    /// Kills a node. If it is a master, its replica may take its place.
    pub(crate) fn kill(&mut self, node: usize) {
        self.set_node_timeout(FAILOVER_TIMEOUT);
        self.nodes[node].kill();
    }

    /// Waits until another node has a slot of one that was killed, and no node refuses commands.
    /// Returns the node.
    pub(crate) fn wait_for_failover(&mut self, slot: u16) -> usize {
        let left = self.running();
        let mut found = None;
        wait("a replica has taken the place of its master", || {
            found = left.iter().copied().find(|node| self.nodes[*node].owns(slot));
            found.is_some()
                && left.iter().all(|node| self.nodes[*node].info("cluster_state") == "ok")
        });
        self.set_node_timeout(NODE_TIMEOUT);
        found.unwrap()
    }

    fn set_node_timeout(&mut self, timeout: &str) {
        for node in self.running() {
            self.nodes[node].command(&["CONFIG", "SET", "cluster-node-timeout", timeout]);
        }
    }

    /// Returns the numbers of the nodes that were not killed.
    fn running(&mut self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].is_running()).collect()
    }

    /// Moves slots from one node to another, with their keys, as an operator does.
    pub(crate) fn move_slots(&self, slots: impl IntoIterator<Item = u16>, from: usize, to: usize) {
        let mut moving = Move::between(self, from, to);
        for slot in slots {
            moving.begin(slot);
            moving.end();
        }
    }
}

/// A move of a slot from one node to another.
pub(crate) struct Move {
    slot: String,
    ids: [String; 2],
    port: String,
    source: Connection,
    target: Connection,
}

impl Move {
    fn between(cluster: &Cluster, from: usize, to: usize) -> Self {
        let [from, to] = [from, to].map(|node| &cluster.nodes[node]);
        Self {
            slot: String::new(),
            ids: [from.id(), to.id()],
            port: to.port().to_string(),
            source: from.connection(),
            target: to.connection(),
        }
    }

    /// Begins the move of a slot.
    pub(crate) fn of(cluster: &Cluster, slot: u16, from: usize, to: usize) -> Self {
        let mut begun = Self::between(cluster, from, to);
        begun.begin(slot);
        begun
    }

    fn begin(&mut self, slot: u16) {
        self.slot = slot.to_string();
        self.set_target("IMPORTING", 0);
        self.set_source("MIGRATING");
    }

    /// Moves one key.
    pub(crate) fn key(&mut self, key: &str) {
        let words = ["127.0.0.1", &self.port, key, "0", "60000"];
        cmd("MIGRATE").arg(&words).exec(&mut self.source).unwrap();
    }

    /// Returns the keys that have not been moved.
    pub(crate) fn keys(&mut self) -> Vec<String> {
        let words = ["GETKEYSINSLOT", &self.slot, "1000"];
        cmd("CLUSTER").arg(&words).query(&mut self.source).unwrap()
    }

    /// Moves all other keys, and gives the slot to the new node.
    pub(crate) fn end(&mut self) {
        loop {
            let keys = self.keys();
            if keys.is_empty() {
                break;
            }
            keys.iter().for_each(|key| self.key(key));
        }
        // The new node first, so that the slot always has one.
        self.set_target("NODE", 1);
        self.set_source("NODE");
    }

    /// Sets the state of the slot in the old node: with the new one, or `STABLE`.
    pub(crate) fn set_source(&mut self, state: &str) {
        let mut words = vec!["SETSLOT", &self.slot, state];
        words.extend((state != "STABLE").then_some(&*self.ids[1]));
        cmd("CLUSTER").arg(words).exec(&mut self.source).unwrap();
    }

    /// Sets the state of the slot in the new node, with the old one or the new one.
    fn set_target(&mut self, state: &str, id: usize) {
        let words = ["SETSLOT", &self.slot, state, &self.ids[id]];
        cmd("CLUSTER").arg(&words).exec(&mut self.target).unwrap();
    }
}

impl Server {
    /// Returns how many nodes the server knows, itself included.
    fn known_nodes(&self) -> usize {
        let nodes: String = self.query(&["CLUSTER", "NODES"]);
        nodes.lines().filter(|line| !line.contains("handshake")).count()
    }

    fn id(&self) -> String {
        self.query(&["CLUSTER", "MYID"])
    }

    pub(crate) fn info(&self, field: &str) -> String {
        self.field(&["CLUSTER", "INFO"], field)
    }

    fn replication(&self, field: &str) -> String {
        self.field(&["INFO", "replication"], field)
    }

    /// Whether the server knows a replica of each master.
    fn knows_replicas(&self) -> bool {
        let Value::Array(ranges) = self.command(&["CLUSTER", "SLOTS"]) else { return false };
        ranges.iter().all(|range| matches!(range, Value::Array(fields) if fields.len() == 4))
    }

    /// Whether the server is a master that has a slot.
    pub(crate) fn owns(&self, slot: u16) -> bool {
        if self.replication("role") != "master" {
            return false;
        }
        let Value::Array(ranges) = self.command(&["CLUSTER", "SLOTS"]) else { return false };
        ranges.iter().any(|range| {
            let Value::Array(range) = range else { return false };
            let (Value::Int(first), Value::Int(last)) = (&range[0], &range[1]) else {
                return false;
            };
            let Value::Array(master) = &range[2] else { return false };
            let own = Value::Int(self.port().into());
            (*first..=*last).contains(&i64::from(slot)) && master[1] == own
        })
    }
}
