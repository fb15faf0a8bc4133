//! Parquet: finds the Bloom filters of a file.
//!
//! ```text
//! "PAR1", data, FileMetaData, u32 little-endian length of it, "PAR1"
//! FileMetaData: 4 row groups; RowGroup: 1 columns; ColumnChunk: 3 metadata
//! ColumnMetaData: 1 type, 3 path in the schema, 14 offset of the filter, 15 length of it
//! ```
//!
//! All structures are in Thrift's compact protocol. A filter begins with the header of
//! parquet_header.rs. Source: `parquet.thrift` of `apache/parquet-format`.

use core::ops::Range;

use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::key::KeyType;
use super::parquet::check_bitset;
use super::parquet_header::{self, Parts};
use super::thrift::{BINARY, I32, I64, LIST, STRUCT, Thrift};

const MAGIC: i64 = i32::from_le_bytes(*b"PAR1") as i64;

/// The most parts of a column's path.
const MAX_DEPTH: i64 = 100;

/// A function that is called with each column.
type OnColumn<'a> = dyn FnMut(ParquetColumn) -> Result<(), Error> + 'a;

/// A column of a row group that has a Bloom filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParquetColumn {
    /// The number of the row group, from 0.
    pub(super) row_group: usize,
    /// The path of the column in the schema. A byte that is not UTF-8 is replaced.
    pub(super) path: Vec<String>,
    /// The type of the keys: [`KeyType::Bytes`] for strings and all other types that are not
    /// integers.
    pub(super) key_type: KeyType,
    /// Where in the file the filter starts.
    pub(super) offset: u64,
    /// The bytes of the filter with its header, if the file has the number.
    pub(super) length: Option<u64>,
}

impl ParquetColumn {
    /// Calls `on_column` for each column of a file that has a Bloom filter, row group after row
    /// group. Returns the number of row groups.
    pub(super) fn each(file: &[u8], on_column: &mut OnColumn<'_>) -> Result<usize, Error> {
        let mut cursor = Cursor::new(file);
        in_range("the magic", cursor.i32_le()?.into(), MAGIC, MAGIC)?;
        // The footer: 8 bytes, which do not overlap the first magic.
        let footer = (file.len() as u64).saturating_sub(12);
        let data = cursor.take(footer)?;
        let (length, magic) = (cursor.u32_le()?, cursor.i32_le()?);
        in_range("the magic at the end", magic.into(), MAGIC, MAGIC)?;
        in_range("the length of the metadata", length.into(), 1, footer as i64)?;

        let mut row_group = 0;
        let mut metadata = Thrift::new(&data[data.len() - length as usize..]);
        metadata.fields(|metadata, id, kind| match (id, kind) {
            (4, LIST) => {
                metadata.list(STRUCT, |group| {
                    read_group(group, row_group, on_column)?;
                    row_group += 1;
                    Ok(())
                })?;
                Ok(true)
            }
            _ => Ok(false),
        })?;
        Ok(row_group)
    }

    /// Returns where in the file the bitset of the column is.
    pub(super) fn bitset(&self, file: &[u8]) -> Result<Range<usize>, Error> {
        let mut cursor = Cursor::new(file);
        cursor.take(self.offset)?;
        let bytes = match self.length {
            Some(length) => cursor.take(length)?,
            None => cursor.rest(),
        };
        let Parts { header, bitset, .. } = parquet_header::split(bytes)?;
        check_bitset(bitset)?;
        let start = self.offset as usize + header.len();
        Ok(start..start + bitset.len())
    }
}

fn read_group(
    group: &mut Thrift<'_>,
    row_group: usize,
    on_column: &mut OnColumn<'_>,
) -> Result<(), Error> {
    group.fields(|group, id, kind| match (id, kind) {
        (1, LIST) => {
            group.list(STRUCT, |chunk| {
                chunk.fields(|chunk, id, kind| match (id, kind) {
                    (3, STRUCT) => {
                        if let Some(column) = read_column(chunk, row_group)? {
                            on_column(column)?;
                        }
                        Ok(true)
                    }
                    _ => Ok(false),
                })
            })?;
            Ok(true)
        }
        _ => Ok(false),
    })
}

/// Reads the metadata of a column. Returns `None` if it has no filter.
fn read_column(
    metadata: &mut Thrift<'_>,
    row_group: usize,
) -> Result<Option<ParquetColumn>, Error> {
    let (mut key_type, mut path) = (KeyType::Bytes, Vec::new());
    let (mut offset, mut length) = (None, None);
    metadata.fields(|metadata, id, kind| {
        match (id, kind) {
            (1, I32) => {
                key_type = match metadata.integer()? {
                    1 => KeyType::I32,
                    2 => KeyType::I64,
                    _ => KeyType::Bytes,
                }
            }
            (3, LIST) => metadata.list(BINARY, |part| {
                // A part without a name takes a byte of the file, and more of memory.
                in_range("the depth of a column", path.len() as i64 + 1, 1, MAX_DEPTH)?;
                path.push(String::from_utf8_lossy(part.binary()?).into_owned());
                Ok(())
            })?,
            (14, I64) => offset = Some(metadata.integer()?),
            (15, I32) => length = Some(metadata.integer()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Some(offset) = offset else { return Ok(None) };
    in_range("the offset of a filter", offset, 0, i64::MAX)?;
    in_range("the length of a filter", length.unwrap_or(0), 0, i64::MAX)?;
    let (offset, length) = (offset as u64, length.map(|length| length as u64));
    Ok(Some(ParquetColumn { row_group, path, key_type, offset, length }))
}
