//! Expectations for patterns within a line: `lines` lines, `items` items.
//!
//! # Derivation
//!
//! The number of items in a line is binomial, `B(items, 1 / lines)`. Given `j` items in the line, the
//! groups are independent. In a group of `w` words each item hits the query's word with chance `1/w` and sets a
//! mask of `g` bits there, as the query has one. With chance `s` ([`SAME`]) the two are the same entry of the table
//! at the same place. Otherwise they are taken as drawn apart: `i` given bits are missed with chance
//! `C(64 − i, g) / C(64, g)`, and each of them by a factor `1 / (1 − s)` more often, so that with both cases a bit is
//! hit with chance `g / 64`, which it is, as masks lie at all places. So `i > 0` bits of the query's mask are missed
//! with chance `m_i = (1 − s)^(1 − i) · C(64 − i, g) / C(64, g)`, and by `j` items with `a_i^j`,
//! `a_i = 1 − (1 − m_i) / w`.
//!
//! By inclusion and exclusion the query finds its mask full with chance `Σ c_i · a_i^j`, `c_i = (−1)^i · C(g, i)`.
//! In the word with the lock bit, which counts as set, only sets of bits that are not the lock are summed:
//! `c_i · (64 − i) / 64`.
//!
//! Approximations: Poisson for binomial in filters of millions of items; and different masks as drawn apart. Going
//! through the tables gives the same to a thousandth in words that are full to a third or a half, as the sizing
//! makes them, and to 0.4 % where a tenth of the bits are set.

use libm::{exp, lgamma, log, log1p, pow};

use crate::probe::line::Shape;
use crate::probe::masks::{MAX_PROBES_PER_WORD, SAME};

const TERMS: usize = MAX_PROBES_PER_WORD as usize + 1;

/// Beyond this many items a line even one probe an item leaves fewer than 2^-53 of the bits empty.
const FULL_LOAD: f64 = 20_000.0;

/// Up to this many items their number in a line is taken as binomial, above as Poisson; there the rates
/// differ by about 1 in 10^5.
const MAX_BINOMIAL: u64 = 1 << 22;

/// The chance that a query finds its word of a group full: `Σ c_i · a_i^j` after `j` items.
#[derive(Clone, Copy)]
struct Group {
    c: [f64; TERMS],
    a: [f64; TERMS],
    /// The powers `a_i^j` for the current `j`.
    power: [f64; TERMS],
    /// How many groups are like this one.
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

    fn start(&mut self, j: f64) {
        self.power = self.a.map(|a| pow(a, j));
    }

    fn step(&mut self) {
        for (power, a) in self.power.iter_mut().zip(self.a) {
            *power *= a;
        }
    }

    fn chance(&self) -> f64 {
        let sum: f64 = self.c.iter().zip(self.power).map(|(c, power)| c * power).sum();
        // Multiplied out: a power by its logarithm would take most of the time that it takes to size a filter.
        (0..self.count).fold(1.0, |product, _| product * sum.clamp(0.0, 1.0))
    }
}

/// `m_i`, the chance that a mask misses `i` bits of another.
fn missed(probes: u32, i: u32) -> f64 {
    let factor = |d| f64::from(64 - i - d) / f64::from(64 - d);
    let others: f64 = (0..probes).map(factor).product();
    others * pow(1.0 - SAME, -f64::from(i.saturating_sub(1)))
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// The chance that a query finds its mask in a word with so many ones.
///
/// They are of about `t` items, `1 − ones / 64 = (1 − probes / 64)^t`, of which one has the query's own mask with
/// chance `1 − (1 − s)^t`. Otherwise each of its bits is missing by a factor `1 / (1 − s)^t` more often, as above.
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

/// The expected share of ones among the bits that items can set.
pub(crate) fn fill(lines: u64, shape: Shape, items: f64) -> f64 {
    let share = f64::from(shape.words) / (8.0 * lines as f64);
    let groups = 0..shape.words;
    let of_group = |group| {
        let hit = f64::from(shape.group_probes(group)) / 64.0;
        -libm::expm1(items * log1p(-share * hit))
    };
    groups.map(of_group).sum::<f64>() / f64::from(shape.words)
}

/// The expected false-positive rate after `items` items.
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

/// The groups of a shape, like ones together: the first (which may hold the lock bit), those with
/// one probe more, those with one less.
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

    /// The expected false-positive rate at `load` items a line in an endless filter.
    pub(crate) fn rate_at_load(&self, load: f64) -> f64 {
        self.mean(load, Chances::Poisson)
    }

    /// The rate in a line with so many items.
    fn rate_of(&self, items: u64) -> f64 {
        let mut groups = self.0;
        groups.iter_mut().for_each(|group| group.start(items as f64));
        groups.iter().map(Group::chance).product()
    }

    /// The mean over the lines of the chance that all groups are found full.
    fn mean(&self, load: f64, chances: Chances) -> f64 {
        if load > FULL_LOAD {
            return 1.0;
        }
        if load == 0.0 {
            return 0.0;
        }
        let mut groups = self.0;
        // Ten standard deviations below the mean there is nothing left to add.
        let mut j = libm::floor((load - 10.0 * libm::sqrt(load) - 10.0).max(0.0));
        let mut chance = chances.at(load, j);
        groups.iter_mut().for_each(|group| group.start(j));
        let mut sum = 0.0;
        loop {
            sum += chance * groups.iter().map(Group::chance).product::<f64>();
            chance *= chances.ratio(load, j);
            j += 1.0;
            groups.iter_mut().for_each(Group::step);
            // What is left is below the chance of a line with `j` items, over a falling series.
            if j > load && chance <= sum * 1e-12 || chance <= 0.0 {
                return sum.clamp(0.0, 1.0);
            }
        }
    }
}

/// How many items a line receives.
#[derive(Clone, Copy)]
enum Chances {
    Poisson,
    Binomial { items: f64, share: f64 },
}

impl Chances {
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

    /// The chance of `j + 1` over that of `j`.
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

    /// The rate in one word, each item with a mask of the tables: for every set of bits of every mask, the masks at
    /// all places that miss it are counted.
    fn rate_by_the_tables(probes: u32, items_a_word: f64) -> f64 {
        let masks = masks(probes);
        // For each bit, by mask, the places at which that mask has the bit.
        let places = |bit: u32| masks.map(|mask| mask.reverse_bits().rotate_right(63 - bit));
        let rate_of = |query: u64| -> f64 {
            let bits = (0..64).filter(|bit| query >> bit & 1 == 1);
            // The sets of bits so far: their signs, and the places at which masks have a bit of them.
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

    /// The tables are like masks drawn at random, in words that are full to a third and to a half.
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
