//! The line of a directory for a slice of a Bloom filter that grows.

use tamis_bloom::raw::{self, SliceSizes};
use tamis_core::BuildError;
use tamis_sync::LINE_BITS;

use crate::error::LoadError;
use crate::layout::directory::{Entry, require_of_entry};
use crate::layout::header::Header;
use crate::layout::line_bytes::Words;
use crate::layout::line_check::LineCheck;
use crate::sizes::geometry::Geometry;

/// The most items that a slice counts.
const MAX_ITEMS: u64 = 1 << 62;

/// Returns the number of items that each counted item of a slice stands for.
fn counted_step(capacity: u64) -> u64 {
    1 << (capacity >> 16).checked_ilog2().unwrap_or(0)
}

/// What the directory says about one slice.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub(crate) sizes: SliceSizes,
}

impl Entry for Slice {
    const LINES: &'static str = "lines of the slices";

    fn of_words(header: &Header, number: u32, words: Words) -> Result<Self, LoadError> {
        let Geometry::Chain(chain) = header.geometry else {
            return Err(LoadError::Sizes(BuildError::Layout));
        };
        let require = |field, found, expected| require_of_entry(number, field, found, expected);
        let [bits, item, capacity, items, ..] = words;
        let (probes, words) = (item as u32, (item >> 32) as u32);
        if number == 0 {
            let [first_probes, first_words] = chain.first_item();
            require("number of probes", probes.into(), first_probes.into())?;
            require("number of words", words.into(), first_words.into())?;
        }
        let geometry = chain
            .slice(bits, probes, words)
            .map_err(|error| LoadError::DirectorySizes { entry: number, error })?;
        require("number of bits", bits, (bits - bits % LINE_BITS).max(LINE_BITS))?;
        require("capacity", capacity, capacity.max(1))?;
        // Only the items that are counted count.
        let most = items.min(MAX_ITEMS);
        require("number of items", items, most - most % counted_step(capacity))?;
        Ok(Self { sizes: SliceSizes { geometry, capacity, items } })
    }

    fn to_words(&self) -> Words {
        let SliceSizes { geometry, capacity, items } = self.sizes;
        let item = u64::from(geometry.words()) << 32 | u64::from(geometry.probes());
        [geometry.bits(), item, capacity, items, 0, 0, 0, 0]
    }

    fn lines(&self) -> u64 {
        raw::lines(self.sizes.geometry)
    }

    // The filter does not count its items exactly.
    fn items_in(&self, first: u64, lines: impl Iterator<Item = Words>) -> Result<u64, u64> {
        LineCheck::new(Geometry::Bloom(self.sizes.geometry)).items_in(first, lines)
    }
}
