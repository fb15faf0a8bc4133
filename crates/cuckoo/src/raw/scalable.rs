//! The slices of a [`ScalableCuckooFilter`], for crates that save and load filters.
//!
//! Such a filter consists of a [`Plan`] and of one table for each slice. The lines of a table
//! have the layout that the [module above](super) describes. [`try_copy`] returns the tables, and
//! [`from_parts`] makes a filter of them.
//!
//! Slice `j` has `2^j` times the buckets of slice 0, in a shape of its own. Its slots
//! hold the upper bits of the items' fingerprints, all but the lowest `j`: [`lines_len`] checks
//! that.
//!
//! # Examples
//!
//! ```
//! # use tamis_cuckoo as tamis;
//! use tamis::{Filter, ScalableCuckooFilter};
//! use tamis_cuckoo::raw::scalable;
//! use tamis::hash::Rapid;
//!
//! let hasher = Rapid::with_seed(1);
//! let builder = ScalableCuckooFilter::<u64>::builder().hasher(hasher.clone());
//! let filter = builder.capacity(1000).build()?;
//! filter.try_extend(0..20_000)?;
//!
//! let parts = scalable::try_copy(&filter)?;
//! assert_eq!(parts.len(), filter.slices());
//! let (plan, capacity) = (scalable::plan(&filter), filter.capacity());
//! let copy: ScalableCuckooFilter<u64, Rapid> =
//!     scalable::from_parts(plan, capacity, hasher, parts)?;
//! assert!((0..20_000).all(|item| copy.contains(&item)));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use tamis_core::BuildError;
use tamis_sync::{AllocError, LINE_WORDS, Lines, PairAccess};

use super::{LinesError, len_in};
use crate::bucket::{Shape, with_known_shape};
use crate::geometry::Geometry;
use crate::growing::Growing;
use crate::plan::MAX_SLICES;
use crate::scalable::ScalableCuckooFilter;
use crate::slices::{Slice, Slices};
use crate::table::Table;
use crate::{plan as sizes, shared};

/// The bits of a whole fingerprint: at least those of the narrowest slot, at most those of the
/// widest.
const WIDTHS: Range<u32> = 8..43;

/// The numbers that give every item of a growing filter its class. They are chosen when the filter
/// is built.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis_cuckoo::raw::scalable::Plan;
///
/// let plan = Plan::new(1024, 16, 5).ok_or("no such plan")?;
/// assert_eq!(plan.geometry(3, 4, 16)?.buckets(), 8192);
/// // The last of ten slices would leave 7 bits to a slot.
/// assert_eq!(Plan::new(1024, 16, 10), None);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan(sizes::Plan);

impl Plan {
    /// Returns the plan with this number of buckets in slice 0, of bits in a whole
    /// fingerprint, and of slices at most. Returns `None` if the number of buckets is 0, odd
    /// or above 2^56, if the bits are not 8 to 42, if there is no slice or there are more than
    /// 40, or if a slot of the last one would hold fewer than 8 bits.
    #[must_use]
    pub fn new(buckets: u64, fingerprint_bits: u32, slices: u32) -> Option<Self> {
        let plan = sizes::Plan { buckets, width: fingerprint_bits, slices };
        let fits = buckets != 0
            && buckets.is_multiple_of(2)
            && buckets <= 1 << 56
            && WIDTHS.contains(&fingerprint_bits)
            && (1..=MAX_SLICES.min(fingerprint_bits + 1 - WIDTHS.start)).contains(&slices);
        fits.then_some(Self(plan))
    }

    /// Returns the number of buckets of slice 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// let plan = tamis_cuckoo::raw::scalable::Plan::new(1024, 16, 5).ok_or("no such plan")?;
    /// assert_eq!((plan.buckets(), plan.fingerprint_bits(), plan.slices()), (1024, 16, 5));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub const fn buckets(&self) -> u64 {
        self.0.buckets
    }

    /// Returns the number of bits of a whole fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.0.width
    }

    /// Returns the highest number of slices.
    #[must_use]
    pub const fn slices(&self) -> u32 {
        self.0.slices
    }

    /// Returns the geometry of a slice with buckets of this shape, even if this processor does
    /// not support the shape.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no bucket has this shape, if the slots are narrower than the fingerprints
    /// of the slice, or if the number of buckets is too high. There is no slice above the
    /// last of the plan.
    pub fn geometry(
        &self,
        slice: u32,
        slots: u32,
        fingerprint_bits: u32,
    ) -> Result<Geometry, BuildError> {
        if slice >= self.slices() {
            return Err(BuildError::TooLarge);
        }
        let shape = Shape::with_sizes(slots, fingerprint_bits)
            .filter(|shape| shape.width() >= self.fingerprint_bits() - slice)
            .ok_or(BuildError::Shape { slots, fingerprint_bits })?;
        let buckets = self.buckets().checked_mul(1 << slice).ok_or(BuildError::TooLarge)?;
        Geometry::doubled(buckets, shape, slice)
    }

    /// Returns the numbers that the slots of a slice can hold, apart from 0.
    const fn stored(&self, slice: u32) -> Range<u64> {
        1 << (self.0.slices - 1 - slice)..1 << (self.0.width - slice)
    }
}

/// The table of a slice.
#[derive(Debug)]
pub struct Part {
    /// The geometry: in [`from_parts`], that of [`Plan::geometry`].
    pub geometry: Geometry,
    /// The lines of all buckets.
    pub lines: Lines,
    /// The number of fingerprints in the lines.
    pub len: u64,
}

/// Returns the plan of a filter.
#[must_use]
pub fn plan<T: ?Sized, S>(filter: &ScalableCuckooFilter<T, S>) -> Plan {
    Plan(*filter.growing.slices.plan())
}

/// Returns the geometries of all slices, oldest first.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::ScalableCuckooFilter;
/// use tamis_cuckoo::raw::scalable;
/// let filter = ScalableCuckooFilter::<u64>::with_capacity(1000)?;
/// let buckets = scalable::plan(&filter).buckets();
/// assert!(scalable::geometries(&filter).map(|geometry| geometry.buckets()).eq([buckets]));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub fn geometries<T: ?Sized, S>(
    filter: &ScalableCuckooFilter<T, S>,
) -> impl ExactSizeIterator<Item = Geometry> {
    filter.growing.slices.iter().map(|slice| slice.table.geometry())
}

/// Returns a copy of all slices, oldest first, as `ScalableCuckooFilter::clone` makes it:
/// other threads may query, and wait with inserts and removals.
///
/// # Errors
///
/// [`AllocError`] if the allocation fails.
pub fn try_copy<T: ?Sized, S>(
    filter: &ScalableCuckooFilter<T, S>,
) -> Result<Vec<Part>, AllocError> {
    let copied = filter.growing.slices.copy_lines()?;
    Ok(copied.into_iter().map(|(geometry, lines, len)| Part { geometry, lines, len }).collect())
}

/// Makes a filter of the tables of its slices, oldest first, without a copy of their lines. A
/// capacity of 0 counts as 1.
///
/// Reads no line; see [untrusted words](super#untrusted-words). [`lines_len`] checks lines.
///
/// # Errors
///
/// [`LinesError`] if there is no part, or if there are more than the plan has slices
/// (`Count`), if a part has another number of lines than its geometry (`Count`) or a geometry that
/// is not of the plan (`Len`), if it says more fingerprints than it has slots (`Len`), if this
/// processor does not support a shape, or if an allocation fails.
pub fn from_parts<T: ?Sized, S>(
    plan: Plan,
    capacity: usize,
    hasher: S,
    parts: Vec<Part>,
) -> Result<ScalableCuckooFilter<T, S>, LinesError> {
    make(plan, capacity, hasher, parts, PairAccess::detect())
}

fn make<T: ?Sized, S>(
    plan: Plan,
    capacity: usize,
    hasher: S,
    parts: Vec<Part>,
    access: Option<PairAccess>,
) -> Result<ScalableCuckooFilter<T, S>, LinesError> {
    let (expected, found) = (u64::from(plan.slices()), parts.len() as u64);
    if found == 0 || found > expected {
        return Err(LinesError::Count { expected, found });
    }
    let alloc = |error| LinesError::Alloc { bytes: shared::bytes(error) };
    let mut slices: Option<Slices> = None;
    for (number, part) in (0..).zip(parts) {
        let slice = slice(&plan, number, part, access)?;
        match &mut slices {
            None => {
                let locks = Slices::locks_of(&plan.0);
                slices = Some(Slices::with_first(plan.0, slice, locks).map_err(alloc)?);
            }
            Some(slices) => {
                let pushed = slices.push(slice);
                debug_assert!(pushed, "a list has room for all slices of a plan");
            }
        }
    }
    let slices = slices.ok_or(LinesError::Count { expected, found: 0 })?;
    Ok(ScalableCuckooFilter { growing: Growing::of(slices, capacity.max(1), hasher) })
}

/// Makes a slice of its table.
fn slice(
    plan: &Plan,
    number: u32,
    part: Part,
    access: Option<PairAccess>,
) -> Result<Slice, LinesError> {
    let Part { geometry, lines, len } = part;
    let (slots, fingerprint_bits) = (geometry.slots(), geometry.fingerprint_bits());
    if plan.geometry(number, slots, fingerprint_bits) != Ok(geometry) {
        return Err(LinesError::Len { found: len, slots: 0 });
    }
    let (expected, found) = (geometry.lines(), lines.len() as u64);
    if expected != found {
        return Err(LinesError::Count { expected, found });
    }
    if len > geometry.all_slots() {
        return Err(LinesError::Len { found: len, slots: geometry.all_slots() });
    }
    // All operations of a growing filter, queries too, use buckets of 128 bits as pairs.
    if geometry.shape().is_pair() && access.is_none() {
        return Err(LinesError::Unsupported { slots, fingerprint_bits });
    }
    Table::from_lines(geometry, lines, geometry.stripes(), access)
        .and_then(|table| Slice::of_table(table, len))
        .map_err(|error| LinesError::Alloc { bytes: shared::bytes(error) })
}

/// Returns the number of fingerprints in consecutive lines of a slice, from line `first` on.
/// If a line is not that of a filter, returns its number.
///
/// It checks what [`line_len`](super::line_len) checks, and that each slot is 0 or holds the upper
/// bits of a fingerprint: a fingerprint is at least `2^(g − 1)`, with the `g` slices of the
/// plan, and less than `2^bits`.
///
/// # Errors
///
/// The number of the first line that is not that of a filter.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis_cuckoo::raw::scalable::{Plan, lines_len};
///
/// let plan = Plan::new(1024, 14, 3).ok_or("no such plan")?;
/// // Fingerprints of 14 bits, of which slice 1 stores 13, in slots of 16.
/// let geometry = plan.geometry(1, 4, 16)?;
/// assert_eq!(lines_len(plan, 1, geometry, 0, [[0x1FFF; 8]]), Ok(8));
/// assert_eq!(lines_len(plan, 1, geometry, 9, [[0; 8], [0x2000; 8]]), Err(10));
/// // A fingerprint is at least 4, so its upper bits are at least 2 here.
/// assert_eq!(lines_len(plan, 1, geometry, 0, [[1; 8]]), Err(0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn lines_len(
    plan: Plan,
    slice: u32,
    geometry: Geometry,
    first: u64,
    lines: impl IntoIterator<Item = [u64; LINE_WORDS]>,
) -> Result<u64, u64> {
    if slice >= plan.slices() {
        return Err(first);
    }
    let stored = plan.stored(slice);
    let mut lines = lines.into_iter().enumerate();
    with_known_shape!(geometry.shape(), shape => {
        lines.try_fold(0, |sum, (number, words)| {
            let line = first.saturating_add(number as u64);
            let len = len_in(shape, geometry.buckets(), line, &words).ok_or(line)?;
            if has_other(shape, &words, &stored) { Err(line) } else { Ok(sum + u64::from(len)) }
        })
    })
}

/// Returns whether a slot of a line holds another number than 0 and those in the range.
#[inline(always)]
fn has_other(shape: Shape, words: &[u64; LINE_WORDS], stored: &Range<u64>) -> bool {
    let is_other = |bucket: u128| {
        (0..shape.slots()).fold(false, |other, slot| {
            let number = (bucket >> (slot * shape.width())) as u64 & shape.mask();
            // No branch: none is ever taken in a correct file.
            other | (number != 0) & (number.wrapping_sub(stored.start) >= stored.end - stored.start)
        })
    };
    match shape.bits() {
        32 => {
            words.iter().any(|&word| is_other((word as u32).into()) | is_other((word >> 32).into()))
        }
        64 => words.iter().any(|&word| is_other(word.into())),
        _ => words
            .chunks_exact(2)
            .any(|pair| is_other(u128::from(pair[1]) << 64 | u128::from(pair[0]))),
    }
}

#[cfg(test)]
mod tests {
    use tamis_core::Filter as _;
    use tamis_hash::Rapid;
    use tamis_sync::Word;

    use super::*;
    use crate::bucket::SHAPES;
    use crate::scalable_builder::ScalableBuilder;

    type Filter = ScalableCuckooFilter<u64, Rapid>;

    fn filter() -> Filter {
        let builder = ScalableBuilder::new(Rapid::with_seed(1)).capacity(3000);
        builder.max_capacity(1 << 16).false_positive_rate(1e-3).build().unwrap()
    }

    /// Returns the words of all lines.
    fn words(lines: &mut Lines) -> Vec<[u64; LINE_WORDS]> {
        let word = |word: &mut Word| {
            let mut copy = 0;
            word.update(|word| copy = *word);
            copy
        };
        lines.iter_mut().map(|line| line.words.each_mut().map(word)).collect()
    }

    /// Copies, counts and makes the filter again. The copy goes on as the original would: it
    /// removes and grows.
    #[test]
    fn a_filter_of_copied_parts_is_the_same() {
        let filter = filter();
        filter.try_extend(0..20_000).unwrap();
        let (plan, mut parts) = (plan(&filter), try_copy(&filter).unwrap());
        assert!(parts.len() > 2 && parts.len() == filter.slices());
        let mut len = 0;
        for (number, part) in (0..).zip(&mut parts) {
            let shape = (part.geometry.slots(), part.geometry.fingerprint_bits());
            assert_eq!(plan.geometry(number, shape.0, shape.1), Ok(part.geometry));
            let counted = lines_len(plan, number, part.geometry, 0, words(&mut part.lines));
            assert_eq!(counted, Ok(part.len));
            len += part.len;
        }
        assert_eq!(len, 20_000);
        let hasher = Rapid::with_seed(1);
        let copy: Filter = from_parts(plan, filter.capacity(), hasher, parts).unwrap();
        assert_eq!((copy.len(), copy.capacity()), (filter.len(), filter.capacity()));
        assert_eq!(copy.size_in_bytes(), filter.size_in_bytes());
        assert!((0..60_000).all(|item| copy.contains(&item) == filter.contains(&item)));
        copy.try_extend(20_000..60_000).unwrap();
        assert!((0..60_000).all(|item| copy.contains(&item)));
        assert!(copy.slices() > filter.slices());
        assert!((0..60_000).all(|item| copy.remove(&item)) && copy.is_empty());
    }

    /// Each number in a slot, alone in a line, is refused unless an item can have it.
    #[test]
    fn a_number_that_no_item_has_is_refused() {
        for shape in SHAPES {
            let width = shape.width().min(10);
            let plan = Plan::new(64, width, width - 7).unwrap();
            for slice in 0..plan.slices() {
                let geometry = plan.geometry(slice, shape.slots(), shape.width()).unwrap();
                let per_bucket = shape.slots();
                for slot in [0, per_bucket - 1] {
                    for bit in 0..shape.width() {
                        for number in [1 << bit, (1 << bit) - 1, (1 << bit) + 1] {
                            let number: u64 = number & shape.mask();
                            let at = slot * shape.width();
                            let bucket = u128::from(number) << at;
                            let mut line = [0; LINE_WORDS];
                            // The last bucket of the line.
                            match shape.bits() {
                                32 => line[7] = (bucket as u64) << 32,
                                64 => line[7] = bucket as u64,
                                _ => [line[6], line[7]] = [bucket as u64, (bucket >> 64) as u64],
                            }
                            let whole = number << slice;
                            let is_item = whole >= 1 << (plan.slices() - 1)
                                && whole < 1 << plan.fingerprint_bits();
                            let expected = match number {
                                0 => Ok(0),
                                _ if is_item => Ok(1),
                                _ => Err(0),
                            };
                            let found = lines_len(plan, slice, geometry, 0, [line]);
                            assert_eq!(found, expected, "{shape:?} {slice} {number}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let filter = filter();
        filter.try_extend(0..12_000).unwrap();
        let plan = plan(&filter);
        let make = |plan, parts, access| {
            make::<u64, _>(plan, 1, Rapid::with_seed(1), parts, access).map(|_| ())
        };
        let parts = || try_copy(&filter).unwrap();
        assert_eq!(make(plan, parts(), PairAccess::detect()), Ok(()));
        assert!(matches!(make(plan, Vec::new(), None), Err(LinesError::Count { found: 0, .. })));
        // More slices than planned, or in another order.
        let less = Plan::new(plan.buckets(), plan.fingerprint_bits(), 1).unwrap();
        let found = make(less, parts(), PairAccess::detect());
        assert!(
            matches!(found, Err(LinesError::Count { expected: 1, .. })),
            "{found:?} {}",
            filter.slices()
        );
        let mut turned = parts();
        turned.reverse();
        assert!(matches!(
            make(plan, turned, PairAccess::detect()),
            Err(LinesError::Len { slots: 0, .. })
        ));
        // Another number of lines, or more copies than slots.
        let mut cut = parts();
        cut[1].lines = Lines::zeroed(1).unwrap();
        assert!(matches!(
            make(plan, cut, PairAccess::detect()),
            Err(LinesError::Count { found: 1, .. })
        ));
        let mut many = parts();
        many[0].len = u64::MAX;
        assert!(matches!(
            make(plan, many, PairAccess::detect()),
            Err(LinesError::Len { found: u64::MAX, .. })
        ));
        // A processor without access to pairs.
        let plan = Plan::new(1024, 18, 2).unwrap();
        let geometry = plan.geometry(0, 7, 18).unwrap();
        let lines = Lines::zeroed(geometry.lines()).unwrap();
        let found = make(plan, alloc::vec![Part { geometry, lines, len: 0 }], None);
        let expected = LinesError::Unsupported { slots: 7, fingerprint_bits: 18 };
        assert_eq!(found, Err(expected));
    }

    #[test]
    fn plans_are_checked() {
        for (buckets, bits, slices) in [
            (0, 16, 1),
            (3, 16, 1),
            ((1 << 56) + 2, 16, 1),
            (2, 7, 1),
            (2, 43, 1),
            (2, 16, 0),
            (2, 8, 2),
            (2, 42, 36),
        ] {
            assert_eq!(Plan::new(buckets, bits, slices), None, "{buckets} {bits} {slices}");
        }
        let most = Plan::new(1 << 56, 42, 35).unwrap();
        assert_eq!(most.geometry(1, 3, 42), Err(BuildError::TooLarge));
        assert_eq!(most.geometry(35, 3, 42), Err(BuildError::TooLarge));
        assert!(most.geometry(0, 3, 42).is_ok());
        let error = BuildError::Shape { slots: 4, fingerprint_bits: 32 };
        assert_eq!(most.geometry(0, 4, 32), Err(error));
    }
}
