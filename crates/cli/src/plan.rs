//! `tamis plan`: prints what each kind of filter costs, and what fits into a given amount of
//! memory.

use core::fmt::Write;

use serde_json::{Value, json};
use tamis::{BuildError, RotatingBloomFilter};

use crate::args::PlanArgs;
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::geometry::{GENERATIONS, Geometry, generation, lowest_rate};
use crate::kind::Kind;
use crate::units::{bytes, counted, grouped, rate_up};

/// One kind of filter for the number of items and the rate asked for.
struct Row {
    kind: FileKind,
    sizes: Result<Geometry, BuildError>,
    /// The bytes of memory that it takes.
    memory: u64,
    /// What fits into the memory, if an amount was given.
    fit: Option<Fit>,
}

/// What fits into the memory given.
struct Fit {
    /// Whether the number of items and the rate asked for fit.
    fits: bool,
    /// The largest number of items that fits at the rate asked for.
    capacity: u64,
    /// The lowest rate that fits with the number of items asked for, if a rate below 1 does.
    rate: Option<f64>,
}

/// Returns the whole output, or an error if no kind can do what was asked for.
pub(crate) fn text(args: &PlanArgs) -> Result<String, Error> {
    let &PlanArgs { capacity, rate, max_memory, json } = args;
    let rows = FileKind::PLANNED.map(|kind| Row {
        kind,
        sizes: sizes(kind, capacity, rate),
        memory: memory(kind, capacity, rate).unwrap_or(u64::MAX),
        fit: max_memory.map(|memory| fit(kind, capacity, rate, memory)),
    });
    match rows[0].sizes {
        Err(source) if rows.iter().all(|row| row.sizes.is_err()) => {
            Err(Error::Filter { kind: rows[0].kind, capacity: Some(capacity), rate, source })
        }
        _ if json => Ok(to_json(args, &rows)),
        _ => Ok(to_table(args, &rows)),
    }
}

/// The sizes of a kind whose sizes are known.
fn sizes(kind: FileKind, capacity: u64, rate: f64) -> Result<Geometry, BuildError> {
    kind.geometry(capacity, rate)?.ok_or(BuildError::Unsized)
}

/// The bytes of memory of a kind whose sizes are known.
fn memory(kind: FileKind, capacity: u64, rate: f64) -> Result<u64, BuildError> {
    let sizes = sizes(kind, capacity, rate)?;
    let Geometry::Rotating(_) = sizes else { return Ok(sizes.size_in_bytes()) };
    // With its locks.
    let window = RotatingBloomFilter::<[u8]>::builder().generations(GENERATIONS);
    window.capacity(capacity as usize).false_positive_rate(rate).size_in_bytes()
}

/// Finds what fits into `memory`. Sizes grow with the number of items and with a falling rate, so
/// bisection finds it. (A cuckoo filter may become a twentieth smaller where its shape changes;
/// there the result may be that much too low.)
fn fit(kind: FileKind, capacity: u64, rate: f64, memory: u64) -> Fit {
    let fits =
        |capacity, rate| self::memory(kind, capacity, rate).is_ok_and(|bytes| bytes <= memory);
    Fit {
        fits: fits(capacity, rate),
        capacity: most(|capacity| fits(capacity, rate)),
        rate: lowest(|rate| fits(capacity, rate)),
    }
}

/// Returns the largest number for which `fine` holds, if it holds for all below it too; 0 if there
/// is none.
pub(crate) fn most(fine: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fine(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Returns the lowest rate for which `fine` holds, to a tenth of a percent, if it holds for all
/// above it too.
fn lowest(fine: impl Fn(f64) -> bool) -> Option<f64> {
    // Search over the exponent: no filter of 64-bit hashes has a rate below 2^-64.
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

/// What a kind is best for.
fn purpose(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Fixed(Kind::Bloom) => {
            "least memory at high rates; each operation touches many cache lines"
        }
        FileKind::Fixed(Kind::Blocked) => "speed: one cache line per operation",
        FileKind::Fixed(Kind::Once) => {
            "speed, and exactly one of several racing inserts returns true"
        }
        FileKind::Fixed(Kind::Cuckoo) => {
            "least memory at low rates, and removal; two cache lines per operation"
        }
        FileKind::Counting => {
            "removal, of any number of copies; one to four cache lines per operation"
        }
        FileKind::Rotating => "the last items only: a --window of this number",
        FileKind::Scalable => {
            "growth: the sizes of the first slice, to which larger ones are added"
        }
        FileKind::GrowingCuckoo => "growth and removal",
    }
}

/// Formats the rows for people.
fn to_table(args: &PlanArgs, rows: &[Row]) -> String {
    let mut text = format!(
        "{}, false-positive rate {:e}\n\n{:<8} {:>10} {:>10} {:>20} {:>6} {:>12}  {}\n",
        counted(args.capacity, "item"),
        args.rate,
        "kind",
        "bits/item",
        "memory",
        "layout",
        "fill",
        "false/10^6",
        "for",
    );
    for &Row { kind, ref sizes, memory, .. } in rows {
        // Writes to a string do not fail.
        let _ = match sizes {
            Ok(sizes) => writeln!(
                text,
                "{:<8} {:>10.2} {:>10} {:>20} {:>5.1}% {:>12}  {}",
                kind,
                sizes.bits() as f64 / args.capacity as f64,
                bytes(memory),
                layout(sizes),
                fill(sizes, args.capacity) * 100.0,
                per_million(sizes.false_positive_rate_at(args.capacity)),
                purpose(kind),
            ),
            Err(refusal) => match lowest_rate(*refusal) {
                Some(lowest) if lowest < 1.0 => {
                    writeln!(text, "{kind:<8} cannot go below rate {}", rate_up(lowest))
                }
                _ => writeln!(text, "{kind:<8} {refusal}"),
            },
        };
    }
    text += &words_line(args, rows);
    // A second table, of what fits into the memory.
    let Some(memory) = args.max_memory else { return text };
    let _ = writeln!(text, "\nin {}", bytes(memory));
    let items = counted(args.capacity, "item");
    for Row { kind, fit, .. } in rows {
        let Some(fit) = fit else { continue };
        let _ = write!(
            text,
            "{kind:<8} {:<12} holds {} at rate {:e}",
            if fit.fits { "fits" } else { "does not fit" },
            counted(fit.capacity, "item"),
            args.rate,
        );
        let _ = match fit.rate {
            Some(rate) => writeln!(text, "; {items} at rate {rate:.2e}"),
            None => writeln!(text, "; {items} at no rate"),
        };
    }
    text
}

/// The bits per item of a blocked filter, by the number of words per item; `None` if there is no
/// such filter.
fn bits_by_words(capacity: u64, rate: f64) -> [(u32, Option<f64>); 4] {
    [1, 2, 4, 8].map(|words| {
        let geometry = Kind::blocked_of_words(capacity, rate, words);
        (words, geometry.ok().map(|sizes| sizes.bits() as f64 / capacity as f64))
    })
}

/// Formats the choice between memory and speed that the library offers, without choices that take
/// more than twice the memory of the best one.
fn words_line(args: &PlanArgs, rows: &[Row]) -> String {
    let default = rows.iter().find_map(|row| match (row.kind, &row.sizes) {
        (FileKind::Fixed(Kind::Blocked), Ok(Geometry::Bloom(sizes))) => Some(sizes.words()),
        _ => None,
    });
    let by_words = bits_by_words(args.capacity, args.rate);
    let best = by_words.iter().filter_map(|&(_, bits)| bits).fold(f64::INFINITY, f64::min);
    let choices: Vec<String> = by_words
        .into_iter()
        .filter_map(|(words, bits)| {
            let bits = bits.filter(|&bits| bits <= 2.0 * best)?;
            let mark = if Some(words) == default { " (default)" } else { "" };
            Some(format!("{words}: {bits:.2}{mark}"))
        })
        .collect();
    if choices.is_empty() {
        return String::new();
    }
    format!(
        "\nbits/item of blocked by words per item; an insert takes one atomic operation per word\n\
         (in a program, `.words(n)`): {}\n",
        choices.join(", ")
    )
}

/// The layout for one item: the bits that it sets, or a bucket.
fn layout(sizes: &Geometry) -> String {
    match sizes {
        Geometry::Bloom(sizes) | Geometry::Rotating(sizes) => {
            format!("{} bits in {} words", sizes.probes(), sizes.words())
        }
        Geometry::Counting(sizes) => {
            format!("{} counters of 4 bits", sizes.probes())
        }
        Geometry::Cuckoo(sizes) => {
            format!("{} slots of {} bits", sizes.slots(), sizes.fingerprint_bits())
        }
    }
}

/// The share of bits set, or of slots occupied, with `items` items.
fn fill(sizes: &Geometry, items: u64) -> f64 {
    match sizes {
        Geometry::Bloom(sizes) | Geometry::Counting(sizes) => sizes.fill_at(items as usize),
        Geometry::Rotating(sizes) => sizes.fill_at(generation(items) as usize),
        Geometry::Cuckoo(sizes) => {
            items as f64 / (sizes.buckets() as f64 * f64::from(sizes.slots()))
        }
    }
}

/// The number of false positives per million queries.
fn per_million(rate: f64) -> String {
    match rate * 1e6 {
        number if number < 0.01 => format!("{number:.1e}"),
        number if number < 100.0 => format!("{number:.2}"),
        number => grouped(number.round() as u64),
    }
}

/// Formats the rows for programs.
fn to_json(args: &PlanArgs, rows: &[Row]) -> String {
    let kinds: Vec<Value> = rows
        .iter()
        .map(|Row { kind, sizes, memory, fit }| {
            let mut value = json!({ "kind": kind.name(), "for": purpose(*kind) });
            match sizes {
                Ok(sizes) => {
                    describe(&mut value, sizes, args.capacity);
                    value["bytes"] = json!(memory);
                    if matches!(kind, FileKind::Fixed(Kind::Blocked | Kind::Once)) {
                        value["bits_per_item_by_words"] = bits_by_words(args.capacity, args.rate)
                            .into_iter()
                            .filter_map(|(words, bits)| Some((words.to_string(), json!(bits?))))
                            .collect();
                    }
                }
                Err(refusal) => value["lowest_rate"] = json!(lowest_rate(*refusal)),
            }
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

/// Adds the figures of a filter with `items` items.
fn describe(value: &mut Value, sizes: &Geometry, items: u64) {
    value["bits_per_item"] = json!(sizes.bits() as f64 / items as f64);
    value["false_positive_rate"] = json!(sizes.false_positive_rate_at(items));
    if matches!(sizes, Geometry::Rotating(_)) {
        value["generations"] = json!(GENERATIONS);
    }
    let fill = fill(sizes, items);
    match sizes {
        Geometry::Bloom(sizes) | Geometry::Counting(sizes) | Geometry::Rotating(sizes) => {
            value["probes"] = json!(sizes.probes());
            value["words"] = json!(sizes.words());
            value["fill"] = json!(fill);
        }
        Geometry::Cuckoo(sizes) => {
            value["slots"] = json!(sizes.slots());
            value["fingerprint_bits"] = json!(sizes.fingerprint_bits());
            value["buckets"] = json!(sizes.buckets());
            value["load"] = json!(fill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_the_limit() {
        for edge in [0, 1, 2, 1000, u64::MAX - 1, u64::MAX] {
            assert_eq!(most(|number| number <= edge), edge);
        }
        let rate = lowest(|rate| rate >= 1e-6).expect("1e-6 is below the start");
        assert!((1e-6..1.001e-6).contains(&rate), "{rate}");
        assert_eq!(lowest(|_| false), None);
    }

    #[test]
    fn reported_fits_fit_and_are_the_largest() {
        for (kind, memory) in
            FileKind::PLANNED.into_iter().flat_map(|kind| [(kind, 1 << 20), (kind, 16 << 20)])
        {
            let fit = fit(kind, 10_000_000, 1e-6, memory);
            assert!(!fit.fits);
            let bytes = |capacity, rate| self::memory(kind, capacity, rate).expect("a filter");
            assert!(bytes(fit.capacity, 1e-6) <= memory && bytes(fit.capacity + 1, 1e-6) > memory);
            let Some(rate) = fit.rate else {
                assert!(bytes(10_000_000, 0.99) > memory, "{kind}");
                continue;
            };
            assert!(bytes(10_000_000, rate) <= memory && bytes(10_000_000, rate * 0.99) > memory);
        }
    }

    /// The locks of a window are counted.
    #[test]
    fn the_memory_is_that_of_the_filter() {
        for items in [1_u64, 1000, 100_000] {
            let window = RotatingBloomFilter::<[u8]>::builder().capacity(items as usize);
            let built = window.false_positive_rate(1e-4).build().expect("small");
            let planned = memory(FileKind::Rotating, items, 1e-4).expect("small");
            assert_eq!(planned, built.size_in_bytes());
            let fits = |memory| fit(FileKind::Rotating, items, 1e-4, memory).fits;
            assert!(fits(planned) && !fits(planned - 1));
        }
    }

    /// Checks the assumption of the searches, also at the steps from one bucket layout to the next.
    /// There a filter may be a twentieth smaller, because a faster layout may be that much larger
    /// than the best.
    #[test]
    fn a_cuckoo_filter_is_hardly_smaller_for_more_items_or_a_lower_rate() {
        let bytes = |items: f64, rate| {
            let sizes = Kind::Cuckoo.geometry(items as u64, rate);
            sizes.map_or(u64::MAX, |sizes| sizes.size_in_bytes())
        };
        let mut differ = 0;
        for step in 0..3000 {
            let (items, rate) = (1.01_f64.powi(step), 0.993_f64.powi(step + 1));
            for (smaller, larger) in [
                (bytes(items, 1e-4), bytes(items * 1.01, 1e-4)),
                (bytes(1e6, rate), bytes(1e6, rate * 0.993)),
            ] {
                let limit = larger.saturating_add(larger / 19);
                assert!(smaller <= limit, "{items} {rate}: {smaller} {larger}");
                differ += u32::from(smaller < larger);
            }
        }
        assert!(differ > 1000, "{differ}");
    }
}
