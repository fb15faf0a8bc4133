//! loom models of the classic layout: its own insert and query of bits in many words. A child of
//! `array`, because the planted bugs use its private parts.
//!
//! As in the models of the bits, a property is a function that takes the operation under test. The
//! minimum of executions that a model must explore is about half of what it explores now.

use alloc::vec::Vec;

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Ordering, Word};

use tamis_hash::fastrange;

use super::Array;
use super::classic::Classic;
use crate::geometry::{Geometry, Kind};
use crate::probe::classic::probes;

const NONE_NEW: &str = "no insert returned that the item is new";
const NOT_ONE: &str = "not exactly one insert returned that the item is new";
const MISSED: &str = "an inserted item was missed";

type Insert = fn(&Classic, u64) -> bool;

/// A filter of three words, or with all bits in one word.
#[derive(Clone, Copy)]
struct Model {
    bits: u64,
    probes: u32,
    /// An item whose bits all differ; each lies in its own word if the filter has several words.
    x: u64,
    /// An item whose last bit is the first bit of `x`, and which shares no other bit with it.
    y: u64,
}

impl Model {
    fn new(words: u64, probes: u32) -> Self {
        let model = Self { bits: 64 * words, probes, x: 0, y: 0 };
        let item = |wanted: &dyn Fn(&[u64]) -> bool| {
            let mut hashes = (1_u64..).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            hashes.find(|&hash| wanted(&model.places(hash))).unwrap()
        };
        let size = if words == 1 { 1 } else { 64 };
        let x = item(&|places| differ(places, size));
        let bits_of_x = model.places(x);
        let y = item(&|places| {
            let shared = places.iter().map(|place| bits_of_x.iter().position(|bit| bit == place));
            let expected = (1..probes).map(|_| None).chain([Some(0)]);
            differ(places, 1) && shared.eq(expected)
        });
        Self { x, y, ..model }
    }

    /// Returns where the bits of an item lie, computed as `insert` does.
    fn places(self, hash: u64) -> Vec<u64> {
        probes(hash, self.probes).map(|share| fastrange(share, self.bits)).collect()
    }

    fn filter(self) -> Classic {
        Classic::zeroed(Geometry::for_bits(Kind::Classic, self.bits, self.probes, None).unwrap())
            .unwrap()
    }
}

/// Returns whether each of the places lies in a different group of `size` bits.
fn differ(places: &[u64], size: u64) -> bool {
    let cells = places.iter().map(|place| place / size);
    cells.clone().enumerate().all(|(at, cell)| !cells.clone().take(at).any(|other| other == cell))
}

fn insert(filter: &Classic, hash: u64) -> bool {
    filter.insert(hash)
}

// L3, L1: at least one of concurrent inserts of a new item returns `true`, and no later insert
// does, although another item sets its first bit meanwhile. A thread that has inserted an item
// finds it, whatever the insert returned.

fn at_least_one_is_new(model: Model, racers: usize, insert: Insert) {
    let Model { x, y, .. } = model;
    let filter = Arc::new(model.filter());
    let spawn_insert = |item| {
        let filter = Arc::clone(&filter);
        spawn(move || {
            let new = insert(&filter, item);
            assert!(filter.contains(item), "{MISSED}");
            new
        })
    };
    let neighbour = spawn_insert(y);
    let others: Vec<_> = (1..racers).map(|_| spawn_insert(x)).collect();
    let mut new = insert(&filter, x);
    assert!(filter.contains(x), "{MISSED}");
    for other in others {
        new |= other.join().unwrap();
    }
    assert!(neighbour.join().unwrap(), "{NONE_NEW}");
    assert!(new, "{NONE_NEW}");
    assert!(filter.contains(x) && filter.contains(y), "{MISSED}");
    assert!(!insert(&filter, x), "an item was new twice");
}

/// Words, probes, threads that insert the item, bound on preemptions, and executions.
const RACES: [(u64, u32, usize, Option<usize>, usize); 4] = [
    (3, 3, 1, None, 2100),
    (3, 3, 2, Some(2), 25_000),
    (1, 2, 1, None, 150),
    (1, 2, 2, Some(3), 11_000),
];

#[test]
fn model_at_least_one_is_new() {
    for (words, probes, racers, preemptions, at_least) in RACES {
        let model = Model::new(words, probes);
        check(at_least, preemptions, move || at_least_one_is_new(model, racers, insert));
    }
}

/// Only the first bit that the check found missing decides, whatever the other bits return.
#[test]
fn mutant_the_first_missing_bit_decides() {
    fn insert(filter: &Classic, hash: u64) -> bool {
        let mut places = filter.probes(hash).map(|share| filter.place(share));
        while let Some(place) = places.next() {
            if filter.bits.contains_bit(place) {
                continue;
            }
            let new = filter.bits.insert_bit(place);
            for place in places {
                filter.bits.insert_bit(place);
            }
            return new;
        }
        false
    }
    for (words, probes, racers, preemptions, _) in RACES {
        let model = Model::new(words, probes);
        must_fail(NONE_NEW, preemptions, move || at_least_one_is_new(model, racers, insert));
    }
}

/// A load and a store instead of an RMW: a bit that another thread sets in between is lost.
#[test]
fn mutant_lossy_or_loses_a_bit() {
    let model = Model::new(1, 2);
    must_fail_with(Mutant::LossyOr, MISSED, None, move || at_least_one_is_new(model, 1, insert));
}

// Invariant 2: an insert that returns `true` has set a bit. So where one bit is missing, exactly
// one returns `true`.

fn one_sets_the_last_bit(model: Model, insert: Insert) {
    let filter = Arc::new(model.filter());
    for place in &model.places(model.x)[1..] {
        assert!(filter.bits.insert_bit(*place));
    }
    let other = Arc::clone(&filter);
    let thread = spawn(move || insert(&other, model.x));
    let mine = insert(&filter, model.x);
    assert!(mine != thread.join().unwrap(), "{NOT_ONE}");
}

#[test]
fn model_one_sets_the_last_bit() {
    let model = Model::new(3, 3);
    check(55, None, move || one_sets_the_last_bit(model, insert));
}

/// The check before the `fetch_or` decides, not the value that it replaced.
#[test]
fn mutant_the_check_decides() {
    fn insert(filter: &Classic, hash: u64) -> bool {
        let new = !filter.contains(hash);
        filter.insert(hash);
        new
    }
    let model = Model::new(3, 3);
    must_fail(NOT_ONE, None, move || one_sets_the_last_bit(model, insert));
}

// L2: a query sees every insert that happens before it. That includes an insert that had nothing to
// set, because concurrent inserts of the same item, which do not happen before the query, had set
// the bits.

fn an_inserted_item_is_found(model: Model, publish: Ordering) {
    let filter = Arc::new(model.filter());
    let flag = Arc::new(Word::new(0));
    let [racer, inserter] = [Arc::clone(&filter), Arc::clone(&filter)];
    let published = Arc::clone(&flag);
    let threads = [
        spawn(move || {
            racer.insert(model.x);
        }),
        spawn(move || {
            inserter.insert(model.x);
            published.store(1, publish);
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(filter.contains(model.x), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(filter.contains(model.x), "{MISSED}");
}

#[test]
fn model_an_inserted_item_is_found() {
    let model = Model::new(3, 2);
    check(1350, None, move || an_inserted_item_is_found(model, Ordering::Release));
}

#[test]
fn mutant_an_item_is_published_without_release() {
    let model = Model::new(3, 2);
    must_fail(MISSED, None, move || an_inserted_item_is_found(model, Ordering::Relaxed));
}
