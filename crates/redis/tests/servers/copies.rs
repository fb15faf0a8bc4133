//! Copies in this process: pull, push, files, and a local filter in front.

use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tamis_bloom::{BlockedBloomFilter, RotatingBloomFilter, ScalableBloomFilter};
use tamis_formats::{Kind, Normalization, Options};
use tamis_hash::{AnyStable, Rapid};
use tamis_redis::{AsyncLocalFirst, Error, LocalFirst, LocalKind, RedisBloomFilter};

use crate::harness::{PATIENCE, Server, insert_all};

/// Absent items, of which some are false positives.
fn absent() -> Vec<u64> {
    (1 << 40..(1 << 40) + 30_000).collect()
}

/// A filter in Redis, its copy, and the file of the copy give the same answers, the false positives
/// included.
#[test]
fn a_saved_copy_gives_the_same_answers() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let normalization = Normalization::new("numbers").unwrap();
    for (name, grows) in [("growing", true), ("fixed", false)] {
        let builder = RedisBloomFilter::<u64>::builder(&server.url(), name).capacity(20_000);
        let builder = builder.false_positive_rate(0.02).normalization(normalization);
        let filter = if grows { builder } else { builder.fixed() }.create().unwrap();
        let items = insert_all(&filter, 0..if grows { 90_000 } else { 20_000 });
        let expected = filter.contains_many(absent()).unwrap();
        assert!(
            expected.iter().filter(|found| **found).count() > 50,
            "no false positive to compare"
        );

        let path = folder.path().join(name);
        let copy = filter.pull().unwrap();
        copy.save(&path).unwrap();
        let info = tamis_formats::Info::open(&path).unwrap();
        let kind = if grows { Kind::ScalableBloom } else { Kind::BlockedBloom };
        assert_eq!((info.kind(), info.normalization()), (kind, normalization));
        let options = Options::new().normalization(normalization);
        let loaded: Box<dyn Fn(&u64) -> bool> = if grows {
            let filter: ScalableBloomFilter<u64, AnyStable> = options.load(&path).unwrap();
            Box::new(move |item| filter.contains(item))
        } else {
            let filter: BlockedBloomFilter<u64, AnyStable> = options.load(&path).unwrap();
            Box::new(move |item| filter.contains(item))
        };
        for (item, expected) in absent().iter().zip(&expected) {
            assert_eq!((copy.contains(item), loaded(item)), (*expected, *expected), "{item}");
        }
        assert!(items.iter().all(|item| copy.contains(item) && loaded(item)));
        assert_eq!(matches!(copy.into_filter(), LocalKind::Scalable(_)), grows);
    }
}

#[test]
fn a_pushed_filter_is_added() {
    let Some(server) = Server::start() else { return };
    let builder = server.builder::<u64>().capacity(20_000).hasher(Rapid::with_seed(1));
    let filter = builder.create().unwrap();
    let own = insert_all(&filter, 0..5000);
    let local = filter.local().unwrap();
    let pushed: Vec<u64> = (5000..10_000).collect();
    pushed.iter().for_each(|item| assert!(local.insert(item)));
    filter.push(&local).unwrap();
    assert!(filter.contains_many(&own).unwrap().iter().all(|found| *found));
    assert!(filter.contains_many(&pushed).unwrap().iter().all(|found| *found));
    assert!((filter.figures().unwrap().items.value / 10_000.0 - 1.0).abs() < 0.02);
    // Again: nothing changes. No key of the push remains.
    filter.push(&local).unwrap();
    assert!((filter.figures().unwrap().items.value / 10_000.0 - 1.0).abs() < 0.02);
    assert_eq!(server.command(&["DBSIZE"]), redis::Value::Int(18));

    // What fills a slice lets it grow; a copy of several slices goes to another filter of
    // the same sizes.
    insert_all(&filter, 10_000..60_000);
    let copy = filter.pull().unwrap();
    let twin = RedisBloomFilter::<u64>::builder(&server.url(), "twin")
        .capacity(20_000)
        .false_positive_rate(1e-12);
    let twin = twin.hasher(Rapid::with_seed(1)).create().unwrap();
    twin.push(&copy).unwrap();
    let all: Vec<u64> = (0..60_000).chain(absent()).collect();
    assert_eq!(twin.contains_many(&all), filter.contains_many(&all));
    assert_eq!(twin.storage().unwrap().slices, filter.storage().unwrap().slices);

    // Other hashes, and other sizes.
    let other = RedisBloomFilter::<u64>::builder(&server.url(), "other").capacity(20_000);
    let builder = other.hasher(Rapid::with_seed(2));
    let other = builder.create().unwrap();
    assert_eq!(other.push(&copy), Err(Error::Mismatch { field: "hash or seed" }));
    // This is found before the server is asked, so also if the filter is gone.
    builder.destroy().unwrap();
    assert_eq!(other.push(&copy), Err(Error::Mismatch { field: "hash or seed" }));
    let sizes = RedisBloomFilter::<u64>::builder(&server.url(), "sizes").capacity(999);
    let sizes = sizes.hasher(Rapid::with_seed(1)).create().unwrap();
    assert_eq!(sizes.push(&copy), Err(Error::Mismatch { field: "geometry" }));
}

/// Repeats are answered without a command, and no winner is lost.
#[test]
fn a_local_filter_answers_repeats() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(20_000);
    let first = builder.create().unwrap();
    let recent = RotatingBloomFilter::<u64>::builder()
        .hasher(first.hasher().clone())
        .capacity(20_000)
        .false_positive_rate(1e-9);
    let front = LocalFirst::new(builder.open().unwrap(), recent.build().unwrap()).unwrap();
    assert_eq!(first.insert(&1), Ok(true));
    assert_eq!(front.insert(&1), Ok(false));
    assert_eq!(front.insert_many([1_u64, 2, 3, 2]), [Ok(false), Ok(true), Ok(true), Ok(false)]);
    assert_eq!(front.contains(&4), Ok(false));
    assert_eq!(first.insert(&4), Ok(true));
    assert_eq!(front.contains(&4), Ok(true));
    assert_eq!(first.insert(&6), Ok(true));
    assert_eq!(front.contains_many([5_u64, 6, 1]), Ok(vec![false, true, true]));
    // All of them are known here now: no command is sent, so they are answered without a server,
    // too.
    drop(server);
    assert_eq!(front.insert_many([1_u64, 2, 3, 4]), vec![Ok(false); 4]);
    assert_eq!((front.insert(&4), front.contains(&4)), (Ok(false), Ok(true)));
    assert_eq!(front.contains_many([1_u64, 4, 6]), Ok(vec![true; 3]));

    // The asynchronous one, while a server is there.
    let Some(server) = Server::start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let remote = server.async_builder::<u64>().capacity(20_000).create().await.unwrap();
        let local = ScalableBloomFilter::<u64>::builder()
            .hasher(remote.hasher().clone())
            .capacity(1000)
            .build();
        let front = AsyncLocalFirst::new(remote, local.unwrap()).unwrap();
        assert_eq!(front.insert(&1).await, Ok(true));
        let new = front.insert_many([1_u64, 2, 3, 2]).await;
        assert_eq!(new, [Ok(false), Ok(true), Ok(true), Ok(false)]);
        assert_eq!((front.contains(&3).await, front.contains(&4).await), (Ok(true), Ok(false)));
        let before = server.inserts();
        assert_eq!(front.insert_many([1_u64, 2, 3]).await, [Ok(false), Ok(false), Ok(false)]);
        assert_eq!(front.insert(&2).await, Ok(false));
        assert_eq!(server.inserts(), before);
    });

    let wrong = RotatingBloomFilter::builder().hasher(AnyStable::from(Rapid::with_seed(1)));
    let wrong: RotatingBloomFilter<u64, _> = wrong.capacity(100).build().unwrap();
    let error = LocalFirst::new(first, wrong).unwrap_err();
    assert_eq!(error, Error::Mismatch { field: "hash or seed" });
}

/// Bits on their way expire, so a server may evict them. A push that returns `Ok` has added all of
/// them.
#[test]
fn a_push_whose_bits_were_evicted_is_an_error() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen").capacity(1_000_000);
    let filter = builder.shards(1).create().unwrap();
    let local = filter.local().unwrap();
    let items: Vec<u64> = (0..100_000).collect();
    items.iter().for_each(|item| _ = local.insert(item));
    // 1. A server that evicts what expires: there is no room for the bits of a shard.
    let used: u64 = server.field(&["INFO", "memory"], "used_memory").parse().unwrap();
    server.command(&["CONFIG", "SET", "maxmemory-policy", "volatile-random"]);
    server.command(&["CONFIG", "SET", "maxmemory", &(used + 100_000).to_string()]);
    let pushed = filter.push(&local);
    assert!(matches!(pushed, Err(Error::Incomplete { .. } | Error::Refused { .. })), "{pushed:?}");
    assert!(server.commands("unlink") > 0 && !server.keys().iter().any(|key| key.contains("push")));
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    // 2. Another program deletes them at any time.
    // POWER: a script that checks nothing but the tag adds a part if bits are deleted before the
    // tag is written. It is hidden if they are deleted after that too: for two round trips. On an
    // idle machine these take 0.2 ms of the 3 ms between two deletions. So it is found, unless each
    // of the first three pushes is hit in these two round trips: with a probability of 3e-4. On a
    // busy machine the round trips can take all of the 3 ms, and then the test finds nothing.
    let (going, done) = channel::<()>();
    let mut incomplete = 0;
    thread::scope(|scope| {
        let server = &server;
        scope.spawn(move || {
            let mut connection = server.connection();
            while done.try_recv() == Err(TryRecvError::Empty) {
                let found = redis::cmd("KEYS").arg("*:push:*").query(&mut connection);
                for key in found.unwrap_or_else(|_| Vec::<String>::new()) {
                    redis::cmd("DEL").arg(key).exec(&mut connection).unwrap();
                }
                thread::sleep(Duration::from_millis(3));
            }
        });
        let end = Instant::now() + PATIENCE;
        for round in 1_u64.. {
            if incomplete == 3 || Instant::now() > end {
                break;
            }
            // No other push has these items.
            let (items, local) = (round << 32..(round << 32) + 10_000, filter.local().unwrap());
            items.clone().for_each(|item| _ = local.insert(&item));
            match filter.push(&local) {
                Ok(()) => assert!(filter.contains_many(items).unwrap().iter().all(|hit| *hit)),
                Err(Error::Incomplete { .. }) => incomplete += 1,
                other => panic!("{other:?}"),
            }
        }
        drop(going);
    });
    assert_eq!(incomplete, 3);
    // 3. The push can be repeated.
    filter.push(&local).unwrap();
    assert!(filter.contains_many(&items).unwrap().iter().all(|hit| *hit));
}
