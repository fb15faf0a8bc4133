//! `tamis build`: a filter from records.

use std::time::Instant;

use tamis::InsertError;
use tamis::hash::AnyStable;

use super::report::Report;
use crate::args::{BuildArgs, Choice};
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::filters::{self, AnyFilter, Collect, Copies, Lock, Room, insertion};
use crate::input::{self, shown};
use crate::output::{self, Roles};
use crate::pipeline::{self, Done, Gate, Hasher, Printed, Records};
use crate::screen::Screen;

mod counted;
mod foreign;

/// The rate of a filter that is built without --rate.
const DEFAULT_RATE: f64 = 1e-6;

/// The most room for records with copies, in multiples of their number.
const MOST_ROOM: u64 = 8;

/// Runs `tamis build`.
pub(crate) fn build(mut args: BuildArgs) -> Result<(), Error> {
    let start = Instant::now();
    if let Some(named) = args.to {
        return foreign::build(args, named, start);
    }
    args.keys.require_foreign()?;
    // Check the options, the inputs and the output before anything is read.
    let records = args.records.records("build")?;
    let choice = Choice::new(args.kind, args.capacity, args.window)?;
    let hasher = AnyStable::from(Hasher::new(args.seed)?);
    let files = core::mem::take(&mut args.files);
    Roles::of(&files).save_to(&args.output, "filter")?;
    let inputs = input::inputs(files, args.records.no_decompress)?;
    output::check(&args.output)?;
    // Another run that changes the old filter ends first, and one that begins later changes the new
    // one.
    let lock = Lock::take(&args.output, args.records.quiet)?;
    let mut screen = Screen::of_silent(args.records.quiet, args.records.progress, inputs.bytes);

    let (filter, done, new) = match choice.size {
        Some(size) => {
            let filter = args.filter(choice.kind(), size, hasher.clone())?;
            // A window depends on the order of the records.
            let decider = if let AnyFilter::Rotating(_) = &filter {
                filters::discovery(&filter, Hasher::Any(hasher), Printed::None, None)
            } else {
                insertion(&filter)
            };
            let (none, gate) = (&mut std::io::sink(), Gate::default());
            let done = pipeline::run(inputs.list, none, &records, &decider, &gate, &mut screen)?;
            drop(decider);
            let new = done.tally.items();
            if !args.overfull {
                args.require_room(&filter, new)?;
            }
            (filter, done, new)
        }
        None => args.counted(choice.kind(), inputs.list, &records, hasher, &mut screen)?,
    };
    screen.finish();
    filter.prepare(&args.output, records.key.form.saved())?.commit()?;
    drop((screen, lock));

    let mut report = Report::of_inserts(&done, start, new);
    report.describe(&filter.described(), &args.output);
    report.show(&args.records);
    Ok(())
}

impl BuildArgs {
    fn filter(&self, kind: FileKind, capacity: u64, hasher: AnyStable) -> Result<AnyFilter, Error> {
        AnyFilter::build(kind, Copies::Counted, capacity, self.rate.unwrap_or(DEFAULT_RATE), hasher)
    }

    /// Returns an error if a filter of fixed size holds too many items for its rate. `inserted`:
    /// the number of items, or of their copies if the filter keeps these.
    fn require_room(&self, filter: &AnyFilter, inserted: u64) -> Result<(), Error> {
        let Some(room) = filter.room(Some(self.rate.unwrap_or(DEFAULT_RATE))) else {
            return Ok(());
        };
        // Copies in counters take no room, and only their items can be estimated.
        let items = match filter {
            AnyFilter::Counting(counters) => inserted.min(counters.figures().items.value as u64),
            _ => inserted,
        };
        if items <= room.items {
            return Ok(());
        }
        let (filter, Room { items, rate }) = (shown(&self.output), room);
        Err(Error::Overfull { filter, items, rate })
    }

    /// Builds a filter whose capacity is the number of records. Returns it with the number of items
    /// inserted.
    fn counted(
        &self,
        kind: FileKind,
        inputs: Vec<input::Input<'_>>,
        records: &Records,
        hasher: AnyStable,
        screen: &mut Screen,
    ) -> Result<(AnyFilter, Done, u64), Error> {
        // A filter that counts copies needs room for all of them.
        let collect = Collect::new(kind.keeps_copies());
        let decider = collect.decider(hasher.clone());
        let (none, gate) = (&mut std::io::sink(), Gate::default());
        let done = pipeline::run(inputs, none, records, &decider, &gate, screen)?;
        drop(decider);
        let hashes = collect.into_sorted();
        // Copies in counters take no room.
        let items = match kind {
            FileKind::Counting => hashes.chunk_by(|one, next| one == next).count(),
            _ => hashes.len(),
        };
        let least = (items as u64).max(1);
        let mut size = least;
        loop {
            let filter = self.filter(kind, size, hasher.clone())?;
            match filter.insert_all(&hashes, records.threads) {
                Ok(new) => return Ok((filter, done, new)),
                // All copies of a record are in the same two buckets, so a filter with copies is
                // full at a lower load than one without.
                Err(InsertError::Full) if size < MOST_ROOM * least => size += size.div_ceil(4),
                Err(source) => {
                    let found = format!(
                        "{source}; remove repeated records with 'tamis dedup' first, or choose another --kind"
                    );
                    return Err(Error::Input { name: "the input".into(), found });
                }
            }
        }
    }
}
