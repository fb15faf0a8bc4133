//! The line of a directory for a slice of a Bloom filter that grows.

use tamis_bloom::raw::SliceSizes;
use tamis_sync::LINE_BITS;

use crate::error::LoadError;
use crate::layout::line_bytes::Words;
use crate::sizes::chain::ChainSizes;

/// The most items of a slice in a file.
const MAX_ITEMS: u64 = 1 << 62;

/// Returns the number of items that each counted item of a slice stands for.
fn counted_step(capacity: u64) -> u64 {
    1 << (capacity >> 16).checked_ilog2().unwrap_or(0)
}

/// Reads and checks the line of this number. Words that it does not use are checked by the caller.
pub(crate) fn of_words(
    chain: ChainSizes,
    entry: u32,
    words: Words,
) -> Result<SliceSizes, LoadError> {
    let require = |field, found, expected| {
        if found == expected {
            Ok(())
        } else {
            Err(LoadError::Directory { entry, field, found, expected })
        }
    };
    let [bits, item, capacity, items, ..] = words;
    let (probes, words) = (item as u32, (item >> 32) as u32);
    if entry == 0 {
        let [first_probes, first_words] = chain.first_item();
        require("number of probes", probes.into(), first_probes.into())?;
        require("number of words", words.into(), first_words.into())?;
    }
    let geometry = chain
        .slice(bits, probes, words)
        .map_err(|error| LoadError::DirectorySizes { entry, error })?;
    require("number of bits", bits, (bits - bits % LINE_BITS).max(LINE_BITS))?;
    require("capacity", capacity, capacity.max(1))?;
    // Only the items that are counted count.
    let most = items.min(MAX_ITEMS);
    require("number of items", items, most - most % counted_step(capacity))?;
    Ok(SliceSizes { geometry, capacity, items })
}

/// Returns the line of a slice.
pub(crate) fn to_words(slice: &SliceSizes) -> Words {
    let SliceSizes { geometry, capacity, items } = *slice;
    let item = u64::from(geometry.words()) << 32 | u64::from(geometry.probes());
    // A loaded slice that had the most items may have more.
    [geometry.bits(), item, capacity, items.min(MAX_ITEMS), 0, 0, 0, 0]
}
