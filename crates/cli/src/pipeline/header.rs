//! What is read of inputs before their records: headers, which are no records like the others.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use super::records::Records;
use crate::error::{Error, Why};
use crate::input::{Input, Opener};
use crate::key::{Cutter, Key};
use crate::memory;

/// The most bytes that one read of a header takes.
const STEP: usize = 1 << 16;

/// The header of an input.
pub(super) struct Header {
    /// The name of the input.
    name: Arc<str>,
    /// Its bytes, with a separator.
    pub(super) bytes: Vec<u8>,
    /// Its columns: the names of the fields, or the whole record.
    columns: Vec<Vec<u8>>,
}

impl Header {
    /// The number of lines that it takes.
    pub(super) fn lines(&self, separator: u8) -> u64 {
        memchr::memchr_iter(separator, &self.bytes).count() as u64
    }

    /// Reads the header of an input, which an empty one does not have. Leaves what was read after
    /// it in `rest`.
    pub(super) fn read(
        name: &Arc<str>,
        reader: &mut impl Read,
        records: &Records,
        rest: &mut Vec<u8>,
    ) -> Result<Option<Self>, Why> {
        let Records { separator, max_record, ref key, .. } = *records;
        let mut cutter = Cutter::new(separator, key.format(separator));
        let mut bytes = Vec::new();
        let end = loop {
            let (seen, step) = (bytes.len(), records.chunk.clamp(1, STEP));
            let short = |_| Why::Read(memory::short(seen + step));
            bytes.try_reserve(step).map_err(short)?;
            bytes.resize(seen + step, 0);
            let read = match reader.read(&mut bytes[seen..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    bytes.truncate(seen);
                    continue;
                }
                Err(error) => return Err(Why::Read(error)),
            };
            bytes.truncate(seen + read);
            if let Some(end) = cutter.first_end(&bytes, seen) {
                break end;
            }
            if read == 0 {
                break bytes.len();
            }
            if bytes.len() as u64 > max_record {
                let open = cutter.is_open_in(&bytes[..=max_record as usize]);
                return Err(Why::TooLong { limit: max_record, open });
            }
        };
        rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        // The input may end in its header.
        let line = bytes.strip_suffix(&[separator]).unwrap_or(&bytes);
        if bytes.is_empty() {
            return Ok(None);
        }
        if line.len() as u64 > max_record {
            let open = cutter.is_open_in(&line[..=max_record as usize]);
            return Err(Why::TooLong { limit: max_record, open });
        }
        // Its fields are copied as a whole, too.
        let copies = 3 * line.len();
        if memory::left().is_some_and(|left| copies as u64 > left) {
            return Err(Why::Read(memory::short(copies)));
        }
        let columns = key.columns(line, separator, memory::is_short);
        let columns = columns.ok_or_else(|| Why::Read(memory::short(copies)))?;
        if line.len() == bytes.len() {
            bytes.push(separator);
        }
        Ok(Some(Self { name: Arc::clone(name), bytes, columns }))
    }

    /// Returns an error if this header has other columns than the first one.
    pub(super) fn require(&self, first: &Self) -> Result<(), Why> {
        if self.columns == first.columns {
            return Ok(());
        }
        let same = self.columns.iter().zip(&first.columns).take_while(|(one, other)| one == other);
        Err(Why::Header(format!(
            "its header is not that of {}: they differ in column {}; give files with one header in one run",
            first.name,
            same.count() + 1
        )))
    }

    /// Returns the key of records below this header.
    pub(super) fn resolved(&self, key: &Key) -> Result<Key, Error> {
        let refused = |found| Error::Input { name: self.name.to_string(), found };
        key.resolved(&self.columns).map_err(refused)
    }
}

/// Reads the headers of all inputs that are plain files, before any record is read, and returns an
/// error if one does not have the columns of the others, or not the names of the key.
pub(crate) fn check(inputs: &[Input<'_>], records: &Records) -> Result<(), Error> {
    let mut first = None;
    for Input { name, again, .. } in inputs {
        let Some(again) = again else { continue };
        let refused = |why: Why| why.at(Arc::clone(name), 1);
        let mut reader = again.open().map_err(|error| refused(Why::Read(error)))?;
        let header = Header::read(name, &mut reader, records, &mut Vec::new()).map_err(refused)?;
        let Some(header) = header else { continue };
        match &first {
            Some(first) => header.require(first).map_err(refused)?,
            None => {
                header.resolved(&records.key)?;
                first = Some(header);
            }
        }
    }
    Ok(())
}

/// Returns an error if no record has the byte between fields, as far as plain files say before
/// anything is printed.
pub(super) fn require_delimiter(inputs: &[Input<'_>], records: &Records) -> Result<(), Error> {
    let Some(delimiter) = records.key.delimiter() else { return Ok(()) };
    let mut buffer = vec![0; STEP];
    let mut empty = true;
    for input in inputs {
        // A pipe may have it, and what cannot be read is reported when its turn comes.
        let Some(Ok(mut reader)) = input.again.as_ref().map(Opener::open) else { return Ok(()) };
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) if memchr::memchr(delimiter, &buffer[..read]).is_none() => empty = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return Ok(()),
            }
        }
    }
    if empty { Ok(()) } else { Err(Error::Undelimited { delimiter }) }
}
