//! `tamis dedup`: the first record of every key, or the second, in input order, on all cores.
//!
//! There is no central thread and no queue. Every worker takes a chunk of input through all of these steps by itself:
//!
//! 1. Under the lock of the source (`source`) it reads the next chunk, which ends where a record ends, and gets the
//!    chunk's number: its turn.
//! 2. It finds the records, takes their keys, hashes them and sorts the hashes by shard (`chunk`).
//! 3. The hash of an item selects one of a fixed number of shards. Each shard has its own filters (`chain`; `repeated`
//!    uses two chains per shard) behind a turnstile (`turnstile`), which admits chunks in the order of their turns.
//!    The worker visits all shards, first to last, and decides its records. The workers follow each other through the
//!    shards like a wavefront.
//! 4. It moves the records to be printed to the front of the chunk.
//! 5. At the sink (`sink`), behind one more turnstile, it writes them.
//!
//! So every shard sees its items in input order, from one thread at a time, and its growth (`growth`) depends only on
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

use tamis::hash::{Rapid, SipHash13};

use crate::input::Input;
use crate::key::Key;
use crate::{Error, Kind};

mod chain;
mod chunk;
mod expected;
mod growth;
mod repeated;
mod sink;
mod source;
mod summary;
mod turnstile;

pub use self::sink::{Keyless, Tally, Watch};
pub use self::summary::Summary;

use self::chunk::{Chunk, Rules};
use self::growth::Growth;
use self::repeated::Filters;
use self::sink::Sink;
use self::source::Source;
use self::turnstile::Turnstile;

/// The number of shards. It does not depend on the number of threads, because the output depends on it. It limits how
/// many workers can decide at once, and each chunk takes this many locks, usually uncontended.
const SHARDS: u32 = 64;

/// Bytes per chunk: enough to make the cost of the locks small and to query each shard for many records at once, and
/// few enough to stay in a core's own L2 cache. MEASURED: 10 million URLs without a capacity take 1.07 s of CPU with
/// chunks of 512 KiB, 1.23 s with 256 KiB and 0.99 s with 1 MiB, on a shared Xeon (Sapphire or Emerald Rapids) with 2
/// MiB of L2 per core. 1 MiB is not the choice because other machines, such as a Zen 4, have 1 MiB of L2 per core.
pub const CHUNK: usize = 1 << 19;

/// The options of a run. The default is what the program does without options, on one thread.
#[derive(Clone, Debug)]
pub struct Options {
    /// The byte that ends a record.
    pub separator: u8,
    /// The longest record accepted, in bytes without its separator.
    pub max_record: u64,
    /// Which part of a record is compared: records with equal keys are duplicates.
    pub key: Key,
    /// Whether to print the second record of every key, once per repeated key, instead of the first.
    pub repeated: bool,
    /// Whether a record without a key is an error. Otherwise it is printed; with [`repeated`](Self::repeated) it is
    /// left out.
    pub strict: bool,
    /// The false-positive rate that the whole filter stays below.
    pub rate: f64,
    /// The number of items expected; the filter grows beyond it.
    pub capacity: Option<u64>,
    /// Whether to stop at the first new item after `capacity` items instead of growing.
    pub fixed: bool,
    /// The kind of filter.
    pub kind: Kind,
    /// How keys are hashed.
    pub seed: Seed,
    /// Worker threads, including the calling one; at most 64 are used.
    pub threads: usize,
    /// Bytes per chunk, 1 to 1 GiB.
    pub chunk: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            separator: b'\n',
            max_record: 1 << 30,
            key: Key::record(),
            repeated: false,
            strict: false,
            rate: 1e-6,
            capacity: None,
            fixed: false,
            kind: Kind::Blocked,
            seed: Seed::Fixed(0),
            threads: 1,
            chunk: CHUNK,
        }
    }
}

/// How keys are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// By rapidhash with this seed: the fastest, and every run gives the same result.
    Fixed(u64),
    /// By SipHash-1-3 with a random key: for input chosen by an attacker.
    Random,
}

/// The hash function for keys.
pub(crate) enum Hasher {
    Fixed(Rapid),
    Random(SipHash13),
}

impl Hasher {
    fn new(seed: Seed) -> Result<Self, Error> {
        Ok(match seed {
            Seed::Fixed(seed) => Self::Fixed(Rapid::with_seed(seed)),
            Seed::Random => {
                let mut key = [0; 16];
                getrandom::fill(&mut key).map_err(|_| Error::Random)?;
                Self::Random(SipHash13::with_key(key))
            }
        })
    }
}

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
    let growth = Growth::new(options)?;
    let shards = (0..SHARDS).map(|_| Ok(Turnstile::new(Filters::new(&growth, options)?)));
    let run = Run {
        rules: Rules::new(options)?,
        source: Mutex::new(Source::new(inputs.into_iter(), options)),
        giants: Mutex::new(()),
        shards: shards.collect::<Result<_, Error>>()?,
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
    Ok(Summary::new(tally, keyless, &growth, &fills, options, threads, start.elapsed()))
}

/// The state of one run that all its workers share.
struct Run<'g, 'w, I, R, W> {
    rules: Rules,
    source: Mutex<Source<I, R>>,
    /// Held by the one worker whose chunk is larger than usual because of a giant record.
    giants: Mutex<()>,
    shards: Vec<Turnstile<Filters<'g>>>,
    sink: Turnstile<Sink<'w, W>>,
    /// Why the run ends early, once it does.
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
            // Step 3: decide. After a failure nothing needs to be decided, but the turn passes every turnstile all the
            // same: later turns wait for it.
            for (number, shard) in self.shards.iter().enumerate() {
                if let Some(mut shard) = shard.enter(chunk.turn)
                    && self.failure.get().is_none()
                {
                    chunk.decide(number, &mut shard);
                }
            }
            // Step 4: move together what is printed.
            chunk.compact();
            // The writer and the watch may panic in the sink: the turn is then passed on by unwinding.
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
        // Before the lock: this releases the right to a giant record, which the reader inside may be waiting for.
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
