//! Parquet: a whole file as a filter, with the Bloom filters of one column.

use std::io;

use super::bits::BitArray;
use super::cursor::in_range;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::parquet::ParquetFilter;
use super::parquet_file::ParquetColumn;
use super::rates;

/// The most columns that an error lists, and the most bytes of its list.
const MAX_COLUMNS: usize = 16;
const MAX_LIST: usize = 400;

/// A Parquet file with the Bloom filters of one of its columns.
///
/// The filter contains a key if the Bloom filter of the column does so in any row group. Each row
/// group must have one: where it is missing, each key may be in the rows. No key can be inserted.
///
/// # Examples
///
/// ```no_run
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, ParquetFileFilter};
///
/// let file = std::fs::read("users.parquet")?;
/// let users = ParquetFileFilter::from_bytes(&file, Some("id"))?;
/// println!("may have 42: {}", users.contains(Key::I64(42))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParquetFileFilter {
    file: BitArray,
    column: String,
    /// Of each row group, in order.
    filters: Vec<ParquetFilter>,
}

impl ParquetFileFilter {
    /// Reads the filters of a column. Its name is its path in the schema, joined by dots: `a.b`.
    /// Without a name, the file must have filters for one column only.
    ///
    /// # Errors
    ///
    /// [`Error::Column`] with the columns that have filters, if the column has none, or if there is
    /// no name and several columns have filters; [`Error::RowGroup`] if a row group has no filter
    /// for the column; and as [`ParquetColumn::all`] and [`ParquetColumn::filter`].
    pub fn from_bytes(file: &[u8], column: Option<&str>) -> Result<Self, Error> {
        let (columns, row_groups) = ParquetColumn::all_and_row_groups(file)?;
        let first = match column {
            Some(name) => columns.iter().find(|of| of.path.join(".") == name),
            None => columns.first(),
        };
        let first = first.ok_or_else(|| unknown(&columns))?;
        let (name, mut filters, mut bytes) = (first.path.join("."), Vec::new(), 0);
        for of in &columns {
            if of.path != first.path {
                // Another column, which may have the same name: `a.b` and `b` in `a`.
                if column.is_none() || of.path.join(".") == name {
                    return Err(unknown(&columns));
                }
                continue;
            }
            if of.row_group != filters.len() {
                return Err(Error::RowGroup { number: filters.len() as u64 });
            }
            let filter = of.filter(file)?;
            // Filters of a writer do not overlap. If they did, they could take many times the bytes
            // of the file.
            bytes += filter.encoded_len();
            in_range("the bytes of all filters", bytes as i64, 0, file.len() as i64)?;
            filters.push(filter);
        }
        if filters.len() < row_groups {
            return Err(Error::RowGroup { number: filters.len() as u64 });
        }
        Ok(Self { file: BitArray::of_bytes(file)?, column: name, filters })
    }

    /// Returns the name of the column.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::ParquetFileFilter;
    ///
    /// let file = std::fs::read("users.parquet")?;
    /// println!("{}", ParquetFileFilter::from_bytes(&file, None)?.column());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Returns one filter that contains each key of the column: that of the row group, or the union
    /// of those of all row groups. Returns `None` if they have several sizes.
    pub(super) fn union(&self) -> Result<Option<ParquetFilter>, Error> {
        let Some((first, others)) = self.filters.split_first() else { return Ok(None) };
        let mut union = first.to_bitset()?;
        Ok(others.iter().all(|other| union.unite(other)).then_some(union))
    }
}

/// Returns the error that lists the columns.
fn unknown(columns: &[ParquetColumn]) -> Error {
    let mut list = String::new();
    let names = columns.iter().filter(|column| column.row_group == columns[0].row_group);
    for (number, column) in names.enumerate() {
        // A name may have any characters: those that would control a terminal are escaped.
        let name = column.path.join(".").escape_debug().to_string();
        list.push_str(if number > 0 { ", " } else { "" });
        if number == MAX_COLUMNS || list.len() + name.len() > MAX_LIST {
            list.push('…');
            break;
        }
        list.push_str(&name);
    }
    Error::Column { columns: list }
}

impl Filter for ParquetFileFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        for filter in &self.filters {
            if filter.contains(key)? {
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
        let bytes: u64 = self.filters.iter().map(Filter::encoded_len).sum();
        let row_groups = self.filters.len() as u64;
        vec![("bits", 8 * bytes), ("row groups", row_groups), ("hash functions", 8)]
    }

    fn false_positive_rate(&self) -> f64 {
        rates::of_any(self.filters.iter().map(Filter::false_positive_rate))
    }

    fn encoded_len(&self) -> u64 {
        self.file.as_bytes().len() as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(self.file.as_bytes())
    }
}
