//! A collector at the end of a channel. It inserts items in batches, which is faster in filters
//! larger than the caches, but no item waits until a batch is full.

use std::collections::HashSet;
use std::error::Error;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, unbounded};
use tamis::BlockedBloomFilter;

const PRODUCERS: u64 = 4;
const EVENTS: u64 = 50_000;
const BATCH: usize = 256;

/// Receives events until all senders are gone, and passes on each event and whether it was new.
///
/// Waits only for the first event of a batch, and adds the events that are already in the channel.
/// If the filter consumed the channel's iterator instead, it would wait for a full batch.
fn collect(
    seen: &BlockedBloomFilter<u64>,
    events: &Receiver<u64>,
    mut pass_on: impl FnMut(u64, bool),
) -> usize {
    let mut batches = 0;
    while let Ok(first) = events.recv() {
        let mut batch = vec![first];
        batch.extend(events.try_iter().take(BATCH - 1));
        let new = seen.insert_many(&batch);
        batch.into_iter().zip(new).for_each(|(event, new)| pass_on(event, new));
        batches += 1;
    }
    batches
}

fn filter() -> Result<BlockedBloomFilter<u64>, tamis::BuildError> {
    // At this rate no false positive is to be expected, so the answers are those of a set.
    BlockedBloomFilter::builder()
        .capacity((PRODUCERS * EVENTS) as usize)
        .false_positive_rate(1e-12)
        .build()
}

/// Checks that the answers are those of a set, with events from many producers, half of them known.
fn answers_are_those_of_a_set() -> Result<(), Box<dyn Error>> {
    let (send, events) = bounded(4 * BATCH);
    for producer in 0..PRODUCERS {
        let send = send.clone();
        thread::spawn(move || {
            for event in 0..EVENTS {
                send.send((producer * EVENTS / 2 + event).wrapping_mul(0x9E37_79B9_7F4A_7C15))
                    .expect("the collector is running");
            }
        });
    }
    drop(send);
    let mut known = HashSet::new();
    let (mut right, mut fresh) = (true, 0);
    let batches = collect(&filter()?, &events, |event, new| {
        right &= known.insert(event) == new;
        fresh += u64::from(new);
    });
    println!("{} events in {batches} batches, {fresh} of them new", PRODUCERS * EVENTS);
    assert!(right, "an answer differs from that of the set");
    assert_eq!(fresh, (PRODUCERS + 1) * EVENTS / 2);
    Ok(())
}

/// Checks that no event waits for a full batch: each is passed on before the next one is sent.
fn no_event_waits() -> Result<(), Box<dyn Error>> {
    let (send, events) = unbounded();
    let (answer, answers) = unbounded();
    let seen = filter()?;
    let collector = thread::spawn(move || {
        collect(&seen, &events, |event, new| {
            answer.send((event, new)).expect("the receiver exists")
        })
    });
    for event in 0..100 {
        send.send(event)?;
        assert_eq!(answers.recv_timeout(Duration::from_secs(10))?, (event, true));
    }
    drop(send);
    assert_eq!(collector.join().expect("the collector does not panic"), 100);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    answers_are_those_of_a_set()?;
    no_event_waits()
}
