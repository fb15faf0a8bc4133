//! How many of the classes of a table have copies, for the false-positive rate of its contents.

use crate::table::Buckets;

/// Returns the number of pairs of a first bucket and a fingerprint that this bucket accounts for. A
/// class with copies has two such pairs. If all its copies are in one bucket, that bucket counts
/// both; otherwise each counts one.
pub(crate) fn pairs_in(buckets: Buckets<'_>, bucket: u64) -> u32 {
    let (geometry, value) = (buckets.geometry(), buckets.read_any(bucket));
    let shape = geometry.shape();
    let fingerprints = || shape.fingerprints_of(value);
    // Count each fingerprint of the bucket once, however many copies there are.
    let firsts = fingerprints().enumerate().filter(|&(before, fingerprint)| {
        fingerprints().take(before).all(|other| other != fingerprint)
    });
    let pairs = firsts.map(|(_, fingerprint)| {
        let other = buckets.read_any(geometry.alternate(fingerprint, bucket));
        if shape.contains(other, fingerprint) { 1 } else { 2 }
    });
    pairs.sum()
}
