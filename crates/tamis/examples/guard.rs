//! A guard in front of a slow store: query the filter first, and the store only if it may have the
//! key.
//!
//! ```sh
//! $ cargo run --release --example guard
//! 20000 requests, 1000 of them for keys that exist
//! ... reached the store, ... of them for nothing
//! ...
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use tamis::{BlockedBloomFilter, Sampled};

const KEYS: u64 = 100_000;
const REQUESTS: u64 = 20_000;
const THREADS: u64 = 4;

/// A store as slow as a disk or a network.
struct Store(HashMap<u64, String>);

impl Store {
    fn get(&self, key: u64) -> Option<&String> {
        thread::sleep(Duration::from_micros(100));
        self.0.get(&key)
    }
}

/// Returns the filter's figures in the text format of Prometheus. It reads about 1024 cache lines,
/// whatever the size of the filter.
fn metrics(guard: &BlockedBloomFilter<u64>) -> String {
    const LINES: u64 = 1024;
    let sampled = guard.figures_sampled(LINES);
    let figures = [
        ("items", sampled.items),
        ("saturation", sampled.saturation),
        ("false_positive_rate", sampled.false_positive_rate),
    ];
    let mut text = String::new();
    for (name, Sampled { value, standard_error }) in figures {
        text +=
            &format!("guard_{name} {value:e}\nguard_{name}_standard_error {standard_error:e}\n");
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    let store = Store((0..KEYS).map(|key| (key, format!("value {key}"))).collect());

    // One thread builds the filter with exclusive access. Afterwards the workers share it.
    let mut guard = BlockedBloomFilter::<u64>::builder()
        .capacity(KEYS as usize)
        .false_positive_rate(0.01)
        .build()?;
    guard.extend(store.0.keys());
    let guard = guard;

    // The workers serve all requests, and query the store only if the filter may contain the key.
    let start = Instant::now();
    let (forwarded, found) = thread::scope(|scope| {
        let serve = |worker: u64| {
            let (mut forwarded, mut found) = (0_u64, 0_u64);
            for request in (worker..REQUESTS).step_by(THREADS as usize) {
                // One request in twenty is for a key that exists.
                let key = if request % 20 == 0 { request } else { KEYS + request };
                if guard.contains(&key) {
                    forwarded += 1;
                    found += u64::from(store.get(key).is_some());
                }
            }
            (forwarded, found)
        };
        let workers: Vec<_> =
            (0..THREADS).map(|worker| scope.spawn(move || serve(worker))).collect();
        workers.into_iter().fold((0, 0), |(forwarded, found), worker| {
            let (a, f) = worker.join().expect("no worker panics");
            (forwarded + a, found + f)
        })
    });

    println!("{REQUESTS} requests, {found} of them for keys that exist");
    println!("{forwarded} reached the store, {} of them for nothing", forwarded - found);
    println!(
        "{:.2} s; without the guard it would be about {:.1} s",
        start.elapsed().as_secs_f64(),
        start.elapsed().as_secs_f64() * REQUESTS as f64 / forwarded as f64
    );
    println!("the guard takes {} KiB", guard.size_in_bytes() / 1024);
    print!("\n{}", metrics(&guard));
    assert_eq!(found, REQUESTS / 20, "the filter rejected a key that exists");
    Ok(())
}
