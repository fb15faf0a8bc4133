//! `tamis dedup`: the first record of every key, or the second, in input order, on all cores.
//!
//! There is no thread that decides and no queue. Every worker takes a chunk of input through all of
//! these steps by itself:
//!
//! 1. Under the lock of the source (`source`) it reads the next chunk, which ends where a record
//!    ends, and gets its turn: the chunk's number.
//! 2. It finds the records, takes their keys, hashes them and sorts the hashes by shard (`chunk`).
//! 3. The items are spread by their hash over a fixed number of shards, each a filter of its own
//!    (`chain`, of which `repeated` takes two) behind a turnstile (`turnstile`) that lets chunks in by turn. The worker walks
//!    through all of them, first to last, and decides its records. So worker follows worker like a
//!    wavefront.
//! 4. It moves the records that stay together, inside the chunk.
//! 5. The sink (`sink`) is one more turnstile: there it writes them.
//!
//! So every shard sees its items in input order, from one thread at a time, and grows by what it
//! has seen: the output is the same, to the byte, for any number of threads and any size of chunk.
//!
//! What goes wrong is kept with the chunk and the record where it went wrong, and comes to light at
//! the sink, in input order too: what stands before it is printed, and nothing after it.

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
mod levels;
mod repeated;
mod sink;
mod source;
mod summary;
mod turnstile;

pub use self::sink::{Keyless, Tally, Watch};
pub use self::summary::Summary;

use self::chunk::{Chunk, Rules};
use self::levels::Levels;
use self::repeated::Filters;
use self::sink::Sink;
use self::source::Source;
use self::turnstile::Turnstile;

/// Shards, whatever the number of threads: the output depends on it. It bounds the workers that can
/// decide at once, and costs each chunk so many uncontended locks.
const SHARDS: u32 = 64;

/// Bytes in a chunk: enough to hide the locks and to ask each shard for many records at once, few enough to stay
/// in a core's own cache. MEASURED: 10 million URLs without a capacity take 1.23, 1.07 and 0.99 s of CPU in chunks of
/// 256 and 512 KiB and 1 MiB, where that cache has 2 MiB; elsewhere it has one.
pub const CHUNK: usize = 1 << 19;

/// What to do. The default is what the program does without options, on one thread.
#[derive(Clone, Debug)]
pub struct Options {
    /// The byte that ends a record.
    pub separator: u8,
    /// The longest record taken, in bytes without its separator.
    pub max_record: u64,
    /// What makes two records the same.
    pub key: Key,
    /// Instead of the first record of every key, print the second: once each that is repeated.
    pub repeated: bool,
    /// Whether a record without a key is an error. Otherwise it passes through, or is left out of what is
    /// [`repeated`](Self::repeated).
    pub strict: bool,
    /// The false-positive rate that the whole filter stays below.
    pub rate: f64,
    /// Items expected; the filter grows beyond them.
    pub capacity: Option<u64>,
    /// Instead of growing, stop when as many items as `capacity` says have been seen.
    pub fixed: bool,
    /// The kind of filter.
    pub kind: Kind,
    /// How keys are hashed.
    pub seed: Seed,
    /// Worker threads, the calling one included; at most 64 are used.
    pub threads: usize,
    /// Bytes in a chunk, 1 to 1 GiB.
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
    /// By rapidhash with this seed: the fastest, and every run is the same.
    Fixed(u64),
    /// By SipHash-1-3 with a key that nobody knows: for input that an enemy chooses.
    Random,
}

/// A key's hash.
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

/// Prints the first record of every key of `inputs`, or the second, in order, to `output`, which should not
/// buffer: it is given whole chunks.
///
/// # Errors
///
/// Everything that [`Error`] lists; all but [`Error::Usage`], [`Error::Filter`], [`Error::Memory`]
/// and [`Error::Random`] come after the records before them have been written.
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
    let levels = Levels::new(options)?;
    let shards = (0..SHARDS).map(|_| Ok(Turnstile::new(Filters::new(&levels, options)?)));
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
        // More workers than shards would only wait, and where the system refuses one, those that
        // there are do the same work.
        let others = (1..options.threads.min(SHARDS as usize)).map_while(|_| spawn().ok());
        let others: Vec<_> = others.collect();
        run.work();
        let threads = 1 + others.len();
        // Joined one by one: the scope alone would not wait until the threads are gone.
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        threads
    });
    if let Some(error) = run.failure.into_inner() {
        return Err(error);
    }
    let (seen, again): (Vec<_>, Vec<_>) =
        run.shards.into_iter().map(|shard| shard.into_inner().fills()).unzip();
    let (tally, keyless) = run.sink.into_inner().finish()?;
    let fills = [seen, again].map(|fills| fills.into_iter().flatten().collect());
    Ok(Summary::new(tally, keyless, &levels, &fills, options, threads, start.elapsed()))
}

/// One run, as all its workers see it.
struct Run<'l, 'w, I, R, W> {
    rules: Rules,
    source: Mutex<Source<I, R>>,
    /// Held by the one worker whose chunk has outgrown its size for a giant record.
    giants: Mutex<()>,
    shards: Vec<Turnstile<Filters<'l>>>,
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
    /// Takes chunks through all steps until there are none, or the run has failed.
    fn work(&self) {
        let mut chunk = Chunk::new();
        while self.read(&mut chunk) {
            let guard = AbortOnPanic;
            chunk.scan(&self.rules);
            for (number, shard) in self.shards.iter().enumerate() {
                if let Some(mut shard) = shard.enter(chunk.turn)
                    && self.failure.get().is_none()
                {
                    chunk.decide(number, &mut shard);
                }
            }
            chunk.compact();
            mem::forget(guard);
            if let Some(mut sink) = self.sink.enter(chunk.turn)
                && self.failure.get().is_none()
                && let Err(error) = sink.take(&mut chunk)
            {
                sink.failed(&error);
                // Only whoever is in the sink sets it, and only once.
                let _ = self.failure.set(error);
            }
        }
    }

    fn read<'s>(&'s self, chunk: &mut Chunk<'s>) -> bool {
        chunk.clear();
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        self.failure.get().is_none() && source.read(chunk, &self.giants)
    }
}

/// Ends the process when a bug ends a worker between its turns: others would wait for it for ever, or
/// print what comes after a hole.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        process::abort();
    }
}
