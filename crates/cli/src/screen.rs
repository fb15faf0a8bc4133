//! Standard error: how far a run is, what it has done, what went wrong.

use core::time::Duration;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Error;
use crate::dedup::{Tally, Watch};
use crate::output::Pending;
use crate::units::{bytes, grouped};

/// Between two looks of the bar.
const FRAME: Duration = Duration::from_millis(100);

/// Between two lines of progress where there is no terminal.
const PLAIN: Duration = Duration::from_secs(5);

/// What is seen of a run while it goes on.
pub(crate) struct Screen {
    progress: Progress,
    /// The output, if it is to take its name at the end: it goes when the program ends early.
    pending: Option<Pending>,
}

/// How far a run is.
enum Progress {
    /// Not shown.
    Off,
    /// A bar that moves; when it last did.
    Bar(ProgressBar, Instant),
    /// A line now and then; when the last one came.
    Plain(Instant),
}

impl Screen {
    /// Shows progress if asked for; otherwise on a terminal, unless the output goes there too. `total`:
    /// bytes of the input, where known.
    pub(crate) fn new(
        quiet: bool,
        asked: bool,
        total: Option<u64>,
        pending: Option<Pending>,
    ) -> Self {
        let shared = pending.is_none() && io::stdout().is_terminal();
        let terminal = io::stderr().is_terminal();
        let shown = !quiet && (asked || terminal && !shared);
        let progress = if shown { Progress::new(terminal, total) } else { Progress::Off };
        Self { progress, pending }
    }

    /// Takes the bar away; gives back the output.
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
                "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} eta {eta} {msg}",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {bytes} {bytes_per_sec} {msg}"),
        };
        // A template that cannot be read would leave the default one.
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
                bar.set_message(format!("{} printed", grouped(tally.printed)));
            }
            Progress::Plain(last) if last.elapsed() >= PLAIN => {
                *last = Instant::now();
                say(&format!(
                    "{} read, {} lines, {} printed",
                    bytes(tally.bytes_in),
                    grouped(tally.lines),
                    grouped(tally.printed)
                ));
            }
            _ => {}
        }
    }

    /// Ends the program: no worker that waits for input can hold it up.
    fn failed(&mut self, error: &Error) {
        // A file that would be left behind.
        drop(self.finish());
        process::exit(report(error).into());
    }
}

/// Says what went wrong, in one line, and gives the exit code.
pub(crate) fn report(error: &Error) -> u8 {
    if !matches!(error, Error::Closed) {
        say(&format!("tamis: {error}"));
    }
    error.exit_code()
}

/// Says what must not go unnoticed, in one line.
pub(crate) fn warn(text: &str) {
    say(&format!("tamis: warning: {text}"));
}

/// Writes to standard error. There is nobody left to tell if that fails.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
