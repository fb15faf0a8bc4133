//! The false-positive rates of filters, estimated from their bits.
//!
//! A key that was not inserted is found if all its places are set by chance. The formulas take the
//! hash of a key as random; the source is Bloom (1970) unless a function names another.

use tamis_hash::{HashItem, Rapid};

use super::bits::BitArray;

/// The most lookups of [`of_hashes`].
const LOOKUPS: u32 = 1 << 22;

/// The hits after which [`of_hashes`] ends, at a standard error of 3 %.
const HITS: u32 = 1024;

/// The longest period that is counted. The bits of longer ones are hardly ever all set, unless
/// nearly all bits are.
const MAX_PERIOD: u64 = 64;

/// Returns the rate of a filter whose `k` places of a key are independent: `fill^k`.
pub(super) fn of_places(bits: &BitArray, places: u64, k: u64) -> f64 {
    power(fill(bits, 0, places), k)
}

/// Returns the rate of a filter whose `k` places of a key are `first + i step` modulo `places`.
///
/// If the step and `places` have a common divisor, the progression returns to its start after `t`
/// places, where `t` is a divisor of `places`. That is the case of `φ(t)` of `places` steps. So the
/// rate is `Σ φ(t) / places · fill^min(t, k)` over all divisors `t` (Dillinger and Manolios 2004,
/// "Bloom filters in probabilistic verification", section 5.2, name the short progressions as the
/// cause of the loss). In large filters it is `fill^k`.
pub(super) fn of_progression(bits: &BitArray, places: u64, k: u64) -> f64 {
    of_progression_in(fill(bits, 0, places), places, k)
}

/// As [`of_progression`], for a part of an array with this fill.
pub(super) fn of_progression_in(fill: f64, places: u64, k: u64) -> f64 {
    let short = (1..k.min(MAX_PERIOD)).filter(|period| places.is_multiple_of(*period));
    let (share, rate) = short.fold((0.0, 0.0), |(share, rate), period| {
        let of_period = totient(period) as f64 / places as f64;
        (share + of_period, rate + of_period * power(fill, period))
    });
    rate + (1.0 - share) * power(fill, k)
}

/// Returns the rate of a filter whose places are all in one block, which the hash chooses: the mean
/// of the rates of the blocks. `of_block` returns that of the block that starts at a place. (Putze,
/// Sanders and Singler 2007, "Cache-, hash- and space-efficient Bloom filters".)
pub(super) fn of_blocks(blocks: u64, block_bits: u64, of_block: impl Fn(u64) -> f64) -> f64 {
    let sum: f64 = (0..blocks).map(|block| of_block(block * block_bits)).sum();
    sum / blocks as f64
}

/// Returns the rate of a filter that computes all places of a key from a hash of 32 bits: the share
/// of hits among random hashes. `least` is the rate if places were random; the result is not below
/// it. A lookup reads `parts` filters. If there are more than 4096 of them, the result is `least`.
///
/// The standard error is 3 % at rates above 2.4e-4, and 15 % at 1e-5.
///
/// Few hashes share all places with one of the keys by chance, and the places of such a hash are
/// not uniform. MEASURED: a filter of LevelDB with a million random keys of 12 bits has a rate of
/// 4.9e-3 instead of the 1.6e-3 of random places, and with two million of 20 bits 5.9e-4 instead of
/// 3.4e-5 (any machine).
pub(super) fn of_hashes(least: f64, parts: u64, contains: impl Fn(u32) -> bool) -> f64 {
    // At most `LOOKUPS` filters are read, whatever a file says.
    let most = (u64::from(LOOKUPS) / parts.max(1)) as u32;
    if least == 0.0 || most < HITS {
        return least;
    }
    let random = Rapid::with_seed(0);
    let (mut lookups, mut hits) = (0, 0);
    while lookups < most && hits < HITS {
        hits += u32::from(contains(random.hash_item(&lookups) as u32));
        lookups += 1;
    }
    (f64::from(hits) / f64::from(lookups)).max(least)
}

/// Returns the rate of a filter that contains a key if one of its parts does: `1 - Π (1 - r)`.
pub(super) fn of_any(rates: impl Iterator<Item = f64>) -> f64 {
    // In this form small rates are not lost next to 1.
    0.0 - rates.map(|rate| (-rate).ln_1p()).sum::<f64>().exp_m1()
}

/// Returns the part of the bits from `start` on that are set.
pub(super) fn fill(bits: &BitArray, start: u64, count: u64) -> f64 {
    bits.ones(start..start + count) as f64 / count as f64
}

/// Returns `fill^k`.
pub(super) fn power(fill: f64, k: u64) -> f64 {
    fill.powf(k as f64)
}

/// Returns the number of integers up to `number` that have no common divisor with it.
fn totient(number: u64) -> u64 {
    let (mut rest, mut totient) = (number, number);
    for prime in 2..=number {
        if rest.is_multiple_of(prime) {
            totient -= totient / prime;
            while rest.is_multiple_of(prime) {
                rest /= prime;
            }
        }
    }
    totient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totients_of_the_divisors_of_a_number_have_it_as_their_sum() {
        for number in 1..=200 {
            let divisors = (1..=number).filter(|divisor| u64::is_multiple_of(number, *divisor));
            assert_eq!(divisors.map(totient).sum::<u64>(), number);
        }
    }

    /// The oracle: all starts and all steps.
    #[test]
    fn the_rate_of_a_progression_is_the_mean_over_all_steps() {
        let (places, k) = (24, 7);
        let mut bits = BitArray::zeroed(3).unwrap();
        for place in [0, 2, 3, 7, 11, 12, 17, 20, 23] {
            bits.set(place);
        }
        let fill = 9.0 / 24.0_f64;
        let distinct = |step: u64| {
            let mut places: Vec<u64> = (0..k).map(|i| i * step % places).collect();
            places.sort_unstable();
            places.dedup();
            places.len() as i32
        };
        let mean = (0..places).map(|step| fill.powi(distinct(step))).sum::<f64>() / places as f64;
        assert!((of_progression(&bits, places, k) - mean).abs() < 1e-12);
        assert!((of_progression(&bits, places, 1) - fill).abs() < 1e-12);
        assert_eq!(of_progression(&BitArray::zeroed(3).unwrap(), 24, 3), 0.0);
    }

    /// The work does not grow with the number of filters that a file has.
    #[test]
    fn few_filters_are_read_for_the_rate_of_hashes() {
        for parts in [1, 3, 4096, 4097, u64::MAX] {
            let lookups = core::cell::Cell::new(0_u64);
            let rate = of_hashes(0.25, parts, |hash| {
                lookups.set(lookups.get() + 1);
                hash % 2 == 0
            });
            assert!(lookups.get().saturating_mul(parts) <= LOOKUPS.into(), "{parts}");
            let measured = if parts <= 4096 { 0.45..0.55 } else { 0.25..0.26 };
            assert!(measured.contains(&rate), "{parts}: {rate}");
        }
        assert_eq!(of_hashes(0.0, 1, |_| panic!("an empty filter is not read")), 0.0);
    }

    #[test]
    fn the_rate_of_several_parts_is_that_of_any() {
        assert_eq!(of_any([].into_iter()), 0.0);
        assert!((of_any([0.5, 0.5, 0.5].into_iter()) - 0.875).abs() < 1e-12);
        assert!((of_any([1e-18, 1e-18].into_iter()) - 2e-18).abs() < 1e-30);
        assert_eq!(of_any([0.1, 1.0].into_iter()), 1.0);
    }
}
