//! Running a test under many schedules: more threads than the model checker can exhaust, and the loops
//! that it cannot model.
//!
//! Each schedule is drawn by probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): a bug
//! that `depth` steps in the wrong order bring to light is found with a stated chance. The orders of memory
//! are not weakened, which is loom's part.

use alloc::string::String;
use core::panic::AssertUnwindSafe;
use std::panic;

use shuttle::scheduler::PctScheduler;
use shuttle::{Config, Runner};

/// The first schedule; the rest follow from it, so that a run can be repeated.
const SEED: u64 = 1;

/// Runs the test under so many schedules, with at most so many changes of priority in each.
///
/// # Panics
///
/// If a run fails; the schedule is printed.
pub fn check(schedules: usize, depth: usize, test: impl Fn() + Send + Sync + 'static) {
    let scheduler = PctScheduler::new_from_seed(SEED, depth, schedules);
    let ran = Runner::new(scheduler, Config::new()).run(test);
    assert_eq!(ran, schedules, "not all schedules were run");
}

/// Runs a test with a planted bug, and panics unless some schedule makes it fail with a message that
/// contains `expected`.
///
/// # Panics
///
/// If the mutant survives, or fails for another reason.
pub fn must_fail(
    expected: &str,
    schedules: usize,
    depth: usize,
    test: impl Fn() + Send + Sync + 'static,
) {
    let run = AssertUnwindSafe(|| check(schedules, depth, test));
    let Err(payload) = panic::catch_unwind(run) else {
        panic!("the mutant survived {schedules} schedules");
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    assert!(message.contains(expected), "failed for another reason: {message:?}");
}
