//! Runs the sizing arithmetic on arbitrary numbers: it never panics, and its results meet their
//! promises.

use arbitrary::{Arbitrary, Unstructured};
use tamis::bloom::Geometry;
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};

use crate::bloom::Bloom;

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    capacity: u64,
    /// The number of bits by which the capacity is shifted right, so that small capacities are
    /// tested, too.
    shift: u8,
    rate: Rate,
    bits: u64,
    probes: u32,
    items: u64,
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Classic,
    Blocked,
    Once,
}

/// A rate: an arbitrary `f64`, or a power of two in the useful range.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Rate {
    Any(f64),
    Useful(u16),
}

impl Rate {
    fn value(self) -> f64 {
        match self {
            Self::Any(rate) => rate,
            Self::Useful(step) => (-f64::from(step) / 1024.0).exp2(),
        }
    }
}

/// A filter in lines for less may have more bits than one for more: by this factor, since it may
/// touch fewer words than the best shape (21 %, `WORD_PRICE` of the sizing), and by `LINE_BITS`,
/// since its size is a whole number of lines.
const LINE_SLACK: f64 = 1.212;
const LINE_BITS: f64 = 512.0;

/// Checks one of the types, sized by items and by bits.
pub(crate) fn sizing(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let of_lines = |bits| bits * LINE_SLACK + LINE_BITS;
    match case.kind {
        Kind::Classic => check::<BloomFilter<u64, Rapid>>(&case, |bits| bits),
        Kind::Blocked => check::<BlockedBloomFilter<u64, Rapid>>(&case, of_lines),
        Kind::Once => check::<OnceBloomFilter<u64, Rapid>>(&case, of_lines),
    }
}

/// Given the number of bits of a filter for more items or a lower rate, `slack` returns the maximum
/// number of bits of the filter for less.
fn check<F: Bloom>(case: &Case, slack: fn(f64) -> f64) {
    if let Ok(geometry) = F::sized_by_bits(case.bits, case.probes) {
        assert!(geometry.bits() >= case.bits);
        assert_eq!(geometry.probes(), case.probes);
        is_sound(geometry, case.items);
    }
    let capacity = case.capacity >> (case.shift % 64);
    let rate = case.rate.value();
    let Ok(geometry) = F::sized_by_items(capacity, rate) else { return };
    is_sound(geometry, case.items);
    let expected = geometry.false_positive_rate_at(capacity as usize);
    assert!(expected <= 1.03 * rate, "{expected:e} at capacity, {rate:e} requested: {geometry:?}");
    let bits = geometry.bits() as f64;
    let larger = [
        F::sized_by_items(capacity.saturating_mul(2), rate),
        F::sized_by_items(capacity, rate / 2.0),
    ];
    for more in larger.into_iter().flatten() {
        assert!(bits <= slack(more.bits() as f64), "{geometry:?} for less than {more:?}");
    }
}

fn is_sound(geometry: Geometry, items: u64) {
    assert!(geometry.bits() >= 1 && geometry.probes() >= 1 && geometry.words() >= 1);
    assert!(geometry.size_in_bytes() >= geometry.bits() / 8);
    for share in [geometry.fill_at(items as usize), geometry.false_positive_rate_at(items as usize)]
    {
        assert!((0.0..=1.0).contains(&share), "{share} at {items} items: {geometry:?}");
    }
}
