//! `tamis remove`: takes records out of a filter.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::report::Report;
use crate::args::{RecordArgs, RemoveArgs};
use crate::error::Error;
use crate::filters::{AnyFilter, Header, Lock, removal};
use crate::foreign::{How, Opened, change, held};
use crate::input::{self, Inputs};
use crate::output::{self, Roles};
use crate::pipeline::{self, Decider, Gate, Records};
use crate::screen::Screen;
use crate::units::grouped;

/// Runs `tamis remove`.
pub(crate) fn remove(args: RemoveArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is read.
    let records =
        args.records.records_with("remove", args.from.takes_all(args.keys, &args.filter))?;
    let form = records.key.form;
    let open = || -> Result<Opened<'_>, Error> {
        let opened = Opened::open_for(&args.filter, &args.from, args.keys)?;
        match &opened {
            Opened::Ours(header) => check(header, form)?,
            Opened::Theirs(filter) => {
                records.foreign()?;
                filter.require_removal(&args.filter)?;
            }
        }
        Ok(opened)
    };
    Roles::of(&args.files).save_to(&args.filter, "filter")?;
    open()?;
    let inputs = input::inputs(args.files, args.records.no_decompress)?;
    output::check(&args.filter)?;
    let lock = Lock::take(&args.filter, args.records.quiet)?;
    // The filter may be another one now.
    let report = match open()? {
        Opened::Ours(header) => {
            let filter = AnyFilter::load(&header)?;
            let staying = Mutex::new(0);
            let Some(decider) = removal(&filter, &staying) else {
                return Err(header.unremovable());
            };
            let save = || filter.prepare(&args.filter, form.saved())?.commit();
            let mut report = run(&args.records, inputs, &records, &decider, lock, start, save)?;
            let staying = *staying.lock().unwrap_or_else(PoisonError::into_inner);
            if staying > 0 {
                report.put("staying", staying);
                report.warnings.push(format!(
                    "{} of the removals had no effect: an item with 15 or more copies cannot be removed",
                    grouped(staying)
                ));
            }
            report.describe(&filter.described(), &args.filter);
            report
        }
        Opened::Theirs(filter) => {
            let (records, filter) = (records.foreign()?, Mutex::new(filter));
            let decider = change(&filter, args.keys.key_type(), How::Remove);
            let save = || held(&filter).prepare(&args.filter)?.commit();
            let mut report = run(&args.records, inputs, &records, &decider, lock, start, save)?;
            report.describe_foreign(&held(&filter), &args.filter);
            report
        }
    };
    report.show(&args.records);
    Ok(())
}

/// Removes the records, and saves the filter.
fn run(
    args: &RecordArgs,
    inputs: Inputs,
    records: &Records,
    decider: &Decider<'_>,
    lock: Lock,
    start: Instant,
    save: impl FnOnce() -> Result<(), Error>,
) -> Result<Report, Error> {
    let mut screen = Screen::of_silent(args.quiet, args.progress, inputs.bytes);
    let (none, gate) = (&mut std::io::sink(), Gate::default());
    let done = pipeline::run(inputs.list, none, records, decider, &gate, &mut screen)?;
    screen.finish();
    save()?;
    drop((screen, lock));

    let (removed, missing) = (done.tally.items(), done.tally.duplicates);
    let mut report = Report::of_records(&done, start, "left out");
    report.text.push_str(&format!(", {} removed", grouped(removed)));
    report.put("removed", removed);
    report.put("missing", missing);
    if missing > 0 {
        let were = if missing == 1 { "record was" } else { "records were" };
        report.warnings.push(format!("{} {were} not in the filter", grouped(missing)));
    }
    Ok(report)
}

fn check(header: &Header<'_>, form: crate::policy::Form) -> Result<(), Error> {
    if !header.can_remove() {
        return Err(header.unremovable());
    }
    header.require_form(form)?;
    header.require_saved()
}
