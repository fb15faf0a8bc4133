//! Inserts that wait for replicas: which are confirmed, and what they do to each other.

use std::pin::pin;
use std::thread;
use std::time::Duration;

use futures_util::future::{Either, select};
use rustix::process::Signal;
use tamis_redis::Error;

use crate::harness::{PATIENCE, Server, retries, wait};

/// A server and its replica.
fn pair() -> Option<(Server, Server)> {
    let master = Server::start_with(&["--repl-diskless-sync-delay", "0"])?;
    let port = master.port().to_string();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &port])?;
    let has = |server: &Server, field: &str, part| {
        server.field(&["INFO", "replication"], field).contains(part)
    };
    wait("the replica has its master", || has(&replica, "master_link_status", "up"));
    // The master counts a replica from its first message on, which may take another second.
    wait("the master has its replica", || has(&master, "slave0", "online"));
    Some((master, replica))
}

/// Many tasks insert while the replica is stopped. None is confirmed, and each has its verdict: a
/// task that waits does not hold the others up.
#[test]
fn a_stopped_replica_confirms_nothing_and_costs_no_verdict() {
    let Some((master, replica)) = pair() else { return };
    let builder = master.async_builder::<u64>().capacity(100_000);
    // One wait takes a quarter of what a reply may take.
    let builder = builder.timeout(Duration::from_secs(2)).deadline(Duration::from_secs(120));
    let builder = builder.confirmed_by(1, Duration::from_millis(500));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let filter = builder.create().await.unwrap();
        // A busy machine may confirm late.
        let is_late = |result: &Result<bool, Error>| {
            matches!(result, Err(Error::NotReplicated { replicas: 0, .. }))
        };
        let mut first = filter.insert(&1_000_000).await;
        for _ in 0..100 {
            if is_late(&first) {
                first = filter.insert(&1_000_000).await;
            }
        }
        assert!(first.is_ok(), "{first:?}");
        replica.signal(Signal::STOP);
        // The second time on connections that other tasks have written over.
        for round in 0..2 {
            let tasks: Vec<_> = (0..128_u64)
                .map(|task| {
                    let filter = filter.clone();
                    tokio::spawn(async move { filter.insert_many([2 * task, 2 * task + 1]).await })
                })
                .collect();
            for task in tasks {
                for result in task.await.unwrap() {
                    let expected = Error::NotReplicated { new: round == 0, replicas: 0 };
                    assert_eq!(result, Err(expected));
                }
            }
        }
        replica.signal(Signal::CONT);
        let all: Vec<u64> = (0..256).collect();
        let mut results = filter.insert_many(&all).await;
        for _ in 0..100 {
            if results.iter().any(is_late) {
                results = filter.insert_many(&all).await;
            }
        }
        assert_eq!(results, vec![Ok(false); 256]);
    });
}

/// A call that is given up while it waits leaves no connection that still waits.
#[test]
fn a_wait_that_is_given_up_delays_no_other() {
    let Some((master, replica)) = pair() else { return };
    let builder = master.async_builder::<u64>().capacity(10_000).timeout(Duration::from_secs(2));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let filter = builder.create().await.unwrap();
        let patient = builder.clone().confirmed_by(1, Duration::MAX).open().await.unwrap();
        replica.signal(Signal::STOP);
        for item in 0..40_u64 {
            // It is given up when the item is stored.
            let stored = async { while filter.contains(&item).await != Ok(true) {} };
            match select(pin!(patient.insert(&item)), pin!(stored)).await {
                Either::Left((result, _)) => panic!("{result:?}"),
                Either::Right(_) => {}
            }
        }
        // More calls than may wait at the same time have been given up.
        assert_eq!(filter.insert_many(0..40).await, vec![Ok(false); 40]);
        replica.signal(Signal::CONT);
        assert_eq!(patient.insert(&40).await, Ok(true));
    });
}

/// A time below a millisecond is not "for ever", and one without end is no overflow.
#[test]
fn any_time_is_a_time() {
    let Some((master, replica)) = pair() else { return };
    let builder = master.builder::<u64>().capacity(10_000);
    let builder = builder.timeout(Duration::MAX).deadline(Duration::MAX);
    let patient = builder.clone().confirmed_by(1, Duration::MAX).create().unwrap();
    assert_eq!(patient.insert(&1), Ok(true));
    replica.signal(Signal::STOP);
    // Without an end of the wait, this test does not end.
    // Each item is new: Valkey has nothing to replicate of one that is there.
    let waits = [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(999)];
    for (item, wait) in (2..).zip(waits) {
        let filter = builder.clone().confirmed_by(1, wait).open().unwrap();
        assert_eq!(filter.insert(&item), Err(Error::NotReplicated { new: true, replicas: 0 }));
    }
    replica.signal(Signal::CONT);
    assert_eq!(patient.contains(&1), Ok(true));
}

/// A server that refuses writes until it has replicas is waited for.
#[test]
fn missing_replicas_are_awaited() {
    let Some(server) = Server::start() else { return };
    let builder = server.builder::<u64>().capacity(10_000);
    let hasty = builder.clone().deadline(Duration::from_millis(500)).create().unwrap();
    server.command(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    let result = hasty.insert(&1);
    assert!(
        matches!(&result, Err(Error::Unavailable { reason }) if reason.contains("NOREPLICAS")),
        "{result:?}"
    );
    let (builder, retried) = retries(builder.deadline(PATIENCE));
    let patient = builder.open().unwrap();
    thread::scope(|scope| {
        let insert = scope.spawn(|| patient.insert(&1));
        retried();
        server.command(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        assert_eq!(insert.join().unwrap(), Ok(true));
    });
}
