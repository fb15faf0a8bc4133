//! The sizes of a cuckoo filter that grows in place: the numbers of a header.

use core::hash::{Hash, Hasher};

use tamis_cuckoo as cuckoo;
use tamis_cuckoo::raw::growing::{self, Extent};

use crate::error::LoadError;
use crate::sizes::numbers::{Numbers, require, require_range};

/// The most doublings.
const MAX_DOUBLINGS: u64 = 34;

/// The fewest bits of a fingerprint that remain in a bucket of the last level.
const MIN_REST: u64 = 8;

/// The bits of the widest fingerprint, and the most slots of a bucket, in buckets of 64 bits.
const WORDS: (u64, u64) = (31, 7);

/// The same in buckets of 128 bits.
const PAIRS: (u64, u64) = (42, 11);

/// The sizes of a cuckoo filter that grows, in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::CuckooFilter;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::hash::Rapid;
///
/// let builder = CuckooFilter::<u64>::builder().capacity(1000).max_capacity(100_000);
/// let filter = builder.hasher(Rapid::with_seed(1)).build()?;
/// (0..10_000).try_for_each(|item| filter.insert(&item))?;
/// let mut bytes = Vec::new();
/// write(&filter, &mut bytes)?;
///
/// let Geometry::GrowingCuckoo(sizes) = Info::read(&bytes[..])?.geometry() else { panic!() };
/// assert_eq!(sizes.geometry(), filter.geometry());
/// assert!(sizes.buckets() > sizes.geometry().buckets());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowingSizes(Extent);

impl GrowingSizes {
    pub(crate) const fn new(extent: Extent) -> Self {
        Self(extent)
    }

    /// Returns the sizes of a filter of this geometry that has this number of bytes now. `None` if
    /// none has.
    pub(crate) fn of_bytes(geometry: cuckoo::Geometry, bytes: u64) -> Option<Self> {
        // What a filter has beside its buckets does not grow.
        let more = bytes.checked_sub(geometry.size_in_bytes())?;
        Extent::new(geometry, geometry.buckets() + 8 * more / bucket_bits(geometry)).map(Self)
    }

    /// Returns the sizes for the numbers of a header.
    pub(crate) fn of_numbers(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size: first, probes_or_slots: slots, words_or_fingerprint_bits, .. } =
            numbers;
        let [doublings, bits, buckets, ..] = numbers.record;
        let width = u64::from(words_or_fingerprint_bits);
        require("slots", slots.into(), 0)?;
        let (widest, _) = if bits == 128 { PAIRS } else { WORDS };
        if bits != 128 {
            require("bits of a bucket", bits, 64)?;
        }
        require_range("doublings", doublings, 1, MAX_DOUBLINGS)?;
        // The first buckets are those of two levels, unless their number is a power of two.
        let last_level = doublings + u64::from(!first.is_power_of_two());
        require_range("fingerprint bits", width, last_level + MIN_REST, widest)?;
        let wrong = |buckets| LoadError::Buckets { found: buckets };
        let geometry =
            growing::geometry(first, words_or_fingerprint_bits, doublings as u32, bits as u32)
                .ok_or(wrong(first))?;
        Extent::new(geometry, buckets).map(Self).ok_or(wrong(buckets))
    }

    /// Returns the numbers for a header.
    pub(crate) const fn numbers(self) -> Numbers {
        let geometry = self.0.geometry();
        let record = [geometry.doublings() as u64, bucket_bits(geometry), self.0.buckets()];
        Numbers::new(geometry.buckets(), 0, geometry.fingerprint_bits()).with_record(&record)
    }

    /// Returns the geometry, with the first number of buckets.
    #[must_use]
    pub const fn geometry(self) -> cuckoo::Geometry {
        self.0.geometry()
    }

    /// Returns the number of buckets that the filter has grown to.
    #[must_use]
    pub const fn buckets(self) -> u64 {
        self.0.buckets()
    }

    pub(crate) const fn extent(self) -> Extent {
        self.0
    }

    /// Returns a number of slots that the filter does not exceed, whatever its buckets are split
    /// into.
    pub(crate) const fn most_slots(self) -> u64 {
        let (_, slots) = if bucket_bits(self.0.geometry()) == 128 { PAIRS } else { WORDS };
        self.0.buckets() * slots
    }
}

impl Hash for GrowingSizes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.geometry(), self.buckets()).hash(state);
    }
}

/// Returns the number of bits of a bucket.
const fn bucket_bits(geometry: cuckoo::Geometry) -> u64 {
    geometry.bits() / geometry.buckets()
}
