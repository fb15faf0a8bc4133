//! The number of buckets for a number of items and a false-positive rate, and the reverse.

use libm::{expm1, log1p};

use crate::bucket::{Shape, shapes};

/// The highest number of buckets. The number of their bits still fits in 64 bits.
pub(crate) const MAX_BUCKETS: u64 = 1 << 56;

/// The number of 64-bit hashes.
const ALL_HASHES: f64 = 18_446_744_073_709_551_616.0;

/// What a bit of a bucket of 128 bits counts for when shapes are compared, as a fraction: their
/// operations take longer, so they are chosen only if they save more than a twentieth of the
/// memory.
const PRICE_OF_PAIRS: (u128, u128) = (20, 19);

/// The capacity of a shape: `s` slots hold `s · permille / 1000 − slack` items.
struct Load {
    permille: u64,
    slack: u64,
}

/// Returns the load up to which fewer than one filter in a million fails to insert an item.
///
/// The numbers lie below the loads at the first failed insert of millions of small filters and
/// thousands of large ones; `tests/load.rs` repeats a part of these runs.
///
/// In large filters the load at the first failed insert hardly varies. In small filters, an insert
/// fails when more items than two buckets can hold happen to have the same two buckets. With `n`
/// items, `P = (buckets / 2)²` pairs of buckets and `s` slots per bucket, the probability is about
/// `C(n, 2s + 1) / P^(2s)`. The slack keeps it below a millionth.
const fn load(shape: Shape) -> Load {
    let (permille, slack) = match (shape.slots, shape.width) {
        (2, _) => (860, 95),
        (3, _) => (930, 40),
        // With 8 bits there are only 255 fingerprints, so in large filters few paths lead away from
        // a bucket.
        (4, 8) => (930, 24),
        (4, _) => (955, 32),
        (7, _) => (985, 24),
        _ => (975, 24),
    };
    Load { permille, slack }
}

/// Returns the number of items that the buckets hold, with probability 1 − 10⁻⁶.
pub(crate) fn capacity(buckets: u64, shape: Shape) -> u64 {
    let Load { permille, slack } = load(shape);
    let slots = u128::from(buckets) * u128::from(shape.slots);
    // The number fits: there are fewer than 2^60 slots.
    let items = (slots * u128::from(permille) / 1000) as u64;
    items.saturating_sub(slack).max(always(shape))
}

/// Returns the number of items that always fit, whatever their hashes: the number of slots of two
/// buckets.
const fn always(shape: Shape) -> u64 {
    2 * shape.slots as u64
}

/// Returns the smallest number of buckets that hold the items.
fn buckets_for(items: u64, shape: Shape) -> u64 {
    if items <= always(shape) { 2 } else { buckets_by_load(items, shape) }
}

/// Returns the smallest number of buckets that hold the items at the load of their shape.
fn buckets_by_load(items: u64, shape: Shape) -> u64 {
    let Load { permille, slack } = load(shape);
    // The inverse of `capacity`, rounded up to whole slots, then to whole buckets, then to an even
    // number.
    let slots = ((u128::from(items) + u128::from(slack)) * 1000).div_ceil(u128::from(permille));
    even(slots.div_ceil(u128::from(shape.slots)))
}

/// Returns the next even number, or `u64::MAX`, which no filter has, if it does not fit.
fn even(buckets: u128) -> u64 {
    u64::try_from(buckets.next_multiple_of(2)).unwrap_or(u64::MAX)
}

/// Returns the expected false-positive rate of a filter with `items` distinct items.
pub(crate) fn rate(buckets: u64, shape: Shape, items: u64) -> f64 {
    rate_of(classes(buckets, shape), items)
}

/// Returns the number of classes of a filter. There are as many fingerprints as their mask says,
/// since zero is none.
pub(crate) fn classes(buckets: u64, shape: Shape) -> f64 {
    buckets as f64 * shape.mask() as f64 / 2.0
}

/// Returns the expected false-positive rate of a filter of this number of classes.
pub(crate) fn rate_of(classes: f64, items: u64) -> f64 {
    // 1 − (1 − 1/classes)^items: the probability that some item has the class of the query.
    let items = items as f64;
    with_equal_hashes(-expm1(items * log1p(-1.0 / classes)), items)
}

/// Adds the probability of equal hashes to a rate: an item whose hash equals that of an inserted
/// item is a false positive, whatever the number of classes.
pub(crate) fn with_equal_hashes(of_classes: f64, items: f64) -> f64 {
    (of_classes + items / ALL_HASHES).min(1.0)
}

/// Returns the number of buckets and the shape that hold the items at the rate, of the shapes that
/// this processor supports: the fewest bits, or a faster shape that takes up to a nineteenth more.
/// The error is the lowest possible rate: that of the widest fingerprints in a filter at half its
/// capacity; 1 if no filter has the capacity.
///
/// A wider fingerprint is not the only way to a lower rate. A little below the rate of a shape,
/// more buckets of the same shape need fewer bits than the next shape.
pub(crate) fn solve(items: u64, rate: f64) -> Result<(u64, Shape), f64> {
    // The lowest rate on offer: that of the widest shape, with twice the buckets that the items
    // need. Near the highest number of buckets that may be another shape, or none.
    let lowest = shapes().filter_map(|shape| {
        let buckets = buckets_by_load(items, shape);
        (buckets <= MAX_BUCKETS).then(|| self::rate(MAX_BUCKETS.min(2 * buckets), shape, items))
    });
    let lowest = lowest.fold(1.0, f64::min);
    // For each shape, enough buckets for the items and for the rate.
    let sizes = shapes().filter_map(|shape| {
        let buckets = buckets_for(items, shape).max(buckets_for_rate(items, rate, shape)?);
        (buckets <= MAX_BUCKETS).then_some((buckets, shape))
    });
    // Choose the shape with the fewest bits, counting those of slower shapes for more.
    let fewest = sizes.min_by_key(|&(buckets, shape)| {
        let bits = u128::from(buckets) * u128::from(shape.bits);
        if shape.is_pair() { bits * PRICE_OF_PAIRS.0 / PRICE_OF_PAIRS.1 } else { bits }
    });
    fewest.filter(|_| rate >= lowest).ok_or(lowest)
}

/// Returns the smallest number of buckets of a shape that keep the rate with the items, or `None`
/// if equal hashes already exceed the rate.
fn buckets_for_rate(items: u64, rate: f64, shape: Shape) -> Option<u64> {
    // The part of the rate that is left for items of the same class.
    let of_classes = rate - items as f64 / ALL_HASHES;
    if of_classes <= 0.0 {
        return None;
    }
    // Solve `rate` for the number of classes.
    let classes = -1.0 / expm1(log1p(-of_classes) / items as f64);
    let buckets = even((2.0 * classes / shape.mask() as f64) as u128);
    // Rounding may give two buckets too few.
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
    fn rates_agree_with_the_formula() {
        // 2 · slots · load / (2^bits − 1), for rates at which second-order terms do not matter.
        for (slots, width) in [(4, 16), (3, 20), (2, 32), (7, 18), (5, 25), (4, 32)] {
            let shape = Shape::with_sizes(slots, width).unwrap();
            let (buckets, items) = (1_000_000, 900_000 * u64::from(slots));
            let approximate = 2.0 * 0.9 * f64::from(slots) / shape.mask() as f64;
            let ratio = rate(buckets, shape, items) / approximate;
            assert!((0.9999..1.001).contains(&ratio), "{shape:?}: {ratio}");
        }
    }

    proptest! {
        #[test]
        fn computed_sizes_are_the_smallest_that_keep_the_rate(
            (items, magnitude) in prop_oneof![
                (1_u64..1 << 34, 0.01_f64..8.5),
                // Wide fingerprints, where the processor supports them.
                (1_u64..1 << 20, 8.5..if shapes().any(Shape::is_pair) { 12.0 } else { 9.0 }),
            ],
        ) {
            let wanted = libm::pow(10.0, -magnitude);
            let (buckets, shape) = solve(items, wanted).unwrap();
            prop_assert!(capacity(buckets, shape) >= items);
            prop_assert!(rate(buckets, shape, items) <= wanted);
            let fewer = buckets.saturating_sub(2);
            let keeps = fewer > 0 && capacity(fewer, shape) >= items && rate(fewer, shape, items) <= wanted;
            prop_assert!(!keeps, "{} buckets suffice, but {} were computed", fewer, buckets);
        }
    }
}
