//! Tables: their lines, and what counts as an item.

use std::os::fd::AsRawFd;

use tamis_formats::{LoadError, Options, TableParts};

use crate::memory_file::memory_file;

/// The lines of a body: those of the directory, then those of the shards.
pub(crate) type Lines = Vec<[u64; 8]>;

/// Loads a table in the way of the program `tamis`: a line has as many items as words that are not
/// 0, and a line whose first word has all bits is none of a table.
pub(crate) fn load(bytes: &[u8], options: &Options) -> Result<(TableParts, Lines), LoadError> {
    let file = memory_file(bytes);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut lines = Lines::new();
    let parts = options.load_table(path, |number, words| {
        assert_eq!(number, lines.len() as u64, "lines in order");
        lines.push(*words);
        items_in(words)
    })?;
    Ok((parts, lines))
}

/// Returns the number of items in a line.
pub(crate) fn items_in(words: &[u64; 8]) -> Option<u32> {
    (words[0] != u64::MAX).then(|| words.iter().filter(|word| **word != 0).count() as u32)
}
