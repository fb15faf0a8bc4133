//! Copies of a table that grows, and tables made of them.

use super::*;
use crate::growth::copy::{Room, all_lines, line_len};

/// Copies are normal at every number of buckets, whatever splits are under way: their lines pass
/// the check, and a table of them has the same answers.
#[test]
fn copies_are_normal_even_of_buckets_that_are_being_split() {
    for paired in sizes() {
        let plan = Plan::with_buckets(1000, 100_000, 1e-3, paired).unwrap();
        for items in [0, 900, 5000, 20_000] {
            let (table, _) = grown(plan, items);
            let pointer = table.pointer();
            // One bucket is frozen. Two of the next portion are split, as if the pointer had moved
            // since the copy loaded it.
            table.freeze_only(pointer.level, pointer.next + 2);
            let next = table.behind_portion(pointer).next;
            (0..2).for_each(|at| table.split(pointer.level, next + at));
            let (copied, words, len) = table.copy_words(Room::All).unwrap();
            assert_eq!((copied, len), (pointer, items));
            let mut lines = words.into_lines();
            // A copy that does not grow has the same buckets, in less memory.
            let places = plan.places(pointer);
            let (copied, words, len) = table.copy_words(Room::Present).unwrap();
            assert_eq!((copied, len), (pointer, items));
            let mut present = words.into_lines();
            let words = places as usize * plan.bucket_bytes() as usize / 8;
            assert!(present.len() * LINE_WORDS <= 2 * words && present.len() < lines.len());
            for number in 0..words {
                let mut bits = 0;
                lines.word_mut(number).update(|word| bits = *word);
                present.word_mut(number).update(|word| assert_eq!(*word, bits));
            }
            let mut sum = 0;
            for line in 0..all_lines(&plan) {
                let mut words = [0; LINE_WORDS];
                for (at, word) in words.iter_mut().enumerate() {
                    let number = line as usize * LINE_WORDS + at;
                    lines.word_mut(number).update(|bits| *word = *bits);
                }
                sum += u64::from(line_len(&plan, pointer, line, &words).unwrap());
                // Another tag, a spare bit, or a number that no item has.
                words[LINE_WORDS - 1] ^= 1 << 63;
                assert_eq!(line_len(&plan, pointer, line, &words), None);
            }
            assert_eq!(sum, items);
            assert_eq!(line_len(&plan, pointer, u64::MAX, &[0; LINE_WORDS]), Some(0));
            assert_eq!(line_len(&plan, pointer, u64::MAX, &[1; LINE_WORDS]), None);
            assert_eq!(Pointer::of_places(&plan, places), Some(pointer));
            assert_eq!(Pointer::of_places(&plan, places + 1), None);
            let copy = Table::of_lines(plan, pointer, lines).unwrap();
            for number in 0..2 * items {
                let class = class(&plan, number);
                assert_eq!(copy.contains_class(class), table.contains_class(class));
            }
        }
    }
}

/// A splitter stops after a split, before it moves the pointer. Other threads add to the children,
/// until these hold more than their parent can. In the copy the whole portion is split.
#[test]
fn a_copy_has_what_was_added_before_the_pointer_moved() {
    for (paired, items) in sizes().flat_map(|paired| [900, 5000, 20_000].map(|n| (paired, n))) {
        let plan = Plan::with_buckets(1000, 100_000, 1e-3, paired).unwrap();
        let (table, _) = grown(plan, items);
        let pointer = table.pointer();
        let [shape, next_shape] = [0, 1].map(|ahead| *table.shape(pointer.level + ahead));
        // The first bucket of the portion is split, and the last one frozen.
        let (first, last) = (pointer.next, table.portion_at(pointer).end - 1);
        table.split(pointer.level, first);
        table.freeze_only(pointer.level, last);
        // Fill both children.
        let add = |number: u64| {
            let placed = table.placed(class(&plan, number));
            let is_in_first = placed.locations.iter().any(|location| location.place == first);
            (is_in_first && table.lock_stripe(&placed).add()).then_some(number)
        };
        let added: Vec<u64> = (items..items + 100_000).filter_map(add).collect();
        let children = [first, (plan.positions() << pointer.level) + first];
        let held =
            children.map(|place| next_shape.slots - next_shape.count(table.bucket(place), 0));
        assert!(held.iter().sum::<u32>() > shape.slots, "{held:?}");

        let (copied, words, len) = table.copy_words(Room::All).unwrap();
        assert_eq!(copied, table.behind_portion(pointer));
        assert_eq!(len, items + added.len() as u64);
        let copy = Table::of_lines(plan, copied, words.into_lines()).unwrap();
        for place in 0..plan.places(copied) {
            let level = copied.level_at(&plan, place);
            assert_eq!(tag(copy.bucket(place), *copy.shape(level)), tag_of_level(level));
        }
        for number in (0..items).chain(added) {
            assert!(copy.contains_class(class(&plan, number)));
        }
    }
}

#[test]
fn extents_end_with_the_plan() {
    let plan = Plan { buckets: 512, width: 20, doublings: 3, paired: false };
    assert_eq!(Pointer::of_places(&plan, 0), None);
    assert_eq!(Pointer::of_places(&plan, 504), None);
    assert_eq!(Pointer::of_places(&plan, 512), Some(Pointer { level: 0, next: 0 }));
    assert_eq!(Pointer::of_places(&plan, 1032), Some(Pointer { level: 1, next: 8 }));
    assert_eq!(Pointer::of_places(&plan, 4096), Some(Pointer { level: 3, next: 0 }));
    assert_eq!(Pointer::of_places(&plan, 4104), None);
    assert_eq!(Pointer::of_places(&plan, u64::MAX), None);
}
