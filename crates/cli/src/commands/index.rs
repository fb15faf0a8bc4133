//! `tamis index`: a filter for each file, and all filters in one file.

use core::iter::Enumerate;
use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{thread, vec};

use tamis::formats::{Options, SetSaveError, SetWriter};
use tamis::hash::AnyStable;

mod before;

use self::before::Before;
use super::report::Report;
use super::which;
use crate::args::IndexArgs;
use crate::ending;
use crate::error::Error;
use crate::filters::{AnyFilter, Collect, Copies, Lock};
use crate::input::{self, Input, shown};
use crate::kind::Kind;
use crate::output::{self, Roles};
use crate::pipeline::{self, Done, Gate, Notes, Records, Tally, Turnstile, Watch};
use crate::screen::Screen;
use crate::units::{bytes, counted};

/// Runs `tamis index`.
pub(crate) fn index(args: IndexArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the output and the inputs before anything is read.
    let mut records = args.records.records("index")?;
    let files = &args.files;
    check_files(files)?;
    Roles::of(files).save_to(&args.output, "index")?;
    output::check(&args.output)?;
    let inputs = input::inputs(files.clone(), args.records.no_decompress)?;
    if records.header {
        // The run of each file knows only its own header.
        pipeline::check_headers(&inputs.list, &records)?;
    }
    // No other run changes the index from the time when its files are read until it is replaced.
    let _lock = Lock::take(&args.output, args.records.quiet)?;
    let before = Before::open(&args, records.key.form)?;
    let hasher = before.hasher(&args)?;
    let screen = Screen::of_silent(args.records.quiet, args.records.progress, inputs.bytes);
    let failed = |error| unsaved(&args.output, error);
    let options = Options::new().normalization(records.key.form.saved());
    let mut set = ending::creating(|_| options.create_set(&args.output)).map_err(failed)?;
    let (filter_bytes, false_files) = before.copy(&mut set).map_err(failed)?;

    // Each worker takes one file after another. If there are fewer files than threads, several
    // threads share a file.
    let threads = records.threads;
    let workers = threads.min(inputs.list.len());
    records.threads = threads / workers;
    let run = Run {
        files,
        output: &args.output,
        kind: args.kind,
        rate: args.rate,
        hasher,
        records: &records,
        inputs: Mutex::new(inputs.list.into_iter().enumerate()),
        indexed: Turnstile::new(Indexed {
            set: Some(set),
            error: None,
            screen,
            tally: Tally::default(),
            notes: Notes::default(),
            keys: 0,
            filter_bytes,
            false_files,
        }),
    };
    thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, || run.work());
        let others: Vec<_> = (1..workers).map_while(|_| spawn().ok()).collect();
        run.work();
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let mut indexed = run.indexed.into_inner();
    if let Some(error) = indexed.error {
        return Err(error);
    }
    indexed.screen.finish();
    if let Some(set) = indexed.set {
        ending::last(|| set.finish()).map_err(failed)?;
    }

    // Report.
    let Indexed { tally, notes, keys, filter_bytes, false_files, .. } = indexed;
    let done = Done { tally, notes, threads };
    let mut report = Report::of_records(&done, start, "left out");
    report.text.push_str(&format!(
        " of {}, {}; {} has filters of {}; for a key in no file, {false_files:.2} files are expected",
        counted(files.len() as u64, "file"),
        counted(keys, "key"),
        shown(&args.output),
        bytes(filter_bytes)
    ));
    report.text.push_str(&before.summary());
    report.put("files", files.len());
    report.put("keys", keys);
    report.put("filter_bytes", filter_bytes);
    report.put("expected_false_files", false_files);
    before.counts().into_iter().for_each(|(name, count)| report.put(name, count));
    report.show(&args.records);
    Ok(())
}

/// Checks that the files have names, and different ones.
fn check_files(files: &[PathBuf]) -> Result<(), Error> {
    let refused =
        |file: &Path, found: &str| Err(Error::Input { name: shown(file), found: found.into() });
    let mut names = HashSet::new();
    for file in files {
        if file.as_os_str() == "-" {
            return refused(file, "is standard input; an index is of files with names");
        }
        if !names.insert(file) {
            return refused(file, "is given twice");
        }
    }
    Ok(())
}

fn unsaved(output: &Path, error: SetSaveError) -> Error {
    match error {
        SetSaveError::Save(source) => Error::Save { name: shown(output), source },
        SetSaveError::Copy(error) => which::unreadable(output, error),
        other => Error::Output { name: shown(output), found: other.to_string() },
    }
}

/// What all workers share.
struct Run<'r> {
    files: &'r [PathBuf],
    output: &'r Path,
    kind: Kind,
    rate: f64,
    hasher: AnyStable,
    records: &'r Records,
    inputs: Mutex<Enumerate<vec::IntoIter<Input<'static>>>>,
    indexed: Turnstile<Indexed>,
}

/// What has been indexed, in the order of the files.
struct Indexed {
    /// `None` after an error.
    set: Option<SetWriter<[u8]>>,
    error: Option<Error>,
    screen: Screen,
    tally: Tally,
    notes: Notes,
    keys: u64,
    filter_bytes: u64,
    /// The sum of the false-positive rates.
    false_files: f64,
}

impl Run<'_> {
    /// Indexes one file after another.
    fn work(&self) {
        loop {
            let next = self.inputs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, input)) = next else { return };
            // Other workers wait for this turn, so it comes even after a panic.
            let built = catch_unwind(AssertUnwindSafe(|| self.build(input)));
            let Some(mut indexed) = self.indexed.enter(number as u64) else { return };
            match built {
                Ok(built) => {
                    if !indexed.take(self, number, built) {
                        return;
                    }
                }
                Err(panic) => {
                    indexed.set = None;
                    drop(indexed);
                    resume_unwind(panic);
                }
            }
        }
    }

    /// Builds the filter of a file. Returns it with the number of its keys.
    fn build(&self, input: Input<'_>) -> Result<(AnyFilter, u64, Done), Error> {
        let name = input.name.to_string();
        let collect = Collect::new(false);
        let decider = collect.decider(self.hasher.clone());
        let (none, gate) = (&mut io::sink(), Gate::default());
        let done = pipeline::run(vec![input], none, self.records, &decider, &gate, &mut ());
        let done = done.map_err(|error| error.of_file(&name))?;
        drop(decider);
        // The hashes are distinct, so the filter has exactly the size that it needs.
        let hashes = collect.into_sorted();
        let capacity = (hashes.len() as u64).max(1);
        let filter = AnyFilter::build(
            self.kind.into(),
            Copies::Once,
            capacity,
            self.rate,
            self.hasher.clone(),
        )?;
        let full =
            |source| Error::Input { name, found: format!("{source}; choose another --kind") };
        filter.insert_all(&hashes, self.records.threads).map_err(full)?;
        Ok((filter, hashes.len() as u64, done))
    }
}

impl Indexed {
    /// Adds the filter of the next file, or keeps the first error. Returns whether to go on.
    fn take(
        &mut self,
        run: &Run<'_>,
        number: usize,
        built: Result<(AnyFilter, u64, Done), Error>,
    ) -> bool {
        let Some(set) = &mut self.set else { return false };
        let added = built.and_then(|(filter, keys, done)| {
            let name = run.files[number].as_os_str().as_encoded_bytes();
            add(set, name, &filter).map_err(|error| unsaved(run.output, error))?;
            Ok((filter, keys, done))
        });
        match added {
            Ok((filter, keys, done)) => {
                self.keys += keys;
                let described = filter.described();
                self.filter_bytes += described.size_in_bytes;
                self.false_files += described.figures.false_positive_rate.value;
                self.notes.merge(done.notes);
                self.tally.lines += done.tally.lines;
                self.tally.keyless += done.tally.keyless;
                self.tally.bytes_in += done.tally.bytes_in;
                self.screen.advanced(&self.tally);
                true
            }
            Err(error) => {
                // Remove the temporary file, then end the program: other workers may wait for
                // input.
                self.set = None;
                self.screen.failed(&error);
                self.error = Some(error);
                false
            }
        }
    }
}

fn add(set: &mut SetWriter<[u8]>, name: &[u8], filter: &AnyFilter) -> Result<(), SetSaveError> {
    match filter {
        AnyFilter::Bloom(filter) => set.add(name, filter),
        AnyFilter::Blocked(filter) => set.add(name, filter),
        AnyFilter::Once(filter) => set.add(name, filter),
        AnyFilter::Cuckoo(filter) => set.add(name, filter),
        AnyFilter::OnceCuckoo(filter) => set.add(name, filter),
        // No --kind of this command builds another.
        _ => Err(io::Error::from(ErrorKind::Unsupported).into()),
    }
}
