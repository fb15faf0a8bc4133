//! Reads Thrift's compact protocol, as far as the metadata of Parquet needs it.
//!
//! Each element of a list takes at least one byte, and structures are nested to a limit. So a
//! length or a depth in the bytes costs no more time than the bytes that are there. Source:
//! `doc/specs/thrift-compact-protocol.md` of Apache Thrift.

use super::cursor::{Cursor, in_range};
use super::error::Error;

/// The deepest nesting: that of Parquet is 7.
const MAX_DEPTH: i64 = 32;

pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// The bytes of a structure, and how deep the reader is in it.
pub(super) struct Thrift<'b> {
    cursor: Cursor<'b>,
    depth: i64,
}

impl<'b> Thrift<'b> {
    pub(super) const fn new(bytes: &'b [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), depth: 0 }
    }

    /// Returns all bytes that are left.
    pub(super) fn rest(&mut self) -> &'b [u8] {
        self.cursor.rest()
    }

    /// Reads a structure. `each` takes the number and the type of a field. It reads the value and
    /// returns `true`, or returns `false`: then the value is skipped.
    pub(super) fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, i64, u8) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        self.deeper(|this| {
            let mut id = 0_i64;
            loop {
                let header = this.cursor.u8()?;
                let (step, kind) = (header >> 4, header & 15);
                if kind == 0 {
                    return Ok(());
                }
                // The number of a field is a step from the one before, or stands in full.
                id = if step == 0 { this.integer()? } else { id.saturating_add(step.into()) };
                if !each(this, id, kind)? {
                    // The type of a field that is a Boolean is its value.
                    this.skip(kind, kind <= 2)?;
                }
            }
        })
    }

    /// Reads a list whose elements have this type.
    pub(super) fn list(
        &mut self,
        kind: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (length, found) = self.list_header()?;
        // Writers give an empty list any type.
        if length > 0 {
            in_range("the type of a list", found.into(), kind.into(), kind.into())?;
        }
        (0..length).try_for_each(|_| each(self))
    }

    /// Reads a signed integer.
    pub(super) fn integer(&mut self) -> Result<i64, Error> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Reads bytes.
    pub(super) fn binary(&mut self) -> Result<&'b [u8], Error> {
        let length = self.varint()?;
        self.cursor.take(length)
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.cursor.u8()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(Error::Field { field: "the length of a number", found: 11, min: 1, max: 10 })
    }

    fn list_header(&mut self) -> Result<(u64, u8), Error> {
        let header = self.cursor.u8()?;
        let length = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        Ok((length, header & 15))
    }

    fn skip(&mut self, kind: u8, in_header: bool) -> Result<(), Error> {
        match kind {
            1 | 2 if in_header => {}
            1..=3 => drop(self.cursor.u8()?),
            4..=I64 => drop(self.varint()?),
            7 => drop(self.cursor.take(8)?),
            BINARY => drop(self.binary()?),
            LIST | 10 => {
                let (length, kind) = self.list_header()?;
                self.deeper(|this| (0..length).try_for_each(|_| this.skip(kind, false)))?;
            }
            11 => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.cursor.u8()? };
                self.deeper(|this| {
                    (0..length).try_for_each(|_| {
                        this.skip(kinds >> 4, false)?;
                        this.skip(kinds & 15, false)
                    })
                })?;
            }
            STRUCT => self.fields(|_, _, _| Ok(false))?,
            13 => drop(self.cursor.take(16)?),
            _ => in_range("the type of a field", kind.into(), 1, 13)?,
        }
        Ok(())
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.depth += 1;
        in_range("the depth of a structure", self.depth, 1, MAX_DEPTH)?;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }
}

/// Appends a number in groups of seven bits.
pub(super) fn push_varint(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}
