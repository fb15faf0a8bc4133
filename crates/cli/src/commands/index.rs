//! `tamis index`: a filter for each file, and all filters in one file.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

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
use crate::output::{self, Roles};
use crate::pipeline::{self, Done, Gate, Notes, Records, Tally, Turnstile, Watch};
use crate::screen::Screen;
use crate::units::{bytes, counted};

/// Runs `tamis index`.
pub(crate) fn index(args: IndexArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the output and the inputs before anything is read.
    let records = args.records.records("index")?;
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

    let indexed = Turnstile::new(Indexed {
        set,
        screen,
        tally: Tally::default(),
        notes: Notes::default(),
        keys: 0,
        filter_bytes,
        false_files,
    });
    pipeline::share(inputs.list, &records, |number, input, records| {
        let built = build(&args, input, &hasher, records);
        // The files are added in their order.
        let Some(mut indexed) = indexed.enter(number as u64) else { return };
        if let Err(error) = built.and_then(|built| indexed.take(&args, number, built)) {
            // Other workers may wait for input.
            indexed.screen.fail(&error);
        }
    });
    let Indexed { set, mut screen, tally, notes, keys, filter_bytes, false_files } =
        indexed.into_inner();
    screen.finish();
    ending::last(|| set.finish()).map_err(failed)?;

    // Report.
    let done = Done { tally, notes, threads: records.threads };
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

/// What has been indexed, in the order of the files.
struct Indexed {
    set: SetWriter<[u8]>,
    screen: Screen,
    tally: Tally,
    notes: Notes,
    keys: u64,
    filter_bytes: u64,
    /// The sum of the false-positive rates.
    false_files: f64,
}

/// The filter of a file, and the number of its keys.
type Built = (AnyFilter, u64, Done);

/// Builds the filter of a file.
fn build(
    args: &IndexArgs,
    input: Input<'_>,
    hasher: &AnyStable,
    records: &Records,
) -> Result<Built, Error> {
    let name = input.name.to_string();
    let collect = Collect::new(false);
    let decider = collect.decider(hasher.clone());
    let (none, gate) = (&mut io::sink(), Gate::default());
    let done = pipeline::run(vec![input], none, records, &decider, &gate, &mut ());
    let done = done.map_err(|error| error.of_file(&name))?;
    drop(decider);
    // The hashes are distinct, so the filter has exactly the size that it needs.
    let hashes = collect.into_sorted();
    let keys = hashes.len() as u64;
    let (kind, copies) = (args.kind.into(), Copies::Once);
    let filter = AnyFilter::build(kind, copies, keys.max(1), args.rate, hasher.clone())?;
    let full = |source| Error::Input { name, found: format!("{source}; choose another --kind") };
    filter.insert_all(&hashes, records.threads).map_err(full)?;
    Ok((filter, keys, done))
}

impl Indexed {
    /// Adds the filter of the next file, which has this number.
    fn take(&mut self, args: &IndexArgs, number: usize, built: Built) -> Result<(), Error> {
        let (filter, keys, done) = built;
        let name = args.files[number].as_os_str().as_encoded_bytes();
        add(&mut self.set, name, &filter).map_err(|error| unsaved(&args.output, error))?;
        self.keys += keys;
        let described = filter.described();
        self.filter_bytes += described.size_in_bytes;
        self.false_files += described.figures.false_positive_rate.value;
        self.notes.merge(done.notes);
        self.tally.lines += done.tally.lines;
        self.tally.keyless += done.tally.keyless;
        self.tally.bytes_in += done.tally.bytes_in;
        self.screen.advanced(&self.tally);
        Ok(())
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
