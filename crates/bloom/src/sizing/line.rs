//! Exact expectations for patterns within a line: `lines` lines, `items` items.
//!
//! # Derivation
//!
//! The number of items in a line is binomial, `B(items, 1 / lines)`. Given `j` items in the line, the
//! groups are independent. In a group of `w` words each item hits the query's word with chance `1/w`
//! and throws `g` bits into it, so after `t` hits a given set of `i` bits is empty with chance
//! `(1 − i/64)^(g·t)`, and, `t` being binomial, with `a_i^j`, `a_i = 1 − (1 − (1 − i/64)^g) / w`.
//!
//! The query throws `g` bits too. With `U` empty bits among the 64 it finds all ones with chance
//! `E[(1 − U/64)^g]`. Expanding the power, and powers in falling factorials by Stirling numbers,
//! `E[U (U−1) … (U−i+1)] = u (u−1) … (u−i+1) · a_i^j` with `u` usable bits (64, or 63 in the word
//! with the lock bit, which counts as set), gives the chance as `Σ c_i · a_i^j`. The one approximation is
//! Poisson for binomial in filters of millions of items.

use libm::{exp, lgamma, log, log1p, pow};

use crate::probe::line::{MOST_PROBES_A_WORD, Shape};

const TERMS: usize = MOST_PROBES_A_WORD as usize + 1;

/// Beyond this many items a line even one probe an item leaves fewer than 2^-53 of the bits empty.
const FULL_LOAD: f64 = 20_000.0;

/// Up to this many items their number in a line is taken as binomial, above as Poisson; there the rates
/// differ by about 1 in 10^5.
const MOST_BINOMIAL: u64 = 1 << 22;

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
            let free = coefficient(probes, i, 64);
            // The lock bit lies in one word of the group.
            let locked = if locked { coefficient(probes, i, 63) } else { free };
            let index = i as usize;
            group.c[index] = share * locked + (1.0 - share) * free;
            let empty = pow(1.0 - f64::from(i) / 64.0, f64::from(probes));
            group.a[index] = 1.0 - share * (1.0 - empty);
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

/// `c_i` for a word with `usable` bits that can be empty.
fn coefficient(probes: u32, i: u32, usable: u32) -> f64 {
    let falling: f64 = (0..i).map(|d| f64::from(usable - d)).product();
    let sum: f64 = (i..=probes)
        .map(|m| {
            let sign = if m % 2 == 0 { 1.0 } else { -1.0 };
            sign * choose(probes, m) * stirling(m, i) / pow(64.0, f64::from(m))
        })
        .sum();
    falling * sum
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// The ways to part `m` things into `i` sets that are not empty (Stirling numbers of the second kind).
fn stirling(m: u32, i: u32) -> f64 {
    let mut row = [0.0; TERMS];
    row[0] = 1.0;
    for _ in 0..m {
        for set in (1..TERMS).rev() {
            row[set] = set as f64 * row[set] + row[set - 1];
        }
        row[0] = 0.0;
    }
    row[i as usize]
}

/// The expected share of ones among the bits that items can set.
pub(crate) fn fill(lines: u64, shape: Shape, items: f64) -> f64 {
    let share = f64::from(shape.words) / (8.0 * lines as f64);
    let groups = 0..shape.words;
    let of_group = |group| {
        let hit = 1.0 - pow(63.0 / 64.0, f64::from(shape.group_probes(group)));
        -libm::expm1(items * log1p(-share * hit))
    };
    groups.map(of_group).sum::<f64>() / f64::from(shape.words)
}

/// The expected false-positive rate after `items` items, exactly.
pub(crate) fn rate(lines: u64, shape: Shape, locked: bool, items: u64) -> f64 {
    let load = items as f64 / lines as f64;
    let groups = Groups::new(shape, locked);
    if lines == 1 {
        return if load > FULL_LOAD { 1.0 } else { groups.rate_of(items) };
    }
    if items <= MOST_BINOMIAL {
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
