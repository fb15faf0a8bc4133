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

    /// Estimates the number of items of each live generation.
    fn items(&self, geometry: Geometry, lines: u64) -> impl Iterator<Item = Sampled> {
        let line_bits = (geometry.usable_bits() / geometry.lines()) as f64;
        self.live().map(move |slot| {
            let fills = self
                .sample(lines)
                .map(|place| ones(self.ring.read(place, slot)) as f64 / line_bits);
            Sampled::mean(fills, self.ring.places()).map(|fill| geometry.items_at_fill(fill))
        })
    }

    /// Estimates the number of items in all live generations.
    pub(crate) fn len_estimate(&self, geometry: Geometry, lines: u64) -> Sampled {
        // The errors of the generations are independent.
        self.items(geometry, lines).fold(Sampled::exact(0.0), |sum, items| Sampled {
            value: sum.value + items.value,
            standard_error: sqrt(
                sum.standard_error * sum.standard_error
                    + items.standard_error * items.standard_error,
            ),
        })
    }

    /// Computes the items of the live generations, divided by those that they are sized for: of all in a window by items,
    /// of the fullest in a window by time.
    pub(crate) fn saturation(&self, geometry: Geometry, lines: u64) -> Sampled {
        let plan = self.ring.plan();
        let size = plan.sized_for() as f64;
        if plan.length.is_none() {
            let most = size * f64::from(plan.generations);
            return self.len_estimate(geometry, lines).map(|items| items / most);
        }
        let fullest = self.items(geometry, lines).max_by(|a, b| a.value.total_cmp(&b.value));
        fullest.unwrap_or(Sampled::exact(0.0)).map(|items| items / size)
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
