//! Where chunks come out, in input order: written, counted, and judged if something went wrong.

use std::io::{ErrorKind, Write};

use super::Options;
use super::chunk::{Chunk, Why};
use crate::Error;

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records read.
    pub lines: u64,
    /// Records printed.
    pub printed: u64,
    /// Records not printed.
    pub duplicates: u64,
    /// Records printed because they have no key.
    pub keyless: u64,
    /// Bytes of the records read, separators included.
    pub bytes_in: u64,
    /// Bytes printed.
    pub bytes_out: u64,
}

impl Tally {
    /// Keys in the filter.
    pub(super) fn items(&self) -> u64 {
        self.printed - self.keyless
    }
}

/// Someone who looks on.
pub trait Watch: Send {
    /// This much is done.
    fn advanced(&mut self, tally: &Tally) {
        let _ = tally;
    }

    /// The run has failed. [`run`](super::run) returns the same error, but only when every worker
    /// has come back, and one may be waiting for input: a program that wants to end, ends here.
    fn failed(&mut self, error: &Error) {
        let _ = error;
    }
}

/// Nobody looks on.
impl Watch for () {}

/// The output.
pub(super) struct Sink<'w, W> {
    output: W,
    watch: &'w mut dyn Watch,
    tally: Tally,
    /// Records of the current input so far.
    line: u64,
    /// Items at which to stop.
    limit: Option<u64>,
}

impl<'w, W: Write> Sink<'w, W> {
    pub(super) fn new(output: W, watch: &'w mut dyn Watch, options: &Options) -> Self {
        let limit = options.capacity.filter(|_| options.fixed);
        Self { output, watch, tally: Tally::default(), line: 0, limit }
    }

    /// Prints what `chunk` keeps, up to where it ends early; then says why it does.
    pub(super) fn take(&mut self, chunk: &mut Chunk<'_>) -> Result<(), Error> {
        if chunk.opens {
            self.line = 0;
        }
        let stop = chunk.stop.take();
        let mut records = stop.as_ref().map_or(chunk.ends.len(), |stop| stop.record);
        let mut tally = self.tally.with(chunk, records);
        let mut full = None;
        if let Some(limit) = self.limit.filter(|&limit| tally.items() > limit) {
            records = surplus(chunk, limit - self.tally.items());
            tally = self.tally.with(chunk, records);
            full = Some(limit);
        }
        let output = (tally.bytes_out - self.tally.bytes_out) as usize;
        self.output.write_all(&chunk.bytes[..output]).map_err(written)?;
        self.tally = tally;
        self.watch.advanced(&tally);

        let line = self.line + records as u64 + 1;
        self.line += records as u64;
        let name = || chunk.name.clone();
        if let Some(capacity) = full {
            return Err(Error::Full { name: name(), line, capacity });
        }
        match stop.map(|stop| stop.why) {
            None => Ok(()),
            Some(Why::Read(source)) => Err(Error::Read { name: name(), line, source }),
            Some(Why::NoKey(found)) => Err(Error::NoKey { name: name(), line, found }),
            Some(Why::Growth(source)) => {
                Err(Error::Growth { name: name(), line, source: Box::new(source) })
            }
            Some(Why::TooLong(limit)) => Err(Error::TooLong { name: name(), line, limit }),
        }
    }

    pub(super) fn failed(&mut self, error: &Error) {
        self.watch.failed(error);
    }

    pub(super) fn finish(mut self) -> Result<Tally, Error> {
        self.output.flush().map_err(written)?;
        Ok(self.tally)
    }
}

impl Tally {
    /// This, and the first `records` records of `chunk`.
    fn with(&self, chunk: &Chunk<'_>, records: usize) -> Self {
        let fresh = &chunk.fresh[..records];
        let printed = fresh.iter().filter(|&&fresh| fresh).count() as u64;
        let keys = chunk.entries.partition_point(|entry| (entry.record as usize) < records);
        let read = records.checked_sub(1).map_or(0, |last| chunk.ends[last] as u64);
        let lent = u64::from(chunk.lent && read == chunk.used as u64);
        let kept = chunk.kept(records);
        let records = records as u64;
        Self {
            lines: self.lines + records,
            printed: self.printed + printed,
            duplicates: self.duplicates + records - printed,
            keyless: self.keyless + records - keys as u64,
            bytes_in: self.bytes_in + read - lent,
            bytes_out: self.bytes_out + kept as u64,
        }
    }
}

/// The record of `chunk` that is one new item more than `room`.
fn surplus(chunk: &Chunk<'_>, room: u64) -> usize {
    let mut new = chunk.entries.iter().filter(|entry| chunk.fresh[entry.record as usize]);
    new.nth(room as usize).map_or(chunk.ends.len(), |entry| entry.record as usize)
}

fn written(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::Write(error),
    }
}
