//! The slices of a growing filter, for crates that save filters and load them.

use alloc::vec::Vec;

use tamis_core::LinesError;
use tamis_sync::{LINE_WORDS, Lines};

use crate::array::Array;
use crate::array::line::InLine;
use crate::bits::Writer;
use crate::chain::plan::{Plan, Taken};
use crate::chain::slice::Slice;
use crate::chain::slices::{MAX_SLICES, Slices};
use crate::geometry::Geometry;
use crate::growing::{Growing, sealed};

/// How a filter grows: what its builder was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The number of items that the first slice was planned for.
    pub first_capacity: u64,
    /// The false-positive rate that the filter stays below.
    pub rate: f64,
    /// The limit for the memory of the bits; `u64::MAX` for none.
    pub max_size_in_bytes: u64,
    /// The number of items at which growth ends, if one was given.
    pub max_capacity: Option<u64>,
}

/// The sizes of one slice of a growing filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceSizes {
    /// The geometry of a blocked filter; of a `OnceScalableBloomFilter`, that of a once filter with
    /// two words per item or more.
    pub geometry: Geometry,
    /// The number of items that the slice takes at its rate.
    pub capacity: u64,
    /// About the number of new items that were inserted into the slice. Decides when the filter
    /// grows, and no answer.
    pub items: u64,
}

/// Returns how a filter grows.
#[must_use]
pub fn growth<F: Growing>(filter: &F) -> Growth {
    let Plan { first, rate, max_bytes, max_capacity, .. } = filter.slices().plan;
    Growth { first_capacity: first, rate, max_size_in_bytes: max_bytes, max_capacity }
}

/// Returns the sizes of all slices, oldest first, while other threads may insert.
#[must_use]
pub fn slices<F: Growing>(filter: &F) -> Vec<SliceSizes> {
    let sizes = |slice: &Slice<F::Claim>| SliceSizes {
        geometry: slice.filter.geometry(),
        capacity: slice.filter.capacity() as u64,
        items: slice.items(),
    };
    filter.slices().iter().map(sizes).collect()
}

/// Reads the words of a line of a slice, as [`read_line`](super::read_line) does.
///
/// # Panics
///
/// If the filter has no such slice, or the slice no such line.
#[must_use]
pub fn read_slice_line<F: Growing>(filter: &F, slice: usize, line: u64) -> [u64; LINE_WORDS] {
    filter.slices().slice(slice).array().read(line)
}

/// Makes a growing filter of slices that were filled before, oldest first. Does not read the lines,
/// as [`from_lines`](super::from_lines).
///
/// # Errors
///
/// [`LinesError`] if there is no slice, or more than a filter can have; if a geometry is not that
/// of a slice, or needs another number of lines; if the rate is not between 0 and 1; or if an
/// allocation failed.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis_bloom::raw;
/// use tamis::hash::Rapid;
/// use tamis::ScalableBloomFilter;
///
/// let builder = ScalableBloomFilter::<u64>::builder().hasher(Rapid::with_seed(1));
/// let filter = builder.capacity(1024).build()?;
/// filter.insert_many_with(0..10_000_u64, |_, _| ());
///
/// // Copy the filter, word by word.
/// let mut slices = vec![];
/// for (number, sizes) in raw::slices(&filter).into_iter().enumerate() {
///     let count = raw::lines(sizes.geometry);
///     let mut lines = raw::Lines::zeroed(count)?;
///     for line in 0..count {
///         let words = raw::read_slice_line(&filter, number, line);
///         for (to, word) in lines[line as usize].words.iter_mut().zip(words) {
///             to.update(|to| *to = word);
///         }
///     }
///     slices.push((sizes, lines));
/// }
/// let copy: ScalableBloomFilter<u64, Rapid> =
///     raw::from_slices(raw::growth(&filter), Rapid::with_seed(1), slices)?;
/// assert!((0..10_000).all(|item| copy.contains(&item)));
/// assert_eq!(raw::slices(&copy), raw::slices(&filter));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_slices<F: Growing>(
    growth: Growth,
    hasher: <F as sealed::Sealed>::Hasher,
    slices: impl IntoIterator<Item = (SliceSizes, Lines)>,
) -> Result<F, LinesError> {
    let Growth { first_capacity, rate, max_size_in_bytes, max_capacity } = growth;
    // Written so that NaN is an error, too.
    if !(rate > 0.0 && rate < 1.0) {
        return Err(LinesError::Rate);
    }
    let plan = Plan::new(InLine::<F::Claim>::KIND, first_capacity.max(1), rate, max_size_in_bytes)
        .ending_at(max_capacity);
    let mut chain: Option<Slices<F::Claim>> = None;
    for (sizes, lines) in slices {
        let slice = slice_of(sizes, lines)?;
        match &chain {
            None => chain = Some(Slices::of_first(plan, slice)),
            Some(chain) if chain.len() < MAX_SLICES => chain.push(slice),
            Some(_) => return Err(LinesError::Slices),
        }
    }
    let mut chain = chain.ok_or(LinesError::Slices)?;
    chain.plan = plan.resumed(&Taken::by(chain.iter().map(Slice::sizes)));
    Ok(F::of_slices(chain, hasher))
}

/// Makes a slice, if the sizes fit the lines.
fn slice_of<W: Writer>(sizes: SliceSizes, lines: Lines) -> Result<Slice<W>, LinesError> {
    let SliceSizes { geometry, capacity, items } = sizes;
    // Where items have one word, lines have no locks.
    if geometry.kind() != InLine::<W>::KIND || geometry.locked() != W::LOCKED {
        return Err(LinesError::Kind);
    }
    let (expected, found) = (geometry.lines(), lines.len() as u64);
    if expected != found {
        return Err(LinesError::Count { expected, found });
    }
    Ok(Slice::of_lines(geometry, capacity.max(1), lines, items))
}

#[cfg(test)]
mod tests {
    use std::vec;

    use tamis_hash::Rapid;

    use super::*;
    use crate::geometry::Kind;
    use crate::growing::ScalableBuilder;
    use crate::{OnceScalableBloomFilter, ScalableBloomFilter};

    type Filter = ScalableBloomFilter<u64, Rapid>;

    fn sizes() -> SliceSizes {
        sizes_of(false, 2)
    }

    fn sizes_of(once: bool, words: u32) -> SliceSizes {
        let kind = Kind::Line { once };
        let geometry = Geometry::for_items(kind, 1024, 0.003, Some(words)).unwrap();
        SliceSizes { geometry, capacity: 1024, items: 0 }
    }

    const GROWTH: Growth = Growth {
        first_capacity: 1024,
        rate: 0.01,
        max_size_in_bytes: u64::MAX,
        max_capacity: None,
    };

    fn load(growth: Growth, slices: Vec<(SliceSizes, Lines)>) -> Result<Filter, LinesError> {
        from_slices(growth, Rapid::with_seed(1), slices)
    }

    fn lines(sizes: SliceSizes) -> Lines {
        Lines::zeroed(sizes.geometry.lines()).unwrap()
    }

    #[test]
    fn slices_that_do_not_fit_are_errors() {
        let sizes = sizes();
        assert_eq!(load(GROWTH, vec![]).unwrap_err(), LinesError::Slices);
        let many = (0..=MAX_SLICES).map(|_| (sizes, lines(sizes))).collect();
        assert_eq!(load(GROWTH, many).unwrap_err(), LinesError::Slices);
        let short = vec![(sizes, Lines::zeroed(1).unwrap())];
        assert!(matches!(load(GROWTH, short).unwrap_err(), LinesError::Count { found: 1, .. }));
        for rate in [0.0, 1.0, f64::NAN] {
            let growth = Growth { rate, ..GROWTH };
            let slices = vec![(sizes, lines(sizes))];
            assert_eq!(load(growth, slices).unwrap_err(), LinesError::Rate);
        }
        let once = sizes_of(true, 2);
        assert_eq!(load(GROWTH, vec![(once, lines(once))]).unwrap_err(), LinesError::Kind);
        // A slice of the other type, and one without locks.
        for sizes in [sizes, sizes_of(true, 1)] {
            let result = from_slices::<OnceScalableBloomFilter<u64, Rapid>>(
                GROWTH,
                Rapid::with_seed(1),
                [(sizes, lines(sizes))],
            );
            assert_eq!(result.unwrap_err(), LinesError::Kind);
        }
    }

    /// A loaded filter whose last slice is overfull grows with the next items; one of any counts
    /// and capacities works.
    #[test]
    fn a_loaded_filter_grows() {
        for (capacity, items) in [(1024, 1024), (1024, u64::MAX), (0, 0), (u64::MAX, 5), (1, 7)] {
            let sizes = SliceSizes { capacity, items, ..sizes_of(true, 2) };
            let filter: OnceScalableBloomFilter<u64, Rapid> =
                from_slices(GROWTH, Rapid::with_seed(1), [(sizes, lines(sizes))]).unwrap();
            for item in 0..100 {
                filter.insert(&item);
            }
            assert!((0..100).all(|item| filter.contains(&item)));
            assert_eq!(super::slices(&filter).len() > 1, capacity < 1025, "{capacity} {items}");
        }
    }

    /// A filter whose newest slice is overfull says so, although the others have room that no item
    /// can take.
    #[test]
    fn an_overfull_newest_slice_is_reported() {
        let kind = Kind::Line { once: false };
        let slices = [100_000, 1024].map(|capacity| {
            let geometry = Geometry::for_items(kind, capacity, 0.003, Some(2)).unwrap();
            let sizes = SliceSizes { geometry, capacity, items: 0 };
            (sizes, lines(sizes))
        });
        let filter = load(Growth { max_size_in_bytes: 1, ..GROWTH }, slices.into()).unwrap();
        filter.insert_many_with(0..3000_u64, |_, _| ());
        assert_eq!(super::slices(&filter).len(), 2);
        assert!(filter.saturation() > 2.5 && filter.figures_sampled(50).saturation.value > 2.0);
        assert!(filter.false_positive_rate() > 0.01);
    }

    /// What a filter was built with is what it is saved with, whatever the numbers are.
    #[test]
    fn a_loaded_filter_keeps_its_growth() {
        for (first_capacity, max_capacity) in [(1024, Some(1)), (5, Some(u64::MAX)), (9, None)] {
            let given = Growth { first_capacity, max_capacity, ..GROWTH };
            let filter = load(given, vec![(sizes(), lines(sizes()))]).unwrap();
            assert_eq!(growth(&filter), given);
        }
        let filter = ScalableBuilder::<Filter>::new(Rapid::with_seed(1)).max_capacity(500).build();
        assert_eq!(filter.unwrap().capacity(), 500, "the first slice is not larger");
    }

    /// A clear keeps the sizes of the first slice, whatever the number is from which later ones are
    /// planned.
    #[test]
    fn a_loaded_filter_can_be_cleared() {
        let filter =
            ScalableBuilder::<Filter>::new(Rapid::with_seed(1)).capacity(1024).build().unwrap();
        let (sizes, growth) = (slices(&filter), Growth { first_capacity: u64::MAX, ..GROWTH });
        let lines = Lines::zeroed(sizes[0].geometry.lines()).unwrap();
        let mut loaded = load(growth, vec![(sizes[0], lines)]).unwrap();
        (0..5000).for_each(|item| _ = loaded.insert(&item));
        loaded.clear();
        assert_eq!(slices(&loaded), sizes);
        assert!(!(0..5000).any(|item| loaded.contains(&item)));
    }
}
