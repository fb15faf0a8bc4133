//! A value that chunks visit one at a time, in the order of their numbers.

use core::hint;
use core::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Looks before a worker sleeps: the one before it is mostly a few microseconds ahead.
const SPINS: u32 = 100;

/// Lets turn 0 in first, then turn 1, and so on.
pub(super) struct Turnstile<T> {
    state: Mutex<State<T>>,
    moved: Condvar,
}

struct State<T> {
    turn: u64,
    /// Sleepers. Waking nobody is a system call all the same.
    asleep: u32,
    value: T,
}

impl<T> Turnstile<T> {
    pub(super) fn new(value: T) -> Self {
        Self { state: Mutex::new(State { turn: 0, asleep: 0, value }), moved: Condvar::new() }
    }

    /// Waits for `turn` and holds it; dropping the result passes it on. None: it has been passed.
    pub(super) fn enter(&self, turn: u64) -> Option<Turn<'_, T>> {
        for _ in 0..SPINS {
            let state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(state)) => state.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    hint::spin_loop();
                    continue;
                }
            };
            if state.turn >= turn {
                return self.hold(state, turn);
            }
            drop(state);
            hint::spin_loop();
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asleep += 1;
        while state.turn < turn {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.asleep -= 1;
        self.hold(state, turn)
    }

    fn hold<'t>(&'t self, state: MutexGuard<'t, State<T>>, turn: u64) -> Option<Turn<'t, T>> {
        (state.turn == turn).then(|| Turn { state, moved: &self.moved })
    }

    pub(super) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).value
    }
}

/// The right to the value for one turn.
pub(super) struct Turn<'t, T> {
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
        self.state.turn += 1;
        // All of them, since any may be the next.
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
                        seen.enter(turn).expect("nobody else has this turn").push(turn);
                    }
                });
            }
        });
        assert!(seen.into_inner().into_iter().eq(0..TURNS));
    }

    #[test]
    fn a_turn_that_was_passed_is_not_given_again() {
        let stile = Turnstile::new(());
        drop(stile.enter(0));
        assert!(stile.enter(0).is_none());
        assert!(stile.enter(1).is_some());
    }
}
