//! `tamis dedup`: the first record of every key, or the second, in input order, on all cores.
//!
//! The steps of a run are in `pipeline`. Here is the one between hashing and printing, which
//! decides the records (`sharded`). The hash of an item selects one of a fixed number of shards.
//! Each shard has its own table or chain of filters (`store`; `repeated` uses two per shard) behind
//! a turnstile. A worker visits all shards, first to last, and decides the records of its chunk.
//! The workers follow each other through the shards like a wavefront.
//!
//! So every shard sees its items in input order, from one thread at a time, and its growth depends
//! only on what it has seen. The output is the same, to the byte, for any number of threads and any
//! size of chunk.
//!
//! A run that keeps only the last records (`window`) decides all of them behind one turnstile.

use std::io::Write;
use std::time::Instant;

use crate::error::Error;
use crate::input::Input;
use crate::pipeline::{self, Decider, Gate, Hasher, Plan, Printed, SHARDS};

mod chain;
mod expected;
mod growth;
mod options;
mod repeated;
mod shard;
mod sharded;
mod store;
mod summary;
mod table;
mod tables;
mod window;

pub use self::options::{Filter, Options};
pub use self::summary::Summary;
pub use crate::pipeline::{CHUNK, Noted, Notes, Seed, Tally, Watch};

pub(crate) use self::sharded::Sharded;
pub(crate) use self::tables::Tables;

use self::repeated::Filters;
use self::shard::Fill;
use self::store::Store;
use self::summary::Expected;

/// Prints the first record of every key of `inputs`, or the second, in order, to `output`. The
/// output needs no buffer: it receives whole chunks.
///
/// # Errors
///
/// Any [`Error`]. [`Error::Usage`], [`Error::Filter`], [`Error::Memory`] and [`Error::Random`] are
/// returned before anything is written; all others after the records before the error have been
/// written.
///
/// # Examples
///
/// ```
/// use tamis_cli::dedup::{Options, run};
/// use tamis_cli::input::Input;
///
/// let mut output = Vec::new();
/// let inputs = vec![Input::new("a", &b"one\ntwo\none"[..]), Input::new("b", &b"two\nthree"[..])];
/// let summary = run(inputs, &mut output, &Options::default(), &mut ())?;
/// assert_eq!(output, b"one\ntwo\nthree\n");
/// assert_eq!(summary.tally.duplicates, 2);
/// # Ok::<(), tamis_cli::Error>(())
/// ```
pub fn run(
    inputs: Vec<Input<'_>>,
    output: &mut (dyn Write + Send),
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    if let Filter::Window { items, rate } = options.filter {
        return window::run(inputs, output, options, (items, rate), watch);
    }
    let start = Instant::now();
    let store = Store::new(options)?;
    let shards = (0..SHARDS as usize).map(|number| Filters::new(&store, number, options.repeated));
    let plan = Plan {
        sharded: true,
        limit: options.capacity.filter(|_| options.fixed),
        ..Plan::of(if options.repeated { Printed::Second } else { Printed::Fresh })
    };
    let sharded = Sharded::new(shards.collect::<Result<_, _>>()?);
    let decider = Decider::new(Hasher::new(options.seed)?, plan, |chunk, failed| {
        sharded.decide(chunk, failed);
    });
    let gate = Gate::default();
    let done = pipeline::run(inputs, output, &options.records(), &decider, &gate, watch)?;
    drop(decider);
    // How full the filters are: the summary computes the expected losses from it.
    let (seen, again): (Vec<_>, Vec<_>) = sharded.into_fills().unzip();
    let [seen, again]: [Vec<Fill>; 2] =
        [seen, again].map(|fills| fills.into_iter().flatten().collect());
    // With `repeated`, a false positive of the first filter prints a line too many, and one of the
    // second filter loses a line.
    let false_seen = store.lost(&seen);
    let expected = if options.repeated {
        Expected { lost: store.lost(&again), extra: false_seen }
    } else {
        Expected { lost: false_seen, extra: 0.0 }
    };
    let slices = seen.iter().map(|fill| fill.slices.len()).max().unwrap_or(0);
    let bytes = [seen, again].iter().flatten().map(|fill| fill.bytes).sum();
    Ok(Summary::new(done, expected, (slices, bytes), options, start.elapsed()))
}
