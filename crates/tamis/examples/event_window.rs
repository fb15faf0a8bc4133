//! Event de-duplication within a window: each event arrives three times, and exactly one arrival
//! counts as the first.
//!
//! The caller passes the time in, so that the example controls it. A service would pass
//! `start.elapsed()`.
//!
//! ```sh
//! $ cargo run --release --example event_window
//! 300000 events, each seen three times by 8 threads
//! ... first arrivals, ... lost to false positives
//! the window's memory of them takes ... KiB
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use tamis::RotatingBloomFilter;

const THREADS: u64 = 8;
const MINUTES: u64 = 30;
const EVENTS_PER_MINUTE: u64 = 10_000;
const EVENTS: u64 = MINUTES * EVENTS_PER_MINUTE;

const fn minutes(number: u64) -> Duration {
    Duration::from_secs(60 * number)
}

fn main() -> Result<(), Box<dyn Error>> {
    // An event that arrives again within three minutes is a duplicate. The capacity is the most
    // events in that time.
    let seen = RotatingBloomFilter::<u64>::builder()
        .span(minutes(3))
        .capacity(3 * EVENTS_PER_MINUTE as usize)
        .false_positive_rate(1e-9)
        .build()?;

    let minute_begins = Barrier::new(THREADS as usize);
    let firsts: Vec<u64> = thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let (seen, minute_begins) = (&seen, &minute_begins);
            scope.spawn(move || {
                let mut firsts = Vec::new();
                for minute in 0..=MINUTES + 1 {
                    minute_begins.wait();
                    seen.advance(minutes(minute));
                    // Two threads receive an event in its own minute, at the same time. A third one
                    // does two minutes later.
                    let begin = |minute: u64| minute.min(MINUTES) * EVENTS_PER_MINUTE;
                    let new = begin(minute)..begin(minute + 1);
                    let old = begin(minute.saturating_sub(2))..begin(minute.saturating_sub(1));
                    let now = new.filter(|event| event % 4 == thread % 4);
                    let later = old.filter(|event| minute >= 2 && event % THREADS == thread);
                    for event in now.chain(later) {
                        // Of all inserts of an event that is in the window, exactly one returns
                        // `true`.
                        if seen.insert(&event) {
                            firsts.push(event);
                        }
                    }
                }
                firsts
            })
        });
        // All threads start before the first is joined.
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });

    let distinct: HashSet<&u64> = firsts.iter().collect();
    let lost = EVENTS as usize - distinct.len();
    println!("{EVENTS} events, each seen three times by {THREADS} threads");
    println!("{} first arrivals, {lost} lost to false positives", EVENTS as usize - lost);
    println!("the window's memory of them takes {} KiB", seen.size_in_bytes() / 1024);
    assert_eq!(firsts.len(), distinct.len(), "an event was new twice");
    assert!(lost <= 1, "more events lost than the rate predicts");

    // After the window and one generation the events are forgotten.
    seen.advance(minutes(MINUTES + 10));
    assert!(seen.insert(&0) && seen.insert(&(EVENTS - 1)), "an old event is still there");
    Ok(())
}
