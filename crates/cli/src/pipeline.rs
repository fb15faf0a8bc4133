//! The way of records through a command: they are read, hashed, decided and printed, in input
//! order, on all cores.
//!
//! There is no central thread and no queue. Every worker takes a chunk of input through all of
//! these steps by itself:
//!
//! 1. Under the lock of the source (`source`) it reads the next chunk, which ends where a record
//!    ends, and gets the chunk's number: its turn. Before it releases that lock, it passes the gate
//!    (`gate`), where the run can be halted.
//! 2. It finds the records, takes their keys and hashes them (`chunk`).
//! 3. The decider of the command (`decider`) says which records are printed.
//! 4. The worker moves the records to be printed to the front of the chunk.
//! 5. At the sink (`sink`), behind a turnstile (`turnstile`), which admits chunks in the order of
//!    their turns, it writes them.
//!
//! A decider whose answers depend on the order of the records uses turnstiles too.
//!
//! With headers, the first record of each input is read before its records, and is none of them
//! (`header`).
//!
//! An error is kept in its chunk with the record at which it happened, and is reported at the sink,
//! in input order too: everything before that record is printed, and nothing after it.

use core::mem;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::input::Input;

mod chunk;
mod decider;
mod entry;
mod gate;
mod hasher;
mod header;
mod keys;
mod notes;
mod plan;
mod records;
mod sink;
mod source;
mod tally;
mod turnstile;
mod workers;

pub(crate) use self::chunk::{Batch, Chunk};
pub(crate) use self::decider::Decider;
pub(crate) use self::entry::{Entry, SHARDS};
pub(crate) use self::gate::Gate;
pub(crate) use self::hasher::Hasher;
pub use self::hasher::Seed;
pub(crate) use self::header::check as check_headers;
pub use self::notes::{Noted, Notes};
pub(crate) use self::plan::{Plan, Printed, Taken};
pub use self::records::CHUNK;
pub(crate) use self::records::{MOST_THREADS, Records};
pub use self::sink::Watch;
pub use self::tally::Tally;
pub(crate) use self::turnstile::Turnstile;
pub(crate) use self::workers::share;

use self::chunk::Rules;
use self::gate::Pass;
use self::sink::Sink;
use self::source::Source;
use self::workers::AbortOnPanic;

/// What a run has done.
pub(crate) struct Done {
    pub(crate) tally: Tally,
    /// What was noticed in the input.
    pub(crate) notes: Notes,
    /// The number of worker threads that ran.
    pub(crate) threads: usize,
}

/// Takes the records of `inputs` through all steps. The output needs no buffer: it receives whole
/// chunks.
///
/// # Errors
///
/// The error at the earliest record that has one. The records before it have been decided and
/// printed.
pub(crate) fn run(
    inputs: Vec<Input<'_>>,
    output: &mut (dyn Write + Send),
    records: &Records,
    decider: &Decider<'_>,
    gate: &Gate,
    watch: &mut dyn Watch,
) -> Result<Done, Error> {
    // The headers come first: they say which fields are the key.
    if records.header {
        check_headers(&inputs, records)?;
    } else if records.strict {
        header::require_delimiter(&inputs, records)?;
    }
    let mut source = Source::new(inputs, records);
    let header = source.header().map_err(|(name, why)| why.at(name, 1))?;
    let key = header.as_ref().map(|header| header.resolved(&records.key)).transpose()?;
    let key = key.as_ref().unwrap_or(&records.key);

    let run = Run {
        rules: Rules::new(records, key, &decider.hasher, decider.plan),
        source: Mutex::new(source),
        giants: Mutex::new(()),
        decider,
        gate,
        sink: Turnstile::new(Sink::new(output, watch, header, decider.plan.limit)),
        failure: OnceLock::new(),
    };
    let threads = workers::work(records.threads, || run.work());
    if let Some(error) = run.failure.into_inner() {
        return Err(error);
    }
    let sink = run.sink.into_inner();
    let prints = decider.plan.printed != Printed::None;
    let (tally, notes) = sink.finish(prints, key.delimiter(), records.strict)?;
    Ok(Done { tally, notes, threads })
}

/// The state of one run that all its workers share.
struct Run<'r, 'i, 'w> {
    rules: Rules<'r>,
    source: Mutex<Source<'r, 'i>>,
    /// Held by the one worker whose chunk is larger than usual because of a giant record.
    giants: Mutex<()>,
    decider: &'r Decider<'r>,
    gate: &'r Gate,
    sink: Turnstile<Sink<'w>>,
    /// The error that ended the run, if one did.
    failure: OnceLock<Error>,
}

impl<'r> Run<'r, '_, '_> {
    /// Takes chunks through all steps until there are none left, or the run has failed.
    fn work(&self) {
        let mut chunk = Chunk::default();
        // Step 1: read.
        while let Some(pass) = self.read(&mut chunk) {
            let guard = AbortOnPanic;
            // Step 2: find and hash.
            chunk.scan(&self.rules);
            // Step 3: decide. After a failure nothing needs to be decided, but the chunk must still
            // enter every turnstile, because later chunks wait for its turn.
            (self.decider.decide)(&mut chunk, &|| self.failure.get().is_some());
            // Step 4: move together what is printed.
            chunk.compact();
            // `output` and `watch` are the caller's code and may panic in the sink. Unwinding then
            // drops the turn, so that the next chunk can enter.
            mem::forget(guard);
            // Step 5: write.
            if let Some(mut sink) = self.sink.enter(chunk.turn)
                && self.failure.get().is_none()
                && let Err(error) = sink.take(&mut chunk)
            {
                sink.failed(&error);
                // Set inside the sink's turn and only if it was unset, so it is set once, by the
                // earliest chunk that fails. Later chunks see it and print nothing.
                let _ = self.failure.set(error);
            }
            drop(pass);
        }
    }

    /// Reads the next chunk and passes the gate. Returns `None` if there is no chunk, or the run
    /// has failed.
    fn read<'s>(&'s self, chunk: &mut Chunk<'s>) -> Option<Pass<'r>> {
        // Clear before locking: this releases `giants`, for which the worker that holds `source`
        // may be waiting.
        chunk.clear();
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if self.failure.get().is_some() || !source.read(chunk, &self.giants) {
            return None;
        }
        // Under the lock, so that chunks pass the gate in the order of their turns: no chunk that
        // has passed it waits for one that has not.
        Some(self.gate.enter())
    }
}
