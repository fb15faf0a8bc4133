//! `tamis plan`: what each kind of filter costs, and what fits into so much memory.

use core::fmt::Write;

use serde_json::{Value, json};

use crate::args::PlanArgs;
use crate::units::{bytes, grouped};
use crate::{Error, Kind};

/// One kind of filter for the items and the rate asked for.
struct Row {
    kind: Kind,
    bits_per_item: f64,
    bytes: u64,
    probes: u32,
    words: u32,
    fill: f64,
    rate: f64,
}

/// What fits into the memory given.
struct Fit {
    fits: bool,
    /// The most items at the rate asked for.
    capacity: u64,
    /// The lowest rate for the items asked for, if any below 1 fits.
    rate: Option<f64>,
}

/// The whole output.
pub(crate) fn text(args: &PlanArgs) -> Result<String, Error> {
    let rows: Vec<(Row, Option<Fit>)> = Kind::ALL
        .into_iter()
        .map(|kind| {
            let row = row(kind, args.capacity, args.rate)?;
            let fit = args.max_memory.map(|memory| fit(&row, args.capacity, args.rate, memory));
            Ok((row, fit))
        })
        .collect::<Result<_, Error>>()?;
    Ok(if args.json { to_json(args, &rows) } else { to_table(args, &rows) })
}

fn row(kind: Kind, capacity: u64, rate: f64) -> Result<Row, Error> {
    let asked = |source| Error::Filter { capacity: Some(capacity), rate, source };
    let geometry = kind.geometry(capacity, rate).map_err(asked)?;
    Ok(Row {
        kind,
        bits_per_item: geometry.bits() as f64 / capacity as f64,
        bytes: geometry.size_in_bytes(),
        probes: geometry.probes(),
        words: geometry.words(),
        fill: geometry.fill_at(capacity),
        rate: geometry.false_positive_rate_at(capacity),
    })
}

fn fit(row: &Row, capacity: u64, rate: f64, memory: u64) -> Fit {
    let fits = |capacity, rate| {
        row.kind.geometry(capacity, rate).is_ok_and(|sizes| sizes.size_in_bytes() <= memory)
    };
    Fit {
        fits: row.bytes <= memory,
        capacity: most(|capacity| fits(capacity, rate)),
        rate: lowest(|rate| fits(capacity, rate)),
    }
}

/// The largest number that is fine, given that all below it are; 0 if none is.
fn most(fine: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fine(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// The lowest rate that is fine, given that all above it are, to a tenth of a percent.
fn lowest(fine: impl Fn(f64) -> bool) -> Option<f64> {
    // Halvings: no 64-bit hash goes below 2^-64.
    let (mut low, mut high) = (0.01_f64, 64.0_f64);
    if !fine((-low).exp2()) {
        return None;
    }
    while high - low > 0.001 {
        let middle = (low + high) / 2.0;
        if fine((-middle).exp2()) { low = middle } else { high = middle }
    }
    Some((-low).exp2())
}

fn purpose(kind: Kind) -> &'static str {
    match kind {
        Kind::Bloom => "least memory; an operation touches many cache lines",
        Kind::Blocked => "speed: one cache line an operation",
        Kind::Once => "speed, and of racing inserts exactly one is told it was first",
    }
}

fn to_table(args: &PlanArgs, rows: &[(Row, Option<Fit>)]) -> String {
    let mut text = format!(
        "{} items, false-positive rate {:e}\n\n{:<8} {:>10} {:>10} {:>7} {:>6} {:>6} {:>12}  {}\n",
        grouped(args.capacity),
        args.rate,
        "kind",
        "bits/item",
        "memory",
        "probes",
        "words",
        "fill",
        "false/10^6",
        "for",
    );
    for (row, _) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:<8} {:>10.2} {:>10} {:>7} {:>6} {:>5.1}% {:>12}  {}",
            row.kind,
            row.bits_per_item,
            bytes(row.bytes),
            row.probes,
            row.words,
            row.fill * 100.0,
            per_million(row.rate),
            purpose(row.kind),
        );
    }
    let Some(memory) = args.max_memory else { return text };
    let _ = writeln!(text, "\nin {}", bytes(memory));
    for (row, fit) in rows {
        let Some(fit) = fit else { continue };
        let _ = write!(
            text,
            "{:<8} {:<12} holds {} items at rate {:e}",
            row.kind,
            if fit.fits { "fits" } else { "does not fit" },
            grouped(fit.capacity),
            args.rate,
        );
        let _ = match fit.rate {
            Some(rate) => writeln!(text, "; {} items at rate {rate:.2e}", grouped(args.capacity)),
            None => writeln!(text, "; {} items at no rate", grouped(args.capacity)),
        };
    }
    text
}

/// False positives in a million queries.
fn per_million(rate: f64) -> String {
    match rate * 1e6 {
        number if number < 0.01 => format!("{number:.1e}"),
        number if number < 100.0 => format!("{number:.2}"),
        number => grouped(number.round() as u64),
    }
}

fn to_json(args: &PlanArgs, rows: &[(Row, Option<Fit>)]) -> String {
    let kinds: Vec<Value> = rows
        .iter()
        .map(|(row, fit)| {
            let mut value = json!({
                "kind": row.kind.name(),
                "bits_per_item": row.bits_per_item,
                "bytes": row.bytes,
                "probes": row.probes,
                "words": row.words,
                "fill": row.fill,
                "false_positive_rate": row.rate,
                "for": purpose(row.kind),
            });
            if let Some(fit) = fit {
                value["fits"] = json!(fit.fits);
                value["capacity_that_fits"] = json!(fit.capacity);
                value["rate_that_fits"] = json!(fit.rate);
            }
            value
        })
        .collect();
    let plan = json!({
        "capacity": args.capacity,
        "rate": args.rate,
        "max_memory": args.max_memory,
        "kinds": kinds,
    });
    format!("{plan}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_the_edge() {
        for edge in [0, 1, 2, 1000, u64::MAX - 1, u64::MAX] {
            assert_eq!(most(|number| number <= edge), edge);
        }
        let rate = lowest(|rate| rate >= 1e-6).expect("1e-6 is below the start");
        assert!((1e-6..1.001e-6).contains(&rate), "{rate}");
        assert_eq!(lowest(|_| false), None);
    }

    #[test]
    fn what_is_said_to_fit_fits() {
        let memory = 1 << 20;
        for kind in Kind::ALL {
            let row = row(kind, 10_000_000, 1e-6).expect("a filter");
            let fit = fit(&row, 10_000_000, 1e-6, memory);
            assert!(!fit.fits);
            let bytes =
                |capacity, rate| kind.geometry(capacity, rate).expect("a filter").size_in_bytes();
            assert!(bytes(fit.capacity, 1e-6) <= memory && bytes(fit.capacity + 1, 1e-6) > memory);
            let rate = fit.rate.expect("some rate fits");
            assert!(bytes(10_000_000, rate) <= memory && bytes(10_000_000, rate * 0.99) > memory);
        }
    }
}
