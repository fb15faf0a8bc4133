//! Four processes insert the same URLs at once: each URL has one winner, whatever the filter goes through meanwhile.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_hash::Xxh3;
use tamis_redis::RedisBloomFilter;

use crate::harness::{Cluster, Server};

const PROCESSES: usize = 4;

/// The URLs: under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler, a million.
const URLS: usize = if option_env!("TAMIS_LONG").is_some() { 1_000_000 } else { 100_000 };

/// The rate of the filters.
const RATE: f64 = 1e-4;

/// The URLs that a process inserts with one call.
const BATCH: usize = 2000;

/// What a process of the crew is given: the address of the server, and a folder.
const ROLE: &str = "TAMIS_REDIS_CREW";

/// The name of the test that is the crew in other processes.
const CREW: &str = "processes::crew";

fn url(number: usize) -> String {
    format!("https://host{}.example/articles/{}/{number}.html", number % 997, number / 100)
}

/// Inserts all URLs, and writes the numbers of those it won. In a process that is none of the crew, runs the whole race
/// on one server.
#[test]
fn crew() {
    let Ok(role) = env::var(ROLE) else {
        let Some(server) = Server::start() else { return };
        race(&server.url(), URLS as u64, false);
        return;
    };
    let (address, file) = role.split_once('|').unwrap();
    let filter = RedisBloomFilter::<str>::builder(address, "crawl").open().unwrap();
    let start = Path::new(file).with_file_name("start");
    fs::write(Path::new(file).with_extension("ready"), "").unwrap();
    while !start.exists() {
        sleep(Duration::from_millis(1));
    }
    let mut won = Vec::new();
    let numbers: Vec<usize> = (0..URLS).collect();
    for batch in numbers.chunks(BATCH) {
        let results = filter.insert_many(batch.iter().map(|number| url(*number)));
        for (number, result) in batch.iter().zip(results) {
            if result.unwrap() {
                won.push(*number as u32);
            }
        }
    }
    let bytes: Vec<u8> = won.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(file, bytes).unwrap();
}

#[test]
fn each_url_has_one_winner_while_the_filter_grows() {
    let Some(server) = Server::start() else { return };
    race(&server.url(), URLS as u64 / 20, true);
}

#[test]
fn each_url_has_one_winner_in_a_cluster() {
    let Some(cluster) = Cluster::start() else { return };
    race(&cluster.url(), URLS as u64, false);
}

#[test]
fn each_url_has_one_winner_in_a_growing_cluster() {
    let Some(cluster) = Cluster::start() else { return };
    race(&cluster.url(), URLS as u64 / 20, true);
}

/// Lets the processes race, and counts their winners.
fn race(address: &str, capacity: u64, grows: bool) {
    let builder = RedisBloomFilter::<str>::builder(address, "crawl").capacity(capacity);
    let builder = builder.false_positive_rate(RATE).hasher(Xxh3::with_seed(1));
    let filter = if grows { builder } else { builder.fixed() }.create().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> =
        (0..PROCESSES).map(|number| folder.path().join(format!("{number}.won"))).collect();
    let spawn = |file: &std::path::PathBuf| {
        Command::new(env::current_exe().unwrap())
            .args([CREW, "--exact", "--nocapture"])
            .env(ROLE, format!("{address}|{}", file.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut crew: Vec<_> = files.iter().map(spawn).collect();
    // All of them are connected before the first begins.
    while !files.iter().all(|file| file.with_extension("ready").exists()) {
        sleep(Duration::from_millis(5));
        let ended = crew.iter_mut().find_map(|process| process.try_wait().unwrap());
        assert_eq!(ended, None, "a process has ended early");
    }
    fs::write(folder.path().join("start"), "").unwrap();
    for process in &mut crew {
        assert!(process.wait().unwrap().success());
    }

    let mut winners = vec![0_u8; URLS];
    let mut shares = Vec::new();
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let (numbers, _) = bytes.as_chunks::<4>();
        numbers.iter().for_each(|number| winners[u32::from_le_bytes(*number) as usize] += 1);
        shares.push(numbers.len());
    }
    assert_eq!(winners.iter().filter(|count| **count > 1).count(), 0, "two winners: {shares:?}");
    // A URL without a winner was a false positive when it was inserted. The rate is that of a full filter at most.
    let lost = winners.iter().filter(|count| **count == 0).count() as u64;
    let predicted = RATE * URLS as f64;
    let most = Poisson::new(predicted).unwrap().inverse_cdf(1.0 - 1e-9);
    assert!(lost <= most, "{lost} without a winner, at most {most} predicted");
    // It was a race.
    assert!(shares.iter().filter(|share| **share > URLS / 100).count() > 1, "{shares:?}");
    assert_eq!(filter.figures().unwrap().generations > 3, grows);
    let all: Vec<String> = (0..URLS).map(url).collect();
    assert!(filter.contains_many(&all).unwrap().iter().all(|found| *found));
    eprintln!("{address}: won {shares:?}, {lost} without a winner");
}
