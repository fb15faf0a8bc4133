//! The union of two filters is the filter of all keys of both.

use tamis_formats::foreign::{AnyFilter, Error, Format, Key};

/// The formats whose systems unite filters.
const UNITED: [Format; 12] = [
    Format::BitsAndBlooms,
    Format::DataSketches,
    Format::GuavaMitz64,
    Format::GuavaMitz32,
    Format::HadoopBloom,
    Format::Orc,
    Format::ParquetBitset,
    Format::ParquetHeader,
    Format::PybloomBloom,
    Format::Rbloom,
    Format::SparkV1,
    Format::SparkV2,
];

fn build(format: Format, capacity: u64, seed: u64) -> Result<AnyFilter, Error> {
    let rate = format.takes_rate().then_some(0.01);
    format.build(capacity, rate, format.takes_seed().then_some(seed))
}

fn with_keys(format: Format, keys: impl IntoIterator<Item = u32>) -> AnyFilter {
    let mut filter = build(format, 1000, 7).unwrap();
    for key in keys {
        filter.insert(Key::Text(&key.to_string())).unwrap();
    }
    filter
}

#[test]
fn the_union_has_the_bytes_of_one_filter_with_all_keys() {
    for format in UNITED {
        let mut union = with_keys(format, (0..800).step_by(2));
        union.union_with(&*with_keys(format, (1..800).step_by(2))).unwrap();
        let all = with_keys(format, 0..800);
        // pybloom_live counts keys.
        let start = if format == Format::PybloomBloom { 40 } else { 0 };
        assert!(union.to_bytes()[start..] == all.to_bytes()[start..], "{format}");

        // An empty filter adds nothing, and takes everything.
        let bytes = union.to_bytes();
        union.union_with(&*with_keys(format, [])).unwrap();
        assert!(union.to_bytes() == bytes, "{format}");
        let mut empty = with_keys(format, []);
        empty.union_with(&*union).unwrap();
        assert!(empty.to_bytes()[start..] == bytes[start..], "{format}");
    }
}

/// Otherwise the filter would take keys far beyond its capacity.
#[test]
fn the_union_counts_its_keys() {
    let items = |filter: &AnyFilter| {
        let parameters = filter.parameters();
        parameters.into_iter().find(|(name, _)| *name == "items").unwrap().1
    };
    let union = |first, second| {
        let mut union = with_keys(Format::PybloomBloom, first);
        union.union_with(&*with_keys(Format::PybloomBloom, second)).unwrap();
        union
    };
    // A few keys have changed no bit, so they were not counted.
    let all = items(&with_keys(Format::PybloomBloom, 0..1000));
    assert_eq!(items(&union(0..0, 0..1000)), all);
    assert_eq!(items(&union(0..1000, 0..0)), all);
    assert!(items(&union(0..1000, 0..1000)).abs_diff(all) < 30);
    let half = items(&union(0..500, 250..1000));
    assert!(half.abs_diff(1000) < 30, "{half}");
    let mut full = union(0..1000, 1000..2000);
    assert!(items(&full).abs_diff(2000) < 60);
    assert_eq!(full.insert(Key::Text("one more")), Err(Error::Full));
}

#[test]
fn filters_of_other_formats_sizes_or_hashes_are_not_united() {
    let mut refused = 0;
    for &format in Format::ALL {
        // A filter block and a Parquet file are not built.
        let Ok(mut filter) = build(format, 1000, 7) else { continue };
        let bytes = filter.to_bytes();
        let others = [
            build(Format::GuavaMitz32, 900, 0),
            build(Format::SparkV2, 1000, 8),
            build(Format::DataSketches, 1000, 8),
            build(format, 5000, 7),
        ];
        for other in others {
            assert_eq!(filter.union_with(&*other.unwrap()), Err(Error::Union), "{format}");
            refused += 1;
        }
        assert!(filter.to_bytes() == bytes);
        let like = build(format, 1000, 7).unwrap();
        assert_eq!(filter.union_with(&*like).is_ok(), UNITED.contains(&format), "{format}");
    }
    assert_eq!(refused, 4 * (Format::ALL.len() - 2));
}
