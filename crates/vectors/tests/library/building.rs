//! Filters that are built from a capacity and a rate alone.

use tamis_formats::foreign::{AnyFilter, Error, Format, Key, read};

/// The defaults of the systems that have one, and 1 % otherwise.
#[test]
fn without_a_rate_a_filter_has_the_default_of_the_system() {
    let default = |format: Format| match format.system() {
        "guava" | "spark" => Some(0.03),
        "pybloom_live" => Some(0.001),
        _ => format.takes_rate().then_some(0.01),
    };
    for &format in Format::ALL {
        if [Format::LevelDbBlock, Format::ParquetFile].contains(&format) {
            assert_eq!(format.build(10, None, None).unwrap_err(), Error::ReadOnly);
            continue;
        }
        let seed = (format == Format::DataSketches).then_some(7);
        let bytes = |rate| format.build(1000, rate, seed).unwrap().to_bytes();
        assert!(bytes(None) == bytes(default(format)), "{format}");
    }
    let seed = || Format::DataSketches.build(10, None, None).unwrap().parameters()[2];
    let (one, other) = (seed(), seed());
    assert!(one.0 == "seed" && one != other, "{one:?}");
}

#[test]
fn seeds_are_those_that_were_given() {
    for (format, seeds) in [
        (Format::DataSketches, [0, 1, 1 << 63, u64::MAX]),
        (Format::SparkV2, [0, i32::MAX as u64, i64::from(i32::MIN) as u64, u64::MAX]),
    ] {
        for seed in seeds {
            let parameters = format.build(10, None, Some(seed)).unwrap().parameters();
            assert_eq!(parameters[2], ("seed", seed), "{format}");
        }
    }
    let refused = |seed| Format::SparkV2.build(10, None, Some(seed)).unwrap_err();
    for seed in [1 << 31, u64::from(u32::MAX), 1 << 63] {
        assert_eq!(refused(seed), Error::Size { parameter: "seed" }, "{seed}");
    }
}

#[test]
fn what_a_system_does_not_make_is_refused() {
    for &format in Format::ALL {
        let error = |capacity, rate, seed| format.build(capacity, rate, seed).unwrap_err();
        let is_size = |error| matches!(error, Error::Size { .. });
        for rate in [0.0, 1.0, -0.1, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(error(10, Some(rate), None), Error::Size { parameter: "rate" }, "{format}");
        }
        if !format.takes_rate() {
            assert_eq!(error(10, Some(0.5), None), Error::Size { parameter: "rate" }, "{format}");
        }
        if !format.takes_seed() {
            assert_eq!(error(10, None, Some(1)), Error::Size { parameter: "seed" }, "{format}");
        }
        // A scalable filter makes its first part at the first key.
        if ![Format::LevelDbBlock, Format::ParquetFile, Format::PybloomScalable].contains(&format) {
            let error = error(u64::MAX, None, None);
            assert!(is_size(error.clone()) || matches!(error, Error::Alloc { .. }), "{format}");
        }
    }
    // Rates that the system cannot keep: LevelDB has 2^32 hashes, and the legacy format of RocksDB
    // short progressions.
    for (format, capacity, rate) in [
        (Format::LevelDbFilter, 10_000_000, 0.002),
        (Format::RocksDbLegacy, 1000, 0.001),
        (Format::RocksDbFormat5, 1000, 1e-30),
        (Format::ParquetBitset, 1 << 27, 0.01),
    ] {
        let error = format.build(capacity, Some(rate), None).unwrap_err();
        assert!(matches!(error, Error::Size { .. }), "{format}");
    }
}

/// The keys from 0 to `count`.
fn filled(mut filter: AnyFilter, count: u64) -> AnyFilter {
    for number in 0..count {
        filter.insert(Key::Text(&format!("key {number}"))).unwrap();
    }
    filter
}

/// LevelDB and RocksDB know bits per key only. The numbers were computed from the formulas by
/// another program. Filters of these sizes keep the rate, up to the deviation of 20,000 random
/// keys.
#[test]
fn bits_per_key_are_the_least_that_keep_the_rate() {
    const KEYS: u64 = 20_000;
    let expected = [
        (Format::LevelDbFilter, [(0.5, 2000), (0.1, 5000), (0.01, 10_000), (1e-4, 20_000)]),
        (Format::RocksDbFormat5, [(0.5, 1443), (0.1, 4832), (0.01, 9896), (1e-4, 21_963)]),
        (Format::RocksDbLegacy, [(0.5, 2000), (0.1, 5000), (0.01, 11_000), (0.005, 14_000)]),
    ];
    for (format, rows) in expected {
        for (rate, millibits) in rows {
            let built = format.build(KEYS, Some(rate), None).unwrap();
            let bits = KEYS * millibits / 1000;
            let bits = match format {
                Format::LevelDbFilter => bits.next_multiple_of(8),
                Format::RocksDbFormat5 => bits.next_multiple_of(512),
                _ => 512 * (bits.div_ceil(512) | 1),
            };
            assert_eq!(built.parameters()[0], ("bits", bits), "{format} {rate}");
            let found = filled(built, KEYS).false_positive_rate();
            // The last step of LevelDB and of the legacy format is a whole bit. At the lowest rate,
            // few blocks with many keys have most of the false positives: the standard deviation is
            // 10 % of the rate.
            let most = if rate < 0.001 { 1.3 } else { 1.05 };
            assert!((0.5 * rate..most * rate).contains(&found), "{format} {rate}: {found}");
        }
    }
    for (format, rate, bits) in [
        (Format::RocksDbFormat5, 1e-6, 38_656 * KEYS / 1000),
        (Format::RocksDbFormat5, 1e-9, 79_408 * KEYS / 1000),
        (Format::LevelDbFilter, 1e-5, 26 * KEYS),
    ] {
        let built = format.build(KEYS, Some(rate), None).unwrap();
        let block = if format == Format::LevelDbFilter { 8 } else { 512 };
        assert_eq!(built.parameters()[0], ("bits", bits.next_multiple_of(block)), "{rate}");
    }
    // With 10^7 keys a part of the 2^32 hashes is taken.
    let filter = Format::LevelDbFilter.build(10_000_000, Some(0.003), None).unwrap();
    assert_eq!(filter.parameters()[0], ("bits", 160_000_000));
}

/// What can be built can be read.
#[test]
fn capacities_that_no_file_can_have_are_errors() {
    let most = i64::MAX as u64 - 1;
    let built = Format::PybloomScalable.build(most, None, None).unwrap();
    assert!(read(&[Format::PybloomScalable], &built.to_bytes(), None).is_ok());
    for capacity in [0, most + 1, u64::MAX] {
        let error = Format::PybloomScalable.build(capacity, None, None).unwrap_err();
        assert_eq!(error, Error::Size { parameter: "capacity" });
    }
}

/// In large filters whose places all come from a hash of 32 bits, the rate is several times that of
/// random places. At 300,000 keys, the standard deviation of what is found is below 4 % of the
/// rate.
#[test]
fn the_rate_of_a_hash_of_32_bits_is_that_of_absent_keys() {
    for format in [Format::LevelDbFilter, Format::RocksDbLegacy] {
        let filter = filled(format.build(300_000, Some(0.01), None).unwrap(), 300_000);
        let is_found =
            |number: &u64| filter.contains(Key::Text(&format!("absent {number}"))).unwrap();
        let found = (0..100_000).filter(is_found).count() as f64 / 1e5;
        let ratio = found / filter.false_positive_rate();
        assert!((0.7..1.4).contains(&ratio), "{format}: {ratio}");
    }
}
