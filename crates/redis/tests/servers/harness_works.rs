//! The harness: its servers start, end and fail as the other tests need it.

use std::net::TcpStream;
use std::process::{Command, Output};
use std::{env, panic};

use redis::{Value, cmd};

use crate::harness::{Cluster, Server};

fn connects(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_is_gone_after_a_drop_and_after_a_panic() {
    let Some(server) = Server::start() else { return };
    let port = server.port();
    assert_eq!(server.command(&["PING"]), Value::SimpleString("PONG".into()));
    drop(server);
    assert!(!connects(port));

    let server = Server::start().unwrap();
    let port = server.port();
    assert!(connects(port));
    // Unlike `panic!`, this prints no message.
    let panicking = move || {
        let _server = server;
        panic::resume_unwind(Box::new(()));
    };
    assert!(panic::catch_unwind(panic::AssertUnwindSafe(panicking)).is_err());
    assert!(!connects(port));
}

#[test]
fn a_server_starts_again_empty_on_its_port() {
    let Some(mut server) = Server::start_with(&["--maxmemory", "10mb"]) else { return };
    let port = server.port();
    server.command(&["SET", "a", "1"]);
    assert_eq!(server.command(&["DBSIZE"]), Value::Int(1));
    server.kill();
    assert!(!connects(port));
    server.restart();
    assert_eq!(server.port(), port);
    assert_eq!(server.command(&["DBSIZE"]), Value::Int(0));
    // It has the same arguments.
    let limit: Vec<String> = server.query(&["CONFIG", "GET", "maxmemory"]);
    assert_eq!(limit, ["maxmemory", "10485760"]);
}

#[test]
fn processor_time_is_that_of_the_server() {
    let Some(server) = Server::start() else { return };
    let before = server.cpu_seconds();
    server.command(&["EVAL", "for i = 1, 1e7 do end", "0"]);
    assert!(server.cpu_seconds() > before);
}

/// Without `redis-server`, a test is skipped, unless the environment requires it or names another
/// program.
#[test]
fn a_missing_server_is_an_error_only_if_it_is_required() {
    let empty = tempfile::tempdir().unwrap();
    let run = |set: &dyn Fn(&mut Command) -> &mut Command| -> Output {
        let mut test = Command::new(env::current_exe().unwrap());
        test.args([
            "harness_works::processor_time_is_that_of_the_server",
            "--exact",
            "--nocapture",
        ]);
        test.env("PATH", empty.path()).env_remove("TAMIS_REDIS_SERVER");
        set(&mut test).output().unwrap()
    };
    let skipped = run(&|test| test.env_remove("TAMIS_REQUIRE_REDIS"));
    assert!(skipped.status.success(), "{skipped:?}");
    assert!(String::from_utf8_lossy(&skipped.stderr).contains("SKIPPED: "), "{skipped:?}");
    for (name, value) in [("TAMIS_REQUIRE_REDIS", "1"), ("TAMIS_REDIS_SERVER", "no-such-server")] {
        let failed = run(&|test| test.env_remove("TAMIS_REQUIRE_REDIS").env(name, value));
        assert!(!failed.status.success(), "{failed:?}");
        assert!(String::from_utf8_lossy(&failed.stderr).contains("is required"), "{failed:?}");
    }
}

#[test]
fn a_cluster_moves_a_slot_and_survives_a_killed_master() {
    let Some(mut cluster) = Cluster::start() else { return };
    assert_eq!(cluster.nodes.len(), 6);
    let roles = cluster.nodes.iter().map(|node| node.field(&["INFO", "replication"], "role"));
    assert_eq!(
        roles.collect::<Vec<_>>(),
        ["master", "master", "master", "slave", "slave", "slave"]
    );

    // A slot moves with its key.
    let (key, slot) = key_of(&cluster, 0);
    cluster.nodes[0].command(&["SET", &key, "moved"]);
    assert!(cluster.nodes[0].owns(slot) && !cluster.nodes[1].owns(slot));
    cluster.move_slots([slot], 0, 1);
    assert!(!cluster.nodes[0].owns(slot) && cluster.nodes[1].owns(slot));
    assert_eq!(get(&cluster.nodes[1], &key), "moved");
    assert_eq!(cluster.nodes[0].command(&["DBSIZE"]), Value::Int(0));

    // A replica has what was confirmed when its master is killed.
    let (key, slot) = key_of(&cluster, 2);
    // WAIT waits for the writes of its own connection.
    let mut connection = cluster.nodes[2].connection();
    cmd("SET").arg(&key).arg("kept").exec(&mut connection).unwrap();
    let replicas: u64 = cmd("WAIT").arg(1).arg(0).query(&mut connection).unwrap();
    assert_eq!(replicas, 1);
    cluster.kill(2);
    let master = cluster.wait_for_failover(slot);
    assert_eq!(master, 5);
    assert_eq!(get(&cluster.nodes[master], &key), "kept");
    for node in [0, 1, 3, 4, 5] {
        assert_eq!(cluster.nodes[node].info("cluster_state"), "ok");
    }
}

/// Returns a key of a slot of the node, and the slot.
fn key_of(cluster: &Cluster, node: usize) -> (String, u16) {
    let keys = (0..).map(|number: u32| format!("key {number}"));
    let mut slots = keys.map(|key| (key.clone(), cluster.slot(&key)));
    slots.find(|(_, slot)| cluster.nodes[node].owns(*slot)).unwrap()
}

fn get(node: &Server, key: &str) -> String {
    node.query(&["GET", key])
}
