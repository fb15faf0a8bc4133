//! Saves a filter while records are added to it: in intervals, when a signal ends the run, and when the input is wrong.
//!
//! Each save happens between two chunks (see the gate of the pipeline), so the filter contains the records that were
//! printed, and no others.

use core::time::Duration;
use std::fs::File;
use std::io::Read;
use std::process;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::Error;
use crate::filters::Lock;
use crate::input::Input;
use crate::pipeline::{self, Decider, Done, Gate, Records, Tally, Watch};
use crate::screen::{self, Screen};

/// Saves during one run.
pub(super) struct Keeper<'k> {
    gate: &'k Gate,
    save: &'k (dyn Fn() -> Result<(), Error> + Sync),
    /// The lock of the file. There is none for a filter in a server.
    lock: Option<&'k Lock>,
    /// Whether nothing is saved before the end.
    at_end: bool,
    /// The number of new items so far, and when the filter was last saved.
    items: Mutex<[u64; 2]>,
}

impl<'k> Keeper<'k> {
    pub(super) fn new(
        gate: &'k Gate,
        save: &'k (dyn Fn() -> Result<(), Error> + Sync),
        lock: Option<&'k Lock>,
        at_end: bool,
    ) -> Self {
        Self { gate, save, lock, at_end, items: Mutex::new([0; 2]) }
    }

    /// Runs the pipeline, and saves while it runs.
    pub(super) fn run<R: Read + Send>(
        &self,
        inputs: Vec<Input<R>>,
        output: &File,
        records: &Records,
        decider: &impl Decider,
        screen: &mut Screen,
        interval: Option<Duration>,
    ) -> Result<Done, Error> {
        let mut watch = Keeping { keeper: self, screen };
        let run = || pipeline::run(inputs, output, records, decider, self.gate, &mut watch);
        if self.at_end {
            return run();
        }
        thread::scope(|scope| {
            let (calls, called) = mpsc::channel();
            let signals = signals::forward(scope, calls.clone(), self.lock)?;
            let saves = scope.spawn(move || self.keep(&called, interval));
            let done = run();
            // A signal that has come is served before the last save.
            signals.stop();
            drop(calls);
            let _ = saves.join();
            done
        })
    }

    /// Saves at each interval, and at a signal, which ends the program.
    fn keep(&self, called: &Receiver<i32>, interval: Option<Duration>) {
        loop {
            let call = match interval {
                Some(interval) => called.recv_timeout(interval),
                None => called.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if call == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let closed = self.gate.close();
            let saved = self.save_news();
            if let Err(error) = &saved {
                self.unlock();
                process::exit(screen::report(error).into());
            }
            if let Ok(signal) = call {
                self.unlock();
                signals::end(signal);
            }
            drop(closed);
        }
    }

    fn unlock(&self) {
        if let Some(lock) = self.lock {
            lock.remove_file();
        }
    }

    /// Saves if there is something new.
    fn save_news(&self) -> Result<(), Error> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let [current, saved] = &mut *items;
        if current != saved {
            (self.save)()?;
            *saved = *current;
        }
        Ok(())
    }
}

/// Brings what was printed to the disk, if it goes to a file: the filter must not say that more was printed than is there.
pub(super) fn flushed(output: &File) -> Result<(), Error> {
    let is_file = output.metadata().is_ok_and(|found| found.is_file());
    if is_file { output.sync_all().map_err(Error::Write) } else { Ok(()) }
}

/// Observes the run for the screen and the keeper.
struct Keeping<'k, 's> {
    keeper: &'k Keeper<'k>,
    screen: &'s mut Screen,
}

impl Watch for Keeping<'_, '_> {
    fn advanced(&mut self, tally: &Tally) {
        self.keeper.items.lock().unwrap_or_else(PoisonError::into_inner)[0] = tally.items();
        self.screen.advanced(tally);
    }

    fn failed(&mut self, error: &Error) {
        // If the input is wrong at some record, or a filter of another system refuses it, all records before it were
        // printed, and nothing after it was decided.
        // After any other error the filter may contain records that were not printed.
        let at_record = matches!(
            error,
            Error::Read { .. }
                | Error::Input { .. }
                | Error::NoKey { .. }
                | Error::Malformed { .. }
                | Error::TooLong { .. }
                | Error::ForeignItem { .. }
        );
        if at_record
            && !self.keeper.at_end
            && let Err(error) = self.keeper.save_news()
        {
            screen::report(&error);
        }
        // Without a lock the filter is in a server, which has the records that could not be printed.
        if self.keeper.lock.is_none() && matches!(error, Error::Closed | Error::Write(_)) {
            screen::warn(
                "the filter may have the last records of the input, which were not printed: no run prints them again",
            );
        }
        self.screen.failed(error);
    }
}

#[cfg(unix)]
mod signals {
    //! SIGINT, SIGTERM and SIGHUP.

    use std::process;
    use std::sync::mpsc::Sender;
    use std::thread::Scope;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::{Handle, Signals};
    use signal_hook::low_level::emulate_default_handler;

    use crate::Error;
    use crate::filters::Lock;

    /// Stops the forwarding of signals.
    pub(super) struct Forward(Handle);

    impl Forward {
        pub(super) fn stop(self) {
            self.0.close();
        }
    }

    /// Sends the first signal to `calls`. The second one ends the program at once, because a save may take long.
    pub(super) fn forward<'scope>(
        scope: &'scope Scope<'scope, '_>,
        calls: Sender<i32>,
        lock: Option<&'scope Lock>,
    ) -> Result<Forward, Error> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Error::Write)?;
        let handle = signals.handle();
        scope.spawn(move || {
            let mut first = true;
            for signal in signals.forever() {
                if !first || calls.send(signal).is_err() {
                    if let Some(lock) = lock {
                        lock.remove_file();
                    }
                    end(signal);
                }
                first = false;
            }
        });
        Ok(Forward(handle))
    }

    /// Ends the program as the signal does by default.
    pub(super) fn end(signal: i32) {
        let _ = emulate_default_handler(signal);
        process::exit(128 + signal);
    }
}

#[cfg(not(unix))]
mod signals {
    //! Without Unix signals, a program that is ended does not save.

    use std::process;
    use std::sync::mpsc::Sender;
    use std::thread::Scope;

    use crate::Error;
    use crate::filters::Lock;

    pub(super) struct Forward;

    impl Forward {
        pub(super) fn stop(self) {}
    }

    pub(super) fn forward<'scope>(
        _scope: &'scope Scope<'scope, '_>,
        _calls: Sender<i32>,
        _lock: Option<&'scope Lock>,
    ) -> Result<Forward, Error> {
        Ok(Forward)
    }

    pub(super) fn end(signal: i32) {
        process::exit(128 + signal);
    }
}
