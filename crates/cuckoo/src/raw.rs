//! The words of a filter that does not grow, for crates that save and load filters. [`growing`] has
//! those of a filter that grows: for its geometry, the functions here return nothing of use.
//!
//! The buckets of a filter are an array of cache lines of eight words of 64 bits.
//! [`try_copy_lines`] returns a copy of them, [`pass`] reads them without a copy, and
//! [`from_lines`] makes a filter from them, or [`frozen_from_lines`] one for queries where buckets
//! of 128 bits are not supported ([`is_supported`]). Two filters with the same geometry, an equal
//! hasher and the same words contain the same items.
//!
//! # Layout
//!
//! * The words are numbered from 0. Line `n` consists of the words `8n` to `8n + 7`.
//! * A bucket of 64 bits ([`Geometry::bits`] divided by [`Geometry::buckets`]) is the word of its
//!   number.
//! * Two buckets of 32 bits share a word. The bucket with the even number is the lower half.
//! * Bucket `n` of 128 bits is a pair of words: word `2n` is the lower half, word `2n + 1` the
//!   upper half.
//! * Slot `s` of a bucket consists of the bits from `s · width` up, counted from the lowest bit.
//!   It contains a fingerprint, or 0 if it is empty.
//! * The bits of a bucket above its last slot, and the words behind the last bucket, are 0.
//!   [`line_len`] checks this.
//!
//! # Untrusted words
//!
//! With any words, each method of the filter ends without a panic. But a filter from words that
//! [`line_len`] refuses, or with another number of fingerprints than `len`, may report a wrong
//! number of items and may be full too early. So check every line of a file.
//!
//! # Examples
//!
//! ```
//! # use tamis_cuckoo as tamis;
//! use tamis::CuckooFilter;
//! use tamis_cuckoo::raw;
//! use tamis::hash::Rapid;
//!
//! let builder = CuckooFilter::<str>::builder().hasher(Rapid::with_seed(1)).capacity(1000);
//! let filter = builder.build()?;
//! filter.insert("a")?;
//!
//! // Copy the words. A saved filter would hold them in a file.
//! let geometry = filter.geometry();
//! let (lines, len) = raw::try_copy_lines(&filter)?;
//! let mut checked = 0;
//! for (number, line) in (0..).zip(lines.iter()) {
//!     let words = line.words.each_ref().map(|word| word.peek());
//!     let len = raw::line_len(geometry, number, &words).ok_or("not the words of a filter")?;
//!     checked += u64::from(len);
//! }
//! assert_eq!(checked, len);
//!
//! let copy: CuckooFilter<str, Rapid> =
//!     raw::from_lines(geometry, filter.capacity(), Rapid::with_seed(1), lines, len)?;
//! assert!(copy.contains("a") && copy.len() == 1);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

pub use tamis_core::LinesError;
use tamis_core::{BuildError, Filter, Frozen};
pub use tamis_sync::{AllocError, LINE_WORDS, Lines};
use tamis_sync::{LINE_BITS, PairAccess};

use crate::bucket::{Shape, with_known_shape};
use crate::builder::Buildable;
use crate::builder::sealed::Sealed;
use crate::geometry::Geometry;
use crate::line_len::checked_len_of_line;
use crate::shared::{self, Shared};
use crate::table::Table;
pub use crate::table::pass::Pass;

pub mod growing;

/// Returns the geometry with these sizes, even if this processor does not support the shape.
///
/// # Errors
///
/// [`BuildError`] if no bucket has this shape, or if the number of buckets is 0, odd or too high.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::BuildError;
/// use tamis_cuckoo::raw;
/// // Buckets of 128 bits.
/// assert_eq!(raw::geometry(1000, 7, 18)?.bits(), 128_000);
/// assert_eq!(raw::geometry(1001, 7, 18), Err(BuildError::Buckets { buckets: 1001 }));
/// # Ok::<(), BuildError>(())
/// ```
pub fn geometry(buckets: u64, slots: u32, fingerprint_bits: u32) -> Result<Geometry, BuildError> {
    Geometry::for_buckets_anywhere(buckets, slots, fingerprint_bits)
}

/// Returns whether filters with this geometry can be built on this processor.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::cuckoo::Geometry;
/// use tamis_cuckoo::raw;
/// let pairs = raw::geometry(1000, 7, 18)?;
/// assert_eq!(raw::is_supported(pairs), Geometry::shapes().any(|shape| shape == (7, 18)));
/// assert!(raw::is_supported(raw::geometry(1000, 4, 16)?));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use]
pub fn is_supported(geometry: Geometry) -> bool {
    geometry.supported().is_ok()
}

/// Returns the number of lines of all buckets, at least 1.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis_cuckoo::raw;
/// assert_eq!(raw::lines(raw::geometry(1000, 4, 16)?), 125);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use]
pub const fn lines(geometry: Geometry) -> u64 {
    geometry.lines()
}

/// Makes a filter whose buckets are these lines, without a copy of them. `len` is the number of
/// fingerprints in them, the sum of [`line_len`] over all lines. A capacity of 0 counts as 1.
///
/// Reads no line; see [untrusted words](self#untrusted-words).
///
/// # Errors
///
/// [`LinesError`] if `lines` has another length than [`lines`](fn@lines) returns, if `len` exceeds
/// the number of slots, if this processor does not support the shape, or if the allocation of the
/// locks, versions and counts fails.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::{CuckooFilter, hash::Rapid};
/// use tamis_cuckoo::raw::{self, Lines, LinesError};
///
/// let (geometry, lines) = (raw::geometry(1000, 4, 16)?, Lines::zeroed(100)?);
/// let hasher = Rapid::with_seed(1);
/// let filter = raw::from_lines::<CuckooFilter<str, _>>(geometry, 10, hasher, lines, 0);
/// assert_eq!(filter.unwrap_err(), LinesError::Count { expected: 125, found: 100 });
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn from_lines<F: Buildable>(
    geometry: Geometry,
    capacity: usize,
    hasher: F::Hasher,
    lines: Lines,
    len: u64,
) -> Result<F, LinesError> {
    if !is_supported(geometry) {
        let (slots, fingerprint_bits) = (geometry.slots(), geometry.fingerprint_bits());
        return Err(LinesError::Unsupported { slots, fingerprint_bits });
    }
    make(geometry, capacity, hasher, lines, len, PairAccess::detect())
}

/// Makes a filter for queries from these lines, as [`from_lines`] does, even if this processor
/// does not support the shape.
///
/// # Errors
///
/// The errors of [`from_lines`], except for `Unsupported`.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
/// use tamis_cuckoo::raw::{self, Lines};
/// use tamis::hash::Rapid;
///
/// let geometry = raw::geometry(1000, 7, 18)?;
/// let lines = Lines::zeroed(raw::lines(geometry))?;
/// let hasher = Rapid::with_seed(1);
/// let filter = raw::frozen_from_lines::<CuckooFilter<str, _>>(geometry, 6000, hasher, lines, 0)?;
/// assert!(!filter.contains("a"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn frozen_from_lines<F: Buildable + Filter>(
    geometry: Geometry,
    capacity: usize,
    hasher: <F as Sealed>::Hasher,
    lines: Lines,
    len: u64,
) -> Result<Frozen<F>, LinesError> {
    make(geometry, capacity, hasher, lines, len, PairAccess::detect()).map(Frozen::new)
}

/// Makes a filter from these lines. If the buckets have 128 bits and `access` is missing, the
/// filter may only be queried.
fn make<F: Buildable>(
    geometry: Geometry,
    capacity: usize,
    hasher: F::Hasher,
    lines: Lines,
    len: u64,
    access: Option<PairAccess>,
) -> Result<F, LinesError> {
    // A filter that grows has lines of another kind.
    let expected = if geometry.doublings() == 0 { geometry.lines() } else { 0 };
    require([expected, lines.len() as u64], [geometry.all_slots(), len])?;
    of_table(Table::from_lines(geometry, lines, geometry.stripes(), access), capacity, hasher, len)
}

/// Returns an error if the number of lines is not the one expected, or if there are more
/// fingerprints than slots.
const fn require([expected, found]: [u64; 2], [slots, len]: [u64; 2]) -> Result<(), LinesError> {
    if expected != found {
        return Err(LinesError::Count { expected, found });
    }
    if len > slots { Err(LinesError::Len { found: len, slots }) } else { Ok(()) }
}

/// Makes a filter of a table that contains `len` fingerprints.
fn of_table<F: Buildable>(
    table: Result<Table, AllocError>,
    capacity: usize,
    hasher: F::Hasher,
    len: u64,
) -> Result<F, LinesError> {
    table
        .and_then(|table| Shared::with_table(table, len, capacity.max(1), hasher))
        .map(F::from_shared)
        .map_err(|error| LinesError::Alloc { bytes: shared::bytes(error) })
}

/// Returns a copy of the lines of the filter, and the number of fingerprints in them: consistent
/// lines, also while other threads write. The [example](self#examples) of the module uses it.
///
/// # Errors
///
/// [`AllocError`] if the allocation fails.
///
/// # Panics
///
/// If the filter grows: [`growing`] has its lines.
pub fn try_copy_lines<F: Buildable>(filter: &F) -> Result<(Lines, u64), AllocError> {
    fixed(filter).copy_lines()
}

/// Begins a pass over the lines of a filter in use: a way to read all of it without a copy, as
/// long as no thread relocates a fingerprint meanwhile.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis_cuckoo::raw;
/// use tamis::{CuckooFilter, hash::Rapid};
///
/// let filter = CuckooFilter::<str>::builder().capacity(1000).hasher(Rapid::with_seed(1)).build()?;
/// filter.insert("a")?;
/// let (mut pass, mut set_bits) = (raw::pass(&filter), 0);
/// pass.read(0..raw::lines(filter.geometry()), |words| {
///     set_bits += words.iter().map(|word| word.count_ones()).sum::<u32>();
/// });
/// // No other thread changed the filter.
/// assert_eq!(pass.finish(), Some(1));
/// assert!(set_bits > 0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Panics
///
/// If the filter grows: [`growing`] has its lines.
pub fn pass<F: Buildable>(filter: &F) -> Pass<'_> {
    fixed(filter).pass()
}

/// Returns the table of a filter that does not grow.
fn fixed<F: Buildable>(filter: &F) -> &Table {
    let table = &filter.shared().table;
    assert!(table.grown().is_none(), "the filter grows: `growing` has its lines");
    table
}

/// Returns the number of fingerprints in the words of a line, or `None` if these are not the words
/// of a filter: a bit above the last slot of a bucket is set, or a word behind the last bucket is
/// not 0.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis_cuckoo::raw::{self, LINE_WORDS};
///
/// // Four buckets: five slots of 12 bits in a word, and 4 bits to spare.
/// let geometry = raw::geometry(4, 5, 12)?;
/// let mut words = [0; LINE_WORDS];
/// words[3] = 0xABC << 12;
/// assert_eq!(raw::line_len(geometry, 0, &words), Some(1));
/// words[3] = 1 << 60;
/// assert_eq!(raw::line_len(geometry, 0, &words), None);
/// words = [0, 0, 0, 0, 0xABC, 0, 0, 0];
/// assert_eq!(raw::line_len(geometry, 0, &words), None);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use]
pub fn line_len(geometry: Geometry, line: u64, words: &[u64; LINE_WORDS]) -> Option<u32> {
    with_known_shape!(geometry.shape(), shape => len_in(shape, geometry.buckets(), line, words))
}

/// Computes [`line_len`] for a filter with this shape and number of buckets.
#[inline(always)]
fn len_in(shape: Shape, buckets: u64, line: u64, words: &[u64; LINE_WORDS]) -> Option<u32> {
    // A line has an even number of buckets, and so has the filter.
    let per_line = LINE_BITS / u64::from(shape.bits);
    if line < buckets / per_line {
        return checked_len_of_line(shape, words);
    }
    // The last line, or none of the filter: the words behind the last bucket are 0, and then the
    // count is right.
    let present = buckets.saturating_sub(line.saturating_mul(per_line));
    let words_present = (present * u64::from(shape.bits) / 64) as usize;
    let rest = &words[words_present..];
    if rest.iter().any(|word| *word != 0) { None } else { checked_len_of_line(shape, words) }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use tamis_hash::Rapid;

    use super::*;
    use crate::bucket::SHAPES;
    use crate::multiset::CuckooFilter;
    use crate::once::OnceCuckooFilter;
    use crate::place::Class;

    const BUCKETS: u64 = 1002;

    /// The buckets of a filter, filled without any code of the filter's writers.
    struct Model {
        geometry: Geometry,
        buckets: Vec<u128>,
        len: u64,
    }

    impl Model {
        /// Puts the fingerprint of each hash into an empty slot, if one of its two buckets has
        /// one.
        fn filled(shape: Shape) -> Self {
            let geometry = Geometry::of(BUCKETS, shape).unwrap();
            let mut model = Self { geometry, buckets: std::vec![0; BUCKETS as usize], len: 0 };
            for hash in hashes().step_by(2).take(BUCKETS as usize * shape.slots as usize * 9 / 10) {
                let class = Class::of_hash(hash, BUCKETS, shape.width);
                let slots = class.buckets.iter().flat_map(|&bucket| {
                    (0..shape.slots).map(move |slot| (bucket as usize, slot * shape.width))
                });
                let is_empty = |&(bucket, at): &(usize, u32)| {
                    model.buckets[bucket] >> at & u128::from(shape.mask()) == 0
                };
                let empty = slots.clone().find(is_empty);
                if let Some((bucket, at)) = empty {
                    model.buckets[bucket] |= u128::from(class.fingerprint) << at;
                    model.len += 1;
                }
            }
            model
        }

        /// Returns whether some slot of the two buckets holds the fingerprint.
        fn contains(&self, hash: u64) -> bool {
            let shape = self.geometry.shape();
            let class = Class::of_hash(hash, BUCKETS, shape.width);
            class.buckets.iter().any(|&bucket| {
                (0..shape.slots).any(|slot| {
                    let bits = self.buckets[bucket as usize] >> (slot * shape.width);
                    bits as u64 & shape.mask() == class.fingerprint
                })
            })
        }

        /// Returns the words of the lines, in order.
        fn words(&self) -> Vec<u64> {
            let bits = self.geometry.shape().bits;
            let mut words = std::vec![0; self.geometry.lines() as usize * LINE_WORDS];
            for (number, bucket) in self.buckets.iter().enumerate() {
                let at = number * bits as usize;
                words[at / 64] |= (*bucket as u64) << (at % 64);
                if bits == 128 {
                    words[at / 64 + 1] = (bucket >> 64) as u64;
                }
            }
            words
        }

        /// Returns a filter with these buckets.
        fn filter<F: Buildable + Sealed<Hasher = Rapid>>(&self, access: Option<PairAccess>) -> F {
            let mut lines = Lines::zeroed(self.geometry.lines()).unwrap();
            for (number, bits) in self.words().into_iter().enumerate() {
                lines.word_mut(number).update(|word| *word = bits);
            }
            make(self.geometry, 1000, Rapid::with_seed(1), lines, self.len, access).unwrap()
        }
    }

    /// Returns hashes, of which every second is in the model.
    fn hashes() -> impl Iterator<Item = u64> {
        (0_u64..20_000).map(|item| Rapid::with_seed(1).hash_bytes(&item.to_le_bytes()))
    }

    /// Compares all answers with those of the model: one by one, and in batches of every length up
    /// to two batches.
    fn check<F>(model: &Model, filter: &F)
    where
        F: Buildable + Filter,
    {
        let shape = model.geometry.shape();
        let expected: Vec<bool> = hashes().map(|hash| model.contains(hash)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        for (hash, &expected) in hashes().zip(&expected) {
            assert_eq!(filter.contains_hash(hash), expected, "{shape:?}");
        }
        for count in (0..80).chain([expected.len()]) {
            let mut answers = Vec::new();
            filter.contains_hashes(hashes().take(count), |number, found| {
                assert_eq!(number, answers.len());
                answers.push(found);
            });
            assert_eq!(answers, expected[..count], "{shape:?}");
        }
        assert_eq!(filter.figures().items.value, model.len as f64);
        assert_eq!(filter.shared().table.len(), model.len);
        let words = model.words();
        for (line, expected) in words.chunks_exact(LINE_WORDS).enumerate() {
            assert_eq!(filter.shared().table.line(line), expected);
        }
    }

    /// On a processor with the access, the same words make a paired filter too, and all figures
    /// agree.
    #[test]
    fn a_filter_without_access_to_pairs_returns_the_same_answers() {
        for shape in SHAPES {
            let model = Model::filled(shape);
            let unpaired: CuckooFilter<u64, Rapid> = model.filter(None);
            check(&model, &unpaired);
            check(&model, &model.filter::<OnceCuckooFilter<u64, Rapid>>(None));
            unpaired.by_hash().prefetch(1);
            // A copy of an unpaired table is unpaired.
            let copy = unpaired.clone();
            check(&model, &copy);
            let rates = |filter: &CuckooFilter<u64, Rapid>| {
                (filter.false_positive_rate(), filter.figures_sampled(50).false_positive_rate)
            };
            let rate = rates(&unpaired);
            assert!(rate.0 > 0.0 && rates(&copy) == rate);
            if let Some(access) = PairAccess::detect() {
                let paired: CuckooFilter<u64, Rapid> = model.filter(Some(access));
                check(&model, &paired);
                assert_eq!(rates(&paired), rate, "{shape:?}");
            }
        }
    }

    #[test]
    fn the_lengths_of_lines_are_those_of_the_model() {
        for shape in SHAPES {
            let model = Model::filled(shape);
            let words = model.words();
            let len = |(line, words): (usize, &[u64])| {
                let words: &[u64; LINE_WORDS] = words.try_into().unwrap();
                u64::from(line_len(model.geometry, line as u64, words).unwrap())
            };
            let sum: u64 = words.chunks_exact(LINE_WORDS).enumerate().map(len).sum();
            assert_eq!(sum, model.len, "{shape:?}");
            let (lines, len) =
                try_copy_lines(&model.filter::<CuckooFilter<u64, Rapid>>(None)).unwrap();
            let copied = lines.iter().flat_map(|line| line.words.iter().map(|word| word.peek()));
            assert!(copied.eq(words) && len == model.len, "{shape:?}");
        }
    }

    /// Sets each bit of the first, the last and a missing line alone. The bit belongs to a slot,
    /// or it is refused.
    #[test]
    fn a_bit_outside_all_slots_is_refused() {
        for shape in SHAPES {
            let geometry = Geometry::of(BUCKETS, shape).unwrap();
            let (bits, used) = (u64::from(shape.bits), u64::from(shape.slots * shape.width));
            for line in [0, geometry.lines() - 1, geometry.lines(), u64::MAX] {
                for bit in 0..LINE_BITS {
                    let mut words = [0; LINE_WORDS];
                    words[bit as usize / 64] = 1 << (bit % 64);
                    let bucket =
                        u128::from(line) * u128::from(LINE_BITS / bits) + u128::from(bit / bits);
                    let is_slot = bucket < u128::from(BUCKETS) && bit % bits < used;
                    let len = line_len(geometry, line, &words);
                    assert_eq!(len, is_slot.then_some(1), "{shape:?}, line {line}, bit {bit}");
                }
            }
        }
    }
}
