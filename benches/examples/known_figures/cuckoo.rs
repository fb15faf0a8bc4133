//! The cuckoo filter: how full it gets by the slots of a bucket, its rate by the bits of a
//! fingerprint, and how many copies of an item it holds.

use tamis::hash::Rapid;
use tamis::{CuckooFilter, InsertError};

use crate::Fallible;
use crate::bounds::Bounds;
use crate::keys::count;
use crate::one_slot::OneSlot;
use crate::size::Size;
use crate::table::{Table, number, per_cent};

/// The number of slots per bucket, the bits of a fingerprint in our shape with this number of
/// slots, and the published load, at which a table refuses its first item.
const LOADS: [(u32, u32, f64); 4] = [(1, 16, 0.50), (2, 32, 0.84), (4, 16, 0.95), (8, 8, 0.98)];

/// How far a load may lie below the published one, or above the limit of large tables. It is not
/// a rate, and no exact bound is known.
const TOLERANCE: f64 = 0.03;

/// The bits of a fingerprint, and the published rate.
const RATES: [(u32, f64); 2] = [(8, 0.03), (16, 0.0001)];

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    let slots = size.of(1 << 21, 8);
    table.title(&format!("The cuckoo filter, with {} slots", number(slots)));
    for (per_bucket, bits, published) in LOADS {
        let load = match per_bucket {
            1 => load_of_one_slot(slots),
            _ => load(slots, per_bucket, bits)?,
        };
        let plural = if per_bucket == 1 { "" } else { "s" };
        let case = format!("load at the first refusal, {per_bucket} slot{plural} per bucket");
        let limit = limit(per_bucket);
        let possible = published - TOLERANCE..limit + TOLERANCE;
        assert!(possible.contains(&load), "{case}: {load}, with a limit of {limit}");
        table.row(
            case,
            per_cent_whole(published),
            format!("limit {}", per_cent(limit)),
            per_cent(load),
        );
    }
    table.note(
        "published: moves at random; ours searches the shortest path, and gets close to the limit",
    );
    for (bits, published) in RATES {
        add_rate(table, bounds, size, bits, published)?;
    }

    // Two buckets of four slots hold eight copies, however empty the others are.
    let builder = CuckooFilter::<str>::builder().buckets(1024).slots(4);
    let filter = builder.fingerprint_bits(16).build()?;
    for copy in 1..=8 {
        filter.insert("item").map_err(|error| format!("copy {copy}: {error}"))?;
    }
    assert_eq!(filter.insert("item"), Err(InsertError::TooManyCopies));
    assert_eq!((filter.count("item"), filter.len()), (8, 8));
    table.row("a ninth copy of one item", "refused", "2 buckets of 4", "refused: TooManyCopies");
    Ok(())
}

/// Returns a percentage without digits behind the point.
fn per_cent_whole(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Returns the load up to which all items of a large table have a slot, each in one of its two
/// buckets.
///
/// Buckets are the nodes of a random graph, items are its edges, and each edge needs a slot of one
/// of its nodes. That works until the part in which each node has more edges than slots has more
/// edges than slots in all (Cain, Sanders and Wormald 2007). In that part the number of edges of a
/// node is Poisson distributed with a mean `x`, on condition that it is more than the slots.
fn limit(slots: u32) -> f64 {
    let at_least = |least: u32, x: f64| {
        // The terms from `least` on: as a difference from 1 a small sum would lose its digits.
        let first = (1..=least).fold((-x).exp(), |term, i| term * x / f64::from(i));
        let terms = (least + 1..least + 200).scan(first, |term, i| {
            *term *= x / f64::from(i);
            Some(*term)
        });
        first + terms.sum::<f64>()
    };
    let slots_per_bucket = f64::from(slots);
    let edges_per_node = |x| x * at_least(slots, x) / (2.0 * at_least(slots + 1, x));
    // It grows with `x`.
    let (mut low, mut high) = (1e-6, 4.0 * slots_per_bucket);
    for _ in 0..100 {
        let x = (low + high) / 2.0;
        if edges_per_node(x) < slots_per_bucket { low = x } else { high = x }
    }
    low / (2.0 * at_least(slots, low)) / slots_per_bucket
}

/// Returns the part of the slots that are taken when an insert fails.
fn load(slots: u64, per_bucket: u32, bits: u32) -> Fallible<f64> {
    let builder = CuckooFilter::<u64>::builder().hasher(Rapid::with_seed(per_bucket.into()));
    let builder = builder.buckets(slots / u64::from(per_bucket)).slots(per_bucket);
    let filter = builder.fingerprint_bits(bits).build()?;
    let refused = (0..=slots).find_map(|item| filter.insert(&item).err());
    if refused != Some(InsertError::Full) {
        return Err(format!("an insert fails with {refused:?} instead of `Full`").into());
    }
    // The refused insert has changed nothing.
    assert!((0..filter.len() as u64).all(|item| filter.contains(&item)), "an item is lost");
    Ok(filter.load_factor())
}

fn load_of_one_slot(slots: u64) -> f64 {
    let (mut table, hasher) = (OneSlot::new(slots), Rapid::with_seed(1));
    let inserted = (0..=slots).find(|item| !table.insert(hasher.hash_bytes(&item.to_le_bytes())));
    inserted.unwrap_or(slots) as f64 / slots as f64
}

/// Adds the row of the rate with four slots per bucket, 95 % of them taken.
fn add_rate(
    table: &mut Table,
    bounds: &mut Bounds,
    size: Size,
    bits: u32,
    published: f64,
) -> Fallible {
    let slots = size.of(1 << 18, 16);
    let items = slots * 95 / 100;
    let filter = CuckooFilter::<u64>::builder()
        .hasher(Rapid::with_seed(bits.into()))
        .buckets(slots / 4)
        .slots(4)
        .fingerprint_bits(bits)
        .build()?;
    for item in 0..items {
        filter.insert(&item)?;
    }
    let queries = size.of(10_000_000, 50);
    let hits = count(items..items + queries, |item| filter.contains(&item));
    let case = format!("rate, 4 slots of {bits} bits at a load of 95 %");
    bounds.rate(&case, hits, queries, filter.false_positive_rate());
    let formula = filter.geometry().false_positive_rate_at(items as usize);
    let ours = per_cent(hits as f64 / queries as f64);
    let ours = format!("{ours}: {} wrong of {}", number(hits), number(queries));
    table.row(case, format!("{published}"), per_cent(formula), ours);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_the_published_ones() {
        for (slots, published) in [(1, 0.5), (2, 0.8970), (3, 0.9592), (4, 0.9804), (5, 0.9895)] {
            assert!((limit(slots) - published).abs() < 1e-4, "{slots} slots: {}", limit(slots));
        }
    }
}
