//! How the program ends early: what it must not leave behind is removed, and files that belong
//! together change together.
//!
//! One process-wide list has the files to remove: locks, and files that have not got their name
//! yet. A thread receives SIGINT, SIGTERM, SIGHUP and the others that end a program. It starts with
//! the first entry of the list, so a command that creates no file has neither the thread nor a
//! handler. A signal that the program inherited as ignored stays ignored.
//!
//! The first signal ends the program at once, unless a run that saves what it has printed holds it
//! (`hold`) and ends the program later, or the files of the run are just getting their names
//! (`last`): then it is too late. The second signal ends the program in any case. The status is
//! that of the signal, unless the run has succeeded.
//!
//! Nothing is left behind by a race: a file is created under the lock of the list (`creating`), and
//! that lock is never released once the program ends.

use core::mem;
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tamis::formats::replace::abandon;

use crate::error::Error;
use crate::memory;

mod signals;

use self::signals::Signals;
pub(crate) use self::signals::survive_limits;

/// Signals that come within this time are one request: `timeout` sends a signal to the program and
/// then to its group.
const ONE_REQUEST: Duration = Duration::from_millis(300);

static STATE: Mutex<State> = Mutex::new(State {
    signals: None,
    started: false,
    list: Vec::new(),
    number: 0,
    holds: 0,
    first: None,
    forward: None,
    is_done: false,
});

struct State {
    /// The signals that have come and are not yet in `first`. There are none if the system refused
    /// to receive them.
    signals: Option<Signals>,
    started: bool,
    list: Vec<Entry>,
    /// The number of entries that there have been.
    number: u64,
    /// How often the first signal is held.
    holds: usize,
    /// The first signal, if it was held, and when it came.
    first: Option<(i32, Instant)>,
    /// Who wants to know of the first signal.
    forward: Option<Sender<i32>>,
    /// Whether the last change has been made.
    is_done: bool,
}

/// Something to remove.
struct Entry {
    number: u64,
    path: PathBuf,
    is_folder: bool,
}

fn locked() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the state, and receives signals from now on.
fn started() -> MutexGuard<'static, State> {
    let mut state = locked();
    if !state.started {
        state.started = true;
        let _reserved = memory::shared_heap();
        state.signals = signals::receive(serve);
    }
    state
}

/// Returns an error if the limits of the process leave no memory for the thread that receives
/// signals, and it does not run yet. Before the first file is created.
pub(crate) fn check_memory() -> Result<(), Error> {
    if locked().started { Ok(()) } else { memory::check_run(1) }
}

impl State {
    fn clean(&mut self) {
        for Entry { path, is_folder, .. } in self.list.drain(..) {
            let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        // Those that files are replaced with.
        abandon();
    }

    /// Ends the program as the signal does by default. The caller keeps the lock.
    fn end(&mut self, signal: i32) -> ! {
        self.clean();
        signals::end(signal)
    }

    /// Ends the program if a signal was held, or has come and was not yet served.
    fn end_if_called(&mut self) {
        let first = self.first.map(|(signal, _)| signal);
        if let Some(signal) = first.or_else(|| self.signals.as_mut()?.pending()) {
            self.end(signal);
        }
    }
}

/// Serves a signal, in the thread that receives them.
fn serve(signal: i32) {
    let mut state = locked();
    match state.first {
        Some((_, came)) if came.elapsed() < ONE_REQUEST => {}
        None if state.holds > 0 => {
            state.first = Some((signal, Instant::now()));
            if let Some(forward) = &state.forward {
                let _ = forward.send(signal);
            }
        }
        _ => state.end(signal),
    }
}

/// The list, while something is created.
pub(crate) struct List(MutexGuard<'static, State>);

impl List {
    /// Adds a file. It is taken from the list when the result is dropped.
    pub(crate) fn file(&mut self, path: &Path) -> Listed {
        self.add(path, false)
    }

    /// Adds a directory with all that is in it.
    pub(crate) fn folder(&mut self, path: &Path) -> Listed {
        self.add(path, true)
    }

    fn add(&mut self, path: &Path, is_folder: bool) -> Listed {
        let state = &mut *self.0;
        state.number += 1;
        state.list.push(Entry { number: state.number, path: path.to_owned(), is_folder });
        Listed(state.number)
    }
}

/// An entry of the list.
#[derive(Debug)]
pub(crate) struct Listed(u64);

impl Drop for Listed {
    fn drop(&mut self) {
        locked().list.retain(|entry| entry.number != self.0);
    }
}

/// Creates something that must not be left behind, and adds it to the list. No signal ends the
/// program between the two, so `create` must not wait for anything.
pub(crate) fn creating<T>(create: impl FnOnce(&mut List) -> T) -> T {
    create(&mut List(started()))
}

/// Holds the first signal.
#[derive(Debug)]
pub(crate) struct Hold(());

/// Holds the first signal until the result is released or dropped.
pub(crate) fn hold() -> Hold {
    started().holds += 1;
    Hold(())
}

impl Hold {
    /// Ends the program if a signal has come, unless there is another hold.
    pub(crate) fn release(self) {
        let mut state = locked();
        if state.holds == 1 {
            state.end_if_called();
        }
        drop(state);
        // Dropping it ends the hold.
    }

    /// Sends the first signal to `calls`, too, until the result is dropped.
    pub(crate) fn forward(&self, calls: Sender<i32>) -> Forward {
        let mut state = locked();
        if let Some((signal, _)) = state.first {
            let _ = calls.send(signal);
        }
        state.forward = Some(calls);
        Forward(())
    }
}

impl Drop for Hold {
    /// After an error a signal that has come ends the program only when the error has been
    /// reported: see [`finish`] and [`exit`].
    fn drop(&mut self) {
        locked().holds -= 1;
    }
}

/// The sending of the first signal.
#[derive(Debug)]
pub(crate) struct Forward(());

impl Drop for Forward {
    fn drop(&mut self) {
        locked().forward = None;
    }
}

/// Makes the last change of a run: it gives files that are complete their names. A signal that has
/// come before it ends the program, and nothing has changed. One that comes later is too late: the
/// run has succeeded, and says so.
pub(crate) fn last<T, E>(change: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let hold = hold();
    locked().end_if_called();
    let changed = change()?;
    locked().is_done = true;
    // To the end of the program.
    mem::forget(hold);
    Ok(changed)
}

/// Returns the first signal, if it was held.
pub(crate) fn called() -> Option<i32> {
    locked().first.map(|(signal, _)| signal)
}

/// Ends the program as the signal does by default.
pub(crate) fn end(signal: i32) -> ! {
    locked().end(signal)
}

/// Ends the program with this code; or by the signal, if one has come.
pub(crate) fn exit(code: u8) -> ! {
    let mut state = locked();
    state.end_if_called();
    state.clean();
    process::exit(code.into())
}

/// The last step of the program: if a signal has come, the program ends by it, unless it came too
/// late to change anything.
pub(crate) fn finish() {
    let mut state = locked();
    if !state.is_done {
        state.end_if_called();
    }
}
