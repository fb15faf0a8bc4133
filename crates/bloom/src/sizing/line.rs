//! The expected rate and fill for patterns within a line, with `lines` lines and `items` items.
//!
//! # Derivation
//!
//! The number of items in a line is binomial, `B(items, 1 / lines)`. Given `j` items in the line,
//! the groups are independent. In a group of `w` words, an item picks the word of the query with
//! probability `1/w`. There it sets a mask of `g` bits, and the query has a mask of `g` bits, too.
//!
//! With probability `s` ([`SAME`]) the two masks are the same entry of the table at the same
//! rotation. Otherwise they are treated as independent. The item's mask then misses `i` given bits
//! with probability `C(64 − i, g) / C(64, g)`, times a factor `1 / (1 − s)` for each bit. With this
//! factor both cases together set a given bit with probability `g / 64`, as they must, because
//! masks occur at all rotations. So an item misses `i > 0` bits of the query's mask with
//! probability `m_i = (1 − s)^(1 − i) · C(64 − i, g) / C(64, g)`, and all `j` items miss them with
//! probability `a_i^j`, where `a_i = 1 − (1 − m_i) / w`.
//!
//! By inclusion and exclusion, the query finds all bits of its mask set with probability `Σ c_i ·
//! a_i^j`, where `c_i = (−1)^i · C(g, i)`. The lock bit counts as set. In its word, the sum covers
//! only sets of bits without the lock: `c_i · (64 − i) / 64`.
//!
//! There are two approximations: Poisson for binomial in filters of millions of items, and
//! independence of different masks. The exact sum over the tables agrees to a thousandth in words
//! of which a third or a half is set, as the sizing chooses them, and to 0.4 % where a tenth is
//! set.

use alloc::vec::Vec;

use libm::{exp, lgamma, log, log1p, pow};

use crate::probe::line::Shape;
use crate::probe::masks::{MAX_PROBES_PER_WORD, SAME};

/// Terms of the sum over `i`.
const TERMS: usize = MAX_PROBES_PER_WORD as usize + 1;

/// With more items per line than this, even one probe per item leaves less than 2^-53 of the bits
/// empty.
const FULL_LOAD: f64 = 20_000.0;

/// Largest number of items for which the number in a line is taken as binomial; above, as Poisson.
/// At the limit the rates differ by about 1 in 10^5.
const MAX_BINOMIAL: u64 = 1 << 22;

/// `(1 − s)^(1 − i)`, by `i`: constants, because `pow` would take most of the time of sizing a
/// filter.
const DIFFER: [f64; TERMS] = [
    1.0,
    1.0,
    1.000_061_038_881_767_7,
    1.000_122_081_489_280_4,
    1.000_183_127_822_765_7,
    1.000_244_177_882_451,
    1.000_305_231_668_563_4,
    1.000_366_289_181_331,
    1.000_427_350_420_980_6,
];

/// `m_i`, the probability that a mask misses `i` bits of another, by the number of their bits.
const MISSED: [[f64; TERMS]; TERMS] = {
    let mut missed = [[0.0; TERMS]; TERMS];
    let mut probes = 0;
    while probes < TERMS {
        let mut i = 0;
        while i < TERMS {
            let (mut others, mut d) = (1.0, 0);
            while d < probes {
                others *= (64 - i - d) as f64 / (64 - d) as f64;
                d += 1;
            }
            missed[probes][i] = others * DIFFER[i];
            i += 1;
        }
        probes += 1;
    }
    missed
};

/// The binomial coefficients with alternating signs, by the number of probes and `i`.
const SIGNED_CHOOSE: [[f64; TERMS]; TERMS] = {
    let mut choose = [[0.0; TERMS]; TERMS];
    let mut n = 0;
    while n < TERMS {
        choose[n][0] = 1.0;
        let mut i = 0;
        while i < n {
            choose[n][i + 1] = -choose[n][i] * ((n - i) as f64 / (i + 1) as f64);
            i += 1;
        }
        n += 1;
    }
    choose
};

/// Values for successive numbers of items in a line.
type Block = [f64; 8];

/// The probability that a query finds its mask in a group: `Σ c_i · a_i^j` after `j` items.
#[derive(Clone, Copy)]
struct Group {
    c: [f64; TERMS],
    a: [f64; TERMS],
    /// The powers `a_i^j` for the current `j`, and what they are multiplied by for the next.
    power: [f64; TERMS],
    step: [f64; TERMS],
    /// The number of terms.
    terms: u32,
    /// The number of groups like this one.
    count: u32,
}

impl Group {
    fn new(probes: u32, words: u32, locked: bool, count: u32) -> Self {
        let share = 1.0 / f64::from(words);
        let zeros = [0.0; TERMS];
        let mut group =
            Self { c: zeros, a: zeros, power: zeros, step: zeros, terms: probes + 1, count };
        for i in 0..=probes as usize {
            // The lock bit lies in one word of the group.
            let on_lock = if locked { share * i as f64 / 64.0 } else { 0.0 };
            group.c[i] = SIGNED_CHOOSE[probes as usize][i] * (1.0 - on_lock);
            group.a[i] = 1.0 - share * (1.0 - MISSED[probes as usize][i]);
        }
        group
    }

    /// Computes the powers for `j` items, and for steps of `stride` items.
    fn start(&mut self, j: f64, stride: u32) {
        for (power, a) in self.power.iter_mut().zip(self.a).take(self.terms as usize) {
            *power = pow(a, j);
        }
        self.step = self.a;
        for _ in 1..stride {
            self.step.iter_mut().zip(self.a).for_each(|(step, a)| *step *= a);
        }
    }

    /// Returns the probabilities for the current `j` and those that follow, for one group, and
    /// computes the powers for the next block.
    fn block(&mut self) -> Block {
        // With a constant number of terms, the powers stay in registers.
        match self.terms {
            ..=2 => self.block_of::<2>(),
            3 => self.block_of::<3>(),
            4 => self.block_of::<4>(),
            5 => self.block_of::<5>(),
            6 => self.block_of::<6>(),
            7 => self.block_of::<7>(),
            _ => self.block_of::<TERMS>(),
        }
    }

    #[inline(always)]
    fn block_of<const N: usize>(&mut self) -> Block {
        let mut block = Block::default();
        for chance in &mut block {
            let mut sum = 0.0;
            for i in 0..N {
                sum += self.c[i] * self.power[i];
                self.power[i] *= self.step[i];
            }
            *chance = sum.clamp(0.0, 1.0);
        }
        block
    }
}

/// Returns the probability that a query finds its mask in a word with `ones` ones.
///
/// The ones come from about `t` items, where `1 − ones / 64 = (1 − probes / 64)^t`. One of these
/// items has the mask of the query with probability `1 − (1 − s)^t`. Otherwise each bit of the mask
/// is missing by a factor `1 / (1 − s)^t` more often, as above.
pub(crate) fn chance_in_word(probes: u32, ones: u32) -> f64 {
    if ones >= 64 {
        return 1.0;
    }
    let empty = 1.0 - f64::from(ones) / 64.0;
    let items = log(empty) / log1p(-f64::from(probes) / 64.0);
    let differ = pow(1.0 - SAME, items);
    let ones = 64.0 * (1.0 - empty / differ);
    let factor = |d| (ones - f64::from(d)).max(0.0) / f64::from(64 - d);
    1.0 - differ + differ * (0..probes).map(factor).product::<f64>()
}

/// Returns the expected share of ones among the bits that items can set.
pub(crate) fn fill(lines: u64, shape: Shape, items: f64) -> f64 {
    let share = f64::from(shape.words) / (8.0 * lines as f64);
    let groups = 0..shape.words;
    let of_group = |group| {
        let hit = f64::from(shape.group_probes(group)) / 64.0;
        -libm::expm1(items * log1p(-share * hit))
    };
    groups.map(of_group).sum::<f64>() / f64::from(shape.words)
}

const OFFSETS: Block = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Returns the probability that a line has `j + stride` items divided by that of `j`, for `j` and
/// those that follow in steps of `stride`, in the distribution of Poisson.
///
/// A function of its own, so that it divides several numbers at a time.
#[inline(never)]
fn poisson_ratios(load: f64, j: f64, stride: u32) -> Block {
    let (mut above, mut below) = ([1.0; 8], [1.0; 8]);
    for i in 0..stride {
        let first = j + f64::from(i);
        for ((above, below), offset) in above.iter_mut().zip(&mut below).zip(OFFSETS) {
            *above *= load;
            *below *= first + offset * f64::from(stride) + 1.0;
        }
    }
    core::array::from_fn(|i| above[i] / below[i])
}

/// As [`poisson_ratios`], in the binomial distribution.
#[inline(never)]
fn binomial_ratios(items: f64, share: f64, j: f64, stride: u32) -> Block {
    if stride == 1 {
        return OFFSETS
            .map(|offset| (items - (j + offset)) / (j + offset + 1.0) * share / (1.0 - share));
    }
    let odds = share / (1.0 - share);
    let (mut above, mut below) = ([1.0; 8], [1.0; 8]);
    for i in 0..stride {
        let first = j + f64::from(i);
        for ((above, below), offset) in above.iter_mut().zip(&mut below).zip(OFFSETS) {
            let j = first + offset * f64::from(stride);
            *above *= (items - j) * odds;
            *below *= j + 1.0;
        }
    }
    core::array::from_fn(|i| above[i] / below[i])
}

/// Returns a number `h` such that every `h`-th term suffices for a relative error below 1e-10 in
/// sums of about `rate`.
///
/// `Σ f(j) · P(j)` over every `h`-th `j`, times `h`, is the whole sum plus the terms `E[f(J) ·
/// exp(iθJ)]` for the multiples `θ` of `2π / h` (Poisson's summation formula). Since `f` is a sum
/// of powers `a^j`, these are at most about `exp(−load · (1 − cos θ))`, and `1 − cos(2π / h) ≥ 16 /
/// h²` from `h = 4` on.
pub(crate) fn stride(load: f64, log_rate: f64) -> u32 {
    let stride = libm::sqrt(16.0 * load / (36.0 - log_rate)) as u32;
    if stride < 4 { 1 } else { stride.min(MAX_STRIDE) }
}

/// Sums over every `h`-th term start at a multiple of this number.
const SHARED_START: f64 = 64.0;

/// The longest stride. A product of 64 loads stays finite.
const MAX_STRIDE: u32 = 64;

/// The groups of a shape, equal ones together: the first (which may have the lock bit), the others
/// with the most probes, and those with one probe less.
#[derive(Clone)]
pub(crate) struct Groups {
    groups: [Group; 3],
    /// Whether the others are like the first.
    alike: bool,
    /// The chances in lines with `first` items and more, which sums for several loads share.
    blocks: Vec<Block>,
    first: f64,
    stride: u32,
}

impl Groups {
    pub(crate) fn new(shape: Shape, locked: bool) -> Self {
        let words = shape.group_words();
        let most = shape.group_probes(0);
        let with_most = shape.probes - shape.words * (most - 1);
        Self {
            groups: [
                Group::new(most, words, locked, 1),
                Group::new(most, words, false, with_most - 1),
                Group::new(most - 1, words, false, shape.words - with_most),
            ],
            alike: !locked,
            blocks: Vec::with_capacity(24),
            first: 0.0,
            stride: 0,
        }
    }

    /// Returns the expected false-positive rate after `items` items in `lines` lines.
    pub(crate) fn rate(&mut self, lines: u64, items: u64) -> f64 {
        self.rate_by(1, lines, items)
    }

    /// As [`rate`](Self::rate), from every `stride`-th term: see [`stride`].
    pub(crate) fn rate_by(&mut self, stride: u32, lines: u64, items: u64) -> f64 {
        let load = items as f64 / lines as f64;
        if lines == 1 {
            return if load > FULL_LOAD { 1.0 } else { self.rate_of(items) };
        }
        if items > MAX_BINOMIAL {
            return self.rate_at_load(stride, load);
        }
        let (items, share) = (items as f64, 1.0 / lines as f64);
        // The probability of `j` items in a line, and that of `j + 1` items divided by it.
        let at = |j| {
            let places = if j == 0.0 {
                0.0
            } else {
                lgamma(items + 1.0) - lgamma(j + 1.0) - lgamma(items - j + 1.0) + j * log(share)
            };
            exp(places + (items - j) * log1p(-share))
        };
        self.mean(load, stride, at, |j| binomial_ratios(items, share, j, stride))
    }

    /// Returns the expected false-positive rate at `load` items per line in an infinite filter,
    /// where the number of items in a line has the distribution of Poisson.
    ///
    /// It is computed from every `stride`-th term: see [`stride`].
    pub(crate) fn rate_at_load(&mut self, stride: u32, load: f64) -> f64 {
        let at = |j| exp(if j == 0.0 { -load } else { j * log(load) - load - lgamma(j + 1.0) });
        self.mean(load, stride, at, |j| poisson_ratios(load, j, stride))
    }

    /// Returns the rate in a line with exactly `items` items.
    fn rate_of(&self, items: u64) -> f64 {
        let mut groups = self.clone();
        groups.start(items as f64, 1);
        groups.block()[0]
    }

    /// Begins with `j` items, in steps of `stride`.
    fn start(&mut self, j: f64, stride: u32) {
        (self.first, self.stride) = (j, stride);
        self.blocks.clear();
        let groups = self.groups.iter_mut().filter(|group| group.count > 0);
        groups.for_each(|group| group.start(j, stride));
    }

    /// Returns the probabilities that a query finds its bits in all groups, for the current number
    /// of items and those that follow.
    fn block(&mut self) -> Block {
        let [first, others, fewer] = &mut self.groups;
        let mut product = first.block();
        // Multiplied out: `pow` would take most of the time of sizing a filter.
        let times = |product: &mut Block, chances: Block, count| {
            for (product, chance) in product.iter_mut().zip(chances) {
                *product *= (0..count).fold(1.0, |product, _| product * chance);
            }
        };
        if others.count > 0 {
            let chances = if self.alike { product } else { others.block() };
            times(&mut product, chances, others.count);
        }
        if fewer.count > 0 {
            times(&mut product, fewer.block(), fewer.count);
        }
        product
    }

    /// Returns the mean, over the lines, of the probability that a query finds its bits in all
    /// groups.
    ///
    /// A line has `j` items with a probability of `at(j)`, and `j + stride` with `ratios(j)[0]`
    /// times that.
    #[inline(always)]
    fn mean(
        &mut self,
        load: f64,
        stride: u32,
        at: impl Fn(f64) -> f64,
        ratios: impl Fn(f64) -> Block,
    ) -> f64 {
        if load > FULL_LOAD {
            return 1.0;
        }
        if load == 0.0 {
            return 0.0;
        }
        // Start ten standard deviations below the mean: below, the terms add nothing.
        let mut j = libm::floor((load - 10.0 * libm::sqrt(load) - 10.0).max(0.0));
        let by = f64::from(stride);
        if stride > 1 {
            // So that sums for close loads share their terms.
            j = libm::floor(j / SHARED_START) * SHARED_START;
        }
        if (j, stride) != (self.first, self.stride) {
            self.start(j, stride);
        }
        // Add up term by term; each follows from the one before.
        let (mut sum, mut chance) = (0.0, at(j));
        let mut number = 0;
        loop {
            if number == self.blocks.len() {
                let block = self.block();
                self.blocks.push(block);
            }
            let block = self.blocks[number];
            number += 1;
            let ratios = ratios(j);
            let (mut sums, mut chances) = <(Block, Block)>::default();
            for ((sum_at, rate), (chance_at, ratio)) in
                sums.iter_mut().zip(block).zip(chances.iter_mut().zip(ratios))
            {
                *sum_at = chance * rate;
                chance *= ratio;
                *chance_at = chance;
            }
            for sum_at in &mut sums {
                sum += *sum_at;
                *sum_at = sum;
            }
            // Above the mean the terms fall: stop when the rest is negligible. It then stays so,
            // and one test suffices for a block.
            let ends = |i| {
                let (j, chance): (f64, f64) = (j + (i as f64 + 1.0) * by, chances[i]);
                j > load && chance <= sums[i] * 1e-12 || chance <= 0.0
            };
            if ends(block.len() - 1) {
                let end = (0..block.len()).find(|&i| ends(i)).map_or(sum, |i| sums[i]);
                return (end * by).clamp(0.0, 1.0);
            }
            j += block.len() as f64 * by;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::probe::masks::{MASKS, masks};

    /// Returns the exact rate in one word with masks from the tables: for every set of bits of
    /// every mask, it counts the masks at all rotations that miss the set.
    fn rate_by_the_tables(probes: u32, items_a_word: f64) -> f64 {
        let masks = masks(probes);
        // For each bit, by mask, the rotations at which that mask has the bit.
        let places = |bit: u32| masks.map(|mask| mask.reverse_bits().rotate_right(63 - bit));
        let rate_of = |query: u64| -> f64 {
            let bits = (0..64).filter(|bit| query >> bit & 1 == 1);
            // The sets of bits so far: their signs, and the rotations at which masks have a bit of
            // the set.
            let mut sets = vec![(1.0, [0; MASKS])];
            for bit in bits {
                let places = places(bit);
                let with_bit = |&(sign, hit): &(f64, [u64; MASKS])| {
                    (-sign, core::array::from_fn(|mask| hit[mask] | places[mask]))
                };
                sets.extend_from_slice(&sets.iter().map(with_bit).collect::<Vec<_>>());
            }
            let chance_missed = |hit: &[u64; MASKS]| {
                let hits: u32 = hit.iter().map(|places| places.count_ones()).sum();
                exp(-items_a_word * f64::from(hits) * SAME)
            };
            sets.iter().map(|(sign, hit)| sign * chance_missed(hit)).sum()
        };
        masks.iter().map(|&query| rate_of(query)).sum::<f64>() / MASKS as f64
    }

    /// For the Poisson distribution, and for the binomial one in few and in many lines.
    #[test]
    fn every_hth_term_suffices() {
        let mut fewer = 0;
        for (words, probes) in
            [(1, 1), (1, 3), (1, 5), (2, 2), (2, 7), (4, 4), (4, 9), (8, 8), (8, 12)]
        {
            for locked in [false, words > 1] {
                let mut groups = Groups::new(Shape { words, probes }, locked);
                for load in (20..120).map(|step| exp(f64::from(step) / 13.0)) {
                    let mut check = |lines: Option<u64>, most: f64| {
                        let mut rate = |stride| match lines {
                            None => groups.rate_at_load(stride, load),
                            Some(lines) => {
                                groups.rate_by(stride, lines, (load * lines as f64) as u64)
                            }
                        };
                        let all = rate(1);
                        let stride = stride(load, log(all));
                        fewer += u32::from(stride > 1);
                        let off = (rate(stride) / all - 1.0).abs();
                        assert!(off < most, "{words} {probes} {load} {lines:?} {stride}: {off}");
                    };
                    check(None, 1e-10);
                    for lines in [2, 3, 10, (MAX_BINOMIAL as f64 / load) as u64] {
                        check(Some(lines), 5e-8);
                    }
                }
            }
        }
        assert!(fewer > 4000, "{fewer}");
    }

    #[test]
    fn the_constants_are_powers() {
        for (power, i) in DIFFER.into_iter().zip([0, 0, 1, 2, 3, 4, 5, 6, 7]) {
            assert_eq!(power, pow(1.0 - SAME, -f64::from(i)));
        }
    }

    /// The tables give the rates of random masks, in words of which a third and a half is set.
    #[test]
    fn the_rate_is_that_of_the_tables() {
        for probes in 1..=MAX_PROBES_PER_WORD {
            for empty in [2.0 / 3.0, 0.5] {
                let items_a_word = -log(empty) * 64.0 / f64::from(probes);
                let mut groups = Groups::new(Shape { words: 1, probes }, false);
                let expected = groups.rate_at_load(1, 8.0 * items_a_word);
                let ratio = rate_by_the_tables(probes, items_a_word) / expected;
                assert!((ratio - 1.0).abs() < 1e-3, "{probes} bits, {empty} empty: {ratio}");
            }
        }
    }
}
