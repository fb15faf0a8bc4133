//! From what a user knows (items and a rate, or buckets and slots) to a filter.

use core::fmt;

use crate::{BuildError, Geometry};

/// The rate of a filter whose user names none.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// The machinery behind [`Buildable`], out of reach.
pub(crate) mod sealed {
    use crate::{BuildError, Geometry};

    pub trait Sealed: Sized {
        type Hasher;

        fn from_parts(
            geometry: Geometry,
            capacity: usize,
            hasher: Self::Hasher,
        ) -> Result<Self, BuildError>;
    }
}

/// A filter type of this crate: what [`Builder`] builds.
///
/// Sealed, for signatures; code that is generic over filters uses [`Filter`](crate::Filter).
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::cuckoo::{Buildable, Builder};
/// use tamis::{BuildError, CuckooFilter};
///
/// fn size_of<F: Buildable>(builder: &Builder<F>) -> Result<u64, BuildError> {
///     Ok(builder.geometry()?.size_in_bytes())
/// }
///
/// assert!(size_of(&CuckooFilter::<str>::builder().capacity(1_000_000))? < 2_000_000);
/// # Ok::<(), BuildError>(())
/// ```
pub trait Buildable: sealed::Sealed {
    /// What is inserted.
    type Item: ?Sized;

    /// The same type of filter with another hasher.
    type WithHasher<S>: Buildable<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

/// Collects the sizes and the hasher of a filter, and builds it.
///
/// Give either a [`capacity`](Self::capacity), with or without a
/// [`false_positive_rate`](Self::false_positive_rate) (1 % if none is given), or
/// [`buckets`](Self::buckets) with [`slots`](Self::slots) and
/// [`fingerprint_bits`](Self::fingerprint_bits), or the sizes of a filter that there is
/// ([`like`](Self::like)).
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
///
/// let filter = CuckooFilter::<str>::builder()
///     .capacity(1_000_000)
///     .false_positive_rate(1e-3)
///     .build()?;
/// assert!(filter.geometry().false_positive_rate_at(1_000_000) <= 1e-3);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<F: Buildable> {
    capacity: Option<usize>,
    rate: Option<f64>,
    buckets: Option<u64>,
    slots: Option<u32>,
    fingerprint_bits: Option<u32>,
    like: Option<Geometry>,
    hasher: F::Hasher,
}

impl<F: Buildable> Builder<F> {
    pub(crate) fn new(hasher: F::Hasher) -> Self {
        Self {
            capacity: None,
            rate: None,
            buckets: None,
            slots: None,
            fingerprint_bits: None,
            like: None,
            hasher,
        }
    }

    /// The number of distinct items that the filter is to hold at its rate: it does with a probability of more than
    /// 1 − 10⁻⁶. 0 counts as 1 and makes a smallest filter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let filter = CuckooFilter::<str>::builder().capacity(100).build()?;
    /// assert_eq!(filter.capacity(), 100);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The highest false-positive rate that is expected when the filter holds its capacity; between 0
    /// and 1. The width of the fingerprints goes in steps, so the true rate is often well below.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().capacity(100_000).false_positive_rate(0.03);
    /// let rate = builder.geometry()?.false_positive_rate_at(100_000);
    /// assert!(rate <= 0.03 && rate > 0.028);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.rate = Some(rate);
        self
    }

    /// The number of buckets, an even one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{BuildError, CuckooFilter};
    /// let builder = CuckooFilter::<str>::builder().buckets(1001).slots(4).fingerprint_bits(16);
    /// assert_eq!(builder.build().unwrap_err(), BuildError::Buckets { buckets: 1001 });
    /// ```
    pub fn buckets(mut self, buckets: u64) -> Self {
        self.buckets = Some(buckets);
        self
    }

    /// The slots of a bucket. More of them fill better; fewer have fewer false positives for the same
    /// width. There are buckets of 4 or 8 slots of 8 bits, 5 of 12, 4 of 16, 3 of 20, and 2 of 32.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(8).fingerprint_bits(8);
    /// assert_eq!(builder.geometry()?.slots(), 8);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = Some(slots);
        self
    }

    /// The bits of a slot; see [`slots`](Self::slots).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(3).fingerprint_bits(20);
    /// assert_eq!(builder.geometry()?.fingerprint_bits(), 20);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// Exactly the sizes of another filter, such as one to merge with. A [`capacity`](Self::capacity)
    /// may go with them, to say what they are meant for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let one = CuckooFilter::<str>::with_capacity(1000)?;
    /// let other = CuckooFilter::<str>::builder().like(one.geometry()).build()?;
    /// assert_eq!(other.geometry(), one.geometry());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn like(mut self, geometry: Geometry) -> Self {
        self.like = Some(geometry);
        self
    }

    /// The hasher: any [`BuildHasher`](core::hash::BuildHasher), or a stable hasher of `tamis-hash`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// use tamis::hash::Xxh3;
    ///
    /// let filter = CuckooFilter::<str>::builder().capacity(10).hasher(Xxh3::with_seed(7)).build()?;
    /// assert_eq!(filter.insert("a"), Ok(()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn hasher<S>(self, hasher: S) -> Builder<F::WithHasher<S>> {
        let Self { capacity, rate, buckets, slots, fingerprint_bits, like, .. } = self;
        Builder { capacity, rate, buckets, slots, fingerprint_bits, like, hasher }
    }

    /// The sizes that the filter would have, without making it.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), except for memory.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let ten_billion = CuckooFilter::<str>::builder().capacity(10_000_000_000);
    /// assert_eq!(ten_billion.geometry()?.size_in_bytes() >> 30, 15);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn geometry(&self) -> Result<Geometry, BuildError> {
        let sizes = (self.buckets, self.slots, self.fingerprint_bits);
        match (self.capacity, self.rate, sizes, self.like) {
            (_, None, (None, None, None), Some(geometry)) => Ok(geometry),
            (Some(items), rate, (None, None, None), None) => {
                Geometry::for_items(items as u64, rate.unwrap_or(DEFAULT_RATE))
            }
            (None, None, (Some(buckets), Some(slots), Some(bits)), None) => {
                Geometry::for_buckets(buckets, slots, bits)
            }
            (None, _, (None, None, None), None) => Err(BuildError::Unsized),
            (None, None, _, None) => Err(BuildError::Incomplete),
            _ => Err(BuildError::Conflict),
        }
    }

    /// Builds the filter, empty.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the sizes are missing, contradictory or out of range, or the memory is
    /// refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{BuildError, CuckooFilter};
    /// let error = CuckooFilter::<str>::builder().capacity(10).false_positive_rate(1.0).build();
    /// assert_eq!(error.unwrap_err(), BuildError::Rate { rate: 1.0 });
    /// ```
    pub fn build(self) -> Result<F, BuildError> {
        let geometry = self.geometry()?;
        let capacity = self.capacity.unwrap_or_else(|| geometry.capacity());
        F::from_parts(geometry, capacity.max(1), self.hasher)
    }
}

impl<F: Buildable> fmt::Debug for Builder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("false_positive_rate", &self.rate)
            .field("buckets", &self.buckets)
            .field("slots", &self.slots)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .field("like", &self.like)
            .finish_non_exhaustive()
    }
}
