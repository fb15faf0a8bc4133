//! Sixteen counters of four bits in a word: pure arithmetic.
//!
//! Four counter words stand for one word of 64 bits of a blocked filter: bit `b` has counter `b /
//! 4` of counter word `b % 4`. With this order, the counters of a mask in counter word `w` are
//! `mask >> w & ONES`: a shift and an AND. With bit `b` in word `b / 16`, sixteen bits would have
//! to be spread over sixteen nibbles, which takes about twelve instructions for each counter word.
//!
//! A *part* is a set of counters of one word: the lowest bit of each nibble says whether the
//! counter is in the set.

/// Counter words per word of bits, which is also the number of bits of a counter.
pub(crate) const WORDS: usize = 4;

/// The largest value of a counter. It means "15 or more".
pub(crate) const MAX: u32 = 15;

/// The lowest bit of each nibble: the part of all counters.
pub(crate) const ONES: u64 = 0x1111_1111_1111_1111;

/// The counters of every other nibble, so that a sum of two has room for its carry.
const EVEN: u64 = 0x0F0F_0F0F_0F0F_0F0F;

/// Returns the part of a mask that lies in a counter word.
#[inline(always)]
pub(crate) const fn part(mask: u64, word: usize) -> u64 {
    mask >> word & ONES
}

/// Returns the mask of the bits whose counters are not 0, from the four counter words in order.
#[inline(always)]
pub(crate) const fn mask_of([first, second, third, fourth]: [u64; WORDS]) -> u64 {
    /// Bits 0 and 2 of each nibble, bits 0 and 1.
    const EVERY_OTHER: u64 = 0x5555_5555_5555_5555;
    const LOW_PAIRS: u64 = 0x3333_3333_3333_3333;
    // 1. The OR of the two low bits of each counter, and of its two high bits: those of one word at
    //    bits 0 and 2 of the nibble, those of the next word at bits 1 and 3.
    let low = (first | first >> 1) & EVERY_OTHER | (second | second << 1) & !EVERY_OTHER;
    let high = (third | third >> 1) & EVERY_OTHER | (fourth | fourth << 1) & !EVERY_OTHER;
    // 2. The OR of these two: the first two words at bits 0 and 1, the others at bits 2 and 3.
    (low | low >> 2) & LOW_PAIRS | (high | high << 2) & !LOW_PAIRS
}

/// Returns the part of the counters that are not 0.
#[inline(always)]
pub(crate) const fn not_zero(word: u64) -> u64 {
    let pairs = word | word >> 1;
    (pairs | pairs >> 2) & ONES
}

/// Returns the part of the counters that are saturated.
#[inline(always)]
pub(crate) const fn saturated(word: u64) -> u64 {
    let pairs = word & word >> 1;
    pairs & pairs >> 2 & ONES
}

/// Adds 1 to each counter of a part that is not saturated. Returns `None` if all are. No carry
/// leaves a counter, because the largest that grows is 14.
#[inline(always)]
pub(crate) fn increased(word: u64, part: u64) -> Option<u64> {
    let grow = part & !saturated(word);
    (grow != 0).then(|| word + grow)
}

/// Subtracts 1 from each counter of a part that is neither 0 nor saturated. Returns `None` if none
/// is. No borrow leaves a counter, because the smallest that shrinks is 1.
#[inline(always)]
pub(crate) fn decreased(word: u64, part: u64) -> Option<u64> {
    let shrink = part & not_zero(word) & !saturated(word);
    (shrink != 0).then(|| word - shrink)
}

/// Adds counter by counter; a sum above 15 becomes 15. Returns `None` if that changes nothing.
pub(crate) fn summed(word: u64, other: u64) -> Option<u64> {
    // Every other counter at a time, in bytes: the sum of two is at most 30, so bit 4 of a byte is
    // its carry.
    let bytes = |shift: u32| {
        let sums = (word >> shift & EVEN) + (other >> shift & EVEN);
        let carries = sums >> 4 & (EVEN / 15);
        (sums | (carries * u64::from(MAX))) & EVEN
    };
    let sum = bytes(0) | bytes(4) << 4;
    (sum != word).then_some(sum)
}

/// Returns the smallest counter of a part; [`MAX`] if the part is empty.
pub(crate) fn smallest(word: u64, part: u64) -> u32 {
    let mut left = part;
    let mut smallest = MAX;
    while left != 0 {
        smallest = smallest.min((word >> left.trailing_zeros()) as u32 & MAX);
        left &= left - 1;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the counters of a word.
    fn counters(word: u64) -> [u64; 16] {
        core::array::from_fn(|number| word >> (4 * number) & 15)
    }

    /// Applies a change to the counters of a part, one by one.
    fn one_by_one(word: u64, part: u64, change: impl Fn(u64) -> u64) -> [u64; 16] {
        let mut counters = counters(word);
        for (number, counter) in counters.iter_mut().enumerate() {
            if part >> (4 * number) & 1 == 1 {
                *counter = change(*counter);
            }
        }
        counters
    }

    /// Words in which 0, 1, 14 and 15 are frequent, next to each other.
    fn words() -> impl Strategy<Value = u64> {
        let counter = prop_oneof![Just(0), Just(1), Just(14), Just(15), 0..16_u64];
        prop::collection::vec(counter, 16)
            .prop_map(|counters| counters.iter().fold(0, |word, counter| word << 4 | counter))
    }

    proptest! {
        /// Every operation on a word equals the operation on each of its counters.
        #[test]
        fn a_word_is_sixteen_counters(word in words(), other in words(), part in any::<u64>()) {
            let part = part & ONES;
            let after = increased(word, part).unwrap_or(word);
            prop_assert_eq!(counters(after), one_by_one(word, part, |counter| (counter + 1).min(15)));
            prop_assert_eq!(increased(word, part).is_none(), after == word);
            let after = decreased(word, part).unwrap_or(word);
            let less = |counter: u64| if counter == 15 { 15 } else { counter.saturating_sub(1) };
            prop_assert_eq!(counters(after), one_by_one(word, part, less));
            prop_assert_eq!(decreased(word, part).is_none(), after == word);
            let after = summed(word, other).unwrap_or(word);
            let pairs = counters(word).into_iter().zip(counters(other));
            prop_assert!(pairs.map(|(a, b)| (a + b).min(15)).eq(counters(after)));
            prop_assert_eq!(summed(word, other).is_none(), after == word);
            let is = |value: fn(u64) -> bool| one_by_one(word, ONES, |counter| value(counter).into());
            prop_assert_eq!(counters(not_zero(word)), is(|counter| counter != 0));
            prop_assert_eq!(counters(saturated(word)), is(|counter| counter == 15));
            let in_part = counters(word).into_iter().zip(counters(part)).filter(|pair| pair.1 == 1);
            let least = in_part.map(|pair| pair.0).min().unwrap_or(15);
            prop_assert_eq!(u64::from(smallest(word, part)), least);
        }

        /// The parts of a mask give the mask again, whatever bit of the counters is set: each bit
        /// has its own counter.
        #[test]
        fn each_bit_has_its_counter(mask in any::<u64>()) {
            let parts: [u64; WORDS] = core::array::from_fn(|word| part(mask, word));
            for shift in 0..4 {
                prop_assert_eq!(mask_of(parts.map(|part| part << shift)), mask);
            }
            let ones: u32 = parts.iter().map(|part| part.count_ones()).sum();
            prop_assert_eq!(ones, mask.count_ones());
        }
    }
}
