//! Runs a test under many random schedules with shuttle: for more threads than loom can exhaust,
//! and for loops that loom cannot model.
//!
//! One half of the schedules chooses the next thread at random at each step. The other half uses
//! probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): threads run for long
//! stretches and their priorities change a few times. Each half finds bugs that the other rarely
//! finds. shuttle does not model weak memory orderings; loom does.

use alloc::string::String;
use core::panic::AssertUnwindSafe;
use std::panic;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// The seed of all schedules. It is fixed, so that a run can be repeated.
const SEED: u64 = 1;

/// The bug depth of probabilistic concurrency testing, which bounds the changes of priority in a
/// schedule.
const DEPTH: usize = 4;

/// Runs the test under the given number of schedules, rounded up to an even number; under four
/// times as many where the compiler had `TAMIS_LONG`, as in `ci --long`.
///
/// # Panics
///
/// If a run fails; shuttle then prints the schedule.
pub fn check(schedules: usize, test: fn()) {
    let schedules = if option_env!("TAMIS_LONG").is_some() { 4 * schedules } else { schedules };
    let half = schedules.div_ceil(2);
    run(RandomScheduler::new_from_seed(SEED, half), half, test);
    run(PctScheduler::new_from_seed(SEED, DEPTH, half), half, test);
}

fn run(scheduler: impl Scheduler + 'static, schedules: usize, test: fn()) {
    let ran = Runner::new(scheduler, Config::new()).run(test);
    assert_eq!(ran, schedules, "shuttle ran fewer schedules than asked");
}

/// Runs a test with a planted bug under the given number of schedules. At least one schedule must
/// fail, with a message that contains `expected`.
///
/// # Panics
///
/// If no schedule fails, or one fails with another message.
pub fn must_fail(expected: &str, schedules: usize, test: fn()) {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| check(schedules, test))) else {
        panic!("the mutant survived {schedules} schedules");
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    assert!(message.contains(expected), "failed for another reason: {message:?}");
}
