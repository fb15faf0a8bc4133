//! How many buckets hold so many items, and how often they are wrong.

use libm::{expm1, log1p};

use crate::bucket::{SHAPES, Shape};

/// The number of 64-bit hashes.
const ALL_HASHES: f64 = 18_446_744_073_709_551_616.0;

/// What a shape takes: of `s` slots, `s · permille / 1000 − slack` items.
struct Load {
    permille: u64,
    slack: u64,
}

/// The loads up to which fewer than one filter in a million refuses an item: below the first refusals of
/// millions of small filters and thousands of large ones. `tests/load.rs` has them again, fewer.
///
/// In large filters the first refusal hardly varies. In small ones it comes when more items than two
/// buckets hold happen to have the same two: with `n` items, `P = (buckets / 2)²` pairs of buckets and `s`
/// slots, that has a chance of about `C(n, 2s + 1) / P^(2s)`, which the slack keeps below a millionth.
const fn load(shape: Shape) -> Load {
    let (permille, slack) = match (shape.slots(), shape.width()) {
        (2, _) => (860, 95),
        (3, _) => (930, 40),
        // Of 8 bits only 255 fingerprints: in large filters there are few ways from a bucket.
        (4, 8) => (930, 24),
        (4, _) => (955, 32),
        _ => (975, 24),
    };
    Load { permille, slack }
}

/// The items that so many buckets take.
pub(crate) fn capacity(buckets: u64, shape: Shape) -> u64 {
    let Load { permille, slack } = load(shape);
    let slots = u128::from(buckets) * u128::from(shape.slots());
    // Fewer than 2^60 slots.
    let items = (slots * u128::from(permille) / 1000) as u64;
    items.saturating_sub(slack).max(always(shape))
}

/// The items that fit whatever they are: as many as two buckets have slots.
const fn always(shape: Shape) -> u64 {
    2 * shape.slots() as u64
}

/// The fewest buckets that take so many items.
fn buckets_for(items: u64, shape: Shape) -> u64 {
    if items <= always(shape) { 2 } else { buckets_by_load(items, shape) }
}

/// The fewest buckets that take so many items by their load.
fn buckets_by_load(items: u64, shape: Shape) -> u64 {
    let Load { permille, slack } = load(shape);
    let slots = ((u128::from(items) + u128::from(slack)) * 1000).div_ceil(u128::from(permille));
    even(slots.div_ceil(u128::from(shape.slots())))
}

/// The next even number, or as many as there are none of.
fn even(buckets: u128) -> u64 {
    u64::try_from(buckets.next_multiple_of(2)).unwrap_or(u64::MAX)
}

/// The expected false-positive rate with so many distinct items.
pub(crate) fn rate(buckets: u64, shape: Shape, items: u64) -> f64 {
    let classes = buckets as f64 * shape.fingerprints() as f64 / 2.0;
    let items = items as f64;
    with_equal_hashes(-expm1(items * log1p(-1.0 / classes)), items)
}

/// The rate when items with equal hashes are counted too: of the pairs of hashes that fall into one class,
/// they come on top of those that fall together by chance.
pub(crate) fn with_equal_hashes(of_classes: f64, items: f64) -> f64 {
    (of_classes + items / ALL_HASHES).min(1.0)
}

/// The fewest bits that take so many items and then keep the rate. The error is the lowest rate that can
/// be kept: that of the widest fingerprints in a filter half as full as it may be.
///
/// A wider fingerprint is not the only way to a lower rate: a little below what a shape gives, more
/// buckets of it are smaller.
pub(crate) fn solve(items: u64, rate: f64) -> Result<(u64, Shape), f64> {
    let widest = SHAPES[SHAPES.len() - 1];
    let lowest = self::rate(buckets_by_load(items, widest).saturating_mul(2), widest, items);
    let sizes = SHAPES.into_iter().filter_map(|shape| {
        let buckets = buckets_for(items, shape).max(buckets_for_rate(items, rate, shape)?);
        Some((buckets, shape))
    });
    let bits = |&(buckets, shape): &(u64, Shape)| u128::from(buckets) * u128::from(shape.bits());
    let fewest = sizes.min_by_key(bits);
    fewest.filter(|_| rate >= lowest).ok_or(lowest)
}

/// The fewest buckets of a shape that keep the rate with so many items; none if equal hashes alone exceed
/// it.
fn buckets_for_rate(items: u64, rate: f64, shape: Shape) -> Option<u64> {
    let of_classes = rate - items as f64 / ALL_HASHES;
    if of_classes <= 0.0 {
        return None;
    }
    // The rate for `classes` classes, solved for them.
    let classes = -1.0 / expm1(log1p(-of_classes) / items as f64);
    let buckets = even((2.0 * classes / shape.fingerprints() as f64) as u128);
    // Rounding may leave one too few.
    [buckets, buckets.saturating_add(2)]
        .into_iter()
        .map(|buckets| buckets.max(2))
        .find(|&buckets| self::rate(buckets, shape, items) <= rate)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_are_those_of_the_formula() {
        // 2 · slots · load / (2^bits − 1), for rates so low that squares do not count.
        for (slots, width) in [(4, 16), (3, 20), (2, 32)] {
            let shape = Shape::find(slots, width).unwrap();
            let (buckets, items) = (1_000_000, 900_000 * u64::from(slots));
            let approximate = 2.0 * 0.9 * f64::from(slots) / shape.fingerprints() as f64;
            let ratio = rate(buckets, shape, items) / approximate;
            assert!((0.9999..1.001).contains(&ratio), "{shape:?}: {ratio}");
        }
    }

    proptest! {
        #[test]
        fn solved_sizes_keep_the_rate_and_are_the_fewest(
            items in 1_u64..1 << 34,
            magnitude in 0.01_f64..8.5,
        ) {
            let wanted = libm::pow(10.0, -magnitude);
            let (buckets, shape) = solve(items, wanted).unwrap();
            prop_assert!(capacity(buckets, shape) >= items);
            prop_assert!(rate(buckets, shape, items) <= wanted);
            let fewer = buckets.saturating_sub(2);
            let keeps = fewer > 0 && capacity(fewer, shape) >= items && rate(fewer, shape, items) <= wanted;
            prop_assert!(!keeps, "{} buckets would do, {} are given", fewer, buckets);
        }
    }
}
