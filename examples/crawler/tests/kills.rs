//! Processes that are killed at random moments, and restart with their state.

use core::time::Duration;
use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Instant;

use crate::redis::Redis;
use crate::runs::{BATCH, CONNECTIONS, World};
use crate::server::Withheld;
use crate::site::mix;
use crate::{PAGES, sample};

const KILLS: u64 = 20;

/// Starts a crawler anew after each of its kills, then lets it end. The kills are when the server
/// has got a random number of requests more, and a random time later: also before the first. Until
/// the last kill the crawler is held back.
fn run_with_kills(world: &World, crawler: usize, kills: u64, seed: u64) {
    let step = PAGES / 25 * world.starts.len() as u64;
    world.hold_back(crawler);
    for kill in 0..kills {
        let random = mix(seed ^ kill << 8);
        let mut child = world.start(crawler);
        let is_over = |child: &mut Child| child.try_wait().unwrap().is_some();
        let requests = if random.is_multiple_of(4) { 0 } else { (random >> 8) % step };
        // The site has more pages than this, also while crawlers are held back.
        let count = PAGES.min(world.server.hits().len() as u64 + requests);
        world.server.wait_for(count as usize, || is_over(&mut child));
        let wait = if requests == 0 { 40_000 } else { 4000 };
        thread::sleep(Duration::from_micros((random >> 32) % wait));
        assert!(!is_over(&mut child), "it ended before kill {kill}: {}", world.report(crawler));
        child.kill().unwrap();
        child.wait().unwrap();
        // What the server has not read yet would come after the restart.
        if let Some(agent) = world.agent(crawler) {
            world.server.settle(&agent);
        }
    }
    world.let_go(crawler);
    let mut child = world.start(crawler);
    world.expect_success(crawler, &mut child);
}

#[test]
fn a_process_that_is_killed_loses_nothing() {
    // Both mostly wait.
    thread::scope(|scope| {
        for (seed, seen) in [(1, "memory"), (2, "@urls.tamis")] {
            scope.spawn(move || kill(seed, seen));
        }
    });
}

fn kill(seed: u64, seen: &str) {
    let start = Instant::now();
    let capacity = (10 * PAGES).to_string();
    let world = World::new(PAGES, 1).with(&["--seen", seen, "--capacity", &capacity]);
    let world = if seen == "memory" { world } else { world.with(&["--rate", "1e-6"]) };
    run_with_kills(&world, 0, KILLS, seed);
    let checked = world.check();
    checked.print(&format!("{KILLS} kills, {seen}"), start);
    eprintln!("{}", world.report(0));
    // No other process claims, so only pages in flight are fetched twice.
    assert!(checked.twice <= KILLS * CONNECTIONS, "{}", checked.twice);
    if seen == "memory" {
        assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9));
    } else {
        let lost = crate::exact::check_lost(&world, &checked, "urls.tamis");
        assert!(lost <= checked.most_lost(1e-6), "{lost} lost");
    }
    checked.check_politeness(KILLS as usize + 1);
}

#[test]
fn a_process_that_is_interrupted_fetches_nothing_twice() {
    let world = World::new(PAGES, 1);
    // It gets no further until it is interrupted.
    let answers = Withheld::From(PAGES as usize / 4);
    world.server.withhold(answers);
    let mut child = world.start(0);
    world.server.wait_for(PAGES as usize / 4, || child.try_wait().unwrap().is_some());
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    world.server.release(answers);
    world.expect_success(0, &mut child);
    assert!(world.server.hits().len() < PAGES as usize, "it did not end early");
    world.run();
    let checked = world.check();
    assert_eq!(checked.twice, 0);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9));
    checked.check_politeness(2);
}

#[test]
fn processes_that_share_a_file_and_are_killed_lose_nothing() {
    let start = Instant::now();
    let (count, kills) = (4, sample(5, 10));
    let capacity = (10 * PAGES).to_string();
    let world = World::new(PAGES, count);
    let world = world.with(&["--seen", "@urls.tamis", "--capacity", &capacity, "--rate", "1e-6"]);
    thread::scope(|scope| {
        for own in 0..count {
            let world = &world;
            // A process may have nothing left to do, so only two are killed.
            let kills = if own < 2 { kills } else { 0 };
            scope.spawn(move || run_with_kills(world, own, kills, 100 + own as u64));
        }
    });
    let checked = world.check();
    checked.print(&format!("{count} processes, {} kills", 2 * kills), start);
    assert!(checked.twice <= 2 * kills * (CONNECTIONS + BATCH), "{}", checked.twice);
    let lost = crate::exact::check_lost(&world, &checked, "urls.tamis");
    assert!(lost <= checked.most_lost(1e-6), "{lost} lost");
    checked.check_politeness(kills as usize + 1);
}

/// A byte in the middle of the log changes. Without its record, no page is lost.
#[test]
fn a_log_that_is_damaged_is_an_error_until_it_is_repaired() {
    let mut world = World::new(PAGES.min(1500), 1);
    let mut child = world.start(0);
    world.server.wait_for(PAGES.min(1500) as usize / 2, || false);
    child.kill().unwrap();
    child.wait().unwrap();
    world.server.settle(&world.agent(0).unwrap());
    let log = world.state(0).join("log");
    let mut bytes = fs::read(&log).unwrap();
    // The sum of a record: its text remains readable.
    let text = String::from_utf8(bytes.clone()).unwrap();
    let intents: Vec<usize> = text.match_indices(" ? ").map(|(start, _)| start).collect();
    let middle = intents[intents.len() / 2];
    for kind in [" ? ", " ! ", " . "] {
        let start = middle + text[middle..].find(kind).unwrap() - 8;
        bytes[start] = if bytes[start] == b'0' { b'1' } else { b'0' };
    }
    fs::write(&log, &bytes).unwrap();
    let asked = world.server.hits().len();
    assert!(!world.start(0).wait().unwrap().success());
    assert!(world.report(0).contains(&format!("{}: damaged at byte ", log.display())));
    assert_eq!((fs::read(&log).unwrap(), world.server.hits().len()), (bytes, asked));
    world.arguments.push("--repair".to_owned());
    world.run();
    // The log says that it is repaired.
    world.arguments.pop();
    world.run();
    let checked = world.check();
    // The page of the damaged record is fetched again, and the URLs of the damaged claim.
    assert!(checked.twice <= CONNECTIONS + 2 * BATCH + 1, "{}", checked.twice);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9), "{:?}", checked.lost);
    checked.check_politeness(2);
}

/// The crawl ends when the filter is gone, and the log has what a new filter needs.
#[test]
fn a_redis_that_is_killed_and_has_lost_everything_loses_no_page() {
    let Some(mut redis) = Redis::start() else { return };
    let start = Instant::now();
    let world = World::new(PAGES, 1).with(&["--seen", &redis.filter("seen")]);
    // It gets no further until there is no Redis.
    let answers = Withheld::From(PAGES as usize / 4);
    world.server.withhold(answers);
    let mut child = world.start(0);
    world.server.wait_for(PAGES as usize / 4, || child.try_wait().unwrap().is_some());
    redis.lose_everything(|| world.server.release(answers));
    let status = child.wait().unwrap();
    assert!(!status.success(), "{}", world.report(0));
    world.run();
    let checked = world.check();
    checked.print("a Redis that dies", start);
    eprintln!("{}", world.report(0));
    assert!(checked.twice <= CONNECTIONS + BATCH, "{}", checked.twice);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9));
    checked.check_politeness(2);
}
