//! `tamis which`: the files of an index that may contain a key.

use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Instant;

use tamis::formats::{FilterSet, LoadError, Options, SetError, SetInfo};

use super::report::Report;
use crate::args::WhichArgs;
use crate::filters::Header;
use crate::input::{Input, Lazy, shown};
use crate::key::Scratch;
use crate::pipeline::{Keyless, Records};
use crate::policy::Policy;
use crate::units::{counted, grouped};
use crate::{Error, input, memory};

/// Runs `tamis which`.
pub(crate) fn which(args: WhichArgs) -> Result<(), Error> {
    let start = Instant::now();
    // Check the options, the index and the inputs before anything is read.
    let records = args.records.records("which")?;
    let set = open(&args.index, records.key.policy)?;
    let file = args.keys.map(|file| input::inputs(vec![file], args.records.no_decompress, None));
    let file = file.transpose()?.and_then(|mut inputs| inputs.list.pop());

    // Read the keys.
    let with_key = args.with_key || file.is_some() || args.key.len() > 1;
    let mut asked = Asked::default();
    for (number, record) in (1..).zip(&args.key) {
        asked.add(record.as_encoded_bytes(), "KEY", number, &records)?;
    }
    if let Some(file) = file {
        asked.read(file, &records)?;
    }

    // Load each filter once, for all keys, and print.
    memory::check_for(&shown(&args.index), KEY_BYTES * asked.keys.len() as u64)?;
    let keys = asked.keys.iter().map(|(_, key)| key.as_slice());
    let found = set.which_many(keys).map_err(|error| unreadable(&args.index, error))?;
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
    if let Some(first) = &asked.keyless {
        let count = counted(asked.without, "record");
        report.warnings.push(format!("{count} without a key left out; the first: {first}"));
    }
    report.put("keys", asked.keys.len());
    report.put("found", some);
    report.put("keyless", asked.without);
    report.put("files", set.len());
    report.put("printed", printed);
    report.put("seconds", start.elapsed().as_secs_f64());
    report.show(&args.records);
    Ok(())
}

/// Opens an index whose keys have the normal form of this command.
fn open(path: &Path, policy: Policy) -> Result<FilterSet<[u8]>, Error> {
    let unreadable = |error| unreadable(path, error);
    let info = SetInfo::open(path).map_err(unreadable)?;
    if !info.is_empty() {
        Header::of_set(path, info.info(0).map_err(unreadable)?).require_policy(policy)?;
    }
    // Each filter is used once, so none is kept.
    Options::new().policy(info.policy()).open_set(path, 0).map_err(unreadable)
}

fn unreadable(path: &Path, error: SetError) -> Error {
    let name = shown(path);
    match error {
        SetError::Io(error) | SetError::Filter { error: LoadError::Io(error), .. } => {
            Error::Load { name, source: LoadError::Io(error) }
        }
        SetError::Alloc { bytes: needed }
        | SetError::Filter { error: LoadError::Alloc { bytes: needed }, .. } => {
            Error::Short { name, needed, available: None }
        }
        SetError::Magic { .. } => {
            let found = "is not an index; 'tamis index' writes one";
            Error::Input { name, found: found.into() }
        }
        other => Error::Input { name, found: other.to_string() },
    }
}

/// The number of keys after which the memory that is left is looked at.
const CHECKED: u64 = 1024;

/// The bytes that the search takes for each key: its hash, and the list of its files.
const KEY_BYTES: u64 = 64;

/// The keys to find.
#[derive(Default)]
struct Asked {
    /// The records and their keys.
    keys: Vec<(Vec<u8>, Vec<u8>)>,
    /// The number of records without a key, and the first of them.
    without: u64,
    keyless: Option<Keyless>,
    scratch: Scratch,
}

impl Asked {
    /// Adds the records of a file.
    fn read(&mut self, mut file: Input<Lazy>, records: &Records) -> Result<(), Error> {
        let mut text = Vec::new();
        let name = file.name.clone();
        let failed = |line, source| Error::Read { name: name.clone(), line, source };
        match file.reader.read_to_end(&mut text) {
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                return Err(failed(1, memory::short(2 * text.len())));
            }
            read => read.map_err(|error| failed(1, error))?,
        };
        if text.is_empty() {
            return Ok(());
        }
        // The last record may end without its separator.
        let text = text.strip_suffix(&[records.separator]).unwrap_or(&text);
        for (line, record) in (1..).zip(text.split(|byte| *byte == records.separator)) {
            // Each key is allocated by itself, which cannot report an error.
            if line % CHECKED == 0 && memory::is_short() {
                return Err(failed(line, memory::short(text.len())));
            }
            self.add(record, &file.name, line, records)?;
        }
        Ok(())
    }

    /// Adds the key of a record.
    fn add(
        &mut self,
        record: &[u8],
        name: &str,
        line: u64,
        records: &Records,
    ) -> Result<(), Error> {
        if record.len() as u64 > records.max_record {
            return Err(Error::TooLong { name: name.into(), line, limit: records.max_record });
        }
        match records.key.of(record, &mut self.scratch) {
            Ok(key) => self.keys.push((record.to_vec(), key.to_vec())),
            Err(found) if records.strict || found.is_fatal() => {
                return Err(Error::NoKey { name: name.into(), line, found });
            }
            Err(found) => {
                self.without += 1;
                let keyless = || Keyless { name: name.into(), line, found };
                self.keyless.get_or_insert_with(keyless);
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
    match write() {
        Ok(()) => Ok(printed),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Error::Closed),
        Err(error) => Err(Error::Write(error)),
    }
}
