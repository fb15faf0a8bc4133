//! The rates of a classic filter by its bits per key `m/n` and its probes `k`.

use tamis::BloomFilter;
use tamis::hash::Rapid;

use crate::Fallible;
use crate::bounds::Bounds;
use crate::keys::count;
use crate::size::Size;
use crate::table::{Table, number, per_cent};

/// A published case: the bits per key, the probes, what was published, and the queries.
type Case = (u64, u32, &'static str, u64);

/// The cases. Where no figure was published for the probes, the curve has the rate.
const CASES: [Case; 7] = [
    (10, 6, "0.844 %", 1_000_000),
    (16, 8, "0.0574 %, \"5 in 10,000\"", 10_000_000),
    (16, 9, "", 10_000_000),
    (20, 6, "0.0303 %", 20_000_000),
    (20, 10, "0.00889 %, 9,000 of 10^8", 100_000_000),
    (20, 12, "", 100_000_000),
    (20, 14, "0.0067 %", 100_000_000),
];

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    let keys = size.of(100_000, 10);
    table.title(&format!("m/n and k: a classic filter with {} keys", number(keys)));
    for (per_key, probes, published, queries) in CASES {
        let what = format!("m/n = {per_key}, k = {probes}");
        let queries = size.of(queries, 100);
        let bits = per_key * keys;
        let filter = BloomFilter::<u64>::builder()
            .hasher(Rapid::with_seed(per_key))
            .bits(bits)
            .probes(probes)
            .build()?;
        (0..keys).for_each(|key| _ = filter.insert(&key));
        assert_eq!(count(0..keys, |key| filter.contains(&key)), keys, "{what}: a key is missing");

        // The contents are what the formula expects, the reported rate follows from the contents,
        // and the answers have the reported rate.
        bounds.classic(&what, &filter.figures(), [bits, keys, probes.into()]);
        let hits = count(keys..keys + queries, |key| filter.contains(&key));
        bounds.rate(&what, hits, queries, filter.false_positive_rate());
        table.row(
            what,
            published,
            per_cent(formula(per_key, probes)),
            format!(
                "{}: {} wrong of {}",
                per_cent(hits as f64 / queries as f64),
                number(hits),
                number(queries)
            ),
        );
    }
    Ok(())
}

/// Returns the rate with these numbers of bits per key and of probes, in the limit of many keys; by
/// `libm`, the same on every machine.
pub(crate) fn formula(bits_per_key: u64, probes: u32) -> f64 {
    let fill = -libm::expm1(-f64::from(probes) / bits_per_key as f64);
    fill.powi(probes as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::expected_fill;

    #[test]
    fn the_formula_gives_the_published_rates() {
        let rates = CASES.map(|(bits, probes, ..)| per_cent(formula(bits, probes)));
        let expected =
            ["0.844 %", "0.0574 %", "0.0505 %", "0.0303 %", "0.00889 %", "0.00712 %", "0.00671 %"];
        assert_eq!(rates, expected);
        // The exact number of bits makes no visible difference.
        let exact = expected_fill(2_000_000, 1_000_000).powi(10);
        assert!((exact / formula(20, 10) - 1.0).abs() < 1e-5);
    }
}
