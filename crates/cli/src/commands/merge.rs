//! `tamis merge`: the union of filters.

use std::path::PathBuf;

use super::remote;
use super::report::Report;
use crate::args::MergeArgs;
use crate::error::Error;
use crate::filters::{AnyFilter, Header, Lock, Reader, Union};
use crate::foreign::{Foreign, Opened};
use crate::geometry::design_rate;
use crate::output::{self, Roles};
use crate::remote::Address;
use crate::units::counted;

/// Runs `tamis merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let files = args.filters.iter().filter(|path| !Address::is_one(path));
    let roles = files.fold(Roles::default(), |roles, file| roles.and_filter(file));
    roles.save_to(&args.output, "filter")?;
    output::check(&args.output)?;
    // The output may be one of the filters: no other run changes it until it is replaced.
    let _lock = Lock::take(&args.output, args.quiet)?;
    if args.filters.iter().any(|path| Address::is_one(path)) {
        return remote::merge(args);
    }
    args.server.require_none()?;
    merge_files(args, &args.filters)
}

/// Merges filters in files.
pub(super) fn merge_files(args: &MergeArgs, filters: &[PathBuf]) -> Result<(), Error> {
    let paths = filters.split_first().ok_or_else(|| Error::Usage("no filter".into()))?;
    if let Opened::Theirs(first) = Opened::open(paths.0, &args.from)? {
        return merge_foreign(args, first, paths.1);
    }
    // Check all headers before any body is read.
    let headers = filters.iter().map(|path| Header::open(path)).collect::<Result<Vec<_>, _>>()?;
    let (first, others) = headers.split_first().ok_or_else(|| Error::Usage("no filter".into()))?;
    // A single filter is saved as it is, whatever its kind.
    if !others.is_empty() {
        headers.iter().try_for_each(Header::require_mergeable)?;
    }
    others.iter().try_for_each(|other| other.require_like(first, || union_of(&headers)))?;

    let mut filter = AnyFilter::load(first)?;
    others.iter().try_for_each(|other| filter.merge(other))?;
    filter.prepare(&args.output, first.info.normalization())?.commit()?;

    let mut report = report(args);
    report.describe(&filter.described(), &args.output);
    report.show_text(args.quiet);
    Ok(())
}

/// What the union of filters that cannot be merged needs. A Bloom filter may hold more items than
/// it was built for; then it was read in vain, but the advice is right.
fn union_of(headers: &[Header<'_>]) -> Union {
    let records = headers.iter().map(|header| {
        let items = Reader::load(header).map_or(0.0, |filter| filter.described().items());
        header.info.capacity().max(items.ceil() as u64)
    });
    let rates = headers.iter().filter_map(|header| design_rate(&header.info));
    Union { records: records.fold(0, u64::saturating_add), rate: rates.reduce(f64::min) }
}

/// Merges filters of another system.
fn merge_foreign(args: &MergeArgs, first: Foreign, others: &[PathBuf]) -> Result<(), Error> {
    let mut merged = first;
    for path in others {
        match Opened::open(path, &args.from)? {
            Opened::Theirs(other) => merged.merge(&other, path)?,
            Opened::Ours(header) => {
                let format = merged.filter.format();
                return Err(header.refused(format!(
                    "is a {}, and the filters before it are of {format}",
                    header.info.kind()
                )));
            }
        }
    }
    merged.prepare(&args.output)?.commit()?;

    let mut report = report(args);
    report.describe_foreign(&merged, &args.output);
    report.warn_of_rate(&merged, &args.output);
    report.show_text(args.quiet);
    Ok(())
}

/// Begins the report.
pub(super) fn report(args: &MergeArgs) -> Report {
    let mut report = Report::new();
    report.text = format!("{} merged", counted(args.filters.len() as u64, "filter"));
    report
}
