//! The sizes and the state of a rotating Bloom filter: the numbers of a header.

use core::time::Duration;

use tamis_bloom::raw::{self, Rotation};
use tamis_bloom::{self as bloom, BlockedBloomFilter};
use tamis_core::BuildError;

use crate::error::LoadError;
use crate::sizes::numbers::{Numbers, require, require_lines, require_range};

/// The fewest and the most live generations.
const GENERATIONS: [u64; 2] = [2, 16];

/// The most rotations, so that a loaded filter has as many before it. At one per nanosecond they
/// take a year.
const MAX_ROTATIONS: u64 = (1 << 55) - 1;

/// The most items that a generation counts.
const MAX_COUNT: u64 = (1 << 56) - 1;

/// The latest end of a generation, in nanoseconds: a filter has no later one.
const MAX_END: u64 = u64::MAX - 1;

/// The most lines, so that the length of a file fits in 64 bits.
const MAX_LINES: u64 = 1 << 57;

/// The sizes of a `RotatingBloomFilter` in a file, and how far it has rotated.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::RotatingBloomFilter;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::hash::Rapid;
///
/// let builder = RotatingBloomFilter::<u64>::builder().capacity(1000).generations(5);
/// let seen = builder.hasher(Rapid::with_seed(1)).build()?;
/// for event in 0..600 {
///     seen.insert(&event);
/// }
/// let mut bytes = Vec::new();
/// write(&seen, &mut bytes)?;
///
/// let info = Info::read(&bytes[..])?;
/// let Geometry::Window(window) = info.geometry() else { panic!() };
/// assert_eq!((window.generations(), window.rotations(), info.capacity()), (5, 2, 1000));
/// assert_eq!((window.span(), window.due()), (None, None));
/// assert_eq!(window.geometry(), seen.geometry());
/// assert!(window.items() < 250);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowSizes {
    geometry: bloom::Geometry,
    generations: u32,
    rotations: u64,
    items: u64,
    /// In nanoseconds; 0 for a window of items.
    span: u64,
    /// In nanoseconds; 0 for none.
    due: u64,
}

impl WindowSizes {
    /// Returns the sizes of a filter.
    pub(crate) fn of_rotation(geometry: bloom::Geometry, rotation: Rotation) -> Self {
        let Rotation { span, generations, rotations, counted, due, .. } = rotation;
        let span = span.map_or(0, |span| nanoseconds(span).max(1));
        let due = if span == 0 { 0 } else { due.map_or(0, nanoseconds).min(MAX_END) };
        // A loaded filter that had the most rotations may have more. Whole turns less leave each
        // generation in its place.
        let excess = rotations.saturating_sub(MAX_ROTATIONS);
        let rotations = rotations - excess.next_multiple_of(u64::from(generations) + 1);
        Self { geometry, generations, rotations, items: counted.min(MAX_COUNT), span, due }
    }

    /// Returns the sizes for the numbers of a header.
    pub(crate) fn of_numbers(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size, probes_or_slots: probes, words_or_fingerprint_bits: words, .. } =
            numbers;
        let [generations, rotations, items, span, due, ..] = numbers.record;
        require_range("generations", generations, GENERATIONS[0], GENERATIONS[1])?;
        require_range("rotations", rotations, 0, MAX_ROTATIONS)?;
        require_range("items of the current generation", items, 0, MAX_COUNT)?;
        if span == 0 {
            require("end of the current generation", due, 0)?;
        }
        require_range("end of the current generation", due, 0, MAX_END)?;
        let builder = BlockedBloomFilter::<()>::builder().bits(size).probes(probes).words(words);
        let geometry = builder.geometry().map_err(LoadError::Sizes)?;
        require_lines(size)?;
        let generations = generations as u32;
        if raw::rotating_lines(geometry, generations) > MAX_LINES {
            return Err(LoadError::Sizes(BuildError::TooLarge));
        }
        Ok(Self { geometry, generations, rotations, items, span, due })
    }

    /// Returns the numbers for a header.
    pub(crate) const fn numbers(self) -> Numbers {
        let geometry = self.geometry;
        let fields = [self.generations as u64, self.rotations, self.items, self.span, self.due];
        Numbers::new(geometry.bits(), geometry.probes(), geometry.words()).with_record(&fields)
    }

    /// Returns the numbers for the filter. `capacity` is that of the header.
    pub(crate) fn rotation(self, capacity: usize) -> Rotation {
        let mut rotation = Rotation::new(capacity, self.span(), self.generations);
        rotation.rotations = self.rotations;
        rotation.counted = self.items;
        rotation.due = self.due();
        rotation
    }

    /// Returns the sizes of one generation.
    #[must_use]
    pub const fn geometry(self) -> bloom::Geometry {
        self.geometry
    }

    /// Returns the number of live generations.
    #[must_use]
    pub const fn generations(self) -> u32 {
        self.generations
    }

    /// Returns the number of rotations since the filter was built.
    #[must_use]
    pub const fn rotations(self) -> u64 {
        self.rotations
    }

    /// Returns the number of new items in the current generation.
    #[must_use]
    pub const fn items(self) -> u64 {
        self.items
    }

    /// Returns the span of the window, or `None` if it is a window of items.
    #[must_use]
    pub const fn span(self) -> Option<Duration> {
        if self.span == 0 { None } else { Some(Duration::from_nanos(self.span)) }
    }

    /// Returns the end of the current generation, in the time that the program passes to the
    /// filter; `None` if it has not passed any, or if it is a window of items.
    #[must_use]
    pub const fn due(self) -> Option<Duration> {
        if self.due == 0 { None } else { Some(Duration::from_nanos(self.due)) }
    }

    pub(crate) const fn body_lines(self) -> u64 {
        raw::rotating_lines(self.geometry, self.generations)
    }

    /// Returns the number of generations with the spare one.
    pub(crate) const fn slots(self) -> u64 {
        self.generations as u64 + 1
    }

    /// Returns the place of the spare generation, whose words are zero in a file.
    pub(crate) const fn spare(self) -> u64 {
        (self.rotations + 1) % self.slots()
    }
}

/// Returns a time or span in nanoseconds; one of more than 584 years counts as the largest.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
