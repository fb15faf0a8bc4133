//! `tamis build --to`: a filter of another system from records.

use std::any::Any;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tamis::formats::foreign;

use super::counted::Counted;
use crate::args::{BuildArgs, Named};
use crate::commands::report::{OVERFILLED, Report};
use crate::error::Error;
use crate::filters::Lock;
use crate::foreign::{Foreign, How, change};
use crate::input::{self, shown};
use crate::memory;
use crate::output::{self, Roles};
use crate::pipeline::{self, Gate, Seed};
use crate::screen::Screen;
use crate::units::counted;

/// Builds a filter of another system.
pub(super) fn build(mut args: BuildArgs, named: Named, start: Instant) -> Result<(), Error> {
    // Check the options, the inputs and the output before anything is read.
    let records = args.records.records_with("build", false)?.foreign()?;
    let filter = args.empty(named)?;
    filter.require_keys(args.keys, &args.output)?;
    // The system provides its pages only as they are written.
    memory::check(filter.filter.encoded_len() + filter.growth())?;
    let files = core::mem::take(&mut args.files);
    Roles::of(&files).save_to(&args.output, "filter")?;
    let inputs = input::inputs(files, args.records.no_decompress)?;
    output::check(&args.output)?;
    let lock = Lock::take(&args.output, args.records.quiet)?;

    let mut screen = Screen::of_silent(args.records.quiet, args.records.progress, inputs.bytes);
    let filter = Mutex::new(filter);
    let (none, gate) = (&mut std::io::sink(), Gate::default());
    let done = {
        let decider = change(&filter, args.keys.key_type(), How::Insert);
        pipeline::run(inputs.list, none, &records, &decider, &gate, &mut screen)?
    };
    screen.finish();
    let filter = filter.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (filter, new, first) = match args.capacity {
        Some(capacity) => {
            args.require_capacity(&filter, done.tally.items(), capacity)?;
            (filter, done.tally.items(), None)
        }
        None => args.sized(named, filter)?,
    };
    filter.prepare(&args.output)?.commit()?;
    drop((screen, lock));

    let mut report = Report::of_inserts(&done, start, new);
    report.describe_foreign(&filter, &args.output);
    report.warn_of_rate(&filter, &args.output);
    if let Some(first) = first {
        report.describe_fold(first);
    }
    report.show(&args.records);
    Ok(())
}

impl BuildArgs {
    /// Builds the empty filter, as the system does with these options; without a capacity, one
    /// that is sized at the end of the input.
    fn empty(&self, named: Named) -> Result<Foreign, Error> {
        let format = named.built();
        let unneeded = |option| {
            let name = format.system();
            Err(Error::Usage(format!("{option} has no meaning for filters of {name}: omit it")))
        };
        if self.rate.is_some() && !format.takes_rate() {
            return unneeded("--rate");
        }
        let seed = match self.seed {
            Seed::Fixed(0) if !format.takes_seed() => None,
            _ if !format.takes_seed() => return unneeded("--seed"),
            Seed::Fixed(seed) => Some(seed),
            Seed::Random => None,
        };
        let Some(capacity) = self.capacity else {
            let text = || format!("--to {} needs --capacity, the number of records", named.name());
            let counted = Counted::new(format).ok_or_else(|| Error::Usage(text()))?;
            if self.overfull {
                return unneeded("--overfull without --capacity");
            }
            return Ok(Foreign::of(Box::new(counted)));
        };
        let built = format.build(capacity, self.rate, seed);
        built.map(Foreign::of).map_err(|source| self.refused(named, capacity, source))
    }

    /// Returns an error if a filter has more keys than it was built for. The cuckoo filters refuse
    /// a key for which they have no room, others grow, and in counters repeats are keys.
    fn require_capacity(&self, filter: &Foreign, keys: u64, capacity: u64) -> Result<(), Error> {
        use foreign::Format::{GoCuckoo, HadoopCounting, PybloomScalable, RedisBloom, RedisCuckoo};
        let has_limit = !matches!(
            filter.filter.format(),
            GoCuckoo | RedisCuckoo | RedisBloom | PybloomScalable | HadoopCounting
        );
        if self.overfull || !has_limit || keys as f64 <= OVERFILLED * capacity as f64 {
            return Ok(());
        }
        let (filter, rate) = (shown(&self.output), filter.filter.false_positive_rate());
        Err(Error::Crowded { filter, keys, capacity, rate })
    }

    /// Sizes the filter for the number of its keys. Returns it with this number, and with the bytes
    /// that it had before it was folded, if it was.
    fn sized(&self, named: Named, filter: Foreign) -> Result<(Foreign, u64, Option<u64>), Error> {
        let any: Box<dyn Any> = filter.filter;
        let counted = any.downcast::<Counted>().expect("the filter that `empty` made");
        let done = counted.finish(self.rate);
        let done = done.map_err(|(keys, source)| self.refused(named, keys, source))?;
        Ok((Foreign::of(done.filter), done.keys, done.first))
    }

    /// The error for a filter for this number of keys.
    fn refused(&self, named: Named, keys: u64, source: foreign::Error) -> Error {
        match source {
            foreign::Error::Size { .. } => Error::Usage(format!(
                "--to {}: the system makes no filter for {}{}",
                named.name(),
                counted(keys, "key"),
                self.rate.map_or(String::new(), |rate| format!(" at a rate of {rate:e}")),
            )),
            foreign::Error::Alloc { bytes: needed } => {
                Error::Short { name: shown(&self.output), needed, available: memory::available() }
            }
            source => Error::Usage(format!("--to {}: {source}", named.name())),
        }
    }
}
