//! One 64-bit hash split into the parts that a filter needs, so that none tells about another.
//!
//! | part | function | from |
//! |---|---|---|
//! | place: which block or bucket of `n` | [`place`] | the high bits of the hash |
//! | shard: which of `s` filters | [`shard`] | the low 32 bits, from their top |
//! | pattern: which bits of a block | [`pattern`] | a remix of the whole hash |
//! | fingerprint: what a slot holds | [`fingerprint`] | the high bits of the pattern |
//!
//! Place and shard share no bit up to 2^32 places with 2^16 shards, so each shard uses all its
//! blocks. Pattern and fingerprint depend on every bit of the hash through a multiplication; given place
//! and shard they are still uniform as long as the rest of the hash is (the tests check it at awkward
//! sizes). Taking the pattern from the very bits that chose the block is the classic
//! mistake: all items of a block would then share it.

use crate::fastrange;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The multiplier of a 64-bit multiplicative generator with good spectral figures in every
/// dimension up to 8 (Steele and Vigna, "Computationally easy, spectrally good multipliers", 2021).
const STEP: u64 = 0xD134_2543_DE82_EF95;

/// Which of `n` places (blocks or buckets) the item lives in.
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

/// Which of `shards` separate filters the item belongs to.
///
/// Uniform to within `shards / 2^32`.
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
    (((hash & 0xFFFF_FFFF) * shards as u64) >> 32) as u32
}

/// The bits of a pattern that are good, from its top down.
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

/// Bits to cut a bit pattern from: use no more than the top [`GOOD_BITS`]. [`next_pattern`] gives more.
///
/// The high half of the hash is added to the low one, then one multiplication carries every bit upwards. (A
/// folded product of 128 bits would mix more than is needed, and vectors have none.)
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

/// The pattern after `pattern`: one step of a multiplicative generator. Its high bits are the good
/// ones; use no more than the top [`GOOD_BITS`].
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

/// A fingerprint of `bits` bits, never 0, so that 0 can mean an empty slot.
///
/// Each of the `2^bits − 1` values is as likely as any other. A width of 0 is taken as 1, one above 64
/// as 64.
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
    let values = u64::MAX >> 64_u32.saturating_sub(bits);
    fastrange(pattern(hash), values) + 1
}
