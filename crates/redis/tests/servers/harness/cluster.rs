//! A cluster of three masters and three replicas.

use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::{Connection, Value, cmd};

use super::server::Server;

/// The masters, and the slots of each.
const MASTERS: [[u16; 2]; 3] = [[0, 5460], [5461, 10_922], [10_923, 16_383]];

/// How long the cluster may take to agree on something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Six servers.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
}

impl Cluster {
    /// Starts a cluster. Returns `None` if `redis-server` is not installed and not required.
    pub(crate) fn start() -> Option<Self> {
        let arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
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
        let port = cluster.nodes[0].port().to_string();
        for node in &cluster.nodes[1..] {
            node.command(&["CLUSTER", "MEET", "127.0.0.1", &port]);
        }
        cluster.wait("all nodes know each other", || {
            cluster.nodes.iter().all(|node| node.info("cluster_known_nodes") == "6")
        });
        for (replica, master) in cluster.nodes[3..].iter().zip(&cluster.nodes) {
            // A replica must know its master first.
            let id = master.id();
            cluster.wait("a replica has its master", || {
                let mut command = cmd("CLUSTER");
                let replicate = command.arg(&["REPLICATE", &id]);
                replicate.query::<Value>(&mut replica.connection()).is_ok()
            });
        }
        cluster.wait("the cluster works", || {
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
        let Value::Int(slot) = self.nodes[0].command(&["CLUSTER", "KEYSLOT", name]) else {
            panic!()
        };
        let node = self.nodes.iter().find(|node| node.owns(slot as u16)).unwrap();
        node.bits_key(name, shard, slice)
    }

    /// Waits until another node has a slot, and no node refuses commands. Returns the node.
    pub(crate) fn wait_for_failover(&self, from: usize, slot: u16) -> usize {
        let others: Vec<usize> = (0..self.nodes.len()).filter(|node| *node != from).collect();
        let mut found = None;
        self.wait("a replica has taken the place of its master", || {
            found = others.iter().copied().find(|node| self.nodes[*node].owns(slot));
            // A node that was killed before reports nothing.
            found.is_some()
                && others.iter().all(|node| self.nodes[*node].info("cluster_state") != "fail")
        });
        found.unwrap()
    }

    /// Moves slots from one node to another, with their keys, as an operator does.
    pub(crate) fn move_slots(&self, slots: impl IntoIterator<Item = u16>, from: usize, to: usize) {
        let [mut source, mut target] = [from, to].map(|node| self.nodes[node].connection());
        let ids = [self.nodes[from].id(), self.nodes[to].id()];
        let port = self.nodes[to].port().to_string();
        for slot in slots {
            let slot = slot.to_string();
            let set = |words: &[&str], connection: &mut Connection| {
                cmd("CLUSTER").arg("SETSLOT").arg(&slot).arg(words).exec(connection).unwrap();
            };
            set(&["IMPORTING", &ids[0]], &mut target);
            set(&["MIGRATING", &ids[1]], &mut source);
            loop {
                let mut command = cmd("CLUSTER");
                let get = command.arg(&["GETKEYSINSLOT", &slot, "100"]);
                let keys: Vec<String> = get.query(&mut source).unwrap();
                if keys.is_empty() {
                    break;
                }
                let mut migrate = cmd("MIGRATE");
                migrate.arg(&["127.0.0.1", &port, "", "0", "10000", "KEYS"]).arg(&keys);
                migrate.exec(&mut source).unwrap();
            }
            // The new node first, so that the slot always has one.
            set(&["NODE", &ids[1]], &mut target);
            set(&["NODE", &ids[1]], &mut source);
        }
    }

    /// Waits until something holds.
    fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < end, "this was awaited in vain: {what}");
            sleep(Duration::from_millis(20));
        }
    }
}

impl Server {
    fn id(&self) -> String {
        match self.command(&["CLUSTER", "MYID"]) {
            Value::BulkString(id) => String::from_utf8(id).unwrap(),
            other => panic!("{other:?}"),
        }
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
