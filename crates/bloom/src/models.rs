//! loom models of the bits: the guarantees of the types under every interleaving, and planted bugs
//! that the models must find.
//!
//! Each property is a function that takes the operation under test. A `model` runs it with the
//! operation of this crate. A `mutant` runs it with an operation that has a planted bug, and must
//! fail with the message of the property. The minimum of executions that a model must explore is
//! about half of what it explores now.

use alloc::vec::Vec;

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Lines, Ordering, Word};

use crate::bits::{Bits, Free, LOCK, Locked, Writer};

/// Words of line 0, and bits in them.
type Pattern = &'static [(usize, u64)];

/// Two items that share words and no bit.
const X: Pattern = &[(1, 0b001), (2, 0b001)];
const Y: Pattern = &[(1, 0b010), (2, 0b010)];
/// An item that uses the word with the lock.
const Z: Pattern = &[(0, 0b01), (3, 0b01)];
/// An item whose bits lie in one word, and one that shares a bit with it.
const W: Pattern = &[(1, 0b011)];
const V: Pattern = &[(1, 0b110)];

type Insert<K> = fn(&Bits<K>, Pattern) -> bool;

fn insert<K: Writer>(bits: &Bits<K>, pattern: Pattern) -> bool {
    bits.insert(0, pattern.iter().copied())
}

fn contains<K: Writer>(bits: &Bits<K>, pattern: Pattern) -> bool {
    pattern.iter().all(|&(index, mask)| bits.contains_mask(0, index, mask))
}

fn new<K: Writer>() -> Arc<Bits<K>> {
    Arc::new(Bits::of_lines(Lines::zeroed(1).unwrap()))
}

// L1: concurrent inserts lose no bit.

const LOST: &str = "a bit was lost";

fn racing_inserts_lose_no_bit() {
    let bits = new::<Free>();
    let other = Arc::clone(&bits);
    let thread = spawn(move || {
        insert(&other, Y);
        assert!(contains(&other, Y), "{LOST}");
    });
    insert(&bits, X);
    assert!(contains(&bits, X), "{LOST}");
    thread.join().unwrap();
    assert!(contains(&bits, X) && contains(&bits, Y), "{LOST}");
}

#[test]
fn model_racing_inserts_lose_no_bit() {
    check(180, None, racing_inserts_lose_no_bit);
}

#[test]
fn mutant_lossy_or_loses_a_bit() {
    must_fail_with(Mutant::LossyOr, LOST, None, racing_inserts_lose_no_bit);
}

// L2: a query sees every insert that happens before it, whatever runs concurrently.

const MISSED: &str = "a published item was missed";

fn a_published_item_is_found(publish: Ordering) {
    let bits = new::<Free>();
    let flag = Arc::new(Word::new(0));
    let (inserter, other) = (Arc::clone(&bits), Arc::clone(&bits));
    let published = Arc::clone(&flag);
    let threads = [
        spawn(move || {
            insert(&inserter, X);
            published.store(1, publish);
        }),
        spawn(move || {
            insert(&other, Y);
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(contains(&bits, X), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn model_a_published_item_is_found() {
    check(3500, None, || a_published_item_is_found(Ordering::Release));
}

#[test]
fn mutant_without_a_release_the_item_is_missed() {
    must_fail(MISSED, None, || a_published_item_is_found(Ordering::Relaxed));
}

// L3: at least one of concurrent inserts of one item returns `true`, and no later insert does. A
// concurrent insert of another item that shares a bit changes nothing.

const NONE_NEW: &str = "no insert returned that the item is new";

fn at_least_one_is_new(insert: Insert<Free>, item: Pattern, neighbour: Pattern) {
    let bits = new();
    let [racer, other] = [Arc::clone(&bits), Arc::clone(&bits)];
    let threads = [spawn(move || insert(&racer, item)), spawn(move || insert(&other, neighbour))];
    let mine = insert(&bits, item);
    let [theirs, _] = threads.map(|thread| thread.join().unwrap());
    assert!(mine | theirs, "{NONE_NEW}");
    assert!(!insert(&bits, item), "an item was new twice");
}

/// An item that shares the second word of X and all bits of X in it.
const NEAR_X: Pattern = &[(2, 0b001), (3, 0b001)];

#[test]
fn model_at_least_one_is_new() {
    check(5500, None, || at_least_one_is_new(insert, X, NEAR_X));
    check(1000, None, || at_least_one_is_new(insert, W, V));
}

#[test]
fn mutant_the_last_word_decides() {
    fn insert(bits: &Bits<Free>, pattern: Pattern) -> bool {
        pattern.iter().fold(false, |_, &(index, mask)| bits.insert_mask(0, index, mask))
    }
    must_fail(NONE_NEW, None, || at_least_one_is_new(insert, X, NEAR_X));
}

/// Returns `true` only if none of the bits was set: the bit of another item makes the result wrong.
#[test]
fn mutant_new_only_if_every_bit_is() {
    fn insert(bits: &Bits<Free>, pattern: Pattern) -> bool {
        pattern.iter().fold(false, |new, &(index, mask)| {
            let none_set = bits.read(0)[index] & mask == 0;
            bits.insert_mask(0, index, mask) & none_set | new
        })
    }
    must_fail(NONE_NEW, None, || at_least_one_is_new(insert, W, V));
}

// L4: with all bits in one word, exactly one insert returns `true` from its `fetch_or`.

const NOT_ONE: &str = "not exactly one insert returned that the item is new";

fn exactly_one_is_new<K: Writer + 'static>(racers: usize, insert: Insert<K>, item: Pattern)
where
    Bits<K>: Send + Sync,
{
    let bits = new();
    let others = (1..racers).map(|_| Arc::clone(&bits));
    let threads: Vec<_> = others.map(|bits| spawn(move || insert(&bits, item))).collect();
    let mut winners = usize::from(insert(&bits, item));
    for thread in threads {
        winners += usize::from(thread.join().unwrap());
    }
    assert_eq!(winners, 1, "{NOT_ONE}");
}

#[test]
fn model_one_word_has_exactly_one_winner() {
    check(900, None, || exactly_one_is_new::<Free>(3, insert, W));
}

#[test]
fn mutant_two_words_have_several_winners() {
    must_fail(NOT_ONE, None, || exactly_one_is_new::<Free>(3, insert, X));
}

// L14: a snapshot has every insert that happened before it, and no bit that no insert set; above
// all no lock bit.

fn a_snapshot_has_what_came_before<K: Writer + 'static>(publish: Ordering)
where
    Bits<K>: Send + Sync,
{
    let bits = new::<K>();
    let flag = Arc::new(Word::new(0));
    let (inserter, published) = (Arc::clone(&bits), Arc::clone(&flag));
    let thread = spawn(move || {
        insert(&inserter, X);
        published.store(1, publish);
        insert(&inserter, Z);
    });
    let after = flag.load(Ordering::Acquire) == 1;
    let copy = bits.copy().unwrap();
    if after {
        assert!(contains(&copy, X), "{MISSED}");
    }
    for (index, word) in copy.read_raw(0).into_iter().enumerate() {
        let parts = X.iter().chain(Z).filter(|part| part.0 == index);
        let inserted = parts.fold(0, |mask, part| mask | part.1);
        assert_eq!(word & !inserted, 0, "the copy has a bit that no insert set");
    }
    thread.join().unwrap();
}

#[test]
fn model_a_snapshot_has_what_came_before() {
    check(150, None, || a_snapshot_has_what_came_before::<Free>(Ordering::Release));
    check(1800, None, || a_snapshot_has_what_came_before::<Locked>(Ordering::Release));
}

#[test]
fn mutant_a_snapshot_after_a_relaxed_flag() {
    must_fail(MISSED, None, || a_snapshot_has_what_came_before::<Free>(Ordering::Relaxed));
}

const STUCK: &str = "the copy has the lock bit";

/// A reader of a line that is being written never gets the lock bit.
fn a_read_masks_the_lock(read: fn(&Bits<Locked>) -> [u64; 8]) {
    let bits = new();
    let other = Arc::clone(&bits);
    let thread = spawn(move || insert(&other, X));
    assert_eq!(read(&bits)[0] & LOCK, 0, "{STUCK}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_masks_the_lock() {
    check(65, None, || a_read_masks_the_lock(|bits| bits.copy().unwrap().read_raw(0)));
}

#[test]
fn mutant_a_copy_of_the_raw_words() {
    must_fail(STUCK, None, || a_read_masks_the_lock(|bits| bits.read_raw(0)));
}

// L16: the line lock. Two writers of different items lose nothing, and a reader misses nothing.

fn locked_inserts_lose_no_bit(publish: Ordering) {
    let bits = new::<Locked>();
    let flag = Arc::new(Word::new(0));
    let (writer, published) = (Arc::clone(&bits), Arc::clone(&flag));
    let other = Arc::clone(&bits);
    let threads = [
        spawn(move || {
            insert(&writer, X);
            published.store(1, publish);
        }),
        spawn(move || {
            insert(&other, Y);
            insert(&other, Z);
            assert!(contains(&other, Y) && contains(&other, Z), "{LOST}");
        }),
    ];
    if flag.load(Ordering::Acquire) == 1 {
        assert!(contains(&bits, X), "{MISSED}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!([X, Y, Z].into_iter().all(|pattern| contains(&bits, pattern)), "{LOST}");
}

#[test]
fn model_locked_inserts_lose_no_bit() {
    check(1400, Some(3), || locked_inserts_lose_no_bit(Ordering::Release));
}

#[test]
fn mutant_a_reader_without_a_release_misses() {
    must_fail(MISSED, Some(3), || locked_inserts_lose_no_bit(Ordering::Relaxed));
}

/// loom itself detects the unordered read under the lock.
const UNORDERED: &str = "Causality violation";

#[test]
fn mutant_unlock_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, Some(3), || {
        locked_inserts_lose_no_bit(Ordering::Release);
    });
}

#[test]
fn mutant_lock_relaxed() {
    must_fail_with(Mutant::LockRelaxed, UNORDERED, Some(3), || {
        locked_inserts_lose_no_bit(Ordering::Release);
    });
}

/// A writer finds under the lock that it may not write. The next holder stores whole words, so it
/// must see what the holder before the refused one wrote: nothing but the lock orders the three.
/// (Relaxed flags start one after the other, so that none waits.)
fn a_refused_insert_passes_the_lock_on(refuse: fn(&Bits<Locked>)) {
    let bits = new();
    let [first, second] = [(); 2].map(|()| Arc::new(Word::new(0)));
    let (writer, written) = (Arc::clone(&bits), Arc::clone(&first));
    let (refused, passed) = (Arc::clone(&bits), Arc::clone(&second));
    let threads = [
        spawn(move || {
            insert(&writer, X);
            written.store(1, Ordering::Relaxed);
        }),
        spawn(move || {
            if first.load(Ordering::Relaxed) == 1 {
                refuse(&refused);
                passed.store(1, Ordering::Relaxed);
            }
        }),
    ];
    let may_write = second.load(Ordering::Relaxed) == 1;
    if may_write {
        assert!(insert(&bits, Y), "{NONE_NEW}");
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(contains(&bits, X) && may_write == contains(&bits, Y), "{LOST}");
}

#[test]
fn model_a_refused_insert_passes_the_lock_on() {
    check(175, None, || {
        a_refused_insert_passes_the_lock_on(|bits| {
            assert_eq!(bits.write_if(0, Z.iter().copied(), || false), None);
        });
    });
}

/// What `write_if` does if it may not write, with a Relaxed store.
#[test]
fn mutant_a_refused_insert_frees_the_line_relaxed() {
    must_fail(UNORDERED, None, || {
        a_refused_insert_passes_the_lock_on(|bits| {
            let word = bits.first_word(0);
            let first = word.lock(LOCK, Ordering::Acquire);
            word.unlock(first, Ordering::Relaxed);
        });
    });
}

/// The mistake that the types forbid: a lock-free writer on a line that has a lock.
#[test]
fn mutant_a_free_writer_despite_the_lock() {
    fn insert_free_despite_lock() {
        let line = Arc::new(tamis_sync::Line::default());
        let other = Arc::clone(&line);
        let thread = spawn(move || {
            other.words[0].fetch_or(0b10, Ordering::Relaxed);
        });
        let first = line.words[0].lock(LOCK, Ordering::Acquire);
        line.words[0].unlock(first & !LOCK | 0b01, Ordering::Release);
        thread.join().unwrap();
        assert_eq!(line.words[0].load(Ordering::Relaxed), 0b11, "{LOST}");
    }
    must_fail(LOST, None, insert_free_despite_lock);
}

// L16: exactly one winner, also during a union.

#[test]
fn model_the_lock_has_exactly_one_winner() {
    check(45, None, || exactly_one_is_new::<Locked>(2, insert, X));
    check(13, None, || exactly_one_is_new::<Locked>(2, insert, Z));
    check(120, Some(1), || exactly_one_is_new::<Locked>(3, insert, X));
}

/// The check before the lock decides, instead of the bits under the lock.
#[test]
fn mutant_the_check_before_the_lock_decides() {
    fn insert(bits: &Bits<Locked>, pattern: Pattern) -> bool {
        let new = !contains(bits, pattern);
        Locked::write(bits, 0, pattern.iter().copied());
        new
    }
    must_fail(NOT_ONE, None, || exactly_one_is_new(2, insert, X));
    must_fail(NOT_ONE, None, || exactly_one_is_new(2, insert, Z));
    must_fail(NOT_ONE, Some(1), || exactly_one_is_new(3, insert, X));
}

/// A union into the line that inserts write: neither side loses a bit. The union has a part of X,
/// which must not make X present, and all of Y: either the insert of Y returns `true`, or the union
/// came first.
fn a_union_and_an_insert() {
    let bits = new::<Locked>();
    let other = Arc::clone(&bits);
    let thread = spawn(move || other.union_line(0, [0b100, 0b011, 0b010, 0b100, 0, 0, 0, 0]));
    let had = contains(&bits, Y);
    assert!(insert(&bits, X), "{NONE_NEW}");
    assert!(!(had && insert(&bits, Y)), "an item was new twice");
    insert(&bits, Z);
    thread.join().unwrap();
    assert!([X, Y, Z].into_iter().all(|pattern| contains(&bits, pattern)), "{LOST}");
    assert!(bits.contains_mask(0, 0, 0b100) && bits.contains_mask(0, 3, 0b100), "{LOST}");
}

#[test]
fn model_a_union_and_an_insert() {
    check(260, None, a_union_and_an_insert);
}

/// The same without a lock, with the bits of an item in one word.
fn a_union_and_inserts_of_one_word() {
    let bits = new::<Free>();
    let (united, racer) = (Arc::clone(&bits), Arc::clone(&bits));
    let union = spawn(move || united.union_line(0, [0, 0b1010, 0, 0, 0, 0, 0, 0]));
    let race = spawn(move || insert(&racer, W));
    let first = insert(&bits, W);
    assert!(first != race.join().unwrap(), "{NOT_ONE}");
    union.join().unwrap();
    assert!(contains(&bits, W) && bits.contains_mask(0, 1, 0b1010), "{LOST}");
}

#[test]
fn model_a_union_and_inserts_of_one_word() {
    check(300, None, a_union_and_inserts_of_one_word);
}

#[test]
fn mutant_a_lossy_union_into_one_word() {
    must_fail_with(Mutant::LossyOr, NOT_ONE, None, a_union_and_inserts_of_one_word);
}

#[test]
fn mutant_a_union_under_a_relaxed_lock() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, None, a_union_and_an_insert);
}
