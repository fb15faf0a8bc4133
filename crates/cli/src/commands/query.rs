//! `tamis query`: the records that may be in a filter, or those that surely are not.

use std::time::Instant;

use super::remote;
use super::report::Report;
use crate::args::{QueryArgs, RecordArgs};
use crate::error::Error;
use crate::filters::{self, Reader};
use crate::foreign::{self, Opened};
use crate::input::{self, Inputs};
use crate::output::{self, Roles};
use crate::pipeline::{self, Decider, Gate, Records};
use crate::remote::Address;
use crate::screen::Screen;
use crate::units::grouped;

/// Runs `tamis query`. Returns whether a record was printed.
pub(crate) fn query(mut args: QueryArgs) -> Result<bool, Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is written.
    let records =
        args.records.records_with("query", args.from.takes_all(args.keys, &args.filter))?;
    if let Some(address) = Address::of(&args.filter)? {
        return remote::query(args, &address, &records, start);
    }
    args.server.require_none()?;
    Roles::of(&args.files).and_filter(&args.filter).print_to(args.output.as_deref())?;
    let opened = Opened::open_for(&args.filter, &args.from, args.keys)?;
    let records = match &opened {
        Opened::Ours(header) => {
            header.require_form(records.key.form)?;
            header.require_saved()?;
            records
        }
        Opened::Theirs(_) => records.foreign()?,
    };
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress)?;

    let (report, found) = match &opened {
        Opened::Ours(header) => {
            let filter = Reader::load(header)?;
            let decider = filters::lookup(&filter, args.invert);
            let (mut report, found) = args.run(inputs, &records, &decider, start)?;
            report.describe(&filter.described(), &args.filter);
            (report, found)
        }
        Opened::Theirs(filter) => {
            filter.warn_of_hash(&args.filter);
            let decider = foreign::lookup(&*filter.filter, args.keys.key_type(), args.invert);
            let (mut report, found) = args.run(inputs, &records, &decider, start)?;
            report.describe_foreign(filter, &args.filter);
            (report, found)
        }
    };
    report.show(&args.records);
    Ok(found)
}

impl QueryArgs {
    /// Prints the records that a decider selects. Returns also whether there was one.
    pub(super) fn run(
        &self,
        inputs: Inputs,
        records: &Records,
        decider: &Decider<'_>,
        start: Instant,
    ) -> Result<(Report, bool), Error> {
        let (output, pending) = output::open_packed(self.output.as_deref())?;
        let RecordArgs { quiet, progress, .. } = self.records;
        let mut screen = Screen::new(quiet, progress, inputs.bytes, pending);
        screen.exit_as(self.exits());
        let gate = Gate::default();
        let done = pipeline::run(inputs.list, &mut &output, records, decider, &gate, &mut screen)?;
        if let Some(pending) = screen.finish() {
            pending.commit()?;
        }
        let mut report =
            Report::of_records(&done, start, if self.invert { "printed" } else { "left out" });
        report.text.push_str(&format!(", {} printed", grouped(done.tally.printed)));
        report.put("invert", self.invert);
        Ok((report, done.tally.printed > 0))
    }
}
