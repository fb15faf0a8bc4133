//! `tamis query`: the records that may be in a filter, or those that surely are not.

use std::time::Instant;

use super::report::Report;
use crate::args::{QueryArgs, RecordArgs};
use crate::filters::{Lookup, Reader};
use crate::foreign::{ForeignLookup, Opened};
use crate::input::Inputs;
use crate::pipeline::{self, Decider, Gate, Records};
use crate::remote::{Address, RemoteLookup};
use crate::screen::Screen;
use crate::units::grouped;
use crate::{Error, input, output};

/// Runs `tamis query`.
pub(crate) fn query(mut args: QueryArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the header, the inputs and the body before anything is written.
    let records = args.records.records_with("query", args.keys.takes_all())?;
    if let Some(address) = Address::of(&args.filter)? {
        return query_remote(args, &address, &records, start);
    }
    let opened = Opened::open_for(&args.filter, &args.from, args.keys)?;
    if let Opened::Ours(header) = &opened {
        header.require_form(records.key.form)?;
        header.require_saved()?;
    }
    let onto = if output::is_file(args.output.as_deref()) { None } else { input::output_file() };
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress, onto.as_ref())?;

    let report = match &opened {
        Opened::Ours(header) => {
            let filter = Reader::load(header)?;
            let mut report =
                args.run(inputs, &records, &Lookup::new(&filter, args.invert), start)?;
            report.describe(filter.figures(), &args.filter);
            report
        }
        Opened::Theirs(filter) => {
            let decider = ForeignLookup::new(&*filter.filter, args.keys.key_type(), args.invert);
            let mut report = args.run(inputs, &records, &decider, start)?;
            report.describe_foreign(filter, &args.filter);
            report
        }
    };
    report.show(&args.records);
    Ok(())
}

/// Queries a filter in Redis.
fn query_remote(
    mut args: QueryArgs,
    address: &Address,
    records: &Records,
    start: Instant,
) -> Result<(), Error> {
    if !args.from.is_default() || args.keys.key_type.is_some() {
        let only = "--from and --key-type are for filters in files: omit them";
        return Err(Error::Usage(only.into()));
    }
    let onto = if output::is_file(args.output.as_deref()) { None } else { input::output_file() };
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress, onto.as_ref())?;
    let asked = address.builder().policy(records.key.form.saved());
    let filter = asked.open().map_err(|source| address.refused(source))?;
    let mut report = args.run(inputs, records, &RemoteLookup::new(&filter, args.invert), start)?;
    report.describe_remote(&filter, address);
    report.show(&args.records);
    Ok(())
}

impl QueryArgs {
    /// Prints the records that a decider selects.
    fn run(
        &self,
        inputs: Inputs,
        records: &Records,
        decider: &impl Decider,
        start: Instant,
    ) -> Result<Report, Error> {
        let (output, pending) = output::open(self.output.as_deref())?;
        let RecordArgs { quiet, progress, .. } = self.records;
        let mut screen = Screen::new(quiet, progress, inputs.bytes, pending);
        let gate = Gate::default();
        let done = pipeline::run(inputs.list, &output, records, decider, &gate, &mut screen)?;
        if let Some(pending) = screen.finish() {
            pending.commit(&output)?;
        }
        let mut report =
            Report::of_records(&done, start, if self.invert { "printed" } else { "left out" });
        report.text.push_str(&format!(", {} printed", grouped(done.tally.printed)));
        report.put("invert", self.invert);
        Ok(report)
    }
}
