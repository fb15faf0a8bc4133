//! Numbers for people: parses `10M`, `1e6`, `10_000_000`, `2GiB`, `1%`, and prints `1,234,567` and
//! `23.4 MiB`.

use core::fmt;
use core::num::ParseIntError;

use indicatif::HumanCount;

/// Why a text is not a number of the expected form. Its `Display` says what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is not a number.
    Number,
    /// Its digits are separated in the wrong places: `1__0`, `1,00`.
    Separators,
    /// Its suffix is unknown.
    Suffix(String),
    /// It is not a whole number.
    Fraction,
    /// It is 2^64 or more.
    Overflow,
    /// It is 0, but at least 1 is needed.
    Zero,
    /// It is a rate that is not above 0 and below 1.
    Rate,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FORMS: &str = "such as 1000, 10_000_000, 1e6, 10M or 2Mi";
        match self {
            Self::Number => write!(f, "not a number; expected one {FORMS}"),
            Self::Separators => write!(
                f,
                "separators in the wrong places; expected 1_000_000, or 1,000,000 in groups of three"
            ),
            Self::Suffix(suffix) => write!(
                f,
                "unknown suffix '{suffix}'; expected K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (of 1024)"
            ),
            Self::Fraction => write!(f, "not a whole number; expected one {FORMS}"),
            Self::Overflow => write!(f, "too large; expected a number below 2^64"),
            Self::Zero => write!(f, "expected at least 1"),
            Self::Rate => {
                write!(f, "expected a rate above 0 and below 1, such as 1e-6, 0.001 or 1%")
            }
        }
    }
}

impl core::error::Error for Wrong {}

/// Parses a number of items, at least 1 (`10M`, `5.5M`, `2Ki`, `1e6`, `10_000_000`).
pub(crate) fn count(text: &str) -> Result<u64, Wrong> {
    number(text).and_then(|number| if number == 0 { Err(Wrong::Zero) } else { Ok(number) })
}

/// Parses a number of bytes: like [`count`], with an optional `B` (`64K`, `2GiB`).
pub(crate) fn size(text: &str) -> Result<u64, Wrong> {
    count(text.strip_suffix(['B', 'b']).unwrap_or(text))
}

/// Parses a false-positive rate: a number between 0 and 1, or a percentage (`1e-6`, `0.1%`).
pub(crate) fn rate(text: &str) -> Result<f64, Wrong> {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    // `is_normal` is false for zero, subnormal, infinite and NaN.
    match digits.parse::<f64>().map(|number| number / unit) {
        Ok(rate) if rate.is_normal() && rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err(Wrong::Rate),
    }
}

/// Parses a whole number, exactly: digits, which may have separators, an optional fraction, and an
/// optional exponent or suffix.
pub(crate) fn number(text: &str) -> Result<u64, Wrong> {
    // Split into whole part, fraction and suffix.
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_' | ','));
    let (digits, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if !whole.starts_with(|c: char| c.is_ascii_digit())
        || fraction.is_empty()
        || fraction.contains('.')
    {
        return Err(Wrong::Number);
    }
    let whole = joined(whole)?.parse::<u128>().map_err(|_: ParseIntError| Wrong::Overflow)?;
    let fraction = joined(fraction)?;
    let fraction = fraction.trim_end_matches('0');
    // A unit has at most 20 digits, so a longer fraction cannot give a whole number.
    if fraction.len() > 20 {
        return Err(Wrong::Fraction);
    }
    let unit = unit(suffix)?;
    // The fraction is `fraction / parts`; times the unit it must be a whole number.
    let parts = 10_u128.pow(fraction.len() as u32);
    // A fraction of zeros has no digit left.
    let fraction: u128 =
        if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| Wrong::Number)? };
    let fraction = fraction.checked_mul(unit).ok_or(Wrong::Overflow)?;
    if !fraction.is_multiple_of(parts) {
        return Err(Wrong::Fraction);
    }
    let sum = whole.checked_mul(unit).and_then(|whole| whole.checked_add(fraction / parts));
    sum.and_then(|sum| u64::try_from(sum).ok()).ok_or(Wrong::Overflow)
}

/// The factor that `suffix` stands for: an exponent, or a unit in upper or lower case.
fn unit(suffix: &str) -> Result<u128, Wrong> {
    let lower = suffix.to_ascii_lowercase();
    if let Some(exponent) = lower.strip_prefix('e') {
        let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
        if exponent.starts_with('-') && exponent[1..].parse::<u8>().is_ok() {
            return Err(Wrong::Fraction);
        }
        if exponent.is_empty() || !exponent.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(Wrong::Suffix(suffix.to_owned()));
        }
        let exponent = exponent.parse::<u32>().ok().filter(|&exponent| exponent < 20);
        return exponent.map(|exponent| 10_u128.pow(exponent)).ok_or(Wrong::Overflow);
    }
    Ok(match lower.as_str() {
        "" => 1,
        "k" => 1000,
        "m" => 1000_u128.pow(2),
        "g" => 1000_u128.pow(3),
        "t" => 1000_u128.pow(4),
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        "ti" => 1 << 40,
        _ => return Err(Wrong::Suffix(suffix.to_owned())),
    })
}

/// Removes the separators from digits: single underscores anywhere between them, or commas in
/// groups of three.
fn joined(digits: &str) -> Result<String, Wrong> {
    let separator = if digits.contains(',') { ',' } else { '_' };
    let groups: Vec<&str> = digits.split(separator).collect();
    let fine = |(place, group): (usize, &&str)| match separator {
        _ if !group.bytes().all(|digit| digit.is_ascii_digit()) => false,
        ',' if place == 0 => (1..=3).contains(&group.len()),
        ',' => group.len() == 3,
        _ => !group.is_empty(),
    };
    if groups.iter().enumerate().all(fine) { Ok(groups.concat()) } else { Err(Wrong::Separators) }
}

/// Prints a number and its noun, in the plural unless the number is 1: `1 line`, `1,234 lines`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// Prints a number of items, or an estimate: `about 1,234 items`. It is infinite if all bits of a
/// filter are set.
pub(crate) fn items(number: f64, is_exact: bool) -> String {
    if number.is_infinite() {
        return "any number of items (all bits are set)".to_owned();
    }
    let about = if is_exact { "" } else { "about " };
    format!("{about}{}", counted(number.round() as u64, "item"))
}

/// Prints `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Prints a rate to two digits, rounded up: a filter that keeps the rate keeps the printed rate
/// too.
pub(crate) fn rate_up(rate: f64) -> String {
    let mut higher = rate;
    loop {
        let text = format!("{higher:.1e}");
        if !text.parse().is_ok_and(|nearest: f64| nearest < rate) {
            return text;
        }
        // Numbers of two digits are at least 1 % apart, so none is skipped.
        higher *= 1.005;
    }
}

/// Prints a rate to two digits, rounded down: a filter that keeps the printed rate keeps the rate
/// too.
pub(crate) fn rate_down(rate: f64) -> String {
    let mut lower = rate;
    loop {
        let text = format!("{lower:.1e}");
        if !text.parse().is_ok_and(|nearest: f64| nearest > rate) {
            return text;
        }
        // As above.
        lower *= 0.995;
    }
}

/// Prints a size: `512 B`, `23.4 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let places = usize::from(value.fract() != 0.0);
    format!("{value:.places$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact() {
        for (text, number) in [
            ("1", 1),
            ("10M", 10_000_000),
            ("10m", 10_000_000),
            ("5.5M", 5_500_000),
            ("5.50M", 5_500_000),
            ("2Ki", 2048),
            ("1.5Ki", 1536),
            ("18446744073709551615", u64::MAX),
            ("18,446,744,073,709,551,615", u64::MAX),
            ("1.8446744073709551615e19", u64::MAX),
            ("0.001K", 1),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("1.5e6", 1_500_000),
            ("1.0", 1),
            ("10_000_000", 10_000_000),
            ("1_00_0", 1000),
            ("10,000,000", 10_000_000),
            ("1,000.5K", 1_000_500),
            ("007", 7),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        let suffix = |suffix: &str| Wrong::Suffix(suffix.into());
        for (text, wrong) in [
            ("", Wrong::Number),
            ("0", Wrong::Zero),
            ("0K", Wrong::Zero),
            ("0e5", Wrong::Zero),
            ("-1", Wrong::Number),
            ("+1", Wrong::Number),
            (".", Wrong::Number),
            ("1.", Wrong::Number),
            (".5", Wrong::Number),
            ("1.0.0", Wrong::Number),
            ("M", Wrong::Number),
            ("_1", Wrong::Number),
            ("many", Wrong::Number),
            ("\u{663}", Wrong::Number),
            ("1_", Wrong::Separators),
            ("1__0", Wrong::Separators),
            ("1,5", Wrong::Separators),
            ("1,00", Wrong::Separators),
            ("1000,000", Wrong::Separators),
            ("1,000_000", Wrong::Separators),
            ("1.5", Wrong::Fraction),
            ("1.2345K", Wrong::Fraction),
            ("1.55e1", Wrong::Fraction),
            ("1e-6", Wrong::Fraction),
            ("0.0000000000000000000001T", Wrong::Fraction),
            ("10MB", suffix("MB")),
            ("1 M", suffix(" M")),
            ("1e", suffix("e")),
            ("1e6M", suffix("e6M")),
            ("1ee6", suffix("ee6")),
            ("1x", suffix("x")),
            ("18446744073709551616", Wrong::Overflow),
            ("1e20", Wrong::Overflow),
            ("1e99999999999999", Wrong::Overflow),
            ("99999999999999999999T", Wrong::Overflow),
            ("340282366920938463463374607431768211456", Wrong::Overflow),
            ("340282366920938463463374607431768211455T", Wrong::Overflow),
        ] {
            assert_eq!(count(text), Err(wrong), "{text}");
        }
    }

    #[test]
    fn sizes_may_end_in_b() {
        for (text, number) in [
            ("1", 1),
            ("1B", 1),
            ("1GiB", 1 << 30),
            ("2gib", 2 << 30),
            ("2MB", 2_000_000),
            ("0.5Ki", 512),
            ("1e3", 1000),
        ] {
            assert_eq!(size(text), Ok(number), "{text}");
        }
        for text in ["B", "1BB", "0B", "GiB", "16777216TiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_normal_and_between_0_and_1() {
        assert_eq!(rate("1e-6"), Ok(1e-6));
        assert_eq!(rate("1%"), Ok(0.01));
        assert_eq!(rate("0.25"), Ok(0.25));
        for text in ["0", "1", "100%", "NaN", "inf", "-1", "-0", "1e-320", "1e-310%", "", "%", "a"]
        {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printed_numbers_are_grouped_and_rounded() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(0, "line"), "0 lines");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(1234, "line"), "1,234 lines");
        for (rate, text) in
            [(4e-10, "4.0e-10"), (4.01e-10, "4.1e-10"), (4.09e-10, "4.1e-10"), (1.001e-9, "1.1e-9")]
        {
            assert_eq!(rate_up(rate), text);
        }
        for (rate, text) in [(4e-10, "4.0e-10"), (4.09e-10, "4.0e-10"), (9.96e-7, "9.9e-7")] {
            assert_eq!(rate_down(rate), text);
        }
        for rate in [9.91e-3, 9.96e-3, 0.0999] {
            assert!(rate_up(rate).parse::<f64>().expect("a number") >= rate);
            assert!(rate_down(rate).parse::<f64>().expect("a number") <= rate);
        }
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1 << 30), "1 GiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16 EiB");
    }
}
