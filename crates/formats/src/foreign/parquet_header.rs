//! Parquet: the header in front of a bitset.
//!
//! ```text
//! BloomFilterHeader: 1 number of bytes, 2 algorithm {1 BLOCK}, 3 hash {1 XXHASH}, 4 compression {1 UNCOMPRESSED}
//! ```
//!
//! It is a structure in Thrift's compact protocol. Source: `parquet.thrift` of
//! `apache/parquet-format`.

use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::thrift::{I32, STRUCT, Thrift, push_varint};

/// The parts of bytes that begin with a header.
pub(super) struct Parts<'b> {
    pub(super) header: &'b [u8],
    pub(super) bitset: &'b [u8],
    /// What follows the bitset.
    pub(super) rest: &'b [u8],
}

/// Splits bytes that begin with a header.
pub(super) fn split(bytes: &[u8]) -> Result<Parts<'_>, Error> {
    let mut fields = Thrift::new(bytes);
    let mut count = 0;
    let mut sorts = [0; 3];
    fields.fields(|fields, id, kind| {
        match (id, kind) {
            (1, I32) => count = fields.integer()?,
            // The field of a union says the sort.
            (2..=4, STRUCT) => fields.fields(|_, sort, _| {
                sorts[id as usize - 2] = sort;
                Ok(false)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    in_range("the algorithm", sorts[0], 1, 1)?;
    in_range("the hash", sorts[1], 1, 1)?;
    in_range("the compression", sorts[2], 1, 1)?;
    in_range("the number of bytes", count, 0, i32::MAX.into())?;
    let after = fields.rest();
    let header = &bytes[..bytes.len() - after.len()];
    let mut cursor = Cursor::new(after);
    Ok(Parts { header, bitset: cursor.take(count as u64)?, rest: cursor.rest() })
}

/// Returns the header of a bitset of this number of bytes, as the writers write it.
pub(super) fn of_bitset(bytes: u64) -> Vec<u8> {
    // Field 1 is an i32, in zigzag form.
    let mut header = vec![0x15];
    push_varint(&mut header, 2 * bytes);
    // Fields 2, 3 and 4 are unions. Field 1 of each is an empty structure.
    header.extend([0x1c, 0x1c, 0, 0].repeat(3));
    header.push(0);
    header
}
