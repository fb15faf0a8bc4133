//! `tamis build`: a filter from records.

use std::time::Instant;

use tamis::hash::AnyStable;

use super::report::Report;
use crate::args::BuildArgs;
use crate::filters::{AnyFilter, Collect, Copies, Insert};
use crate::pipeline::{self, Done, Gate, Hasher, Records};
use crate::screen::Screen;
use crate::units::grouped;
use crate::{Error, Kind, input, output};

/// Runs `tamis build`.
pub(crate) fn build(mut args: BuildArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the inputs and the output before anything is read.
    let records = args.records.records("build")?;
    let hasher = AnyStable::from(Hasher::new(args.seed)?);
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress, None)?;
    output::check(&args.output)?;
    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, None);

    let (filter, done, new) = match args.capacity {
        Some(capacity) => {
            let filter = args.filter(capacity, hasher)?;
            let (decider, gate) = (Insert::new(&filter), Gate::default());
            let none = std::io::sink();
            let done = pipeline::run(inputs.list, none, &records, &decider, &gate, &mut screen)?;
            let new = done.tally.items();
            (filter, done, new)
        }
        None => args.counted(inputs.list, &records, hasher, &mut screen)?,
    };
    screen.finish();
    filter.save(&args.output, records.key.policy)?;

    let mut report = Report::of_records(&done, start, "left out");
    let again = done.tally.lines - done.tally.keyless - new;
    report.text.push_str(&format!(", {} inserted, {} repeated", grouped(new), grouped(again)));
    report.put("inserted", new);
    report.put("repeated", again);
    report.describe(&filter, &args.output);
    report.show(&args.records);
    Ok(())
}

impl BuildArgs {
    fn filter(&self, capacity: u64, hasher: AnyStable) -> Result<AnyFilter, Error> {
        AnyFilter::build(self.kind, Copies::Counted, capacity, self.rate, hasher)
    }

    /// Builds a filter whose capacity is the number of records. Returns it with the number of items inserted.
    fn counted(
        &self,
        inputs: Vec<input::Input<input::Lazy>>,
        records: &Records,
        hasher: AnyStable,
        screen: &mut Screen,
    ) -> Result<(AnyFilter, Done, u64), Error> {
        // A filter that counts copies needs room for all of them.
        let collect = Collect::new(hasher.clone(), self.kind == Kind::Cuckoo);
        let none = std::io::sink();
        let done = pipeline::run(inputs, none, records, &collect, &Gate::default(), screen)?;
        let hashes = collect.into_sorted();
        let filter = self.filter((hashes.len() as u64).max(1), hasher)?;
        let new = filter.insert_all(&hashes, records.threads).map_err(|source| Error::Input {
            name: "the input".into(),
            found: format!("{source}; remove repeated records with 'tamis dedup' first, or choose another --kind"),
        })?;
        Ok((filter, done, new))
    }
}
