//! Runs a loom model so that a pass proves something.
//!
//! loom 0.7 can pass a model that it never explored. One operation can hide earlier ones from
//! loom's partial-order reduction (tokio-rs/loom#392), and a model that a limit cuts short counts
//! as passed. So every model here states the minimum number of executions it must explore, and no
//! limit is ever set. Every model must also fail with a planted bug: a [`Mutant`], or a wrong
//! operation that the test itself contains.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic;
use std::thread::LocalKey;

/// A planted bug in the primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// `fetch_or` is a load and a store: an update between them is lost.
    LossyOr,
    /// `lock` is Relaxed instead of Acquire.
    LockRelaxed,
    /// `unlock` is Relaxed instead of Release.
    UnlockRelaxed,
    /// `lock` and `unlock` do nothing.
    NoLock,
    /// Every load is Relaxed.
    LoadRelaxed,
    /// Every plain store is Relaxed, but that of `unlock`.
    StoreRelaxed,
    /// `fetch_add` is Relaxed.
    AddRelaxed,
    /// `try_update` writes Relaxed.
    UpdateRelaxed,
    /// `try_update` writes even if another thread has changed the bits since it read them.
    LossyUpdate,
    /// `advance` writes Relaxed.
    AdvanceRelaxed,
    /// `advance` does nothing.
    NoAdvance,
}

std::thread_local! {
    /// A thread-local value suffices: loom runs all threads of a model as coroutines of the thread
    /// that called it.
    static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) };
}

std::thread_local! {
    /// Whether `Word::peek` is a plain load.
    static PEEK_IS_LOAD: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether `Word::peek` is a plain load, as in the real word.
pub(crate) fn peek_is_load() -> bool {
    PEEK_IS_LOAD.get()
}

/// Runs `model` with every peek outside an update as the plain load that it is in the real word.
///
/// Such a peek may be stale, and a lock must prevent that: so this is for models of what a thread
/// sees under a lock. loom explores fewer interleavings this way (see `Word::peek`).
///
/// # Panics
///
/// If the model panics.
pub fn with_plain_looks(model: impl FnOnce()) {
    while_set(&PEEK_IS_LOAD, true, model);
}

/// Runs `model` while a value of this thread is another one.
fn while_set<T: Copy + Default>(value: &'static LocalKey<Cell<T>>, other: T, model: impl FnOnce()) {
    value.set(other);
    // Reset the value before a panic goes on, or later models on this thread would inherit it.
    let outcome = panic::catch_unwind(AssertUnwindSafe(model));
    value.set(T::default());
    if let Err(payload) = outcome {
        panic::resume_unwind(payload);
    }
}

/// Returns whether this bug is planted now.
pub(crate) fn planted(mutant: Mutant) -> bool {
    PLANTED.get() == Some(mutant)
}

/// Returns a bound on preemptions for models that explore most of their executions with the last
/// ones: `long` where the compiler had `TAMIS_LONG`, as in `ci --long`, otherwise `quick`.
#[must_use]
pub const fn bound(quick: usize, long: Option<usize>) -> Option<usize> {
    if option_env!("TAMIS_LONG").is_some() { long } else { Some(quick) }
}

/// Explores every interleaving of `model` with at most `preemptions` preemptions (`None`: any
/// number), and demands two things: no execution fails, and there are at least `at_least`
/// executions.
///
/// # Panics
///
/// If an execution fails, or if there were fewer executions.
pub fn check(
    at_least: usize,
    preemptions: Option<usize>,
    model: impl Fn() + Send + Sync + 'static,
) {
    explore(at_least, preemptions, Box::new(model));
}

/// What loom runs again and again. The box keeps loom from being compiled once per model.
type Model = Box<dyn Fn() + Send + Sync>;

/// Does what [`check`] does.
fn explore(at_least: usize, preemptions: Option<usize>, model: Model) {
    // Count the executions with a std atomic, which loom does not see.
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    // loom reads limits from the environment, and a model that reaches one counts as passed: remove
    // them.
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = preemptions;
    // Panics at the first execution that fails.
    builder.check(move || {
        // ORDERING: Relaxed: a count that is read after the model has ended.
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    // ORDERING: Relaxed: the model has ended.
    let executions = executions.load(Ordering::Relaxed);
    std::println!("explored {executions} executions");
    assert!(
        executions >= at_least,
        "the model explored only {executions} executions; it must explore at least {at_least}"
    );
}

/// Explores `property` as [`check`] does. An execution must fail with a message that contains
/// `expected`.
///
/// # Panics
///
/// If no execution fails, or one fails with another message.
pub fn must_fail(
    expected: &str,
    preemptions: Option<usize>,
    property: impl Fn() + Send + Sync + 'static,
) {
    fails(None, expected, preemptions, Box::new(property));
}

/// Plants `mutant` in the primitives, under which `property` must fail, as [`must_fail`] demands.
///
/// # Panics
///
/// As [`must_fail`].
pub fn must_fail_with(
    mutant: Mutant,
    expected: &str,
    preemptions: Option<usize>,
    property: impl Fn() + Send + Sync + 'static,
) {
    fails(Some(mutant), expected, preemptions, Box::new(property));
}

/// Does what [`must_fail_with`] does, if there is a mutant, else what [`must_fail`] does.
fn fails(mutant: Option<Mutant>, expected: &str, preemptions: Option<usize>, property: Model) {
    let explored = || must_panic(expected, || explore(1, preemptions, property));
    match mutant {
        Some(_) => while_set(&PLANTED, mutant, explored),
        None => explored(),
    }
}

/// Plants `mutant` in the primitives while `model` runs.
///
/// # Panics
///
/// If the model panics.
pub fn with_planted(mutant: Mutant, model: impl FnOnce()) {
    while_set(&PLANTED, Some(mutant), model);
}

/// Runs `model`, which must fail with a message that contains `expected`: for several calls of
/// [`check`], one of which must fail.
///
/// # Panics
///
/// If the model passes, or fails with another message.
pub fn must_panic(expected: &str, model: impl FnOnce()) {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(model)) else {
        panic!("the mutant survived: no execution failed with {expected:?}");
    };
    let message = message_of(&payload);
    assert!(message.contains(expected), "failed for another reason: {message:?}");
}

/// Returns the message of a panic.
fn message_of(payload: &Box<dyn core::any::Any + Send>) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| String::from(*text)))
        .unwrap_or_default()
}
