//! Recorded histories of small filters under real threads, checked for linearizability (Wing and Gong 1993,
//! Lowe 2017): there is one order of all operations on an item, in keeping with their times, in which each
//! gives the answer that it gave.
//!
//! The items' classes differ, so each item's operations are checked alone. What the filters do not promise
//! is left out: a query beside the remove of one copy and the insert of another may answer "no", though
//! one of the two was in all the time. So an item has one copy at most, inserted and removed by its owner.

use std::thread;

use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

const HISTORIES: u64 = 2000;
const THREADS: u64 = 4;
const ITEMS: usize = 3;
const OPERATIONS: usize = 12;

/// An operation on one item, with the answer once it is known.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Of the deletable filter: done, or not for want of room.
    Insert(bool),
    /// Of the once filter: whether it was told that it was first; none for want of room.
    InsertOnce(Option<bool>),
    Remove(bool),
    Contains(bool),
    Count(u32),
}

/// Whether the item is in.
struct Item;

impl Specification for Item {
    type State = bool;
    type Operation = Operation;

    fn init() -> bool {
        false
    }

    fn apply(operation: &Operation, &inside: &bool) -> (bool, bool) {
        match *operation {
            Operation::Insert(done) => (!inside, done),
            Operation::InsertOnce(Some(first)) => (first != inside, true),
            Operation::InsertOnce(None) => (!inside, false),
            Operation::Remove(done) => (done == inside, false),
            Operation::Contains(answer) => (answer == inside, inside),
            Operation::Count(copies) => (copies == u32::from(inside), inside),
        }
    }
}

/// What one thread did: item, time of the call, time of the response, and the operation.
type Record = Vec<(usize, u64, u64, Operation)>;

/// Numbers without order, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = Rapid::with_seed(7).hash_item(&self.0);
        self.0 % n
    }
}

/// Runs `act` on random items in all threads at once, and returns what was done, by item.
fn record(
    seed: u64,
    act: impl Fn(u64, usize, &mut Random) -> Operation + Sync,
) -> [Vec<(u64, Action<Operation>, usize)>; ITEMS] {
    // A number for each event. An operation lies between two of its own.
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

/// Items whose classes all differ, so that none is taken for another.
fn distinct(builder: impl Fn() -> CuckooFilter<u64, Rapid>, seed: u64, n: usize) -> Vec<u64> {
    let mut hashes = (0_u64..).map(|item| Rapid::with_seed(seed).hash_item(&item));
    let mut items = Vec::new();
    while items.len() < n {
        let hash = hashes.next().expect("there are enough numbers");
        // Alone, so that the filter is never full.
        if items.iter().all(|&item| {
            let alone = builder();
            alone.insert_hash(item).unwrap();
            !alone.contains_hash(hash)
        }) {
            items.push(hash);
        }
    }
    items
}

/// Two slots in each of four buckets: nearly every insert has to move what is in.
fn small() -> CuckooFilter<u64, Rapid> {
    let builder = CuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(0));
    builder.buckets(4).slots(2).fingerprint_bits(32).build().unwrap()
}

#[test]
fn the_cuckoo_filter_is_linearizable() {
    let mut answers = [0_u64; 2];
    for seed in 0..HISTORIES {
        let hashes = distinct(small, seed, ITEMS + 3);
        let (items, fillers) = hashes.split_at(ITEMS);
        let filter = small();
        let filled = fillers.iter().filter(|&&hash| filter.insert_hash(hash).is_ok()).count();
        assert_eq!(filled, fillers.len());
        let inside = [const { Word::new(0) }; ITEMS];
        let histories = record(seed, |thread, item, random| {
            let hash = items[item];
            // ORDERING: Relaxed: only the owner reads and writes it.
            let owned = (item as u64 == thread).then(|| inside[item].load(Ordering::Relaxed) == 1);
            match (owned, random.below(2)) {
                (Some(false), 0) => {
                    let done = filter.insert_hash(hash).is_ok();
                    // ORDERING: Relaxed: as above.
                    inside[item].store(u64::from(done), Ordering::Relaxed);
                    Operation::Insert(done)
                }
                (Some(true), 0) => {
                    // ORDERING: Relaxed: as above.
                    inside[item].store(0, Ordering::Relaxed);
                    Operation::Remove(filter.remove_hash(hash))
                }
                (_, 1) => Operation::Count(filter.count_hash(hash)),
                _ => Operation::Contains(filter.contains_hash(hash)),
            }
        });
        for events in histories {
            for (_, action, _) in &events {
                if let Action::Response(Operation::Contains(answer)) = action {
                    answers[usize::from(*answer)] += 1;
                }
            }
            assert!(is_linearizable(events.clone()), "seed {seed}: {events:#?}");
        }
    }
    println!("{} misses, {} hits", answers[0], answers[1]);
    assert!(answers[0] > HISTORIES && answers[1] > HISTORIES, "{answers:?}");
}

#[test]
fn the_once_filter_is_linearizable() {
    let mut refused = 0;
    for seed in 0..HISTORIES {
        let hashes = distinct(small, seed, ITEMS + 5);
        let (items, fillers) = hashes.split_at(ITEMS);
        let builder = OnceCuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(0));
        let filter = builder.buckets(4).slots(2).fingerprint_bits(32).build().unwrap();
        for &hash in fillers {
            // Where all five have the same two buckets, four of them do.
            let _ = filter.insert_hash(hash);
        }
        let histories = record(seed, |_, item, random| match random.below(2) {
            0 => Operation::InsertOnce(filter.insert_hash(items[item]).ok()),
            _ => Operation::Contains(filter.contains_hash(items[item])),
        });
        for events in histories {
            let is_refusal =
                |action| matches!(action, Action::Response(Operation::InsertOnce(None)));
            refused += events.iter().filter(|event| is_refusal(event.1.clone())).count();
            assert!(is_linearizable(events.clone()), "seed {seed}: {events:#?}");
        }
    }
    // So full that those who were not refused had to move others.
    assert!(refused > HISTORIES as usize / 10, "{refused} refused");
}

/// The control: a test-and-set of two steps. Some history must give it away.
#[test]
fn a_check_and_an_act_are_not_linearizable() {
    let gives_itself_away = |seed| {
        let items = distinct(small, seed, ITEMS);
        let filter = small();
        let histories = record(seed, |_, item, _| {
            let first = !filter.contains_hash(items[item]);
            thread::yield_now();
            if first {
                // More copies than there is room for do not matter here.
                let _ = filter.insert_hash(items[item]);
            }
            Operation::InsertOnce(Some(first))
        });
        histories.into_iter().any(|events| !is_linearizable(events))
    };
    assert!((0..HISTORIES).any(gives_itself_away));
}
