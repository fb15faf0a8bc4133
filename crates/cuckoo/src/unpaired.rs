//! Buckets of 128 bits, read as two words: for a table to which nothing writes, on any processor.

use tamis_sync::Lines;

use crate::batch::{Classes, Words};

/// Returns the value of a bucket.
pub(crate) fn read(lines: &Lines, bucket: u64) -> u128 {
    // A Relaxed load: nothing writes, so both words are of the same time.
    let [low, high] = [0, 1].map(|half| lines.word(2 * bucket as usize + half).peek());
    u128::from(high) << 64 | u128::from(low)
}

/// Reads both buckets of each class.
#[cold]
pub(crate) fn read_batch<const ITEMS: usize>(
    lines: &Lines,
    classes: &Classes<ITEMS>,
    words: &mut Words<ITEMS>,
) {
    for (which, buckets) in classes.buckets.iter().enumerate() {
        for (item, &bucket) in buckets.iter().enumerate() {
            let bits = read(lines, bucket);
            (words.first[which][item], words.second[which][item]) =
                (bits as u64, (bits >> 64) as u64);
        }
    }
}
