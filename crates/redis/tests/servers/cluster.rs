//! A cluster: slots move under load, and a master is killed.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use tamis_hash::{HashItem, Rapid};
use tamis_redis::Error;

use crate::harness::{
    Cluster, PATIENCE, StopOnDrop, insert_all, insert_until, require_winners, wait,
};
use crate::processes::{URLS, race};
use crate::window;

/// Shards, about 128 of which are in 4096 of the 16,384 slots.
const SHARDS: u32 = 512;

/// Returns the slot of a shard.
fn slot(cluster: &Cluster, name: &str, shard: u32) -> u16 {
    cluster.slot(&format!("{{{name}:{shard}}}:0"))
}

fn shard(item: u64, shards: u32) -> u32 {
    let hash = Rapid::with_seed(1).hash_item(&item);
    tamis_hash::split::place(hash, shards.into()) as u32
}

/// What needs a cluster that works, on one cluster.
#[test]
fn a_cluster_is_one_filter() {
    let Some(cluster) = Cluster::start() else { return };
    queries_go_to_replicas(&cluster);
    race(&cluster.url(), "fixed", URLS as u64, false);
    race(&cluster.url(), "growing", URLS as u64 / 20, true);
    window::a_window_works_over_slots(&cluster);
    no_insert_is_lost_or_won_twice_while_slots_move(&cluster);
}

/// What breaks a cluster, on one cluster: two of its masters are killed.
#[test]
fn a_failover_loses_what_was_not_confirmed() {
    let Some(mut cluster) = Cluster::start() else { return };
    only_unconfirmed_inserts_are_lost(&mut cluster);
    inserts_go_on_when_a_master_is_killed(&mut cluster);
}

/// Three threads insert the same items while slots move to another node and some of them back:
/// those of shards, and a part of the empty ones. Valkey waits for the replicas each time it
/// changes a slot.
fn no_insert_is_lost_or_won_twice_while_slots_move(cluster: &Cluster) {
    let builder =
        cluster.builder("moving").capacity(200_000).false_positive_rate(1e-12).shards(SHARDS);
    builder.create().unwrap();
    let slots: HashSet<u16> = (0..SHARDS).map(|shard| slot(cluster, "moving", shard)).collect();
    let moved = slots.iter().filter(|slot| **slot < 4000).count();
    assert!(moved >= 100, "{moved} shards move");

    let stop = OnceLock::new();
    let writer = || insert_until(&stop, &builder.open().unwrap(), 100);
    let results: Vec<(Vec<u64>, u64)> = thread::scope(|scope| {
        let going = StopOnDrop(&stop);
        let writers: Vec<_> = (0..3).map(|_| scope.spawn(writer)).collect();
        thread::sleep(Duration::from_millis(200));
        let some = |slot: &u16| slots.contains(slot) || slot.is_multiple_of(16);
        cluster.move_slots((0..4000).filter(some), 0, 1);
        cluster.move_slots((0..1000).filter(some), 1, 0);
        thread::sleep(Duration::from_millis(200));
        drop(going);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let filter = builder.open().unwrap();
    let inserted = require_winners(&filter, results);
    // A client that knows the old slots only is redirected.
    assert!(filter.insert_many(0..inserted).iter().all(|new| *new == Ok(false)));
    eprintln!("{moved} shards moved, {inserted} items inserted meanwhile");
}

/// A master is killed after its replica has lost the connection. Inserts that replicas have
/// confirmed survive. Those that they have not are lost, if they were on this master, and no
/// others.
fn only_unconfirmed_inserts_are_lost(cluster: &mut Cluster) {
    let builder =
        cluster.builder("unconfirmed").capacity(1000).false_positive_rate(1e-12).shards(64);
    let fast = builder.create().unwrap();
    let confirmed = builder.clone().confirmed_by(1, PATIENCE).open().unwrap();
    // This one waits for a replica that is cut off.
    let hasty = builder.clone().confirmed_by(1, Duration::from_millis(300)).open().unwrap();
    let first = insert_all(&confirmed, 0..3000);
    let slices = fast.storage().unwrap().slices;

    // Node 0 sends its replica nothing any more.
    cluster.nodes[0].command(&["ACL", "SETUSER", "default", "-psync", "-sync"]);
    cluster.nodes[0].command(&["CLIENT", "KILL", "TYPE", "replica"]);
    let on_0: HashSet<u32> =
        (0..64).filter(|shard| slot(cluster, "unconfirmed", *shard) <= 5460).collect();
    assert!(on_0.len() > 10);
    let second = insert_all(&fast, 3000..13_000);
    // They include growth.
    assert!(fast.storage().unwrap().slices > slices);
    let third: Vec<u64> = (13_000..13_100).collect();
    let (cut, others): (Vec<u64>, Vec<u64>) =
        third.iter().partition(|item| on_0.contains(&shard(**item, 64)));
    for result in hasty.insert_many(&cut) {
        assert!(matches!(result, Err(Error::NotReplicated { replicas: 0, .. })), "{result:?}");
    }
    for result in confirmed.insert_many(&others) {
        assert!(result.is_ok(), "{result:?}");
    }

    // The replica takes the place of the master, with what it has.
    cluster.kill(0);
    let other = cluster.wait_for_failover(0);
    assert!(other >= 3, "a replica");
    let found = fast.contains_many(&first).unwrap();
    assert_eq!(found.iter().filter(|found| !**found).count(), 0, "confirmed inserts are lost");
    let found = fast.contains_many(&second).unwrap();
    let lost: Vec<u64> =
        second.iter().zip(found).filter(|(_, found)| !found).map(|(item, _)| *item).collect();
    assert!(!lost.is_empty(), "nothing was lost, so nothing was tested");
    assert!(lost.iter().all(|item| on_0.contains(&shard(*item, 64))));
    // The lost items are new again, once, and the filter grows again.
    let new = hasty.insert_many(&lost);
    let others: HashSet<_> = new
        .iter()
        .filter(|new| !matches!(new, Ok(true) | Err(Error::NotReplicated { new: true, .. })))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|new| format!("{new:?}"))
        .collect();
    assert!(others.iter().all(|other| other == "Ok(false)"), "{others:?}");
    assert!(fast.insert_many(&lost).iter().all(|new| *new == Ok(false)));
    assert!(fast.contains_many(&second).unwrap().iter().all(|found| *found));
    assert!(fast.storage().unwrap().slices > slices);
    eprintln!("{} of {} unconfirmed inserts were lost", lost.len(), second.len());
}

/// Inserts go on while a master is replaced. Those on their way have no verdict; none that was
/// confirmed is lost.
fn inserts_go_on_when_a_master_is_killed(cluster: &mut Cluster) {
    let builder =
        cluster.builder("going on").capacity(100_000).false_positive_rate(1e-12).shards(64);
    builder.create().unwrap();
    // One of the masters has lost its replica in the other test.
    let builder = builder.timeout(Duration::from_secs(2));
    let filter = builder.confirmed_by(1, Duration::from_millis(200)).open().unwrap();
    let stop = OnceLock::new();
    let known = Mutex::new(Vec::new());
    let unknown = thread::scope(|scope| {
        let going = StopOnDrop(&stop);
        let writer = scope.spawn(|| {
            let (mut unknown, mut next) = (0, 0_u64);
            while stop.get().is_none() {
                let batch: Vec<u64> = (next..next + 1000).collect();
                for (item, result) in batch.iter().zip(filter.insert_many(&batch)) {
                    match result {
                        Ok(_) => known.lock().unwrap().push(*item),
                        Err(Error::VerdictUnknown { .. } | Error::NotReplicated { .. }) => {
                            unknown += 1;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                next += 1000;
            }
            unknown
        });
        let wait_for_more = || {
            let count = || known.lock().unwrap().len();
            let before = count();
            // A writer that has failed says why.
            wait("inserts go on", || count() > before + 1000 || writer.is_finished());
        };
        wait_for_more();
        cluster.kill(1);
        cluster.wait_for_failover(5461);
        wait_for_more();
        drop(going);
        writer.join().unwrap()
    });
    let known = known.into_inner().unwrap();
    assert!(known.len() > 1000);
    let found = filter.contains_many(&known).unwrap();
    let lost = found.iter().filter(|found| !**found).count();
    assert_eq!(lost, 0, "of {} confirmed inserts, {unknown} others", known.len());
    eprintln!("{} confirmed, {unknown} without a verdict or confirmation", known.len());
}

/// Queries may go to replicas, whose bits are those of the master after a moment.
fn queries_go_to_replicas(cluster: &Cluster) {
    let builder = cluster.builder("replicas").capacity(10_000).false_positive_rate(1e-12);
    let filter = builder.clone().confirmed_by(1, PATIENCE).create().unwrap();
    let items = insert_all(&filter, 0..5000);
    // A replica has a tenth of this time.
    let reader = builder.timeout(10 * PATIENCE).read_from_replicas().open().unwrap();
    let before: u64 = (3..6).map(|node| cluster.queries(node)).sum();
    assert!(reader.contains_many(&items).unwrap().iter().all(|found| *found));
    let after: u64 = (3..6).map(|node| cluster.queries(node)).sum();
    assert!(after > before, "the replicas were not asked");
}

impl Cluster {
    /// Returns how many queries a node has executed.
    fn queries(&self, node: usize) -> u64 {
        self.nodes[node].commands("bitfield_ro")
    }
}
