//! Inserts into filters with several generations, by one thread.

use super::*;

fn plan() -> Plan {
    Plan { buckets: 64, width: 24, generations: 5 }
}

fn hash(number: u64) -> u64 {
    let hash = (number + 1).wrapping_mul(GOLDEN);
    (hash ^ hash >> 32).wrapping_mul(GOLDEN)
}

fn insert(generations: &Generations, number: u64) {
    let hash = hash(number);
    generations.insert(hash, generations.plan.class(hash)).unwrap();
}

/// Inserts items until a generation more is needed. Returns the number of items that were there
/// when each was added.
fn items_at_growth(count: usize) -> Vec<u64> {
    let generations = Generations::new(plan()).unwrap();
    let mut at_growth = Vec::new();
    for number in 0.. {
        insert(&generations, number);
        if generations.list.len() > at_growth.len() + 1 {
            at_growth.push(number);
        }
        if at_growth.len() == count {
            break;
        }
    }
    at_growth
}

/// The newest generation is full, and the older ones are empty: they take inserts before the filter
/// grows.
#[test]
fn room_in_older_generations_is_used_before_the_filter_grows() {
    let [older, all] = items_at_growth(3)[1..] else {
        unreachable!("three generations were added")
    };
    let generations = Generations::new(plan()).unwrap();
    (0..all).for_each(|number| insert(&generations, number));
    for hash in (0..older).map(hash) {
        assert!(generations.remove(hash, generations.plan.class(hash)));
    }
    // Nine in ten of the removed items: each generation can be filled to more than that.
    for number in all..all + older * 9 / 10 {
        insert(&generations, number);
        assert_eq!(generations.list.len(), 3, "grown, with {} items of {all}", generations.len());
    }
    // The two older generations have them: the newest was full.
    let in_older: u64 = generations.iter().take(2).map(|older| older.len.get()).sum();
    assert!(in_older >= older * 8 / 10, "{in_older} of {older}");
}

/// A copy has the same items in the same generations, and grows as the original does.
#[test]
fn a_copy_has_the_same_generations() {
    let [_, _, all] = items_at_growth(3)[..] else { unreachable!("three generations were added") };
    let generations = Generations::new(plan()).unwrap();
    (0..all).for_each(|number| insert(&generations, number));
    let copy = generations.copy().unwrap();
    let lens = |generations: &Generations| -> Vec<u64> {
        generations.iter().map(|generation| generation.len.get()).collect()
    };
    assert_eq!(lens(&copy), lens(&generations));
    assert!((0..all).all(|number| copy.contains(plan().class(hash(number)))));
    insert(&copy, all);
    assert_eq!((copy.list.len(), generations.list.len()), (4, 3), "only the copy grows");
}
