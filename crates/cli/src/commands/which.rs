//! `tamis which`: the files of an index that may contain a key.

use core::mem;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tamis::formats::{FilterSet, LoadError, Options, SetError, SetInfo};

mod keep;
mod verify;

use self::keep::keep;
use self::verify::{Verified, path_of, verify};
use super::report::Report;
use crate::args::WhichArgs;
use crate::error::{Error, Why};
use crate::filters::Header;
use crate::input::{self, Input, shown};
use crate::key::Scratch;
use crate::memory;
use crate::output::Roles;
use crate::pipeline::{self, Gate, Noted, Notes, Records, Tally};
use crate::policy::Form;
use crate::units::{counted, grouped};

/// Runs `tamis which`. Returns whether a name was printed.
pub(crate) fn which(args: WhichArgs) -> Result<bool, Error> {
    let start = Instant::now();
    // Check the options, the index and the inputs before anything is read.
    let records = args.records.records("which")?;
    let roles = Roles::default().and_index(&args.index);
    let roles = args.keys.iter().fold(roles, |roles, file| roles.and_keys(file));
    roles.print_to(None)?;
    let set = open(&args.index, records.key.form)?;
    let file = args.keys.map(|file| input::inputs(vec![file], args.records.no_decompress));
    let file = file.transpose()?.and_then(|mut inputs| inputs.list.pop());

    // Read the keys.
    let with_key = args.with_key || file.is_some() || args.key.len() > 1;
    let mut asked = Asked::default();
    if let Some(name) = args.records.name().filter(|_| !args.key.is_empty()) {
        return Err(Error::Usage(format!(
            "--key-field {name} is a name, and a KEY has no header: give the number of the field, or the records as --keys"
        )));
    }
    for (number, record) in (1..).zip(&args.key) {
        asked.add(record.as_encoded_bytes(), number, &records)?;
    }
    if let Some(file) = file {
        asked.read(file, &records)?;
    }

    // Load each filter once, for all keys; then read the files that they name, if asked to; and
    // print.
    memory::check_for(&shown(&args.index), KEY_BYTES * asked.keys.len() as u64)?;
    let keys: Vec<&[u8]> = asked.keys.iter().map(|(_, key)| key.as_slice()).collect();
    let mut found = set.which_many(&keys).map_err(|error| unreadable(&args.index, error))?;
    if args.verify {
        let mut files: Vec<usize> = found.iter().flatten().copied().collect();
        files.sort_unstable();
        files.dedup();
        let names = files.iter().map(|file| path_of(set.name(*file).unwrap_or_default()));
        Roles::default().and_indexed(names).print_to(None)?;
    }
    let verified = args.verify.then(|| {
        let mut verified = verify(&set, &keys, &found, &records, args.records.no_decompress);
        found = mem::take(&mut verified.found);
        verified
    });
    let printed = print(&set, &asked, &found, with_key, records.separator)?;

    // Report.
    let mut report = Report::new();
    let some = found.iter().filter(|files| !files.is_empty()).count() as u64;
    report.text = format!(
        "{}, {} in files that the index names; {} of {} printed",
        counted(asked.keys.len() as u64, "key"),
        grouped(some),
        counted(printed, "name"),
        counted(set.len() as u64, "file")
    );
    report.warnings = asked.notes.warnings(&asked.tally, "left out");
    report.put("keys", asked.keys.len());
    report.put("found", some);
    report.put("keyless", asked.tally.keyless);
    report.put("malformed", asked.notes.malformed);
    report.put("files", set.len());
    report.put("printed", printed);
    report.put("seconds", start.elapsed().as_secs_f64());
    let failure = verified.and_then(|verified| report_verified(&mut report, verified));
    report.show(&args.records);
    // What was found is printed all the same.
    failure.map_or(Ok(printed > 0), Err)
}

/// Reports how many names were wrong. Returns the error of a file that could not be read.
fn report_verified(report: &mut Report, verified: Verified) -> Option<Error> {
    let (wrong, unknown) = (verified.wrong, verified.unknown);
    let were = if wrong == 1 { "was a false positive" } else { "were false positives" };
    report.text.push_str(&format!("; {} {were}", counted(wrong, "other name")));
    if unknown > 0 {
        report.text.push_str(&format!(", {} could not be verified", grouped(unknown)));
    }
    // By chance there are as many in at most one of twenty such runs.
    if let Some(expected) = verified.expected.filter(|expected| wrong as f64 > 20.0 * expected) {
        report.warnings.push(format!(
            "no name is right, and by chance {expected:.1e} wrong ones are expected: either the files have changed, or \
             'tamis index' had other options for records"
        ));
    }
    report.put("false_positives", wrong);
    report.put("unverified", unknown);
    let (error, others) = verified.failure()?;
    report.warnings.extend(others);
    Some(error)
}

/// Opens an index whose keys have the normal form of this command.
pub(super) fn open(path: &Path, form: Form) -> Result<FilterSet<[u8]>, Error> {
    let unreadable = |error| unreadable(path, error);
    let info = SetInfo::open(path).map_err(unreadable)?;
    if !info.is_empty() {
        Header::of_set(path, info.info(0).map_err(unreadable)?).require_form(form)?;
    }
    // Each filter is used once, so none is kept.
    Options::new().normalization(info.normalization()).open_set(path, 0).map_err(unreadable)
}

pub(super) fn unreadable(path: &Path, error: SetError) -> Error {
    let name = shown(path);
    match error {
        SetError::Io(error) | SetError::Filter { error: LoadError::Io(error), .. } => {
            Error::Load { name, source: LoadError::Io(error) }
        }
        SetError::Alloc { bytes: needed }
        | SetError::Filter { error: LoadError::Alloc { bytes: needed }, .. } => {
            Error::Short { name, needed, available: None }
        }
        // A file of fewer bytes has no trailer.
        SetError::Magic { .. } | SetError::Length { expected: 64, .. } => {
            let found = "does not end as an index does: it is no index, or one that was cut off";
            Error::Input { name, found: found.into() }
        }
        other => Error::Input { name, found: other.to_string() },
    }
}

/// The bytes that the search takes for each key: its hash, and the list of its files.
const KEY_BYTES: u64 = 64;

/// The keys to find.
#[derive(Default)]
struct Asked {
    /// The records and their keys.
    keys: Vec<(Vec<u8>, Vec<u8>)>,
    /// The counts of records.
    tally: Tally,
    notes: Notes,
}

impl Asked {
    /// Adds the records of a file.
    fn read(&mut self, file: Input<'_>, records: &Records) -> Result<(), Error> {
        // One thread, so that the keys come in order.
        let records = Records { threads: 1, ..records.clone() };
        let keys = Mutex::new(Vec::new());
        let (none, gate) = (&mut io::sink(), Gate::default());
        let done = pipeline::run(vec![file], none, &records, &keep(&keys), &gate, &mut ())?;
        // A second list of all keys might have no room.
        let keys = keys.into_inner().unwrap_or_else(PoisonError::into_inner);
        let of_arguments = mem::replace(&mut self.keys, keys);
        self.keys.splice(0..0, of_arguments);
        self.tally.lines += done.tally.lines;
        self.tally.keyless += done.tally.keyless;
        self.notes.merge(done.notes);
        Ok(())
    }

    /// Adds the key of a record.
    fn add(&mut self, record: &[u8], line: u64, records: &Records) -> Result<(), Error> {
        let name = || Arc::from("KEY");
        let limit = records.max_record;
        if record.len() as u64 > limit {
            return Err(Why::TooLong { limit, open: false }.at(name(), line));
        }
        self.tally.lines += 1;
        match records.key.of(record, &mut Scratch::default()) {
            Ok(key) => self.keys.push((record.to_vec(), key.to_vec())),
            Err(found) if records.strict => return Err(Why::NoKey(found).at(name(), line)),
            Err(found) => {
                self.tally.keyless += 1;
                self.notes.keyless.get_or_insert_with(|| Noted { name: name(), line, found });
            }
        }
        Ok(())
    }
}

/// Prints the names. Returns their number.
fn print(
    set: &FilterSet<[u8]>,
    asked: &Asked,
    found: &[Vec<usize>],
    with_key: bool,
    separator: u8,
) -> Result<u64, Error> {
    let mut output = BufWriter::new(input::unbuffered_stdout().map_err(Error::Write)?);
    let mut printed = 0;
    let mut write = || -> io::Result<()> {
        for ((record, _), files) in asked.keys.iter().zip(found) {
            for file in files {
                if with_key {
                    output.write_all(record)?;
                    output.write_all(b"\t")?;
                }
                output.write_all(set.name(*file).unwrap_or_default())?;
                output.write_all(&[separator])?;
                printed += 1;
            }
        }
        output.flush()
    };
    write().map_err(Error::written)?;
    Ok(printed)
}
