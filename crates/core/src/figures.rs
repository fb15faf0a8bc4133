//! How full a filter is: the figures that all types of filter report.

use crate::sampled::Sampled;

/// How full a filter is, and how often its answers are wrong: from `figures` and `figures_sampled`
/// of each type.
///
/// Each figure has its standard error: 0 from `figures`, which reads the whole filter once.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::Filter;
///
/// /// Reports a filter that is in use, in less than a millisecond.
/// fn report(filter: &impl Filter) {
///     let figures = filter.figures_sampled(1024);
///     println!("items {}, rate {}", figures.items, figures.false_positive_rate);
///     if figures.saturation.value > 1.0 {
///         println!("more items than the filter was built for");
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// The number of distinct items; in a cuckoo filter the exact number of copies.
    ///
    /// A Bloom filter estimates it from the fill (Swamidass and Baldi 2007). The estimate is
    /// unbiased to first order, and mostly within `2/√n` of the truth up to the capacity. The more
    /// a filter is overfilled, the less accurate it is, and it is infinite if all bits are set. A
    /// filter of several parts does not store an item that another part seems to have. So it counts
    /// fewer items: the share that it misses is at most its false-positive rate.
    pub items: Sampled,
    /// The share of bits that are set, of counters that are not 0, or of slots that are occupied:
    /// from 0 to 1.
    pub fill: Sampled,
    /// The items divided by the capacity: 1 means full. Above 1 the filter has more items than it
    /// was built for, and its false-positive rate may exceed the requested one.
    pub saturation: Sampled,
    /// The probability that a query for an item that was not inserted returns `true`, computed from
    /// the contents. In a filter of several parts that was built for a rate of 30 % or more, the
    /// true one is up to 7 % higher: an item that an old part seems to have is not put into a new
    /// one.
    pub false_positive_rate: Sampled,
}

impl Figures {
    /// Collects figures.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::{Figures, Sampled};
    ///
    /// let [items, fill, saturation, rate] = [500.0, 0.25, 0.5, 1e-4].map(Sampled::exact);
    /// assert_eq!(Figures::new(items, fill, saturation, rate).saturation.value, 0.5);
    /// ```
    #[must_use]
    pub const fn new(
        items: Sampled,
        fill: Sampled,
        saturation: Sampled,
        false_positive_rate: Sampled,
    ) -> Self {
        Self { items, fill, saturation, false_positive_rate }
    }
}
