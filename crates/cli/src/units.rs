//! Numbers as people write and read them: `10M`, `2GiB`, `1%`.

/// A number of items: digits, perhaps a fraction, perhaps a suffix (`10M`, `5.5M`, `2Ki`).
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match scaled(text) {
        Some(0) => Err("expected a number of at least 1".into()),
        Some(number) => Ok(number),
        None => Err("expected a whole number below 2^64, such as 1000, 10M, 5.5M or 2Mi".into()),
    }
}

/// A number of bytes: as [`count`], with an optional `B` (`64K`, `2GiB`).
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match scaled(text.strip_suffix('B').unwrap_or(text)) {
        Some(0) => Err("expected a size of at least 1 byte".into()),
        Some(number) => Ok(number),
        None => Err("expected a size below 2^64 bytes, such as 4096, 64KiB, 10M or 2GiB".into()),
    }
}

/// A false-positive rate: a number between 0 and 1, or a percentage (`1e-6`, `0.1%`).
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    // `is_normal` is false for zero, subnormal, infinite and NaN.
    match digits.parse::<f64>().map(|number| number / unit) {
        Ok(rate) if rate.is_normal() && rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err("expected a rate above 0 and below 1, such as 1e-6, 0.001 or 1%".into()),
    }
}

/// The number in `text`, exactly, or none if it is no whole number below 2^64.
fn scaled(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let unit: u128 = match suffix {
        "" => 1,
        "k" | "K" => 1000,
        "M" => 1000_u128.pow(2),
        "G" => 1000_u128.pow(3),
        "T" => 1000_u128.pow(4),
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    // 20 digits hold every u64, and 18 digits of a fraction keep the products inside 128 bits.
    if whole.is_empty() || fraction.is_empty() || whole.len() > 20 || fraction.len() > 18 {
        return None;
    }
    let tenths = 10_u128.pow(fraction.len() as u32);
    let fraction = fraction.parse::<u128>().ok()? * unit;
    if !fraction.is_multiple_of(tenths) {
        return None;
    }
    let whole = whole.parse::<u128>().ok()?.checked_mul(unit)?;
    u64::try_from(whole.checked_add(fraction / tenths)?).ok()
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate for people, to two digits, rounded up: whatever keeps the rate keeps what is said.
pub(crate) fn rate_up(rate: f64) -> String {
    let mut higher = rate;
    loop {
        let text = format!("{higher:.1e}");
        if !text.parse().is_ok_and(|nearest: f64| nearest < rate) {
            return text;
        }
        // Two digits are at least 1 % apart, so that none is skipped.
        higher *= 1.005;
    }
}

/// A size for people: `512 B`, `23.4 MiB`.
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
            ("5.5M", 5_500_000),
            ("2Ki", 2048),
            ("1.5Ki", 1536),
            ("18446744073709551615", u64::MAX),
            ("0.001K", 1),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in [
            "",
            "0",
            "0K",
            "-1",
            "+1",
            ".",
            "1.",
            ".5",
            "1e6",
            "1.5",
            "1.2345K",
            "10MB",
            "1 M",
            "18446744073709551616",
            "99999999999999999999T",
            "M",
            "1m",
            "1.0.0",
            "٣",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_take_a_b() {
        for (text, number) in
            [("1", 1), ("1B", 1), ("1GiB", 1 << 30), ("2MB", 2_000_000), ("0.5Ki", 512)]
        {
            assert_eq!(size(text), Ok(number), "{text}");
        }
        for text in ["B", "1BB", "0B", "GiB", "16777216TiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_normal_and_inside_the_unit() {
        assert_eq!(rate("1e-6"), Ok(1e-6));
        assert_eq!(rate("1%"), Ok(0.01));
        assert_eq!(rate("0.25"), Ok(0.25));
        for text in ["0", "1", "100%", "NaN", "inf", "-1", "-0", "1e-320", "1e-310%", "", "%", "a"]
        {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn figures_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        for (rate, text) in
            [(4e-10, "4.0e-10"), (4.01e-10, "4.1e-10"), (4.09e-10, "4.1e-10"), (1.001e-9, "1.1e-9")]
        {
            assert_eq!(rate_up(rate), text);
        }
        for rate in [9.91e-3, 9.96e-3, 0.0999] {
            assert!(rate_up(rate).parse::<f64>().expect("a number") >= rate);
        }
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1 << 30), "1 GiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16 EiB");
    }
}
