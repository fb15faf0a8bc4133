//! Four processes insert the same URLs at once: each URL has one winner, whatever the filter goes
//! through meanwhile.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_hash::Xxh3;
use tamis_redis::RedisBloomFilter;

use crate::harness::Server;

const PROCESSES: usize = 4;

/// The URLs: under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler, a million.
pub(crate) const URLS: usize = if option_env!("TAMIS_LONG").is_some() { 1_000_000 } else { 60_000 };

/// The rate of the filters.
const RATE: f64 = 1e-4;

/// The URLs between two barriers.
const ROUND: usize = 10_000;

/// The URLs that a process inserts with one call.
const BATCH: usize = 2000;

/// What a process of the crew is given: the address of the server, the name of the filter, its
/// number, and a file for its winners.
const ROLE: &str = "TAMIS_REDIS_CREW";

/// The name of the test that is the crew in other processes.
const CREW: &str = "processes::crew";

fn url(number: usize) -> String {
    format!("https://host{}.example/articles/{}/{number}.html", number % 997, number / 100)
}

/// Inserts all URLs, and writes the numbers of those it won. In a process that is none of the crew,
/// runs the whole race on one server.
#[test]
fn crew() {
    let Ok(role) = env::var(ROLE) else {
        let Some(server) = Server::start() else { return };
        race(&server.url(), "fixed", URLS as u64, false);
        return;
    };
    let mut role = role.split('|');
    let [address, name, number, file] = [(); 4].map(|()| role.next().unwrap());
    let filter = RedisBloomFilter::<str>::builder(address, name).open().unwrap();
    let folder = Path::new(file).parent().unwrap();
    let process: usize = number.parse().unwrap();
    let mut won = Vec::new();
    let numbers: Vec<usize> = (0..URLS).collect();
    for (round, items) in numbers.chunks(ROUND).enumerate() {
        // No process begins a round before all others do, so that they race for the same URLs.
        fs::write(folder.join(format!("{round}.{process}")), "").unwrap();
        while !(0..PROCESSES).all(|other| folder.join(format!("{round}.{other}")).exists()) {
            sleep(Duration::from_micros(200));
        }
        // Each begins at another place of the round, so that each wins some.
        let batches: Vec<&[usize]> = items.chunks(BATCH).collect();
        for batch in (0..batches.len()).map(|at| batches[(at + process) % batches.len()]) {
            let results = filter.insert_many(batch.iter().map(|number| url(*number)));
            for (number, result) in batch.iter().zip(results) {
                if result.unwrap() {
                    won.push(*number as u32);
                }
            }
        }
    }
    let bytes: Vec<u8> = won.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(file, bytes).unwrap();
}

#[test]
fn each_url_has_one_winner_while_the_filter_grows() {
    let Some(server) = Server::start() else { return };
    race(&server.url(), "growing", URLS as u64 / 20, true);
}

/// Lets the processes race, and counts their winners.
pub(crate) fn race(address: &str, name: &str, capacity: u64, grows: bool) {
    let builder = RedisBloomFilter::<str>::builder(address, name).capacity(capacity);
    let builder = builder.false_positive_rate(RATE).hasher(Xxh3::with_seed(1));
    let filter = if grows { builder } else { builder.fixed() }.create().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> =
        (0..PROCESSES).map(|number| folder.path().join(format!("{number}.won"))).collect();
    let spawn = |(number, file): (usize, &PathBuf)| {
        Command::new(env::current_exe().unwrap())
            .args([CREW, "--exact", "--nocapture"])
            .env(ROLE, format!("{address}|{name}|{number}|{}", file.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut crew: Vec<_> = files.iter().enumerate().map(spawn).collect();
    // A process that fails leaves the others waiting.
    let mut left = PROCESSES;
    while left > 0 {
        sleep(Duration::from_millis(5));
        left = 0;
        for number in 0..PROCESSES {
            match crew[number].try_wait().unwrap() {
                None => left += 1,
                Some(status) if status.success() => {}
                Some(status) => {
                    crew.iter_mut().for_each(|process| _ = process.kill());
                    panic!("a process has failed: {status}");
                }
            }
        }
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
    // A URL without a winner was a false positive when it was inserted. The rate is that of a full
    // filter at most.
    let lost = winners.iter().filter(|count| **count == 0).count() as u64;
    let predicted = RATE * URLS as f64;
    let most = Poisson::new(predicted).unwrap().inverse_cdf(1.0 - 1e-9);
    assert!(lost <= most, "{lost} without a winner, at most {most} predicted");
    // It was a race.
    assert!(shares.iter().filter(|share| **share > 0).count() > 1, "{shares:?}");
    assert_eq!(filter.storage().unwrap().slices > 3, grows);
    let all: Vec<String> = (0..URLS).map(url).collect();
    assert!(filter.contains_many(&all).unwrap().iter().all(|found| *found));
    eprintln!("{address}, {name}: won {shares:?}, {lost} without a winner");
}
