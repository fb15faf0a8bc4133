//! An axis of a chart: its range, and its ticks with their labels.

use core::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::figure::{bytes, figure, percent};

/// How values are spaced along an axis, and how they are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Whether equal factors are equal steps; else the axis has equal steps.
    log: bool,
    /// Whether ticks are at powers of two; else they are at round decimal numbers, and a linear
    /// axis begins at 0.
    twos: bool,
    label: fn(f64) -> String,
}

impl Scale {
    pub(super) const LINEAR: Self = Self { log: false, twos: false, label: short };
    pub(super) const DOUBLING: Self = Self { twos: true, ..Self::LINEAR };
    pub(super) const LOG: Self = Self { log: true, ..Self::LINEAR };
    /// Shares of one, shown as percentages.
    pub(super) const SHARE: Self = Self { label: percent, ..Self::LOG };
    /// One over a share, which is shown and falls to the right.
    pub(super) const ONE_IN: Self = Self { label: |value| percent(1.0 / value), ..Self::LOG };
    pub(super) const BYTES: Self = Self { twos: true, label: bytes, ..Self::LOG };

    /// Returns the place of a value: equal distances between places look equal.
    fn place(self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }
}

/// An axis that shows all of its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: &'static str,
    scale: Scale,
    /// From a little below the values to a little above them, and never empty.
    range: Range<f64>,
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
        let range = match scale {
            Scale { log: true, .. } => 10_f64.powf(low - room)..10_f64.powf(high + room),
            Scale { twos: true, .. } => low - room..high + room,
            _ => 0.0..high.max(1.0) * 1.05,
        };
        Self { label, scale, range }
    }

    /// Returns the first and the last place of the axis.
    fn ends(&self) -> (f64, f64) {
        (self.scale.place(self.range.start), self.scale.place(self.range.end))
    }

    /// Returns the values of the ticks.
    fn ticks(&self) -> Vec<f64> {
        let (scale, (low, high)) = (self.scale, self.ends());
        let mut values: Vec<f64> = if scale.twos {
            // At most nine ticks on a logarithmic axis.
            let two = scale.place(2.0);
            let (first, last) = ((low / two).ceil() as i32, (high / two).floor() as i32);
            let step =
                [1, 2, 4, 8].into_iter().find(|step| !scale.log || (last - first) / step < 9);
            let step = step.unwrap_or(16);
            (0..64).filter(|power| power % step == 0).map(|power| 2_f64.powi(power)).collect()
        } else if scale.log {
            // At most ten ticks over few decades, one per decade over many.
            let digits: &[f64] = match high - low {
                ..1.0 => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
                1.0..3.5 => &[1.0, 2.0, 5.0],
                _ => &[1.0],
            };
            let of = |decade| digits.iter().map(move |digit| digit * 10_f64.powi(decade));
            (low.floor() as i32..=high.ceil() as i32).flat_map(of).collect()
        } else {
            let step = round_step(high / 6.0);
            (0..).map(|tick| f64::from(tick) * step).take_while(|&value| value <= high).collect()
        };
        values.retain(|value| self.range.contains(value));
        values
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let (low, high) = self.ends();
        let share = (self.scale.place(*value) - low) / (high - low);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points would be grid lines between the ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.scale.label)(*value)
    }
}

/// Returns the next of 1, 2 and 5 times a power of ten; at least 1, as linear axes show whole
/// numbers.
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
        axis.ticks().into_iter().map(|value| axis.format_ext(&value)).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(shown(Scale::LINEAR, &[3.0, 52.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(shown(Scale::LINEAR, &[1.0, 2.0]), ["0", "1", "2"]);
        assert_eq!(shown(Scale::DOUBLING, &[1.0, 8.0]), ["1", "2", "4", "8"]);
        assert_eq!(shown(Scale::LOG, &[4.0, 120.0]), ["5", "10", "20", "50", "100"]);
        assert_eq!(shown(Scale::SHARE, &[1e-6, 1e-1])[0], "0.0001 %");
        assert_eq!(shown(Scale::ONE_IN, &[10.0, 1e6]).last().expect("a tick"), "0.0001 %");
        assert_eq!(shown(Scale::BYTES, &[13e3, 1.3e9])[..2], ["64 KiB", "1 MiB"]);
    }

    #[test]
    fn a_single_value_is_inside_the_axis() {
        for scale in [Scale::LINEAR, Scale::LOG, Scale::BYTES] {
            let at = Axis::new(("", scale), [7.0].into_iter()).map(&7.0, (0, 100));
            assert!((10..100).contains(&at), "{scale:?}: {at}");
        }
    }
}
