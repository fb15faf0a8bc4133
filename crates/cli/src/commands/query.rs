//! `tamis query`: the records that may be in a filter, or those that surely are not.

use std::time::Instant;

use super::report::Report;
use crate::args::QueryArgs;
use crate::filters::{Header, Lookup, Reader};
use crate::pipeline::{self, Gate};
use crate::screen::Screen;
use crate::units::grouped;
use crate::{Error, input, output};

/// Runs `tamis query`.
pub(crate) fn query(args: QueryArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is written.
    let records = args.records.records("query")?;
    let header = Header::open(&args.filter)?;
    header.require_policy(records.key.policy)?;
    header.require_saved()?;
    let onto = if output::is_file(args.output.as_deref()) { None } else { input::output_file() };
    let inputs = input::inputs(args.files, args.records.no_decompress, onto.as_ref())?;
    let filter = Reader::load(&header)?;
    let (output, pending) = output::open(args.output.as_deref())?;

    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, pending);
    let decider = Lookup::new(&filter, args.invert);
    let gate = Gate::default();
    let done = pipeline::run(inputs.list, &output, &records, &decider, &gate, &mut screen)?;
    if let Some(pending) = screen.finish() {
        pending.commit(&output)?;
    }

    let mut report =
        Report::of_records(&done, start, if args.invert { "printed" } else { "left out" });
    report.text.push_str(&format!(", {} printed", grouped(done.tally.printed)));
    report.put("invert", args.invert);
    report.describe(filter.figures(), &args.filter);
    report.show(&args.records);
    Ok(())
}
