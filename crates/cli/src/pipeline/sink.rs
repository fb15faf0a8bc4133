//! The sink: writes and counts chunks in input order, and reports the first error.

use std::io::Write;
use std::sync::Arc;

use super::chunk::{Chunk, Stop};
use super::header::Header;
use super::notes::Notes;
use super::tally::Tally;
use crate::error::{Error, Why};

/// An observer of the progress of a run.
pub trait Watch: Send {
    /// Called before a chunk is printed, with the counts after it.
    fn printing(&mut self, tally: &Tally) {
        let _ = tally;
    }

    /// Called after each chunk with the counts so far.
    fn advanced(&mut self, tally: &Tally) {
        let _ = tally;
    }

    /// Called when the run has failed. [`run`](crate::dedup::run) returns the same error, but only
    /// after every worker has finished, and a worker may be waiting for input. A program that
    /// should exit at once can exit here.
    fn failed(&mut self, error: &Error) {
        let _ = error;
    }
}

/// Observes nothing.
impl Watch for () {}

/// The output, and the counts of what went through it.
pub(super) struct Sink<'w> {
    output: &'w mut (dyn Write + Send),
    watch: &'w mut dyn Watch,
    tally: Tally,
    notes: Notes,
    /// The header, until it is printed.
    header: Option<Arc<Header>>,
    /// The number of lines of the current input so far.
    line: u64,
    /// The number of items after which the next new item is an error.
    limit: Option<u64>,
}

impl<'w> Sink<'w> {
    pub(super) fn new(
        output: &'w mut (dyn Write + Send),
        watch: &'w mut dyn Watch,
        header: Option<Arc<Header>>,
        limit: Option<u64>,
    ) -> Self {
        let (tally, notes) = (Tally::default(), Notes::default());
        Self { output, watch, tally, notes, header, line: 0, limit }
    }

    /// Prints the records of `chunk` that are kept, up to the place where it ends early; then
    /// returns why it does.
    pub(super) fn take(&mut self, chunk: &mut Chunk<'_>) -> Result<(), Error> {
        if let Some(lines) = chunk.opens {
            self.line = lines;
        }
        // Count the records up to the chunk's own stop.
        let mut stop = chunk.stop.take();
        let mut records = stop.as_ref().map_or(chunk.ends.len(), |stop| stop.record);
        let mut tally = self.tally.with(chunk, records);
        // If they exceed the limit of items, end before the first surplus item, which comes before
        // the stop.
        if let Some(capacity) = self.limit.filter(|&limit| tally.items() > limit) {
            records = surplus(chunk, capacity - self.tally.items());
            tally = self.tally.with(chunk, records);
            stop = Some(Stop::at(records, Why::Full { capacity }));
        }
        // `compact` has moved the printed records to the front, in order, so the output is a prefix
        // of the bytes.
        let output = (tally.bytes_out - self.tally.bytes_out) as usize;
        self.watch.printing(&tally);
        if output > 0 {
            tally.bytes_out += self.print_header()?;
            self.output.write_all(&chunk.bytes[..output]).map_err(Error::written)?;
        }
        self.tally = tally;
        self.watch.advanced(&tally);

        self.notes.take(chunk, records, self.line);
        let before = self.line;
        self.line += chunk.lines(records);
        stop.map_or(Ok(()), |Stop { named, why, .. }| {
            Err(why.at(Arc::clone(&chunk.name), before + chunk.lines(named) + 1))
        })
    }

    pub(super) fn failed(&mut self, error: &Error) {
        // An output that is compressed may hold records before the error.
        if !matches!(error, Error::Closed | Error::Write(_)) {
            let _ = self.output.flush();
        }
        self.watch.failed(error);
    }

    /// Prints the header, if there is one and it has not been printed. Returns its length.
    fn print_header(&mut self) -> Result<u64, Error> {
        let Some(header) = self.header.take() else { return Ok(0) };
        self.output.write_all(&header.bytes).map_err(Error::written)?;
        Ok(header.bytes.len() as u64)
    }

    /// Flushes the output; returns the counts and what was noticed. `prints`: the command prints
    /// records, and the header even if there is none. `delimiter`: the byte between fields, which
    /// should be in a record; if it is in none, `strict` makes that an error.
    pub(super) fn finish(
        mut self,
        prints: bool,
        delimiter: Option<u8>,
        strict: bool,
    ) -> Result<(Tally, Notes), Error> {
        self.notes.delimiter = delimiter;
        if let Some(delimiter) = self.notes.undelimited(&self.tally).filter(|_| strict) {
            return Err(Error::Undelimited { delimiter });
        }
        if prints {
            self.tally.bytes_out += self.print_header()?;
        }
        self.output.flush().map_err(Error::written)?;
        Ok((self.tally, self.notes))
    }
}

/// The record of `chunk` with the first new item after `room` of them.
fn surplus(chunk: &Chunk<'_>, room: u64) -> usize {
    let mut new = chunk.entries.iter().filter(|entry| chunk.fresh()[entry.record as usize]);
    new.nth(room as usize).map_or(chunk.ends.len(), |entry| entry.record as usize)
}
