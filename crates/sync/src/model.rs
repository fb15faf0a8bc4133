//! Running a loom model so that it proves something.
//!
//! loom 0.7 can pass a model that it never explored: an operation may hide earlier ones from its
//! reduction (tokio-rs/loom#392), and a model cut short by a limit counts as passed. So every model
//! here states how many executions it needs at least, no limit is ever set, and for every model
//! there is a [`Mutant`], a planted bug, or a wrong operation written out in the test, with which it
//! must fail.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic;

/// A planted bug in the primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// `fetch_or` as a load and a store: an update in between is lost.
    LossyOr,
    /// The lock is taken without Acquire.
    LockRelaxed,
    /// The lock is released without Release.
    UnlockRelaxed,
    /// The lock is neither taken nor released.
    NoLock,
    /// Every load is Relaxed.
    LoadRelaxed,
    /// `try_update` writes Relaxed.
    UpdateRelaxed,
    /// `try_update` writes even if the bits have changed since it read them.
    LossyUpdate,
    /// `advance` writes Relaxed.
    AdvanceRelaxed,
    /// `advance` does nothing.
    NoAdvance,
}

std::thread_local! {
    /// loom runs the threads of a model as coroutines of the one thread that called it.
    static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) };
}

std::thread_local! {
    static PLAIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether a peek is a load, as in the real word.
pub(crate) fn looks_are_plain() -> bool {
    PLAIN.get()
}

/// Lets every peek that is no part of an update be the load that it really is while `model` runs: it may then
/// be stale, which is what a lock is there to prevent. Fewer interleavings are explored (see `Word::peek`), so
/// this is for models that are about what one sees under a lock.
///
/// # Panics
///
/// If the model does.
pub fn with_plain_looks(model: impl FnOnce()) {
    PLAIN.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(model));
    PLAIN.set(false);
    if let Err(payload) = outcome {
        panic::resume_unwind(payload);
    }
}

pub(crate) fn planted(mutant: Mutant) -> bool {
    PLANTED.get() == Some(mutant)
}

/// Explores every interleaving of `model` with at most `preemptions` preemptions (`None`: all of
/// them), and panics if one fails or if there were fewer than `at_least` executions.
///
/// # Panics
///
/// If the model fails, or explored too little to mean anything.
pub fn check(
    at_least: usize,
    preemptions: Option<usize>,
    model: impl Fn() + Send + Sync + 'static,
) {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    // The limits could come from the environment, and reaching one would look like success.
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = preemptions;
    builder.check(move || {
        // ORDERING: Relaxed: a count, read after the model has ended.
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    // ORDERING: Relaxed: the model has ended.
    let executions = executions.load(Ordering::Relaxed);
    std::println!("explored {executions} executions");
    assert!(
        executions >= at_least,
        "the model explored only {executions} executions, {at_least} are needed to mean anything"
    );
}

/// Runs `model` and panics unless it fails with a message that contains `expected`.
///
/// # Panics
///
/// If the model passes, or fails for another reason.
pub fn must_fail(expected: &str, model: impl FnOnce()) {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(model)) else {
        panic!("the mutant survived: no execution failed with {expected:?}");
    };
    let message = message_of(&payload);
    assert!(message.contains(expected), "failed for another reason: {message:?}");
}

/// Plants `mutant` in the primitives while `model` runs, and demands that it fails with a message
/// that contains `expected`.
///
/// # Panics
///
/// If the mutant survives.
pub fn must_fail_with(mutant: Mutant, expected: &str, model: impl FnOnce()) {
    PLANTED.set(Some(mutant));
    let verdict = panic::catch_unwind(AssertUnwindSafe(|| must_fail(expected, model)));
    PLANTED.set(None);
    if let Err(payload) = verdict {
        panic::resume_unwind(payload);
    }
}

fn message_of(payload: &Box<dyn core::any::Any + Send>) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| String::from(*text)))
        .unwrap_or_default()
}
