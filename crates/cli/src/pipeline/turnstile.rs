//! A value that chunks visit one at a time, in the order of their turns.
//!
//! The source numbers chunks 0, 1, 2, … without gaps; the number is the chunk's turn. Each
//! turnstile counts the turns that have passed through it and admits only the next one.
//!
//! No worker waits for ever. Every worker takes its turn through the turnstiles in the same order,
//! shards first to last and then the sink, and reads its next chunk only after that. So the worker
//! with the lowest turn under way finds that every turnstile ahead of it has reached that turn: all
//! lower turns have passed. It never waits for another turn, so it finishes; then the next turn is
//! the lowest. This needs every turn to pass every turnstile, even when the run has failed, and it
//! is why a worker that panics between turnstiles aborts the process.

use core::hint;
use core::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Attempts before a worker sleeps. The worker ahead is usually only a few microseconds from
/// leaving.
const SPINS: u32 = 100;

/// A value behind a lock that admits turn 0 first, then turn 1, and so on.
pub(crate) struct Turnstile<T> {
    state: Mutex<State<T>>,
    /// Signalled when a turn has passed and a worker sleeps.
    moved: Condvar,
}

struct State<T> {
    /// The turn to admit next.
    turn: u64,
    /// Workers that sleep on `moved`. While there are none, a notification would be a wasted system
    /// call.
    asleep: u32,
    value: T,
}

impl<T> Turnstile<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { state: Mutex::new(State { turn: 0, asleep: 0, value }), moved: Condvar::new() }
    }

    /// Waits for `turn` and holds it; dropping the result passes it on. Returns `None` if the turn
    /// has already passed.
    pub(crate) fn enter(&self, turn: u64) -> Option<Turn<'_, T>> {
        // Spin first. The lock is held for the whole of a turn, so `WouldBlock` usually means that
        // some turn is inside.
        for _ in 0..SPINS {
            let state = match self.state.try_lock() {
                Ok(state) => state,
                // A panic inside a turn poisons the lock. Its turn has passed all the same, so
                // later turns go on.
                Err(TryLockError::Poisoned(state)) => state.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    hint::spin_loop();
                    continue;
                }
            };
            if state.turn >= turn {
                return self.hold(state, turn);
            }
            // Not yet our turn: release the lock, which the turns before ours need.
            drop(state);
            hint::spin_loop();
        }

        // Then sleep. No wake-up is lost: `turn` and `asleep` change only under the lock, and
        // `wait` releases it only when this worker is registered. A turn that passes before the
        // check is seen by the check; one that passes later sees `asleep` above 0 and notifies.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asleep += 1;
        while state.turn < turn {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.asleep -= 1;
        self.hold(state, turn)
    }

    /// Keeps the lock for the length of the turn, if it is this turn's.
    fn hold<'t>(&'t self, state: MutexGuard<'t, State<T>>, turn: u64) -> Option<Turn<'t, T>> {
        (state.turn == turn).then(|| Turn { state, moved: &self.moved })
    }

    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).value
    }
}

/// Exclusive access to the value for one turn.
pub(crate) struct Turn<'t, T> {
    state: MutexGuard<'t, State<T>>,
    moved: &'t Condvar,
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state.value
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        // The lock is still held here; it is released when `state` is dropped, after this function.
        self.state.turn += 1;
        // Wakes all sleepers: any of them may have the next turn. The others sleep again.
        if self.state.asleep > 0 {
            self.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Turnstile;

    #[test]
    fn turns_come_in_order() {
        const THREADS: u64 = 4;
        const TURNS: u64 = 4000;
        let seen = Turnstile::new(Vec::new());
        thread::scope(|scope| {
            for first in 0..THREADS {
                let seen = &seen;
                scope.spawn(move || {
                    for turn in (first..TURNS).step_by(THREADS as usize) {
                        seen.enter(turn).expect("each turn is entered once").push(turn);
                    }
                });
            }
        });
        assert!(seen.into_inner().into_iter().eq(0..TURNS));
    }

    #[test]
    fn a_turn_that_has_passed_is_not_admitted_again() {
        let stile = Turnstile::new(());
        drop(stile.enter(0));
        assert!(stile.enter(0).is_none());
        assert!(stile.enter(1).is_some());
    }
}
