//! An axis of a chart: its range, and its ticks with their labels.

use super::figure::{bytes, figure, percent};

/// How values are spaced along an axis, and what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// From 0, in equal steps.
    Linear,
    /// In equal steps, with ticks at powers of two.
    Doubling,
    /// Equal factors are equal steps.
    Log,
    /// As `Log`; shares of one, shown as percentages.
    Share,
    /// As `Log`; values are one over a share, which is shown and falls to the right.
    OneIn,
    /// As `Log`; bytes, with ticks at powers of two.
    Bytes,
}

impl Scale {
    fn is_linear(self) -> bool {
        matches!(self, Self::Linear | Self::Doubling)
    }

    /// Returns the place of a value: equal distances between places look equal.
    fn place(self, value: f64) -> f64 {
        if self.is_linear() { value } else { value.log10() }
    }

    /// Returns the label of the value at a place.
    fn label(self, place: f64) -> String {
        let value = if self.is_linear() { place } else { 10_f64.powf(place) };
        match self {
            Self::Linear | Self::Doubling | Self::Log => short(value),
            Self::Share => percent(value),
            Self::OneIn => percent(1.0 / value),
            Self::Bytes => bytes(value),
        }
    }
}

/// An axis that shows all of its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: &'static str,
    scale: Scale,
    /// The places of its ends, a little beyond the values, and never equal.
    low: f64,
    high: f64,
}

impl Axis {
    pub(super) fn new(
        (label, scale): (&'static str, Scale),
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let (low, high) = values
            .map(|value| scale.place(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, at| (ends.0.min(at), ends.1.max(at)));
        let room = 0.04 * (high - low) + 0.04;
        let (low, high) = match scale {
            Scale::Linear => (0.0, high.max(1.0) * 1.05),
            _ => (low - room, high + room),
        };
        Self { label, scale, low, high }
    }

    /// Returns how far along the axis a value is: from 0 to 1, if the axis shows it.
    pub(super) fn share(&self, value: f64) -> f64 {
        (self.scale.place(value) - self.low) / (self.high - self.low)
    }

    /// Returns how far along the axis the ticks are, and their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let Self { scale, low, high, .. } = *self;
        let places: Vec<f64> = match scale {
            Scale::Linear => {
                let step = round_step(high / 6.0);
                (0..).map(|tick| f64::from(tick) * step).take_while(|&at| at <= high).collect()
            }
            Scale::Doubling => {
                (0..).map(|power| 2_f64.powi(power)).take_while(|&at| at <= high).collect()
            }
            Scale::Log | Scale::Share | Scale::OneIn => {
                // At most ten ticks over few decades, one per decade over many.
                let digits: &[f64] = match high - low {
                    ..1.0 => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
                    1.0..3.5 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let decades = low.floor() as i32..=high.ceil() as i32;
                let of = |decade| digits.iter().map(move |d| f64::from(decade) + d.log10());
                decades.flat_map(of).collect()
            }
            Scale::Bytes => {
                let two = 2_f64.log10();
                let (first, last) = ((low / two).ceil() as i32, (high / two).floor() as i32);
                let step = [1, 2, 4, 8].into_iter().find(|step| (last - first) / step < 9);
                let step = step.unwrap_or(16);
                (first..=last).filter(|n| n % step == 0).map(|n| f64::from(n) * two).collect()
            }
        };
        let shown = places.into_iter().filter(|at| (low..=high).contains(at));
        shown.map(|at| ((at - low) / (high - low), scale.label(at))).collect()
    }
}

/// Returns the next of 1, 2 and 5 times a power of ten; at least 1, as linear axes show whole numbers.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= step * 0.999);
    (digit.unwrap_or(10.0) * power).max(1.0)
}

/// Returns a number without trailing digits of rounding errors.
fn short(value: f64) -> String {
    if value >= 1000.0 { figure(value) } else { format!("{}", (value * 1e6).round() / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new(("", scale), values.iter().copied());
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(shown(Scale::Linear, &[3.0, 52.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(shown(Scale::Linear, &[1.0, 2.0]), ["0", "1", "2"]);
        assert_eq!(shown(Scale::Doubling, &[1.0, 8.0]), ["1", "2", "4", "8"]);
        assert_eq!(shown(Scale::Log, &[4.0, 120.0]), ["5", "10", "20", "50", "100"]);
        assert_eq!(shown(Scale::Share, &[1e-6, 1e-1])[0], "0.0001 %");
        assert_eq!(shown(Scale::OneIn, &[10.0, 1e6]).last().expect("a tick"), "0.0001 %");
        assert_eq!(shown(Scale::Bytes, &[13e3, 1.3e9])[..2], ["64 KiB", "1 MiB"]);
    }

    #[test]
    fn a_single_value_is_inside_the_axis() {
        for scale in [Scale::Linear, Scale::Log, Scale::Bytes] {
            let share = Axis::new(("", scale), [7.0].into_iter()).share(7.0);
            assert!((0.1..1.0).contains(&share), "{scale:?}: {share}");
        }
    }
}
