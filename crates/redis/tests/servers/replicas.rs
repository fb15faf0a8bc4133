//! Queries that replicas answer, or do not.

use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Cluster, insert_all, patiently};

/// Instead of replicas that hang, the masters are asked, and the replicas are left alone for a
/// while.
#[test]
fn masters_answer_for_replicas_that_hang() {
    let Some(cluster) = Cluster::start() else { return };
    // A replica has a tenth of this time.
    let builder = cluster.nodes[0].builder::<u64>().timeout(Duration::from_secs(20));
    let builder = builder.capacity(10_000);
    let filter = builder.create().unwrap();
    let items = insert_all(&filter, 0..1000);
    // Without a deadline nothing is repeated: the masters are asked at once. To open a filter in no
    // time may fail.
    let builder = builder.deadline(Duration::ZERO).read_from_replicas();
    let reader = patiently(|| builder.open());
    let asked = || cluster.nodes[3..].iter().map(|node| node.commands("bitfield_ro")).sum::<u64>();
    let before = asked();
    cluster.nodes[3..].iter().for_each(|replica| replica.signal(Signal::STOP));
    for _ in 0..20 {
        assert_eq!(reader.contains_many(&items), Ok(vec![true; 1000]));
    }
    cluster.nodes[3..].iter().for_each(|replica| replica.signal(Signal::CONT));
    // Only the first call has asked them, if any: one command per shard, and one per node that
    // waited for a connection.
    let more = asked() - before;
    assert!(more <= u64::from(filter.shards()), "{more}");
}
