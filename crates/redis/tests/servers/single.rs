//! One server: verdicts, growth, parameters, loss.

use tamis_hash::{HashItem, Rapid};
use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::Server;

#[test]
fn an_item_is_new_once() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<str>::builder(&server.url(), "seen").capacity(1000);
    let filter = builder.create().unwrap();
    assert_eq!(filter.contains("a"), Ok(false));
    assert_eq!(filter.insert("a"), Ok(true));
    assert_eq!(filter.insert("a"), Ok(false));
    assert_eq!(filter.contains("a"), Ok(true));
    // Of equal items of a batch the first is new.
    let new: Vec<bool> =
        filter.insert_many(["b", "a", "b", "c"]).into_iter().map(Result::unwrap).collect();
    assert_eq!(new, [true, false, false, true]);
    assert_eq!(filter.contains_many(["c", "d", "b"]), Ok(vec![true, false, true]));
}

#[test]
fn a_filter_grows_and_loses_nothing() {
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "seen");
    let builder = builder.capacity(10_000).false_positive_rate(1e-3).hasher(Rapid::with_seed(1));
    let filter = builder.create().unwrap();
    let other = builder.open().unwrap();
    let items: Vec<u64> = (0..200_000).collect();
    let new = filter.insert_many(&items).into_iter().filter(|new| *new == Ok(true)).count();
    // At most 1 of 1000 was a false positive.
    assert!((199_700..=200_000).contains(&new), "{new}");
    let figures = filter.figures().unwrap();
    assert!(figures.generations > 4, "{figures:?}");
    assert!((figures.items / 200_000.0 - 1.0).abs() < 0.02, "{figures:?}");
    assert!(figures.false_positive_rate < 1e-3, "{figures:?}");
    assert!(figures.saturation < 1.0, "{figures:?}");
    // A client that knew the first generation only finds all of them.
    assert!(other.contains_many(&items).unwrap().iter().all(|found| *found));
    assert!(other.insert_many(&items).iter().all(|new| *new == Ok(false)));
    let absent: Vec<u64> = (1 << 40..(1 << 40) + 100_000).collect();
    let hits = other.contains_many(&absent).unwrap().iter().filter(|found| **found).count();
    assert!(hits < 100, "{hits}");
    // The copy answers alike.
    let copy = filter.pull().unwrap();
    let local: Vec<bool> = absent.iter().map(|item| copy.contains(item)).collect();
    assert_eq!(local, other.contains_many(&absent).unwrap());
    assert!(items.iter().all(|item| copy.contains(item)));
    _ = Rapid::with_seed(1).hash_item(&1_u64);
    assert!(matches!(builder.create(), Err(Error::Exists)));
}
