//! `tamis merge`: the union of filters.

use std::path::PathBuf;

use super::report::Report;
use crate::args::MergeArgs;
use crate::filters::{AnyFilter, Header, Lock, Reader};
use crate::foreign::{Foreign, Opened};
use crate::input::shown;
use crate::output::Roles;
use crate::remote::Address;
use crate::temp_folder::TempFolder;
use crate::units::counted;
use crate::{Error, memory, output, screen};

/// Runs `tamis merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let files = args.filters.iter().filter(|path| !Address::is_one(path));
    let roles = files.fold(Roles::default(), |roles, file| roles.and_filter(file));
    roles.save_to(&args.output, "filter")?;
    output::check(&args.output)?;
    // The output may be one of the filters: no other run changes it until it is replaced.
    let _lock = Lock::take(&args.output, || screen::wait_for(&args.output, args.quiet))?;
    if args.filters.iter().any(|path| Address::is_one(path)) {
        return merge_remote(args);
    }
    merge_files(args, &args.filters)
}

/// Merges filters in files and in Redis. Those in Redis are pulled into files first.
fn merge_remote(args: &MergeArgs) -> Result<(), Error> {
    let folder = TempFolder::new().map_err(Error::Write)?;
    let mut files = Vec::new();
    for (number, path) in args.filters.iter().enumerate() {
        let Some(address) = Address::of(path)? else {
            files.push(path.clone());
            continue;
        };
        let filter = address.open()?;
        if filter.grows() && args.filters.len() > 1 {
            let found =
                "grows, and filters that grow cannot be merged: build one from all records".into();
            return Err(Error::Input { name: address.to_string(), found });
        }
        let refused = |source| address.refused(source);
        memory::check(filter.figures().map_err(refused)?.size_in_bytes)?;
        let copy = filter.pull().map_err(refused)?;
        // A single filter is the result itself.
        let file = match args.filters.len() {
            1 => args.output.clone(),
            _ => folder.file(format!("{number} {}", address.name().replace('/', "_"))),
        };
        let unsaved = |source| Error::Save { name: shown(&file), source };
        copy.save(&file).map_err(unsaved)?;
        files.push(file);
    }
    if let [file] = &files[..] {
        let filter = Reader::load(&Header::open(file)?)?;
        let mut report = report(args);
        report.describe(filter.figures(), &args.output);
        report.show_text(args.quiet);
        return Ok(());
    }
    merge_files(args, &files)
}

/// Merges filters in files.
fn merge_files(args: &MergeArgs, filters: &[PathBuf]) -> Result<(), Error> {
    let paths = filters.split_first().ok_or_else(|| Error::Usage("no filter".into()))?;
    if let Opened::Theirs(first) = Opened::open(paths.0, &args.from)? {
        return merge_foreign(args, first, paths.1);
    }
    // Check all headers before any body is read.
    let headers = filters.iter().map(|path| Header::open(path)).collect::<Result<Vec<_>, _>>()?;
    headers.iter().try_for_each(Header::require_mergeable)?;
    let (first, others) = headers.split_first().ok_or_else(|| Error::Usage("no filter".into()))?;
    others.iter().try_for_each(|other| other.require_like(first))?;
    headers.iter().try_for_each(|header| header.require_other(&args.output))?;

    let mut filter = AnyFilter::load(first)?;
    others.iter().try_for_each(|other| filter.merge(other))?;
    filter.save(&args.output, first.info.policy())?;

    let mut report = report(args);
    report.describe(filter.figures(), &args.output);
    report.show_text(args.quiet);
    Ok(())
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
    merged.save(&args.output)?;

    let mut report = report(args);
    report.describe_foreign(&merged, &args.output);
    report.show_text(args.quiet);
    Ok(())
}

/// Begins the report.
fn report(args: &MergeArgs) -> Report {
    let mut report = Report::new();
    report.text = format!("{} merged", counted(args.filters.len() as u64, "filter"));
    report
}
