//! What a run has noticed of its input: the warnings at its end.

use core::fmt;
use std::sync::Arc;

use super::chunk::Chunk;
use super::tally::Tally;
use crate::key::{Flaw, NoKey, Undelimited};
use crate::units::{counted, grouped};

/// What a run has noticed of its input.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The first record without a key.
    pub keyless: Option<Noted<NoKey>>,
    /// The number of malformed rows of CSV.
    pub malformed: u64,
    /// The first of them.
    pub first_malformed: Option<Noted<Flaw>>,
    /// The byte between fields, if it may be the wrong one.
    pub(super) delimiter: Option<u8>,
    /// Whether a record has it.
    delimited: bool,
    /// The numbers of lines that end in CR LF, and in LF alone.
    pub(super) ends: [u64; 2],
}

/// Something that was noticed in a record.
#[derive(Clone, Debug)]
pub struct Noted<F> {
    /// The file, as it was given.
    pub name: Arc<str>,
    /// The line where the record begins, from 1.
    pub line: u64,
    /// What was found.
    pub found: F,
}

impl<F: fmt::Display> fmt::Display for Noted<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.name, grouped(self.line), self.found)
    }
}

impl Notes {
    /// Notes what a chunk has, of which this number of records is counted, and which begins after
    /// this number of lines of its input.
    pub(super) fn take(&mut self, chunk: &Chunk<'_>, records: usize, lines: u64) {
        let noted = |record| (chunk.name.clone(), lines + chunk.lines(record) + 1);
        if let Some((record, found)) = chunk.keyless
            && self.keyless.is_none()
            && record < records
        {
            let (name, line) = noted(record);
            self.keyless = Some(Noted { name, line, found });
        }
        self.malformed +=
            chunk.malformed.iter().filter(|(record, _)| *record < records).count() as u64;
        if let Some(&(record, found)) = chunk.malformed.first()
            && self.first_malformed.is_none()
            && record < records
        {
            let (name, line) = noted(record);
            self.first_malformed = Some(Noted { name, line, found });
        }
        self.delimited |= chunk.delimited;
        for (sum, more) in self.ends.iter_mut().zip(chunk.line_ends) {
            *sum += more;
        }
    }

    /// Adds the notes on later inputs.
    pub(crate) fn merge(&mut self, later: Self) {
        self.keyless = self.keyless.take().or(later.keyless);
        self.malformed += later.malformed;
        self.first_malformed = self.first_malformed.take().or(later.first_malformed);
        self.delimiter = self.delimiter.or(later.delimiter);
        self.delimited |= later.delimited;
        for (sum, more) in self.ends.iter_mut().zip(later.ends) {
            *sum += more;
        }
    }

    /// The byte between fields, if there are records and none has it.
    pub(super) fn undelimited(&self, tally: &Tally) -> Option<u8> {
        self.delimiter.filter(|_| !self.delimited && tally.lines > 0)
    }

    /// The warnings, one line each. `fate`: what was done with records without a key.
    pub(crate) fn warnings(&self, tally: &Tally, fate: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(first) = &self.keyless {
            let count = match tally.keyless {
                1 => "1 record without a key was".into(),
                count => format!("{} records without a key were", grouped(count)),
            };
            warnings.push(format!("{count} {fate}; the first: {first}"));
        }
        if let Some(first) = &self.first_malformed {
            let count = match self.malformed {
                1 => "1 malformed row was".into(),
                count => format!("{} malformed rows were", grouped(count)),
            };
            warnings.push(format!("{count} read as Python's csv module does; the first: {first}"));
        }
        if let Some(delimiter) = self.undelimited(tally) {
            warnings.push(Undelimited(delimiter).to_string());
        }
        let [crlf, lf] = self.ends;
        if crlf > 0 && lf > 0 {
            let (crlf, lf) = (counted(crlf, "record"), grouped(lf));
            warnings.push(format!(
                "{crlf} with CR LF at the end, {lf} with LF alone: these differ in the CR; --crlf ignores it"
            ));
        }
        warnings
    }
}
