//! Figures of the live generations, read from the bits: number of items and false-positive rate; each also from a sample.

use libm::{log1p, sqrt};
use tamis_core::Sampled;

use super::array::Rotating;
use crate::figures::{LineRate, ones};
use crate::geometry::{Geometry, with_equal_hashes};

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

    /// Estimates the number of items, generation by generation.
    pub(crate) fn len_estimate(&self, geometry: Geometry, lines: u64) -> Sampled {
        let line_bits = (geometry.usable_bits() / geometry.lines()) as f64;
        let of_slot = |slot| {
            let fills = self
                .sample(lines)
                .map(|place| ones(self.ring.read(place, slot)) as f64 / line_bits);
            Sampled::mean(fills, self.ring.places()).map(|fill| geometry.items_at_fill(fill))
        };
        // The errors of the generations are independent.
        self.live().map(of_slot).fold(Sampled::exact(0.0), |sum, items| Sampled {
            value: sum.value + items.value,
            standard_error: sqrt(
                sum.standard_error * sum.standard_error
                    + items.standard_error * items.standard_error,
            ),
        })
    }

    /// Computes the probability that a query for an absent item finds its bits in at least one live generation.
    pub(crate) fn false_positive_rate(&self, geometry: Geometry, lines: u64) -> Sampled {
        // The layout is always one in lines.
        let Ok(rate) = LineRate::new(geometry) else { return Sampled::exact(1.0) };
        let live = self.live();
        let of_place = |place| {
            let logs = live.clone().map(|slot| log1p(-rate.of(self.ring.read(place, slot))));
            -libm::expm1(logs.sum())
        };
        let of_bits = Sampled::mean(self.sample(lines).map(of_place), self.ring.places());
        let items = self.len_estimate(geometry, lines).value;
        of_bits.map(|rate| with_equal_hashes(rate, items))
    }
}
