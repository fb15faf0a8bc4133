//! The table of the program `tamis` as lines: this crate keeps it in a file, the program knows what
//! the lines mean.

use std::path::Path;

use tamis_hash::{AnyStable, StableHasher};
use tamis_sync::LINE_BYTES;

use crate::error::LoadError;
use crate::io::info::open;
use crate::io::replace::{Complete, Target};
use crate::io::save::write_lines;
use crate::kind::Kind;
use crate::layout::body;
use crate::layout::header::{HEADER, Header};
use crate::layout::line_bytes::words_of;
use crate::layout::source::Computed;
use crate::layout::table::Table;
use crate::options::Options;
use crate::save_error::SaveError;
use crate::sizes::geometry::Geometry;
use crate::sizes::table::TableSizes;

/// What the header of a table says, apart from its normalization.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct TableParts {
    /// The sizes.
    pub sizes: TableSizes,
    /// The hash function of the items.
    pub hasher: AnyStable,
    /// The number of items that the table takes before it grows, at least 1.
    pub capacity: u64,
    /// The number of items.
    pub items: u64,
}

impl Options {
    /// Writes the file of a table, which has not got its name yet. `line` returns each line of the
    /// body: the directory of 24 lines, then those of the shards.
    #[doc(hidden)]
    pub fn prepare_table(
        &self,
        parts: &TableParts,
        line: impl Fn(u64) -> [u64; 8],
        path: impl AsRef<Path>,
    ) -> Result<Complete, SaveError> {
        let TableParts { sizes, hasher, capacity, items } = parts;
        let target = Target::new(path.as_ref())?;
        let geometry = Geometry::Table(*sizes);
        let header = Header::new(Kind::Table, hasher, self.normalization, geometry, *capacity);
        let mut file = target.temporary()?;
        let mut lines = Computed { line, items: *items };
        write_lines(file.as_file_mut(), header, &mut lines)?;
        Ok(target.complete(file)?)
    }

    /// Loads a table. `store` gets each line of the body in order, and returns the number of items
    /// in it, or `None` if no table has this line. It is not called with a line of a chunk whose
    /// checksum is wrong. It is an error too if `store` has returned `None`, or if the sum of the
    /// items is another one than in the header.
    #[doc(hidden)]
    pub fn load_table(
        &self,
        path: impl AsRef<Path>,
        mut store: impl FnMut(u64, &[u64; 8]) -> Option<u32>,
    ) -> Result<TableParts, LoadError> {
        let (file, header) = open(path.as_ref())?;
        let Header { kind, normalization, algorithm, key, capacity, items, .. } = header.clone();
        let Geometry::Table(sizes) = header.geometry else {
            return Err(LoadError::OtherKind { found: kind, expected: Kind::Table });
        };
        self.expect_normalization(normalization)?;
        let hasher = AnyStable::from_key(algorithm, key).ok_or(LoadError::Key)?;
        let from = &mut file.at(HEADER as u64);
        let table = Table::read(from, &header)?;
        let mut items_in = |first, bytes: &[[u8; LINE_BYTES]]| {
            (first..).zip(bytes).try_fold(0, |sum, (line, bytes)| {
                let found = store(line, &words_of(bytes)).ok_or(line)?;
                Ok(sum + u64::from(found))
            })
        };
        let items_in = |first, bytes: &[_]| items_in(first, bytes).map_err(body::spare_bits);
        body::read_chunks(from, &header, &table, items_in, |_, _| ())?;
        Ok(TableParts { sizes, hasher, capacity, items })
    }
}
