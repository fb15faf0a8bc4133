//! Figures read from the bits: fill, number of items, saturation and false-positive rate; each also
//! from a sample.

use libm::pow;
use tamis_core::{Figures, Mean, Sampled};
use tamis_sync::LINE_WORDS;

use crate::array::Array;
use crate::geometry::{Geometry, Kind, with_equal_hashes};
use crate::probe::line::Shape;
use crate::shared::Shared;
use crate::sizing::line::chance_in_word;

/// The words of one line.
type LineBits = [u64; LINE_WORDS];

impl<A: Array, T: ?Sized, S> Shared<A, T, S> {
    /// Reads the whole array once, or evenly spread lines: at least this number, or all.
    pub(crate) fn read_figures(&self, lines: Option<u64>) -> Figures {
        lines.map_or_else(|| self.figures(), |lines| self.figures_sampled(lines))
    }

    /// Reads the whole array once.
    fn figures(&self) -> Figures {
        let rate = LineRate::new(self.geometry());
        let (mut set, mut rates) = (0_u64, 0.0);
        for line in self.lines() {
            set += ones(line);
            rates += rate.as_ref().map_or(0.0, |rate| rate.of(line));
        }
        let fill = set as f64 / self.geometry().usable_bits() as f64;
        let rates = rates / self.geometry().lines() as f64;
        self.figures_from(rate.err(), Sampled::exact(fill), Sampled::exact(rates))
    }

    /// Reads evenly spread lines: at least `lines`, or all.
    fn figures_sampled(&self, lines: u64) -> Figures {
        let (all, rate) = (self.geometry().lines(), LineRate::new(self.geometry()));
        // Divide by the mean of usable bits per line: the mean over all lines is then the fill,
        // although the last line of a classic filter has fewer.
        let usable = self.geometry().usable_bits() as f64 / all as f64;
        let (mut fills, mut rates) = (Mean::default(), Mean::default());
        for line in self.sample(lines) {
            fills.add(ones(line) as f64 / usable);
            rates.add(rate.as_ref().map_or(0.0, |rate| rate.of(line)));
        }
        let fill = fills.of(all);
        // Where the last line is short, a full line has more than the mean.
        let fill = Sampled { value: fill.value.min(1.0), ..fill };
        self.figures_from(rate.err(), fill, rates.of(all))
    }

    /// Computes the figures from the fill, and from the mean of the lines' rates. `probes`: those
    /// of a classic filter, whose rate follows from the fill.
    fn figures_from(&self, probes: Option<f64>, fill: Sampled, rates: Sampled) -> Figures {
        let items = fill.map(|fill| self.geometry().items_at_fill(fill));
        let saturation = items.map(|items| items / self.capacity() as f64);
        let of_bits = probes.map_or(rates, |probes| fill.map(|fill| pow(fill, probes)));
        // The error of the second part is ignored: the probability of an equal hash is below 2^-30
        // in any real filter.
        let rate = of_bits.map(|rate| with_equal_hashes(rate, items.value));
        Figures::new(items, fill, saturation, rate)
    }

    /// Returns the number of items divided by the capacity. Above 1 the filter is overfilled.
    pub(crate) fn saturation(&self) -> f64 {
        let set: u64 = self.lines().map(ones).sum();
        let fill = set as f64 / self.geometry().usable_bits() as f64;
        self.geometry().items_at_fill(fill) / self.capacity() as f64
    }

    /// Reads all lines.
    fn lines(&self) -> impl Iterator<Item = LineBits> {
        (0..self.geometry().lines()).map(|line| self.array.read(line))
    }

    /// Reads evenly spread lines: at least `lines` (all if the filter has fewer), and at most twice
    /// that number.
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

/// The probability that a query for an absent item that falls on a given line finds all its bits
/// set.
pub(crate) struct LineRate {
    /// The probability that a query finds its bits in a word, by the number of ones in the word:
    /// for groups in which an item has the most bits, and for groups with one bit less.
    chances: [[f64; 65]; 2],
    shape: Shape,
    locked: bool,
}

impl LineRate {
    /// Returns the tables for a filter in lines. For a classic filter, which has no rate per line,
    /// returns the number of probes.
    pub(crate) fn new(geometry: Geometry) -> Result<Self, f64> {
        if geometry.kind() == Kind::Classic {
            return Err(f64::from(geometry.probes()));
        }
        let shape = geometry.shape();
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
