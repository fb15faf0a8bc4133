//! `tamis merge`: the union of filters.

use super::report::Report;
use crate::args::MergeArgs;
use crate::filters::{AnyFilter, Header};
use crate::units::counted;
use crate::{Error, output};

/// Runs `tamis merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Error> {
    // Check all headers before any body is read.
    let headers =
        args.filters.iter().map(|path| Header::open(path)).collect::<Result<Vec<_>, _>>()?;
    headers.iter().try_for_each(Header::require_mergeable)?;
    let (first, others) = headers.split_first().ok_or_else(|| Error::Usage("no filter".into()))?;
    others.iter().try_for_each(|other| other.require_like(first))?;
    headers.iter().try_for_each(|header| header.require_other(&args.output))?;
    output::check(&args.output)?;

    let mut filter = AnyFilter::load(first)?;
    others.iter().try_for_each(|other| filter.merge(other))?;
    filter.save(&args.output, first.info.policy())?;

    let mut report = Report::new();
    report.text = format!("{} merged", counted(headers.len() as u64, "filter"));
    report.describe(filter.figures(), &args.output);
    report.show_text(args.quiet);
    Ok(())
}
