//! The expected rate and fill for patterns within a line, with `lines` lines and `items` items.
//!
//! # Derivation
//!
//! The number of items in a line is binomial, `B(items, 1 / lines)`. Given `j` items in the line, the groups are
//! independent. In a group of `w` words, an item picks the word of the query with probability `1/w`. There it sets a
//! mask of `g` bits, and the query has a mask of `g` bits, too.
//!
//! With probability `s` ([`SAME`]) the two masks are the same entry of the table at the same rotation. Otherwise they
//! are treated as independent. The item's mask then misses `i` given bits with probability `C(64 − i, g) / C(64, g)`,
//! times a factor `1 / (1 − s)` for each bit. With this factor both cases together set a given bit with probability
//! `g / 64`, as they must, because masks occur at all rotations. So an item misses `i > 0` bits of the query's mask
//! with probability `m_i = (1 − s)^(1 − i) · C(64 − i, g) / C(64, g)`, and all `j` items miss them with probability
//! `a_i^j`, where `a_i = 1 − (1 − m_i) / w`.
//!
//! By inclusion and exclusion, the query finds all bits of its mask set with probability `Σ c_i · a_i^j`, where
//! `c_i = (−1)^i · C(g, i)`. The lock bit counts as set. In its word, the sum covers only sets of bits without the
//! lock: `c_i · (64 − i) / 64`.
//!
//! There are two approximations: Poisson for binomial in filters of millions of items, and independence of different
//! masks. The exact sum over the tables agrees to a thousandth in words of which a third or a half is set, as the
//! sizing chooses them, and to 0.4 % where a tenth is set.

use libm::{exp, lgamma, log, log1p, pow};

use crate::probe::line::Shape;
use crate::probe::masks::{MAX_PROBES_PER_WORD, SAME};

/// Terms of the sum over `i`.
const TERMS: usize = MAX_PROBES_PER_WORD as usize + 1;

/// With more items per line than this, even one probe per item leaves less than 2^-53 of the bits empty.
const FULL_LOAD: f64 = 20_000.0;

/// Largest number of items for which the number in a line is taken as binomial; above, as Poisson. At the limit the
/// rates differ by about 1 in 10^5.
const MAX_BINOMIAL: u64 = 1 << 22;

/// The probability that a query finds its mask in a group: `Σ c_i · a_i^j` after `j` items.
#[derive(Clone, Copy)]
struct Group {
    c: [f64; TERMS],
    a: [f64; TERMS],
    /// The powers `a_i^j` for the current `j`.
    power: [f64; TERMS],
    /// The number of groups like this one.
    count: u32,
}

impl Group {
    fn new(probes: u32, words: u32, locked: bool, count: u32) -> Self {
        let share = 1.0 / f64::from(words);
        let mut group = Self { c: [0.0; TERMS], a: [0.0; TERMS], power: [0.0; TERMS], count };
        for i in 0..=probes {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            // The lock bit lies in one word of the group.
            let on_lock = if locked { share * f64::from(i) / 64.0 } else { 0.0 };
            let index = i as usize;
            group.c[index] = sign * choose(probes, i) * (1.0 - on_lock);
            group.a[index] = 1.0 - share * (1.0 - missed(probes, i));
        }
        group
    }

    /// Computes the powers for `j` items.
    fn start(&mut self, j: f64) {
        self.power = self.a.map(|a| pow(a, j));
    }

    /// Computes the powers for one more item.
    fn step(&mut self) {
        for (power, a) in self.power.iter_mut().zip(self.a) {
            *power *= a;
        }
    }

    /// Returns the probability for the current `j`, for all groups like this one.
    fn chance(&self) -> f64 {
        let sum: f64 = self.c.iter().zip(self.power).map(|(c, power)| c * power).sum();
        // Multiplied out: `pow` would take most of the time of sizing a filter.
        (0..self.count).fold(1.0, |product, _| product * sum.clamp(0.0, 1.0))
    }
}

/// Returns `m_i`, the probability that a mask misses `i` bits of another.
fn missed(probes: u32, i: u32) -> f64 {
    let factor = |d| f64::from(64 - i - d) / f64::from(64 - d);
    let others: f64 = (0..probes).map(factor).product();
    others * pow(1.0 - SAME, -f64::from(i.saturating_sub(1)))
}

/// Returns the binomial coefficient.
fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// Returns the probability that a query finds its mask in a word with `ones` ones.
///
/// The ones come from about `t` items, where `1 − ones / 64 = (1 − probes / 64)^t`. One of these items has the mask of
/// the query with probability `1 − (1 − s)^t`. Otherwise each bit of the mask is missing by a factor `1 / (1 − s)^t`
/// more often, as above.
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

/// Returns the expected false-positive rate after `items` items.
pub(crate) fn rate(lines: u64, shape: Shape, locked: bool, items: u64) -> f64 {
    let load = items as f64 / lines as f64;
    let groups = Groups::new(shape, locked);
    if lines == 1 {
        return if load > FULL_LOAD { 1.0 } else { groups.rate_of(items) };
    }
    if items <= MAX_BINOMIAL {
        let chances = Chances::Binomial { items: items as f64, share: 1.0 / lines as f64 };
        return groups.mean(load, chances);
    }
    groups.rate_at_load(load)
}

/// The groups of a shape, equal ones together: the first (which may have the lock bit), the others with the most
/// probes, and those with one probe less.
#[derive(Clone)]
pub(crate) struct Groups([Group; 3]);

impl Groups {
    pub(crate) fn new(shape: Shape, locked: bool) -> Self {
        let words = shape.group_words();
        let most = shape.group_probes(0);
        let with_most = (0..shape.words).filter(|&group| shape.group_probes(group) == most);
        let with_most = with_most.count() as u32;
        Self([
            Group::new(most, words, locked, 1),
            Group::new(most, words, false, with_most - 1),
            Group::new(most.saturating_sub(1), words, false, shape.words - with_most),
        ])
    }

    /// Returns the expected false-positive rate at `load` items per line in an infinite filter.
    pub(crate) fn rate_at_load(&self, load: f64) -> f64 {
        self.mean(load, Chances::Poisson)
    }

    /// Returns the rate in a line with exactly `items` items.
    fn rate_of(&self, items: u64) -> f64 {
        let mut groups = self.0;
        groups.iter_mut().for_each(|group| group.start(items as f64));
        groups.iter().map(Group::chance).product()
    }

    /// Returns the mean, over the lines, of the probability that a query finds its bits in all groups.
    fn mean(&self, load: f64, chances: Chances) -> f64 {
        if load > FULL_LOAD {
            return 1.0;
        }
        if load == 0.0 {
            return 0.0;
        }
        let mut groups = self.0;
        // Start ten standard deviations below the mean: below, the terms add nothing.
        let mut j = libm::floor((load - 10.0 * libm::sqrt(load) - 10.0).max(0.0));
        let mut chance = chances.at(load, j);
        groups.iter_mut().for_each(|group| group.start(j));
        // Add up term by term; each follows from the one before.
        let mut sum = 0.0;
        loop {
            sum += chance * groups.iter().map(Group::chance).product::<f64>();
            chance *= chances.ratio(load, j);
            j += 1.0;
            groups.iter_mut().for_each(Group::step);
            // Above the mean the terms fall: stop when the rest is negligible.
            if j > load && chance <= sum * 1e-12 || chance <= 0.0 {
                return sum.clamp(0.0, 1.0);
            }
        }
    }
}

/// The distribution of the number of items in a line.
#[derive(Clone, Copy)]
enum Chances {
    Poisson,
    Binomial { items: f64, share: f64 },
}

impl Chances {
    /// Returns the probability of `j` items.
    fn at(self, load: f64, j: f64) -> f64 {
        match self {
            Self::Poisson => exp(j * log(load) - load - lgamma(j + 1.0)),
            Self::Binomial { items, share } => {
                exp(lgamma(items + 1.0) - lgamma(j + 1.0) - lgamma(items - j + 1.0)
                    + j * log(share)
                    + (items - j) * log1p(-share))
            }
        }
    }

    /// Returns the probability of `j + 1` items divided by that of `j`.
    fn ratio(self, load: f64, j: f64) -> f64 {
        match self {
            Self::Poisson => load / (j + 1.0),
            Self::Binomial { items, share } => (items - j) / (j + 1.0) * share / (1.0 - share),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::probe::masks::{MASKS, masks};

    /// Returns the exact rate in one word with masks from the tables: for every set of bits of every mask, it counts
    /// the masks at all rotations that miss the set.
    fn rate_by_the_tables(probes: u32, items_a_word: f64) -> f64 {
        let masks = masks(probes);
        // For each bit, by mask, the rotations at which that mask has the bit.
        let places = |bit: u32| masks.map(|mask| mask.reverse_bits().rotate_right(63 - bit));
        let rate_of = |query: u64| -> f64 {
            let bits = (0..64).filter(|bit| query >> bit & 1 == 1);
            // The sets of bits so far: their signs, and the rotations at which masks have a bit of the set.
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

    /// The tables give the rates of random masks, in words of which a third and a half is set.
    #[test]
    fn the_rate_is_that_of_the_tables() {
        for probes in 1..=MAX_PROBES_PER_WORD {
            for empty in [2.0 / 3.0, 0.5] {
                let items_a_word = -log(empty) * 64.0 / f64::from(probes);
                let groups = Groups::new(Shape { words: 1, probes }, false);
                let expected = groups.rate_at_load(8.0 * items_a_word);
                let ratio = rate_by_the_tables(probes, items_a_word) / expected;
                assert!((ratio - 1.0).abs() < 1e-3, "{probes} bits, {empty} empty: {ratio}");
            }
        }
    }
}
