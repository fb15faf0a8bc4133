//! The partition of an array into regions of consecutive lines: which region a hash belongs to, and inserts into one
//! region.

use alloc::vec::Vec;
use core::mem::swap;

use tamis_hash::split;
use tamis_sync::{BATCH, SimdLevel};

use crate::bits::Region;
use crate::probe::batch::Batch;
use crate::probe::line::{Shape, with_words};

/// Lines of a region, as a power of two: 256 KiB. MEASURED: 100 million hashes into a blocked filter, on one core
/// with 1 MiB of L2: in regions of 64, 128, 256 and 512 KiB and 1 MiB 10.4, 7.4, 7.2, 7.4 and 7.7 ns an item.
pub(crate) const LOG_LINES: u32 = 12;

/// An array partition into regions.
#[derive(Debug)]
pub struct Regions<'a> {
    pub(crate) regions: Vec<Region<'a>>,
    pub(crate) partition: Partition,
}

/// How an array is partition into regions, and what a hash means in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partition {
    /// Lines of the whole array.
    pub(crate) lines: u64,
    /// Lines of a region, as a power of two.
    pub(crate) log_lines: u32,
    pub(crate) shape: Shape,
    pub(crate) simd: SimdLevel,
}

impl Partition {
    /// The region of a hash.
    #[inline(always)]
    pub(crate) fn region(self, hash: u64) -> usize {
        (split::place(hash, self.lines) >> self.log_lines) as usize
    }

    /// Inserts so many hashes of a region, which `read` reads from a number on, as many as a batch has or as
    /// there are.
    pub(crate) fn insert(
        self,
        region: &mut Region<'_>,
        count: usize,
        mut read: impl FnMut(usize, &mut [u64; BATCH]),
    ) {
        let Self { lines, shape, simd, .. } = self;
        let mut room = [Batch::EMPTY, Batch::EMPTY];
        let [mut this, mut next] = room.each_mut();
        let mut items = 0;
        let tables = shape.tables();
        with_words!(shape, shape => for first in (0..count + BATCH).step_by(BATCH) {
            let items_next = BATCH.min(count.saturating_sub(first));
            if items_next > 0 {
                read(first, &mut next.hashes);
                next.spread(lines, shape, simd);
            }
            for item in 0..items {
                region.prefetch_to_write(next.line(item));
                region.insert(this.line(item), this.pattern(shape, &tables, item));
            }
            items = items_next;
            swap(&mut this, &mut next);
        });
    }
}
