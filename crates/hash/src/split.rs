//! Splits one 64-bit hash into independent parts, one for each choice of a filter.
//!
//! | part | function | from |
//! |---|---|---|
//! | place: which of `n` blocks or buckets | [`place`] | the high bits of the hash |
//! | shard: which of `s` filters | [`shard`] | the high bits of the low 32 |
//! | pattern: which bits of a block | [`pattern`] | a remix of the whole hash |
//! | fingerprint: the value in a slot | [`fingerprint`] | the high bits of the pattern |
//!
//! Place and shard share no bit up to 2^32 places and 2^16 shards, so each shard uses all of its
//! blocks. Pattern and fingerprint depend on every bit of the hash through a multiplication. For a
//! given place and shard they are still uniform if the rest of the hash is; the tests check this at
//! awkward sizes. (The classic mistake is to take the pattern from the bits that chose the block:
//! then all items of a block have the same pattern.)

use crate::range::fastrange;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The multiplier of a 64-bit multiplicative generator whose spectral figures are good in every
/// dimension up to 8 (Steele and Vigna, "Computationally easy, spectrally good multipliers", 2021).
const STEP: u64 = 0xD134_2543_DE82_EF95;

/// Returns which of `n` places (blocks or buckets) the item belongs to.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// assert_eq!(tamis::hash::split::place(1 << 63, 1000), 500);
/// ```
#[inline]
#[must_use]
pub const fn place(hash: u64, n: u64) -> u64 {
    fastrange(hash, n)
}

/// Returns which of `shards` separate filters the item belongs to.
///
/// The result is uniform up to a relative error of `shards / 2^32`.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// let shard = tamis::hash::split::shard(0x8000_0000, 64);
/// assert_eq!(shard, 32);
/// ```
#[inline]
#[must_use]
pub const fn shard(hash: u64, shards: u32) -> u32 {
    // As `fastrange`, on the low 32 bits: the high ones choose the place.
    (((hash & 0xFFFF_FFFF) * shards as u64) >> 32) as u32
}

/// The number of bits of a pattern to use, counted from its highest bit. The lower bits mix too few
/// bits of the hash.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::split::{GOOD_BITS, pattern};
/// let uniform = pattern(1) >> (64 - GOOD_BITS);
/// assert!(uniform < 1 << GOOD_BITS);
/// ```
pub const GOOD_BITS: u32 = 51;

/// Returns a pattern, from which a filter takes bit positions. Use only the top [`GOOD_BITS`];
/// [`next_pattern`] returns more.
///
/// The high half of the hash is XORed into the low half, then one multiplication carries every bit
/// upwards. (A folded 128-bit product would mix more than is needed, and no vector instruction
/// computes it.)
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::split::pattern;
/// assert_ne!(pattern(1), pattern(2));
/// ```
#[inline]
#[must_use]
pub const fn pattern(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(GOLDEN)
}

/// Returns the pattern after `pattern`: one step of a multiplicative generator. Use only the top
/// [`GOOD_BITS`].
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::split::{next_pattern, pattern};
/// let first = pattern(7);
/// assert_ne!(next_pattern(first), first);
/// ```
#[inline]
#[must_use]
pub const fn next_pattern(pattern: u64) -> u64 {
    pattern.wrapping_mul(STEP)
}

/// Returns a fingerprint of `bits` bits. It is never 0, so that 0 can mean an empty slot.
///
/// All `2^bits − 1` values are equally likely. `bits = 0` counts as 1, and a number above 64 as 64.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::split::fingerprint;
/// assert!((1..=255).contains(&fingerprint(0x1234_5678, 8)));
/// assert_eq!(fingerprint(0, 16), 1);
/// ```
#[inline]
#[must_use]
pub const fn fingerprint(hash: u64, bits: u32) -> u64 {
    let bits = if bits == 0 { 1 } else { bits };
    // 2^bits − 1 values, from 1 up.
    let values = u64::MAX >> 64_u32.saturating_sub(bits);
    fastrange(pattern(hash), values) + 1
}
