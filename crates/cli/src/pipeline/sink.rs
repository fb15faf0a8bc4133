//! The sink: writes and counts chunks in input order, and reports the first error.

use core::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use super::chunk::{Chunk, Why};
use crate::Error;
use crate::key::NoKey;
use crate::packing::Refusal;
use crate::units::grouped;

/// The counts of records and bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records read.
    pub lines: u64,
    /// Records printed.
    pub printed: u64,
    /// Records with the key of an earlier record. (Of a command that does not look for new records: those with the
    /// other answer.)
    pub duplicates: u64,
    /// Records without a key. They are printed, unless only repeated records are printed.
    pub keyless: u64,
    /// Bytes of the records read, including separators.
    pub bytes_in: u64,
    /// Bytes printed.
    pub bytes_out: u64,
}

impl Tally {
    /// The number of distinct keys.
    pub(crate) fn items(&self) -> u64 {
        self.lines - self.duplicates - self.keyless
    }
}

/// A record without a key.
#[derive(Clone, Debug)]
pub struct Keyless {
    /// The file, as it was given.
    pub name: Arc<str>,
    /// The line, from 1.
    pub line: u64,
    /// What was missing.
    pub found: NoKey,
}

impl fmt::Display for Keyless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.name, grouped(self.line), self.found)
    }
}

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

    /// Called when the run has failed. [`run`](crate::dedup::run) returns the same error, but only after every worker has
    /// finished, and a worker may be waiting for input. A program that should exit at once can exit here.
    fn failed(&mut self, error: &Error) {
        let _ = error;
    }
}

/// Observes nothing.
impl Watch for () {}

/// The output, and the counts of what went through it.
pub(super) struct Sink<'w, W> {
    output: W,
    watch: &'w mut dyn Watch,
    tally: Tally,
    /// The first record without a key.
    keyless: Option<Keyless>,
    /// The number of records of the current input so far.
    line: u64,
    /// The number of items after which the next new item is an error.
    limit: Option<u64>,
}

impl<'w, W: Write> Sink<'w, W> {
    pub(super) fn new(output: W, watch: &'w mut dyn Watch, limit: Option<u64>) -> Self {
        Self { output, watch, tally: Tally::default(), keyless: None, line: 0, limit }
    }

    /// Prints the records of `chunk` that are kept, up to the place where it ends early; then returns why it does.
    pub(super) fn take(&mut self, chunk: &mut Chunk<'_>) -> Result<(), Error> {
        if chunk.opens {
            self.line = 0;
        }
        // Count the records up to the chunk's own stop.
        let stop = chunk.stop.take();
        let mut records = stop.as_ref().map_or(chunk.ends.len(), |stop| stop.record);
        let mut tally = self.tally.with(chunk, records);
        let mut full = None;
        // If they exceed the limit of items, end before the first surplus item, which comes before the stop.
        if let Some(limit) = self.limit.filter(|&limit| tally.items() > limit) {
            records = surplus(chunk, limit - self.tally.items());
            tally = self.tally.with(chunk, records);
            full = Some(limit);
        }
        // `compact` has moved the printed records to the front, in order, so the output is a prefix of the bytes.
        let output = (tally.bytes_out - self.tally.bytes_out) as usize;
        self.watch.printing(&tally);
        self.output.write_all(&chunk.bytes[..output]).map_err(Error::written)?;
        self.tally = tally;
        self.watch.advanced(&tally);

        // Remember the first record without a key, if it is among those counted.
        let name = || chunk.name.clone();
        if let Some((record, found)) = chunk.keyless
            && self.keyless.is_none()
            && record < records
        {
            let line = self.line + record as u64 + 1;
            self.keyless = Some(Keyless { name: name(), line, found });
        }
        // Any error is at the line after the records counted.
        let line = self.line + records as u64 + 1;
        self.line += records as u64;
        if let Some(capacity) = full {
            return Err(Error::Full { name: name(), line, capacity });
        }
        match stop.map(|stop| stop.why) {
            None => Ok(()),
            Some(Why::Read(source)) => Err(unread(name(), line, source)),
            Some(Why::NoKey(found)) => Err(Error::NoKey { name: name(), line, found }),
            Some(Why::Growth(source)) => {
                Err(Error::Growth { name: name(), line, source: Box::new(source) })
            }
            Some(Why::Insert(source)) => Err(Error::Insert { name: name(), line, source }),
            Some(Why::Overfull { filter, items, rate }) => {
                Err(Error::Overfull { record: Some((name(), line)), filter, items, rate })
            }
            Some(Why::Foreign(source)) => Err(Error::ForeignItem { name: name(), line, source }),
            #[cfg(feature = "redis")]
            Some(Why::Remote { record, source, fate }) => {
                let line = line - records as u64 + u64::from(record);
                Err(Error::RemoteItem { name: name(), line, source, fate })
            }
            Some(Why::TooLong(limit)) => Err(Error::TooLong { name: name(), line, limit }),
        }
    }

    pub(super) fn failed(&mut self, error: &Error) {
        // An output that is compressed may hold records before the error.
        if !matches!(error, Error::Closed | Error::Write(_)) {
            let _ = self.output.flush();
        }
        self.watch.failed(error);
    }

    /// Flushes the output; returns the counts and the first record without a key.
    pub(super) fn finish(mut self) -> Result<(Tally, Option<Keyless>), Error> {
        self.output.flush().map_err(Error::written)?;
        Ok((self.tally, self.keyless))
    }
}

impl Tally {
    /// These counts plus those of the first `records` records of `chunk`.
    fn with(&self, chunk: &Chunk<'_>, records: usize) -> Self {
        let count = |flags: &[bool]| flags[..records].iter().filter(|&&flag| flag).count() as u64;
        let fresh = count(chunk.fresh());
        let printed = chunk.printed().map_or(0, count);
        // Entries are in input order, one for each record that has a key.
        let keys = chunk.entries.partition_point(|entry| (entry.record as usize) < records);
        // A separator that was added at the end of the input was not read.
        let read = records.checked_sub(1).map_or(0, |last| chunk.ends[last] as u64);
        let lent = u64::from(chunk.lent && read == chunk.used as u64);
        let kept = chunk.kept(records);
        let records = records as u64;
        Self {
            lines: self.lines + records,
            printed: self.printed + printed,
            duplicates: self.duplicates + records - fresh,
            keyless: self.keyless + records - keys as u64,
            bytes_in: self.bytes_in + read - lent,
            bytes_out: self.bytes_out + kept as u64,
        }
    }
}

/// The record of `chunk` with the first new item after `room` of them.
fn surplus(chunk: &Chunk<'_>, room: u64) -> usize {
    let mut new = chunk.entries.iter().filter(|entry| chunk.fresh()[entry.record as usize]);
    new.nth(room as usize).map_or(chunk.ends.len(), |entry| entry.record as usize)
}

/// The error for a failed read: either reading failed at a line, or the whole input is of a kind that is not read.
fn unread(name: Arc<str>, line: u64, source: io::Error) -> Error {
    match source.get_ref().and_then(|why| why.downcast_ref::<Refusal>()) {
        Some(refusal) => Error::Input { name: name.to_string(), found: refusal.to_string() },
        None => Error::Read { name, line, source },
    }
}
