//! The independent reader, written from the specification, gives the same answers as the loaders.

use crate::common::{bytes_of, filled};
use crate::reader::Reader;
use proptest::prelude::*;
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, RotatingBloomFilter,
    ScalableBloomFilter,
};
use tamis_cuckoo::raw::{self, growing};
use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_formats::Saved;
use tamis_hash::{HashItem, Rapid, Xxh3};

/// Lines in a chunk.
const CHUNK: u64 = 1 << 14;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_second_reader_agrees_on_bloom_filters(
        bits in 1_u64..5000,
        words in 0_u32..4,
        probes in 1_u32..=8,
        items in 0_u64..200,
        seed: u64,
    ) {
        let words = 1 << words;
        let hasher = Rapid::with_seed(seed);
        let classic = BloomFilter::<u64>::builder().bits(bits).probes(probes);
        agree(&filled(classic.hasher(hasher.clone()).build().unwrap(), items));
        let probes = (probes * words).min(32);
        let blocked = BlockedBloomFilter::<u64>::builder().bits(bits).probes(probes).words(words);
        agree(&filled(blocked.hasher(hasher.clone()).build().unwrap(), items));
        let once = OnceBloomFilter::<u64>::builder().bits(bits).probes(probes).words(words);
        agree(&filled(once.hasher(hasher).build().unwrap(), items));
    }

    #[test]
    fn the_second_reader_agrees_on_cuckoo_filters(
        half in 1_u64..200,
        shape in 0_usize..10,
        items in 0_u64..500,
        seed: u64,
    ) {
        let shapes: Vec<_> = Geometry::shapes().collect();
        let (slots, width) = shapes[shape % shapes.len()];
        let hasher = Xxh3::with_seed(seed);
        let builder = CuckooFilter::<u64>::builder();
        let builder = builder.buckets(2 * half).slots(slots).fingerprint_bits(width);
        agree(&filled(builder.hasher(hasher.clone()).build().unwrap(), items));
        let builder = OnceCuckooFilter::<u64>::builder();
        let builder = builder.buckets(2 * half).slots(slots).fingerprint_bits(width);
        agree(&filled(builder.hasher(hasher).build().unwrap(), items));
    }

    #[test]
    fn the_second_reader_agrees_on_filters_that_grow(
        items in 0_u64..15_000,
        magnitude in 1_f64..8.0,
        seed: u64,
    ) {
        // The widths of buckets of 64 bits end near 10⁻⁵.
        let builder = CuckooFilter::<u64>::builder().capacity(1).max_capacity(50_000);
        let builder = builder.false_positive_rate(10_f64.powf(-magnitude.min(5.0)));
        agree(&filled(builder.hasher(Xxh3::with_seed(seed)).build().unwrap(), items));
        let builder = ScalableBloomFilter::<u64>::builder().capacity(1024);
        let builder = builder.false_positive_rate(10_f64.powf(-magnitude));
        agree(&filled(builder.hasher(Xxh3::with_seed(seed)).build().unwrap(), items));
    }

    #[test]
    fn the_second_reader_agrees_on_cuckoo_filters_that_grow(
        eighth in 1_u64..20,
        rest in 8_u32..30,
        doublings in 1_u32..10,
        items in 0_u64..1500,
        paired: bool,
        seed: u64,
    ) {
        let (bits, widest) = if paired { (128, 42) } else { (64, 31) };
        let last_level = doublings + u32::from(!eighth.is_power_of_two());
        let width = (rest + last_level).min(widest);
        let geometry = growing::geometry(8 * eighth, width, doublings, bits).unwrap();
        if raw::is_supported(geometry) {
            let hasher = Xxh3::with_seed(seed);
            let builder = CuckooFilter::<u64>::builder().like(geometry).capacity(7);
            agree(&filled(builder.hasher(hasher.clone()).build().unwrap(), items));
            let builder = OnceCuckooFilter::<u64>::builder().like(geometry).capacity(7);
            agree(&filled(builder.hasher(hasher).build().unwrap(), items));
        }
    }

    #[test]
    fn the_second_reader_agrees_on_counters_and_windows(
        capacity in 1_usize..500,
        items in 0_u64..1500,
        generations in 2_u32..=16,
        words in 0_u32..4,
        seed: u64,
    ) {
        let hasher = Xxh3::with_seed(seed);
        let builder = CountingBloomFilter::<u64>::builder().capacity(capacity).words(1 << words);
        agree(&filled(builder.hasher(hasher.clone()).build().unwrap(), items / 3));
        let builder = RotatingBloomFilter::<u64>::builder().capacity(capacity);
        let builder = builder.generations(generations).words(1 << words);
        agree(&filled(builder.hasher(hasher).build().unwrap(), items));
    }
}

/// The golden files have one chunk. Here the second reader compares the checksums of several, in
/// their order.
#[test]
fn the_second_reader_agrees_on_several_chunks() {
    let builder =
        BlockedBloomFilter::<u64>::builder().bits(512 * (2 * CHUNK + 5)).probes(8).words(2);
    let filter = filled(builder.hasher(Rapid::with_seed(4)).build().unwrap(), 100_000);
    agree(&filter);
    // The chunks differ, so a table in another order is another one.
    let mut bytes = bytes_of(&filter);
    let (first, second) = bytes[256..272].split_at_mut(8);
    first.swap_with_slice(second);
    assert!(Reader::new(&bytes).is_err());
}

fn agree<F: Saved>(filter: &F)
where
    F::Hasher: HashItem<u64>,
{
    let reader = Reader::new(&bytes_of(filter)).unwrap();
    for item in 0..1500_u64 {
        let answer = filter.contains_hash(filter.hasher().hash_item(&item));
        assert_eq!(reader.contains(&item.to_le_bytes()), answer, "{item}");
    }
}
