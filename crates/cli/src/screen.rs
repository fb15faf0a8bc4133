//! Standard error: the progress of a run, its summary, warnings and errors.

use core::time::Duration;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::ending;
use crate::error::{Error, Exits};
use crate::input::shown;
use crate::output::Pending;
use crate::pipeline::{Tally, Watch};
use crate::units::{bytes, counted, grouped};

/// The time between two updates of the bar.
const FRAME: Duration = Duration::from_millis(100);

/// The time between two lines of progress, where standard error cannot show a bar.
const PLAIN: Duration = Duration::from_secs(5);

/// The display of a run.
pub(crate) struct Screen {
    progress: Progress,
    /// The output file, if it gets its name at the end. It is deleted when the program ends early.
    pending: Option<Pending>,
    /// What the exit code says.
    exits: Exits,
}

/// The display of progress.
enum Progress {
    /// Not shown.
    Off,
    /// A bar, and the time of its last update.
    Bar(ProgressBar, Instant),
    /// A line every few seconds, and the time of the last one.
    Plain(Instant),
}

impl Screen {
    /// Shows progress if `asked`; otherwise if standard error is a terminal and the output goes
    /// elsewhere. `total`: the bytes of the input, if known.
    pub(crate) fn new(
        quiet: bool,
        asked: bool,
        total: Option<u64>,
        pending: Option<Pending>,
    ) -> Self {
        let shared = pending.is_none() && io::stdout().is_terminal();
        Self::beside(shared, quiet, asked, total, pending)
    }

    /// As [`new`](Self::new), for a command that prints no records.
    pub(crate) fn of_silent(quiet: bool, asked: bool, total: Option<u64>) -> Self {
        Self::beside(false, quiet, asked, total, None)
    }

    /// `shared`: whether the records go to a terminal.
    fn beside(
        shared: bool,
        quiet: bool,
        asked: bool,
        total: Option<u64>,
        pending: Option<Pending>,
    ) -> Self {
        let terminal = io::stderr().is_terminal();
        let shown = !quiet && (asked || terminal && !shared);
        let progress = if shown { Progress::new(terminal, total) } else { Progress::Off };
        Self { progress, pending, exits: Exits::Done }
    }

    /// Whether the output gets its name at the end.
    pub(crate) const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Sets what the exit code says when the program ends early.
    pub(crate) const fn exit_as(&mut self, exits: Exits) {
        self.exits = exits;
    }

    /// Reports an error, and ends the program at once, without waiting for workers that wait for
    /// input.
    pub(crate) fn fail(&mut self, error: &Error) -> ! {
        // The unfinished file and a lock are removed, though no destructor runs.
        drop(self.finish());
        report(error);
        ending::exit(self.exits.of_error(error));
    }

    /// Removes the bar and returns the output file.
    pub(crate) fn finish(&mut self) -> Option<Pending> {
        if let Progress::Bar(bar, _) = &self.progress {
            bar.finish_and_clear();
        }
        self.pending.take()
    }
}

impl Progress {
    fn new(terminal: bool, total: Option<u64>) -> Self {
        if !terminal {
            return Self::Plain(Instant::now());
        }
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:20} {bytes}/{total_bytes} {bytes_per_sec} eta {eta} {wide_msg}",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {bytes} {bytes_per_sec} {wide_msg}"),
        };
        // Such as where `TERM` is `dumb`.
        if bar.is_hidden() {
            return Self::Plain(Instant::now());
        }
        // If the template were invalid, the bar would keep its default one.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self::Bar(bar, Instant::now())
    }
}

impl Watch for Screen {
    fn advanced(&mut self, tally: &Tally) {
        match &mut self.progress {
            Progress::Bar(bar, last) if last.elapsed() >= FRAME => {
                *last = Instant::now();
                bar.set_position(tally.bytes_in);
                if tally.printed > 0 {
                    bar.set_message(format!("{} printed", grouped(tally.printed)));
                }
            }
            Progress::Plain(last) if last.elapsed() >= PLAIN => {
                *last = Instant::now();
                say(&format!(
                    "{} read, {}, {} printed",
                    bytes(tally.bytes_in),
                    counted(tally.lines, "line"),
                    grouped(tally.printed)
                ));
            }
            _ => {}
        }
    }

    fn failed(&mut self, error: &Error) {
        self.fail(error);
    }
}

/// Prints an error in one line and returns the exit code.
pub(crate) fn report(error: &Error) -> u8 {
    if !matches!(error, Error::Closed) {
        say(&format!("tamis: {error}"));
    }
    error.exit_code()
}

/// Prints a warning in one line.
pub(crate) fn warn(text: &str) {
    say(&format!("tamis: warning: {text}"));
}

/// Says that another run, which has this lock, must end before this one.
pub(crate) fn wait_for(filter: &Path, lock: &Path) {
    let [filter, lock] = [filter, lock].map(shown);
    say(&format!("{filter}: another run changes it, and has locked {lock}; waiting"));
}

/// Writes a line to standard error. An error of that is ignored: there is nowhere else to report
/// it.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
