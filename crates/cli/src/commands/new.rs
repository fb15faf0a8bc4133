//! `tamis new`: the records that a filter does not contain, which are then added to it.

use std::io::ErrorKind;
use std::time::Instant;

use tamis::formats::LoadError;
use tamis::hash::{Algorithm, AnyStable, StableHasher};

mod foreign;
mod keeper;
mod prepared;

pub(super) use self::keeper::Keeper;
use self::prepared::{Prepared, prepare};
use super::remote;
use super::report::Report;
use crate::args::{Choice, NewArgs};
use crate::dedup::{Sharded, Tables};
use crate::error::Error;
use crate::file_kind::{CREATED_RATE, FileKind, WINDOW_RATE};
use crate::filters::{self, AnyFilter, Copies, Header, command_without};
use crate::foreign::Opened;
use crate::geometry::design_rate;
use crate::input::shown;
use crate::outlet::Outlet;
use crate::output::{self, Roles};
use crate::pipeline::{Decider, Hasher, Plan, Printed, Seed};
use crate::policy::Form;
use crate::remote::Address;
use crate::units::grouped;

/// Runs `tamis new`.
pub(crate) fn new(mut args: NewArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is written.
    let records = args.records.records_with("new", args.from.takes_all(args.keys, &args.filter))?;
    let form = records.key.form;
    if let Some(address) = Address::of(&args.filter)? {
        return remote::new(args, &address, records, start);
    }
    args.require_of_file()?;
    let choice = args.choice()?;
    let roles = Roles::of(&args.files).and_filter(&args.filter);
    roles.save_to(&args.filter, "filter")?;
    roles.print_to(args.output.as_deref())?;
    let is_foreign = match args.opened()? {
        // It is read again under the lock.
        Some(Opened::Theirs(_)) => true,
        Some(Opened::Ours(header)) => {
            args.check(&header, choice, form)?;
            false
        }
        None => false,
    };
    output::check(&args.filter)?;
    if is_foreign {
        return foreign::new(args, &records, start);
    }
    let files = core::mem::take(&mut args.files);
    let Prepared { lock, filter, inputs, file, mut screen } =
        prepare(&args, files, || args.open(choice, form))?;

    let hasher = Hasher::Any(filter.hasher().clone());
    let output = output::packed(Outlet::new(&file), args.output.as_deref());
    let save = || {
        output.get().flushed()?;
        filter.prepare(&args.filter, form.saved()).map(Some)
    };
    let keeper = Keeper::new(&output, &save, Some(&args.filter), !args.no_wait);
    let decider = if let AnyFilter::Table(tables) = &filter {
        let sharded = Sharded::new(tables.filters());
        let plan = Plan { sharded: true, ..Plan::of(Printed::Fresh) };
        Decider::new(hasher, plan, move |chunk, failed| sharded.decide(chunk, failed))
    } else {
        let room = filter.room(args.rate_of(choice, &filter)).filter(|_| !args.overfull);
        let room = room.map(|room| (room, shown(&args.filter)));
        filters::discovery(&filter, hasher, Printed::Fresh, room)
    };
    let done = keeper.run(inputs, &records, &decider, &mut screen, args.save_every)?;
    drop((screen, lock));

    let mut report = Report::of_news(&done, start);
    report.describe(&filter.described(), &args.filter);
    report.show(&args.records);
    Ok(())
}

impl NewArgs {
    /// Opens the filter, if it exists. Only one of tamis is created.
    fn opened(&self) -> Result<Option<Opened<'_>>, Error> {
        match Opened::open_for(&self.filter, &self.from, self.keys) {
            Ok(opened) => Ok(Some(opened)),
            Err(Error::Load { source: LoadError::Io(error), .. })
                if error.kind() == ErrorKind::NotFound =>
            {
                let Self { filter, from, keys, .. } = self;
                match (from.is_foreign() || keys.key_type.is_some()).then(|| shown(filter)) {
                    None => Ok(None),
                    Some(name) => Err(Error::Usage(format!(
                        "{name}: there is no such file; --from, --column and --key-type are for a filter of another \
                         system, which 'tamis build --to FORMAT' makes"
                    ))),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Returns an error if the options ask for another filter than the one that exists.
    fn check(&self, header: &Header<'_>, choice: Choice, form: Form) -> Result<(), Error> {
        header.require_form(form)?;
        header.require_saved()?;
        let (found, expected) = (header.info.algorithm(), self.algorithm());
        if let Some(expected) = expected
            && found != expected
        {
            let (found, expected) = (found.name(), expected.name());
            let difference = format!("has the hash {found}, but --seed stands for {expected}");
            return Err(unlike(header, &difference, &["--seed"]));
        }
        self.check_sizes(header, choice)
    }

    /// Returns an error if an option has a meaning for a filter in Redis only.
    fn require_of_file(&self) -> Result<(), Error> {
        self.server.require_none()?;
        let wrong = match &self.window {
            _ if self.chunk.is_some() => "--chunk is for a filter in Redis: omit it",
            Some(window) if window.records.is_none() => {
                "--window of a file is a number of records, such as 10M; a filter in Redis can forget by time"
            }
            Some(_) if self.capacity.is_some() => {
                "--window and --capacity exclude each other: a window holds as many records as it says"
            }
            _ => return Ok(()),
        };
        Err(Error::Usage(wrong.into()))
    }

    /// The records that the window of a file keeps.
    fn window(&self) -> Option<u64> {
        self.window.as_ref().and_then(|window| window.records)
    }

    /// The hash algorithm that --seed stands for.
    fn algorithm(&self) -> Option<Algorithm> {
        self.seed.map(|seed| match seed {
            Seed::Fixed(_) => Algorithm::Rapid,
            Seed::Random => Algorithm::SipHash13,
        })
    }

    /// What the options select, if a filter can be created with them.
    fn choice(&self) -> Result<Choice, Error> {
        Choice::new(self.kind, self.capacity, self.window())?.require_size(self.rate)
    }

    /// The rate that the options ask for. With --kind or --window alone, a filter is created with a
    /// default rate.
    fn rate(&self) -> Option<f64> {
        let default = match (self.kind, self.window()) {
            (_, Some(_)) => Some(WINDOW_RATE),
            (Some(_), None) => Some(CREATED_RATE),
            (None, None) => None,
        };
        self.rate.or(default)
    }

    /// The rate that the options ask for, if the filter was built for them.
    fn rate_of(&self, choice: Choice, filter: &AnyFilter) -> Option<f64> {
        let (size, rate) = (choice.size?, self.rate()?);
        let asked = choice.kind().geometry(size, rate).ok()??;
        let of_filter = filter.room(None)?.rate;
        (of_filter == asked.false_positive_rate_at(size)).then_some(rate)
    }

    /// Returns an error if the options ask for other sizes than those of the filter that exists.
    fn check_sizes(&self, header: &Header<'_>, choice: Choice) -> Result<(), Error> {
        let sizes = ["--kind", "--capacity", "--rate", "--window"];
        let refused = |difference: String| Err(unlike(header, &difference, &sizes));
        let info = &header.info;
        let found_rate = design_rate(info).unwrap_or_default();
        let kind = match (FileKind::of_saved(info), choice.kind) {
            (found, Some(asked)) if found != Some(asked) => {
                return refused(format!("is a {}, but --kind is {asked}", info.kind()));
            }
            (Some(FileKind::Scalable), _) if self.rate.is_some_and(|rate| rate != found_rate) => {
                let asked = self.rate.unwrap_or_default();
                return refused(format!(
                    "has a rate of {found_rate:.1e}, but --rate is {asked:.1e}"
                ));
            }
            // A low rate is no difference: small fingerprints have more bits than they need.
            (Some(FileKind::GrowingCuckoo), _)
                if self.rate.is_some_and(|rate| rate < found_rate) =>
            {
                let asked = self.rate.unwrap_or_default();
                return refused(format!(
                    "has a rate of {found_rate:.1e} at its last size, but --rate is {asked:.1e}"
                ));
            }
            // What grows goes beyond any capacity. A table loses less than a filter of any rate.
            (None | Some(FileKind::Scalable | FileKind::GrowingCuckoo), _) => return Ok(()),
            (Some(found), _) => found,
        };
        let Some(size) = choice.size else { return Ok(()) };
        if size != info.capacity() {
            let (found, asked) = (grouped(info.capacity()), grouped(size));
            return refused(match kind {
                FileKind::Rotating => {
                    format!("has a window of {found} records, but --window is {asked}")
                }
                _ => format!("has a capacity of {found}, but --capacity is {asked}"),
            });
        }
        let Some(rate) = self.rate else { return Ok(()) };
        match kind.geometry(size, rate) {
            Ok(Some(asked)) if asked == info.geometry() => Ok(()),
            _ => {
                let found = match design_rate(info) {
                    Some(rate) => format!("a rate of {rate:.1e} at its capacity"),
                    None => "another rate".into(),
                };
                refused(format!("has {found}, but --rate is {rate:.1e}"))
            }
        }
    }

    /// Loads the filter, or creates it in memory.
    fn open(&self, choice: Choice, form: Form) -> Result<AnyFilter, Error> {
        let Some(opened) = self.opened()? else {
            let seed = self.seed.unwrap_or(Seed::Fixed(0));
            let hasher = AnyStable::from(Hasher::new(seed)?);
            return match (choice.size, self.rate()) {
                (Some(size), Some(rate)) => {
                    AnyFilter::build(choice.kind(), Copies::Once, size, rate, hasher)
                }
                _ => Tables::new(self.capacity, hasher).map(AnyFilter::Table),
            };
        };
        let Opened::Ours(header) = opened else { return Err(foreign::replaced(&self.filter)) };
        self.check(&header, choice, form)?;
        let filter = AnyFilter::load(&header)?;
        // The seed is secret: it is compared, but never printed.
        if let Some(Seed::Fixed(seed)) = self.seed
            && !filter.hasher().key().starts_with(&seed.to_le_bytes())
        {
            return Err(unlike(&header, "has another seed than --seed", &["--seed"]));
        }
        Ok(filter)
    }
}

/// The error for a filter that these options do not fit.
fn unlike(header: &Header<'_>, difference: &str, options: &[&str]) -> Error {
    header.refused(format!("{difference}; run: {}", command_without(options)))
}
