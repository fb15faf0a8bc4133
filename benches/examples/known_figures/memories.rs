//! Four memories of 10^8 URLs of 50 characters: the URLs, their digests, one bit per URL, and
//! filters. The bytes are computed for 10^8 URLs and measured with 10^6.

use std::collections::HashSet;
use std::hash::Hash;

use peak_alloc::PeakAlloc;
use tamis::hash::Rapid;
use tamis::{BlockedBloomFilter, BloomFilter, OnceCuckooFilter};

use crate::Fallible;
use crate::bounds::{Bounds, expected_fill};
use crate::keys::{URL_LENGTH, count, md5, url};
use crate::size::Size;
use crate::table::{Table, bytes, number, per_cent};

/// The URLs of the case.
const URLS: u64 = 100_000_000;

/// The global allocator of this program: it counts the bytes that are allocated.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The bits per URL of the memory that sets one bit for each: a rate of 1 %.
const BITS_PER_URL: u64 = 100;

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    let items = size.of(1_000_000, 100);
    table.title(&format!(
        "Four memories of 10^8 URLs of 50 characters: computed for 10^8, measured with {}",
        number(items)
    ));
    exact(table, "the URLs", "5 GB", URL_LENGTH, allocated(items, |i| url(i).into_boxed_str()));
    exact(table, "their MD5", "", 16, allocated(items, |i| md5(&url(i))));
    // A digest of 20 bytes: its content makes no difference.
    let sha1 = |i| {
        let mut digest = [0; 20];
        digest[..16].copy_from_slice(&md5(&url(i)));
        digest
    };
    exact(table, "their SHA-1", "", 20, allocated(items, sha1));
    one_bit(table, bounds, size, items)?;
    for rate in [1e-2, 1e-6, 1e-9] {
        filters(table, bounds, items, rate)?;
    }
    table.note("the measured sets are HashSets, whose tables have empty places");
    Ok(())
}

/// Adds the row of an exact memory.
fn exact(table: &mut Table, case: &str, published: &str, each: usize, measured: f64) {
    let computed = format!("{}, {each} bytes per URL", bytes(each as f64 * URLS as f64));
    table.row(case, published, computed, format!("{measured:.1} bytes per URL, no error"));
}

/// Returns the bytes per item that a set allocates, if no other thread allocates meanwhile.
fn allocated<T: Eq + Hash>(items: u64, item: impl Fn(u64) -> T) -> f64 {
    let before = ALLOCATOR.current_usage();
    let set: HashSet<T> = (0..items).map(item).collect();
    let after = ALLOCATOR.current_usage();
    assert_eq!(set.len() as u64, items, "two items are equal");
    after.saturating_sub(before) as f64 / items as f64
}

/// Adds the row of the memory with one bit per URL: a classic filter with one probe.
fn one_bit(table: &mut Table, bounds: &mut Bounds, size: Size, items: u64) -> Fallible {
    let what = "one bit for each hash";
    let filter = BloomFilter::<str>::builder()
        .hasher(Rapid::with_seed(1))
        .bits(BITS_PER_URL * items)
        .probes(1)
        .build()?;
    (0..items).for_each(|i| _ = filter.insert(&url(i)));
    bounds.classic(what, &filter.figures(), [BITS_PER_URL * items, items, 1]);
    let queries = size.of(1_000_000, 10);
    let measured = measure(bounds, what, [items, queries], filter.false_positive_rate(), |url| {
        filter.contains(url)
    });
    let formula = per_cent(expected_fill(BITS_PER_URL * URLS, URLS));
    let whole = bytes((BITS_PER_URL * URLS) as f64 / 8.0);
    table.row(
        what,
        "100 bits per URL at 1 %",
        format!("{whole}, {formula}"),
        format!("{:.1} bits per URL, {measured}", bits_per_item(filter.size_in_bytes(), items)),
    );
    Ok(())
}

/// Adds the rows of our filters at a rate.
fn filters(table: &mut Table, bounds: &mut Bounds, items: u64, rate: f64) -> Fallible {
    // POWER: with these queries the bounds find a rate of 1.1 % instead of 1 %, and at the lower
    // rates one of 5e-5, with a probability of 0.999. There the contents have to promise the rate.
    let queries = ((10_000.0 / rate) as u64).min(1_000_000);
    macro_rules! row {
        ($type:ident, $name:literal) => {
            let builder = |items: u64| {
                let builder = $type::<str>::builder().capacity(items as usize);
                builder.false_positive_rate(rate).hasher(Rapid::with_seed(2))
            };
            let computed = builder(URLS).geometry()?.size_in_bytes();
            let filter = builder(items).build()?;
            (0..items).for_each(|i| _ = filter.insert(&url(i)));
            let what = format!("{} at {rate:e}", $name);
            let bits = bits_per_item(filter.size_in_bytes(), items);
            let computed_bits = bits_per_item(computed, URLS);
            // A filter takes as many bits per item at any size, apart from the rounding to lines.
            assert!((bits / computed_bits - 1.0).abs() < 0.02, "{what}: {bits}, {computed_bits}");
            let expected = filter.geometry().false_positive_rate_at(items as usize);
            assert!(expected <= 1.03 * rate, "{what}: it is made for a rate of {expected:e}");
            let reported = filter.false_positive_rate();
            let measured =
                measure(bounds, &what, [items, queries], reported, |url| filter.contains(url));
            table.row(
                what,
                "",
                format!("{}, {computed_bits:.1} bits per URL", bytes(computed as f64)),
                format!("{bits:.1} bits per URL, {measured}"),
            );
        };
    }
    row!(BloomFilter, "BloomFilter");
    row!(BlockedBloomFilter, "BlockedBloomFilter");
    row!(OnceCuckooFilter, "OnceCuckooFilter");
    Ok(())
}

fn bits_per_item(bytes: u64, items: u64) -> f64 {
    8.0 * bytes as f64 / items as f64
}

/// Queries absent URLs, and checks the answers of a filter that contains the first `items`.
fn measure(
    bounds: &mut Bounds,
    what: &str,
    [items, queries]: [u64; 2],
    reported: f64,
    contains: impl Fn(&str) -> bool + Sync,
) -> String {
    let found = count(0..items, |i| contains(&url(i)));
    assert_eq!(found, items, "{what}: a URL is missing");
    let hits = count(items..items + queries, |i| contains(&url(i)));
    bounds.rate(what, hits, queries, reported);
    format!("{} wrong of {}", number(hits), number(queries))
}
