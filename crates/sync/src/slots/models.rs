//! Models of the append-only list: a thread that sees a value sees what was written before.

use core::sync::atomic::Ordering;

use super::Slots;
use crate::model::{Mutant, check, must_fail_with};
use crate::thread::{Arc, spawn};
use crate::word::Word;

/// One thread sets a value, another publishes it if it is set, each after a write of its own. A
/// reader that finds the value in the list finds both writes.
fn publication() {
    let shared = Arc::new((Slots::new(0), [Word::new(0), Word::new(0)]));
    let setter = {
        let shared = Arc::clone(&shared);
        spawn(move || {
            let (slots, written) = &*shared;
            // ORDERING: Relaxed: the list publishes it.
            written[0].store(1, Ordering::Relaxed);
            assert!(slots.set(1, 7).is_ok());
        })
    };
    let publisher = {
        let shared = Arc::clone(&shared);
        spawn(move || {
            let (slots, written) = &*shared;
            // ORDERING: Relaxed: the list publishes it.
            written[1].store(1, Ordering::Relaxed);
            slots.publish(2);
        })
    };
    let (slots, written) = &*shared;
    if slots.len() == 2 {
        assert_eq!(slots.get(1), Some(&7), "a published value is set");
        // ORDERING: Relaxed: the list has published both.
        let written = [0, 1].map(|which: usize| written[which].load(Ordering::Relaxed));
        assert_eq!(written, [1, 1], "a write before the publication is not visible");
    }
    setter.join().unwrap();
    publisher.join().unwrap();
}

/// Two threads set and publish the same place: one does each, and the list has the value.
fn racing() {
    let slots = Arc::new(Slots::new(0));
    let append = |slots: &Slots<u64>, value| (slots.set(1, value).is_ok(), slots.publish(2));
    let other = {
        let slots = Arc::clone(&slots);
        spawn(move || append(&slots, 1))
    };
    let done = [append(&slots, 2), other.join().unwrap()];
    assert_eq!(done.iter().filter(|done| done.0).count(), 1, "set by one thread");
    assert_eq!(done.iter().filter(|done| done.1).count(), 1, "published by one thread");
    assert_eq!(slots.iter().len(), 2);
}

#[test]
fn what_is_written_before_a_publication_is_visible() {
    check(100, None, publication);
}

#[test]
fn one_thread_sets_and_one_publishes() {
    check(10, None, racing);
}

#[test]
fn mutant_published_relaxed() {
    must_fail_with(Mutant::UpdateRelaxed, "a published value is set", None, publication);
}

#[test]
fn mutant_length_loaded_relaxed() {
    must_fail_with(Mutant::LoadRelaxed, "a published value is set", None, publication);
}

#[test]
fn mutant_published_without_comparing() {
    must_fail_with(Mutant::LossyUpdate, "published by one thread", None, racing);
}
