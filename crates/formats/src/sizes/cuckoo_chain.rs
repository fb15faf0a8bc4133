//! The sizes of a cuckoo filter that grows: the numbers of a header.

use tamis_core::BuildError;
use tamis_cuckoo as cuckoo;
use tamis_cuckoo::raw::scalable::Plan;
use tamis_sync::LINE_BITS;

use crate::error::LoadError;
use crate::sizes::numbers::{Numbers, require_range};

/// The bits of a whole fingerprint.
const MIN_WIDTH: u64 = 8;
const MAX_WIDTH: u64 = 42;

/// The most slices.
const MAX_SLICES: u64 = 40;

/// The most buckets of a slice.
const MAX_BUCKETS: u64 = 1 << 56;

/// The bits of the smallest and of the largest bucket.
const BUCKET_BITS: [u64; 2] = [32, 128];

/// The sizes of a `ScalableCuckooFilter` in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::ScalableCuckooFilter;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::hash::Rapid;
///
/// let builder = ScalableCuckooFilter::<u64>::builder().capacity(1000).max_capacity(100_000);
/// let filter = builder.hasher(Rapid::with_seed(1)).build()?;
/// (0..10_000).try_for_each(|item| filter.insert(&item))?;
/// let mut bytes = Vec::new();
/// write(&filter, &mut bytes)?;
///
/// let Geometry::CuckooChain(sizes) = Info::read(&bytes[..])?.geometry() else { panic!() };
/// assert_eq!((sizes.slices(), sizes.buckets()), (2, 1024));
/// assert!(sizes.planned_slices() > sizes.slices() && sizes.fingerprint_bits() > 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuckooChainSizes {
    plan: Plan,
    slices: u32,
    lines: u64,
}

impl CuckooChainSizes {
    /// Returns the sizes of a filter with slices of these geometries, oldest first.
    pub(crate) fn of_geometries(
        plan: Plan,
        geometries: impl Iterator<Item = cuckoo::Geometry>,
    ) -> Self {
        let mut sizes = Self { plan, slices: 0, lines: 0 };
        for geometry in geometries {
            sizes.slices += 1;
            sizes.lines += cuckoo::raw::lines(geometry);
        }
        sizes
    }

    /// Returns the sizes for the numbers of a header.
    pub(crate) fn of_numbers(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size: buckets, probes_or_slots: slices, .. } = numbers;
        let width = numbers.words_or_fingerprint_bits;
        let [planned, lines, ..] = numbers.record;
        require_range("fingerprint bits", width.into(), MIN_WIDTH, MAX_WIDTH)?;
        // Each slice has slots of one bit less.
        let most = MAX_SLICES.min(u64::from(width) + 1 - MIN_WIDTH);
        require_range("planned slices", planned, 1, most)?;
        require_range("slices", slices.into(), 1, planned)?;
        if buckets == 0 || buckets % 2 == 1 {
            return Err(LoadError::Sizes(BuildError::Buckets { buckets }));
        }
        let too_large = LoadError::Sizes(BuildError::TooLarge);
        if buckets > MAX_BUCKETS >> (slices - 1) {
            return Err(too_large);
        }
        // The shapes are in the directory. They leave some choice.
        let [least, most] = BUCKET_BITS.map(|bits| {
            let of = |slice: u32| ((buckets << slice) * bits).div_ceil(LINE_BITS);
            (0..slices).map(of).sum()
        });
        require_range("lines of the slices", lines, least, most)?;
        let plan = Plan::new(buckets, width, planned as u32).ok_or(too_large)?;
        Ok(Self { plan, slices, lines })
    }

    /// Returns the numbers for a header.
    pub(crate) const fn numbers(self) -> Numbers {
        let mut record = [0; 12];
        record[0] = self.plan.slices() as u64;
        record[1] = self.lines;
        Numbers {
            size: self.plan.buckets(),
            probes_or_slots: self.slices,
            words_or_fingerprint_bits: self.plan.fingerprint_bits(),
            record,
        }
    }

    /// Returns the number of buckets of the first slice. Each further one has twice as many as
    /// the one before it.
    #[must_use]
    pub const fn buckets(self) -> u64 {
        self.plan.buckets()
    }

    /// Returns the number of bits of a whole fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(self) -> u32 {
        self.plan.fingerprint_bits()
    }

    /// Returns the number of slices that the filter has.
    #[must_use]
    pub const fn slices(self) -> u32 {
        self.slices
    }

    /// Returns the highest number of slices that the filter grows to.
    #[must_use]
    pub const fn planned_slices(self) -> u32 {
        self.plan.slices()
    }

    pub(crate) const fn plan(self) -> Plan {
        self.plan
    }

    pub(crate) const fn body_lines(self) -> u64 {
        self.slices as u64 + self.lines
    }

    /// Returns the most slots that the lines can have: those of 8 bits.
    pub(crate) const fn most_slots(self) -> u64 {
        LINE_BITS / 8 * self.lines
    }
}
