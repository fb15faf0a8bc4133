//! `tamis query` on a filter in Redis.

use std::time::Instant;

use super::{describe, has_no_format};
use crate::args::QueryArgs;
use crate::error::Error;
use crate::input;
use crate::output::Roles;
use crate::pipeline::Records;
use crate::remote::{self, Address};

/// Queries a filter in Redis.
pub(in crate::commands) fn query(
    mut args: QueryArgs,
    address: &Address,
    records: &Records,
    start: Instant,
) -> Result<bool, Error> {
    if !has_no_format(&args.from) || args.keys.key_type.is_some() {
        let only = "--from and --key-type are for filters in files: omit them";
        return Err(Error::Usage(only.into()));
    }
    Roles::of(&args.files).print_to(args.output.as_deref())?;
    let files = core::mem::take(&mut args.files);
    let inputs = input::inputs(files, args.records.no_decompress)?;
    let asked =
        address.builder(&args.server, args.records.quiet).normalization(records.key.form.saved());
    let filter = asked.open().map_err(|source| address.refused(source))?;
    let decider = remote::lookup(&filter, args.invert);
    let (mut report, found) = args.run(inputs, records, &decider, start)?;
    // The servers count all bits of the filter for it.
    if !args.records.quiet {
        describe(&mut report, &filter, address, false);
    }
    report.show(&args.records);
    Ok(found)
}
