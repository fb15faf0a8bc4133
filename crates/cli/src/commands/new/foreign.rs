//! `tamis new` on a filter of another system: the records that it does not contain, in input order.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use super::keeper::Keeper;
use super::prepared::{Prepared, prepare};
use crate::args::NewArgs;
use crate::commands::report::Report;
use crate::error::Error;
use crate::foreign::{How, Opened, change, held};
use crate::input::shown;
use crate::outlet::Outlet;
use crate::output;
use crate::pipeline::Records;

/// Runs `tamis new` on a filter that exists.
pub(super) fn new(mut args: NewArgs, records: &Records, start: Instant) -> Result<(), Error> {
    args.require_none()?;
    let records = &records.foreign()?;
    let files = core::mem::take(&mut args.files);
    let read = || match Opened::open_for(&args.filter, &args.from, args.keys)? {
        Opened::Theirs(filter) => filter.check_growth(&args.filter).map(|()| filter),
        Opened::Ours(_) => Err(replaced(&args.filter)),
    };
    let Prepared { lock, filter, inputs, file, mut screen } = prepare(&args, files, read)?;

    filter.warn_of_hash(&args.filter);
    let filter = Mutex::new(filter);
    let output = output::packed(Outlet::new(&file), args.output.as_deref());
    let save = || {
        output.get().flushed()?;
        held(&filter).prepare(&args.filter).map(Some)
    };
    let keeper = Keeper::new(&output, &save, Some(&args.filter), !args.no_wait);
    let decider = change(&filter, args.keys.key_type(), How::InsertNew);
    let done = keeper.run(inputs, records, &decider, &mut screen, args.save_every)?;
    drop((screen, lock));

    let mut report = Report::of_news(&done, start);
    report.describe_foreign(&held(&filter), &args.filter);
    report.warn_of_rate(&held(&filter), &args.filter);
    report.show(&args.records);
    Ok(())
}

/// The error for a file that another run has replaced by a filter of another kind.
pub(super) fn replaced(path: &Path) -> Error {
    let found = "another run has replaced it by a filter of another kind; run the command again";
    Error::Input { name: shown(path), found: found.into() }
}

impl NewArgs {
    /// Returns an error if an option asks for a created filter: this command creates none of
    /// another system.
    fn require_none(&self) -> Result<(), Error> {
        let given = [
            ("--kind", self.kind.is_some()),
            ("--capacity", self.capacity.is_some()),
            ("--window", self.window.is_some()),
            ("--rate", self.rate.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        if self.overfull {
            let only = "--overfull is for filters of tamis: omit it";
            return Err(Error::Usage(only.into()));
        }
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Error::Usage(format!(
                "{option} is for filters of tamis that this command creates; a filter of another system is created by \
                 'tamis build --to FORMAT'"
            ))),
        }
    }
}
