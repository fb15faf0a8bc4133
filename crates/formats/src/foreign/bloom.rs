//! What all Bloom filters of other systems do: set and test the places of a key.

use core::any::Any;

use super::bits::BitArray;
use super::error::Error;
use super::filter::Filter;
use super::key::Key;

/// The rule by which a system finds the places of a key. A header knows it; it has no bits.
pub(super) trait Places {
    /// Calls `each` with the places of a key, in order, until it returns `false` or all have been
    /// passed. Each place is in the array.
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error>;
}

/// Returns whether all places of a key are set.
pub(super) fn contains(places: &impl Places, bits: &BitArray, key: Key<'_>) -> Result<bool, Error> {
    let mut all = true;
    places.each(key, &mut |place| {
        all = bits.get(place);
        all
    })?;
    Ok(all)
}

/// Sets all places of a key. Returns whether one of them was not set.
pub(super) fn insert(
    places: &impl Places,
    bits: &mut BitArray,
    key: Key<'_>,
) -> Result<bool, Error> {
    let mut changed = false;
    places.each(key, &mut |place| {
        changed |= bits.set(place);
        true
    })?;
    Ok(changed)
}

/// Returns the places of a key.
pub(super) fn places(places: &impl Places, key: Key<'_>) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    places.each(key, &mut |place| {
        all.push(place);
        true
    })?;
    Ok(all)
}

/// The places that [`sums_of_32_bits`] can give: those of a larger filter are not reached.
pub(super) const PLACES_OF_SUMS: u64 = 1 << 31;

/// Calls `each` with `first + i second` for `i` from 1 to `k`, in wrapping `i32`, made
/// non-negative, modulo `bits`: the places of several systems in Java. No place is above 2^31 - 1.
pub(super) fn sums_of_32_bits(
    (first, second): (i32, i32),
    k: u32,
    bits: u64,
    each: &mut dyn FnMut(u64) -> bool,
) {
    for i in 1..=k {
        let sum = first.wrapping_add((i as i32).wrapping_mul(second));
        let sum = if sum < 0 { !sum } else { sum };
        if !each(sum as u64 % bits) {
            break;
        }
    }
}

/// Returns a filter as one of type `F` that has the places of another, if `same` says so.
pub(super) fn like<F: Filter>(
    other: &dyn Filter,
    same: impl FnOnce(&F) -> bool,
) -> Result<&F, Error> {
    let other: &dyn Any = other;
    other.downcast_ref().filter(|other| same(other)).ok_or(Error::Union)
}

/// Returns the greatest number of hash functions of a filter that is read or made. No rate needs
/// more than 1074. A system that computes the number from the bits per key gets at most the number
/// of bits. A greater number in a file is damage: a query of a small filter would take long.
pub(super) fn max_probes(bits: u64) -> i64 {
    i64::try_from(bits).unwrap_or(i64::MAX).max(1 << 16)
}

/// Rounds as `Math.round` of Java does: half up.
pub(super) fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}

/// Returns `-n ln p / (ln 2)²`, the number of bits for `n` keys at a rate of `p` (Bloom 1970). The
/// systems round it.
pub(super) fn bits_for(keys: f64, rate: f64) -> f64 {
    let ln_2 = core::f64::consts::LN_2;
    -keys * rate.ln() / (ln_2 * ln_2)
}

/// Checks a rate.
pub(super) fn check_rate(rate: f64) -> Result<(), Error> {
    // In this form the condition rejects NaN too.
    if rate > 0.0 && rate < 1.0 { Ok(()) } else { Err(Error::Size { parameter: "rate" }) }
}
