//! Figures of a growing filter, from those of its slices.

use libm::{expm1, log1p};
use tamis_core::{Figures, Sampled};

use super::slice::Slice;
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

    /// Reads the whole filter once, or a sample of each slice in proportion to its size.
    pub(crate) fn figures(&self, lines: Option<u64>) -> Figures {
        let of_slice = |slice: &Slice<W>| slice.filter.geometry().lines();
        let all: u64 = self.iter().map(of_slice).sum();
        let zero = Sampled::exact(0.0);
        let (mut items, mut set, mut missed, mut usable) = (zero, zero, zero, 0.0);
        let mut newest = zero;
        for slice in self.iter() {
            let share = lines.map(|lines| {
                let share = u128::from(lines) * u128::from(of_slice(slice));
                let share = share.div_ceil(u128::from(all));
                // Two lines at least: one has no spread to estimate the error from.
                u64::try_from(share).unwrap_or(u64::MAX).max(2)
            });
            let figures = slice.filter.read_figures(share);
            let bits = slice.filter.geometry().usable_bits() as f64;
            usable += bits;
            // The samples are independent.
            items = items + figures.items;
            set = set + figures.fill.map(|fill| fill * bits);
            // An absent item is in none of the slices with the probability Π (1 − rate of the
            // slice): by logarithms, so that low rates lose no digits. A sample's error may reach
            // beyond 1.
            let log = |rate: f64| -log1p(-rate.min(1.0 - f64::EPSILON));
            missed = missed + figures.false_positive_rate.map(log);
            if core::ptr::eq(slice, self.newest()) {
                newest = figures.saturation;
            }
        }
        // The share of the capacity that is used: that of all slices, or that of the newest one if
        // it is larger. No item goes to the others any more, so as long as it is at most 1, the
        // filter keeps its rate.
        let capacity = self.capacity() as f64;
        let of_all = items.map(|items| items / capacity);
        let saturation = if newest.value > of_all.value { newest } else { of_all };
        let fill = set.map(|set| set / usable);
        Figures::new(items, fill, saturation, missed.map(|sum| -expm1(-sum)))
    }
}
