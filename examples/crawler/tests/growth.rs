//! Memories that grow from a capacity of 1000.

use std::time::Instant;

use crate::redis::Redis;
use crate::runs::World;
use crate::{PAGES, sample};

fn grow(name: &str, seen: &str) {
    let start = Instant::now();
    // More URLs than the quick size of the other tests.
    let world = World::new(PAGES.max(sample(3000, 0)), 1);
    let world = world.with(&["--seen", seen, "--capacity", "1000"]);
    world.run();
    let checked = world.check();
    checked.print(name, start);
    eprintln!("{}", world.report(0));
    assert_eq!(checked.twice, 0);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9));
}

#[test]
fn memory_grows_from_1000_urls() {
    grow("memory from 1000", "memory");
}

#[test]
fn a_filter_in_redis_grows_from_1000_urls() {
    let Some(redis) = Redis::start() else { return };
    grow("Redis from 1000", &redis.filter("growing"));
}
