//! loom models of the counters: the guarantees of the counting filter under every interleaving, and
//! planted bugs that the models must find.
//!
//! As in the models of the bits, a property is a function that takes the operation under test. The
//! minimum of executions that a model must explore is about half of what it explores now.

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Lines, Ordering, Word};

use super::Counters;
use crate::nibbles;

/// Words of positions of line 0, and bits in them.
type Pattern = &'static [(usize, u64)];

/// An item with one counter, and one whose counter is the next in the same word: a carry or a
/// borrow would reach it.
const X: Pattern = &[(1, 0b1)];
const Y: Pattern = &[(1, 0b1_0000)];
/// An item with counters in two groups, and one that shares its last counter.
const V: Pattern = &[(0, 0b1), (1, 0b1)];
const NEAR_V: Pattern = &[(0, 0b10), (1, 0b1)];

type Operation = fn(&Counters, Pattern) -> bool;

fn insert(counters: &Counters, pattern: Pattern) -> bool {
    counters.insert(0, pattern.iter().copied())
}

fn remove(counters: &Counters, pattern: Pattern) -> bool {
    counters.remove(0, pattern.iter().copied())
}

fn contains(counters: &Counters, pattern: Pattern) -> bool {
    counters.contains(0, pattern.iter().copied())
}

fn count(counters: &Counters, pattern: Pattern) -> u32 {
    counters.count(0, pattern.iter().copied())
}

/// Returns the counters of X and of Y by one load.
fn both(counters: &Counters) -> [u64; 2] {
    let word = Counters::load(counters.group(0, 1)[0]);
    [word & 15, word >> 4 & 15]
}

/// Makes counters with a number of copies of each item.
fn filled(copies: &[(Pattern, u32)]) -> Arc<Counters> {
    let mut counters = Counters::of_lines(Lines::zeroed(1).unwrap());
    for &(pattern, number) in copies {
        for _ in 0..number {
            counters.insert_mut(0, pattern.iter().copied());
        }
    }
    Arc::new(counters)
}

/// A defective operation: writes to the first word of each group what `change` makes of the old
/// word and the mask.
fn planted(counters: &Counters, pattern: Pattern, change: fn(u64, u64) -> u64) {
    for &(index, mask) in pattern {
        let word = counters.group(0, index)[0];
        let _ = Counters::change(word, |bits| Some(change(bits, nibbles::part(mask, 0))));
    }
}

// L5: two inserts and a legal removal race on counters of one word.

const WRONG: &str = "the count is not the number of copies";
const BELOW: &str = "a count is below the number of copies";
const NEIGHBOUR: &str = "a neighbour changed";
const NOT_REMOVED: &str = "a legal removal returned false";

/// Two inserts race with the removal of a copy that was there before; the second insert may be of
/// the neighbour.
fn counts_are_exact(second: Pattern) {
    let counters = filled(&[(X, 1), (Y, 3)]);
    let inserting = |item| {
        let counters = Arc::clone(&counters);
        spawn(move || {
            insert(&counters, item);
            let [of_x, of_y] = both(&counters);
            assert!((if item == X { of_x >= 1 } else { of_y >= 4 }), "{BELOW}");
        })
    };
    let threads = [inserting(X), inserting(second)];
    assert!(remove(&counters, X), "{NOT_REMOVED}");
    for thread in threads {
        thread.join().unwrap();
    }
    let of_y = u32::from(second == Y);
    assert_eq!(count(&counters, X), 2 - of_y, "{WRONG}");
    assert_eq!(count(&counters, Y), 3 + of_y, "{WRONG}");
}

#[test]
fn model_counts_are_exact() {
    check(1200, Some(3), || counts_are_exact(X));
    check(1200, Some(3), || counts_are_exact(Y));
}

/// A load and a store instead of a compare-exchange: a change that another thread makes in between
/// is lost.
#[test]
fn mutant_lossy_update_loses_a_copy() {
    must_fail_with(Mutant::LossyUpdate, WRONG, Some(3), || counts_are_exact(X));
}

#[test]
fn mutant_lossy_update_loses_a_change_of_the_neighbour() {
    must_fail_with(Mutant::LossyUpdate, WRONG, Some(3), || counts_are_exact(Y));
}

/// Two operations race with a third at the limit of a counter: the counter ends at 15, and its
/// neighbour does not change.
fn saturated_stays(copies: u32, operations: [Operation; 3]) {
    let counters = filled(&[(X, copies), (Y, 3)]);
    let [first, others @ ..] = operations;
    let threads = others.map(|operation| {
        let counters = Arc::clone(&counters);
        spawn(move || {
            operation(&counters, X);
            let [of_x, of_y] = both(&counters);
            assert_eq!(of_y, 3, "{NEIGHBOUR}");
            assert!(of_x >= 13, "{BELOW}");
        })
    });
    first(&counters, X);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(count(&counters, Y), 3, "{NEIGHBOUR}");
    // There are at least 15 copies.
    assert_eq!(count(&counters, X), 15, "{BELOW}");
}

#[test]
fn model_saturated_stays() {
    // 15 copies in the end, whichever operation comes first.
    check(900, Some(3), || saturated_stays(14, [insert, insert, remove]));
    check(140, Some(3), || saturated_stays(15, [insert, insert, insert]));
    check(460, Some(3), || saturated_stays(16, [insert, remove, remove]));
}

/// Adds 1 without a limit: the carry goes into the neighbour.
#[test]
fn mutant_wrapping_add_carries() {
    fn wrapping(counters: &Counters, pattern: Pattern) -> bool {
        planted(counters, pattern, u64::wrapping_add);
        true
    }
    must_fail(NEIGHBOUR, Some(3), || saturated_stays(14, [wrapping, wrapping, remove]));
}

/// Reads whether the counter is saturated before the update, not in it: two inserts that read 14
/// both add.
#[test]
fn mutant_the_limit_is_checked_before_the_update() {
    fn insert(counters: &Counters, pattern: Pattern) -> bool {
        if count(counters, pattern) < 15 {
            planted(counters, pattern, u64::wrapping_add);
        }
        true
    }
    must_fail(NEIGHBOUR, Some(3), || saturated_stays(14, [insert, insert, |_, _| true]));
}

/// Decreases a saturated counter, which no longer knows how many copies there are.
#[test]
fn mutant_a_saturated_counter_is_decreased() {
    fn remove(counters: &Counters, pattern: Pattern) -> bool {
        planted(counters, pattern, |bits, part| bits - (part & nibbles::not_zero(bits)));
        true
    }
    must_fail(BELOW, Some(3), || saturated_stays(16, [insert, remove, remove]));
}

/// Two removals race for one copy, so one of them is illegal: the counter stops at 0.
fn nothing_is_borrowed(remove: Operation) {
    let counters = filled(&[(X, 1), (Y, 3)]);
    let other = Arc::clone(&counters);
    let thread = spawn(move || remove(&other, X));
    let mine = remove(&counters, X);
    assert!(thread.join().unwrap() | mine, "{NOT_REMOVED}");
    assert_eq!(count(&counters, Y), 3, "{NEIGHBOUR}");
    assert_eq!(count(&counters, X), 0, "{WRONG}");
}

#[test]
fn model_nothing_is_borrowed() {
    check(17, None, || nothing_is_borrowed(remove));
}

/// Only the check before the update looks for a 0: the second removal borrows from the neighbour.
#[test]
fn mutant_a_removal_borrows() {
    fn remove(counters: &Counters, pattern: Pattern) -> bool {
        let present = contains(counters, pattern);
        if present {
            planted(counters, pattern, u64::wrapping_sub);
        }
        present
    }
    must_fail(NEIGHBOUR, None, || nothing_is_borrowed(remove));
}

// At least one of racing inserts of a new item returns `true`, although another item shares one of
// its counters.

const NONE_NEW: &str = "no insert returned that the item is new";

fn at_least_one_is_new(insert: Operation) {
    let counters = filled(&[]);
    let inserting = |item| {
        let counters = Arc::clone(&counters);
        spawn(move || insert(&counters, item))
    };
    let [racer, neighbour] = [inserting(V), inserting(NEAR_V)];
    let mine = insert(&counters, V);
    let theirs = racer.join().unwrap();
    neighbour.join().unwrap();
    assert!(mine | theirs, "{NONE_NEW}");
    assert!(!insert(&counters, V), "an item was new twice");
    assert_eq!(count(&counters, V), 3, "{WRONG}");
}

#[test]
fn model_at_least_one_is_new() {
    check(460, Some(3), || at_least_one_is_new(insert));
}

#[test]
fn mutant_the_last_word_decides() {
    fn insert(counters: &Counters, pattern: Pattern) -> bool {
        pattern.iter().fold(false, |_, &(index, mask)| counters.insert_mask(0, index, mask))
    }
    must_fail(NONE_NEW, Some(3), || at_least_one_is_new(insert));
}

// A query finds every copy whose insert happens before it, while another thread inserts and removes
// an item that shares a counter. So does a copy of the array.

const MISSED: &str = "a published item was missed";

fn a_published_item_is_found(publish: Ordering, find: fn(&Counters) -> bool) {
    let counters = filled(&[]);
    let flag = Arc::new(Word::new(0));
    let [inserter, other] = [Arc::clone(&counters), Arc::clone(&counters)];
    let published = Arc::clone(&flag);
    let threads = [
        spawn(move || {
            insert(&inserter, V);
            published.store(1, publish);
        }),
        spawn(move || {
            insert(&other, X);
            assert!(remove(&other, X), "{NOT_REMOVED}");
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(find(&counters), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((count(&counters, V), count(&counters, X)), (1, 1), "{WRONG}");
}

#[test]
fn model_a_published_item_is_found() {
    check(360, Some(3), || a_published_item_is_found(Ordering::Release, |all| contains(all, V)));
}

#[test]
fn model_a_copy_has_what_came_before() {
    check(360, Some(3), || {
        a_published_item_is_found(Ordering::Release, |all| contains(&all.copy().unwrap(), V));
    });
}

#[test]
fn mutant_without_a_release_the_item_is_missed() {
    must_fail(MISSED, Some(3), || {
        a_published_item_is_found(Ordering::Relaxed, |all| contains(all, V));
    });
}

/// A union adds to a word that an insert and a removal change: nothing is lost, and nothing
/// carried.
fn a_union_adds() {
    let counters = filled(&[(X, 13), (Y, 1)]);
    let [united, other] = [Arc::clone(&counters), Arc::clone(&counters)];
    let threads = [
        spawn(move || united.add_line(0, [0, 0, 0, 0, 0x22, 0, 0, 0])),
        spawn(move || {
            insert(&other, X);
        }),
    ];
    assert!(remove(&counters, Y), "{NOT_REMOVED}");
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((count(&counters, X), count(&counters, Y)), (15, 2), "{WRONG}");
}

#[test]
fn model_a_union_adds() {
    check(440, Some(3), a_union_adds);
}

#[test]
fn mutant_lossy_union() {
    must_fail_with(Mutant::LossyUpdate, WRONG, Some(3), a_union_adds);
}
