//! Where rows of CSV end: a separator in a quoted field is part of the field.
//!
//! A field is quoted if its first byte is a double quote. It lasts until a quote that is not one of
//! two, and what follows that quote is read as if it had none. Python's `csv` module finds the same
//! rows, except that a lone CR ends a row there and is a byte of its field here.

use core::fmt;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::fields::MARK;

/// The two bytes between which a quote begins a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) delimiter: u8,
    pub(crate) separator: u8,
}

/// What a row has that RFC 4180 does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A quote in a field that does not begin with one.
    Stray,
    /// Text after the quote that ends a field.
    After,
    /// A quoted field that the input does not end.
    Open,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stray => "a quote in a field that does not begin with one",
            Self::After => "text after the quote that ends a field",
            Self::Open => "a quoted field that does not end",
        })
    }
}

/// The place of a byte in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// In a quoted field.
    Inside,
    /// After a quote in a quoted field, which ends the field or is the first of two.
    After,
}

/// A row.
pub(crate) struct Row {
    /// Where it ends, including its separator.
    pub(crate) end: usize,
    /// Whether it ends in a quoted field, at the end of the input.
    pub(crate) open: bool,
    /// The first thing that is wrong with it.
    pub(crate) flaw: Option<Flaw>,
}

/// Finds the rows in `bytes`. The last one ends with the bytes, if it does not end before.
pub(crate) struct Rows<'a> {
    format: Format,
    bytes: &'a [u8],
    /// Where the current row begins.
    start: usize,
    /// All bytes before this one have been read.
    at: usize,
    place: Place,
    flaw: Option<Flaw>,
}

impl<'a> Rows<'a> {
    /// `bytes` begin where a row begins.
    pub(crate) fn new(format: Format, bytes: &'a [u8]) -> Self {
        Self { format, bytes, start: 0, at: 0, place: Place::Outside, flaw: None }
    }

    /// Steps to the next separator that ends a row, and returns where the row ends.
    fn step(&mut self) -> Option<usize> {
        let Format { delimiter, separator } = self.format;
        loop {
            let rest = &self.bytes[self.at..];
            match self.place {
                Place::Inside => {
                    let Some(step) = memchr(b'"', rest) else {
                        self.at = self.bytes.len();
                        return None;
                    };
                    self.at += step + 1;
                    self.place = Place::After;
                }
                Place::After => {
                    let first = *rest.first()?;
                    let cr = separator == b'\n' && rest.starts_with(b"\r\n");
                    self.place = Place::Outside;
                    if first == b'"' {
                        self.place = Place::Inside;
                        self.at += 1;
                    } else if first != delimiter && first != separator && !cr {
                        self.flaw.get_or_insert(Flaw::After);
                    }
                }
                Place::Outside => {
                    let Some(step) = memchr2(b'"', separator, rest) else {
                        self.at = self.bytes.len();
                        return None;
                    };
                    self.at += step + 1;
                    if rest[step] == separator {
                        return Some(self.at);
                    }
                    if self.begins_field(self.at - 1) {
                        self.place = Place::Inside;
                    } else {
                        self.flaw.get_or_insert(Flaw::Stray);
                    }
                }
            }
        }
    }

    /// Whether a field begins at `at`, which is not in a quoted one.
    fn begins_field(&self, at: usize) -> bool {
        let before = &self.bytes[self.start..at];
        before.last().is_none_or(|&last| last == self.format.delimiter) || before == MARK
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if self.start == self.bytes.len() {
            return None;
        }
        let (end, open) = match self.step() {
            Some(end) => (end, false),
            None => (self.bytes.len(), self.place == Place::Inside),
        };
        let flaw = self.flaw.take().or(open.then_some(Flaw::Open));
        self.start = end;
        Some(Row { end, open, flaw })
    }
}

/// Whether a quoted field is open at the end of `bytes`, which begin where a row begins.
pub(crate) fn is_open(format: Format, bytes: &[u8]) -> bool {
    Rows::new(format, bytes).last().is_some_and(|row| row.open)
}

/// Finds where records end in bytes that come piece by piece.
pub(crate) struct Cutter {
    separator: u8,
    /// How fields are quoted, if they may be.
    format: Option<Format>,
    /// The place of the next byte.
    place: Place,
    /// Whether the bytes after the last cut may have a quote.
    quoted: bool,
}

impl Cutter {
    pub(crate) fn new(separator: u8, format: Option<Format>) -> Self {
        Self { separator, format, place: Place::Outside, quoted: false }
    }

    /// Goes to the start of another input.
    pub(crate) fn reset(&mut self) {
        (self.place, self.quoted) = (Place::Outside, false);
    }

    /// Returns where the last record ends in `bytes`, of which those from `seen` on are new, and
    /// whether the records up to there may have quotes. `bytes` begin where a record begins.
    pub(crate) fn last_end(&mut self, bytes: &[u8], seen: usize) -> Option<(usize, bool)> {
        let new = &bytes[seen..];
        // Without a quote, all bytes are outside of quoted fields or all are inside.
        let format = match self.format {
            Some(format) if self.place == Place::Inside || memchr(b'"', new).is_some() => format,
            _ => {
                self.place = if new.is_empty() { self.place } else { Place::Outside };
                let end = seen + memrchr(self.separator, new)? + 1;
                return Some((end, core::mem::take(&mut self.quoted)));
            }
        };
        let mut rows = Rows { at: seen, place: self.place, ..Rows::new(format, bytes) };
        let mut last = None;
        while let Some(end) = rows.step() {
            rows.start = end;
            last = Some((end, true));
        }
        (self.place, self.quoted) = (rows.place, true);
        last
    }

    /// Returns where the first record ends, as [`last_end`](Self::last_end) does for the last one.
    pub(crate) fn first_end(&mut self, bytes: &[u8], seen: usize) -> Option<usize> {
        let Some(format) = self.format else {
            return memchr(self.separator, &bytes[seen..]).map(|step| seen + step + 1);
        };
        let mut rows = Rows { at: seen, place: self.place, ..Rows::new(format, bytes) };
        let end = rows.step();
        self.place = rows.place;
        end
    }

    /// Returns where the first `records` records end in `bytes`, which are whole records, or where
    /// the bytes end.
    pub(crate) fn nth_end(&self, bytes: &[u8], records: usize) -> usize {
        let before = records.saturating_sub(1);
        // A record has at least its separator.
        let end = match self.format {
            _ if bytes.len() <= records => None,
            Some(format) => Rows::new(format, bytes).nth(before).map(|row| row.end),
            None => memchr_iter(self.separator, bytes).nth(before).map(|at| at + 1),
        };
        end.unwrap_or(bytes.len())
    }

    /// Whether the bytes so far end in a quoted field.
    pub(crate) fn is_inside(&self) -> bool {
        self.place == Place::Inside
    }

    /// Whether a quoted field is open at the end of `bytes`, which begin where a record begins.
    pub(crate) fn is_open_in(&self, bytes: &[u8]) -> bool {
        self.format.is_some_and(|format| is_open(format, bytes))
    }
}
