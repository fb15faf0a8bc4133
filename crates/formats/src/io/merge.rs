//! Adds the items of a saved Bloom filter to another, without holding it in memory.

use std::io::Read;
use std::path::Path;

use crate::error::LoadError;
use crate::filters::saved::{Mergeable, expect, expect_like};
use crate::io::info::open;
use crate::layout::body;
use crate::layout::header::{HEADER, Header};
use crate::layout::table::Table;
use crate::options::Options;

impl Options {
    /// Adds the items of a Bloom filter in a file to a filter of the same type, sizes, hash
    /// algorithm and seed. Other threads may insert meanwhile.
    ///
    /// It reads the file twice: it checks all bytes, then adds them. It takes 1 MiB of memory. A
    /// stream can be read only once: [`read`](crate::read) a filter from it, and merge the two.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the file cannot be read, if a byte is wrong, or if its filter does not fit.
    /// The filter is then as before. Only if the file changes or fails between the two readings,
    /// the items of the chunks before the fault may have been added; no other item is.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Options, save};
    /// use tamis::{BlockedBloomFilter, hash::Rapid};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("monday.tamis");
    /// let builder = BlockedBloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7));
    /// let (week, monday) = (builder.clone().build()?, builder.build()?);
    /// monday.insert("a");
    /// save(&monday, &path)?;
    ///
    /// Options::new().merge_from(&week, &path)?;
    /// assert!(week.contains("a"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge_from<F: Mergeable>(
        &self,
        filter: &F,
        path: impl AsRef<Path>,
    ) -> Result<(), LoadError> {
        let (file, header) = open(path.as_ref())?;
        expect::<F>(&header, self)?;
        expect_like(&header, filter)?;
        // First all checks, so that a damaged file changes nothing.
        check_rest(&mut file.at(HEADER as u64), &header)?;
        let from = &mut file.at(HEADER as u64);
        let table = Table::read(from, &header)?;
        body::read(from, &header, &table, |line, words| filter.union_line(line, words))
    }
}

/// Checks what follows a header.
pub(crate) fn check_rest(from: &mut dyn Read, header: &Header) -> Result<(), LoadError> {
    let table = Table::read(from, header)?;
    body::read(from, header, &table, |_, _| {})
}
