//! Parquet: a whole file as a filter, with the Bloom filters of one column.

use core::ops::Range;
use std::io;

use tamis_bloom::split_block::View;

use super::bits::BitArray;
use super::cursor::in_range;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::{Key, KeyType};
use super::parquet::{self, ParquetFilter};
use super::parquet_file::ParquetColumn;
use super::rates;

/// The most columns that an error lists, and the most bytes of its list.
const MAX_COLUMNS: usize = 16;
const MAX_LIST: usize = 400;

/// A Parquet file with the Bloom filters of one of its columns.
///
/// The filter contains a key if the Bloom filter of the column does so in any row group. Each row
/// group must have one: where it is missing, each key may be in the rows. No key can be inserted.
#[derive(Clone, Debug)]
pub(super) struct ParquetFileFilter {
    file: BitArray,
    column: String,
    /// Of each row group, in order.
    filters: Vec<RowGroup>,
}

/// The filter of a row group.
#[derive(Clone, Debug)]
struct RowGroup {
    key_type: KeyType,
    /// Where in the file its bitset is.
    bitset: Range<usize>,
}

impl ParquetFileFilter {
    /// Reads the filters of a column. Its name is its path in the schema, joined by dots: `a.b`.
    /// Without a name, the file must have filters for one column only.
    pub(super) fn from_bytes(file: &[u8], column: Option<&str>) -> Result<Self, Error> {
        let (mut names, mut filters, mut bytes) = (Names::default(), Vec::new(), 0);
        let (mut path, mut is_one) = (None, true);
        // The columns are not kept: in a hostile file they take many times its bytes.
        let row_groups = ParquetColumn::each(file, &mut |of| {
            names.add(&of);
            if column.is_some_and(|column| of.path.join(".") != column) {
                return Ok(());
            }
            let path = path.get_or_insert_with(|| of.path.clone());
            // Another column, which may have the same name: `a.b` and `b` in `a`.
            is_one &= of.path == *path;
            if !is_one {
                return Ok(());
            }
            if of.row_group != filters.len() {
                return Err(Error::RowGroup { number: filters.len() as u64 });
            }
            let bitset = of.bitset(file)?;
            // Filters of a writer do not overlap. If they did, they could have many times the bytes
            // of the file.
            bytes += bitset.len();
            in_range("the bytes of all filters", bytes as i64, 0, file.len() as i64)?;
            filters.push(RowGroup { key_type: of.key_type, bitset });
            Ok(())
        })?;
        let Some(path) = path.filter(|_| is_one) else {
            return Err(Error::Column { columns: names.list });
        };
        if filters.len() < row_groups {
            return Err(Error::RowGroup { number: filters.len() as u64 });
        }
        Ok(Self { file: BitArray::of_bytes(file)?, column: path.join("."), filters })
    }

    /// Returns the name of the column.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// Returns one filter that contains each key of the column: that of the row group, or the union
    /// of those of all row groups. Returns `None` if they have several sizes.
    pub(super) fn union(&self) -> Result<Option<ParquetFilter>, Error> {
        let read =
            |of: &RowGroup| ParquetFilter::from_bytes(&self.file.as_bytes()[of.bitset.clone()]);
        let Some((first, others)) = self.filters.split_first() else { return Ok(None) };
        let mut union = read(first)?;
        for other in others {
            if union.union_with(&read(other)?).is_err() {
                return Ok(None);
            }
        }
        Ok(Some(union))
    }

    /// Returns the filter of a row group, in the bytes of the file.
    fn view(&self, of: &RowGroup) -> Result<View<'_>, Error> {
        View::new(&self.file.as_bytes()[of.bitset.clone()]).map_err(parquet::refused)
    }
}

/// The names of the columns of the first row group that has filters, for an error.
#[derive(Default)]
struct Names {
    row_group: Option<usize>,
    list: String,
    count: usize,
}

impl Names {
    fn add(&mut self, column: &ParquetColumn) {
        let is_of_first = *self.row_group.get_or_insert(column.row_group) == column.row_group;
        if !is_of_first || self.count > MAX_COLUMNS {
            return;
        }
        // A name may have any characters: those that would control a terminal are escaped.
        let name = column.path.join(".").escape_debug().to_string();
        self.list.push_str(if self.count > 0 { ", " } else { "" });
        if self.count == MAX_COLUMNS || self.list.len() + name.len() > MAX_LIST {
            self.list.push('…');
            self.count = MAX_COLUMNS;
        } else {
            self.list.push_str(&name);
        }
        self.count += 1;
    }
}

impl Filter for ParquetFileFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        for of in &self.filters {
            if self.view(of)?.contains_hash(parquet::hash(key, of.key_type)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn insert(&mut self, _: Key<'_>) -> Result<bool, Error> {
        Err(Error::ReadOnly)
    }

    fn format(&self) -> Format {
        Format::ParquetFile
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let bytes: usize = self.filters.iter().map(|of| of.bitset.len()).sum();
        let row_groups = self.filters.len() as u64;
        vec![("bits", 8 * bytes as u64), ("row groups", row_groups), ("hash functions", 8)]
    }

    fn false_positive_rate(&self) -> f64 {
        // The lengths were checked when the file was read.
        let views = self.filters.iter().filter_map(|of| self.view(of).ok());
        rates::of_any(views.map(|view| view.false_positive_rate()))
    }

    fn encoded_len(&self) -> u64 {
        self.file.as_bytes().len() as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(self.file.as_bytes())
    }
}
