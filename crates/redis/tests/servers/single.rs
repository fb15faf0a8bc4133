//! One server: verdicts, growth, parameters.

use std::thread;
use std::time::Duration;

use tamis_hash::{Rapid, Xxh3};
use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::{Server, insert_all, patiently};

#[test]
fn an_item_is_new_once() {
    let Some(server) = Server::start() else { return };
    let filter = server.builder::<str>().capacity(1000).create().unwrap();
    assert_eq!(filter.contains("a"), Ok(false));
    assert_eq!(filter.insert("a"), Ok(true));
    assert_eq!(filter.insert("a"), Ok(false));
    assert_eq!(filter.contains("a"), Ok(true));
    // Of equal items of a batch the first is new.
    let new: Vec<bool> =
        filter.insert_many(["b", "a", "b", "c"]).into_iter().map(Result::unwrap).collect();
    assert_eq!(new, [true, false, false, true]);
    assert_eq!(filter.contains_many(["c", "d", "b"]), Ok(vec![true, false, true]));
    assert_eq!(filter.insert_many([""; 0]), []);
}

#[test]
fn a_filter_grows_and_loses_nothing() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen");
    let builder = builder.capacity(10_000).false_positive_rate(1e-3).hasher(Rapid::with_seed(1));
    let filter = builder.create().unwrap();
    let other = builder.open().unwrap();
    let items: Vec<u64> = (0..200_000).collect();
    let new = filter.insert_many(&items).into_iter().filter(|new| *new.as_ref().unwrap()).count();
    // The rate stays below 1 of 1000, and is much lower until the filter has its last slice.
    assert!((199_800..=200_000).contains(&new), "{new}");
    let figures = filter.figures().unwrap();
    assert!(filter.storage().unwrap().slices > 4);
    assert!((figures.items.value / 200_000.0 - 1.0).abs() < 0.02, "{figures:?}");
    assert_eq!(filter.requested_rate(), 1e-3);
    assert!(figures.false_positive_rate.value < 1e-3, "{figures:?}");
    assert!(figures.saturation.value < 1.0, "{figures:?}");
    // A client that knew the first slice only finds all of them.
    assert!(other.contains_many(&items).unwrap().iter().all(|found| *found));
    assert!(other.insert_many(&items).iter().all(|new| *new == Ok(false)));
    let absent: Vec<u64> = (1 << 40..(1 << 40) + 200_000).collect();
    let hits = other.contains_many(&absent).unwrap().iter().filter(|found| **found).count();
    // POWER: a rate of 1.2e-3 gives at most 200 hits with a probability of 0.5 %, and one of
    // 6.7e-4, as is predicted, more than 200 with one of 1e-8.
    assert!(hits <= 200, "{hits}");
}

/// A server that allows no string beyond 1 MiB: the slices that do not fit are never created, and
/// nobody is kept from the others.
#[test]
fn a_filter_can_be_opened_although_its_later_slices_are_too_large() {
    let Some(server) = Server::start_with(&["--proto-max-bulk-len", "1mb"]) else { return };
    let builder = server.builder::<u64>().capacity(1_000_000).false_positive_rate(1e-3).shards(4);
    let filter = builder.create().unwrap();
    let items = insert_all(&filter, 0..1000);
    let other = builder.open().unwrap();
    assert_eq!(other.contains_many(&items), Ok(vec![true; 1000]));
    assert_eq!(other.insert(&0), Ok(false));
    builder.destroy().unwrap();
    // Here the first slice does not fit.
    let error = builder.capacity(100_000_000).create().unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
}

#[test]
fn a_fixed_filter_has_the_predicted_rate() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").fixed().shards(20);
    let builder = builder.capacity(200_000).false_positive_rate(1e-2).hasher(Rapid::with_seed(5));
    let filter = builder.create().unwrap();
    insert_all(&filter, 0..200_000);
    let rate = filter.figures().unwrap().false_positive_rate.value;
    let storage = filter.storage().unwrap();
    assert_eq!((storage.slices, storage.keys, filter.grows()), (1, 20, false));
    let absent: Vec<u64> = (1 << 40..(1 << 40) + 100_000).collect();
    let hits = filter.contains_many(&absent).unwrap().iter().filter(|found| **found).count();
    // POWER: the standard deviation is 32 hits. This fails by chance with a probability of 1e-9; a
    // rate that is 30 % off is found with one of 0.995.
    assert!((hits as f64 / 1e5 - rate).abs() < 2e-3, "{hits} {rate}");
    assert!((0.97e-2..1.03e-2).contains(&rate), "{rate}");
}

#[test]
fn parameters_are_those_of_the_filter() {
    let Some(server) = Server::start() else { return };
    let builder = || RedisBloomFilter::<str>::builder(&server.url(), "seen");
    assert_eq!(builder().open().unwrap_err(), Error::Missing);
    assert_eq!(builder().destroy().unwrap_err(), Error::Missing);
    let made = builder().capacity(2000).false_positive_rate(0.01).shards(17);
    let made = made.hasher(Rapid::with_seed(3));
    let filter = made.create().unwrap();
    assert_eq!((filter.capacity(), filter.shards(), filter.grows()), (2000, 17, true));
    assert_eq!(made.create().unwrap_err(), Error::Exists);
    assert!(made.open().is_ok() && made.open_or_create().is_ok() && builder().open().is_ok());
    let normalization = tamis_formats::Normalization::new("url-v1").unwrap();
    for (wrong, field) in [
        (builder().capacity(2001), "capacity"),
        (builder().false_positive_rate(0.02), "false-positive rate"),
        (builder().shards(16), "number of shards"),
        (builder().fixed(), "growth"),
        (builder().hasher(Rapid::with_seed(4)), "seed"),
        (builder().hasher(Xxh3::with_seed(3)), "hash"),
        (builder().normalization(normalization), "policy"),
    ] {
        let error = wrong.open().unwrap_err();
        assert!(
            matches!(error, Error::Parameters { field: found, .. } if found == field),
            "{error}"
        );
    }
    let error = RedisBloomFilter::<str>::builder("nonsense", "a").open().unwrap_err();
    assert!(matches!(error, Error::Address { .. }), "{error}");
    let unnamed = RedisBloomFilter::<str>::builder(&server.url(), "a{b").open();
    assert_eq!(unnamed.unwrap_err(), Error::Name);
    // A deleted filter leaves no key but the list of its lives, which expires.
    builder().destroy().unwrap();
    assert_eq!(server.keys(), ["{seen}:lives"]);
    let left: i64 = server.query(&["TTL", "{seen}:lives"]);
    assert!((1..=7 * 86_400).contains(&left), "{left}");
}

#[test]
fn one_of_racing_clients_creates_the_filter() {
    let Some(server) = Server::start() else { return };
    let won: usize = thread::scope(|scope| {
        let client = || {
            let filter = server.builder::<u64>().capacity(100_000).open_or_create().unwrap();
            let items: Vec<u64> = (0..1000).collect();
            filter.insert_many(&items).into_iter().filter(|new| *new == Ok(true)).count()
        };
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(won, 1000);
}

/// Keys of other programs are kept, whatever they are called.
#[test]
fn what_is_in_the_way_is_kept() {
    let Some(server) = Server::start() else { return };
    server.command(&["SET", "{seen:3}:0", "of another program"]);
    let builder = server.builder::<str>().capacity(1000);
    builder.create().unwrap();
    builder.destroy().unwrap();
    assert_eq!(server.keys(), ["{seen:3}:0", "{seen}:lives"]);
    server.command(&["SET", "{seen}", "of another program"]);
    assert_eq!(builder.create().unwrap_err(), Error::Exists);
    assert!(matches!(builder.open_or_create().unwrap_err(), Error::Descriptor { .. }));
    assert_eq!(server.keys(), ["{seen:3}:0", "{seen}", "{seen}:lives"]);
}

#[test]
fn a_filter_that_is_not_ready_is_awaited() {
    let Some(server) = Server::start() else { return };
    let builder = server.builder::<str>().capacity(1000);
    builder.create().unwrap();
    let ready: String = server.query(&["GET", "{seen}"]);
    let creating = ready.replace("\"ready\":true", "\"ready\":false");
    server.command(&["SET", "{seen}", &creating]);
    let hasty = builder.clone().deadline(Duration::from_millis(300));
    let error = patiently(|| match hasty.open().unwrap_err() {
        // The deadline came first.
        error @ Error::Unavailable { .. } => Err(error),
        error => Ok(error),
    });
    assert_eq!(error, Error::Creating);
    // Another client makes it ready meanwhile.
    thread::scope(|scope| {
        let opened = scope.spawn(|| builder.open().map(|_| ()));
        thread::sleep(Duration::from_millis(100));
        server.command(&["SET", "{seen}", &ready]);
        assert_eq!(opened.join().unwrap(), Ok(()));
    });
    server.command(&["SET", "{seen}", "{}"]);
    assert!(matches!(builder.open().unwrap_err(), Error::Descriptor { .. }));
}

#[test]
fn the_asynchronous_filter_is_the_same() {
    let Some(server) = Server::start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let filter = server.async_builder::<u64>().capacity(1000).create().await.unwrap();
        // Many tasks insert the same items one by one.
        let clients = (0..8).map(|_| async {
            let mut won = 0;
            for item in 0..200_u64 {
                won += usize::from(filter.insert(&item).await.unwrap());
            }
            won
        });
        let won: usize = futures_util::future::join_all(clients).await.into_iter().sum();
        assert_eq!(won, 200);
        assert_eq!(filter.contains(&5).await, Ok(true));
        assert_eq!(filter.contains_many([5_u64, 900]).await, Ok(vec![true, false]));
    });
    // A blocking filter may be opened, used and dropped in every thread of a runtime.
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen");
    let run = move |item: u64| {
        let blocking = builder.clone().open().unwrap();
        (blocking.insert(&item), blocking.contains(&5))
    };
    runtime.block_on(async {
        assert_eq!(run(1000), (Ok(true), Ok(true)));
        let blocking = tokio::task::spawn_blocking(move || run(1001));
        assert_eq!(blocking.await.unwrap(), (Ok(true), Ok(true)));
    });
}
