//! `tamis merge` with filters in Redis.

use crate::args::MergeArgs;
use crate::commands::merge::{merge_files, report};
use crate::error::Error;
use crate::filters::{Header, Reader};
use crate::input::shown;
use crate::remote::Address;
use crate::scratch::Scratch;
use crate::{ending, memory};

/// Merges filters in files and in Redis. Those in Redis are pulled into files first.
pub(in crate::commands) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let folder = Scratch::new().map_err(Error::Write)?;
    let mut files = Vec::new();
    for (number, path) in args.filters.iter().enumerate() {
        let Some(address) = Address::of(path)? else {
            files.push(path.clone());
            continue;
        };
        let filter = address.open(&args.server, args.quiet)?;
        if filter.grows() && args.filters.len() > 1 {
            let found =
                "grows, and filters that grow cannot be merged: build one from all records".into();
            return Err(Error::Input { name: address.to_string(), found });
        }
        let refused = |source| address.refused(source);
        memory::check(filter.storage().map_err(refused)?.size_in_bytes)?;
        let copy = filter.pull().map_err(refused)?;
        // A single filter is the result itself.
        let file = match args.filters.len() {
            1 => args.output.clone(),
            _ => folder.path().join(format!("{number} {}", address.name().replace('/', "_"))),
        };
        let unsaved = |source| Error::Save { name: shown(&file), source };
        let save = || copy.save(&file).map_err(unsaved);
        match args.filters.len() {
            1 => ending::last(save)?,
            _ => save()?,
        }
        files.push(file);
    }
    if let [file] = &files[..] {
        let filter = Reader::load(&Header::open(file)?)?;
        let mut report = report(args);
        report.describe(&filter.described(), &args.output);
        report.show_text(args.quiet);
        return Ok(());
    }
    merge_files(args, &files)
}
