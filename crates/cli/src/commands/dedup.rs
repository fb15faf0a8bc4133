//! `tamis dedup`, around the run itself.

use crate::args::{DedupArgs, Stats};
use crate::error::Error;
use crate::output::{self, Roles};
use crate::screen::{self, Screen};
use crate::{dedup, input};

/// Runs `tamis dedup`.
pub(crate) fn dedup(args: DedupArgs) -> Result<(), Error> {
    // Check the options, then the inputs, then the output, before anything is read or written.
    let options = args.options()?;
    // With `-o FILE` an input may be the output, since the file is replaced only at the end.
    Roles::of(&args.files).or_replaced().print_to(args.output.as_deref())?;
    let inputs = input::inputs(args.files, args.records.no_decompress)?;
    let (output, pending) = output::open_packed(args.output.as_deref())?;
    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, pending);
    let summary = dedup::run(inputs.list, &mut &output, &options, &mut screen)?;
    // The output file gets its name before the summary is printed, since that step may still fail.
    if let Some(pending) = screen.finish() {
        pending.commit()?;
    }
    // JSON contains the warnings. Otherwise they are printed even with --quiet.
    match args.records.stats {
        Some(Stats::Json) => {
            screen::say(&summary.to_json());
            return Ok(());
        }
        None if args.records.quiet => {}
        None if args.verbose => screen::say(&format!("{summary:#}")),
        None => screen::say(&summary.to_string()),
    }
    summary.warnings().iter().for_each(|warning| screen::warn(warning));
    Ok(())
}
