//! The computed sizes keep the requested capacity and rate, and every invalid input is a typed
//! error with its own message.

use proptest::prelude::*;
use tamis_cuckoo::{
    BuildError, Buildable, Builder, CuckooFilter, Geometry, InsertError, MergeError,
    OnceCuckooFilter,
};

fn builder() -> Builder<CuckooFilter<u64>> {
    CuckooFilter::<u64>::builder()
}

fn sized(items: u64, rate: f64) -> Result<Geometry, BuildError> {
    builder().capacity(items as usize).false_positive_rate(rate).geometry()
}

const RATES: [f64; 12] = [0.9, 0.5, 0.1, 0.06, 0.03, 0.01, 1e-3, 1.3e-4, 1e-4, 1e-5, 1e-6, 2e-9];

const ITEMS: [u64; 14] =
    [1, 2, 3, 7, 9, 50, 333, 1000, 99_999, 100_000, 1_234_567, 1_000_000_000, 1 << 36, 1 << 50];

#[test]
fn sizes_keep_the_requested_capacity_and_rate() {
    for rate in RATES {
        for items in ITEMS {
            // Equal 64-bit hashes alone exceed this rate.
            if rate < items as f64 / 2.0_f64.powi(60) {
                continue;
            }
            let geometry = sized(items, rate).unwrap();
            let expected = geometry.false_positive_rate_at(items as usize);
            assert!(expected <= rate, "{items} {rate}: {expected}");
            assert!(geometry.capacity() >= items as usize, "{items} {rate}: {geometry:?}");
            assert!(geometry.buckets() >= 2 && geometry.buckets().is_multiple_of(2));
            // Two buckets fewer would miss the capacity or the rate.
            if let Some(fewer @ 2..) = geometry.buckets().checked_sub(2) {
                let shape = builder().buckets(fewer).slots(geometry.slots());
                let smaller = shape.fingerprint_bits(geometry.fingerprint_bits()).geometry();
                let smaller = smaller.unwrap();
                assert!(
                    smaller.capacity() < items as usize
                        || smaller.false_positive_rate_at(items as usize) > rate,
                    "{items} {rate}: {smaller:?} suffices"
                );
            }
        }
    }
}

/// More items, or a lower rate, never need fewer bits. One exception: where there are buckets of
/// 128 bits, the builder prefers a faster shape that takes up to a nineteenth more, and at the next
/// lower rate it may choose the smaller one.
#[test]
fn sizes_are_monotone() {
    let bits = |items, rate| sized(items, rate).unwrap().bits();
    let pairs = Geometry::shapes().any(|(slots, bits)| slots * bits > 64);
    let (part, whole) = if pairs { (19, 20) } else { (1, 1) };
    let is_at_most = |few: u64, more: u64| few * part <= more * whole;
    for items in [1, 2, 5, 10, 100, 1000, 123_456, 10_000_000] {
        for rate in RATES {
            assert!(is_at_most(bits(items, rate), bits(items + 1, rate)), "{items} {rate}");
            assert!(is_at_most(bits(items, rate), bits(2 * items, rate)), "{items} {rate}");
        }
        let of_step = |step| bits(items, 0.95_f64.powi(step));
        for step in 1..390 {
            assert!(is_at_most(of_step(step), of_step(step + 1)), "{items} items at 0.95^{step}");
        }
    }
    for (slots, width) in Geometry::shapes() {
        let of = |buckets| {
            let builder = builder().buckets(buckets).slots(slots).fingerprint_bits(width);
            builder.geometry().unwrap()
        };
        for buckets in (2..3000).step_by(2) {
            assert!(of(buckets).capacity() <= of(buckets + 2).capacity(), "{slots}x{width}");
            assert!(of(buckets).size_in_bytes() <= of(buckets + 2).size_in_bytes());
            let rates = [0, 1, 10, 1000, 1_000_000, u64::MAX];
            let rates = rates.map(|items| of(buckets).false_positive_rate_at(items as usize));
            assert!(rates.is_sorted() && rates[0] == 0.0 && rates[5] <= 1.0, "{rates:?}");
        }
    }
}

/// The bits per item are those of a full word per bucket at the load of its shape. The memory adds
/// at most 1 % for locks.
#[test]
fn bits_per_item_are_those_of_a_full_word() {
    let shapes = [
        (0.07, 8, 8),
        (0.03, 4, 8),
        (0.01, 5, 12),
        (1e-3, 4, 16),
        (8e-5, 7, 18),
        (1e-5, 3, 20),
        (1e-6, 5, 25),
        (2e-9, 4, 32),
        (1e-9, 2, 32),
        (1.4e-12, 3, 42),
    ];
    assert_eq!(shapes.len(), Geometry::shapes().count());
    for (rate, slots, width) in shapes {
        let items = 1_000_000;
        let geometry = sized(items, rate).unwrap();
        assert_eq!((geometry.slots(), geometry.fingerprint_bits()), (slots, width));
        let word = f64::from((slots * width).next_power_of_two());
        assert_eq!(geometry.bits() as f64, geometry.buckets() as f64 * word);
        let slots = geometry.buckets() as f64 * f64::from(slots);
        let full = word * geometry.buckets() as f64 / geometry.capacity() as f64;
        let published = word / f64::from(geometry.slots()) / (geometry.capacity() as f64 / slots);
        let ratio = geometry.bits() as f64 / items as f64 / published;
        assert!((1.0..1.01).contains(&ratio), "{geometry:?}: {ratio} of {full} bits per item");
        let memory = geometry.size_in_bytes() as f64 * 8.0 / geometry.bits() as f64;
        assert!((1.0..1.01).contains(&memory), "{geometry:?}: {memory} of the buckets");
    }
}

/// Checks the error for every invalid input of a builder.
fn check_invalid_sizes<F: Buildable>(new: impl Fn() -> Builder<F>) {
    let geometry = |builder: Builder<F>| builder.geometry().map(drop);
    let of = |buckets, slots, bits| new().buckets(buckets).slots(slots).fingerprint_bits(bits);
    assert_eq!(geometry(new()), Err(BuildError::Unsized));
    assert_eq!(geometry(new().false_positive_rate(0.1)), Err(BuildError::Unsized));
    // A capacity of 0 counts as 1: the smallest filter.
    let smallest = new().capacity(0);
    assert_eq!(smallest.geometry(), new().capacity(1).geometry());
    assert_eq!(smallest.build().map(|_| ()), Ok(()));
    for rate in [0.0, -0.0, 1.0, 1.5, -0.1, f64::INFINITY, f64::NEG_INFINITY] {
        let result = geometry(new().capacity(10).false_positive_rate(rate));
        assert_eq!(result, Err(BuildError::Rate { rate }));
    }
    let nan = geometry(new().capacity(10).false_positive_rate(f64::NAN));
    assert!(matches!(nan, Err(BuildError::Rate { rate }) if rate.is_nan()));
    for rate in [f64::MIN_POSITIVE, 5e-324, 1e-30, 1e-17] {
        for items in [1, 10, 1 << 40, u64::MAX] {
            let result = geometry(new().capacity(items as usize).false_positive_rate(rate));
            let Err(BuildError::RateTooLow { rate: asked, lowest }) = result else {
                panic!("{items} {rate}: {result:?}");
            };
            assert!(asked == rate && lowest > rate && lowest <= 1.0, "{items} {rate}: {lowest}");
        }
    }
    for rate in [0.999_999, 0.5] {
        for items in [u64::MAX, u64::MAX / 2, 1 << 62] {
            let result = geometry(new().capacity(items as usize).false_positive_rate(rate));
            let is_error =
                matches!(result, Err(BuildError::TooLarge | BuildError::RateTooLow { .. }));
            assert!(is_error, "{items} {rate}: {result:?}");
        }
    }
    for buckets in [0, 1, 3, 999, u64::MAX] {
        assert_eq!(geometry(of(buckets, 4, 8)), Err(BuildError::Buckets { buckets }));
    }
    assert_eq!(geometry(of(1 << 56, 4, 8)), Ok(()));
    for buckets in [(1 << 56) + 2, u64::MAX - 1] {
        assert_eq!(geometry(of(buckets, 4, 8)), Err(BuildError::TooLarge));
    }
    for (slots, bits) in
        [(0, 0), (0, 8), (4, 0), (1, 64), (4, 12), (8, 16), (3, 8), (16, 4), (u32::MAX, u32::MAX)]
    {
        let error = BuildError::Shape { slots, fingerprint_bits: bits };
        assert_eq!(geometry(of(100, slots, bits)), Err(error));
    }
    let some: [fn(Builder<F>) -> Builder<F>; 6] = [
        |new| new.buckets(2),
        |new| new.slots(4),
        |new| new.fingerprint_bits(8),
        |new| new.buckets(2).slots(4),
        |new| new.buckets(2).fingerprint_bits(8),
        |new| new.slots(4).fingerprint_bits(8),
    ];
    for some in some {
        assert_eq!(geometry(some(new())), Err(BuildError::Incomplete));
        assert_eq!(geometry(some(new()).capacity(5)), Err(BuildError::Conflict));
        assert_eq!(geometry(some(new()).false_positive_rate(0.1)), Err(BuildError::Conflict));
    }
    let sizes = of(100, 4, 16).geometry().unwrap();
    for builder in [
        of(2, 4, 8).capacity(5),
        of(2, 4, 8).false_positive_rate(0.1),
        of(2, 4, 8).like(sizes),
        new().like(sizes).false_positive_rate(0.1),
        new().like(sizes).capacity(5).false_positive_rate(0.1),
        new().like(sizes).slots(4),
    ] {
        assert_eq!(geometry(builder), Err(BuildError::Conflict));
    }
    assert_eq!(new().like(sizes).capacity(0).geometry(), Ok(sizes));
    assert_eq!(new().like(sizes).geometry(), Ok(sizes));
    assert_eq!(new().like(sizes).capacity(7).geometry(), Ok(sizes));
    // An allocation that no machine can serve returns an error and does not abort.
    for builder in [new().capacity(1 << 50), of(1 << 56, 2, 32), of(1 << 50, 4, 8)] {
        assert!(matches!(builder.build(), Err(BuildError::Alloc { bytes }) if bytes > 1 << 50));
    }
}

#[test]
fn invalid_sizes_are_typed_errors() {
    check_invalid_sizes(CuckooFilter::<str>::builder);
    check_invalid_sizes(OnceCuckooFilter::<str>::builder);
}

/// The lowest rate that an error names is possible, and a slightly lower one is not.
#[test]
fn the_lowest_rate_of_an_error_is_possible() {
    for items in [1, 10, 1000, 1_000_000, 1 << 40] {
        let Err(BuildError::RateTooLow { lowest, .. }) = sized(items, 1e-18) else {
            panic!("1e-18 is accepted");
        };
        assert!(sized(items, lowest * 1.0001).is_ok(), "{items}: {lowest:e}");
        assert!(sized(items, lowest * 0.99).is_err(), "{items}: {lowest:e}");
    }
    // If no filter has the capacity, the error names no rate.
    for power in 50..64 {
        for items in [1_u64 << power, (1 << power) / 5 * 7] {
            for rate in [1e-18, 1e-4, 0.01, 0.3] {
                check_lowest(items, |rate| sized(items, rate), rate);
                for first in [1000, items / 2, items] {
                    let grows = builder().capacity(first as usize).max_capacity(items as usize);
                    let sized = |rate| grows.clone().false_positive_rate(rate).geometry();
                    check_lowest(items, sized, rate);
                }
            }
        }
    }
}

/// Checks the error at this rate, if there is one.
fn check_lowest(items: u64, sized: impl Fn(f64) -> Result<Geometry, BuildError>, rate: f64) {
    if let Err(BuildError::RateTooLow { lowest, .. }) = sized(rate) {
        let rate = if lowest < 1.0 { lowest * 1.0001 } else { 0.999_999 };
        let result = sized(rate.min(0.999_999));
        assert_eq!(result.is_ok(), lowest < 1.0, "{items} {lowest:e}: {result:?}");
    }
}

#[test]
fn error_messages_name_the_cause() {
    let insert = [
        (InsertError::Full, "the filter is full"),
        (InsertError::TooManyCopies, "the filter holds as many copies of the item as it can"),
    ];
    for (error, text) in insert {
        assert_eq!(error.to_string(), text);
    }
    let merge = [
        (
            MergeError::Geometry,
            "the filters differ in geometry (buckets, slots, fingerprint bits or doublings)",
        ),
        (MergeError::Hash, "the filters hash differently (algorithm or seed)"),
        (MergeError::Insert(InsertError::Full), "the items of both do not fit: the filter is full"),
        (MergeError::Alloc { bytes: 64 }, "cannot allocate 64 bytes"),
    ];
    for (error, text) in merge {
        assert_eq!(error.to_string(), text);
        let source = core::error::Error::source(&error).map(ToString::to_string);
        let inner = matches!(error, MergeError::Insert(_)).then(|| "the filter is full".to_owned());
        assert_eq!(source, inner);
    }
}

proptest! {
    /// No input panics, and an accepted size keeps the capacity and the rate.
    #[test]
    fn any_size_is_kept_or_rejected(
        items in any::<u64>(),
        shift in 0..64_u32,
        rate in prop_oneof![any::<f64>(), (0.0..1.0), (0.0..40.0).prop_map(|power: f64| 0.5_f64.powf(power))],
    ) {
        let items = items >> shift;
        if let Ok(geometry) = sized(items, rate) {
            prop_assert!(geometry.capacity() >= items as usize);
            prop_assert!(geometry.false_positive_rate_at(items as usize) <= rate);
            prop_assert!(geometry.size_in_bytes() >= geometry.bits() / 8);
        }
    }

    #[test]
    fn any_buckets_are_accepted_or_rejected(
        buckets in any::<u64>(),
        shift in 0..64_u32,
        items in any::<u64>(),
    ) {
        for (slots, width) in Geometry::shapes() {
            let builder = builder().buckets(buckets >> shift).slots(slots).fingerprint_bits(width);
            if let Ok(geometry) = builder.geometry() {
                prop_assert_eq!(geometry.buckets(), buckets >> shift);
                let capacity = geometry.capacity();
                prop_assert!(capacity >= (2 * u64::from(slots)) as usize);
                prop_assert!((capacity as u128) <= u128::from(geometry.buckets()) * u128::from(slots));
                prop_assert!((0.0..=1.0).contains(&geometry.false_positive_rate_at(items as usize)));
            }
        }
    }
}
