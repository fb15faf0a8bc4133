//! An axis of a chart: its range, and its ticks with the labels that people write.

use core::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::figure::percent;

/// What the values of an axis are. Equal factors are equal steps, except of bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    /// Nanoseconds.
    Time,
    /// Items, or other numbers.
    Number,
    /// One over a rate, which is shown and falls to the right.
    Rate,
    /// Bits, with equal steps from 0 on.
    Bits,
}

impl Unit {
    /// Returns the place of a value: equal distances between places look equal.
    fn place(self, value: f64) -> f64 {
        if self == Self::Bits { value } else { value.log10() }
    }

    /// Returns a value as people write it.
    fn label(self, value: f64) -> String {
        match self {
            Self::Time => scaled(value, ["ns", "µs", "ms", "s"]),
            Self::Number => scaled(value, ["", "k", "M", "G"]).trim_end().to_owned(),
            Self::Rate => percent(1.0 / value),
            Self::Bits => format!("{value}"),
        }
    }
}

/// Returns a number in the unit that suits it; each is a thousand times the one before.
fn scaled(value: f64, units: [&str; 4]) -> String {
    let unit = (value.log10() / 3.0 + 1e-9).floor().clamp(0.0, 3.0);
    // Without digits of rounding errors.
    let value = (value / 1000_f64.powf(unit) * 1e6).round() / 1e6;
    format!("{value} {}", units[unit as usize])
}

/// An axis that shows all of its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: &'static str,
    unit: Unit,
    /// The places from a little below the values to a little above them: never empty.
    places: Range<f64>,
}

impl Axis {
    pub(super) fn new(
        (label, unit): (&'static str, Unit),
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let (low, high) = values
            .map(|value| unit.place(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, at| (ends.0.min(at), ends.1.max(at)));
        let room = 0.04 * (high - low) + 0.04;
        let places = if unit == Unit::Bits { 0.0..high + room } else { low - room..high + room };
        Self { label, unit, places }
    }

    /// Returns whether the axis shows a value.
    pub(super) fn shows(&self, value: f64) -> bool {
        self.places.contains(&self.unit.place(value))
    }

    /// Returns the values of the ticks: one to five per factor of ten.
    fn ticks(&self) -> Vec<f64> {
        let Range { start: low, end: high } = self.places;
        let digits: &[f64] = match high - low {
            ..1.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            1.0..3.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let tens = (0..).map(|ten| 10.0 * f64::from(ten)).take_while(|&bits| bits <= high);
        let of = |decade| digits.iter().map(move |digit| digit * 10_f64.powi(decade));
        let mut ticks: Vec<f64> = match self.unit {
            Unit::Bits => tens.collect(),
            _ => (low.floor() as i32..=high.ceil() as i32).flat_map(of).collect(),
        };
        ticks.retain(|&tick| self.shows(tick));
        ticks
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share =
            (self.unit.place(*value) - self.places.start) / (self.places.end - self.places.start);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points would be grid lines between the ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks() }
    }

    fn range(&self) -> Range<f64> {
        let ticks = self.ticks();
        ticks.first().copied().unwrap_or(1.0)..ticks.last().copied().unwrap_or(1.0)
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.unit.label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(unit: Unit, values: &[f64]) -> Vec<String> {
        let axis = Axis::new(("", unit), values.iter().copied());
        axis.ticks().iter().map(|value| axis.format_ext(value)).collect()
    }

    #[test]
    fn ticks_are_few_and_as_people_write_them() {
        assert_eq!(shown(Unit::Time, &[4.0, 120.0]), ["5 ns", "10 ns", "20 ns", "50 ns", "100 ns"]);
        assert_eq!(shown(Unit::Time, &[90.0, 2e6]), ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]);
        assert_eq!(shown(Unit::Number, &[1e3, 1e7]), ["1 k", "10 k", "100 k", "1 M", "10 M"]);
        assert_eq!(shown(Unit::Rate, &[10.0, 1e5]), ["10 %", "1 %", "0.1 %", "0.01 %", "0.001 %"]);
        assert_eq!(shown(Unit::Bits, &[5.0, 41.0]), ["0", "10", "20", "30", "40"]);
    }
}
