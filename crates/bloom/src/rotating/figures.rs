//! Figures of the live generations, read from the bits: number of items and false-positive rate;
//! each also from a sample.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Add as _;

use libm::log1p;
use tamis_core::{Figures, Mean, Sampled};

use super::RotatingBloomFilter;
use super::array::Rotating;
use crate::figures::{LineRate, ones};
use crate::geometry::with_equal_hashes;

impl<T: ?Sized, S> RotatingBloomFilter<T, S> {
    /// Reads the places of all live generations once, or evenly spread places: at least as many as
    /// have this number of lines.
    pub(crate) fn read_figures(&self, lines: Option<u64>) -> Figures {
        let (array, geometry) = (&self.array, self.geometry);
        let (plan, places) = (array.ring.plan(), array.ring.places());
        let line_bits = (geometry.usable_bits() / geometry.lines()) as f64;
        let live: Vec<usize> = array.live().collect();
        let mut fills = vec![Mean::default(); live.len()];
        let mut rates = Mean::default();
        // The layout is always one in lines.
        let rate = LineRate::new(geometry).ok();
        for place in array.sample(lines.unwrap_or(u64::MAX)) {
            // The probability that an absent item is in no generation, by logarithms.
            let mut missed = 0.0;
            for (slot, fill) in live.iter().zip(&mut fills) {
                let line = array.ring.read(place, *slot);
                fill.add(ones(line) as f64 / line_bits);
                missed += rate.as_ref().map_or(0.0, |rate| log1p(-rate.of(line)));
            }
            rates.add(-libm::expm1(missed));
        }
        let zero = Sampled::exact(0.0);
        let fills: Vec<Sampled> = fills.into_iter().map(|fill| fill.of(places)).collect();
        let items = |fill: &Sampled| fill.map(|fill| geometry.items_at_fill(fill));
        let all = fills.iter().map(items).fold(zero, Sampled::add);
        let fill = fills.iter().copied().fold(zero, Sampled::add);
        let fill = fill.map(|sum| sum / live.len().max(1) as f64);
        // The items of the live generations, divided by those that they are sized for: of all in a
        // window by items, of the fullest in a window by time.
        let size = plan.sized_for() as f64;
        let saturation = if plan.length.is_none() {
            all.map(|items| items / (size * f64::from(plan.generations)))
        } else {
            let fullest = fills.iter().map(items).max_by(|a, b| a.value.total_cmp(&b.value));
            fullest.unwrap_or(zero).map(|items| items / size)
        };
        let rate = rates.of(places).map(|rate| with_equal_hashes(rate, all.value));
        Figures::new(all, fill, saturation, rate)
    }
}

impl Rotating {
    /// Returns the slots of the live generations.
    fn live(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let live = self.ring.state().live(self.ring.slots());
        (0..self.ring.slots()).filter(move |slot| live >> slot & 1 != 0)
    }

    /// Reads evenly spread places: at least as many as have `lines` lines (all if there are fewer).
    fn sample(&self, lines: u64) -> impl Iterator<Item = u64> + Clone + use<> {
        let (all, slots) = (self.ring.places(), self.ring.slots() as u64);
        let step = (all / lines.div_ceil(slots).max(1)).max(1);
        (0..all).step_by(usize::try_from(step).unwrap_or(usize::MAX))
    }
}
