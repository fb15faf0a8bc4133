//! A filter reports what it does by itself.

use std::sync::mpsc;
use std::time::Duration;

use tamis_redis::{Event, RedisBloomFilter};

use crate::harness::Server;

/// Each slice after the first is reported, once, by the client that created it.
#[test]
fn growth_is_reported_by_its_client() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen");
    let builder = builder.capacity(1000).false_positive_rate(1e-3);
    let (sender, events) = mpsc::channel();
    let open = || {
        let sender = sender.clone();
        let told = move |event: &Event| sender.send(event.clone()).unwrap();
        builder.clone().on_event(told).open_or_create().unwrap()
    };
    let [first, second] = [open(), open()];
    for items in (0..20_000_u64).collect::<Vec<_>>().chunks(1000) {
        assert!(first.insert_many(items).iter().all(Result::is_ok));
        assert!(second.insert_many(items).iter().all(Result::is_ok));
    }
    let keys = first.storage().unwrap().keys;
    drop((first, second, sender));
    let mut grown: Vec<(u32, u32)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Grown { shard, slice } => Some((shard, slice)),
            _ => None,
        })
        .collect();
    let reported = grown.len() as u64;
    grown.sort_unstable();
    grown.dedup();
    assert_eq!(grown.len() as u64, reported, "a slice is reported twice");
    assert!(reported > 16 && grown.iter().all(|(_, slice)| *slice > 0));
    // The first slice of each of 16 shards is there from the creation of the filter.
    assert_eq!(keys, reported + 16);
}

/// A user who may not count bits cannot grow a shard, in a filter of either kind.
#[test]
fn a_shard_that_cannot_be_counted_is_reported() {
    let Some(server) = Server::start() else { return };
    let user = ["ACL", "SETUSER", "limited", "on", ">pw", "~*", "&*", "+@all", "-bitcount"];
    server.command(&user);
    let url = format!("redis://limited:pw@127.0.0.1:{}/", server.port());
    for window in [None, Some(Duration::from_secs(600))] {
        let builder = RedisBloomFilter::<u64>::builder(&url, "seen").capacity(1000).shards(1);
        let builder = window.into_iter().fold(builder, |builder, span| builder.window(span));
        let (sender, events) = mpsc::channel();
        let send = move |event: &Event| sender.send(event.clone()).unwrap();
        let filter = builder.clone().on_event(send).create().unwrap();
        let items: Vec<u64> = (0..3000).collect();
        assert!(filter.insert_many(&items).iter().all(Result::is_ok));
        drop(filter);
        let failed =
            |event: &Event| matches!(event, Event::GrowthFailed { shard: 0, slice: 0, .. });
        assert!(events.iter().filter(failed).count() > 10, "{window:?}");
        builder.destroy().unwrap();
    }
}
