//! A part of a filter is gone: every client finds out, and nobody takes it for an empty one.

use redis::Value;
use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::Server;

const KEY: &str = "{seen:3}:0";

/// Ways to lose the bits of shard 3.
fn losses() -> Vec<Vec<&'static [&'static str]>> {
    vec![
        vec![&["DEL", KEY]],
        vec![&["PEXPIRE", KEY, "1"], &["DEBUG", "SLEEP", "0.01"]],
        vec![&["SET", KEY, ""]],
        // The bits are there, and the tag is not.
        vec![&["SETRANGE", KEY, "0", "x"], &["DEL", KEY], &["SETRANGE", KEY, "500", "x"]],
    ]
}

#[test]
fn a_lost_key_is_never_an_empty_one() {
    let Some(server) = Server::start_with(&["--enable-debug-command", "yes"]) else { return };
    for loss in losses() {
        let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(10_000);
        let filter = builder.create().unwrap();
        let items: Vec<u64> = (0..1000).collect();
        assert!(filter.insert_many(&items).iter().all(Result::is_ok));
        for command in loss {
            server.command(command);
        }
        let lost = Error::Lost { shard: 3, generation: 0 };
        // Items of this shard have errors, and the others have verdicts.
        let results = filter.insert_many(&items);
        let errors = results.iter().filter(|result| **result == Err(lost.clone())).count();
        assert!((20..150).contains(&errors), "{errors}");
        assert_eq!(results.iter().filter(|result| **result == Ok(false)).count(), 1000 - errors);
        // The failed inserts have written the key anew. It stays lost, for all clients.
        assert_eq!(filter.contains_many(&items), Err(lost.clone()));
        assert_eq!(filter.insert_many(&items), results);
        assert_eq!(builder.open().unwrap_err(), lost);
        assert_eq!(filter.figures().unwrap_err(), lost);
        assert_eq!(filter.pull().unwrap_err(), lost);
        builder.destroy().unwrap();
        assert_eq!(server.command(&["DBSIZE"]), Value::Int(0));
    }
}

/// A generation in the middle, and the open one.
#[test]
fn a_lost_generation_is_found() {
    let Some(server) = Server::start() else { return };
    for lost in [0, 1, 2] {
        let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(1000);
        let filter = builder.create().unwrap();
        // Each shard grows to its third generation at least.
        let items: Vec<u64> = (0..6000).collect();
        assert!(filter.insert_many(&items).iter().all(Result::is_ok));
        server.command(&["DEL", &format!("{{seen:7}}:{lost}")]);
        let lost = Error::Lost { shard: 7, generation: lost };
        assert_eq!(filter.contains_many(&items), Err(lost.clone()));
        let results = filter.insert_many(&items);
        assert!(results.contains(&Err(lost.clone())));
        assert!(!results.contains(&Ok(true)), "nobody wins an item that was there");
        assert_eq!(builder.open().unwrap_err(), lost);
        builder.destroy().unwrap();
    }
}

/// A server that evicts keys.
#[test]
fn eviction_is_found() {
    let arguments = ["--maxmemory", "6mb", "--maxmemory-policy", "allkeys-random"];
    let Some(server) = Server::start_with(&arguments) else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(500_000);
    let filter = builder.create().unwrap();
    let items: Vec<u64> = (0..2000).collect();
    assert!(filter.insert_many(&items).iter().all(Result::is_ok));
    let mut connection = server.connection();
    let value = vec![b'x'; 100_000];
    for number in 0..200 {
        redis::cmd("SET").arg(number).arg(&value).exec(&mut connection).unwrap();
    }
    assert!(matches!(filter.contains_many(&items), Err(Error::Lost { .. })));
    assert!(!filter.insert_many(&items).contains(&Ok(true)));
}

/// A filter that was deleted and created again is another one: a client of the first does not take it for its own.
#[test]
fn another_filter_of_the_same_name_is_found() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(1000);
    let old = builder.create().unwrap();
    builder.destroy().unwrap();
    let new = builder.create().unwrap();
    assert!(matches!(old.insert(&1), Err(Error::Lost { .. })));
    assert!(matches!(old.contains(&1), Err(Error::Lost { .. })));
    // The bits of the failed insert are a false positive of the new filter, and no more.
    assert_eq!(new.insert(&2), Ok(true));
    assert_eq!(new.contains(&2), Ok(true));
}
