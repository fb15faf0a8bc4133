//! Four processes over one memory of URLs.

use std::collections::HashSet;
use std::time::Instant;

use crate::PAGES;
use crate::exact::check_lost;
use crate::redis::Redis;
use crate::runs::{Checked, World};

/// Runs four processes, which fetch each page once, all together.
fn run(name: &str, world: &World) -> Checked {
    let start = Instant::now();
    world.run();
    let checked = world.check();
    checked.print(name, start);
    (0..4).for_each(|own| eprintln!("{}", world.report(own)));
    assert_eq!(checked.twice, 0);
    checked.check_politeness(1);
    let agents: HashSet<&str> = checked.hits.iter().map(|hit| hit.agent.as_str()).collect();
    assert_eq!(agents.len(), 4, "each process has a name");
    checked
}

#[test]
fn four_processes_share_a_file() {
    let capacity = (4 * PAGES).to_string();
    let arguments = ["--seen", "@urls.tamis", "--capacity", &capacity, "--rate", "1e-6"];
    let world = World::new(PAGES, 4).with(&arguments);
    let checked = run("4 processes over a file", &world);
    let lost = check_lost(&world, &checked, "urls.tamis");
    assert!(lost <= checked.most_lost(1e-6), "{lost} lost");
}

#[test]
fn four_processes_share_a_filter_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let world = World::new(PAGES, 4).with(&["--seen", &redis.filter("seen")]);
    let checked = run("4 processes over Redis", &world);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9));
}
