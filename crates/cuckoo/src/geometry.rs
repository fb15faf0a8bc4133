//! The sizes of a filter, which determine the class of every item, and what can be computed from
//! the sizes alone.

use core::fmt;

use tamis_core::BuildError;
use tamis_sync::{LINE_BITS, LINE_BYTES, PairAccess};

use crate::bucket::{Shape, shapes};
use crate::growth::plan::Plan;
use crate::place::{self, Class};
use crate::sizing::{self, MAX_BUCKETS};

/// The highest number of stripes. A thread holds a lock for about 50 ns, so even 16 threads that do
/// nothing else rarely want the same stripe.
const MAX_STRIPES: u64 = 1 << 10;

/// The highest number of parts of the item count. More threads than this share parts.
const MAX_PARTS: u64 = 1 << 6;

/// The number of parts of the item count of a filter that grows, whatever its first size.
const GROWING_PARTS: u64 = 16;

/// The sizes of a filter: the number of buckets, of slots per bucket, and of bits per slot.
///
/// In two filters with equal geometry and equal hashers, an item has the same fingerprint and the
/// same two buckets. All methods are arithmetic and need no filter.
///
/// In the geometry of a filter that grows, the buckets, slots, bits and bytes are those before it
/// grows.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
///
/// let geometry = CuckooFilter::<str>::builder()
///     .capacity(1_000_000)
///     .false_positive_rate(1e-3)
///     .geometry()?;
/// assert_eq!((geometry.slots(), geometry.fingerprint_bits()), (4, 16));
/// assert!(geometry.false_positive_rate_at(1_000_000) < 1.2e-4);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Geometry {
    buckets: u64,
    shape: Shape,
    /// The bits of a fingerprint. In a filter that grows, a slot holds fewer of them each time.
    width: u32,
    /// The highest number of doublings, 0 if the filter does not grow.
    doublings: u32,
}

impl Geometry {
    /// Returns the geometry that holds the items at the rate in the fewest bits, or up to a
    /// nineteenth more.
    pub(crate) fn for_items(items: u64, rate: f64) -> Result<Self, BuildError> {
        let items = items.max(1);
        // In this form the condition rejects NaN too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let (buckets, shape) =
            sizing::solve(items, rate).map_err(|lowest| BuildError::RateTooLow { rate, lowest })?;
        Self::of(buckets, shape)
    }

    /// Returns the geometry with the given number of buckets, slots per bucket, and bits per slot.
    pub(crate) fn for_buckets(buckets: u64, slots: u32, width: u32) -> Result<Self, BuildError> {
        Self::for_buckets_anywhere(buckets, slots, width)?.supported()
    }

    /// Returns the geometry with these sizes, even if this processor does not support the shape.
    pub(crate) fn for_buckets_anywhere(
        buckets: u64,
        slots: u32,
        width: u32,
    ) -> Result<Self, BuildError> {
        let shape = Shape::with_sizes(slots, width);
        let shape = shape.ok_or(BuildError::Shape { slots, fingerprint_bits: width })?;
        if buckets == 0 || buckets % 2 == 1 {
            return Err(BuildError::Buckets { buckets });
        }
        Self::of(buckets, shape)
    }

    /// Returns the geometry, or an error if this processor does not support the shape.
    pub(crate) fn supported(self) -> Result<Self, BuildError> {
        let grows =
            self.doublings != 0 && (!self.shape.is_pair() || PairAccess::detect().is_some());
        if grows || self.doublings == 0 && shapes().any(|supported| supported.is(self.shape)) {
            return Ok(self);
        }
        let (slots, fingerprint_bits) = (self.slots(), self.fingerprint_bits());
        Err(BuildError::ShapeUnsupported { slots, fingerprint_bits })
    }

    /// Returns the shapes of buckets that this processor supports: the number of slots, and the
    /// bits of each.
    ///
    /// Buckets of more than 64 bits need a processor that loads 128 bits atomically: x86-64 with
    /// AVX, and feature `std` of this crate to detect it. To get the same geometry on every
    /// machine, give the builder one of the other shapes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{CuckooFilter, cuckoo::Geometry};
    /// assert!(Geometry::shapes().any(|shape| shape == (4, 16)));
    /// for (slots, bits) in Geometry::shapes() {
    ///     let builder = CuckooFilter::<str>::builder().buckets(100).slots(slots);
    ///     assert_eq!(builder.fingerprint_bits(bits).geometry()?.slots(), slots);
    /// }
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn shapes() -> impl Iterator<Item = (u32, u32)> {
        shapes().map(|shape| (shape.slots, shape.width))
    }

    /// Returns the geometry with the given number of buckets, which must be even, and a shape.
    pub(crate) const fn of(buckets: u64, shape: Shape) -> Result<Self, BuildError> {
        if buckets > MAX_BUCKETS {
            Err(BuildError::TooLarge)
        } else {
            Ok(Self { buckets, shape, width: shape.width, doublings: 0 })
        }
    }

    /// Returns the geometry of a filter with this plan, which grows.
    pub(crate) fn growing(plan: Plan) -> Self {
        let Plan { buckets, width, doublings, .. } = plan;
        Self { buckets, shape: plan.shape(0), width, doublings }
    }

    /// Returns the plan of a filter that grows.
    pub(crate) const fn plan(&self) -> Option<Plan> {
        let Self { buckets, shape, width, doublings } = *self;
        if doublings == 0 {
            return None;
        }
        Some(Plan { buckets, width, doublings, paired: shape.is_pair() })
    }

    /// Returns the class of a fingerprint in this bucket.
    #[inline]
    pub(crate) const fn class(&self, fingerprint: u64, bucket: u64) -> Class {
        Class::of(fingerprint, bucket, self.buckets)
    }

    /// Returns the other bucket of a fingerprint in this bucket.
    #[inline]
    pub(crate) const fn alternate(&self, fingerprint: u64, bucket: u64) -> u64 {
        place::alternate(fingerprint, bucket, self.buckets)
    }

    /// Returns the highest number of doublings of a filter that grows, or 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().capacity(10_000);
    /// assert_eq!(builder.geometry()?.doublings(), 0);
    /// assert!(builder.max_capacity(1_000_000).geometry()?.doublings() > 5);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Returns the number of buckets, which is even.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(4).fingerprint_bits(16);
    /// assert_eq!(builder.geometry()?.buckets(), 1000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Returns the number of slots per bucket.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().capacity(1000).false_positive_rate(0.01);
    /// assert_eq!(builder.geometry()?.slots(), 5);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.shape.slots
    }

    /// Returns the number of bits of a fingerprint: those of a slot, if the filter does not grow.
    /// In a filter that grows, a slot holds one bit less of it after each doubling.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().capacity(1000).false_positive_rate(0.01);
    /// assert_eq!(builder.geometry()?.fingerprint_bits(), 12);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.width
    }

    /// Returns the number of bits of all buckets. A bucket has 32, 64 or 128 bits: the least that
    /// its slots fit into.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(4).fingerprint_bits(8);
    /// assert_eq!(builder.geometry()?.bits(), 32_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.buckets * self.shape.bits as u64
    }

    /// Returns the number of bytes of a filter: its buckets in whole cache lines, and the locks,
    /// versions and counts. The locks, versions and counts need at most 1 % of the buckets, or
    /// three cache lines; in a filter that grows, at least 5 KiB.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1_000_000).slots(4).fingerprint_bits(16);
    /// assert!((8_000_000..8_080_000).contains(&builder.geometry()?.size_in_bytes()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        if let Some(plan) = self.plan() {
            return plan.size_in_bytes() + self.parts() * LINE_BYTES as u64;
        }
        (self.lines() + 2 * self.stripes() + self.parts()) * LINE_BYTES as u64
    }

    /// Returns the number of distinct items that the filter holds with a probability of more than 1
    /// − 10⁻⁶. For a filter that grows, returns the number that it holds at its last size with high
    /// probability: at least the `max_capacity` of its builder. (A file may name a first size below
    /// 8 KiB, which no builder gives. Such a filter may be full earlier.)
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(250_000).slots(4).fingerprint_bits(16);
    /// assert!((950_000..1_000_000).contains(&builder.geometry()?.capacity()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        let items = self
            .plan()
            .map_or_else(|| sizing::capacity(self.buckets, self.shape), |plan| plan.capacity());
        usize::try_from(items).unwrap_or(usize::MAX)
    }

    /// Returns the expected false-positive rate with `items` distinct items, even if that number
    /// does not fit.
    ///
    /// The rate is `1 − (1 − 1/K)^items` for `K = buckets · (2^bits − 1) / 2` classes of items that
    /// the filter cannot distinguish, plus `items / 2^64` for equal hashes. It is close to `2 ·
    /// slots · load / (2^bits − 1)`. In a filter that grows, `K` is a little less, and does not
    /// change.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let builder = CuckooFilter::<str>::builder().buckets(1000).slots(4).fingerprint_bits(8);
    /// let rate = builder.geometry()?.false_positive_rate_at(3800);
    /// assert!((0.029..0.03).contains(&rate));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate_at(&self, items: usize) -> f64 {
        self.plan().map_or_else(
            || sizing::rate(self.buckets, self.shape, items as u64),
            |plan| plan.rate_at(items as u64),
        )
    }

    /// Returns the shape of the buckets.
    pub(crate) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the number of slots of all buckets.
    pub(crate) const fn all_slots(&self) -> u64 {
        self.buckets * self.shape.slots as u64
    }

    /// Returns the number of cache lines of all buckets.
    pub(crate) const fn lines(&self) -> u64 {
        self.bits().div_ceil(LINE_BITS)
    }

    /// Returns the number of stripes, a power of two. Each needs two cache lines. A third line per
    /// stripe is reserved for a part of the item count. One stripe per 300 lines keeps all of them
    /// below 1 % of the buckets.
    pub(crate) const fn stripes(&self) -> u64 {
        let stripes = self.lines() / 300;
        if stripes == 0 {
            1
        } else if stripes > MAX_STRIPES {
            MAX_STRIPES
        } else {
            1 << stripes.ilog2()
        }
    }

    /// Returns the number of parts of the item count.
    pub(crate) const fn parts(&self) -> u64 {
        if self.doublings != 0 {
            return GROWING_PARTS;
        }
        let stripes = self.stripes();
        if stripes > MAX_PARTS { MAX_PARTS } else { stripes }
    }
}

impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Geometry")
            .field("buckets", &self.buckets())
            .field("slots", &self.slots())
            .field("fingerprint_bits", &self.fingerprint_bits())
            .field("doublings", &self.doublings())
            .finish()
    }
}
