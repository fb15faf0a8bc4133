//! Filters grow from a few items while 2 to 8 threads insert, remove, claim and query: no item that
//! a reader knows of is missed, by a query or in a snapshot, and no claimed item has two winners.
//!
//! `TAMIS_LONG=1 cargo test --release -p tamis-cuckoo --test races growing_storm::` runs the long
//! form: 10^9 lookups, and 10^8 claims.

use std::ops::RangeInclusive;
use std::thread;

use tamis_cuckoo::{Buildable, Builder, CuckooFilter, OnceCuckooFilter};
use tamis_hash::Rapid;
use tamis_sync::{Ordering, Word};

use crate::common::{patiently, sample};
use crate::race::check_winners;

const THREADS: RangeInclusive<u64> = 2..=8;

/// The fewest lookups at each number of threads.
///
/// POWER: on two busy cores, queries one by one that check neither the version nor the level missed
/// an item once in 27 million lookups of all. So the long form finds this, and the short one only
/// with luck: the models find it always.
const LOOKUPS: u64 = sample(1_000_000, 1_000_000_000 / 7 + 1);

/// The claims at each number of threads, by all of them together.
const CLAIMS: u64 = sample(1_000_000, 100_000_000 / 7 + 1);

/// Of each filter the first number of items, how many each worker inserts, and the rate.
///
/// Small filters have few stripes, and most of their life they grow: lookups meet splits and other
/// writers. The rates give all shapes of buckets.
const SIZES: [(u64, u64, f64); 4] =
    [(10, 40_000, 0.05), (10, 50_000, 1e-2), (1000, 100_000, 1e-4), (100, 50_000, 1e-6)];

/// The number of lookups between two looks at what the writers have done, and how many of the
/// latest items are the likeliest.
const GLANCE: u64 = 64;

/// The snapshots of each filter.
const SNAPSHOTS: u64 = 8;

/// Makes a filter that grows from a number of items to another, at a rate.
fn growing<F: Buildable<Hasher = Rapid>>((first, most, rate): (u64, u64, f64)) -> F {
    let builder = Builder::new(Rapid::with_seed(11)).capacity(first as usize);
    builder.max_capacity(most as usize).false_positive_rate(rate).build().unwrap()
}

/// What a worker has done, as it lets the readers know.
#[derive(Debug)]
struct Done {
    inserted: Word,
    claimed: Word,
}

/// Two filters that grow together, and what was done to them.
struct Storm {
    filter: CuckooFilter<u64, Rapid>,
    claims: OnceCuckooFilter<u64, Rapid>,
    /// The number of items that each worker inserts and claims.
    items: u64,
    workers: Vec<Done>,
    /// The number of workers that have ended.
    ended: Word,
}

/// Returns the item of this number of a worker. All workers claim those of the first.
fn item(worker: u64, number: u64) -> u64 {
    worker << 32 | number
}

/// Returns whether the items of this number are removed soon after they are inserted.
fn leaves(number: u64) -> bool {
    number % 4 == 3
}

/// Returns a number that a worker has published.
fn known(word: &Word) -> u64 {
    // ORDERING: Acquire pairs with the Release of `publish`: without it an item that is missed
    // would be no error.
    word.load(Ordering::Acquire)
}

/// Lets the other threads know of one more.
fn publish(word: &Word) {
    // ORDERING: Release pairs with the Acquire of `known`, as said there.
    word.fetch_add(1, Ordering::Release);
}

/// Lets the readers know that a worker has ended, even if it panics: they would wait forever.
struct OnDrop<'a>(&'a Word);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        publish(self.0);
    }
}

impl Storm {
    fn new((first, items, rate): (u64, u64, f64), workers: u64) -> Self {
        let done = |_| Done { inserted: Word::new(0), claimed: Word::new(0) };
        Self {
            filter: growing((first, workers * items, rate)),
            claims: growing((first, items, rate)),
            items,
            workers: (0..workers).map(done).collect(),
            ended: Word::new(0),
        }
    }

    /// Inserts own items, removes some of those of the next worker, and claims what all claim.
    /// Returns how many claims it won, and how many of the next worker's items it has seen.
    fn work(&self, worker: u64) -> (u64, u64) {
        let _ended = OnDrop(&self.ended);
        let next = (worker + 1) % self.workers.len() as u64;
        let done = &self.workers[worker as usize];
        let (mut seen, mut won) = (0, 0);
        for number in 0..self.items {
            if worker == 0 && number.is_multiple_of(self.items / SNAPSHOTS) {
                self.check_snapshot();
            }
            patiently(|| self.filter.insert(&item(worker, number))).unwrap();
            publish(&done.inserted);
            won += u64::from(patiently(|| self.claims.insert(&item(0, number))).unwrap());
            publish(&done.claimed);
            seen = self.remove(next, seen);
        }
        (won, seen)
    }

    /// Takes a snapshot, while the other workers go on. It contains all items that stay and were
    /// inserted before.
    fn check_snapshot(&self) {
        let inserted: Vec<u64> = self.workers.iter().map(|done| known(&done.inserted)).collect();
        let copy = self.filter.clone();
        for (worker, inserted) in (0..).zip(inserted) {
            let mut stay = (0..inserted).filter(|&number| !leaves(number));
            assert!(stay.all(|number| copy.contains(&item(worker, number))), "not in a snapshot");
        }
    }

    /// Removes what leaves of a worker's items, from the `seen`th on; returns how many there are.
    fn remove(&self, worker: u64, seen: u64) -> u64 {
        let inserted = known(&self.workers[worker as usize].inserted);
        for number in (seen..inserted).filter(|&number| leaves(number)) {
            assert!(self.filter.remove(&item(worker, number)), "an item was lost");
        }
        inserted
    }

    /// Queries items that stay, until all workers have ended. Returns how many it queried, and how
    /// many of them it missed.
    fn read(&self, seed: u64) -> (u64, u64) {
        let (mut asked, mut missed, mut random) = (0, 0, seed);
        // Returns numbers below the given one: the latest ones, or any, with equal probability.
        let mut draw = |end: u64| -> Vec<u64> {
            let count = if end == 0 { 0 } else { GLANCE };
            let draw = |_| {
                random = u64::wrapping_mul(random, 0xD134_2543_DE82_EF95).wrapping_add(1);
                let back = if random >> 63 == 0 { end } else { end.min(GLANCE) };
                end - 1 - (random >> 32) % back
            };
            (0..count).map(draw).collect()
        };
        let mut worker = seed;
        while known(&self.ended) < self.workers.len() as u64 {
            worker = (worker + 1) % self.workers.len() as u64;
            let done = &self.workers[worker as usize];
            let stays = |number: u64| item(worker, number - u64::from(leaves(number)));
            let items: Vec<u64> = draw(known(&done.inserted)).into_iter().map(stays).collect();
            let claims: Vec<u64> =
                draw(known(&done.claimed)).into_iter().map(|number| item(0, number)).collect();
            // One by one, and in batches, of both filters.
            let mut count = |hit: bool| missed += u64::from(!hit);
            items.iter().for_each(|item| count(self.filter.contains(item)));
            self.filter.contains_many_with(&items, |_, hit| count(hit));
            claims.iter().for_each(|item| count(self.claims.contains(item)));
            self.claims.contains_many_with(&claims, |_, hit| count(hit));
            asked += 2 * (items.len() + claims.len()) as u64;
        }
        (asked, missed)
    }

    /// Checks what remains when all threads have ended. The workers have won `won` claims.
    fn check(&self, won: u64) {
        let left = (0..self.items).filter(|&number| !leaves(number));
        let workers = 0..self.workers.len() as u64;
        assert_eq!(self.filter.len(), self.workers.len() * left.clone().count());
        for worker in workers {
            assert!(left.clone().all(|number| self.filter.contains(&item(worker, number))));
        }
        assert!((0..self.items).all(|number| self.claims.contains(&item(0, number))));
        assert_eq!(self.claims.len() as u64, won);
        for (size, first) in [
            (self.filter.size_in_bytes(), self.filter.geometry().size_in_bytes()),
            (self.claims.size_in_bytes(), self.claims.geometry().size_in_bytes()),
        ] {
            assert!(size > 2 * first, "{size} bytes, {first} at first");
        }
    }
}

/// Half of the threads query, and the others work. Returns how many lookups there were, and how
/// many of them missed an item.
fn storm(sizes: (u64, u64, f64), threads: u64) -> (u64, u64) {
    let readers = threads / 2;
    let storm = &Storm::new(sizes, threads - readers);
    let (mut asked, mut missed, mut won, mut rest) = (0, 0, 0, Vec::new());
    thread::scope(|scope| {
        let readers: Vec<_> =
            (0..readers).map(|seed| scope.spawn(move || storm.read(seed))).collect();
        let workers = 0..threads - readers.len() as u64;
        let workers: Vec<_> =
            workers.map(|worker| scope.spawn(move || storm.work(worker))).collect();
        for reader in readers {
            let counts = reader.join().unwrap();
            (asked, missed) = (asked + counts.0, missed + counts.1);
        }
        for (worker, ended) in (1..).zip(workers) {
            let (claims, seen) = ended.join().unwrap();
            won += claims;
            rest.push((worker, seen));
        }
    });
    // What a worker had not yet seen of the next one's items.
    for (worker, seen) in rest {
        storm.remove(worker % storm.workers.len() as u64, seen);
    }
    storm.check(won);
    (asked, missed)
}

#[test]
fn no_known_item_is_missed_while_filters_grow() {
    let mut all = 0;
    for threads in THREADS {
        let (mut asked, mut missed, mut rounds) = (0, 0, 0);
        for sizes in SIZES.into_iter().cycle() {
            let counts = storm(sizes, threads);
            (asked, missed, rounds) = (asked + counts.0, missed + counts.1, rounds + 1);
            if asked >= LOOKUPS && rounds >= SIZES.len() {
                break;
            }
        }
        println!("{threads} threads: {asked} lookups, {missed} missed, {rounds} filters");
        all += missed;
    }
    assert_eq!(all, 0, "items were missed");
}

#[test]
fn no_claimed_item_has_two_winners_while_a_filter_grows() {
    for (threads, rate) in THREADS.zip([1e-2, 1e-4, 1e-6].into_iter().cycle()) {
        let items = CLAIMS / threads;
        let filter: OnceCuckooFilter<u64, Rapid> = growing((1000, items, rate));
        check_winners(&filter, threads as usize, items);
    }
}
