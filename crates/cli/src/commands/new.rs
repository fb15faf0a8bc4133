//! `tamis new`: the records that a filter does not contain, which are then added to it.

use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use tamis::formats::LoadError;
use tamis::hash::{Algorithm, AnyStable, StableHasher};

mod keeper;
mod shards;

use self::keeper::Keeper;
use super::report::Report;
use crate::args::NewArgs;
use crate::dedup::{Sharded, Tables};
use crate::filters::{AnyFilter, Copies, Header, Lock};
use crate::pipeline::{Gate, Hasher, Plan, Printed, Seed};
use crate::policy::Policy;
use crate::screen::{self, Screen};
use crate::units::grouped;
use crate::{Error, Kind, input, output};

/// The rate of a filter that is created without --rate.
const DEFAULT_RATE: f64 = 1e-6;

/// Runs `tamis new`.
pub(crate) fn new(mut args: NewArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is written.
    let records = args.records.records("new")?;
    let policy = records.key.policy;
    output::check(&args.filter)?;
    if let Some(header) = args.header()? {
        args.check(&header, policy)?;
    }
    let onto = if output::is_file(args.output.as_deref()) { None } else { input::output_file() };
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress, onto.as_ref())?;
    // Another run may have to end first, and the filter is another one then.
    let lock =
        Arc::new(Lock::take(&args.filter, || screen::wait_for(&args.filter, args.records.quiet))?);
    let filter = args.open(policy)?;
    let (output, pending) = output::open(args.output.as_deref())?;

    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, pending);
    screen.guard(&lock);
    let plan = Plan { printed: Printed::Fresh, keyless: true, sharded: true, limit: None };
    let hasher = Hasher::Any(filter.hasher().clone());
    let decider = Sharded::new(shards::of(&filter), hasher, plan);
    let gate = Gate::default();
    let save = || {
        flushed(&output)?;
        filter.save(&args.filter, policy)
    };
    // With `-o FILE`, what is printed counts only at the end.
    let keeper = Keeper::new(&gate, &save, &lock, screen.is_pending());
    let done =
        keeper.run(inputs.list, &output, &records, &decider, &mut screen, args.save_every)?;
    if let Some(pending) = screen.finish() {
        pending.commit(&output)?;
    }
    // A filter that did not exist is created even if the input is empty.
    if done.tally.items() > 0 || !args.filter.exists() {
        save()?;
    }
    drop((screen, lock));

    let mut report = Report::of_records(&done, start, "printed");
    let (new, seen) = (done.tally.items(), done.tally.duplicates);
    report.text.push_str(&format!(", {} new, {} seen before", grouped(new), grouped(seen)));
    report.put("new", new);
    report.put("seen", seen);
    report.describe(&filter, &args.filter);
    report.show(&args.records);
    Ok(())
}

/// Brings what was printed to the disk, if it goes to a file: the filter must not say that more was printed than is there.
fn flushed(output: &File) -> Result<(), Error> {
    let is_file = output.metadata().is_ok_and(|found| found.is_file());
    if is_file { output.sync_all().map_err(Error::Write) } else { Ok(()) }
}

impl NewArgs {
    /// Opens the header of the filter, if it exists.
    fn header(&self) -> Result<Option<Header<'_>>, Error> {
        match Header::open(&self.filter) {
            Ok(header) => Ok(Some(header)),
            Err(Error::Load { source: LoadError::Io(error), .. })
                if error.kind() == ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns an error if the options ask for another filter than the one that exists.
    fn check(&self, header: &Header<'_>, policy: Policy) -> Result<(), Error> {
        header.require_policy(policy)?;
        header.require_saved()?;
        let algorithm = header.info.algorithm();
        let expected = match self.seed {
            None => algorithm,
            Some(Seed::Fixed(_)) => Algorithm::Rapid,
            Some(Seed::Random) => Algorithm::SipHash13,
        };
        if algorithm != expected { Err(other_seed(header)) } else { Ok(()) }
    }

    /// Loads the filter, or creates it in memory.
    fn open(&self, policy: Policy) -> Result<AnyFilter, Error> {
        let Some(header) = self.header()? else {
            let seed = self.seed.unwrap_or(Seed::Fixed(0));
            let hasher = AnyStable::from(Hasher::new(seed)?);
            let sized = self.kind.is_some() || self.rate.is_some();
            let Some(capacity) = self.capacity.filter(|_| sized) else {
                return Tables::new(self.capacity, hasher).map(AnyFilter::Table);
            };
            let kind = self.kind.unwrap_or(Kind::Blocked);
            let rate = self.rate.unwrap_or(DEFAULT_RATE);
            return AnyFilter::build(kind, Copies::Once, capacity, rate, hasher);
        };
        self.check(&header, policy)?;
        let filter = AnyFilter::load(&header)?;
        // The seed is secret: it is compared, but never printed.
        if let Some(Seed::Fixed(seed)) = self.seed
            && !filter.hasher().key().starts_with(&seed.to_le_bytes())
        {
            return Err(other_seed(&header));
        }
        if let Some(kind) = self.kind
            && !filter.is(kind)
        {
            return Err(header.refused(format!(
                "is a {} filter, but --kind is {kind}; omit --kind, which is for a new filter",
                filter.name()
            )));
        }
        Ok(filter)
    }
}

fn other_seed(header: &Header<'_>) -> Error {
    header.refused("has another seed than --seed; omit --seed: the filter's own is used")
}
