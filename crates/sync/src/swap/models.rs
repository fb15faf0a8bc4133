//! loom models of `Swap`: what a pin sees while another thread replaces the value, and planted bugs
//! that the models must find.
//!
//! They need `--cfg crossbeam_loom` together with `--cfg tamis_loom`, so that loom sees the atomics
//! of crossbeam's epochs too: `cargo xtask model` sets both. On x86-64 a pin is a compare-exchange
//! and a compiler fence. Under loom the fence is a real one, as on other processors. It publishes
//! the new value even if the swap in `replace` were Relaxed, so no model can find that bug.
//!
//! A panic inside of a model would run destructors of crossbeam outside of loom and end the
//! process. So a model records a violation, and reports it when loom has explored all executions.

use alloc::string::String;
use alloc::sync::Arc as StdArc;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;
use std::sync::Mutex;

use crossbeam_epoch as epoch;

use super::{Pinned, Swap};
use crate::model::{check, must_panic};
use crate::thread::{Arc, spawn};
use crate::word::Word;

/// The states of a value. Zero means that nothing was written.
const WRITTEN: u64 = 1;
const DROPPED: u64 = 2;

/// The states of the first and of the second value. They outlive the values, so that a thread can
/// look at the state of a value that was dropped.
type States = StdArc<[Word; 2]>;

struct Value {
    number: usize,
    states: States,
}

impl Value {
    fn new(number: usize, states: &States) -> Self {
        // ORDERING: Relaxed: the replacement must publish it.
        states[number].store(WRITTEN, Ordering::Relaxed);
        Self { number, states: StdArc::clone(states) }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.states[self.number].store(DROPPED, Ordering::Relaxed);
    }
}

/// Pins, and returns the number of the value and its state while it is pinned.
type Look = fn(&Swap<Value>, &States) -> (usize, u64);

fn look(swap: &Swap<Value>, states: &States) -> (usize, u64) {
    let pinned = swap.pin();
    (pinned.number, states[pinned.number].load(Ordering::Relaxed))
}

const UNFINISHED: &str = "a pin saw a value before its contents";
const FREED: &str = "a pinned value was dropped";
const OLD: &str = "a pin saw a value that was replaced before";

/// One thread replaces the value, another looks at it. Explores every interleaving with at most two
/// preemptions.
fn a_pin_sees_a_whole_value(at_least: usize, look: Look) {
    let violation = StdArc::new(Mutex::new(None));
    let record = StdArc::clone(&violation);
    check(at_least, Some(2), move || {
        let states: States = StdArc::default();
        let swap = Arc::new(Swap::new(Value::new(0, &states)));
        let (replaced, seen) = (Arc::clone(&swap), StdArc::clone(&states));
        let thread = spawn(move || replaced.replace(Value::new(1, &seen)));
        // During the replacement: either value, written and not dropped.
        let wrong = match look(&swap, &states) {
            (_, 0) => Some(UNFINISHED),
            (_, DROPPED) => Some(FREED),
            _ => None,
        };
        // After it: the new value.
        thread.join().unwrap();
        let later = (look(&swap, &states) != (1, WRITTEN)).then_some(OLD);
        let mut record = record.lock().unwrap();
        *record = record.or(wrong).or(later);
    });
    let violation = *violation.lock().unwrap();
    assert!(violation.is_none(), "{}", violation.map(String::from).unwrap_or_default());
}

#[test]
fn model_a_pin_sees_a_whole_value() {
    a_pin_sees_a_whole_value(10_000, look);
}

#[test]
fn mutant_a_relaxed_pin_sees_a_value_before_its_contents() {
    must_panic(UNFINISHED, || {
        a_pin_sees_a_whole_value(1, |swap, states| {
            let guard = epoch::pin();
            let value = swap.current.load(Ordering::Relaxed, &guard).as_raw();
            let pinned = Pinned { value, _guard: guard, swap: PhantomData::<&Swap<Value>> };
            (pinned.number, states[pinned.number].load(Ordering::Relaxed))
        });
    });
}

#[test]
fn mutant_a_value_is_dropped_when_the_pin_is_another() {
    must_panic(FREED, || {
        a_pin_sees_a_whole_value(1, |swap, states| {
            let number = swap.pin().number;
            let _later = swap.pin();
            (number, states[number].load(Ordering::Relaxed))
        });
    });
}
