//! Starts real servers for tests, and breaks them.
//!
//! Where `redis-server` is missing, a test prints a notice and ends, unless the environment
//! variable `TAMIS_REQUIRE_REDIS` is set: then it fails. The variable `TAMIS_REDIS_SERVER` names
//! another program, such as a `valkey-server`, which must be there.

mod cluster;
mod process;
mod server;

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{OnceLock, mpsc};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tamis_redis::{Builder, Event, RedisBloomFilter};

pub(crate) use self::cluster::{Cluster, Move};
pub(crate) use self::server::Server;

/// How long a busy machine may take for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Stops threads when it is dropped. A test that fails while they run would wait for them for ever.
pub(crate) struct StopOnDrop<'s>(pub(crate) &'s OnceLock<()>);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        _ = self.0.set(());
    }
}

/// Inserts items, each of which must have a verdict, and returns them.
#[track_caller]
pub(crate) fn insert_all(filter: &RedisBloomFilter<u64>, items: Range<u64>) -> Vec<u64> {
    let items: Vec<u64> = items.collect();
    assert!(filter.insert_many(&items).iter().all(Result::is_ok));
    items
}

/// Inserts the items from 0 on, in batches, until it is stopped. Returns those that were new, and
/// how many it has inserted.
pub(crate) fn insert_until(
    stop: &OnceLock<()>,
    filter: &RedisBloomFilter<u64>,
    batch: u64,
) -> (Vec<u64>, u64) {
    let (mut won, mut next) = (Vec::new(), 0);
    while stop.get().is_none() {
        for (item, result) in (next..).zip(filter.insert_many(next..next + batch)) {
            if result.unwrap() {
                won.push(item);
            }
        }
        next += batch;
    }
    (won, next)
}

/// Requires that of clients which inserted the same items one has won each, and that the filter,
/// whose rate is below 1e-4, has all of them. Returns the number of items.
pub(crate) fn require_winners(
    filter: &RedisBloomFilter<u64>,
    results: Vec<(Vec<u64>, u64)>,
) -> u64 {
    let inserted = results.iter().map(|(_, next)| *next).max().unwrap();
    let won: Vec<u64> = results.into_iter().flat_map(|(won, _)| won).collect();
    let distinct: HashSet<u64> = won.iter().copied().collect();
    assert_eq!(won.len(), distinct.len(), "two winners");
    // Few items have none.
    assert!(won.len() as f64 >= inserted as f64 * (1.0 - 1e-3), "{} of {inserted}", won.len());
    let found = filter.contains_many(0..inserted).unwrap();
    assert_eq!(found.iter().filter(|found| !**found).count(), 0, "of {inserted}");
    inserted
}

/// Returns the builder of a filter, and a function that waits until the filter sends a command
/// again, or a call that opens it does.
pub(crate) fn retries(builder: Builder<u64>) -> (Builder<u64>, impl Fn()) {
    let (sender, events) = mpsc::channel();
    let builder = builder.on_event(move |event| {
        if matches!(event, Event::Retried { .. }) {
            _ = sender.send(());
        }
    });
    let retried = move || {
        while events.try_recv().is_ok() {}
        events.recv_timeout(PATIENCE).unwrap();
    };
    (builder, retried)
}

/// Repeats something until it succeeds.
pub(crate) fn patiently<T, E: Debug>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < end, "this was awaited in vain: {error:?}"),
        }
        sleep(Duration::from_millis(20));
    }
}

/// Waits until something holds.
pub(crate) fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    patiently(|| holds().then_some(()).ok_or(what));
}
