//! One shard: what a batch of items is passed to, whatever it keeps them in.

use crate::error::Why;
use crate::pipeline::{Entry, SHARDS};

/// One shard, for any kind of filter. One dynamic call serves all items of a chunk.
pub(crate) trait Shard: Send {
    /// Decides a batch in order: sets `fresh[record]` of each item to whether the item is new, and
    /// inserts it if so. On an error, returns the record at which it happened; the records before
    /// it are decided. Overwrites the batch.
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Why)>;

    /// How much the shard contains.
    fn fill(&self) -> Fill;
}

/// How much a shard contains.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fill {
    /// The number of items that each slice has taken in. A table is one slice.
    pub(crate) slices: Vec<u64>,
    /// The memory of all slices, in bytes.
    pub(crate) bytes: u64,
}

/// Moves the entries that `is_kept` selects to the front, in order, and returns their number.
pub(super) fn keep(batch: &mut [Entry], mut is_kept: impl FnMut(Entry) -> bool) -> usize {
    let mut kept = 0;
    // Without a branch on the answer: each entry is written, and the next one overwrites it unless
    // it is kept.
    for at in 0..batch.len() {
        let entry = batch[at];
        batch[kept] = entry;
        kept += usize::from(is_kept(entry));
    }
    kept
}

/// The items to plan for in one shard when all shards together hold `capacity`: the mean and
/// `spare` standard deviations.
pub(super) fn items_per_shard(capacity: u64, spare: f64) -> u64 {
    let part = capacity.div_ceil(u64::from(SHARDS));
    part + (spare * (part as f64).sqrt()) as u64 + 4
}
