//! Formats numbers.

/// Returns three digits, or all before the point, in groups of three.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => count(value.round() as u64),
    }
}

/// Returns a whole number in groups of three digits.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Returns a share of one as a percentage, no longer than needed.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e10).round() / 1e8)
}

/// Returns a rate with the digits that a measurement has.
pub(crate) fn rate(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        0.001.. => format!("{:.2} %", value * 100.0),
        _ => format!("{value:.1e}"),
    }
}

/// Returns KiB, MiB and so on, with a digit after the point unless it is 0.
pub(crate) fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (value.log2() / 10.0 + 1e-9).floor().clamp(0.0, 4.0);
    let tenths = (value / 1024_f64.powf(unit) * 10.0).round();
    format!("{} {}", tenths / 10.0, units[unit as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [4.8, 9.996, 17.14, 99.96, 713.4, 12_345.6].map(figure);
        assert_eq!(shown, ["4.80", "10.0", "17.1", "100", "713", "12,346"]);
        assert_eq!([0, 999, 1000, 10_000_000].map(count), ["0", "999", "1,000", "10,000,000"]);
    }

    #[test]
    fn rates_and_sizes_are_short() {
        assert_eq!([0.1, 0.01, 1e-6].map(percent), ["10 %", "1 %", "0.0001 %"]);
        assert_eq!([49_152.0, 2_097_152.0, 25.3e9].map(bytes), ["48 KiB", "2 MiB", "23.6 GiB"]);
        assert_eq!([0.00957, 1.23e-4, 0.0].map(rate), ["0.96 %", "1.2e-4", "0"]);
    }
}
