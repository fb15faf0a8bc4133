//! Filters that are deleted and created again while other clients use them, and creations that are
//! interrupted.

use std::thread;
use std::time::Duration;

use redis::Value;
use rustix::process::Signal;
use tamis_redis::{Builder, Error, RedisBloomFilter};

use crate::harness::{Server, patiently, wait};

fn builder(server: &Server) -> Builder<u64> {
    server.builder().capacity(1000)
}

/// An old client neither reads nor writes the new filter, and leaves no key.
#[test]
fn a_client_of_a_deleted_filter_harms_nothing() {
    let Some(server) = Server::start() else { return };
    let items: Vec<u64> = (0..1000).collect();
    // The old filter is larger, so that its tags lie behind those of the new one.
    for capacity in [1000, 100_000] {
        let old = builder(&server).capacity(capacity).create().unwrap();
        assert!(old.insert_many(&items).iter().all(Result::is_ok));
        let open = |()| builder(&server).capacity(capacity).open().unwrap();
        let [reader, pusher, counter] = [(); 3].map(open);
        let local = pusher.local().unwrap();
        local.insert(&5);
        builder(&server).destroy().unwrap();
        let new = builder(&server).create().unwrap();
        let before = server.keys();
        // Each client finds out by itself.
        assert!(old.insert_many(&items).iter().all(|result| *result == Err(Error::Replaced)));
        assert_eq!(reader.contains_many(&items), Err(Error::Replaced));
        assert_eq!(pusher.push(&local), Err(Error::Replaced));
        assert_eq!(counter.figures(), Err(Error::Replaced));
        assert_eq!(counter.pull().map(|_| ()), Err(Error::Replaced));
        // It stays so, and no key of the old filter has come back, but bits that expire.
        assert_eq!(old.insert(&7), Err(Error::Replaced));
        assert_eq!(reader.contains(&7), Err(Error::Replaced));
        let lasting = |key: &String| !key.contains(":push:");
        assert_eq!(server.keys().into_iter().filter(lasting).collect::<Vec<_>>(), before);
        // The new filter has none of the old items, and wins each once.
        assert_eq!(new.contains_many(&items), Ok(vec![false; items.len()]));
        assert_eq!(new.insert_many(&items).iter().filter(|new| **new == Ok(true)).count(), 1000);
        new.insert_many(&items).iter().for_each(|new| assert_eq!(*new, Ok(false)));
        builder(&server).destroy().unwrap();
    }
}

/// A key of this name that is of no filter stays.
#[test]
fn destroy_removes_no_key_of_others() {
    let Some(server) = Server::start() else { return };
    for text in ["mine", "{}", r#"{"format":"other","version":1}"#] {
        server.command(&["SET", "{seen}", text]);
        assert!(matches!(builder(&server).destroy(), Err(Error::Descriptor { .. })), "{text}");
        assert_eq!(server.command(&["GET", "{seen}"]), Value::BulkString(text.into()));
    }
    // A damaged descriptor has a list of lives.
    server.command(&["DEL", "{seen}"]);
    builder(&server).create().unwrap();
    server.command(&["SET", "{seen}", "damaged"]);
    assert_eq!(builder(&server).destroy(), Ok(()));
    assert!(!server.keys().contains(&"{seen}".to_owned()));
    assert_eq!(builder(&server).destroy(), Err(Error::Missing));
    // A key of another type is as a text that is no descriptor.
    let used = builder(&server).create().unwrap();
    let put = || {
        server.command(&["DEL", "{seen}"]);
        server.command(&["HSET", "{seen}", "a", "b"]);
    };
    put();
    assert!(matches!(builder(&server).open(), Err(Error::Descriptor { .. })));
    wait("the client asks", || used.insert(&1) == Err(Error::Replaced));
    assert_eq!(builder(&server).destroy(), Ok(()));
    assert_eq!(server.keys(), ["{seen}:lives"]);
    put();
    assert!(matches!(builder(&server).destroy(), Err(Error::Descriptor { .. })));
    server.command(&["DEL", "{seen}"]);
    // A list of lives that have all ended makes a key no descriptor.
    server.command(&["SET", "{seen}", "mine"]);
    assert!(matches!(builder(&server).destroy(), Err(Error::Descriptor { .. })));
    assert_eq!(server.command(&["GET", "{seen}"]), Value::BulkString("mine".into()));
}

/// Creates a filter of many shards, and does something when a thousand keys are there. Returns what
/// the creation returns, unless it was faster.
fn disturbed(server: &Server, builder: &Builder<u64>, disturb: impl Fn()) -> Error {
    let creating = builder.clone().shards(65_536);
    patiently(|| {
        let created = thread::scope(|scope| {
            let created = scope.spawn(|| creating.create());
            wait("some keys", || server.query::<u64>(&["DBSIZE"]) > 1000);
            disturb();
            created.join().unwrap()
        });
        match created {
            Err(error) => Ok(error),
            Ok(_) => {
                server.signal(Signal::CONT);
                Err(creating.destroy())
            }
        }
    })
}

/// All keys, and so the list of lives, vanish in the middle of a creation. What it writes
/// afterwards is found by nobody but itself.
#[test]
fn a_creation_that_loses_its_life_removes_its_keys() {
    let Some(server) = Server::start() else { return };
    let flush = || _ = server.command(&["FLUSHALL"]);
    assert_eq!(disturbed(&server, &builder(&server), flush), Error::Replaced);
    assert_eq!(server.query::<u64>(&["DBSIZE"]), 0);
    assert_eq!(builder(&server).create().unwrap().insert(&1), Ok(true));
}

/// A creation whose server stops answering may have left a filter.
#[test]
fn a_creation_without_a_reply_has_no_verdict() {
    let Some(server) = Server::start() else { return };
    let hasty = builder(&server).timeout(Duration::from_millis(300));
    let hasty = hasty.deadline(Duration::from_secs(5));
    let error = disturbed(&server, &hasty, || server.signal(Signal::STOP));
    server.signal(Signal::CONT);
    assert!(matches!(error, Error::VerdictUnknown { .. }), "{error:?}");
    // What it has left is removed.
    assert_eq!(builder(&server).destroy(), Ok(()));
    assert_eq!(server.keys(), ["{seen}:lives"]);
}

/// The next filter removes the keys of the one before, whichever version of the protocol the
/// address asks for.
#[test]
fn ended_lives_are_swept_in_both_protocols() {
    let Some(server) = Server::start() else { return };
    for protocol in ["", "?protocol=resp3"] {
        let builder =
            RedisBloomFilter::<u64>::builder(&format!("{}{protocol}", server.url()), "seen");
        let builder = builder.capacity(1000).false_positive_rate(1e-12);
        builder.create().unwrap();
        let keys = server.keys().len();
        for _ in 0..3 {
            interrupt_deletion(&server);
            builder.create().unwrap();
        }
        assert_eq!(server.keys().len(), keys, "{protocol}");
        builder.destroy().unwrap();
    }
}

/// The deletion of a filter was interrupted, so its keys are still there. They are removed with the
/// next filter.
#[test]
fn a_client_of_an_interrupted_deletion_notices() {
    let Some(server) = Server::start() else { return };
    let old = builder(&server).create().unwrap();
    interrupt_deletion(&server);
    let new = builder(&server).create().unwrap();
    assert_eq!(old.insert(&1), Err(Error::Replaced));
    assert_eq!(new.insert(&1), Ok(true));
}

/// A client that was killed while it created a filter, at each point. The next may ask for another.
#[test]
fn the_next_client_takes_the_place_of_one_that_was_killed() {
    let Some(server) = Server::start() else { return };
    for keys in [0, 7, 16] {
        builder(&server).create().unwrap();
        let creating = unfinished(&server, keys);
        // It may still be alive: another waits.
        let other = builder(&server).capacity(2000);
        let hasty = other.clone().deadline(Duration::from_millis(500));
        let calls = [
            (Builder::open as fn(&_) -> _, Error::Creating),
            (Builder::open_or_create, Error::Creating),
            (Builder::create, Error::Exists),
        ];
        // Each call waits until its deadline, so all of them are made only where some keys exist.
        // Where all keys exist, `open_or_create` does not take the filter for a ready one.
        let made = match keys {
            0 => 0..0,
            7 => 0..3,
            _ => 1..2,
        };
        for (call, expected) in &calls[made] {
            let error = patiently(|| {
                begin(&server, &creating);
                match call(&hasty).unwrap_err() {
                    // The deadline came first.
                    error @ (Error::Unavailable { .. } | Error::VerdictUnknown { .. }) => {
                        Err(error)
                    }
                    error => Ok(error),
                }
            });
            assert_eq!(error, *expected);
        }
        // Its time is over.
        server.command(&["HSET", "{seen}:lives", &creating, "creating 1 16"]);
        let filter = other.open_or_create().unwrap();
        assert_eq!((filter.insert(&1), filter.capacity()), (Ok(true), 2000));
        let own = server.keys().iter().filter(|key| key.contains(&creating)).count();
        assert_eq!(own, 0, "keys of the client that was killed");
        builder(&server).destroy().unwrap();
    }
}

/// Makes a filter one whose client was killed after it had created this number of keys. Returns its
/// life.
fn unfinished(server: &Server, keys: u32) -> String {
    let ready: String = server.query(&["GET", "{seen}"]);
    let creating = ready.replace("\"ready\":true", "\"ready\":false");
    server.command(&["SET", "{seen}", &creating]);
    for shard in keys..16 {
        server.command(&["DEL", &server.bits_key("seen", shard, 0)]);
    }
    life(server)
}

/// Does what a deletion does first.
fn interrupt_deletion(server: &Server) {
    let (seconds, _): (u64, u64) = server.query(&["TIME"]);
    let record = format!("ended {} 16", seconds * 1000);
    server.command(&["HSET", "{seen}:lives", &life(server), &record]);
    server.command(&["DEL", "{seen}"]);
}

/// Returns the life of the filter.
fn life(server: &Server) -> String {
    let key = server.bits_key("seen", 0, 0);
    key.split(':').nth(2).unwrap().to_owned()
}

/// Records that a client creates this life, and may be alive for 9 s.
fn begin(server: &Server, life: &str) {
    let (seconds, _): (u64, u64) = server.query(&["TIME"]);
    let record = format!("creating {} 16", (seconds + 9) * 1000);
    server.command(&["HSET", "{seen}:lives", life, &record]);
}

/// What a deletion that was killed has left, and what a late command has written, the next one
/// removes.
#[test]
fn a_deletion_removes_every_life() {
    let Some(server) = Server::start() else { return };
    builder(&server).create().unwrap();
    let late = server.bits_key("seen", 5, 3);
    interrupt_deletion(&server);
    assert_eq!(builder(&server).destroy(), Ok(()));
    assert_eq!(server.keys(), ["{seen}:lives"]);
    server.command(&["SETRANGE", &late, "100", "x"]);
    // There is no filter, and the key is removed all the same.
    assert_eq!(builder(&server).destroy(), Err(Error::Missing));
    assert_eq!(server.keys(), ["{seen}:lives"]);
    // The same after a new filter.
    builder(&server).create().unwrap();
    server.command(&["SETRANGE", &late, "100", "x"]);
    builder(&server).destroy().unwrap();
    assert_eq!(server.keys(), ["{seen}:lives"]);
    // A life is forgotten an hour after its end.
    let life = late.split(':').nth(2).unwrap();
    server.command(&["HSET", "{seen}:lives", life, "swept 1 16"]);
    builder(&server).create().unwrap();
    builder(&server).destroy().unwrap();
    assert_eq!(server.command(&["HEXISTS", "{seen}:lives", life]), Value::Int(0));
    // Without the list, the descriptor names the keys.
    builder(&server).create().unwrap();
    server.command(&["DEL", "{seen}:lives"]);
    builder(&server).destroy().unwrap();
    assert_eq!(server.keys(), [""; 0]);
}

/// A filter of a layout that no release has written.
#[test]
fn the_first_layout_is_refused() {
    let Some(server) = Server::start() else { return };
    builder(&server).create().unwrap();
    let text: String = server.query(&["GET", "{seen}"]);
    let first = text.replace("\"version\":2", "\"version\":1");
    server.command(&["SET", "{seen}", &first]);
    let error = builder(&server).open().unwrap_err();
    assert!(
        matches!(&error, Error::Descriptor { found } if found.contains("version 1")),
        "{error}"
    );
}
