//! The builder of the rotating filter: from a window and a rate to the sizes of its generations.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use tamis_core::BuildError;
use tamis_hash::DefaultHashBuilder;

use super::RotatingBloomFilter;
use super::array::Rotating;
use super::plan::{
    MAX_GENERATIONS, MIN_GENERATIONS, Plan, rate_of_generations, rate_per_generation,
};
use super::state::Ring;
use crate::builder::DEFAULT_RATE;
use crate::geometry::{Geometry, Kind};

/// The number of live generations when none is given: with the spare they are the eight words of a
/// cache line.
///
/// MEASURED (ns per hit and per miss in batches, with windows of 100,000 and of 10 million items at
/// 1 %; bits per item of the window): 7 generations 11.3 and 9.5, 13.6 and 11.8, 21.9 bits;
/// compared with 10.0 and 8.3, 12.9 and 11.2, 38.1 bits with 2, 12.5 and 10.8, 15.3 and 13.5, 25.0
/// bits with 4, and 17.1 and 15.3, 20.5 and 18.5, 21.3 bits with 8 (Zen 5). A blocked filter takes
/// 4.1 and 2.3 in 12 bits.
const DEFAULT_GENERATIONS: u32 = 7;

/// A builder of a [`RotatingBloomFilter`]: collects the window, the rate and the hasher.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use std::time::Duration;
/// use tamis::RotatingBloomFilter;
///
/// let seen = RotatingBloomFilter::<str>::builder()
///     .capacity(1_000_000)
///     .span(Duration::from_secs(3600))
///     .false_positive_rate(1e-4)
///     .build()?;
/// assert!(seen.insert("a"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct RotatingBuilder<T: ?Sized, S = DefaultHashBuilder> {
    capacity: Option<usize>,
    span: Option<Duration>,
    generations: u32,
    rate: f64,
    words: Option<u32>,
    hasher: S,
    item: PhantomData<fn(&T)>,
}

impl<T: ?Sized, S> RotatingBuilder<T, S> {
    /// Returns a builder with this hasher. This is the only way to get a builder without feature
    /// `std`, because the method `builder` of a filter needs random keys.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// use tamis::bloom::RotatingBuilder;
    /// use tamis::hash::Rapid;
    ///
    /// let builder = RotatingBuilder::new(Rapid::with_seed(1));
    /// let filter: RotatingBloomFilter<str, Rapid> = builder.capacity(10).build()?;
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn new(hasher: S) -> Self {
        Self {
            capacity: None,
            span: None,
            generations: DEFAULT_GENERATIONS,
            rate: DEFAULT_RATE,
            words: None,
            hasher,
            item: PhantomData,
        }
    }

    /// Sets the window in new items; with a [`span`](Self::span), the number of new items that a
    /// span has at most. 0 counts as 1. It must be given.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(100).build()?;
    /// assert_eq!(seen.capacity(), 100);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// Sets the window in time. The filter then rotates when
    /// [`advance`](RotatingBloomFilter::advance) brings the time, and not by the number of items.
    ///
    /// Each generation covers `span / (generations − 1)`. A span of more than 584 years counts as
    /// 584 years.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use std::time::Duration;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(100);
    /// let seen = builder.span(Duration::from_millis(500)).build()?;
    /// seen.advance(Duration::ZERO);
    /// assert!(seen.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn span(mut self, span: Duration) -> Self {
        let (shortest, longest) = (Duration::from_nanos(1), Duration::from_nanos(u64::MAX));
        self.span = Some(span.clamp(shortest, longest));
        self
    }

    /// Sets the number of live generations, from 2 to 16; 7 by default.
    ///
    /// With more generations, an item is forgotten sooner after the window: after
    /// `1 / (generations − 1)` of the window at the latest. Items out of the window then need less
    /// memory. A query reads all generations: with 7, one cache line per word of the item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BuildError, RotatingBloomFilter};
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(100);
    /// let error = builder.generations(1).build().unwrap_err();
    /// assert_eq!(error, BuildError::Generations { generations: 1, min: 2, max: 16 });
    /// ```
    pub fn generations(mut self, generations: u32) -> Self {
        self.generations = generations;
        self
    }

    /// Sets the false-positive rate that is expected with all live generations full; between 0 and
    /// 1, 1 % by default. A rate above 30 % is treated as 30 %.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(100).false_positive_rate(1e-6);
    /// let seen = builder.build()?;
    /// assert!(seen.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Sets the number of 64-bit words per generation that an item touches: 1, 2, 4 or 8. Fewer are
    /// faster and need more memory, as in [`Builder::words`](crate::Builder::words). An item
    /// touches about this number of cache lines.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(100).words(1).build()?;
    /// assert_eq!(seen.geometry().words(), 1);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn words(mut self, words: u32) -> Self {
        self.words = Some(words);
        self
    }

    /// Sets the hasher: any [`BuildHasher`](core::hash::BuildHasher), or a stable hasher of
    /// `tamis-hash`. All 64 bits of a hash must be well mixed: with an identity hasher, a filter
    /// takes most items for known ones.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// use tamis::hash::Xxh3;
    ///
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(10).hasher(Xxh3::with_seed(7));
    /// let seen = builder.build()?;
    /// assert!(seen.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn hasher<R>(self, hasher: R) -> RotatingBuilder<T, R> {
        let Self { capacity, span, generations, rate, words, item, .. } = self;
        RotatingBuilder { capacity, span, generations, rate, words, hasher, item }
    }

    /// Returns the sizes of one generation, without building the filter.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), apart from a failed allocation.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(6_000_000_000);
    /// assert_eq!(builder.geometry()?.size_in_bytes() >> 30, 1);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn geometry(&self) -> Result<Geometry, BuildError> {
        self.sizes().map(|(_, geometry)| geometry)
    }

    /// Returns the memory of the filter in bytes, without building it: all generations, the one
    /// that is being cleared, and the locks.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), apart from a failed allocation.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(10_000);
    /// assert_eq!(builder.size_in_bytes()?, builder.build()?.size_in_bytes());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn size_in_bytes(&self) -> Result<u64, BuildError> {
        self.sizes().map(|(plan, geometry)| Ring::bytes_of(&plan, geometry.lines()))
    }

    fn sizes(&self) -> Result<(Plan, Geometry), BuildError> {
        let Self { capacity, span, generations, rate, words, .. } = *self;
        let capacity = capacity.ok_or(BuildError::Unsized)?;
        let plan = plan(capacity, span, generations)?;
        // Written so that NaN is an error, too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let each = rate_per_generation(rate, generations);
        let kind = Kind::Line { once: false };
        let geometry = Geometry::for_items(kind, plan.sized_for(), each, words).map_err(
            |error| match error {
                BuildError::RateTooLow { lowest, .. } => BuildError::RateTooLow {
                    rate,
                    lowest: rate_of_generations(lowest, generations),
                },
                error => error,
            },
        )?;
        Ok((plan, geometry))
    }

    /// Builds an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if there is no capacity, if a number is out of range, or if the allocation
    /// fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BuildError, RotatingBloomFilter};
    /// assert_eq!(RotatingBloomFilter::<str>::builder().build().unwrap_err(), BuildError::Unsized);
    /// ```
    pub fn build(self) -> Result<RotatingBloomFilter<T, S>, BuildError> {
        let (plan, geometry) = self.sizes()?;
        let array = Rotating::zeroed(plan, geometry).map_err(|error| BuildError::Alloc {
            bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX),
        })?;
        let capacity = self.capacity.unwrap_or_default();
        Ok(RotatingBloomFilter::of_array(array, geometry, capacity, self.span, self.hasher))
    }
}

impl<T: ?Sized, S> RotatingBloomFilter<T, S> {
    /// Takes an array of this geometry and window.
    pub(crate) fn of_array(
        array: Rotating,
        geometry: Geometry,
        capacity: usize,
        span: Option<Duration>,
        hasher: S,
    ) -> Self {
        let capacity = capacity.max(1);
        Self { array, geometry, span, capacity, hasher, item: PhantomData }
    }
}

/// Returns the plan of a filter, if the number of generations is in range.
pub(crate) fn plan(
    capacity: usize,
    span: Option<Duration>,
    generations: u32,
) -> Result<Plan, BuildError> {
    let (min, max) = (MIN_GENERATIONS, MAX_GENERATIONS);
    if (min..=max).contains(&generations) {
        Ok(Plan::new(capacity as u64, span, generations))
    } else {
        Err(BuildError::Generations { generations, min, max })
    }
}

impl<T: ?Sized, S: Clone> Clone for RotatingBuilder<T, S> {
    fn clone(&self) -> Self {
        let Self { capacity, span, generations, rate, words, item, .. } = *self;
        Self { capacity, span, generations, rate, words, hasher: self.hasher.clone(), item }
    }
}

impl<T: ?Sized, S> fmt::Debug for RotatingBuilder<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotatingBuilder")
            .field("capacity", &self.capacity)
            .field("span", &self.span)
            .field("generations", &self.generations)
            .field("false_positive_rate", &self.rate)
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}
