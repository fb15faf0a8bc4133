//! Connections that end while nobody uses them: the next insert has its verdict.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tamis_redis::Error;

use crate::harness::{PATIENCE, Server, patiently};

/// A server that has all its data again after a restart.
fn start() -> Option<Server> {
    Server::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
}

fn builder(server: &Server) -> tamis_redis::Builder<u64> {
    server.builder().capacity(10_000).timeout(PATIENCE).deadline(PATIENCE)
}

fn kill_clients(server: &Server) {
    server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
}

/// The server closes what nobody uses for a second.
#[test]
fn a_server_that_closes_idle_connections_costs_no_verdict() {
    let Some(server) = start() else { return };
    server.command(&["CONFIG", "SET", "timeout", "1"]);
    let filter = builder(&server).create().unwrap();
    for item in 0..2 {
        // Only the connection that asks is left.
        let end = Instant::now() + Duration::from_secs(60);
        while server.field(&["INFO", "clients"], "connected_clients") != "1" {
            assert!(Instant::now() < end, "the server keeps the connection");
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(filter.insert(&item), Ok(true));
        assert_eq!(filter.insert(&item), Ok(false));
    }
}

#[test]
fn a_restart_and_killed_connections_cost_no_verdict() {
    let Some(mut server) = start() else { return };
    let filter = builder(&server).create().unwrap();
    assert_eq!(filter.insert(&1), Ok(true));
    server.kill();
    server.restart();
    assert_eq!((filter.insert(&2), filter.insert(&1)), (Ok(true), Ok(false)));

    // Many tasks find the end of one connection. Each item is inserted once.
    for round in 0..30_u64 {
        kill_clients(&server);
        thread::scope(|scope| {
            for thread in 0..8 {
                let filter = &filter;
                scope
                    .spawn(move || assert_eq!(filter.insert(&(10 + 8 * round + thread)), Ok(true)));
            }
        });
    }
}

/// A runtime of one thread reads nothing while no future runs on it.
#[test]
fn a_runtime_that_stood_still_finds_the_end() {
    let Some(server) = start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let builder = server.async_builder::<u64>().capacity(10_000);
    let filter = runtime.block_on(builder.timeout(PATIENCE).deadline(PATIENCE).create()).unwrap();
    for item in 0..30 {
        kill_clients(&server);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(runtime.block_on(filter.insert(&item)), Ok(true));
    }
}

/// A server that hangs does not close its connections. One that is idle is asked first, so nothing
/// was sent.
#[test]
fn an_idle_connection_to_a_server_that_hangs_sends_nothing() {
    let Some(server) = start() else { return };
    let filter = builder(&server).create().unwrap();
    assert_eq!(filter.insert(&1), Ok(true));
    let hasty = builder(&server).timeout(Duration::from_millis(300));
    let hasty = hasty.deadline(Duration::from_millis(600));
    let hasty = patiently(|| hasty.open());
    let before = server.inserts();
    thread::sleep(Duration::from_millis(1100));
    server.signal(Signal::STOP);
    for item in 2..5 {
        let result = hasty.insert(&item);
        assert!(matches!(result, Err(Error::Unavailable { .. })), "{result:?}");
    }
    server.signal(Signal::CONT);
    assert_eq!(server.inserts(), before);
    assert_eq!(filter.insert(&2), Ok(true));
    assert!(!patiently(|| hasty.insert(&2)));
}
