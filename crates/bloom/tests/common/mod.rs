//! What the tests have in common: the sample sizes, and races for items.

use std::sync::Barrier;
use std::thread;

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler,
/// otherwise `quick`.
pub(crate) const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}

/// The numbers of items for which no thread, one thread, and several threads got `true`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Winners {
    pub(crate) none: u64,
    pub(crate) one: u64,
    pub(crate) several: u64,
}

/// All threads insert all items concurrently, in the same order. They wait for each other after
/// each `round` items, so that they keep racing for the same ones.
pub(crate) fn race(
    threads: usize,
    items: u64,
    round: u64,
    insert: impl Fn(u64) -> bool + Sync,
) -> Winners {
    let barrier = Barrier::new(threads);
    let racer = || {
        let mut won = vec![0_u64; items.div_ceil(64) as usize];
        for item in 0..items {
            if item % round == 0 {
                barrier.wait();
            }
            if insert(item) {
                won[item as usize / 64] |= 1 << (item % 64);
            }
        }
        won
    };
    let won: Vec<Vec<u64>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(racer)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut counts = Winners::default();
    for item in 0..items as usize {
        let winners = won.iter().filter(|won| won[item / 64] >> (item % 64) & 1 == 1).count();
        match winners {
            0 => counts.none += 1,
            1 => counts.one += 1,
            _ => counts.several += 1,
        }
    }
    counts
}
