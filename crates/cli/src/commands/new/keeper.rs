//! Saves a filter while records are added to it and at the end: never with a record that nobody has
//! taken.
//!
//! Each save happens between two chunks (see the gate of the pipeline), and after the reader of the
//! output has taken all of it, so the filter contains the records that were printed, and no others.
//! While a run is held (see `ending`), a signal ends it here: with a save, if the reader goes on
//! taking bytes.

use core::time::Duration;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::ending::{self, Hold};
use crate::error::Error;
use crate::input::{Input, shown};
use crate::outlet::{Outlet, Still, Taken};
use crate::output::{Packed, Pending, Unnamed};
use crate::pipeline::{self, Decider, Done, Gate, Records, Tally, Watch};
use crate::screen::{self, Screen};
use crate::units::counted;

/// The time without a byte taken after which a line says what the program waits for.
const SILENCE: Duration = Duration::from_secs(3);

/// The time without a byte taken after which the program does not save, if a signal has come or an
/// interval has passed. A reader that works takes bytes more often; and whoever sends a signal
/// waits for the end.
const STALL: Duration = Duration::from_secs(1);

/// Writes the file of the filter, unless the filter is in a server.
type Prepare<'k> = dyn Fn() -> Result<Option<Unnamed>, Error> + Sync + 'k;

/// The saves of one run.
pub(in crate::commands) struct Keeper<'k> {
    output: &'k Packed<Outlet<'k>>,
    prepare: &'k Prepare<'k>,
    /// The file of the filter. There is none for a filter in a server, which has each record at
    /// once.
    filter: Option<&'k Path>,
    /// Whether a save waits until the reader has taken all.
    waits: bool,
    gate: Gate,
    news: Mutex<News>,
}

/// The numbers of new records.
#[derive(Default)]
struct News {
    /// Those handed to the output, even if it refused the last of them.
    handed: u64,
    /// Those printed.
    printed: u64,
    /// Those in the saved filter.
    saved: u64,
}

impl<'k> Keeper<'k> {
    pub(in crate::commands) fn new(
        output: &'k Packed<Outlet<'k>>,
        prepare: &'k Prepare<'k>,
        filter: Option<&'k Path>,
        waits: bool,
    ) -> Self {
        Self { output, prepare, filter, waits, gate: Gate::default(), news: Mutex::default() }
    }

    /// Runs the pipeline, and saves at the end and, without `-o FILE`, at each interval and at a
    /// signal.
    pub(in crate::commands) fn run(
        &self,
        inputs: Vec<Input<'_>>,
        records: &Records,
        decider: &Decider<'_>,
        screen: &mut Screen,
        interval: Option<Duration>,
    ) -> Result<Done, Error> {
        let at_end = screen.is_pending();
        let run = || {
            let mut watch = Keeping { keeper: self, screen: &mut *screen };
            pipeline::run(inputs, &mut &*self.output, records, decider, &self.gate, &mut watch)
        };
        // With `-o FILE`, what is printed counts only at the end, and a signal before that changes
        // nothing.
        if at_end {
            let done = run()?;
            if let Some(output) = screen.finish() {
                self.commit_with(output)?;
            }
            return Ok(done);
        }
        let hold = ending::hold();
        let done = self.saved_meanwhile(&hold, interval, run)?;
        screen.finish();
        self.save_taken()?;
        if self.is_missing() {
            self.save()?;
        }
        hold.release();
        Ok(done)
    }

    /// Gives the output and the filter their names, when both are complete. The output is first: if
    /// the program is killed between the two, the next run prints its records again.
    fn commit_with(&self, output: Pending) -> Result<(), Error> {
        let output = output.complete()?;
        let News { printed, saved, .. } = *self.news();
        let is_changed = printed != saved || self.is_missing();
        let filter = if is_changed { (self.prepare)()? } else { None };
        ending::last(|| {
            output.rename().map_err(Error::Write)?;
            filter.map_or(Ok(()), Unnamed::rename)
        })
    }

    /// Whether the filter does not exist yet: it is created even if nothing is new.
    fn is_missing(&self) -> bool {
        self.filter.is_some_and(|filter| !filter.exists())
    }

    fn save(&self) -> Result<(), Error> {
        (self.prepare)()?.map_or(Ok(()), Unnamed::rename)
    }

    /// Runs the pipeline, and saves at each interval and at a signal, which ends the program.
    fn saved_meanwhile<T>(
        &self,
        hold: &Hold,
        interval: Option<Duration>,
        run: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        thread::scope(|scope| {
            let (calls, called) = mpsc::channel();
            let forward = hold.forward(calls);
            let keeper = thread::Builder::new();
            let saves = keeper.spawn_scoped(scope, move || self.keep(&called, interval));
            let saves = saves.map_err(Error::Thread)?;
            let done = run();
            // Without a sender the thread ends, after it has served what was sent.
            drop(forward);
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
            let saved = match (call, interval) {
                (Ok(signal), _) => self.save_and_end(signal),
                (Err(RecvTimeoutError::Timeout), Some(interval)) => self.save_if_taken(interval),
                _ => return,
            };
            if let Err(error) = saved {
                ending::exit(screen::report(&error));
            }
        }
    }

    /// Saves what was printed, if the reader takes it; and ends the program.
    fn save_and_end(&self, signal: i32) -> Result<(), Error> {
        let mut still = Still::new(self.outlet());
        let is_stalled = |still: Duration| self.outlet().has_reader() && still >= STALL;
        let closed = self.gate.close(|| !is_stalled(still.time()));
        if closed.is_none() || self.taken(|still| !is_stalled(still))? != Taken::All {
            self.say_unsaved();
        } else {
            self.save_news()?;
        }
        ending::end(signal)
    }

    /// Saves what was printed, if the reader takes it within this time. Otherwise the run goes on.
    ///
    /// Meanwhile the reader has something to read, so it is not held up.
    fn save_if_taken(&self, interval: Duration) -> Result<(), Error> {
        let start = Instant::now();
        let mut still = Still::new(self.outlet());
        let patience = |still: Duration| {
            start.elapsed() < interval && still < STALL && ending::called().is_none()
        };
        // A file needs the time that it needs.
        let is_patient = || {
            ending::called().is_none() && (!self.outlet().has_reader() || patience(still.time()))
        };
        let Some(_closed) = self.gate.close(is_patient) else { return Ok(()) };
        if self.taken(patience)? == Taken::All { self.save_news() } else { Ok(()) }
    }

    /// Saves what was printed, when the reader has taken all. A signal ends the wait, unsaved.
    fn save_taken(&self) -> Result<(), Error> {
        let Some(filter) = self.filter else { return Ok(()) };
        let mut is_said = false;
        let taken = self.taken(|still| {
            if still >= SILENCE && !is_said {
                is_said = true;
                screen::say(&format!(
                    "tamis: the reader of the output has taken nothing for {} s; {name} is saved when it has taken \
                     all, and {name}.lock is held until then; --no-wait saves at once",
                    SILENCE.as_secs(),
                    name = shown(filter)
                ));
            }
            ending::called().is_none()
        })?;
        match taken {
            Taken::All => self.save_news(),
            Taken::Part | Taken::Never => {
                self.say_unsaved();
                Err(Error::Closed)
            }
        }
    }

    /// Waits until the reader has taken all, or as long as there is patience.
    fn taken(&self, patience: impl FnMut(Duration) -> bool) -> Result<Taken, Error> {
        // What is not saved need not be taken.
        let news = self.news();
        let is_nothing = news.printed == news.saved;
        drop(news);
        if is_nothing {
            return Ok(Taken::All);
        }
        // Records may wait to be compressed.
        let mut output = self.output;
        match output.flush().map_err(Error::written) {
            Err(Error::Closed) => Ok(Taken::Never),
            Err(error) => Err(error),
            Ok(()) if self.waits => Ok(self.outlet().wait(patience)),
            Ok(()) => Ok(Taken::All),
        }
    }

    fn outlet(&self) -> &Outlet<'k> {
        self.output.get()
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves if there is something new.
    fn save_news(&self) -> Result<(), Error> {
        let mut news = self.news();
        if news.printed != news.saved {
            self.save()?;
            news.saved = news.printed;
        }
        Ok(())
    }

    /// Says what the filter does not have because nobody has read it; or what a server has although
    /// nobody has.
    fn say_unsaved(&self) {
        let Some(filter) = self.filter else {
            return screen::warn(
                "the filter may have the last records of the input, which were not printed: no run prints them again",
            );
        };
        let News { handed, saved, .. } = *self.news();
        let lost = handed - saved;
        if lost > 0 {
            let (are, them) = if lost == 1 { ("is", "it") } else { ("are", "them") };
            screen::warn(&format!(
                "the reader of the output has not taken all of it: {} {are} not saved in {}, and the next run prints \
                 {them} again",
                counted(lost, "new record"),
                shown(filter)
            ));
        }
    }
}

/// Observes the run for the screen and the keeper.
struct Keeping<'k, 's> {
    keeper: &'k Keeper<'k>,
    screen: &'s mut Screen,
}

impl Watch for Keeping<'_, '_> {
    fn printing(&mut self, tally: &Tally) {
        self.keeper.news().handed = tally.items();
    }

    fn advanced(&mut self, tally: &Tally) {
        self.keeper.news().printed = tally.items();
        self.screen.advanced(tally);
    }

    fn failed(&mut self, error: &Error) {
        // If the input is wrong at some record, or a filter of another system refuses it, all
        // records before it were printed, and nothing after it was decided. After any other error
        // the filter may contain records that were not printed.
        let at_record = match error {
            Error::Input { .. } => true,
            Error::At { why, .. } => why.is_in_order(),
            _ => false,
        };
        if at_record
            && !self.screen.is_pending()
            && let Err(error) = self.keeper.save_taken()
        {
            screen::report(&error);
        }
        let is_lost = match error {
            Error::Closed => true,
            // A server has the records that could not be printed.
            Error::Write(_) => self.keeper.filter.is_none(),
            _ => false,
        };
        if is_lost {
            self.keeper.say_unsaved();
        }
        self.screen.failed(error);
    }
}
