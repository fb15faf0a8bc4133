//! Filters of other systems in files of Tamis: their bytes, with a header and checksums.

use std::io::{Read, Write};
use std::path::Path;

use tamis_core::BuildError;
use tamis_hash::Rapid;
use tamis_sync::{LINE_BYTES, Lines};

use crate::error::LoadError;
use crate::foreign::{self, AnyFilter, Filter};
use crate::io::info::{Info, open};
use crate::io::replace::{Complete, Target};
use crate::io::save::write_lines;
use crate::io::write::{alloc, write_source};
use crate::kind::Kind;
use crate::layout::body;
use crate::layout::header::{HEADER, Header};
use crate::layout::line_bytes::Bytes;
use crate::layout::source::Copied;
use crate::layout::table::Table;
use crate::options::Options;
use crate::save_error::SaveError;
use crate::sizes::foreign::ForeignSizes;
use crate::sizes::geometry::Geometry;

/// Returns the bytes of a filter as the lines of a body, with its sizes.
fn lines_of(filter: &dyn Filter) -> Result<(Geometry, Copied), SaveError> {
    let sizes = ForeignSizes::new(filter.format(), filter.encoded_len());
    let sizes = sizes.ok_or(SaveError::Sizes(BuildError::TooLarge))?;
    let mut lines = Lines::zeroed(sizes.body_lines()).map_err(alloc)?;
    filter.write(&mut lines.bytes_mut())?;
    Ok((Geometry::Foreign(sizes), Copied { lines, items: 0 }))
}

impl Options {
    /// Saves a filter of another system in a file of Tamis, as [`save`](crate::save) saves a filter
    /// of Tamis: atomically, with checksums and with the normalization. The filter is copied.
    ///
    /// # Errors
    ///
    /// As [`save`](crate::save).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, Format, Key};
    /// use tamis::formats::{Info, Kind, Options};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("guava.tamis");
    /// let mut filter = Format::GuavaMitz64.build(1000, Some(0.01), None)?;
    /// filter.insert(Key::Text("a"))?;
    /// Options::new().save_foreign(&*filter, &path)?;
    /// assert_eq!(Info::open(&path)?.kind(), Kind::Foreign);
    ///
    /// let again = Options::new().load_foreign(&path, None)?;
    /// assert_eq!(again.to_bytes(), filter.to_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_foreign(
        &self,
        filter: &dyn Filter,
        path: impl AsRef<Path>,
    ) -> Result<(), SaveError> {
        Ok(self.prepare_foreign(filter, path)?.rename()?)
    }

    /// As [`prepare`](Self::prepare), for a filter of another system.
    #[doc(hidden)]
    pub fn prepare_foreign(
        &self,
        filter: &dyn Filter,
        path: impl AsRef<Path>,
    ) -> Result<Complete, SaveError> {
        let target = Target::new(path.as_ref())?;
        let (geometry, mut lines) = lines_of(filter)?;
        let mut file = target.temporary()?;
        write_lines(file.as_file_mut(), self.header_of_foreign(geometry), &mut lines)?;
        Ok(target.complete(file)?)
    }

    /// Writes the file of a filter of another system to a stream. See
    /// [`save_foreign`](Self::save_foreign).
    ///
    /// # Errors
    ///
    /// As [`write`](crate::write()).
    pub fn write_foreign(&self, filter: &dyn Filter, mut to: impl Write) -> Result<(), SaveError> {
        let (geometry, mut lines) = lines_of(filter)?;
        write_source(&mut to, self.header_of_foreign(geometry), &mut lines)
    }

    /// Loads a filter of another system from a file that [`save_foreign`](Self::save_foreign) has
    /// made. Its bytes are those that were saved. Of a Parquet file with the filters of several
    /// columns, `column` names one.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load), and [`LoadError::Foreign`] if the bytes are not a filter of the
    /// format in the header. A `column` of anything else than a Parquet file is an error too.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Format};
    /// use tamis::formats::{LoadError, Options};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("orc.tamis");
    /// Options::new().save_foreign(&*Format::Orc.build(1000, None, None)?, &path)?;
    /// let error = Options::new().load_foreign(&path, Some("id")).unwrap_err();
    /// assert!(matches!(error, LoadError::Foreign { error: Error::Column { .. }, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_foreign(
        &self,
        path: impl AsRef<Path>,
        column: Option<&str>,
    ) -> Result<AnyFilter, LoadError> {
        let (file, header) = open(path.as_ref())?;
        let sizes = self.expect_foreign(&header)?;
        // A sparse file takes no space for its length, so the memory comes before the table is
        // read.
        let mut bytes = Vec::new();
        reserve(&mut bytes, sizes.len())?;
        unwrap(&mut file.at(HEADER as u64), &header, sizes, bytes, column)
    }

    /// Reads a filter of another system from a stream, and takes exactly the bytes of its file. See
    /// [`load_foreign`](Self::load_foreign). Memory grows only as bytes arrive.
    ///
    /// # Errors
    ///
    /// As [`load_foreign`](Self::load_foreign).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::Options;
    /// use tamis::formats::foreign::{Filter, Format};
    ///
    /// let filter = Format::GoCuckoo.build(1000, None, None)?;
    /// let mut bytes = Vec::new();
    /// Options::new().write_foreign(&*filter, &mut bytes)?;
    /// assert_eq!(Options::new().read_foreign(&bytes[..], None)?.to_bytes(), filter.to_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_foreign(
        &self,
        mut from: impl Read,
        column: Option<&str>,
    ) -> Result<AnyFilter, LoadError> {
        let Info(header) = Info::read(&mut from)?;
        let sizes = self.expect_foreign(&header)?;
        unwrap(&mut from, &header, sizes, Vec::new(), column)
    }

    /// Returns the header, without the checksum of the table.
    fn header_of_foreign(&self, geometry: Geometry) -> Header {
        // FORMAT: layout 32: the hash is that of the other system, so the fields of a hash are
        // always the same.
        Header::new(Kind::Foreign, &Rapid::with_seed(0), self.normalization, geometry, 1)
    }

    /// Checks that a file holds what is asked for.
    fn expect_foreign(&self, header: &Header) -> Result<ForeignSizes, LoadError> {
        let Geometry::Foreign(sizes) = header.geometry else {
            return Err(LoadError::OtherKind { found: header.kind, expected: Kind::Foreign });
        };
        self.expect_normalization(header.normalization)?;
        Ok(sizes)
    }
}

/// Reads what follows a header, with all checks. `bytes` is empty.
fn unwrap(
    from: &mut dyn Read,
    header: &Header,
    sizes: ForeignSizes,
    mut bytes: Vec<u8>,
    column: Option<&str>,
) -> Result<AnyFilter, LoadError> {
    let table = Table::read(from, header)?;
    let store = |first: u64, lines: &Bytes| {
        let lines = lines.as_flattened();
        let left = sizes.len() - bytes.len() as u64;
        let (of_filter, padding) = lines.split_at(left.min(lines.len() as u64) as usize);
        if let Some(at) = padding.iter().position(|byte| *byte != 0) {
            let before = header.body_offset() + first * LINE_BYTES as u64;
            return Err(LoadError::NotZero { offset: before + (of_filter.len() + at) as u64 });
        }
        reserve(&mut bytes, of_filter.len() as u64)?;
        bytes.extend_from_slice(of_filter);
        Ok(0)
    };
    body::read_chunks(from, header, &table, store, |_, _| ())?;
    let format = sizes.format();
    foreign::read_known(&[format], &bytes, column)
        .map_err(|error| LoadError::Foreign { format, error })
}

fn reserve(bytes: &mut Vec<u8>, more: u64) -> Result<(), LoadError> {
    let reserved = usize::try_from(more).ok().map(|more| bytes.try_reserve(more));
    if matches!(reserved, Some(Ok(()))) { Ok(()) } else { Err(LoadError::Alloc { bytes: more }) }
}
