//! The builder of filters that grow, and the methods of the filter that build one.

use core::fmt;
use core::marker::PhantomData;

use tamis_core::BuildError;
use tamis_hash::DefaultHashBuilder;

use crate::builder::DEFAULT_RATE;
use crate::growing::Growing;
use crate::plan::Plan;
use crate::scalable::ScalableCuckooFilter;

/// The bound on the number of items, divided by the first capacity, if none is given.
const GROWTH: usize = 1 << 10;

/// Collects the sizes and the hasher of a [`ScalableCuckooFilter`], and builds it.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::ScalableCuckooFilter;
///
/// let filter = ScalableCuckooFilter::<str>::builder()
///     .capacity(10_000)
///     .max_capacity(100_000_000)
///     .false_positive_rate(1e-3)
///     .build()?;
/// assert!(filter.size_in_bytes() < 100_000);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct ScalableBuilder<T: ?Sized, S = DefaultHashBuilder> {
    capacity: Option<usize>,
    max_capacity: Option<usize>,
    rate: Option<f64>,
    hasher: S,
    item: PhantomData<fn(&T)>,
}

impl<T: ?Sized, S> ScalableBuilder<T, S> {
    /// Returns a builder with this hasher. This is the only way to get a builder without feature
    /// `std`, because the method `builder` of a filter needs random keys.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// use tamis::cuckoo::ScalableBuilder;
    /// use tamis::hash::Rapid;
    ///
    /// let builder = ScalableBuilder::new(Rapid::with_seed(1));
    /// let filter: ScalableCuckooFilter<str, Rapid> = builder.capacity(10).build()?;
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub const fn new(hasher: S) -> Self {
        Self { capacity: None, max_capacity: None, rate: None, hasher, item: PhantomData }
    }

    /// Sets the number of distinct items that the first slice holds. The filter starts with
    /// the memory for them, and no less than 1024 buckets. 0 counts as 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{Filter, ScalableCuckooFilter};
    /// let filter = ScalableCuckooFilter::<u64>::builder().capacity(20_000).build()?;
    /// filter.try_extend(0..20_000)?;
    /// assert_eq!(filter.slices(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub const fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// Sets the number of distinct items up to which the filter grows and keeps its rate; by
    /// default 1024 times the [`capacity`](Self::capacity). Each doubling of the bound takes one
    /// bit per item more, until the filter has grown accordingly.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(50_000).max_capacity(50_000);
    /// let near = builder.build()?;
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(50_000).max_capacity(1 << 32);
    /// let far = builder.build()?;
    /// assert!(near.size_in_bytes() < far.size_in_bytes());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub const fn max_capacity(mut self, items: usize) -> Self {
        self.max_capacity = Some(items);
        self
    }

    /// Sets the highest expected false-positive rate of a filter that holds its
    /// [`max_capacity`](Self::max_capacity), between 0 and 1; by default 1 %.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{BuildError, ScalableCuckooFilter};
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(10).false_positive_rate(1.0);
    /// assert_eq!(builder.build().unwrap_err(), BuildError::Rate { rate: 1.0 });
    /// ```
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets the hasher: any [`BuildHasher`](core::hash::BuildHasher), or a stable hasher of
    /// `tamis-hash`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// use tamis::hash::Xxh3;
    ///
    /// let builder = ScalableCuckooFilter::<str>::builder().capacity(10).hasher(Xxh3::with_seed(7));
    /// assert_eq!(builder.build()?.insert("a"), Ok(()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn hasher<R>(self, hasher: R) -> ScalableBuilder<T, R> {
        let Self { capacity, max_capacity, rate, .. } = self;
        ScalableBuilder { capacity, max_capacity, rate, hasher, item: PhantomData }
    }

    /// Builds an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no capacity was given, if the rate is out of range or cannot be kept up to
    /// the maximum, or if the allocation fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{BuildError, ScalableCuckooFilter};
    /// let error = ScalableCuckooFilter::<str>::builder().build().unwrap_err();
    /// assert_eq!(error, BuildError::Unsized);
    /// ```
    pub fn build(self) -> Result<ScalableCuckooFilter<T, S>, BuildError> {
        let first = self.capacity.ok_or(BuildError::Unsized)?.max(1);
        let most = self.max_capacity.unwrap_or_else(|| first.saturating_mul(GROWTH)).max(first);
        let plan = Plan::new(first as u64, most as u64, self.rate.unwrap_or(DEFAULT_RATE))?;
        Ok(ScalableCuckooFilter { growing: Growing::new(plan, most, self.hasher)? })
    }
}

impl<T: ?Sized, S> fmt::Debug for ScalableBuilder<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBuilder")
            .field("capacity", &self.capacity)
            .field("max_capacity", &self.max_capacity)
            .field("false_positive_rate", &self.rate)
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized> ScalableCuckooFilter<T> {
    /// Creates an empty filter whose first slice holds `items` distinct items, with a randomly
    /// keyed hasher. It keeps a false-positive rate of at most 1 % up to 1024 times as many items.
    /// A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the allocation fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.capacity(), 1_024_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::builder().capacity(items).build()
    }

    /// Returns a builder, which takes the first capacity, the bound, the false-positive rate, and
    /// any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::builder()
    ///     .capacity(10_000)
    ///     .max_capacity(1_000_000_000)
    ///     .false_positive_rate(1e-3)
    ///     .build()?;
    /// assert!(filter.false_positive_rate_at(1_000_000_000) <= 1e-3);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> ScalableBuilder<T> {
        ScalableBuilder::new(DefaultHashBuilder::default())
    }
}
