//! The index of a set: where each filter is, and its name. From bytes and back, with all checks of
//! an index.

use core::ops::Range;
use std::io::Read;

use super::error::SetError;
use super::limits::{ALIGN, ENTRY, MAX_NAME};
use super::trailer::Trailer;
use crate::layout::checksum::checksum;
use crate::layout::fields::u64_at;
use crate::layout::header::HEADER;

/// The length of the smallest filter: a header with a table, and one line.
const MIN_LEN: u64 = ALIGN + 64;

/// The bytes of an index that are read before their entries are checked: more than an entry has.
const PART: usize = 1 << 20;

/// Where a filter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) header_checksum: u64,
}

impl Place {
    /// Returns where the zeros after the filter end.
    pub(super) const fn padded_end(self) -> u64 {
        (self.offset + self.len).next_multiple_of(ALIGN)
    }

    /// Appends the entry of a filter with this name, which has at most [`MAX_NAME`] bytes.
    pub(super) fn push(self, name: &[u8], index: &mut Vec<u8>) {
        for field in [self.offset, self.len, self.header_checksum, name.len() as u64] {
            index.extend_from_slice(&field.to_le_bytes());
        }
        index.extend_from_slice(name);
    }
}

/// The checksum in the bytes of a header.
pub(super) fn header_checksum(header: &[u8; HEADER]) -> u64 {
    u64_at(header, HEADER - 8)
}

/// The entries of an index.
pub(super) struct Index {
    /// The bytes of the index, which contain the names.
    bytes: Vec<u8>,
    entries: Vec<(Place, Range<usize>)>,
    /// The numbers of the filters in the order of their names.
    by_name: Vec<usize>,
}

impl Index {
    /// Reads and checks an index.
    ///
    /// The entries of a part are checked before the next part is read. So an index that is a hole
    /// of a sparse file, whose length takes no space, takes no memory either.
    pub(super) fn read(from: &mut dyn Read, trailer: &Trailer) -> Result<Self, SetError> {
        let mut index = Self { bytes: Vec::new(), entries: Vec::new(), by_name: Vec::new() };
        let too_long = |expected: usize| {
            let (found, expected) = (trailer.index_len, expected as u64);
            SetError::Field { field: "index length", found, expected }
        };
        loop {
            let left = trailer.index_len - index.bytes.len() as u64;
            let part = left.min(PART as u64);
            let refused = index.bytes.try_reserve(part as usize);
            refused.map_err(|_| SetError::Alloc { bytes: trailer.index_len })?;
            let read = from.take(part).read_to_end(&mut index.bytes)? as u64;
            // A file that became shorter has another checksum.
            if part == left || read < part {
                break;
            }
            index.add_entries(trailer, false)?;
            if index.entries.len() as u64 == trailer.filters {
                return Err(too_long(ends(&index.entries).0));
            }
        }
        let (found, expected) = (trailer.index_checksum, checksum(&index.bytes));
        if found != expected {
            return Err(SetError::IndexChecksum { found, expected });
        }
        index.add_entries(trailer, true)?;
        let Self { bytes, entries, .. } = index;
        let (at, end) = ends(&entries);
        if end != trailer.index_offset {
            let (found, expected) = (trailer.index_offset, end);
            return Err(SetError::Field { field: "index offset", found, expected });
        }
        if at != bytes.len() {
            return Err(too_long(at));
        }
        // No two names are equal.
        let mut by_name: Vec<usize> = (0..entries.len()).collect();
        by_name.sort_by_key(|&filter| (&bytes[entries[filter].1.clone()], filter));
        for pair in by_name.windows(2) {
            let name = &bytes[entries[pair[0]].1.clone()];
            if name == &bytes[entries[pair[1]].1.clone()] {
                return Err(SetError::DuplicateName {
                    filters: [pair[0], pair[1]],
                    name: name.to_vec(),
                });
            }
        }
        Ok(Self { bytes, entries, by_name })
    }

    /// Checks and adds the entries that follow in the bytes. `is_whole`: whether these are all
    /// bytes. If not, the last entries stay for the next call: they may be incomplete.
    fn add_entries(&mut self, trailer: &Trailer, is_whole: bool) -> Result<(), SetError> {
        for filter in self.entries.len()..trailer.filters as usize {
            let (at, start) = ends(&self.entries);
            if !is_whole && self.bytes.len() - at < ENTRY + MAX_NAME {
                break;
            }
            let (place, name) = entry(&self.bytes, at, filter)?;
            check_place(place, filter, start, trailer.index_offset)?;
            self.entries.push((place, name));
        }
        Ok(())
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns where the filter of this number is.
    pub(super) fn place(&self, filter: usize) -> Option<Place> {
        self.entries.get(filter).map(|(place, _)| *place)
    }

    /// Returns the name of the filter of this number.
    pub(super) fn name(&self, filter: usize) -> Option<&[u8]> {
        self.entries.get(filter).map(|(_, name)| &self.bytes[name.clone()])
    }

    /// Returns the number of the filter of this name.
    pub(super) fn position(&self, name: &[u8]) -> Option<usize> {
        let found = self
            .by_name
            .binary_search_by_key(&name, |&filter| self.name(filter).unwrap_or_default());
        found.ok().map(|at| self.by_name[at])
    }
}

/// Returns where the last entry ends in the index, and where its filter and the zeros after it end.
fn ends(entries: &[(Place, Range<usize>)]) -> (usize, u64) {
    entries.last().map_or((0, 0), |(place, name)| (name.end, place.padded_end()))
}

/// Reads the entry of a filter, which starts at `at`, and returns the range of its name.
fn entry(bytes: &[u8], at: usize, filter: usize) -> Result<(Place, Range<usize>), SetError> {
    let short = |expected: u64| {
        let found = (bytes.len() - at) as u64;
        SetError::Entry { filter, field: "length of the entry", found, expected }
    };
    let rest = &bytes[at..];
    let entry = rest.first_chunk::<ENTRY>().ok_or_else(|| short(ENTRY as u64))?;
    let place = Place {
        offset: u64_at(entry, 0),
        len: u64_at(entry, 8),
        header_checksum: u64_at(entry, 16),
    };
    // The upper four bytes are reserved.
    let name_len = u64_at(entry, 24);
    if name_len > MAX_NAME as u64 {
        let expected = MAX_NAME as u64;
        return Err(SetError::Entry { filter, field: "name length", found: name_len, expected });
    }
    let name_len = name_len as usize;
    if rest.len() - ENTRY < name_len {
        return Err(short((ENTRY + name_len) as u64));
    }
    Ok((place, at + ENTRY..at + ENTRY + name_len))
}

/// Checks that a filter starts at `start` and ends before the index.
fn check_place(place: Place, filter: usize, start: u64, index_offset: u64) -> Result<(), SetError> {
    let wrong = |field, found, expected| Err(SetError::Entry { filter, field, found, expected });
    if place.offset != start {
        return wrong("offset", place.offset, start);
    }
    // `start` is at most the offset of the index.
    let room = index_offset - start;
    if place.len < MIN_LEN || place.len > room {
        return wrong("length", place.len, place.len.clamp(MIN_LEN, room.max(MIN_LEN)));
    }
    // The offset of the index may be no multiple of the alignment. A file has less than 2^63 bytes.
    if place.padded_end() > index_offset {
        return wrong("end", place.padded_end(), index_offset);
    }
    Ok(())
}
