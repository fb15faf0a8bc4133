//! The file of records: each is appended as soon as it is measured, and a later run reads them and
//! continues.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::record::Record;

/// The file, and the conditions of the records in it.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    known: HashSet<String>,
}

impl Journal {
    /// Opens or creates the file. Removes the broken last line that a killed run has left.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        let records = text[..whole].lines().map(Record::parse);
        let known = records.map(|record| record?.conditions()).collect::<Result<_, _>>()?;
        Ok(Self { file, known })
    }

    /// Treats all that is in the file as not measured: a report takes the better of two figures.
    pub(super) fn measure_again(&mut self) {
        self.known.clear();
    }

    /// Returns whether the file has a record with these conditions, whatever its figures.
    pub(super) fn has(&self, record: &Record) -> bool {
        self.known.contains(&record.conditions().expect("numbers"))
    }

    /// Appends a record to the file.
    pub(super) fn append(&mut self, record: &Record) -> io::Result<()> {
        let line = serde_json::to_string(record)?;
        self.known.insert(record.conditions()?);
        writeln!(self.file, "{line}")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn record(operation: &str, value: f64) -> Record {
        let blank = Record::blank("size", "blocked", operation, 1000);
        Record { rate: 0.01, bits: value, measured_rate: Some(value), value, ..blank }
    }

    #[test]
    fn what_is_in_the_file_is_known_whatever_its_figures() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let open = || Journal::open(&path).expect("a file of records");
        let mut journal = open();
        assert!(!journal.has(&record("hit", 1.0)));
        journal.append(&record("hit", 1.0)).expect("a line");
        // Memory is a condition where it was requested.
        let memory = |bits| Record { axis: "memory".to_owned(), bits, ..record("hit", 1.0) };
        journal.append(&memory(10.0)).expect("a line");

        let mut journal = open();
        assert!(journal.has(&record("hit", 3.0)) && journal.has(&memory(10.0)));
        let others =
            [record("miss", 1.0), Record { rate: 0.1, ..record("hit", 1.0) }, memory(16.0)];
        assert!(!others.iter().any(|other| journal.has(other)));

        // What is measured again stays in the file.
        journal.measure_again();
        assert!(!journal.has(&record("hit", 1.0)));
        journal.append(&record("hit", 2.0)).expect("a line");
        assert!(journal.has(&record("hit", 1.0)));
        assert_eq!(fs::read_to_string(&path).expect("the file").lines().count(), 3);
    }

    #[test]
    fn a_broken_last_line_is_removed_and_any_other_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let line = |operation| serde_json::to_string(&record(operation, 1.0)).expect("numbers");
        let (whole, broken) = (line("hit"), line("miss"));
        fs::write(&path, format!("{whole}\n{}", &broken[..20])).expect("a file");
        let mut journal = Journal::open(&path).expect("a file with a broken end");
        assert!(journal.has(&record("hit", 1.0)) && !journal.has(&record("miss", 1.0)));
        journal.append(&record("miss", 1.0)).expect("a line");
        let text = fs::read_to_string(&path).expect("the file");
        assert_eq!(text, format!("{whole}\n{broken}\n"));

        fs::write(&path, "{}\n").expect("a file");
        assert!(Journal::open(&path).is_err());
    }
}
