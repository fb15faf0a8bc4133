//! The key of a record, by which records are compared: the whole record or a part of it, optionally
//! in a normal form.

use core::str;

use crate::policy::{Form, Policy};

mod fields;
mod json;
mod no_key;
mod rows;

pub use self::fields::{Fields, Quotes};
pub use self::no_key::NoKey;
pub use self::rows::Flaw;

pub(crate) use self::fields::Undelimited;
pub(crate) use self::rows::{Cutter, Format, Row, Rows, is_open};

/// Which part of a record is its key, and the key's normal form.
#[derive(Clone, Debug)]
pub struct Key {
    /// The part.
    pub part: Part,
    /// Its normal form.
    pub form: Form,
    /// Whether a CR at the end of a record is no part of it.
    pub crlf: bool,
}

/// The part of a record that is its key.
#[derive(Clone, Debug)]
pub enum Part {
    /// The whole record.
    Record,
    /// The bytes that the record encodes in hexadecimal.
    Hex,
    /// Some of its fields.
    Fields(Fields),
    /// The values at these JSON pointers (RFC 6901), as compact JSON text with the names in every
    /// object sorted, only the escapes that a string needs, and numbers as they were written:
    /// `"1"`, `1`, `1.0` and `1e0` all differ. If members have the same name, the last one counts.
    /// Under a URL policy there is one value, which must be a string, and the key is its decoded
    /// text.
    Json(Vec<String>),
    /// The value at this JSON pointer: of a string its decoded text, of others as above. It is the
    /// key of a filter of another system.
    JsonText(String),
}

/// The buffers in which keys are built, kept from one record to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    key: Vec<u8>,
    fields: fields::Scratch,
}

impl Key {
    /// Makes the whole record, unchanged, its key.
    #[must_use]
    pub const fn record() -> Self {
        Self::from_part(Part::Record)
    }

    /// Makes this part of the record its key, unchanged.
    #[must_use]
    pub const fn from_part(part: Part) -> Self {
        Self { part, form: Form::PLAIN, crlf: false }
    }

    /// Whether a key is a part of the record as it is, for [`Key::part_of`].
    pub(crate) fn is_part(&self) -> bool {
        let part = matches!(self.part, Part::Record | Part::Fields(_));
        part && self.form == Form::PLAIN && !self.crlf
    }

    /// Returns the key of `record`: a part of it, or built in `scratch`.
    pub(crate) fn of<'a>(
        &self,
        record: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        if self.is_part() { self.part_of(record, scratch) } else { self.built(record, scratch) }
    }

    /// [`Key::of`] for a key that is a part of the record. Only this is inlined, so that whole
    /// records pay nothing for the others.
    #[inline]
    pub(crate) fn part_of<'a>(
        &self,
        record: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        match &self.part {
            Part::Fields(fields) => fields.of(record, &mut scratch.fields),
            _ => Ok(record),
        }
    }

    /// [`Key::of`] for a key that must be built.
    pub(crate) fn built<'a>(
        &self,
        record: &[u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        let record = match record {
            [line @ .., b'\r'] if self.crlf => line,
            record => record,
        };
        let Scratch { key: scratch, fields: parts } = scratch;
        scratch.clear();
        match &self.part {
            Part::Record if self.form.url == Policy::None => scratch.extend_from_slice(record),
            Part::Record => self.normal(fields::unmarked(record), scratch)?,
            Part::Fields(fields) => self.normal(fields.of(record, parts)?, scratch)?,
            Part::Hex => unhex(fields::unmarked(record), scratch)?,
            Part::JsonText(pointer) => {
                let document = json::Cursor::of_document(fields::unmarked(record))?;
                document.at_pointer(pointer)?.text(scratch)?;
            }
            Part::Json(pointers) => {
                let document = json::Cursor::of_document(fields::unmarked(record))?;
                let folds = self.form.ignore_case;
                match pointers.as_slice() {
                    [pointer] if self.form.url != Policy::None => {
                        let value = document.at_pointer(pointer)?;
                        self.normal(&value.string().ok_or(NoKey::Url)?, scratch)?;
                    }
                    [pointer] => document.at_pointer(pointer)?.canonical(folds, scratch)?,
                    _ => {
                        let mut value = Vec::new();
                        for pointer in pointers {
                            value.clear();
                            document.at_pointer(pointer)?.canonical(folds, &mut value)?;
                            fields::append(&value, scratch);
                        }
                    }
                }
            }
        }
        if self.form.ignore_case {
            self.lower(scratch);
        }
        Ok(scratch)
    }

    /// Appends the normal form of a URL, or without a URL policy the bytes.
    fn normal(&self, url: &[u8], scratch: &mut Vec<u8>) -> Result<(), NoKey> {
        if self.form.url == Policy::None {
            scratch.extend_from_slice(url);
            return Ok(());
        }
        let url = str::from_utf8(url).map_err(|_| NoKey::Url)?;
        let normal = self.form.url.normal(url).ok_or(NoKey::Url)?;
        scratch.extend_from_slice(normal.as_bytes());
        Ok(())
    }

    /// Makes the letters A to Z of a key small, but not the bytes that are the lengths of its
    /// parts.
    fn lower(&self, key: &mut [u8]) {
        let several = match &self.part {
            Part::Fields(fields) => fields.is_several(),
            Part::Json(pointers) => pointers.len() > 1,
            Part::Record | Part::Hex | Part::JsonText(_) => false,
        };
        if !several {
            return key.make_ascii_lowercase();
        }
        let mut at = 0;
        while let Some((length, _)) = key[at..].split_first_chunk() {
            let start = at + length.len();
            at = start + u64::from_le_bytes(*length) as usize;
            key[start..at].make_ascii_lowercase();
        }
    }

    /// Where records end, if their fields may be quoted.
    pub(crate) fn format(&self, separator: u8) -> Option<Format> {
        match &self.part {
            Part::Fields(fields) if fields.quotes() != Quotes::Plain => {
                Some(Format { delimiter: fields.delimiter(), separator })
            }
            _ => None,
        }
    }

    /// Whether records are rows of CSV.
    pub(crate) fn is_csv(&self) -> bool {
        matches!(&self.part, Part::Fields(fields) if matches!(fields.quotes(), Quotes::Csv { .. }))
    }

    /// The byte between fields, if it is not known to be the right one: a name that was found in a
    /// header proves it.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match &self.part {
            Part::Fields(fields) if !fields.is_named() => Some(fields.delimiter()),
            _ => None,
        }
    }

    /// Whether a CR at the end of a record makes the key another one.
    pub(crate) fn has_cr(&self) -> bool {
        let part = matches!(self.part, Part::Record | Part::Fields(_));
        part && !self.crlf && !self.is_csv() && self.form.url == Policy::None
    }

    /// Returns the columns of a header: the names of the fields, or the whole record if there are
    /// none. Returns `None` if there is no memory: `is_short` says so.
    pub(crate) fn columns(
        &self,
        header: &[u8],
        separator: u8,
        is_short: impl Fn() -> bool,
    ) -> Option<Vec<Vec<u8>>> {
        match &self.part {
            Part::Fields(fields) => fields.columns(header, separator, is_short),
            _ => Some(vec![fields::bare(header, separator).to_vec()]),
        }
    }

    /// Returns the same key for a filter of another system, which knows no canonical form of JSON.
    /// Says so if several parts are the key, since each system joins them in its own way.
    pub(crate) fn foreign(&self) -> Result<Self, String> {
        let part = match &self.part {
            Part::Json(pointers) if self.form.url == Policy::None => match pointers.as_slice() {
                [pointer] => Part::JsonText(pointer.clone()),
                _ => {
                    return Err(
                        "the key of another system is one value: give one --json-key".into()
                    );
                }
            },
            Part::Fields(fields) if fields.asked() > 1 => {
                return Err("the key of another system is one field: give one --key-field".into());
            }
            part => part.clone(),
        };
        Ok(Self { part, ..self.clone() })
    }

    /// Returns the same key for inputs with these columns, or says which name they do not have, or
    /// have twice.
    pub(crate) fn resolved(&self, columns: &[Vec<u8>]) -> Result<Self, String> {
        let part = match &self.part {
            Part::Fields(fields) => Part::Fields(fields.resolved(columns)?),
            part => part.clone(),
        };
        Ok(Self { part, ..self.clone() })
    }
}

/// Appends the bytes that `digits` encode in hexadecimal.
fn unhex(digits: &[u8], bytes: &mut Vec<u8>) -> Result<(), NoKey> {
    let value = |digit: u8| char::from(digit).to_digit(16).ok_or(NoKey::Hex);
    let (pairs, half) = digits.as_chunks::<2>();
    if !half.is_empty() {
        return Err(NoKey::Hex);
    }
    for &[high, low] in pairs {
        bytes.push((value(high)? << 4 | value(low)?) as u8);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: Part, policy: Policy, record: &[u8]) -> Result<Vec<u8>, NoKey> {
        let form = Form { url: policy, ignore_case: false };
        Key { form, ..Key::from_part(part) }.of(record, &mut Scratch::default()).map(<[u8]>::to_vec)
    }

    #[test]
    fn hexadecimal_in_either_case() {
        let hex = |record: &[u8]| key(Part::Hex, Policy::None, record);
        assert_eq!(hex(b"00fFAb"), Ok(vec![0x00, 0xff, 0xab]));
        assert_eq!(hex(b""), Ok(Vec::new()));
        for bad in [&b"0"[..], b"0x", b"zz", b"00\r", b" 0", b"+0", b"\xff\xff"] {
            assert_eq!(hex(bad), Err(NoKey::Hex));
        }
    }

    #[test]
    fn a_part_may_be_a_url() {
        let url = Ok(b"http://a.example/".to_vec());
        assert_eq!(key(Part::Record, Policy::Whatwg1, b"HTTP://A.example#x"), url);
        // A byte order mark is no part of it.
        assert_eq!(key(Part::Record, Policy::Whatwg1, b"\xef\xbb\xbfHTTP://A.example#x"), url);
        let part = Part::Fields(Fields::new(vec![1], b',', Quotes::Plain));
        assert_eq!(key(part, Policy::Whatwg1, b"1,HTTP://A.example#x,2"), url);
        let part = Part::Json(vec!["/u".into()]);
        assert_eq!(key(part.clone(), Policy::Whatwg1, br#"{"u":"HTTP://A.example#x"}"#), url);
        assert_eq!(
            key(part.clone(), Policy::Whatwg1, b"\xef\xbb\xbf{\"u\":\"http://a.example/\"}"),
            url
        );
        assert_eq!(key(part.clone(), Policy::Whatwg1, br#"{"u":1}"#), Err(NoKey::Url));
        assert_eq!(key(part, Policy::Whatwg1, b"\xff"), Err(NoKey::Json));
        assert_eq!(key(Part::Record, Policy::Whatwg1, b"/relative"), Err(NoKey::Url));
        assert_eq!(key(Part::Record, Policy::Whatwg1, b"http://\xff/"), Err(NoKey::Url));
    }
}
