//! A gate between the source and all that follows, where a run can be halted: between two chunks,
//! in input order.
//!
//! While the gate is closed and nobody is inside, all chunks read so far have been decided and
//! printed, and nothing of a later chunk has. A worker that waits for input is outside, so an idle
//! input does not delay this.

use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How often a thread that closes the gate asks its `patience`.
const LOOK: Duration = Duration::from_millis(10);

/// The gate of one run.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    /// Signalled when the gate has opened, and when the last worker has left.
    moved: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    /// The workers between the gate and the end of their chunk.
    inside: usize,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the gate is open and goes in; dropping the result leaves.
    pub(super) fn enter(&self) -> Pass<'_> {
        let wait = |state| self.moved.wait_while(state, |state: &mut State| state.closed);
        let mut state = wait(self.state()).unwrap_or_else(PoisonError::into_inner);
        state.inside += 1;
        Pass(self)
    }

    /// Closes the gate and waits until all workers have left; dropping the result opens it. Returns
    /// `None`, with the gate open, if `patience` ends before: it is asked again and again.
    pub(crate) fn close(&self, mut patience: impl FnMut() -> bool) -> Option<Closed<'_>> {
        let mut state = self.state();
        state.closed = true;
        let closed = Closed(self);
        while state.inside > 0 {
            let wait = self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
            state = wait.0;
            if state.inside > 0 && !patience() {
                // Dropping `closed` locks the state.
                drop(state);
                return None;
            }
        }
        drop(state);
        Some(closed)
    }
}

/// A worker's stay inside.
pub(super) struct Pass<'g>(&'g Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.inside -= 1;
        // Only a halt waits for this.
        if state.closed && state.inside == 0 {
            self.0.moved.notify_all();
        }
    }
}

/// A closed gate with nobody inside. One thread at a time may close it.
pub(crate) struct Closed<'g>(&'g Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.state().closed = false;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    use super::Gate;

    /// While the gate is closed, nobody is between the two steps of a worker.
    #[test]
    fn a_closed_gate_has_nobody_inside() {
        let gate = Gate::default();
        let steps = Mutex::new((0_u64, 0_u64));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        let pass = gate.enter();
                        steps.lock().expect("no panic").0 += 1;
                        thread::yield_now();
                        steps.lock().expect("no panic").1 += 1;
                        drop(pass);
                    }
                });
            }
            for _ in 0..200 {
                let closed = gate.close(|| true).expect("endless patience");
                let (first, second) = *steps.lock().expect("no panic");
                assert_eq!(first, second);
                thread::yield_now();
                assert_eq!(*steps.lock().expect("no panic"), (first, second));
                drop(closed);
                thread::yield_now();
            }
        });
        assert_eq!(steps.into_inner().expect("no panic"), (6000, 6000));
    }

    /// Without patience the gate is open again, although somebody is inside.
    #[test]
    fn a_gate_that_was_not_closed_is_open() {
        let gate = Gate::default();
        let inside = gate.enter();
        assert!(gate.close(|| false).is_none());
        drop((gate.enter(), inside));
        assert!(gate.close(|| false).is_some());
    }
}
