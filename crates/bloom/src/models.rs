//! loom models of the bits: what DESIGN promises under every interleaving, and the bugs that the
//! models must find.
//!
//! Each property is a function over the operation it is about. A `model` runs it with the operation of
//! this crate; a `mutant` runs it with one that has a planted bug, and it must fail with the message
//! of the property. The loom shape of the primitives is in `tamis-sync`.

use alloc::vec::Vec;

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Ordering, Word};

use crate::bits::{Bits, Free, Locked};

/// A pattern: two bits in two words of line 0.
type Pattern = [(usize, u64); 2];

/// Shares no bit with `Y`, and both words.
const X: Pattern = [(1, 0b01), (2, 0b01)];
const Y: Pattern = [(1, 0b10), (2, 0b10)];
/// Uses the word that holds the lock.
const Z: Pattern = [(0, 0b01), (3, 0b01)];

fn has<W: crate::bits::Writer>(bits: &Bits<W>, pattern: Pattern) -> bool {
    pattern.into_iter().all(|(index, mask)| bits.has(0, index, mask))
}

fn free() -> Arc<Bits<Free>> {
    Arc::new(Bits::zeroed(1).unwrap())
}

fn locked() -> Arc<Bits<Locked>> {
    Arc::new(Bits::zeroed(1).unwrap())
}

fn set_free(bits: &Bits<Free>, pattern: Pattern) -> bool {
    pattern.into_iter().fold(false, |new, (index, mask)| bits.set(0, index, mask) | new)
}

fn set_locked(bits: &Bits<Locked>, pattern: Pattern) -> bool {
    !has(bits, pattern) && bits.set(0, pattern.into_iter())
}

// L1: racing inserts lose no bit.

const LOST: &str = "a bit was lost";

fn racing_inserts_lose_no_bit() {
    let bits = free();
    let other = Arc::clone(&bits);
    let thread = spawn(move || {
        set_free(&other, Y);
        assert!(has(&other, Y), "{LOST}");
    });
    set_free(&bits, X);
    assert!(has(&bits, X), "{LOST}");
    thread.join().unwrap();
    assert!(has(&bits, X) && has(&bits, Y), "{LOST}");
}

#[test]
fn model_racing_inserts_lose_no_bit() {
    check(10, None, racing_inserts_lose_no_bit);
}

#[test]
fn mutant_lossy_or_loses_a_bit() {
    must_fail_with(Mutant::LossyOr, LOST, || check(1, None, racing_inserts_lose_no_bit));
}

// L2: an insert that happens before a query is seen by it, whatever races beside.

const MISSED: &str = "a published item was missed";

fn a_published_item_is_found(publish: Ordering) {
    let bits = free();
    let flag = Arc::new(Word::new(0));
    let (inserter, other) = (Arc::clone(&bits), Arc::clone(&bits));
    let published = Arc::clone(&flag);
    let threads = [
        spawn(move || {
            set_free(&inserter, X);
            published.store(1, publish);
        }),
        spawn(move || {
            set_free(&other, Y);
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(has(&bits, X), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn model_a_published_item_is_found() {
    check(50, None, || a_published_item_is_found(Ordering::Release));
}

#[test]
fn mutant_without_a_release_the_item_is_missed() {
    must_fail(MISSED, || check(1, None, || a_published_item_is_found(Ordering::Relaxed)));
}

// L3: of racing inserts of one item at least one is told that it is new, and none later. Another item
// that sets one of its bits meanwhile changes nothing.

const NONE_NEW: &str = "nobody was told that the item is new";

fn at_least_one_is_new(insert: fn(&Bits<Free>, Pattern) -> bool) {
    let bits = free();
    let [racer, other] = [Arc::clone(&bits), Arc::clone(&bits)];
    let thread = spawn(move || insert(&racer, X));
    let neighbour = spawn(move || insert(&other, [X[1], Z[1]]));
    let mine = insert(&bits, X);
    let theirs = thread.join().unwrap();
    assert!(mine | theirs, "{NONE_NEW}");
    assert!(!insert(&bits, X), "an item was new twice");
    neighbour.join().unwrap();
}

#[test]
fn model_at_least_one_is_new() {
    check(100, None, || at_least_one_is_new(set_free));
}

#[test]
fn mutant_the_last_word_decides() {
    fn insert(bits: &Bits<Free>, pattern: Pattern) -> bool {
        pattern.into_iter().fold(false, |_, (index, mask)| bits.set(0, index, mask))
    }
    must_fail(NONE_NEW, || check(1, None, || at_least_one_is_new(insert)));
}

// L4: with all bits in one word, one `fetch_or` tells exactly one inserter.

const NOT_ONE: &str = "not exactly one was told that the item is new";

fn exactly_one_is_new<B: Send + Sync + 'static>(
    racers: usize,
    new: fn() -> Arc<B>,
    insert: fn(&B, Pattern) -> bool,
    pattern: Pattern,
) {
    let bits = new();
    let others = (1..racers).map(|_| Arc::clone(&bits));
    let threads: Vec<_> = others.map(|bits| spawn(move || insert(&bits, pattern))).collect();
    let mut winners = usize::from(insert(&bits, pattern));
    for thread in threads {
        winners += usize::from(thread.join().unwrap());
    }
    assert_eq!(winners, 1, "{NOT_ONE}");
}

#[test]
fn model_one_word_tells_exactly_one() {
    let insert = |bits: &Bits<Free>, pattern: Pattern| bits.set(0, 1, pattern[0].1 | 0b100);
    check(20, None, move || exactly_one_is_new(3, free, insert, X));
}

#[test]
fn mutant_two_words_tell_several() {
    must_fail(NOT_ONE, || check(1, None, || exactly_one_is_new(3, free, set_free, X)));
}

// L14: a snapshot taken after an insert has it, and never more than was inserted.

fn a_snapshot_has_what_came_before(insert_first: bool) {
    let bits = free();
    let flag = Arc::new(Word::new(0));
    let (inserter, published) = (Arc::clone(&bits), Arc::clone(&flag));
    let thread = spawn(move || {
        if insert_first {
            set_free(&inserter, X);
        }
        published.store(1, Ordering::Release);
        set_free(&inserter, if insert_first { Y } else { X });
    });
    let after = flag.load(Ordering::Acquire) == 1;
    let copy = bits.copy().unwrap();
    if after {
        assert!(has(&copy, X), "{MISSED}");
    }
    let stray = copy.read(0).iter().enumerate().any(|(index, &word)| {
        let inserted = [X, Y].concat();
        let mask =
            inserted.iter().filter(|part| part.0 == index).fold(0, |mask, part| mask | part.1);
        word & !mask != 0
    });
    assert!(!stray, "the copy has a bit that nobody set");
    thread.join().unwrap();
}

#[test]
fn model_a_snapshot_has_what_came_before() {
    check(20, None, || a_snapshot_has_what_came_before(true));
}

#[test]
fn mutant_a_snapshot_announced_too_early() {
    must_fail(MISSED, || check(1, None, || a_snapshot_has_what_came_before(false)));
}

// L16: the line lock. Two writers of different items lose nothing, a reader misses nothing.

fn locked_inserts_lose_no_bit(publish: Ordering) {
    let bits = locked();
    let flag = Arc::new(Word::new(0));
    let (writer, published) = (Arc::clone(&bits), Arc::clone(&flag));
    let other = Arc::clone(&bits);
    let threads = [
        spawn(move || {
            set_locked(&writer, X);
            published.store(1, publish);
        }),
        spawn(move || {
            set_locked(&other, Y);
            set_locked(&other, Z);
            assert!(has(&other, Y) && has(&other, Z), "{LOST}");
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(has(&bits, X), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!([X, Y, Z].into_iter().all(|pattern| has(&bits, pattern)), "{LOST}");
}

#[test]
fn model_locked_inserts_lose_no_bit() {
    check(500, Some(3), || locked_inserts_lose_no_bit(Ordering::Release));
}

#[test]
fn mutant_a_reader_without_a_release_misses() {
    must_fail(MISSED, || check(1, Some(3), || locked_inserts_lose_no_bit(Ordering::Relaxed)));
}

/// loom itself finds the unordered read under the lock.
const UNORDERED: &str = "Causality violation";

#[test]
fn mutant_unlock_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, || {
        check(1, Some(3), || locked_inserts_lose_no_bit(Ordering::Release));
    });
}

#[test]
fn mutant_lock_relaxed() {
    must_fail_with(Mutant::LockRelaxed, UNORDERED, || {
        check(1, Some(3), || locked_inserts_lose_no_bit(Ordering::Release));
    });
}

/// The very mistake that the types forbid: a lock-free writer on a line that has a lock.
#[test]
fn mutant_a_free_writer_beside_the_lock() {
    fn insert_free_beside_locked() {
        let line = Arc::new(tamis_sync::Line::default());
        let other = Arc::clone(&line);
        let thread = spawn(move || {
            other.words[0].fetch_or(0b10, Ordering::Relaxed);
        });
        let first = line.words[0].lock(1 << 63);
        line.words[0].unlock(first & !(1 << 63) | 0b01);
        thread.join().unwrap();
        assert_eq!(line.words[0].load(Ordering::Relaxed), 0b11, "{LOST}");
    }
    must_fail(LOST, || check(1, None, insert_free_beside_locked));
}

// L16: exactly one, and with a merge.

#[test]
fn model_the_lock_tells_exactly_one() {
    check(80, None, || exactly_one_is_new(2, locked, set_locked, X));
    check(20, None, || exactly_one_is_new(2, locked, set_locked, Z));
    check(100, Some(1), || exactly_one_is_new(3, locked, set_locked, X));
}

/// A check before the lock decides instead of the bits under it.
#[test]
fn mutant_the_check_before_the_lock_decides() {
    fn insert(bits: &Bits<Locked>, pattern: Pattern) -> bool {
        let new = !has(bits, pattern);
        bits.set(0, pattern.into_iter());
        new
    }
    must_fail(NOT_ONE, || check(1, None, || exactly_one_is_new(2, locked, insert, X)));
    must_fail(NOT_ONE, || check(1, None, || exactly_one_is_new(2, locked, insert, Z)));
    must_fail(NOT_ONE, || check(1, Some(1), || exactly_one_is_new(3, locked, insert, X)));
}

/// A merge into the line that an insert writes: nothing is lost on either side, and the verdict of
/// the insert is right: not new only if the merge brought the item.
fn a_merge_and_an_insert(merge: fn(&Bits<Locked>, [u64; 8])) {
    let bits = locked();
    let other = Arc::clone(&bits);
    let thread = spawn(move || merge(&other, [0b100, 0b01, 0, 0b100, 0, 0, 0, 0]));
    let new = set_locked(&bits, X) | set_locked(&bits, Z);
    thread.join().unwrap();
    assert!(new, "{NONE_NEW}");
    assert!(has(&bits, X) && has(&bits, Z), "{LOST}");
    assert!(bits.has(0, 0, 0b100) && bits.has(0, 3, 0b100), "{LOST}");
}

#[test]
fn model_a_merge_and_an_insert() {
    let merge = |bits: &Bits<Locked>, line: [u64; 8]| {
        bits.set(0, line.into_iter().enumerate().filter(|&(_, mask)| mask != 0));
    };
    check(10, None, move || a_merge_and_an_insert(merge));
}

#[test]
fn mutant_a_merge_under_a_relaxed_lock() {
    let merge = |bits: &Bits<Locked>, line: [u64; 8]| {
        bits.set(0, line.into_iter().enumerate().filter(|&(_, mask)| mask != 0));
    };
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, || {
        check(1, None, move || a_merge_and_an_insert(merge));
    });
}
