//! The sizes that fix where fingerprints lie, and what can be computed from them alone.

use core::fmt;

use tamis_sync::{LINE_BITS, LINE_BYTES};

use crate::BuildError;
use crate::bucket::Shape;
use crate::sizing;

/// The most buckets: their bits can still be counted in 64 bits.
const MAX_BUCKETS: u64 = 1 << 57;

/// The most stripes. A thread holds one for some 50 ns at a time, so that of 16 threads that do nothing
/// else two rarely want the same.
const MAX_STRIPES: u64 = 1 << 10;

/// The most parts of the count of items: threads beyond share them.
const MAX_PARTS: u64 = 1 << 6;

/// The sizes of a filter: how many buckets, how many slots in each, how many bits in a slot.
///
/// In two filters with equal geometry (and equal hashing) an item has the same fingerprint and the same
/// two buckets. Everything here is arithmetic: there need be no filter.
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
}

impl Geometry {
    /// The smallest filter that takes so many items and then keeps the rate.
    pub(crate) fn for_items(items: u64, rate: f64) -> Result<Self, BuildError> {
        let items = items.max(1);
        // Written so that NaN is refused too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let (buckets, shape) =
            sizing::solve(items, rate).map_err(|lowest| BuildError::RateTooLow { rate, lowest })?;
        Self::of(buckets, shape)
    }

    /// A filter with so many buckets of so many slots of so many bits.
    pub(crate) fn for_buckets(buckets: u64, slots: u32, width: u32) -> Result<Self, BuildError> {
        let shape = Shape::find(slots, width);
        let shape = shape.ok_or(BuildError::Shape { slots, fingerprint_bits: width })?;
        if buckets == 0 || buckets % 2 == 1 {
            return Err(BuildError::Buckets { buckets });
        }
        Self::of(buckets, shape)
    }

    pub(crate) const fn of(buckets: u64, shape: Shape) -> Result<Self, BuildError> {
        if buckets > MAX_BUCKETS { Err(BuildError::TooLarge) } else { Ok(Self { buckets, shape }) }
    }

    /// Buckets, an even number.
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

    /// Slots in a bucket.
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
        self.shape.slots()
    }

    /// Bits in a slot, which holds one fingerprint.
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
        self.shape.width()
    }

    /// Bits of all buckets: 64 each, of four slots of 8 bits 32.
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
        self.buckets * self.shape.bits() as u64
    }

    /// Bytes of memory that a filter takes: its buckets in whole cache lines, and what writers share
    /// beside them, which is at most 1 % of that or three lines.
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
        (self.lines() + 2 * self.stripes() + self.parts()) * LINE_BYTES as u64
    }

    /// The number of distinct items that the filter is made for: they fit with a probability of more than 1 − 10⁻⁶.
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
        usize::try_from(sizing::capacity(self.buckets, self.shape)).unwrap_or(usize::MAX)
    }

    /// The expected false-positive rate with so many distinct items, whether they fit or not.
    ///
    /// `1 − (1 − 1/K)^items` for `K = buckets · (2^bits − 1) / 2` classes of items that cannot be told
    /// apart, and `items / 2^64` for equal hashes. Close to `2 · slots · load / (2^bits − 1)`.
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
        sizing::rate(self.buckets, self.shape, items as u64)
    }

    pub(crate) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Slots of all buckets.
    pub(crate) const fn all_slots(&self) -> u64 {
        self.buckets * self.shape.slots() as u64
    }

    /// Cache lines of all buckets.
    pub(crate) const fn lines(&self) -> u64 {
        self.bits().div_ceil(LINE_BITS)
    }

    /// Stripes: a power of two. Each takes two lines, and a third is counted for a part of the count; all
    /// together stay below 1 % of the buckets.
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

    /// Parts of the count of items.
    pub(crate) const fn parts(&self) -> u64 {
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
            .finish()
    }
}
