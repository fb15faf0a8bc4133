//! The lines of a filter that grows, for crates that save and load filters.
//!
//! The buckets have 64 or 128 bits. The two highest bits of a bucket are its tag: 1 at an even
//! level, 2 at an odd one. Its slots are below. [`growth`](crate::growth) says which bucket is at
//! which place. The number of buckets determines the level of each bucket, so an [`Extent`] and the
//! words are all that a filter consists of, except for its capacity and hasher.
//!
//! # Examples
//!
//! ```
//! # use tamis_cuckoo as tamis;
//! use tamis::{CuckooFilter, Filter};
//! use tamis_cuckoo::raw::growing;
//! use tamis::hash::Rapid;
//!
//! let builder = CuckooFilter::<u64>::builder().hasher(Rapid::with_seed(1));
//! let filter = builder.capacity(1000).max_capacity(100_000).build()?;
//! filter.try_extend(0..20_000)?;
//!
//! let (extent, mut copied, len) = growing::try_copy(&filter)?;
//! assert_eq!(len, 20_000);
//! // For the copy and all its growth.
//! let (mut lines, bytes) = (extent.reserve()?, 64 * extent.lines() as usize);
//! lines.bytes_mut()[..bytes].copy_from_slice(&copied.bytes_mut()[..bytes]);
//! let hasher = Rapid::with_seed(1);
//! let copy: CuckooFilter<u64, Rapid> =
//!     growing::from_lines(extent, filter.capacity(), hasher, lines, len)?;
//! assert!((0..20_000).all(|item| copy.contains(&item)));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use tamis_core::LinesError;
use tamis_sync::{AllocError, LINE_WORDS, Lines, PairAccess};

use crate::builder::Buildable;
use crate::geometry::Geometry;
use crate::growth::copy::{self, Room};
use crate::growth::plan::{Plan, sequence};
use crate::growth::pointer::Pointer;
use crate::growth::table::Table as Grown;
use crate::growth::words;
use crate::raw::{of_table, require};
use crate::table::Table;

/// Returns the geometry of a filter that grows, with these sizes: the first number of buckets, the
/// bits of a fingerprint, the highest number of doublings, and the bits of a bucket (64 or 128).
/// Returns it even if this processor does not support it, and `None` if no filter has these sizes.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
/// use tamis_cuckoo::raw::growing;
///
/// let builder = CuckooFilter::<str>::builder().capacity(1000).max_capacity(1_000_000);
/// let geometry = builder.geometry()?;
/// let (bits, doublings) = (geometry.fingerprint_bits(), geometry.doublings());
/// let bucket_bits = (geometry.bits() / geometry.buckets()) as u32;
/// assert_eq!(growing::geometry(geometry.buckets(), bits, doublings, bucket_bits), Some(geometry));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub fn geometry(
    buckets: u64,
    fingerprint_bits: u32,
    doublings: u32,
    bucket_bits: u32,
) -> Option<Geometry> {
    let plan = Plan { buckets, width: fingerprint_bits, doublings, paired: bucket_bits == 128 };
    if !matches!(bucket_bits, 64 | 128) || fingerprint_bits > sequence(plan.paired)[0].width {
        return None;
    }
    plan.checked().map(Geometry::growing)
}

/// How far a filter has grown: its geometry and its number of buckets.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
/// use tamis_cuckoo::raw::growing::Extent;
///
/// let builder = CuckooFilter::<str>::builder().capacity(1000).max_capacity(1_000_000);
/// let geometry = builder.geometry()?;
/// let first = Extent::new(geometry, geometry.buckets()).ok_or("no extent")?;
/// assert_eq!(first.buckets(), geometry.buckets());
/// assert_eq!(Extent::new(geometry, geometry.buckets() - 1), None);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    geometry: Geometry,
    plan: Plan,
    pointer: Pointer,
}

impl Extent {
    /// Returns the extent with this number of buckets, or `None` if a filter of this geometry
    /// never has it.
    #[must_use]
    pub fn new(geometry: Geometry, buckets: u64) -> Option<Self> {
        let plan = geometry.plan()?;
        Some(Self { geometry, plan, pointer: Pointer::of_places(&plan, buckets)? })
    }

    /// Returns the geometry.
    #[must_use]
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the number of buckets.
    #[must_use]
    pub const fn buckets(&self) -> u64 {
        self.plan.places(self.pointer)
    }

    /// Returns the number of lines of the buckets.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        words::lines(&self.plan, self.buckets())
    }

    /// Returns the number of fingerprints in the words of a line, or `None` if these are not the
    /// words of a filter of this extent. Check every line of a file.
    #[must_use]
    pub fn line_len(&self, line: u64, words: &[u64; LINE_WORDS]) -> Option<u32> {
        copy::line_len(&self.plan, self.pointer, line, words)
    }

    /// Reserves memory for [`from_lines`]: all lines that the filter may ever need. The system
    /// makes a page present when it is first written.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the system has less memory.
    pub fn reserve(&self) -> Result<Lines, AllocError> {
        Lines::growing(copy::all_lines(&self.plan), self.lines())
    }
}

/// Returns a copy of the buckets of a filter that grows, in the [lines](Extent::lines) of its
/// extent and some more, and the number of fingerprints in it. The filter may be in use meanwhile;
/// inserts and removals wait.
///
/// The lines are for a file. They do not suffice for all further growth.
///
/// # Errors
///
/// [`AllocError`] if the allocation fails.
///
/// # Panics
///
/// If the filter does not grow ([`Geometry::doublings`] is 0).
pub fn try_copy<F: Buildable>(filter: &F) -> Result<(Extent, Lines, u64), AllocError> {
    let shared = filter.shared();
    let Some(grown) = shared.table.grown() else { panic!("the filter does not grow") };
    let (pointer, words, len) = grown.copy_words(Room::Present)?;
    let extent = Extent { geometry: shared.geometry(), plan: grown.plan, pointer };
    Ok((extent, words.into_lines(), len))
}

/// Makes a filter of [reserved](Extent::reserve) lines, the first of which are its buckets. `len`
/// is the number of fingerprints in them, the sum of [`Extent::line_len`]. A capacity of 0 counts
/// as 1.
///
/// Check every line by [`Extent::line_len`] before. With other words a method may never return,
/// because it waits for the end of a split that no thread has begun.
///
/// # Errors
///
/// [`LinesError`] if `lines` has another length than [`Extent::reserve`] gives, if `len` exceeds
/// the number of slots, if this processor does not support the buckets, or if the allocation of the
/// locks, versions and counts fails.
pub fn from_lines<F: Buildable>(
    extent: Extent,
    capacity: usize,
    hasher: F::Hasher,
    lines: Lines,
    len: u64,
) -> Result<F, LinesError> {
    let Extent { geometry, plan, pointer } = extent;
    if plan.paired && PairAccess::detect().is_none() {
        let (slots, fingerprint_bits) = (geometry.slots(), geometry.fingerprint_bits());
        return Err(LinesError::Unsupported { slots, fingerprint_bits });
    }
    require([copy::all_lines(&plan), lines.len() as u64], [plan.slots(pointer), len])?;
    let table = Grown::of_lines(plan, pointer, lines).and_then(Table::of_grown);
    of_table(table, capacity, hasher, len)
}
