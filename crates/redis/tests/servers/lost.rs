//! A part of a filter is gone: every client finds out, and nobody takes it for an empty one.

use std::time::Duration;

use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::{Server, insert_all};

/// Ways to lose the bits of a key.
const LOSSES: [&[&[&str]]; 4] = [
    &[&["DEL", "KEY"]],
    &[&["PEXPIRE", "KEY", "1"], &["DEBUG", "SLEEP", "0.01"]],
    &[&["SET", "KEY", ""]],
    // The bits are there, and the tag is not.
    &[&["SETRANGE", "KEY", "0", "x"], &["DEL", "KEY"], &["SETRANGE", "KEY", "500", "x"]],
];

#[test]
fn a_lost_key_is_never_an_empty_one() {
    let Some(server) = Server::start_with(&["--enable-debug-command", "yes"]) else { return };
    for loss in LOSSES {
        let builder = server.builder::<u64>().capacity(10_000);
        let filter = builder.create().unwrap();
        let items = insert_all(&filter, 0..1000);
        let key = server.bits_key("seen", 3, 0);
        for command in loss {
            let with_key = command.iter().map(|word| if *word == "KEY" { &key } else { *word });
            server.command(&with_key.collect::<Vec<_>>());
        }
        let lost = Error::Lost { shard: 3, slice: 0 };
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
        assert_eq!(server.keys(), ["{seen}:lives"]);
    }
}

/// A filter whose description alone is lost is neither missing nor replaced by an empty one.
#[test]
fn a_lost_description_is_no_missing_filter() {
    let Some(server) = Server::start() else { return };
    for window in [None, Some(Duration::from_secs(3600))] {
        let builder = server.builder::<u64>().capacity(10_000);
        let builder = window.into_iter().fold(builder, |builder, span| builder.window(span));
        builder.create().unwrap().insert(&1).unwrap();
        let mut keys = server.keys();
        keys.retain(|key| key != "{seen}");
        server.command(&["DEL", "{seen}"]);
        for opened in [builder.create(), builder.open(), builder.open_or_create()] {
            assert_eq!(opened.unwrap_err(), Error::DescriptorLost);
            assert_eq!(server.keys(), keys);
        }
        // A deletion removes the rest, and the name can be used again.
        builder.destroy().unwrap();
        assert_eq!(server.keys(), ["{seen}:lives"]);
        assert_eq!(builder.open().unwrap_err(), Error::Missing);
        assert_eq!(builder.create().unwrap().insert(&1), Ok(true));
        builder.destroy().unwrap();
    }
}

/// A slice in the middle, and the open one.
#[test]
fn a_lost_slice_is_found() {
    let Some(server) = Server::start() else { return };
    for lost in [0, 1, 2] {
        let builder = server.builder::<u64>().capacity(1000);
        let filter = builder.create().unwrap();
        // Each shard grows to its third slice at least.
        let items = insert_all(&filter, 0..6000);
        server.command(&["DEL", &server.bits_key("seen", 7, lost)]);
        let lost = Error::Lost { shard: 7, slice: lost };
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
    let items = insert_all(&filter, 0..2000);
    let mut connection = server.connection();
    let value = vec![b'x'; 100_000];
    for number in 0..200 {
        redis::cmd("SET").arg(number).arg(&value).exec(&mut connection).unwrap();
    }
    // The descriptor may be evicted, too: then no client can open the filter.
    let error = filter.contains_many(&items).unwrap_err();
    assert!(matches!(error, Error::Lost { .. } | Error::Replaced), "{error}");
    assert!(!filter.insert_many(&items).contains(&Ok(true)));
}
