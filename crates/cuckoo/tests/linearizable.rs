//! Recorded histories of small filters under real threads, checked for linearizability (Wing and
//! Gong 1993, Lowe 2017): there is an order of all operations on an item that agrees with their
//! times, and in which each returns what it returned.
//!
//! The items have different classes, so the operations of each item are checked separately. The
//! filters do not guarantee linearizability of several copies: a query concurrent with the removal
//! of one copy and the insert of another may return `false`, although one of the two copies was
//! present all the time. So an item has at most one copy here, which its owner inserts and removes.

use std::thread;

use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

const HISTORIES: u64 = 2000;
const THREADS: u64 = 4;
const ITEMS: usize = 3;
const OPERATIONS: usize = 12;

/// An operation on one item, with its result.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// An insert into the multiset: `false` if it was full.
    Insert(bool),
    /// An insert into the once filter: whether it returned `true`; `None` if it was full.
    InsertOnce(Option<bool>),
    Remove(bool),
    Contains(bool),
    Count(u32),
}

/// The specification of one item. Its state is whether the item is present.
struct Item;

impl Specification for Item {
    type State = bool;
    type Operation = Operation;

    fn init() -> bool {
        false
    }

    fn apply(operation: &Operation, &inside: &bool) -> (bool, bool) {
        match *operation {
            Operation::Insert(inserted) => (!inside, inserted),
            Operation::InsertOnce(Some(first)) => (first != inside, true),
            Operation::InsertOnce(None) => (!inside, false),
            Operation::Remove(removed) => (removed == inside, false),
            Operation::Contains(result) => (result == inside, inside),
            Operation::Count(copies) => (copies == u32::from(inside), inside),
        }
    }
}

/// The operations of one thread: item, time of the call, time of the response, and the operation.
type Record = Vec<(usize, u64, u64, Operation)>;

/// A pseudo-random sequence of numbers, determined by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = Rapid::with_seed(7).hash_item(&self.0);
        self.0 % n
    }
}

/// Runs `act` on random items in all threads concurrently, and returns the history of each item.
fn record(
    seed: u64,
    act: impl Fn(u64, usize, &mut Random) -> Operation + Sync,
) -> [Vec<(u64, Action<Operation>, usize)>; ITEMS] {
    // Each event takes a number. An operation happens between its own two numbers.
    let clock = Word::new(0);
    // ORDERING: SeqCst: every operation stays between the numbers taken before and after it.
    let now = || clock.fetch_add(1, Ordering::SeqCst);
    let records: Vec<Record> = thread::scope(|scope| {
        let (act, now) = (&act, &now);
        let threads = (0..THREADS).map(|thread| {
            scope.spawn(move || {
                let mut random = Random(seed * THREADS + thread);
                let mut record = Record::new();
                for _ in 0..OPERATIONS {
                    let item = random.below(ITEMS as u64) as usize;
                    if random.below(3) == 0 {
                        thread::yield_now();
                    }
                    let call = now();
                    let operation = act(thread, item, &mut random);
                    record.push((item, call, now(), operation));
                }
                record
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut events: [Vec<_>; ITEMS] = Default::default();
    for (thread, record) in records.into_iter().enumerate() {
        for (item, call, response, operation) in record {
            events[item].push((call, Action::Call(operation), thread));
            events[item].push((response, Action::Response(operation), thread));
        }
    }
    events.iter_mut().for_each(|events| events.sort_by_key(|event| event.0));
    events
}

fn is_linearizable(events: Vec<(u64, Action<Operation>, usize)>) -> bool {
    let actions: Vec<_> = events.into_iter().map(|(_, action, thread)| (thread, action)).collect();
    actions.is_empty() || WGLChecker::<Item>::is_linearizable(History::from_actions(actions))
}

/// Returns items of different classes, so that the filter can distinguish them.
fn distinct(builder: impl Fn() -> CuckooFilter<u64, Rapid>, seed: u64, n: usize) -> Vec<u64> {
    let mut hashes = (0_u64..).map(|item| Rapid::with_seed(seed).hash_item(&item));
    let mut items = Vec::new();
    while items.len() < n {
        let hash = hashes.next().expect("there are enough numbers");
        // Compare with one item at a time, so that the filter is never full.
        if items.iter().all(|&item| {
            let filter = builder();
            filter.by_hash().insert(item).unwrap();
            !filter.by_hash().contains(hash)
        }) {
            items.push(hash);
        }
    }
    items
}

/// Builds a filter of four buckets with few slots each, in which nearly every insert has to
/// relocate other items.
fn small((slots, bits): (u32, u32)) -> CuckooFilter<u64, Rapid> {
    let builder = CuckooFilter::<u64>::builder().hasher(Rapid::with_seed(0));
    builder.buckets(4).slots(slots).fingerprint_bits(bits).build().unwrap()
}

/// Returns the shapes with the fewest slots, in words and in pairs of words.
fn shapes() -> impl Iterator<Item = (u32, u32)> {
    Geometry::shapes().filter(|shape| [(2, 32), (3, 42)].contains(shape))
}

#[test]
fn the_cuckoo_filter_is_linearizable() {
    shapes().for_each(check_cuckoo_filter);
}

fn check_cuckoo_filter(shape: (u32, u32)) {
    let small = || small(shape);
    let mut results = [0_u64; 2];
    for seed in 0..HISTORIES {
        // This number fits even if all fillers have the same two buckets.
        let fillers = 3 * (shape.0 as usize - 1);
        let hashes = distinct(small, seed, ITEMS + fillers);
        let (items, fillers) = hashes.split_at(ITEMS);
        let filter = small();
        let filled = fillers.iter().filter(|&&hash| filter.by_hash().insert(hash).is_ok()).count();
        assert_eq!(filled, fillers.len());
        let inside = [const { Word::new(0) }; ITEMS];
        let histories = record(seed, |thread, item, random| {
            let hash = items[item];
            // ORDERING: Relaxed: only the owner reads and writes it.
            let owned = (item as u64 == thread).then(|| inside[item].load(Ordering::Relaxed) == 1);
            match (owned, random.below(2)) {
                (Some(false), 0) => {
                    let inserted = filter.by_hash().insert(hash).is_ok();
                    // ORDERING: Relaxed, as above.
                    inside[item].store(u64::from(inserted), Ordering::Relaxed);
                    Operation::Insert(inserted)
                }
                (Some(true), 0) => {
                    // ORDERING: Relaxed, as above.
                    inside[item].store(0, Ordering::Relaxed);
                    Operation::Remove(filter.by_hash().remove(hash))
                }
                (_, 1) => Operation::Count(filter.by_hash().count(hash)),
                _ => Operation::Contains(filter.by_hash().contains(hash)),
            }
        });
        for events in histories {
            for (_, action, _) in &events {
                if let Action::Response(Operation::Contains(result)) = action {
                    results[usize::from(*result)] += 1;
                }
            }
            assert!(is_linearizable(events.clone()), "seed {seed}: {events:#?}");
        }
    }
    println!("{} misses, {} hits", results[0], results[1]);
    assert!(results[0] > HISTORIES && results[1] > HISTORIES, "{results:?}");
}

#[test]
fn the_once_filter_is_linearizable() {
    shapes().for_each(check_once_filter);
}

fn check_once_filter(shape: (u32, u32)) {
    let small = || small(shape);
    let mut failed = 0;
    for seed in 0..HISTORIES {
        // Three slots stay empty.
        let fillers = 4 * shape.0 as usize - 3;
        let hashes = distinct(small, seed, ITEMS + fillers);
        let (items, fillers) = hashes.split_at(ITEMS);
        let builder = OnceCuckooFilter::<u64>::builder().hasher(Rapid::with_seed(0));
        let filter = builder.buckets(4).slots(shape.0).fingerprint_bits(shape.1).build().unwrap();
        for &hash in fillers {
            // If too many fillers have the same two buckets, not all of them fit.
            let _ = filter.by_hash().insert(hash);
        }
        let histories = record(seed, |_, item, random| match random.below(2) {
            0 => Operation::InsertOnce(filter.by_hash().insert(items[item]).ok()),
            _ => Operation::Contains(filter.by_hash().contains(items[item])),
        });
        for events in histories {
            let is_failure =
                |action| matches!(action, Action::Response(Operation::InsertOnce(None)));
            failed += events.iter().filter(|event| is_failure(event.1.clone())).count();
            assert!(is_linearizable(events.clone()), "seed {seed}: {events:#?}");
        }
    }
    // The filter was so full that successful inserts had to relocate other items.
    assert!(failed > HISTORIES as usize / 10, "{failed} inserts failed");
}

/// The control: a test-and-set in two steps. Some history must reveal it.
#[test]
fn a_check_followed_by_an_insert_is_not_linearizable() {
    let small = || small((2, 32));
    let is_detected = |seed| {
        let items = distinct(small, seed, ITEMS);
        let filter = small();
        let histories = record(seed, |_, item, _| {
            let first = !filter.by_hash().contains(items[item]);
            thread::yield_now();
            if first {
                // An insert that fails does not matter here.
                let _ = filter.by_hash().insert(items[item]);
            }
            Operation::InsertOnce(Some(first))
        });
        histories.into_iter().any(|events| !is_linearizable(events))
    };
    assert!((0..HISTORIES).any(is_detected));
}
