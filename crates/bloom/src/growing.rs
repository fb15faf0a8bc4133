//! The builder of the growing filters, and the trait of their types.

use tamis_core::BuildError;

use crate::array::Array as _;
use crate::array::line::InLine;
use crate::builder::DEFAULT_RATE;
use crate::chain::plan::{LEAST_CAPACITY, Plan};
use crate::chain::slices::Slices;
use crate::geometry::Geometry;

/// The capacity of the first slice when none is given: at 1 % it takes about 130 kB.
const DEFAULT_CAPACITY: usize = 1 << 16;

/// Access to the slices of a filter, for this crate only. What it names is `pub`, since a public
/// trait has it as a supertrait, but no path names it outside this crate.
pub(crate) mod sealed {
    use crate::chain::claim::Claim;
    use crate::chain::slices::Slices;

    pub trait Sealed: Sized {
        type Claim: Claim;
        type Hasher;

        fn of_slices(slices: Slices<Self::Claim>, hasher: Self::Hasher) -> Self;
        fn slices(&self) -> &Slices<Self::Claim>;
    }
}

/// A filter type that grows: [`ScalableBuilder`] builds it. The trait is sealed and serves
/// signatures.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::{Growing, ScalableBuilder};
/// use tamis::{BuildError, ScalableBloomFilter};
///
/// fn small<F: Growing>(builder: ScalableBuilder<F>) -> Result<F, BuildError> {
///     builder.capacity(1024).build()
/// }
///
/// assert_eq!(small(ScalableBloomFilter::<str>::builder())?.capacity(), 1024);
/// # Ok::<(), BuildError>(())
/// ```
pub trait Growing: sealed::Sealed {
    /// The type of the items.
    type Item: ?Sized;

    /// The same filter type with another hasher.
    type WithHasher<S>: Growing<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

/// A builder of growing filters. No size is required.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::ScalableBloomFilter;
///
/// let filter = ScalableBloomFilter::<str>::builder()
///     .false_positive_rate(1e-6)
///     .max_size_in_bytes(1 << 30)
///     .build()?;
/// assert!(filter.insert("a"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct ScalableBuilder<F: Growing> {
    sizes: Sizes,
    hasher: F::Hasher,
}

/// The sizes that were given to a builder.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    capacity: Option<usize>,
    rate: Option<f64>,
    max_bytes: Option<u64>,
    max_capacity: Option<usize>,
}

tamis_core::builder_methods! {
    ScalableBuilder<Growing> of "tamis_bloom", "bloom",
    builds: ScalableBloomFilter,
    capacity:
        " Sets the number of distinct items of the first slice: 65,536 by default, and at least"
        " 1024. Choose the number of items that the filter will probably hold. A filter that does"
        " not grow is the fastest.",
    rate:
        " Sets the false-positive rate that the filter stays below up to its"
        " [`max_capacity`](Self::max_capacity): 1 % by default."
        ""
        " The promise is of the mean over all seeds of the hasher. Small slices vary around it: of"
        " filters that grew from 1024 to 100,000 items, none exceeded a rate of 1 %, and 6 % exceeded"
        " one of 1e-6, by a factor of at most 4. From 10,000 to 100,000 items at 1e-4, none exceeded"
        " 0.55 of it (2000 seeds each). Few items and low rates vary most: with 3000 items, 26 %"
        " exceeded 1e-6, by a factor of at most 12, and with 10,000 items, 24 % exceeded 1e-9, by a"
        " factor of at most 26."
}

impl<F: Growing> ScalableBuilder<F> {
    /// Sets the number of items at which growth ends. Give it if you know a bound: the filter takes
    /// fewer bits, above all in the last slice and at rates of 1e-9 and below. Without it, growth
    /// ends where the page of the filter [says](crate::ScalableBloomFilter#where-growth-ends). The
    /// first slice is never made for more items than this.
    ///
    /// The number must be at most half of `rate · 2^64`: for a larger one, `build` returns
    /// [`BuildError::RateTooLow`]. 0 counts as 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BuildError, ScalableBloomFilter};
    /// let builder = || ScalableBloomFilter::<u64>::builder().capacity(1024).false_positive_rate(1e-12);
    /// let filter = builder().max_capacity(50_000).build()?;
    /// filter.insert_many_with(0..50_000_u64, |_, _| ());
    /// assert!(filter.saturation() < 1.05);
    /// filter.insert_many_with(50_000..60_000_u64, |_, _| ());
    /// assert!(filter.saturation() > 1.1);
    ///
    /// let error = builder().max_capacity(100_000_000).build().unwrap_err();
    /// assert!(matches!(error, BuildError::RateTooLow { lowest: 1e-11.., .. }));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn max_capacity(mut self, items: usize) -> Self {
        self.sizes.max_capacity = Some(items);
        self
    }

    /// Sets a limit for the memory of the bits. The slice that would exceed it becomes smaller, or
    /// is not added. Then all further items go to the last slice, the rate rises, and `saturation`
    /// exceeds 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::ScalableBloomFilter;
    /// let builder = ScalableBloomFilter::<u64>::builder().capacity(1024).max_size_in_bytes(20_000);
    /// let filter = builder.build()?;
    /// filter.insert_many_with(0..50_000_u64, |_, _| ());
    /// assert!(filter.size_in_bytes() <= 20_000);
    /// assert!(filter.saturation() > 1.0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn max_size_in_bytes(mut self, bytes: u64) -> Self {
        self.sizes.max_bytes = Some(bytes);
        self
    }

    /// Builds an empty filter of one slice.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate is out of range, or too low for the [capacity](Self::capacity) or
    /// the [`max_capacity`](Self::max_capacity); if the allocation fails; or if the first slice
    /// exceeds the [limit](Self::max_size_in_bytes) (as a failed allocation).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BuildError, ScalableBloomFilter};
    /// let builder = || ScalableBloomFilter::<str>::builder();
    /// let error = builder().false_positive_rate(1.0).build().unwrap_err();
    /// assert_eq!(error, BuildError::Rate { rate: 1.0 });
    /// let error = builder().max_size_in_bytes(100).build().unwrap_err();
    /// assert!(matches!(error, BuildError::Alloc { .. }));
    /// ```
    pub fn build(self) -> Result<F, BuildError> {
        Slices::new(self.plan()).map(|slices| F::of_slices(slices, self.hasher))
    }

    /// Returns the sizes of the first slice without allocating it.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), apart from a failed allocation. The
    /// [limit](Self::max_size_in_bytes) is checked.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::ScalableBloomFilter;
    /// let builder = ScalableBloomFilter::<u64>::builder().capacity(10_000);
    /// let bytes = builder.geometry()?.size_in_bytes();
    /// assert_eq!(bytes, builder.build()?.size_in_bytes());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn geometry(&self) -> Result<Geometry, BuildError> {
        self.plan().first().map(|(geometry, _)| geometry)
    }

    fn plan(&self) -> Plan {
        let Sizes { capacity, rate, max_bytes, max_capacity } = self.sizes;
        let capacity = capacity.unwrap_or(DEFAULT_CAPACITY).max(LEAST_CAPACITY);
        let (rate, max_bytes) = (rate.unwrap_or(DEFAULT_RATE), max_bytes.unwrap_or(u64::MAX));
        let max_capacity = max_capacity.map(|items| items.max(1) as u64);
        let first = (capacity as u64).min(max_capacity.unwrap_or(u64::MAX));
        Plan::new(InLine::<F::Claim>::KIND, first, rate, max_bytes).ending_at(max_capacity)
    }
}
