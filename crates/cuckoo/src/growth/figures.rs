//! The false-positive rate of the contents of a table that grows.

use tamis_core::Sampled;

use crate::growth::layout::Contents;
use crate::growth::table::Table;
use crate::sizing;

impl Table {
    /// Returns the probability that a random hash has the class of some copy, estimated from every
    /// `step`-th bucket.
    pub(crate) fn rate(&self, step: u64) -> Sampled {
        let all = self.places();
        let pairs =
            self.buckets(0, step).map(|(position, contents)| self.pairs_in(position, contents));
        Sampled::mean(pairs.map(f64::from), all).map(|pairs| {
            // A class accounts for two pairs.
            let classes = pairs * all as f64 / 2.0;
            sizing::with_equal_hashes(classes / self.plan.classes(), classes)
        })
    }

    /// Returns the number of pairs of a position and a fingerprint that a bucket accounts for. A
    /// class with copies has two such pairs. If all its copies are in one bucket, that bucket
    /// counts both; otherwise each counts one.
    fn pairs_in(&self, position: u64, contents: Contents<'_>) -> u32 {
        let fingerprints = || contents.fingerprints();
        // Count each fingerprint of the bucket once, however many copies there are.
        let firsts = fingerprints()
            .enumerate()
            .filter(|&(before, whole)| fingerprints().take(before).all(|other| other != whole));
        let pairs = firsts.map(|(_, whole)| {
            let class = self.layout().class(whole, position);
            let [_, other] = class.buckets;
            if self.peek(other, whole).contains(class) { 1 } else { 2 }
        });
        pairs.sum()
    }
}
