//! Figures read from the bits: fill, number of items, saturation and false-positive rate; each also from a sample.

use libm::pow;
use tamis_core::Sampled;
use tamis_sync::LINE_WORDS;

use crate::array::Array;
use crate::geometry::{Geometry, Layout, with_equal_hashes};
use crate::probe::line::Shape;
use crate::shared::Shared;
use crate::sizing::line::chance_in_word;

/// The words of one line.
type LineBits = [u64; LINE_WORDS];

impl<A: Array, T: ?Sized, S> Shared<A, T, S> {
    pub(crate) fn fill(&self) -> f64 {
        let ones: u64 = self.lines().map(ones).sum();
        ones as f64 / self.geometry().usable_bits() as f64
    }

    pub(crate) fn fill_sampled(&self, lines: u64) -> Sampled {
        let all = self.geometry().lines();
        // Divide by the mean of usable bits per line: the mean over all lines is then the fill, although the last line
        // of a classic filter has fewer.
        let usable = self.geometry().usable_bits() as f64 / all as f64;
        let sampled = Sampled::mean(self.sample(lines).map(|line| ones(line) as f64 / usable), all);
        // Where the last line is short, a full line has more than the mean.
        Sampled { value: sampled.value.min(1.0), ..sampled }
    }

    pub(crate) fn len_estimate(&self) -> f64 {
        self.geometry().items_at_fill(self.fill())
    }

    pub(crate) fn len_estimate_sampled(&self, lines: u64) -> Sampled {
        self.fill_sampled(lines).map(|fill| self.geometry().items_at_fill(fill))
    }

    pub(crate) fn saturation(&self) -> f64 {
        self.len_estimate() / self.capacity() as f64
    }

    pub(crate) fn saturation_sampled(&self, lines: u64) -> Sampled {
        self.len_estimate_sampled(lines).map(|items| items / self.capacity() as f64)
    }

    pub(crate) fn false_positive_rate(&self) -> f64 {
        let of_bits = match LineRate::new(self.geometry()) {
            Ok(rate) => {
                let sum: f64 = self.lines().map(|line| rate.of(line)).sum();
                sum / self.geometry().lines() as f64
            }
            Err(probes) => pow(self.fill(), probes),
        };
        with_equal_hashes(of_bits, self.len_estimate())
    }

    pub(crate) fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        let of_bits = match LineRate::new(self.geometry()) {
            Ok(rate) => {
                let rates = self.sample(lines).map(|line| rate.of(line));
                Sampled::mean(rates, self.geometry().lines())
            }
            Err(probes) => self.fill_sampled(lines).map(|fill| pow(fill, probes)),
        };
        // The error of this part is ignored: the probability of an equal hash is below 2^-30 in any real filter.
        let items = self.len_estimate_sampled(lines).value;
        of_bits.map(|rate| with_equal_hashes(rate, items))
    }

    /// Reads all lines.
    fn lines(&self) -> impl Iterator<Item = LineBits> {
        (0..self.geometry().lines()).map(|line| self.array.read(line))
    }

    /// Reads evenly spread lines: at least `lines` (all if the filter has fewer), and at most twice that number.
    fn sample(&self, lines: u64) -> impl Iterator<Item = LineBits> {
        let all = self.geometry().lines();
        let step = (all / lines.max(1)).max(1);
        (0..all)
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .map(|line| self.array.read(line))
    }
}

/// Counts the bits that are set in a line.
pub(crate) fn ones(line: LineBits) -> u64 {
    line.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The probability that a query for an absent item that falls on a given line finds all its bits set.
pub(crate) struct LineRate {
    /// The probability that a query finds its bits in a word, by the number of ones in the word: for groups in which an
    /// item has the most bits, and for groups with one bit less.
    chances: [[f64; 65]; 2],
    shape: Shape,
    locked: bool,
}

impl LineRate {
    /// Returns the tables for a filter in lines. For a classic filter, which has no rate per line, returns the number
    /// of probes.
    pub(crate) fn new(geometry: Geometry) -> Result<Self, f64> {
        let shape = match geometry.layout() {
            Layout::Classic { probes } => return Err(f64::from(probes)),
            Layout::Line { shape, .. } | Layout::Counting { shape } => shape,
        };
        let table = |probes: u32| -> [f64; 65] {
            core::array::from_fn(|ones| chance_in_word(probes, ones as u32))
        };
        let most = shape.group_probes(0);
        // If the most is one bit, no group has less.
        let chances = [table(most), table(most.max(2) - 1)];
        Ok(Self { chances, shape, locked: geometry.locked() })
    }

    /// Returns the rate of a line: the product over its groups.
    pub(crate) fn of(&self, line: LineBits) -> f64 {
        let most = self.shape.group_probes(0);
        let words = self.shape.group_words() as usize;
        let groups = line.chunks(words).zip(0..).map(|(group, number)| {
            let chances = &self.chances[(most - self.shape.group_probes(number)) as usize];
            let of_words = group.iter().zip(0..).map(|(word, index)| {
                // A query takes the lock bit as set. It was masked when the line was read.
                let lock = usize::from(self.locked && number == 0 && index == 0);
                chances[word.count_ones() as usize + lock]
            });
            // An item picks each word of the group with equal probability.
            of_words.sum::<f64>() / words as f64
        });
        groups.product()
    }
}
