//! An axis of a chart: its range, and its ticks with their labels.

use core::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::figure::{figure, percent};

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

/// An axis that shows all of its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: &'static str,
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    pub(super) fn new(
        label: &'static str,
        scale: Scale,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Self { label, scale, low, high }
    }

    /// Returns the place of a value: equal distances between places look equal.
    fn place(&self, value: f64) -> f64 {
        if self.is_linear() { value } else { value.log10() }
    }

    /// Returns the value at a place.
    fn value(&self, place: f64) -> f64 {
        if self.is_linear() { place } else { 10_f64.powf(place) }
    }

    fn is_linear(&self) -> bool {
        matches!(self.scale, Scale::Linear | Scale::Doubling)
    }

    /// Returns the first and the last place of the axis, a little beyond the values, and never equal.
    fn places(&self) -> (f64, f64) {
        let (low, high) = (self.place(self.low), self.place(self.high));
        let room = 0.04 * (high - low) + 0.04;
        match self.scale {
            Scale::Linear => (0.0, high.max(1.0) * 1.05),
            _ => (low - room, high + room),
        }
    }

    /// Returns the places of the ticks.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.places();
        match self.scale {
            Scale::Linear => {
                let step = round_step(high / 6.0);
                (0..).map(|tick| f64::from(tick) * step).take_while(|&at| at <= high).collect()
            }
            Scale::Doubling => {
                let powers = (0..).map(|power| 2_f64.powi(power));
                powers.take_while(|&at| at <= high).filter(|&at| at >= low).collect()
            }
            Scale::Log | Scale::Share | Scale::OneIn => {
                // At most ten ticks over few decades, one per decade over many.
                let digits: &[f64] = match high - low {
                    ..1.0 => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
                    1.0..3.5 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let decades = low.floor() as i32..=high.ceil() as i32;
                decades
                    .flat_map(|decade| digits.iter().map(move |d| f64::from(decade) + d.log10()))
                    .filter(|at| (low..=high).contains(at))
                    .collect()
            }
            Scale::Bytes => {
                let two = 2_f64.log10();
                let (first, last) = ((low / two).ceil() as i32, (high / two).floor() as i32);
                let step = [1, 2, 4, 8].into_iter().find(|step| (last - first) / step < 9);
                let step = step.unwrap_or(16);
                (first..=last).filter(|n| n % step == 0).map(|n| f64::from(n) * two).collect()
            }
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let (low, high) = self.places();
        let share = (self.place(*value) - low) / (high - low);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points would be grid lines between the ticks.
        let ticks = if hint.weight().allow_light_points() { Vec::new() } else { self.ticks() };
        ticks.into_iter().map(|place| self.value(place)).collect()
    }

    fn range(&self) -> Range<f64> {
        let (low, high) = self.places();
        self.value(low)..self.value(high)
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        match self.scale {
            Scale::Linear | Scale::Doubling | Scale::Log => short(*value),
            Scale::Share => percent(*value),
            Scale::OneIn => percent(1.0 / value),
            Scale::Bytes => bytes(*value),
        }
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

/// Returns whole KiB, MiB and so on; ticks are powers of two.
pub(super) fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (value.log2() / 10.0 + 1e-9).floor().clamp(0.0, 4.0);
    format!("{:.0} {}", value / 1024_f64.powf(unit), units[unit as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::new("", scale, values.iter().copied());
        axis.ticks().into_iter().map(|at| axis.format_ext(&axis.value(at))).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(shown(Scale::Linear, &[3.0, 52.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(shown(Scale::Linear, &[1.0, 2.0]), ["0", "1", "2"]);
        assert_eq!(shown(Scale::Doubling, &[1.0, 8.0]), ["1", "2", "4", "8"]);
        assert_eq!(shown(Scale::Log, &[4.0, 120.0]), ["5", "10", "20", "50", "100"]);
        assert_eq!(
            shown(Scale::Share, &[1e-6, 1e-1]).first().map(String::as_str),
            Some("0.0001 %")
        );
        assert_eq!(shown(Scale::OneIn, &[10.0, 1e6]).last().map(String::as_str), Some("0.0001 %"));
        assert_eq!(shown(Scale::Bytes, &[13e3, 1.3e9])[..2], ["64 KiB", "1 MiB"]);
    }

    #[test]
    fn a_single_value_has_a_range() {
        for scale in [Scale::Linear, Scale::Log, Scale::Bytes] {
            let range = Axis::new("", scale, [7.0].into_iter()).range();
            assert!(!range.is_empty(), "{scale:?}");
        }
    }
}
