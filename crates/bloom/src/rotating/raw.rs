//! The words and numbers of a rotating filter, for crates that save filters and load them.

use core::time::Duration;

use tamis_core::LinesError;
use tamis_sync::{AllocError, LINE_WORDS, Lines};

use super::RotatingBloomFilter;
use super::array::Rotating;
use super::builder::plan;
use super::plan::{State, nanoseconds};
use super::state::{Numbers, Ring};
use crate::array::Array;
use crate::array::line::InLine;
use crate::bits::Free;
use crate::geometry::Geometry;

/// The numbers of a rotating filter that its bits do not show.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis_bloom::raw::{self, Lines};
/// use tamis::{RotatingBloomFilter, hash::Rapid};
///
/// let builder = RotatingBloomFilter::<str>::builder().hasher(Rapid::with_seed(1));
/// let seen = builder.capacity(1000).build()?;
/// seen.insert("a");
///
/// // Copy the filter, word by word.
/// let (geometry, rotation) = (seen.geometry(), raw::rotation(&seen));
/// let mut lines = Lines::zeroed(raw::rotating_lines(geometry, rotation.generations))?;
/// for (number, line) in lines.iter_mut().enumerate() {
///     for (to, word) in line.words.iter_mut().zip(raw::read_rotating_line(&seen, number as u64)) {
///         to.update(|to| *to = word);
///     }
/// }
/// let copy: RotatingBloomFilter<str, Rapid> =
///     raw::rotating_from_lines(geometry, rotation, Rapid::with_seed(1), lines)?;
/// assert!(copy.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotation {
    /// The items of the window.
    pub capacity: usize,
    /// The span of the window, if it is one of time.
    pub span: Option<Duration>,
    /// The live generations.
    pub generations: u32,
    /// The rotations so far. Generation `g` lies in slot `g mod (generations + 1)`, where the
    /// current generation is the number of rotations.
    pub rotations: u64,
    /// The items that are counted in the current generation.
    pub counted: u64,
    /// The end of the current generation, in the time of [`advance`](RotatingBloomFilter::advance);
    /// `None` before its first call.
    pub due: Option<Duration>,
}

impl Rotation {
    /// Returns the numbers of an empty filter, to be set to those that were saved.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// let rotation = tamis_bloom::raw::Rotation::new(1000, None, 7);
    /// assert_eq!(rotation.rotations, 0);
    /// ```
    #[must_use]
    pub const fn new(capacity: usize, span: Option<Duration>, generations: u32) -> Self {
        Self { capacity, span, generations, rotations: 0, counted: 0, due: None }
    }
}

/// Returns the numbers of a rotating filter. If other threads insert or rotate, take a
/// `clone` first, and read its numbers and lines.
#[must_use]
pub fn rotation<T: ?Sized, S>(filter: &RotatingBloomFilter<T, S>) -> Rotation {
    let Numbers { state, counted, due } = filter.array.ring.numbers();
    Rotation {
        capacity: filter.capacity,
        span: filter.span,
        generations: filter.array.ring.plan().generations,
        rotations: state.rotations(),
        counted,
        due: (due != 0).then_some(Duration::from_nanos(due)),
    }
}

/// Returns a copy of the filter, as `clone` does, but returns an error if the
/// allocation fails.
///
/// # Errors
///
/// [`AllocError`] if the allocation fails.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::RotatingBloomFilter;
/// let seen = RotatingBloomFilter::<str>::with_capacity(1000)?;
/// seen.insert("a");
/// assert!(tamis_bloom::raw::try_rotating_snapshot(&seen)?.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn try_rotating_snapshot<T: ?Sized, S: Clone>(
    filter: &RotatingBloomFilter<T, S>,
) -> Result<RotatingBloomFilter<T, S>, AllocError> {
    let RotatingBloomFilter { geometry, span, capacity, item, .. } = *filter;
    let array = filter.array.copy()?;
    Ok(RotatingBloomFilter { array, geometry, span, capacity, hasher: filter.hasher.clone(), item })
}

/// Returns the number of lines of a rotating filter with generations of this geometry.
///
/// Word `index` of line `place` of the generation in `slot` is word `(place · 8 + index) ·
/// (generations + 1) + slot` of the array. Items may set all bits.
#[must_use]
pub const fn rotating_lines(geometry: Geometry, generations: u32) -> u64 {
    geometry.lines().saturating_mul(generations as u64 + 1)
}

/// Reads a line of the array. See [`rotation`] for concurrent inserts.
///
/// # Panics
///
/// If the filter has no such line.
#[must_use]
pub fn read_rotating_line<T: ?Sized, S>(
    filter: &RotatingBloomFilter<T, S>,
    line: u64,
) -> [u64; LINE_WORDS] {
    filter.array.ring.read_line(line)
}

/// Makes a rotating filter of lines that were filled before. It clears the generation that is not
/// live before it is used.
///
/// # Errors
///
/// [`LinesError`] if the geometry is not that of a blocked filter, if it needs another number of
/// lines, if a number is out of range, or if the locks cannot be allocated.
pub fn rotating_from_lines<T: ?Sized, S>(
    geometry: Geometry,
    rotation: Rotation,
    hasher: S,
    lines: Lines,
) -> Result<RotatingBloomFilter<T, S>, LinesError> {
    let Rotation { capacity, span, generations, rotations, counted, due } = rotation;
    if geometry.kind() != InLine::<Free>::KIND {
        return Err(LinesError::Kind);
    }
    let plan = plan(capacity, span, generations).map_err(|_| LinesError::Numbers)?;
    // Half of them, so that the number does not start again from 0 in the life of the filter.
    if rotations >= State::ROTATIONS / 2 {
        return Err(LinesError::Numbers);
    }
    let (expected, found) = (rotating_lines(geometry, generations), lines.len() as u64);
    if expected != found {
        return Err(LinesError::Count { expected, found });
    }
    let numbers = Numbers {
        state: State::after(rotations, plan.slots()),
        // So that counting on from any number that a file states cannot overflow.
        counted: counted.min(State::ROTATIONS),
        due: due.map_or(0, nanoseconds),
    };
    let ring = Ring::of_lines(plan, geometry.lines(), lines, numbers, false);
    let ring = ring.map_err(|error| LinesError::Alloc {
        bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX),
    })?;
    let array = Rotating::of_ring(ring, geometry);
    Ok(RotatingBloomFilter::of_array(array, geometry, capacity, span, hasher))
}
