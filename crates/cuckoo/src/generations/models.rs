//! Models of a filter that grows: a copy in one generation stands for a copy in any other.

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::*;

/// The messages of the properties begin with one of these.
const MISSED: &str = "a present item was missed";
const COPIES: &str = "wrong number of copies";

/// Four buckets of four slots, then eight.
const PLAN: Plan = Plan { buckets: 4, width: 16, generations: 2 };

/// A class whose buckets are 0 and 1 in the first generation, and 0 and 2 in the second.
fn x() -> Class {
    let class = Class::of(4, 0, PLAN.buckets);
    assert_eq!((class.buckets, nested(class, 1).buckets), ([0, 1], [0, 2]));
    class
}

/// Two empty generations, the second of which takes inserts, under one lock.
fn two() -> Generations {
    let generation = |number: u32| {
        let table = Table::with_stripes(PLAN.geometry(number).unwrap(), 1).unwrap();
        Generation::of_table(table, 0).unwrap()
    };
    let mut generations = Generations::with_first(PLAN, generation(0), 1).unwrap();
    assert!(generations.push(generation(1)));
    generations
}

type Query = fn(&Generations, Class) -> bool;
type Removal = fn(&Generations, Class) -> bool;

fn contains(generations: &Generations, class: Class) -> bool {
    generations.contains(class)
}

fn remove(generations: &Generations, class: Class) -> bool {
    let _guard = generations.lock(class);
    generations.remove_locked(class)
}

/// Adds a copy to a generation, under the lock.
fn add(generations: &Generations, number: usize, class: Class) {
    let _guard = generations.lock(class);
    generations.insert_into(number, class).unwrap();
}

/// Of two items of one class, one is in the first generation. Another is inserted into the second,
/// after the reader read it, and a removal of it then takes a copy from either, before the reader
/// reads the first.
fn an_item_is_found_during_a_cross_generation_removal(query: Query, removal: Removal) {
    let generations = Arc::new(two());
    let x = x();
    add(&generations, 0, x);
    let other = Arc::clone(&generations);
    let thread = spawn(move || {
        add(&other, 1, x);
        assert!(removal(&other, x), "nothing to remove");
    });
    assert!(query(&generations, x), "{MISSED}");
    thread.join().unwrap();
    let guard = generations.lock(x);
    drop(guard);
    assert_eq!(generations.count(x), 1, "{COPIES}");
}

/// Removes the copy from the oldest generation that has one: the worst case for a reader, which
/// reads the newest first.
fn remove_oldest(generations: &Generations, class: Class) -> bool {
    remove_oldest_by(generations, class, true)
}

fn remove_oldest_by(generations: &Generations, class: Class, advance: bool) -> bool {
    let _guard = generations.lock(class);
    for (number, generation) in generations.iter().enumerate() {
        let guard = generation.table.buckets().lock_stripe(nested(class, number as u32));
        if guard.contains() {
            if advance {
                // ORDERING: Release, as in the real removal.
                generations.version(class).advance(Ordering::Release);
            }
            guard.remove();
            return true;
        }
    }
    false
}

#[test]
fn model_an_item_is_found_during_a_cross_generation_removal() {
    check(280, Some(3), || an_item_is_found_during_a_cross_generation_removal(contains, remove));
    check(520, Some(3), || {
        an_item_is_found_during_a_cross_generation_removal(contains, remove_oldest);
    });
}

#[test]
fn mutant_a_cross_generation_removal_that_does_not_advance() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_generation_removal(contains, |generations, class| {
                remove_oldest_by(generations, class, false)
            });
        });
    });
}

#[test]
fn mutant_a_query_that_does_not_check_the_version() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_generation_removal(
                |generations, class| generations.is_in_any(class),
                remove_oldest,
            );
        });
    });
}

#[test]
fn mutant_a_version_that_advances_relaxed() {
    must_fail_with(Mutant::AdvanceRelaxed, MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_generation_removal(contains, remove_oldest);
        });
    });
}

/// While an empty generation gives its pages back, an item is inserted into it, or into the other.
/// It is found afterwards.
fn an_insert_survives_a_closing(give_back: fn(&Generations)) {
    let generations = Arc::new(two());
    let other = Arc::clone(&generations);
    let thread = spawn(move || give_back(&other));
    {
        let _guard = generations.lock(x());
        // As `insert_into_any` does, with the first generation as the active one.
        if generations.insert_into(0, x()).is_err() {
            generations.insert_into(1, x()).unwrap();
        }
    }
    thread.join().unwrap();
    assert!(generations.contains(x()), "{MISSED}");
}

fn give_back_first(generations: &Generations) {
    let first = generations.list.get(0).unwrap();
    generations.give_back(first);
}

#[test]
fn model_an_insert_survives_a_closing() {
    check(18, Some(3), || an_insert_survives_a_closing(give_back_first));
}

#[test]
fn mutant_pages_given_back_without_a_grace_period() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_insert_survives_a_closing(|generations| {
                let first = generations.list.get(0).unwrap();
                // ORDERING: as in `give_back`, but no lock is taken.
                first.state.store(CLOSED, Ordering::Relaxed);
                if first.len.get() == 0 {
                    first.table.release();
                }
                // ORDERING: likewise.
                first.state.store(GIVEN_BACK, Ordering::Release);
            });
        });
    });
}

/// One generation more: the newest one gives nothing back.
const PLAN_OF_THREE: Plan = Plan { buckets: 4, width: 16, generations: 3 };

/// x is in the second generation. Then another item of its class is inserted into the first, a
/// removal takes the copy in the second, and the second gives its pages back. A query that reads
/// the zeros of the release sees the copy in the first, or that the version has advanced.
fn an_item_is_found_while_pages_are_given_back(give_back: fn(&Generations)) {
    let x = x();
    let generation = |number: u32| {
        let table = Table::with_stripes(PLAN_OF_THREE.geometry(number).unwrap(), 1).unwrap();
        Generation::of_table(table, 0).unwrap()
    };
    let mut generations = Generations::with_first(PLAN_OF_THREE, generation(0), 1).unwrap();
    assert!(generations.push(generation(1)) && generations.push(generation(2)));
    let generations = Arc::new(generations);
    add(&generations, 1, x);
    let other = Arc::clone(&generations);
    let thread = spawn(move || {
        add(&other, 0, x);
        assert!(remove(&other, x), "nothing to remove");
        give_back(&other);
    });
    assert!(generations.contains(x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(generations.count(x), 1, "{COPIES}");
}

#[test]
fn model_an_item_is_found_while_pages_are_given_back() {
    check(100, Some(2), || {
        an_item_is_found_while_pages_are_given_back(|generations| {
            generations.give_back(generations.list.get(1).unwrap());
        });
    });
}

/// A reader of a zero that was stored sees neither the removal before it nor what came before that.
#[test]
fn mutant_pages_given_back_by_stores() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            an_item_is_found_while_pages_are_given_back(|generations| {
                generations.list.get(1).unwrap().table.release_by_stores();
            });
        });
    });
}

// A copy is of one moment: nothing is removed from a generation that is not yet copied, nothing
// added to one that is.

type Copy = fn(&Generations) -> Generations;

fn copy(generations: &Generations) -> Generations {
    generations.copy().unwrap()
}

/// x is in the second generation. Another item of its class is inserted into the first, and a
/// removal takes the copy in the second: one is present all the time, so one is in the copy.
fn a_copy_has_a_present_item(copy: Copy) {
    let generations = Arc::new(two());
    let x = x();
    add(&generations, 1, x);
    let other = Arc::clone(&generations);
    let thread = spawn(move || {
        add(&other, 0, x);
        assert!(remove(&other, x), "nothing to remove");
    });
    let copied = copy(&generations);
    let copies = copied.count(x);
    assert!(copies > 0, "{MISSED}");
    assert_eq!(copied.len(), u64::from(copies), "{COPIES}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_has_a_present_item() {
    check(11, None, || a_copy_has_a_present_item(copy));
}

#[test]
fn mutant_a_copy_without_the_locks() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            a_copy_has_a_present_item(|generations| {
                let mut copies = Vec::new();
                generations.allocate_copies(&mut copies).unwrap();
                generations.fill_copies(&mut copies);
                generations.of_copies(copies).unwrap()
            });
        });
    });
}

/// The filter grows while memory for the copy is allocated. An item is inserted into the new
/// generation, and then another into the first: a copy that has the second has the first.
fn a_copy_has_generations_that_were_added(copy: Copy) {
    let table = Table::with_stripes(PLAN.geometry(0).unwrap(), 1).unwrap();
    let first = Generation::of_table(table, 0).unwrap();
    let generations = Arc::new(Generations::with_first(PLAN, first, 1).unwrap());
    let (x, later) = (x(), Class::of(5, 0, PLAN.buckets));
    let other = Arc::clone(&generations);
    let thread = spawn(move || {
        other.grow(1).unwrap();
        add(&other, 1, x);
        add(&other, 0, later);
    });
    let copied = copy(&generations);
    assert!(copied.count(x) >= copied.count(later), "{MISSED}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_has_generations_that_were_added() {
    check(65, Some(2), || a_copy_has_generations_that_were_added(copy));
}

#[test]
fn mutant_a_copy_of_the_generations_before_the_locks() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            a_copy_has_generations_that_were_added(|generations| {
                let (mut copies, mut guards) = (Vec::new(), generations.room_for_guards().unwrap());
                generations.allocate_copies(&mut copies).unwrap();
                generations.lock_all(&mut guards);
                generations.fill_copies(&mut copies);
                drop(guards);
                generations.of_copies(copies).unwrap()
            });
        });
    });
}
