//! What the lines of a body may contain.

use tamis_bloom as bloom;
use tamis_cuckoo as cuckoo;
use tamis_sync::LINE_WORDS;

use crate::Geometry;

/// The words of a line.
pub(crate) type Words = [u64; LINE_WORDS];

/// The check of the lines of one body.
#[derive(Debug)]
pub(crate) enum LineCheck {
    /// The bits of a Bloom filter that items can set.
    Bloom {
        /// Those of every line but the last one.
        inner: Words,
        /// Those of the last line.
        last: Words,
        /// The number of the last line.
        last_line: u64,
    },
    /// The buckets of a cuckoo filter.
    Cuckoo(cuckoo::Geometry),
    /// A table, whose reader checks the lines.
    Table,
}

impl LineCheck {
    pub(crate) fn new(geometry: Geometry) -> Self {
        match geometry {
            Geometry::Bloom(sizes) => {
                // Only the last line can have bits behind the last bit of the filter.
                let last_line = geometry.lines() - 1;
                let [inner, last] = [0, last_line].map(|line| bloom::raw::item_bits(sizes, line));
                Self::Bloom { inner, last, last_line }
            }
            Geometry::Cuckoo(sizes) => Self::Cuckoo(sizes),
            Geometry::Table(_) => Self::Table,
        }
    }

    /// Returns the number of fingerprints in a line (0 in a Bloom filter), or `None` if a bit is set that no item can
    /// set.
    #[inline]
    pub(crate) fn items_in(&self, line: u64, words: &Words) -> Option<u32> {
        match self {
            Self::Bloom { inner, last, last_line } => {
                let of_items = if line == *last_line { last } else { inner };
                // One branch for all words: none is ever taken in a correct file.
                let spare = words
                    .iter()
                    .zip(of_items)
                    .fold(0, |spare, (word, of_items)| spare | word & !of_items);
                (spare == 0).then_some(0)
            }
            Self::Cuckoo(sizes) => cuckoo::raw::line_len(*sizes, line, words),
            Self::Table => None,
        }
    }
}
