//! The words of a filter, for crates that save filters and load them.
//!
//! A filter is an array of lines ([`Lines`]) and a [`Geometry`], which says which bits of them an
//! item has. This module gives access to both. It knows no bytes and no files: a crate such as
//! `tamis-formats` does.
//!
//! The lines of a [`CountingBloomFilter`](crate::CountingBloomFilter) have counters: four lines for
//! each line of a blocked filter with the same bits. Counter words `4w` to `4w + 3` belong to word
//! `w` of the blocked filter's array. Bit `b` of that word has counter `b / 4` of counter word `4w
//! + b % 4`, in bits `4 (b / 4)` to `4 (b / 4) + 3` of it. Any value of a counter is valid.
//!
//! # Examples
//!
//! ```
//! # use tamis_bloom as tamis;
//! use tamis::hash::Rapid;
//! use tamis::BlockedBloomFilter;
//! use tamis_bloom::raw;
//!
//! let builder = BlockedBloomFilter::<str>::builder().hasher(Rapid::with_seed(1));
//! let filter = builder.capacity(1000).build()?;
//! filter.insert("a");
//!
//! // Copy the filter, word by word.
//! let geometry = filter.geometry();
//! let mut lines = raw::Lines::zeroed(raw::lines(geometry))?;
//! for number in 0..raw::lines(geometry) {
//!     let words = raw::read_line(&filter, number);
//!     let allowed = raw::item_bits(geometry, number);
//!     assert!(words.iter().zip(allowed).all(|(word, allowed)| word & !allowed == 0));
//!     for (to, word) in lines[number as usize].words.iter_mut().zip(words) {
//!         to.update(|to| *to = word);
//!     }
//! }
//! let copy: BlockedBloomFilter<str, Rapid> = raw::from_lines(geometry, 1000, Rapid::with_seed(1), lines)?;
//! assert!(copy.contains("a"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use tamis_core::LinesError;
use tamis_hash::split;
use tamis_sync::LINE_BITS;
pub use tamis_sync::{LINE_WORDS, Lines};

use crate::array::Array;
use crate::bits::LOCK;
use crate::filter::{Buildable, sealed};
use crate::geometry::{Geometry, Kind};
use crate::once::OnceBloomFilter;
pub use crate::rotating::raw::{
    Rotation, read_rotating_line, rotating_from_lines, rotating_lines, rotation,
    try_rotating_snapshot,
};
use crate::shared::Shared;

mod slices;

pub use self::slices::{Growth, SliceSizes, from_slices, growth, read_slice_line, slices};

/// Returns the number of lines of a filter with this geometry, at least 1.
#[must_use]
pub const fn lines(geometry: Geometry) -> u64 {
    geometry.array_lines()
}

/// Returns the bits of a line that items can set. All others are 0 in every filter: the bits behind
/// the last one of a classic filter, and the lock bit of each line of a once filter with several
/// words per item. In a line of counters items can set all bits.
#[must_use]
pub fn item_bits(geometry: Geometry, line: u64) -> [u64; LINE_WORDS] {
    if geometry.kind() == Kind::Counting {
        return [u64::MAX; LINE_WORDS];
    }
    let left = geometry.bits().saturating_sub(line.saturating_mul(LINE_BITS));
    core::array::from_fn(|index| {
        let in_word = left.saturating_sub(64 * index as u64).min(64);
        let bits = u64::MAX.checked_shr(64 - in_word as u32).unwrap_or(0);
        if index == 0 && geometry.locked() { bits & !LOCK } else { bits }
    })
}

/// Returns the number of the line that holds the bits of an item with this hash, and the bits that
/// the item sets in the words of that line. For a layout in lines only: a classic filter has the
/// bits of an item anywhere, and gives `None`, as a counting filter does.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis_bloom::raw;
/// use tamis::BlockedBloomFilter;
///
/// let filter = BlockedBloomFilter::<u64>::with_capacity(1000)?;
/// filter.by_hash().insert(7);
/// let (line, bits) = raw::bits_of(filter.geometry(), 7).ok_or("no lines")?;
/// assert_eq!(raw::read_line(&filter, line), bits);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn bits_of(geometry: Geometry, hash: u64) -> Option<(u64, [u64; LINE_WORDS])> {
    let Kind::Line { .. } = geometry.kind() else { return None };
    let mut words = [0; LINE_WORDS];
    for (word, bits) in geometry.shape().pattern(&geometry.shape().tables(), hash) {
        words[word] |= bits;
    }
    Some((split::place(hash, geometry.lines()), words))
}

/// Returns the number of distinct items after which this share of the bits that items can set is
/// expected to be set: the inverse of [`Geometry::fill_at`]. Infinite if all are set. Takes
/// microseconds.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis_bloom::raw;
/// use tamis::BlockedBloomFilter;
///
/// let geometry = BlockedBloomFilter::<u64>::builder().capacity(1000).geometry()?;
/// assert_eq!(raw::items_at_fill(geometry, geometry.fill_at(500)).round(), 500.0);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use]
pub fn items_at_fill(geometry: Geometry, fill: f64) -> f64 {
    geometry.items_at_fill(fill)
}

/// Reads the words of a line, without the lock bit, while other threads may write. If an insert
/// happens before, its bits are in the words. In a line of counters it counts, unless a removal has
/// taken it back.
///
/// # Panics
///
/// If the filter has no such line.
#[must_use]
pub fn read_line<F: Buildable>(filter: &F, line: u64) -> [u64; LINE_WORDS] {
    filter.shared().array.read_stored(line)
}

/// Sets the given bits in a line, or adds the given counters to those of a line, as
/// [`union_with`](crate::BloomFilter::union_with) does, while other threads may write. The bits
/// must be among [`item_bits`].
///
/// # Panics
///
/// If the filter has no such line.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis_bloom::raw;
/// use tamis::BloomFilter;
///
/// let filter = BloomFilter::<u64>::with_capacity(100)?;
/// raw::union_line(&filter, 0, [1, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(raw::read_line(&filter, 0)[0], 1);
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub fn union_line<F: Buildable>(filter: &F, line: u64, words: [u64; LINE_WORDS]) {
    if words != [0; LINE_WORDS] {
        filter.shared().array.union_line(line, words);
    }
}

/// Clears a line of a once filter while other threads use the filter.
///
/// An insert that races with it takes effect before or after: of concurrent inserts of an item,
/// exactly one returns `true` before the line is cleared, and one after it.
///
/// # Panics
///
/// If the line is out of bounds.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::OnceBloomFilter;
/// use tamis_bloom::raw;
///
/// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
/// filter.insert("a");
/// (0..raw::lines(filter.geometry())).for_each(|line| raw::clear_line(&filter, line));
/// assert!(filter.insert("a"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub fn clear_line<T: ?Sized, S>(filter: &OnceBloomFilter<T, S>, line: u64) {
    filter.shared.array.clear_line(line);
}

/// Makes a filter of lines that were filled before. A capacity of 0 counts as 1.
///
/// It does not read the lines: a bit that is not among [`item_bits`] makes answers wrong, or makes
/// an insert wait for a lock that nobody holds.
///
/// # Errors
///
/// [`LinesError`] if the geometry is not that of `F`, or needs another number of lines.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::{BlockedBloomFilter, BloomFilter, hash::Rapid};
/// use tamis_bloom::raw::{self, Lines, LinesError};
///
/// let geometry = BloomFilter::<str>::builder().capacity(1000).geometry()?;
/// let (lines, hasher) = (Lines::zeroed(1)?, Rapid::with_seed(1));
/// let error = raw::from_lines::<BloomFilter<str, _>>(geometry, 1000, hasher.clone(), lines);
/// assert!(matches!(error, Err(LinesError::Count { found: 1, .. })));
/// let lines = Lines::zeroed(raw::lines(geometry))?;
/// let error = raw::from_lines::<BlockedBloomFilter<str, _>>(geometry, 1000, hasher, lines);
/// assert_eq!(error.unwrap_err(), LinesError::Kind);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_lines<F: Buildable>(
    geometry: Geometry,
    capacity: usize,
    hasher: <F as sealed::Sealed>::Hasher,
    lines: Lines,
) -> Result<F, LinesError> {
    if geometry.kind() != <F as sealed::Sealed>::Array::KIND {
        return Err(LinesError::Kind);
    }
    let (expected, found) = (geometry.array_lines(), lines.len() as u64);
    if expected != found {
        return Err(LinesError::Count { expected, found });
    }
    let array = <F as sealed::Sealed>::Array::of_lines(geometry, lines);
    Ok(F::from_shared(Shared::of_array(array, geometry, capacity.max(1), hasher)))
}

#[cfg(test)]
mod tests {
    use tamis_core::Hashed;
    use tamis_hash::{HashItem, Rapid};

    use super::*;
    use crate::{BlockedBloomFilter, BloomFilter, Builder, CountingBloomFilter};

    #[test]
    fn clearing_all_lines_makes_all_items_new() {
        for words in [1, 4] {
            let builder =
                OnceBloomFilter::<u64>::builder().bits(100_000).probes(words).words(words);
            let filter = builder.build().unwrap();
            filter.insert_many_with(0..1000, |_, _| {});
            let lines = lines(filter.geometry());
            (0..lines).for_each(|line| clear_line(&filter, line));
            assert!((0..lines).all(|line| read_line(&filter, line) == [0; LINE_WORDS]));
            // No lock is left set: the inserts return.
            assert!(filter.insert(&1) && !filter.insert(&1));
        }
    }

    /// The bits that items can set are exactly those that a union with all of them sets, and those
    /// that an overfilled filter has.
    #[test]
    fn item_bits_are_those_that_items_set() {
        fn check<F: Buildable + Hashed>(builder: Builder<F>) {
            let (geometry, filter) = (builder.geometry().unwrap(), builder.build().unwrap());
            // Every bit is hit many times: one stays 0 by chance with a probability below e^-50.
            for item in 0..100 * geometry.bits() {
                filter.insert_hash(Rapid::with_seed(3).hash_item(&item));
            }
            for line in 0..lines(geometry) {
                assert_eq!(read_line(&filter, line), item_bits(geometry, line), "{geometry:?}");
            }
        }
        for bits in [1, 63, 64, 65, 511, 512, 513, 1000] {
            check(BloomFilter::<u64>::builder().bits(bits).probes(3));
        }
        for words in [1, 2, 4, 8] {
            check(BlockedBloomFilter::<u64>::builder().bits(600).probes(words).words(words));
            check(OnceBloomFilter::<u64>::builder().bits(600).probes(words).words(words));
            // Until every counter is saturated.
            check(CountingBloomFilter::<u64>::builder().bits(600).probes(words).words(words));
        }
    }

    /// The bits of an item are those that its insert sets, for every number of words.
    #[test]
    fn bits_of_an_item_are_those_that_it_sets() {
        for words in [1, 2, 4, 8] {
            for probes in [words, 2 * words + 1, 20, 32] {
                let builder = BlockedBloomFilter::<u64>::builder().bits(5 * 512);
                let builder = builder.probes(probes.min(8 * words)).words(words);
                for hash in (0..50).map(|item| Rapid::with_seed(1).hash_item(&item)) {
                    let filter = builder.clone().build().unwrap();
                    filter.by_hash().insert(hash);
                    let (line, bits) = bits_of(filter.geometry(), hash).unwrap();
                    for number in 0..5 {
                        let expected = if number == line { bits } else { [0; LINE_WORDS] };
                        assert_eq!(read_line(&filter, number), expected);
                    }
                }
            }
        }
        let classic = BloomFilter::<u64>::builder().bits(512).probes(3).geometry().unwrap();
        assert_eq!(bits_of(classic, 1), None);
    }

    /// The lock bit is part of the words in memory, and never of what is read.
    #[test]
    fn a_held_lock_is_not_read() {
        let geometry =
            OnceBloomFilter::<u64>::builder().bits(512).probes(8).words(2).geometry().unwrap();
        let mut locked = Lines::zeroed(1).unwrap();
        locked.word_mut(0).update(|word| *word = LOCK | 5);
        let filter: OnceBloomFilter<u64, Rapid> =
            from_lines(geometry, 1, Rapid::with_seed(0), locked).unwrap();
        assert_eq!(read_line(&filter, 0)[0], 5);
    }
}
