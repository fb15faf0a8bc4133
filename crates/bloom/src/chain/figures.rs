//! Figures of a growing filter, from those of its slices.

use libm::{expm1, log1p, sqrt};
use tamis_core::Sampled;

use super::slice::{Blocked, Slice};
use super::slices::Slices;
use crate::bits::Writer;

impl<W: Writer> Slices<W> {
    /// Returns the number of items that all slices hold at their rates.
    pub(crate) fn capacity(&self) -> usize {
        // The last slice of a plan has a little more room than it needs.
        let sum = self.iter().fold(0, |sum, slice| slice.filter.capacity().saturating_add(sum));
        sum.min(self.max_capacity())
    }

    /// Returns the number of items at which growth ends.
    pub(crate) fn max_capacity(&self) -> usize {
        usize::try_from(self.plan.end).unwrap_or(usize::MAX)
    }

    pub(crate) fn len_estimate(&self) -> f64 {
        self.iter().map(|slice| slice.filter.len_estimate()).sum()
    }

    pub(crate) fn len_estimate_sampled(&self, lines: u64) -> Sampled {
        self.sampled(lines, Blocked::<W>::len_estimate_sampled)
    }

    /// Returns the share of the capacity that is used: that of all slices, or that of the newest one if it is larger. No
    /// item goes to the others any more, so as long as it is at most 1, the filter keeps its rate.
    pub(crate) fn saturation(&self) -> f64 {
        let all = self.len_estimate() / self.capacity() as f64;
        self.newest().filter.saturation().max(all)
    }

    pub(crate) fn saturation_sampled(&self, lines: u64) -> Sampled {
        let capacity = self.capacity() as f64;
        let all = self.len_estimate_sampled(lines).map(|items| items / capacity);
        let newest = self.newest().filter.saturation_sampled(lines);
        if newest.value > all.value { newest } else { all }
    }

    /// Returns the probability that an absent item is found in a slice: `1 − Π (1 − rate of the slice)`, written so
    /// that low rates lose no digits.
    pub(crate) fn false_positive_rate(&self) -> f64 {
        let missed = self.iter().map(|slice| log1p(-slice.filter.false_positive_rate()));
        -expm1(missed.sum())
    }

    pub(crate) fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        let missed = |slice: &Blocked<W>, lines| {
            // A sample's error may reach beyond 1.
            let log = |rate: f64| -log1p(-rate.min(1.0 - f64::EPSILON));
            slice.false_positive_rate_sampled(lines).map(log)
        };
        self.sampled(lines, missed).map(|sum| -expm1(-sum))
    }

    /// Adds up a figure of all slices, each from a sample in proportion to its size. The samples are independent, so
    /// the squares of the errors add up.
    fn sampled(&self, lines: u64, figure: impl Fn(&Blocked<W>, u64) -> Sampled) -> Sampled {
        let of_slice = |slice: &Slice<W>| slice.filter.geometry().lines();
        let all: u64 = self.iter().map(of_slice).sum();
        let mut sum = Sampled::exact(0.0);
        for slice in self.iter() {
            let share = u128::from(lines) * u128::from(of_slice(slice));
            let share = share.div_ceil(u128::from(all));
            // Two lines at least: one has no spread to estimate the error from.
            let part = figure(&slice.filter, u64::try_from(share).unwrap_or(u64::MAX).max(2));
            sum.value += part.value;
            sum.standard_error += part.standard_error * part.standard_error;
        }
        Sampled { standard_error: sqrt(sum.standard_error), ..sum }
    }
}
