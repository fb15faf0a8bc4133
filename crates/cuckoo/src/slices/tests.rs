//! Inserts into filters with several slices, by one thread.

use super::*;

fn plan() -> Plan {
    Plan { buckets: 64, width: 24, slices: 5 }
}

fn hash(number: u64) -> u64 {
    let hash = (number + 1).wrapping_mul(GOLDEN);
    (hash ^ hash >> 32).wrapping_mul(GOLDEN)
}

fn insert(slices: &Slices, number: u64) {
    let hash = hash(number);
    slices.insert(hash, slices.plan.class(hash)).unwrap();
}

/// Inserts items until a slice more is needed. Returns the number of items that were there
/// when each was added.
fn items_at_growth(count: usize) -> Vec<u64> {
    let slices = Slices::new(plan()).unwrap();
    let mut at_growth = Vec::new();
    for number in 0.. {
        insert(&slices, number);
        if slices.list.len() > at_growth.len() + 1 {
            at_growth.push(number);
        }
        if at_growth.len() == count {
            break;
        }
    }
    at_growth
}

/// The newest slice is full, and the older ones are empty: they take inserts before the filter
/// grows.
#[test]
fn room_in_older_slices_is_used_before_the_filter_grows() {
    let [older, all] = items_at_growth(3)[1..] else { unreachable!("three slices were added") };
    let slices = Slices::new(plan()).unwrap();
    (0..all).for_each(|number| insert(&slices, number));
    for hash in (0..older).map(hash) {
        assert!(slices.remove(hash, slices.plan.class(hash)));
    }
    // Nine in ten of the removed items: each slice can be filled to more than that.
    for number in all..all + older * 9 / 10 {
        insert(&slices, number);
        assert_eq!(slices.list.len(), 3, "grown, with {} items of {all}", slices.len());
    }
    // The two older slices have them: the newest was full.
    let in_older: u64 = slices.iter().take(2).map(|older| older.len.get()).sum();
    assert!(in_older >= older * 8 / 10, "{in_older} of {older}");
}

/// A copy has the same items in the same slices, and grows as the original does.
#[test]
fn a_copy_has_the_same_slices() {
    let [_, _, all] = items_at_growth(3)[..] else { unreachable!("three slices were added") };
    let slices = Slices::new(plan()).unwrap();
    (0..all).for_each(|number| insert(&slices, number));
    let copy = slices.copy().unwrap();
    let lens =
        |slices: &Slices| -> Vec<u64> { slices.iter().map(|slice| slice.len.get()).collect() };
    assert_eq!(lens(&copy), lens(&slices));
    assert!((0..all).all(|number| copy.contains(plan().class(hash(number)))));
    insert(&copy, all);
    assert_eq!((copy.list.len(), slices.list.len()), (4, 3), "only the copy grows");
}
