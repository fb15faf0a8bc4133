//! loom models of the shared filter: its own insert and query of bits in four words.

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::block::{LANES, mask};
use super::filter::SplitBlockFilter;
use super::shared::SharedSplitBlockFilter;

const NONE_NEW: &str = "no insert returned that the hash is new";
const MISSED: &str = "an inserted hash was missed";

/// A hash of the only block.
const X: u64 = 1;

/// The lanes of the first 64-bit word, and of the last.
const FIRST: [usize; 2] = [0, 1];
const LAST: [usize; 2] = [LANES - 2, LANES - 1];

/// Returns a hash whose bits in these lanes are those of `X`, and whose others differ.
fn neighbour(lanes: [usize; 2]) -> u64 {
    let shared = |hash: u64| {
        let (x, other) = (mask(X as u32), mask(hash as u32));
        (0..LANES).filter(move |&lane| x[lane] == other[lane])
    };
    (2..).find(|&hash| shared(hash).eq(lanes)).unwrap()
}

type Insert = fn(&SharedSplitBlockFilter, u64) -> bool;

fn insert(filter: &SharedSplitBlockFilter, hash: u64) -> bool {
    filter.insert_hash(hash)
}

/// At least one of concurrent inserts of a new hash returns `true`, and no later insert does. A
/// thread that has inserted a hash finds it, and so does the filter that is left.
fn at_least_one_is_new(other: u64, insert: Insert) {
    let filter = SplitBlockFilter::with_bytes(32).unwrap();
    let filter = Arc::new(SharedSplitBlockFilter::from(filter));
    let thread = {
        let filter = Arc::clone(&filter);
        spawn(move || {
            let new = insert(&filter, other);
            assert!(filter.contains_hash(other), "{MISSED}");
            new
        })
    };
    let mine = insert(&filter, X);
    assert!(filter.contains_hash(X), "{MISSED}");
    let theirs = thread.join().unwrap();
    assert!(if other == X { mine || theirs } else { mine && theirs }, "{NONE_NEW}");
    assert!(!insert(&filter, X) && !insert(&filter, other), "a hash was new twice");
    let Ok(filter) = Arc::try_unwrap(filter) else { panic!("one thread is left") };
    let filter = filter.into_filter();
    assert!(filter.contains_hash(X) && filter.contains_hash(other), "{MISSED}");
}

#[test]
fn model_at_least_one_insert_into_a_block_is_new() {
    for other in [X, neighbour(FIRST), neighbour(LAST)] {
        check(1000, Some(3), move || at_least_one_is_new(other, insert));
    }
}

/// The last word decides, and not all of them.
#[test]
fn mutant_the_last_word_decides() {
    fn insert(filter: &SharedSplitBlockFilter, hash: u64) -> bool {
        let (line, first, masks) = filter.places(hash);
        let mut new = false;
        for (word, mask) in (first..).zip(masks) {
            new = filter.bits.insert_mask(line, word, mask);
        }
        new
    }
    must_fail(NONE_NEW, Some(3), move || at_least_one_is_new(neighbour(LAST), insert));
}

/// The first word decides also if another hash has set its bits in between.
#[test]
fn mutant_the_first_word_decides() {
    fn insert(filter: &SharedSplitBlockFilter, hash: u64) -> bool {
        let (line, first, masks) = filter.places(hash);
        let mut pattern = (first..).zip(masks);
        let (word, mask) = pattern.next().unwrap();
        let new = filter.bits.insert_mask(line, word, mask);
        for (word, mask) in pattern {
            filter.bits.insert_mask(line, word, mask);
        }
        new
    }
    must_fail(NONE_NEW, Some(3), move || at_least_one_is_new(neighbour(FIRST), insert));
}

/// A load and a store instead of an RMW: a bit that another thread sets in between is lost.
#[test]
fn mutant_lossy_or_loses_a_bit_of_a_block() {
    must_fail_with(Mutant::LossyOr, MISSED, Some(3), move || {
        at_least_one_is_new(neighbour(LAST), insert);
    });
}
