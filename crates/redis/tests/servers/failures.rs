//! One server that fails: what an insert returns, and what is then stored.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tamis_core::Figures;
use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::{PATIENCE, Server, insert_all, patiently, retries};

type Builder = tamis_redis::Builder<u64>;

fn builder(server: &Server) -> Builder {
    let builder = server.builder().capacity(10_000);
    builder.timeout(Duration::from_secs(1)).deadline(Duration::from_secs(3))
}

/// Opens the filter as a user who may send all commands but one.
fn open_without(server: &Server, command: &str) -> RedisBloomFilter<u64> {
    server.command(&["ACL", "SETUSER", "limited", "on", ">pw", "~*", "+@all", command]);
    let url = format!("redis://limited:pw@127.0.0.1:{}/", server.port());
    RedisBloomFilter::builder(&url, "seen").open().unwrap()
}

/// An insert without a reply is not repeated: the server executes it once, and the next insert of
/// the item returns `false`.
#[test]
fn an_insert_without_a_reply_has_no_verdict() {
    // No item counts bits, so all share a few commands. In the second filter each item counts, and
    // is sent alone, with a script.
    let shared = |builder: Builder| builder.fixed();
    let counted = |builder: Builder| builder.capacity(100).shards(1);
    for (made, items) in [(shared as fn(Builder) -> Builder, &[1_u64, 2, 3][..]), (counted, &[1])] {
        let Some(server) = Server::start() else { return };
        let patient = made(builder(&server)).timeout(PATIENCE).deadline(PATIENCE);
        let patient = patient.create().unwrap();
        let hasty = made(builder(&server)).timeout(Duration::from_millis(300));
        let filter = patiently(|| hasty.open());
        let commands = || server.inserts();
        let before = patiently(|| {
            let before = commands();
            patiently(|| filter.contains(&0));
            server.signal(Signal::STOP);
            let results = filter.insert_many(items);
            server.signal(Signal::CONT);
            // A connection that was idle for a second is asked first: then nothing is sent, and the
            // round shows nothing.
            if results.iter().any(|result| matches!(result, Err(Error::Unavailable { .. }))) {
                return Err(results);
            }
            for result in results {
                assert!(matches!(result, Err(Error::VerdictUnknown { .. })), "{result:?}");
            }
            Ok(before)
        });
        // The commands were in the server's buffer.
        let executed = commands() - before;
        assert!((1..=3).contains(&executed), "{executed}");
        thread::sleep(Duration::from_millis(500));
        assert_eq!(commands() - before, executed, "a command was sent again");
        assert_eq!(patient.insert_many(items), vec![Ok(false); items.len()]);
        assert_eq!(patient.insert(&4), Ok(true));
    }
}

/// A query is repeated until the server answers.
#[test]
fn a_query_without_a_reply_is_repeated() {
    let Some(server) = Server::start() else { return };
    builder(&server).create().unwrap().insert(&1).unwrap();
    let impatient = builder(&server).timeout(Duration::from_millis(300)).deadline(PATIENCE);
    let (impatient, retried) = retries(impatient);
    let filter = patiently(|| impatient.open());
    server.signal(Signal::STOP);
    thread::scope(|scope| {
        let query = scope.spawn(|| filter.contains_many([1_u64, 2]));
        retried();
        server.signal(Signal::CONT);
        assert_eq!(query.join().unwrap(), Ok(vec![true, false]));
    });
}

#[test]
fn without_a_server_nothing_is_stored() {
    let Some(mut server) = Server::start() else { return };
    let patient = builder(&server).timeout(PATIENCE).deadline(PATIENCE);
    let filter = patient.create().unwrap();
    let hasty = builder(&server).deadline(Duration::from_millis(300));
    let hasty_filter = patiently(|| hasty.open());
    server.kill();
    // The first insert may find the broken connection.
    let first = hasty_filter.insert(&1).unwrap_err();
    assert!(matches!(first, Error::VerdictUnknown { .. } | Error::Unavailable { .. }), "{first}");
    assert!(matches!(hasty_filter.insert(&2), Err(Error::Unavailable { .. })));
    assert!(matches!(hasty_filter.contains(&2), Err(Error::Unavailable { .. })));
    assert!(matches!(hasty.open(), Err(Error::Unavailable { .. })));
    // A server that starts within the patience is found, and it has lost the filter.
    let (patient, retried) = retries(patient);
    thread::scope(|scope| {
        let opened = scope.spawn(|| patient.open().map(|_| ()));
        retried();
        server.restart();
        assert_eq!(opened.join().unwrap(), Err(Error::Missing));
    });
    assert_eq!(filter.insert(&2), Err(Error::Replaced));
}

/// A master that has become a replica keeps its connections. The name of its host may mean another
/// server by then, so new ones are made until that can write.
#[test]
fn a_demoted_master_is_connected_to_anew() {
    let Some(server) = Server::start() else { return };
    let filter = builder(&server).create().unwrap();
    let connections = || server.field(&["INFO", "stats"], "total_connections_received");
    let connections = || connections().trim().parse::<u64>().unwrap();
    server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    let before = connections();
    let refused = filter.insert(&1);
    assert!(
        matches!(&refused, Err(Error::Unavailable { reason }) if reason.starts_with("READONLY")),
        "{refused:?}"
    );
    // The question itself takes one.
    assert!(connections() > before + 2, "no new connection");
    server.command(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(filter.insert(&1), Ok(true));
}

/// A deletion that is refused at its first step deletes nothing.
#[test]
fn a_refused_deletion_keeps_the_filter() {
    let Some(server) = Server::start() else { return };
    builder(&server).create().unwrap().insert(&1).unwrap();
    open_without(&server, "-hgetall");
    let url = format!("redis://limited:pw@127.0.0.1:{}/", server.port());
    let refused = RedisBloomFilter::<u64>::builder(&url, "seen").destroy();
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert_eq!(builder(&server).open().unwrap().contains(&1), Ok(true));
}

/// A server without memory refuses commands that may need some.
#[test]
fn a_refused_insert_stores_nothing() {
    let Some(server) = Server::start() else { return };
    let filter = builder(&server).create().unwrap();
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let refused = filter.insert(&1);
    assert!(
        matches!(&refused, Err(Error::Refused { reason }) if reason.starts_with("OOM")),
        "{refused:?}"
    );
    let created = RedisBloomFilter::<u64>::builder(&server.url(), "other").create();
    assert!(matches!(created, Err(Error::Refused { .. })));
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(filter.insert(&1), Ok(true));
    // A key of another type.
    for shard in 0..16 {
        let key = server.bits_key("seen", shard, 0);
        server.command(&["DEL", &key]);
        server.command(&["LPUSH", &key, "x"]);
    }
    assert!(matches!(filter.insert(&1), Err(Error::Refused { .. })));
    assert!(matches!(filter.contains(&1), Err(Error::Refused { .. })));
}

/// A deletion frees memory, so a server without memory must not refuse it.
#[test]
fn a_filter_is_deleted_without_memory() {
    let Some(server) = Server::start() else { return };
    for window in [None, Some(Duration::from_secs(3600))] {
        let builder =
            window.into_iter().fold(builder(&server), |builder, span| builder.window(span));
        builder.create().unwrap();
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        assert_eq!(builder.destroy(), Ok(()));
        assert_eq!(server.keys(), ["{seen}:lives"]);
        assert_eq!(builder.destroy(), Err(Error::Missing));
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    }
}

/// A shard that cannot grow keeps taking items, and grows when it can.
#[test]
fn a_shard_that_cannot_grow_takes_items() {
    let Some(server) = Server::start_with(&["--rename-command", "EVAL", "RENAMED"]) else { return };
    // The filter is created by hand: without scripts it cannot be created.
    let made = builder(&server).create();
    assert!(matches!(made, Err(Error::Refused { .. })), "{made:?}");
    let Some(with) = Server::start() else { return };
    let filter = builder(&with).create().unwrap();
    // Growth is a write of a new key, which a server without memory refuses; so are inserts. A user
    // without the right to run scripts can insert.
    let limited = open_without(&with, "-eval");
    insert_all(&limited, 0..30_000);
    let saturation = filter.figures().unwrap().saturation.value;
    assert_eq!(filter.storage().unwrap().slices, 1);
    assert!(saturation > 2.5, "it says that it is too full: {saturation}");
    let more = insert_all(&filter, 30_000..31_000);
    assert_eq!(filter.storage().unwrap().slices, 2);
    assert!(limited.contains_many(&more).unwrap().iter().all(|found| *found));
    // Larger slices with few items do not hide the one that is too full.
    // In parts, each of which has the deadline.
    for first in (31_000..100_000).step_by(3000) {
        insert_all(&filter, first..first + 3000);
    }
    let Figures { items, saturation, false_positive_rate: rate, .. } = filter.figures().unwrap();
    assert_eq!(filter.storage().unwrap().slices, 4);
    assert!(items.value < 150_000.0, "the slices have room for more: {items}");
    assert!(rate.value > filter.requested_rate() && saturation.value > 1.0, "{rate} {saturation}");
}

/// A shard is full, and the script that inserts an item must not create the next key: the item has
/// its verdict all the same.
#[test]
fn a_growth_that_fails_costs_no_verdict() {
    let Some(server) = Server::start() else { return };
    let all = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(10_000);
    let all = all.false_positive_rate(1e-6).create().unwrap();
    let limited = open_without(&server, "-del");
    let items: Vec<u64> = (0..12_000).collect();
    let results = limited.insert_many(&items);
    // One in four items counts, so hundreds of them find their shard full.
    let known = results.iter().filter(|result| **result != Ok(true)).count();
    assert!(known < 20, "{known} without a winner");
    assert_eq!(all.storage().unwrap().slices, 1);
    assert!(all.insert_many(&items).iter().all(|result| *result == Ok(false)));
}
