//! Filters that forget: every insert is followed, by the clock of the server.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::Duration;

use redis::{Connection, Value, cmd};
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_bloom::ScalableBloomFilter;
use tamis_hash::Rapid;
use tamis_redis::{Builder, Error, LocalFirst, RedisBloomFilter};

use crate::harness::{Cluster, Server, insert_all, patiently};

/// The span, and how long an item stays at most, in microseconds of the server.
const SPAN: i64 = 1_500_000;
const LIFE: i64 = 2_000_000;

fn builder(address: &str) -> Builder<u64> {
    RedisBloomFilter::builder(address, "seen").hasher(Rapid::with_seed(1))
}

/// Returns a filter that remembers items for [`SPAN`], and that has no false positive in practice.
fn short(address: &str) -> Builder<u64> {
    let builder = builder(address).capacity(20_000).false_positive_rate(1e-9);
    builder.window(Duration::from_micros(SPAN as u64)).shards(4)
}

/// Returns the time of the server in microseconds.
fn time(connection: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = cmd("TIME").query(connection).unwrap();
    seconds * 1_000_000 + micros
}

/// Returns the key of the list of a shard.
fn list(server: &Server, shard: u32) -> String {
    let keys = server.keys_like(&format!("{{seen:{shard}}}:*:epochs"));
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys[0].clone()
}

/// Moves the starts of all epochs of a shard by milliseconds: as if the clock had been set by as
/// much the other way.
fn move_starts(server: &Server, shard: u32, by: i64) {
    let list = list(server, shard);
    let text: String = server.query(&["GET", &list]);
    let moved = text.split(' ').map(|word| match word.split(':').collect::<Vec<_>>()[..] {
        [number, start, open] => format!("{number}:{}:{open}", start.parse::<i64>().unwrap() + by),
        _ => word.to_owned(),
    });
    server.command(&["SET", &list, &moved.collect::<Vec<_>>().join(" ")]);
}

/// A script that fails in the middle leaves no bits that do not expire.
#[test]
fn no_bits_stay_that_a_script_could_not_finish() {
    let Some(server) = Server::start() else { return };
    let filter = short(&server.url()).shards(1).create().unwrap();
    for denied in ["-pexpireat", "-setrange"] {
        server.command(&["ACL", "SETUSER", "limited", "on", ">pw", "~*", "+@all", denied]);
        let limited = short(&format!("redis://limited:pw@127.0.0.1:{}/", server.port()));
        let limited = limited.shards(1).open().unwrap();
        assert!(filter.insert(&1).is_ok());
        // The next epoch begins.
        move_starts(&server, 0, -SPAN / 3000);
        let inserted = limited.insert(&2);
        assert_eq!(inserted.is_err(), denied == "-setrange", "{inserted:?}");
        let bits = server.keys_like("{seen:0}:*").into_iter();
        for key in bits.filter(|key| !key.ends_with(":epochs")) {
            let left: i64 = server.query(&["PTTL", &key]);
            assert!(left != -1, "{key} stays after {denied}");
        }
    }
}

/// A client inserts new and known items all the time, and asks for all of them.
#[test]
fn items_are_remembered_for_the_span_and_at_most_a_third_longer() {
    let Some(server) = Server::start() else { return };
    let (filter, mut clock) = (short(&server.url()).create().unwrap(), server.connection());
    // When each item won last: the time before its insert, and after.
    let mut won: HashMap<u64, [i64; 2]> = HashMap::new();
    let (begin, mut round) = (time(&mut clock), 0_u64);
    let (mut present, mut absent, mut again, mut repeats) = (0, 0, 0, 0);
    // No time decides when the test ends: it goes on until each case has come often enough.
    while present.min(absent).min(again).min(repeats) < 1000 || time(&mut clock) < begin + 3 * LIFE
    {
        // 40 new items, and 40 that were inserted at any time before.
        let old = (0..40).map(|number| (round * 7919 + number * 104_729) % (40 * round).max(1));
        let items: Vec<u64> = (40 * round..40 * round + 40).chain(old).collect();
        let before = time(&mut clock);
        let results = filter.insert_many(&items);
        let after = time(&mut clock);
        for (item, result) in items.iter().zip(results) {
            let last = won.get(item).copied();
            match (result.unwrap(), last) {
                (true, None) => _ = won.insert(*item, [before, after]),
                (true, Some([earliest, _])) => {
                    // In one batch an item wins once.
                    assert!(earliest != before, "two winners at once");
                    assert!(after - earliest > SPAN, "two winners in {}", after - earliest);
                    again += 1;
                    won.insert(*item, [before, after]);
                }
                (false, Some([_, latest])) => {
                    assert!(before - latest < LIFE, "no winner after {}", before - latest);
                    repeats += 1;
                }
                (false, None) => panic!("item {item} has never won"),
            }
        }
        if round % 8 == 0 {
            let items: Vec<u64> = won.keys().copied().collect();
            let before = time(&mut clock);
            let found = filter.contains_many(&items).unwrap();
            let after = time(&mut clock);
            for (item, found) in items.iter().zip(found) {
                let [earliest, latest] = won[item];
                if after < earliest + SPAN {
                    assert!(found, "item {item} is forgotten after {} at most", after - earliest);
                    present += 1;
                } else if before >= latest + LIFE {
                    assert!(!found, "item {item} is there after {}", before - latest);
                    absent += 1;
                }
            }
        }
        round += 1;
    }
    // Forgotten epochs take no memory: a shard has four at most. All keys have expired if no insert
    // came for some time.
    let keys = patiently(|| {
        insert_all(&filter, 40 * round..40 * round + 40);
        round += 1;
        let keys = server.keys_like("{seen:0}:*:0");
        if keys.is_empty() { Err("a key") } else { Ok(keys) }
    });
    assert!(keys.len() <= 4, "{keys:?}");
}

/// Four clients insert the same items while these are forgotten again and again.
#[test]
fn of_racing_clients_one_wins_within_the_span() {
    let Some(server) = Server::start() else { return };
    let builder = short(&server.url());
    builder.create().unwrap();
    let race = || {
        let (filter, mut clock) = (builder.open().unwrap(), server.connection());
        let (end, mut results) = (time(&mut clock) + 5 * SPAN / 2, Vec::new());
        for round in 0_u64.. {
            let items: Vec<u64> = (0..50).map(|number| (round * 50 + number) % 2000).collect();
            let before = time(&mut clock);
            let new = filter.insert_many(&items);
            let after = time(&mut clock);
            let new = items.iter().zip(new).map(|(item, new)| (*item, new.unwrap(), before, after));
            results.extend(new);
            // Each item has come often enough.
            if after > end && round > 200 {
                break;
            }
        }
        results
    };
    let results: Vec<Vec<(u64, bool, i64, i64)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let shares: Vec<usize> =
        results.iter().map(|results| results.iter().filter(|(_, new, ..)| *new).count()).collect();
    let all: Vec<_> = results.into_iter().flatten().collect();
    let mut winners: HashMap<u64, Vec<(i64, i64)>> = HashMap::new();
    for (item, _, before, after) in all.iter().filter(|(_, new, ..)| *new) {
        winners.entry(*item).or_default().push((*before, *after));
    }
    let mut again = 0;
    for winners in winners.values_mut() {
        winners.sort_unstable();
        for two in winners.windows(2) {
            assert!(two[1].1 - two[0].0 > SPAN, "two winners: {two:?}");
            again += 1;
        }
    }
    // Each insert that lost has a winner that is not forgotten.
    for (item, _, before, after) in all.iter().filter(|(_, new, ..)| !new) {
        let winners = winners.get(item).map_or(&[][..], Vec::as_slice);
        let wins = |(first, last): &(i64, i64)| first <= after && *before < last + LIFE;
        assert!(winners.iter().any(wins), "no winner of {item}: {winners:?}, {before}, {after}");
    }
    assert!(again > 0, "{shares:?}");
    assert!(shares.iter().filter(|share| **share > 0).count() > 1, "{shares:?}");
}

#[test]
fn an_epoch_grows_and_its_keys_expire() {
    let Some(server) = Server::start() else { return };
    let rate = 1e-3;
    let builder = builder(&server.url()).capacity(3000).false_positive_rate(rate).shards(2);
    let builder = builder.window(Duration::from_secs(3600));
    let filter = builder.create().unwrap();
    // Ten times the items of an epoch, and three times those of the span.
    let items: Vec<u64> = (0..10_000).collect();
    let new = filter.insert_many(&items);
    let lost = new.iter().filter(|new| **new != Ok(true)).count() as u64;
    let most = |tries: f64| Poisson::new(rate * tries).unwrap().inverse_cdf(1.0 - 1e-9);
    assert!(lost <= most(10_000.0), "{lost}");
    assert!(filter.contains_many(&items).unwrap().iter().all(|found| *found));
    assert!(filter.insert_many(&items).iter().all(|new| *new == Ok(false)));
    let others: Vec<u64> = (1 << 40..(1 << 40) + 50_000).collect();
    let hits = filter.contains_many(&others).unwrap().iter().filter(|hit| **hit).count() as u64;
    assert!(hits <= most(50_000.0), "{hits}");
    let figures = filter.figures().unwrap();
    assert!(figures.false_positive_rate.value < rate, "{figures:?}");
    assert!((9000.0..11_000.0).contains(&figures.items.value), "{figures:?}");
    assert!(filter.storage().unwrap().slices >= 3);
    // Another client finds the same, and the parameters of the whole.
    let other = builder.open().unwrap();
    assert_eq!((other.capacity(), other.window()), (3000, Some(Duration::from_secs(3600))));
    assert!(other.insert_many(&items).iter().all(|new| *new == Ok(false)));
    let wrong =
        RedisBloomFilter::<u64>::builder(&server.url(), "seen").window(Duration::from_secs(9));
    assert!(matches!(wrong.open(), Err(Error::Parameters { field: "window", .. })));
    // The life of an epoch is 4800 s, and the margin 1200 s. Lists stay.
    for key in server.keys_like("{seen:*") {
        let left = server.command(&["PTTL", &key]);
        if key.ends_with(":epochs") {
            assert_eq!(left, Value::Int(-1), "{key}");
        } else {
            assert!(matches!(left, Value::Int(5_900_000..=6_000_000)), "{key} {left:?}");
        }
    }
    builder.destroy().unwrap();
    assert_eq!(server.keys(), ["{seen}:lives"]);
}

/// A key that is listed and not due is lost, until it is due. One that is due is not.
#[test]
fn a_lost_epoch_is_found_and_forgotten() {
    let Some(server) = Server::start() else { return };
    let builder = builder(&server.url()).shards(1).window(Duration::from_secs(3600));
    let filter = builder.create().unwrap();
    assert_eq!(filter.insert(&1), Ok(true));
    // The epoch of item 1 ends, and the next begins.
    move_starts(&server, 0, -1_300_000);
    assert_eq!((filter.insert(&2), filter.insert(&1)), (Ok(true), Ok(false)));
    let first = list(&server, 0).replace("epochs", "0:0");
    assert_eq!(server.command(&["DEL", &first]), Value::Int(1));
    let lost = || Error::Lost { shard: 0, slice: 0 };
    for item in [1, 2, 3] {
        assert_eq!((filter.insert(&item), filter.contains(&item)), (Err(lost()), Err(lost())));
    }
    assert_eq!(builder.open().unwrap_err(), lost());
    assert_eq!(filter.figures().unwrap_err(), lost());
    // No failed insert has made the key anew.
    assert_eq!(server.command(&["EXISTS", &first]), Value::Int(0));
    // The first epoch is due, the second is not: what is lost is forgotten.
    move_starts(&server, 0, -3_600_000);
    assert_eq!((filter.contains(&1), filter.contains(&2)), (Ok(false), Ok(true)));
    assert_eq!((filter.insert(&1), filter.insert(&2)), (Ok(true), Ok(false)));
    assert_eq!(builder.open().unwrap().insert(&3), Ok(true));
    // All epochs are due, and their keys have expired.
    move_starts(&server, 0, -9_000_000);
    let keys = server.keys_like("{seen:0}:*[0-9]");
    assert_eq!(keys.len(), 2, "{keys:?}");
    keys.iter().for_each(|key| _ = server.command(&["DEL", key]));
    assert_eq!((filter.contains(&3), filter.figures().unwrap().items.value), (Ok(false), 0.0));
    assert_eq!(builder.open().unwrap().insert(&3), Ok(true));
    // Without its list the shard is lost for good.
    server.command(&["DEL", &list(&server, 0)]);
    for item in [1, 3] {
        assert_eq!((filter.insert(&item), filter.contains(&item)), (Err(lost()), Err(lost())));
    }
    assert_eq!(builder.open().unwrap_err(), lost());
    builder.destroy().unwrap();
    builder.create().unwrap();
}

/// The starts of the epochs are moved, so no clock of this machine matters: the span is an hour.
#[test]
fn a_clock_that_is_set_freezes_nothing() {
    let Some(server) = Server::start() else { return };
    let builder = builder(&server.url()).shards(1).window(Duration::from_secs(3600));
    let filter = builder.create().unwrap();
    assert_eq!(filter.insert(&1), Ok(true));
    // The clock is set back by a year: the item is still there, and other items are new, once.
    move_starts(&server, 0, 365 * 86_400_000);
    assert_eq!((filter.contains(&1), filter.contains(&2)), (Ok(true), Ok(false)));
    assert_eq!((filter.insert(&1), filter.insert(&2)), (Ok(false), Ok(true)));
    // From here on the time goes on as before: an epoch takes 1200 s, and its life 4800 s.
    move_starts(&server, 0, -1_100_000);
    assert_eq!((filter.insert(&2), filter.insert(&3)), (Ok(false), Ok(true)));
    move_starts(&server, 0, -2_000_000);
    assert_eq!((filter.insert(&2), filter.insert(&4)), (Ok(false), Ok(true)));
    move_starts(&server, 0, -2_000_000);
    assert_eq!((filter.contains(&2), filter.contains(&4)), (Ok(false), Ok(true)));
    assert_eq!(
        (filter.insert(&2), filter.insert(&2), filter.insert(&4)),
        (Ok(true), Ok(false), Ok(false))
    );
    // The clock jumps ahead by a year: all items are forgotten, and others are remembered as
    // before.
    move_starts(&server, 0, -365 * 86_400_000);
    assert_eq!(
        (filter.contains(&2), filter.insert(&2), filter.insert(&2)),
        (Ok(false), Ok(true), Ok(false))
    );
    // It comes back.
    move_starts(&server, 0, 365 * 86_400_000);
    assert_eq!(
        (filter.contains(&2), filter.insert(&2), filter.insert(&3)),
        (Ok(true), Ok(false), Ok(true))
    );
    // A clock that begins in 1970, and is set right.
    let now = time(&mut server.connection()) / 1000;
    move_starts(&server, 0, 1000 - now);
    assert_eq!(
        (filter.contains(&3), filter.insert(&3), filter.insert(&3)),
        (Ok(false), Ok(true), Ok(false))
    );
    assert_eq!(builder.open().unwrap().contains(&3), Ok(true));
}

/// A server evicts keys that expire: those with the bits.
#[test]
fn eviction_of_an_epoch_is_found() {
    let arguments = ["--maxmemory", "6mb", "--maxmemory-policy", "volatile-random"];
    let Some(server) = Server::start_with(&arguments) else { return };
    let builder = builder(&server.url()).capacity(1_000_000).window(Duration::from_secs(3600));
    let filter = builder.create().unwrap();
    let items = insert_all(&filter, 0..2000);
    let mut connection = server.connection();
    let value = vec![b'x'; 100_000];
    for number in 0..40 {
        _ = cmd("SET").arg(number).arg(&value).exec(&mut connection);
    }
    assert!(matches!(filter.contains_many(&items), Err(Error::Lost { .. })));
    assert!(!filter.insert_many(&items).contains(&Ok(true)));
}

#[test]
fn what_would_not_forget_is_refused() {
    let Some(server) = Server::start() else { return };
    let builder = builder(&server.url()).capacity(1000);
    for span in [Duration::ZERO, Duration::from_millis(998), Duration::MAX] {
        let refused = builder.clone().window(span).create().unwrap_err();
        assert_eq!(refused, Error::Span { span });
    }
    let filter = builder.clone().window(Duration::from_secs(60)).create().unwrap();
    let local =
        ScalableBloomFilter::<u64>::builder().hasher(filter.hasher().clone()).capacity(10).build();
    let local = local.unwrap();
    assert_eq!(filter.pull().unwrap_err(), Error::Window);
    assert_eq!(filter.local().unwrap_err(), Error::Window);
    let whole = RedisBloomFilter::<u64>::builder(&server.url(), "whole").capacity(1000);
    let whole = whole.hasher(Rapid::with_seed(1)).create().unwrap();
    assert_eq!(filter.push(&whole.local().unwrap()), Err(Error::Window));
    assert_eq!(LocalFirst::new(filter, local).unwrap_err(), Error::Window);
    assert_eq!(whole.window(), None);
}

/// The shards are spread over the nodes of a cluster, and some move.
pub(crate) fn a_window_works_over_slots(cluster: &Cluster) {
    let builder = builder(&cluster.url()).capacity(10_000).shards(64);
    let builder = builder.window(Duration::from_secs(3600));
    let filter = builder.create().unwrap();
    let items: Vec<u64> = (0..5000).collect();
    let new = filter.insert_many(&items).into_iter().filter(|new| *new == Ok(true)).count();
    assert!(new > 4980, "{new}");
    // To another node, and back: the slots of shards, and some of the empty ones.
    let slots: HashSet<u16> =
        (0..64).map(|shard| cluster.slot(&format!("{{seen:{shard}}}"))).collect();
    let some = |slot: &u16| slots.contains(slot) || slot.is_multiple_of(16);
    for (from, to) in [(0, 1), (1, 0)] {
        cluster.move_slots((0..1000).filter(some), from, to);
        for filter in [&filter, &builder.open().unwrap()] {
            assert!(filter.contains_many(&items).unwrap().iter().all(|found| *found));
            assert!(filter.insert_many(&items).iter().all(|new| *new == Ok(false)));
        }
    }
    builder.destroy().unwrap();
}
