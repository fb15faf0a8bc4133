//! The builder: it computes the sizes of a filter from items and a rate, or takes them, and builds
//! the filter.

use tamis_core::BuildError;

use crate::geometry::Geometry;
use crate::growth::plan::Plan;
use crate::shared::Shared;

/// The false-positive rate of a filter for which none is given.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// The part of [`Buildable`] that other crates cannot reach.
pub(crate) mod sealed {
    use crate::shared::Shared;

    pub trait Sealed: Sized {
        /// The type of the items, under another name than in `Buildable`.
        type Stored: ?Sized;
        type Hasher;

        fn from_shared(shared: Shared<Self::Stored, Self::Hasher>) -> Self;
        fn shared(&self) -> &Shared<Self::Stored, Self::Hasher>;
    }
}

/// A filter type of this crate, which [`Builder`] can build.
///
/// The trait is sealed and serves only signatures. Code that is generic over filters uses
/// [`Filter`](crate::Filter).
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
    /// The type of the items.
    type Item: ?Sized;

    /// The same type of filter with another hasher.
    type WithHasher<S>: Buildable<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

/// Collects the sizes and the hasher of a filter, and builds it.
///
/// Give one of these:
///
/// * a [`capacity`](Self::capacity), with or without a
///   [`false_positive_rate`](Self::false_positive_rate) (the default is 1 %);
/// * [`buckets`](Self::buckets), [`slots`](Self::slots) and
///   [`fingerprint_bits`](Self::fingerprint_bits);
/// * the sizes of an existing filter ([`like`](Self::like)).
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
    sizes: Sizes,
    hasher: F::Hasher,
}

/// The sizes that were given to a builder.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    capacity: Option<usize>,
    max_capacity: Option<usize>,
    rate: Option<f64>,
    buckets: Option<u64>,
    slots: Option<u32>,
    fingerprint_bits: Option<u32>,
    like: Option<Geometry>,
}

impl Sizes {
    /// Returns the geometry of a filter of these sizes.
    fn geometry(self) -> Result<Geometry, BuildError> {
        let Self { capacity, max_capacity, rate, buckets, slots, fingerprint_bits, like } = self;
        // Exactly one of the three ways to give the sizes must be used, and completely.
        match (capacity, rate, (buckets, slots, fingerprint_bits), like) {
            // The other ways say themselves whether the filter grows.
            (_, _, sizes, like)
                if max_capacity.is_some() && (sizes != (None, None, None) || like.is_some()) =>
            {
                Err(BuildError::Conflict)
            }
            (_, None, (None, None, None), Some(geometry)) => geometry.supported(),
            (Some(items), rate, (None, None, None), None) => {
                let (items, rate) = (items.max(1) as u64, rate.unwrap_or(DEFAULT_RATE));
                match max_capacity {
                    Some(most) if most as u64 > items => {
                        Plan::new(items, most as u64, rate).map(Geometry::growing)
                    }
                    _ => Geometry::for_items(items, rate),
                }
            }
            (None, None, (Some(buckets), Some(slots), Some(bits)), None) => {
                Geometry::for_buckets(buckets, slots, bits)
            }
            (None, _, (None, None, None), None) => Err(BuildError::Unsized),
            (None, None, _, None) => Err(BuildError::Incomplete),
            _ => Err(BuildError::Conflict),
        }
    }
}

tamis_core::builder_methods! {
    Builder<Buildable> of "tamis_cuckoo", "cuckoo",
    builds: CuckooFilter,
    capacity:
        " Sets the number of distinct items. All of them fit, at the requested rate, with a"
        " probability of more than 1 − 10⁻⁶. 0 counts as 1 and gives the smallest filter.",
    rate:
        " Sets the highest expected false-positive rate of a filter at its capacity, between 0 and"
        " 1. Fingerprints have few possible widths, so the actual rate is often well below."
}

tamis_core::geometry_methods! {
    Builder<Buildable> of "tamis_cuckoo", "cuckoo",
    builds: CuckooFilter,
    like:
        " Sets exactly the sizes of another filter, such as one to merge with. With a"
        " [`capacity`](Self::capacity) too, the filter reports that capacity, and its sizes stay.",
    geometry: |sizes| sizes.geometry(),
    capacity: |shared| shared.capacity
}

impl<F: Buildable> Builder<F> {
    /// Sets the number of distinct items up to which the filter grows and keeps its rate. Without
    /// this bound, or if it is not above the [`capacity`](Self::capacity), the filter does not
    /// grow. Needs a capacity: explicit sizes do not grow, and [`like`](Self::like) takes the
    /// growth of the other filter too.
    ///
    /// The filter starts with the memory for its capacity, at least 8 KiB, and grows with its
    /// items, in place. Each doubling that is still possible takes one to two bits more per item on
    /// average; meanwhile the rate is lower. At the end of growth, inserts return
    /// [`InsertError::Full`](crate::InsertError::Full).
    ///
    /// Address space is reserved for the bound. Unix and Windows with feature `std` take memory
    /// when it is needed. Elsewhere the allocator decides, and may write all of it at once: then
    /// the bound must fit into memory. If the system refuses the address space,
    /// [`build`](Self::build) returns [`BuildError::Alloc`]. If no fingerprint is wide enough for
    /// the rate at the bound, it returns [`BuildError::RateTooLow`]: each doubling takes a bit of
    /// the fingerprint, so a higher first capacity allows a lower rate or a higher bound.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{CuckooFilter, Filter};
    /// let filter = CuckooFilter::<u64>::builder().capacity(1000).max_capacity(1_000_000).build()?;
    /// assert!(filter.size_in_bytes() < 20_000);
    /// filter.try_extend(0..100_000)?;
    /// assert_eq!((filter.len(), filter.capacity()), (100_000, 1_000_000));
    /// assert!(filter.size_in_bytes() < 400_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn max_capacity(mut self, items: usize) -> Self {
        self.sizes.max_capacity = Some(items);
        self
    }

    /// Sets the number of buckets, which must be even.
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
        self.sizes.buckets = Some(buckets);
        self
    }

    /// Sets the number of slots per bucket. With more slots, a filter can be filled further. With
    /// fewer slots, it has fewer false positives at the same width.
    ///
    /// A bucket has 4 or 8 slots of 8 bits, 5 of 12, 4 of 16, 3 of 20, or 2 of 32. Where the
    /// processor supports buckets of 128 bits ([`Geometry::shapes`]), it may also have 7 slots of
    /// 18 bits, 5 of 25, 4 of 32, or 3 of 42.
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
        self.sizes.slots = Some(slots);
        self
    }

    /// Sets the number of bits per slot; see [`slots`](Self::slots).
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
        self.sizes.fingerprint_bits = Some(bits);
        self
    }

    /// Builds an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the sizes are missing, contradictory or out of range, or if the allocation
    /// fails.
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
        let Sizes { capacity, max_capacity, .. } = self.sizes;
        let capacity = max_capacity.max(capacity).unwrap_or_else(|| geometry.capacity());
        Shared::new(geometry, capacity.max(1), self.hasher).map(F::from_shared)
    }
}
