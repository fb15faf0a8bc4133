//! Slots that move key by key, and stay half moved: nothing is lost, and nothing is held.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use tamis_redis::Error;

use crate::harness::{
    Cluster, Move, PATIENCE, Server, StopOnDrop, insert_all, insert_until, patiently,
    require_winners,
};

/// How long the storm lasts: under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the
/// compiler, an hour.
const STORM: Duration =
    Duration::from_secs(if option_env!("TAMIS_LONG").is_some() { 3600 } else { 10 });

/// How long one filter is in the storm. The next has other keys, sizes and moves.
const ROUND: Duration = Duration::from_secs(5);

/// Returns the slot of a key, and the master that has it.
fn place(cluster: &Cluster, key: &str) -> (u16, usize) {
    let slot = cluster.slot(key);
    (slot, (0..3).find(|node| cluster.nodes[*node].owns(slot)).unwrap())
}

/// Returns how many replies with an error a server has sent.
fn errors(server: &Server, code: &str) -> u64 {
    let found = server.field(&["INFO", "errorstats"], &format!("errorstat_{code}"));
    found.strip_prefix("count=").map_or(0, |count| count.parse().unwrap())
}

/// What happens to filters in moving slots, on one cluster.
#[test]
fn moving_slots_lose_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    a_slot_that_stays_half_moved_loses_and_holds_nothing(&cluster);
    a_lost_key_is_lost_when_its_slot_is_settled(&cluster);
}

/// A resharding ends in the middle: one of three slices is on the new node.
fn a_slot_that_stays_half_moved_loses_and_holds_nothing(cluster: &Cluster) {
    let builder = cluster.builder("half").capacity(2000).shards(2).false_positive_rate(1e-6);
    let filter = builder.create().unwrap();
    let mut items = insert_all(&filter, 0..9000);
    let slices = filter.storage().unwrap().slices;
    assert!(slices >= 3, "{slices}");
    let (slot, from) = place(cluster, "{half:0}:0");
    let to = (from + 1) % 3;
    let mut half = Move::of(cluster, slot, from, to);
    half.key(&cluster.bits_key("half", 0, 1));

    // All calls work, of clients old and new.
    let others = builder.open().unwrap();
    for filter in [&filter, &others] {
        assert!(filter.contains_many(&items).unwrap().iter().all(|found| *found));
        assert!(filter.insert_many(&items).iter().all(|new| *new == Ok(false)));
        assert_eq!(filter.storage().unwrap().slices, slices);
        let copy = filter.pull().unwrap();
        assert!(items.iter().all(|item| copy.contains(item)));
    }
    // Its shard is filled far beyond the open slice. Each item that counts tries to grow it,
    // once.
    let before = errors(&cluster.nodes[from], "TRYAGAIN");
    let more: Vec<u64> = (9000..40_000).collect();
    let results = filter.insert_many(&more);
    assert!(results.iter().all(Result::is_ok));
    let new = results.iter().filter(|new| **new == Ok(true)).count();
    assert!(new > more.len() * 9 / 10, "{new}");
    let tries = errors(&cluster.nodes[from], "TRYAGAIN") - before;
    assert!(tries > 0, "no growth was tried, so nothing was tested");
    // One in 31 items of this slice counts.
    assert!(tries < more.len() as u64 / 10, "{tries} tries of growth");
    items.extend(&more);
    assert!(others.contains_many(&items).unwrap().iter().all(|found| *found));

    // The move ends, and the shard grows again.
    half.end();
    assert!(filter.contains_many(&items).unwrap().iter().all(|found| *found));
    insert_all(&others, 40_000..50_000);
    assert!(filter.insert_many(&items).iter().all(|new| *new == Ok(false)));
    assert!(filter.storage().unwrap().slices > slices);
}

/// A key that is deleted while its slot moves: until the move ends, nobody knows. Both sides of the
/// move are named.
fn a_lost_key_is_lost_when_its_slot_is_settled(cluster: &Cluster) {
    let builder = cluster.builder("gone").capacity(2000).false_positive_rate(1e-12).shards(1);
    let filter = builder.create().unwrap();
    assert_eq!(filter.insert(&1), Ok(true));
    let (slot, from) = place(cluster, "{gone:0}:0");
    let to = (from + 1) % 3;
    let mut moving = Move::of(cluster, slot, from, to);
    cluster.nodes[from].command(&["DEL", &cluster.bits_key("gone", 0, 0)]);
    let [from, to] = [from, to].map(|node| format!("127.0.0.1:{}", cluster.nodes[node].port()));
    let expected = format!("slot {slot} moves from {from} to {to}");
    let hasty = builder.clone().deadline(Duration::from_millis(400));
    patiently(|| match hasty.open().unwrap_err() {
        Error::Unavailable { reason } if reason.contains(&expected) => Ok(()),
        // The deadline came first.
        Error::Unavailable { reason } => Err(reason),
        error => panic!("{error:?}"),
    });
    moving.end();
    let lost = Error::Lost { shard: 0, slice: 0 };
    assert_eq!(builder.open().unwrap_err(), lost);
    assert_eq!(filter.insert(&1), Err(lost.clone()));
    assert_eq!(filter.contains(&1), Err(lost.clone()));
    assert_eq!(filter.pull().unwrap_err(), lost);
    // The new owner has the slot, and another node still believes that it imports it, as after a
    // failover in the middle of a move: its keys may be there.
    let builder = builder.clone();
    builder.destroy().unwrap();
    builder.create().unwrap();
    let (slot, from) = place(cluster, "{gone:0}:0");
    let mut stranded = Move::of(cluster, slot, from, (from + 1) % 3);
    stranded.key(&cluster.bits_key("gone", 0, 0));
    stranded.set_source("STABLE");
    let error = hasty.open().unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    stranded.set_source("MIGRATING");
    builder.open().unwrap();
    stranded.end();
    builder.open().unwrap();
}

/// Random numbers by a seed: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// All shards move key by key between all masters, while clients insert, query, open and copy a
/// filter that grows.
#[test]
fn a_storm_of_moves_loses_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    let end = Instant::now() + STORM;
    let mut round = 0;
    while Instant::now() < end {
        storm(&cluster, round);
        round += 1;
    }
}

fn storm(cluster: &Cluster, seed: u64) {
    let mut random = Random(seed);
    let name = format!("storm {seed}");
    let shards = 1 + random.below(12) as u32;
    let builder = cluster.builder(&name).capacity(2000).shards(shards).false_positive_rate(1e-6);
    builder.create().unwrap();
    let end = Instant::now() + ROUND;
    let stop = OnceLock::new();
    // Three clients race for the same items.
    let write = || insert_until(&stop, &builder.open().unwrap(), 50);
    let grown = OnceLock::new();
    let read = || {
        let mut reads = 0;
        while stop.get().is_none() {
            let filter = builder.open().unwrap();
            filter.figures().unwrap();
            filter.pull().unwrap();
            filter.contains_many(0..100_u64).unwrap();
            if filter.storage().unwrap().slices > 2 {
                _ = grown.set(());
            }
            reads += 1;
        }
        reads
    };
    let mut moved = 0;
    let (results, reads): (Vec<(Vec<u64>, u64)>, u32) = thread::scope(|scope| {
        let going = StopOnDrop(&stop);
        let writers: Vec<_> = (0..3).map(|_| scope.spawn(write)).collect();
        let reader = scope.spawn(read);
        // On a busy machine the filter may need longer until it has grown.
        let end = || if grown.get().is_some() { end } else { end + PATIENCE };
        while Instant::now() < end() && !reader.is_finished() {
            let shard = random.below(shards as usize);
            let (slot, from) = place(cluster, &format!("{{{name}:{shard}}}:0"));
            let to = (from + 1 + random.below(2)) % 3;
            let mut moving = Move::of(cluster, slot, from, to);
            let mut keys = moving.keys();
            while !keys.is_empty() {
                let key = keys.swap_remove(random.below(keys.len()));
                moving.key(&key);
                thread::sleep(Duration::from_millis(random.below(4) as u64));
            }
            moving.end();
            moved += 1;
            thread::sleep(Duration::from_millis(random.below(20) as u64));
        }
        drop(going);
        let results = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        (results, reader.join().unwrap())
    });
    let filter = builder.open().unwrap();
    let inserted = require_winners(&filter, results);
    let slices = filter.storage().unwrap().slices;
    assert!(moved > 0 && reads > 0 && slices > 2, "{moved} {reads} {slices}");
    eprintln!(
        "seed {seed}: {moved} moves of {shards} shards, {inserted} items, {slices} slices, {reads} reads"
    );
    builder.destroy().unwrap();
}
