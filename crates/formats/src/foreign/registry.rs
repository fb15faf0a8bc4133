//! Reads and converts a filter whose format is known when the program runs.

use super::bits_and_blooms::BitsAndBloomsFilter;
use super::datasketches::DataSketchesFilter;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::go_cuckoo::GoCuckooFilter;
use super::guava::GuavaFilter;
use super::hadoop::HadoopFilter;
use super::hadoop_counting::HadoopCountingFilter;
use super::leveldb::LevelDbFilter;
use super::leveldb_block::LevelDbFilterBlock;
use super::orc::OrcFilter;
use super::parquet::ParquetFilter;
use super::parquet_file_filter::ParquetFileFilter;
use super::pybloom::PybloomFilter;
use super::pybloom_scalable::PybloomScalableFilter;
use super::rbloom::RbloomFilter;
use super::redis_bloom::RedisModuleBloomFilter;
use super::redis_cuckoo::RedisModuleCuckooFilter;
use super::rocksdb::RocksDbFilter;
use super::spark::SparkFilter;
use crate::layout::header::Header;

/// How a Parquet file begins.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// A filter of any format.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{AnyFilter, Filter, Format};
///
/// let filters: Vec<AnyFilter> = vec![
///     Format::GuavaMitz64.build(1000, Some(0.01), None)?,
///     Format::RedisCuckoo.build(1000, None, None)?,
/// ];
/// assert_eq!(filters[1].format(), Format::RedisCuckoo);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
pub type AnyFilter = Box<dyn Filter + Send + Sync>;

/// Reads a filter of one of these formats, such as those of [`Format::named`]. No bytes are filters
/// of two formats of one name, so that their order does not matter; of other formats, the first
/// whose bytes these can be is taken.
///
/// `column` names the column of a Parquet file. With it, the bytes must be such a file.
///
/// # Errors
///
/// If the bytes are a filter of none of the formats: the error of the format whose header they
/// have, or of the first format if no header matches. [`Error::NoFilter`] for a file of Tamis and
/// for text, which a format without a header would take, and for what looks like a filter block of
/// LevelDB if both its formats are possible. Of a Parquet file, [`Error::Column`] if no column with
/// filters has this name, or several have and none is named; [`Error::RowGroup`] if a row group has
/// no filter of the column.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Format, read};
///
/// let bytes = Format::GuavaMitz32.build(1000, Some(0.01), None)?.to_bytes();
/// let guava = Format::named("guava").ok_or("a name")?;
/// assert_eq!(read(guava, &bytes, None)?.format(), Format::GuavaMitz32);
///
/// let error = read(&[Format::GuavaMitz64], &bytes, None).unwrap_err();
/// assert_eq!(error.to_string(), "it is a filter of format guava:mitz32, not of guava:mitz64");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(formats: &[Format], bytes: &[u8], column: Option<&str>) -> Result<AnyFilter, Error> {
    require_no_other(formats, bytes)?;
    read_known(formats, bytes, column)
}

/// Reads a filter as [`read`] does, of bytes that are known to be one, whatever they look like.
pub(crate) fn read_known(
    formats: &[Format],
    bytes: &[u8],
    column: Option<&str>,
) -> Result<AnyFilter, Error> {
    // By its length alone, a damaged Parquet file could be a bitset.
    let is_file = bytes.starts_with(PARQUET_MAGIC) && formats.contains(&Format::ParquetFile);
    let only_file = is_file || column.is_some();
    let mut refused: Option<Error> = None;
    for &format in formats.iter().filter(|&&format| !only_file || format == Format::ParquetFile) {
        let error = match of_system(format, bytes, column) {
            Ok(filter) if formats.contains(&filter.format()) => return Ok(filter),
            Ok(filter) => Error::OtherFormat { found: filter.format(), expected: format },
            Err(error) => error,
        };
        if refused.as_ref().is_none_or(|first| !knows_header(first) && knows_header(&error)) {
            refused = Some(error);
        }
    }
    // Only a Parquet file has columns.
    Err(refused.unwrap_or(Error::Column { columns: String::new() }))
}

/// Returns an error for bytes that are something else. Some formats have no header: they take all
/// bytes, and would then change them.
fn require_no_other(formats: &[Format], bytes: &[u8]) -> Result<(), Error> {
    let both = [Format::LevelDbFilter, Format::LevelDbBlock];
    let found = if Header::is_of_tamis(bytes) {
        "a file of tamis"
    } else if is_text(bytes) {
        "text, not a filter"
    } else if both.iter().all(|format| formats.contains(format))
        && LevelDbFilterBlock::is_block(bytes)
    {
        "like the filter block of a table: name the format leveldb:block, or leveldb:filter"
    } else {
        return Ok(());
    };
    Err(Error::NoFilter { found })
}

/// The fewest bytes that are taken for text. Of a filter whose bits are set at random, this number
/// of bytes are all characters with a probability of 10^-27.
const TEXT_BYTES: usize = 64;

fn is_text(bytes: &[u8]) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r".contains(byte);
    bytes.len() >= TEXT_BYTES && !bytes.iter().any(is_mark) && str::from_utf8(bytes).is_ok()
}

/// Returns whether an error is one of bytes whose header is that of the format.
const fn knows_header(error: &Error) -> bool {
    !matches!(error, Error::Field { .. } | Error::Size { .. })
}

/// Reads a filter of the system of a format.
fn of_system(format: Format, bytes: &[u8], column: Option<&str>) -> Result<AnyFilter, Error> {
    Ok(match format {
        Format::BitsAndBlooms => Box::new(BitsAndBloomsFilter::from_bytes(bytes)?),
        Format::DataSketches => Box::new(DataSketchesFilter::from_bytes(bytes)?),
        Format::GoCuckoo => Box::new(GoCuckooFilter::from_bytes(bytes)?),
        Format::GuavaMitz64 | Format::GuavaMitz32 => Box::new(GuavaFilter::from_bytes(bytes)?),
        Format::HadoopBloom => Box::new(HadoopFilter::from_bytes(bytes)?),
        Format::HadoopCounting => Box::new(HadoopCountingFilter::from_bytes(bytes)?),
        Format::LevelDbFilter => Box::new(LevelDbFilter::from_bytes(bytes)?),
        Format::LevelDbBlock => Box::new(LevelDbFilterBlock::from_bytes(bytes)?),
        Format::Orc => Box::new(OrcFilter::from_bytes(bytes)?),
        Format::ParquetBitset => Box::new(ParquetFilter::from_bytes(bytes)?),
        Format::ParquetHeader => Box::new(ParquetFilter::from_bytes_with_header(bytes)?),
        Format::ParquetFile => Box::new(ParquetFileFilter::from_bytes(bytes, column)?),
        Format::PybloomBloom => Box::new(PybloomFilter::from_bytes(bytes)?),
        Format::PybloomScalable => Box::new(PybloomScalableFilter::from_bytes(bytes)?),
        Format::Rbloom => Box::new(RbloomFilter::from_bytes(bytes)?),
        Format::RedisBloom => Box::new(RedisModuleBloomFilter::from_bytes(bytes)?),
        Format::RedisCuckoo => Box::new(RedisModuleCuckooFilter::from_bytes(bytes)?),
        Format::RocksDbFormat5 | Format::RocksDbLegacy => {
            Box::new(RocksDbFilter::from_bytes(bytes)?)
        }
        Format::SparkV1 | Format::SparkV2 => Box::new(SparkFilter::from_bytes(bytes)?),
    })
}

/// Converts a filter into one of another format that contains the same keys. That is possible where
/// both hash a key alike and have the same bits:
///
/// * into the format that the filter has: a copy;
/// * from `parquet:bitset` to `parquet:header` and back;
/// * from `parquet:file` to `parquet:bitset` or `parquet:header`: the filter of the column. If
///   there are several row groups, whose filters have one size, it is their union.
///
/// # Errors
///
/// [`Error::Convert`] in all other cases, or [`Error::Alloc`].
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Format, convert};
///
/// let bitset = Format::ParquetBitset.build(1000, Some(0.01), None)?;
/// let with_header = convert(&*bitset, Format::ParquetHeader)?;
/// assert_eq!(with_header.encoded_len(), bitset.encoded_len() + 16);
///
/// let error = convert(&*bitset, Format::GuavaMitz64).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "parquet:bitset cannot become guava:mitz64: the two hash a key differently",
/// );
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
pub fn convert(filter: &dyn Filter, to: Format) -> Result<AnyFilter, Error> {
    let from = filter.format();
    let any: &dyn core::any::Any = filter;
    let refused = Error::Convert { from, to };
    let filter_of_column = any.downcast_ref::<ParquetFileFilter>();
    let with_column = |file: &ParquetFileFilter| file.column().to_owned();
    match (from, to) {
        _ if from == to => {
            let column = filter_of_column.map(with_column);
            of_system(to, &filter.to_bytes(), column.as_deref())
        }
        (Format::ParquetFile, Format::ParquetBitset | Format::ParquetHeader) => {
            let file = filter_of_column.ok_or(refused.clone())?;
            in_form(file.union()?.ok_or(refused)?, to)
        }
        (
            Format::ParquetBitset | Format::ParquetHeader,
            Format::ParquetBitset | Format::ParquetHeader,
        ) => in_form(any.downcast_ref::<ParquetFilter>().ok_or(refused)?.to_bitset()?, to),
        _ => Err(refused),
    }
}

/// Returns a bitset with or without a header.
fn in_form(bitset: ParquetFilter, to: Format) -> Result<AnyFilter, Error> {
    Ok(Box::new(if to == Format::ParquetHeader { bitset.to_header()? } else { bitset }))
}
