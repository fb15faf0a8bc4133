//! The arithmetic of a shard's items: the tag of an item, its two positions, and how often two
//! items are confused.
//!
//! A shard has `N` positions, the same number for the whole run. The table knows an item by its
//! position `X` and its tag `T`. They give a second position, `g(T) − X` modulo `N`, where `g` maps
//! a tag to a number below `N`. The second position of the second position is the first: `g(T) −
//! (g(T) − X) = X`. So the tag and either position give the other one, and two items are confused
//! if and only if they have equal tags and the same two positions.
//!
//! Position and tag are the two digits of one number, `⌊h · N · TAGS / M⌋`. Here `h` is what the
//! choice of the shard leaves of the hash: one of `M = 2^58` numbers. Of the `K = N · TAGS` values
//! of that number, value `v` comes from `k` hashes, where `k(v)` is `M / K` rounded down or up.
//! With `f` for the fractional part of `M / K`, a part `f` of them is rounded up. So two items of a
//! shard have
//!
//! - equal positions and tags with probability `Σ k(v)² / M² = 1 / K + f · (1 − f) · K / M²`;
//! - equal tags, and each the second position of the other, with at most this probability: by
//!   Cauchy and Schwarz, `Σ k(v) · k(w) ≤ Σ k(v)²` if `v ↦ w` is a permutation.

use tamis::hash::fastrange;

use crate::pipeline::SHARDS;

/// The number of tags. No tag is 0.
const TAGS: u64 = u32::MAX as u64;

/// The number of hashes that select one shard.
const HASHES: f64 = (1_u128 << 64) as f64 / SHARDS as f64;

/// 2^64 divided by the golden ratio, made odd. It spreads tags over 64 bits.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// What the table knows of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// Never 0, except in the default, which is no item.
    pub(super) tag: u32,
    /// In either order.
    pub(super) positions: [u64; 2],
}

/// The number of positions of a shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions(pub(super) u64);

impl Positions {
    /// Returns the item with this hash.
    #[inline]
    pub(super) fn item(self, hash: u64) -> Item {
        // `split::shard` maps the low 32 bits to a range, from their high end. This is what is left
        // of them.
        let low = (hash as u32).wrapping_mul(SHARDS);
        let left = hash >> 32 << 32 | u64::from(low);
        let digits = u128::from(left) * u128::from(self.0);
        let tag = fastrange(digits as u64, TAGS) as u32 + 1;
        self.item_at((digits >> 64) as u64, tag)
    }

    /// Returns the item with this tag and this position, the second one.
    #[inline]
    pub(super) fn item_at(self, position: u64, tag: u32) -> Item {
        let sum = fastrange(u64::from(tag).wrapping_mul(GOLDEN), self.0);
        let (other, borrows) = sum.overflowing_sub(position);
        let other = if borrows { other.wrapping_add(self.0) } else { other };
        Item { tag, positions: [other, position] }
    }

    /// The probability that two items of a shard are confused.
    pub(super) fn confusion(self) -> f64 {
        2.0 * equal_digits(self.0 as f64 * TAGS as f64, HASHES)
    }
}

/// The probability that two of `hashes` numbers, mapped to `values` by [`fastrange`], are mapped to
/// the same value.
fn equal_digits(values: f64, hashes: f64) -> f64 {
    let up = (hashes / values).fract();
    1.0 / values + up * (1.0 - up) * values / (hashes * hashes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{DiscreteCDF, Poisson};
    use tamis::hash::{HashItem, Rapid, split};

    use super::*;

    proptest! {
        #[test]
        fn the_other_position_of_the_other_is_the_first(
            count in 1_u64..1 << 40,
            at in any::<u64>(),
            tag in 1..=u32::MAX,
        ) {
            let (positions, at) = (Positions(count), fastrange(at, count));
            let item = positions.item_at(at, tag);
            prop_assert!(item.positions[0] < count && item.positions[1] == at);
            let [other, _] = item.positions;
            prop_assert_eq!(positions.item_at(other, tag), Item { tag, positions: [at, other] });
        }

        /// Position and tag are digits of one number, and the shard's bits are not among those that
        /// choose it.
        #[test]
        fn position_and_tag_are_digits(count in 1_u64..1 << 26, hash in any::<u64>(), shard in 0..SHARDS) {
            let hash = hash & !0xFC00_0000 | u64::from(shard) << 26;
            prop_assert_eq!(split::shard(hash, SHARDS), shard);
            let item = Positions(count).item(hash);
            // The 58 bits without those of the shard.
            let left = (hash >> 32) << 26 | hash & 0x3FF_FFFF;
            let number = (u128::from(left) * u128::from(count) * u128::from(TAGS)) >> 58;
            let tags = u128::from(TAGS);
            prop_assert_eq!(u128::from(item.positions[1]), number / tags);
            prop_assert_eq!(u128::from(item.tag), number % tags + 1);
        }
    }

    /// Counts instead of computing.
    #[test]
    fn the_probability_of_equal_digits_is_exact() {
        for (values, hashes) in
            [(1, 7), (7, 7), (3, 1000), (37, 1000), (999, 1000), (1700, 1000), (9000, 1000)]
        {
            let mut counts = vec![0_u64; values];
            (0..hashes).for_each(|hash| counts[hash * values / hashes] += 1);
            let pairs: u64 = counts.iter().map(|count| count * count).sum();
            let exact = pairs as f64 / (hashes * hashes) as f64;
            let computed = equal_digits(values as f64, hashes as f64);
            assert!((computed / exact - 1.0).abs() < 1e-9, "{values} {hashes}: {computed} {exact}");
        }
    }

    #[test]
    fn confusions_are_twice_as_frequent_as_equal_digits() {
        let confusion = Positions(1 << 23).confusion();
        assert!((confusion * 2.0_f64.powi(54) - 1.0).abs() < 1e-6, "{confusion:e}");
    }

    /// The number of items whose tags are compared, as a power of 2: 2^39 pairs of items, and 2^43
    /// under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler.
    const BITS: i32 = if option_env!("TAMIS_LONG").is_some() { 22 } else { 20 };

    /// The number of pairs of equal tags among items of one shard and position, as `tag` computes
    /// it from the hash.
    fn equal_tags(tag: impl Fn(u64) -> u32) -> u64 {
        const POSITION: u64 = 1_234_567;
        let hasher = Rapid::with_seed(11);
        let mut tags: Vec<u32> = (0..1_u64 << BITS)
            .map(|number| {
                // The first 23 bits are the position, and the 6 highest ones of the low half are
                // the shard.
                let random = hasher.hash_item(&number);
                tag(POSITION << 41 | random >> 23 & !0xFC00_0000 | 37 << 26)
            })
            .collect();
        tags.sort_unstable();
        let runs = tags.chunk_by(|one, other| one == other);
        runs.map(|run| (run.len() as u64) * (run.len() as u64 - 1) / 2).sum()
    }

    /// With equal positions, tags are equal as often as the probability of a confusion says. In
    /// this shard and position there are 2^35 hashes for 2^32 tags.
    ///
    /// POWER: 128 equal pairs are expected. Tags of 31 bits instead of 32 would give 256, which the
    /// test rejects (above 186) with a probability of 1 - 1e-5.
    #[test]
    fn equal_tags_are_as_frequent_as_stated() {
        const ALPHA: f64 = 1e-6;
        let positions = Positions(1 << 23);
        // Of two items with equal positions; that alone has a probability of 2^-23.
        let expected = 2.0_f64.powi(2 * BITS - 1) * positions.confusion() / 2.0 * 2.0_f64.powi(23);
        let stated = Poisson::new(expected).expect("positive");
        let likely = |pairs: u64| {
            println!("{pairs} pairs, {expected} expected");
            stated.cdf(pairs) > ALPHA / 2.0 && stated.sf(pairs.saturating_sub(1)) > ALPHA / 2.0
        };
        assert!(likely(equal_tags(|hash| positions.item(hash).tag)));
        // The test rejects tags from bits that the choice of the shard or of the position has used
        // up.
        assert!(!likely(equal_tags(|hash| fastrange(hash << 23, TAGS) as u32 + 1)));
        assert!(!likely(equal_tags(|hash| fastrange(hash, TAGS) as u32 + 1)));
    }
}
