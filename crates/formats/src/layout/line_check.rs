//! What the lines of a body may contain.

use tamis_bloom as bloom;
use tamis_cuckoo as cuckoo;
use tamis_cuckoo::raw::growing::Extent;

use crate::layout::line_bytes::Words;
use crate::sizes::geometry::Geometry;

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
    /// The buckets of a cuckoo filter that grows.
    Growing(Extent),
    /// The words of a rotating filter, of which those of the spare generation are zero.
    Window {
        /// The generations with the spare one, whose words alternate.
        slots: u64,
        /// The place of the spare one among them.
        spare: u64,
    },
    /// A body whose own reader checks the lines.
    Other,
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
            Geometry::GrowingCuckoo(sizes) => Self::Growing(sizes.extent()),
            Geometry::Window(sizes) => Self::Window { slots: sizes.slots(), spare: sizes.spare() },
            Geometry::Chain(_) | Geometry::Table(_) | Geometry::Foreign(_) => Self::Other,
        }
    }

    /// Returns the number of fingerprints in consecutive lines (0 in a Bloom filter), from line
    /// `first` on. Returns the number of a line as an error if a bit is set in it that no item can
    /// set.
    pub(crate) fn items_in(
        &self,
        first: u64,
        lines: impl Iterator<Item = Words>,
    ) -> Result<u64, u64> {
        match self {
            Self::Bloom { inner, last, last_line } => {
                let has_spare = |&(line, words): &(u64, Words)| {
                    let of_items = if line == *last_line { last } else { inner };
                    // One branch for all words: none is ever taken in a correct file.
                    let words = words.iter().zip(of_items);
                    words.fold(0, |spare, (word, of_items)| spare | word & !of_items) != 0
                };
                match (first..).zip(lines).find(has_spare) {
                    None => Ok(0),
                    Some((line, _)) => Err(line),
                }
            }
            Self::Cuckoo(sizes) => (first..).zip(lines).try_fold(0, |sum, (line, words)| {
                let len = cuckoo::raw::line_len(*sizes, line, &words).ok_or(line)?;
                Ok(sum + u64::from(len))
            }),
            Self::Growing(extent) => (first..).zip(lines).try_fold(0, |sum, (line, words)| {
                let len = extent.line_len(line, &words).ok_or(line)?;
                Ok(sum + u64::from(len))
            }),
            Self::Window { slots, spare } => {
                let has_spare = |&(line, words): &(u64, Words)| {
                    (8 * line..).zip(words).any(|(word, bits)| bits != 0 && word % slots == *spare)
                };
                match (first..).zip(lines).find(has_spare) {
                    None => Ok(0),
                    Some((line, _)) => Err(line),
                }
            }
            Self::Other => Err(first),
        }
    }
}
