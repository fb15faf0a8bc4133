//! `tamis dedup`: the first record of every key, or the second, in input order, on all cores.
//!
//! There is no central thread and no queue. Every worker takes a chunk of input through all of these steps by itself:
//!
//! 1. Under the lock of the source (`source`) it reads the next chunk, which ends where a record ends, and gets the
//!    chunk's number: its turn.
//! 2. It finds the records, takes their keys, hashes them and sorts the hashes by shard (`chunk`).
//! 3. The hash of an item selects one of a fixed number of shards. Each shard has its own table or chain of filters
//!    (`store`; `repeated` uses two per shard) behind a turnstile (`turnstile`), which admits chunks in the order of their turns.
//!    The worker visits all shards, first to last, and decides its records. The workers follow each other through the
//!    shards like a wavefront.
//! 4. It moves the records to be printed to the front of the chunk.
//! 5. At the sink (`sink`), behind one more turnstile, it writes them.
//!
//! So every shard sees its items in input order, from one thread at a time, and its growth depends only on
//! what it has seen. The output is the same, to the byte, for any number of threads and any size of chunk.
//!
//! An error is kept in its chunk with the record at which it happened, and is reported at the sink, in input order
//! too: everything before that record is printed, and nothing after it.

use core::mem;
use std::io::{Read, Write};
use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;
use std::{process, thread};

use crate::Error;
use crate::input::Input;

mod chain;
mod chunk;
mod expected;
mod growth;
mod options;
mod repeated;
mod shard;
mod sink;
mod source;
mod store;
mod summary;
mod table;
mod turnstile;

pub use self::options::{CHUNK, Filter, Options, Seed};
pub use self::sink::{Keyless, Tally, Watch};
pub use self::summary::Summary;

use self::chunk::{Chunk, Rules};
use self::options::SHARDS;
use self::repeated::Filters;
use self::sink::Sink;
use self::source::Source;
use self::store::Store;
use self::turnstile::Turnstile;

/// Prints the first record of every key of `inputs`, or the second, in order, to `output`. The output needs no buffer:
/// it receives whole chunks.
///
/// # Errors
///
/// Any [`Error`]. [`Error::Usage`], [`Error::Filter`], [`Error::Memory`] and [`Error::Random`] are returned before
/// anything is written; all others after the records before the error have been written.
///
/// # Examples
///
/// ```
/// use tamis_cli::dedup::{Options, run};
/// use tamis_cli::input::Input;
///
/// let mut output = Vec::new();
/// let inputs = [Input::new("a", &b"one\ntwo\none"[..]), Input::new("b", &b"two\nthree"[..])];
/// let summary = run(inputs, &mut output, &Options::default(), &mut ())?;
/// assert_eq!(output, b"one\ntwo\nthree\n");
/// assert_eq!(summary.tally.duplicates, 2);
/// # Ok::<(), tamis_cli::Error>(())
/// ```
pub fn run<R: Read + Send>(
    inputs: impl IntoIterator<Item = Input<R>, IntoIter: Send>,
    output: impl Write + Send,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let store = Store::new(options)?;
    let shard = |number| Filters::new(&store, number, options.repeated).map(Turnstile::new);
    let run = Run {
        rules: Rules::new(options)?,
        source: Mutex::new(Source::new(inputs.into_iter(), options)),
        giants: Mutex::new(()),
        shards: (0..SHARDS as usize).map(shard).collect::<Result<_, _>>()?,
        sink: Turnstile::new(Sink::new(output, watch, options)),
        failure: OnceLock::new(),
    };
    let threads = thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, || run.work());
        // More workers than shards would only wait. If the system cannot start a thread, the workers that run do all
        // the work.
        let others = (1..options.threads.min(SHARDS as usize)).map_while(|_| spawn().ok());
        let others: Vec<_> = others.collect();
        // The calling thread is a worker too.
        run.work();
        let threads = 1 + others.len();
        // Join every thread: the end of the scope waits for their closures, but not until the threads have exited.
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        threads
    });
    if let Some(error) = run.failure.into_inner() {
        return Err(error);
    }
    // How full the filters are: the summary computes the expected losses from it.
    let (seen, again): (Vec<_>, Vec<_>) =
        run.shards.into_iter().map(|shard| shard.into_inner().fills()).unzip();
    let (tally, keyless) = run.sink.into_inner().finish()?;
    let fills = [seen, again].map(|fills| fills.into_iter().flatten().collect());
    Ok(Summary::new(tally, keyless, &store, &fills, options, threads, start.elapsed()))
}

/// The state of one run that all its workers share.
struct Run<'s, 'w, I, R, W> {
    rules: Rules,
    source: Mutex<Source<I, R>>,
    /// Held by the one worker whose chunk is larger than usual because of a giant record.
    giants: Mutex<()>,
    shards: Vec<Turnstile<Filters<'s>>>,
    sink: Turnstile<Sink<'w, W>>,
    /// The error that ended the run, if one did.
    failure: OnceLock<Error>,
}

impl<I, R, W> Run<'_, '_, I, R, W>
where
    I: Iterator<Item = Input<R>>,
    R: Read,
    W: Write,
{
    /// Takes chunks through all steps until there are none left, or the run has failed.
    fn work(&self) {
        let mut chunk = Chunk::new();
        // Step 1: read.
        while self.read(&mut chunk) {
            let guard = AbortOnPanic;
            // Step 2: find, hash and sort.
            chunk.scan(&self.rules);
            // Step 3: decide. After a failure nothing needs to be decided, but the chunk must still enter every
            // turnstile, because later chunks wait for its turn.
            for (number, shard) in self.shards.iter().enumerate() {
                if let Some(mut shard) = shard.enter(chunk.turn)
                    && self.failure.get().is_none()
                {
                    chunk.decide(number, &mut shard);
                }
            }
            // Step 4: move together what is printed.
            chunk.compact();
            // `output` and `watch` are the caller's code and may panic in the sink. Unwinding then drops the turn, so
            // that the next chunk can enter.
            mem::forget(guard);
            // Step 5: write.
            if let Some(mut sink) = self.sink.enter(chunk.turn)
                && self.failure.get().is_none()
                && let Err(error) = sink.take(&mut chunk)
            {
                sink.failed(&error);
                // Set inside the sink's turn and only if it was unset, so it is set once, by the earliest chunk that
                // fails. Later chunks see it and print nothing.
                let _ = self.failure.set(error);
            }
        }
    }

    /// Reads the next chunk. Returns `false` if there is none, or the run has failed.
    fn read<'s>(&'s self, chunk: &mut Chunk<'s>) -> bool {
        // Clear before locking: this releases `giants`, for which the worker that holds `source` may be waiting.
        chunk.clear();
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        self.failure.get().is_none() && source.read(chunk, &self.giants)
    }
}

/// Aborts the process when a worker panics between its turns, which is a bug. Other workers would wait for its turn for
/// ever, or print later chunks although its chunk is missing.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        process::abort();
    }
}
