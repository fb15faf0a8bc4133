//! Running a test under many schedules: more threads than the model checker can exhaust, and the loops
//! that it cannot model.
//!
//! Half of the schedules are drawn at random, step by step; half by probabilistic concurrency testing
//! (Burckhardt and others, ASPLOS 2010), which lets threads run on for long and changes their priorities
//! a few times. Each finds what the other seldom does. The orders of memory are not weakened, which is loom's
//! part.

use alloc::string::String;
use core::panic::AssertUnwindSafe;
use std::panic;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// The first schedule; the rest follow from it, so that a run can be repeated.
const SEED: u64 = 1;

/// Changes of priority in a schedule.
const DEPTH: usize = 4;

/// Runs the test under so many schedules.
///
/// # Panics
///
/// If a run fails; the schedule is printed.
pub fn check(schedules: usize, test: fn()) {
    let half = schedules.div_ceil(2);
    run(RandomScheduler::new_from_seed(SEED, half), half, test);
    run(PctScheduler::new_from_seed(SEED, DEPTH, half), half, test);
}

fn run(scheduler: impl Scheduler + 'static, schedules: usize, test: fn()) {
    let ran = Runner::new(scheduler, Config::new()).run(test);
    assert_eq!(ran, schedules, "not all schedules were run");
}

/// Runs a test with a planted bug, and panics unless some schedule makes it fail with a message that
/// contains `expected`.
///
/// # Panics
///
/// If the mutant survives, or fails for another reason.
pub fn must_fail(expected: &str, schedules: usize, test: fn()) {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| check(schedules, test))) else {
        panic!("the mutant survived {schedules} schedules");
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    assert!(message.contains(expected), "failed for another reason: {message:?}");
}
