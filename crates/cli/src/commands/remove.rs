//! `tamis remove`: takes records out of a filter.

use std::sync::Arc;
use std::time::Instant;

use super::report::Report;
use crate::args::RemoveArgs;
use crate::filters::{AnyFilter, Header, Lock, Remove};
use crate::pipeline::{self, Gate};
use crate::screen::{self, Screen};
use crate::units::grouped;
use crate::{Error, input, output};

/// Runs `tamis remove`.
pub(crate) fn remove(args: RemoveArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is read.
    let records = args.records.records("remove")?;
    let policy = records.key.policy;
    check(&Header::open(&args.filter)?, policy)?;
    let inputs = input::inputs(args.files, args.records.no_decompress, None)?;
    output::check(&args.filter)?;
    let lock =
        Arc::new(Lock::take(&args.filter, || screen::wait_for(&args.filter, args.records.quiet))?);
    // The filter may be another one now.
    let header = Header::open(&args.filter)?;
    check(&header, policy)?;
    let filter = AnyFilter::load(&header)?;
    let Some(decider) = Remove::new(&filter) else { return Err(header.unremovable()) };

    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, None);
    screen.guard(&lock);
    let (none, gate) = (std::io::sink(), Gate::default());
    let done = pipeline::run(inputs.list, none, &records, &decider, &gate, &mut screen)?;
    screen.finish();
    filter.save(&args.filter, policy.saved())?;
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
    report.describe(filter.figures(), &args.filter);
    report.show(&args.records);
    Ok(())
}

fn check(header: &Header<'_>, policy: crate::policy::Policy) -> Result<(), Error> {
    if !header.can_remove() {
        return Err(header.unremovable());
    }
    header.require_policy(policy)?;
    header.require_saved()
}
