//! The public API: use as std's collections, traits, and a typed error for every bad input.

use core::hash::BuildHasher as _;
use core::hash::BuildHasherDefault;
use std::hash::DefaultHasher;
use std::rc::Rc;
use std::time::Duration;

use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, BuildError, Buildable, Builder, CountingBloomFilter, Geometry,
    InLines, OnceBloomFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
    UnionError, WithRate,
};
use tamis_hash::{DefaultHashBuilder, Rapid, SipHash13};

#[test]
fn filters_are_send_and_sync_whatever_the_item() {
    fn assert<X: Send + Sync>() {}
    assert::<BloomFilter<Rc<str>>>();
    assert::<BlockedBloomFilter<Rc<str>>>();
    assert::<OnceBloomFilter<*const u8>>();
    assert::<CountingBloomFilter<*const u8>>();
    assert::<Builder<OnceBloomFilter<Rc<str>>>>();
}

#[test]
fn items_are_queried_by_their_borrowed_form() -> Result<(), BuildError> {
    let strings = BloomFilter::<String>::with_capacity(100)?;
    assert!(strings.insert("a"));
    assert!(strings.contains(&String::from("a")));
    let bytes = OnceBloomFilter::<Vec<u8>>::with_capacity(100)?;
    assert!(bytes.insert(&b"a"[..]));
    assert!(!bytes.insert(&vec![b'a']));
    let numbers = BlockedBloomFilter::<u64>::with_capacity(100)?;
    assert!(numbers.insert(&5));
    assert!(numbers.contains(&5));
    let pairs = BlockedBloomFilter::<(String, u32)>::builder()
        .hasher(Rapid::with_seed(1))
        .capacity(10)
        .build()?;
    assert!(pairs.insert(&("a".to_owned(), 1)));
    let counted = CountingBloomFilter::<String>::with_capacity(100)?;
    assert!(counted.insert("a") && counted.remove(&String::from("a")) && !counted.contains("a"));
    let std_hasher =
        BloomFilter::<str>::builder().capacity(10).hasher(std::hash::RandomState::new()).build()?;
    assert!(std_hasher.insert("a"));
    Ok(())
}

#[test]
fn collections_collect() {
    let words = ["a", "b", "c"];
    let from_refs: BloomFilter<str> = words.into_iter().collect();
    let from_owned: OnceBloomFilter<String> = words.iter().map(ToString::to_string).collect();
    assert!(words.iter().all(|word| from_refs.contains(word) && from_owned.contains(*word)));
    assert_eq!(from_refs.capacity(), 3);

    // Fixed keys: the estimates of so few items vary by a few per cent.
    type Fixed = BuildHasherDefault<DefaultHasher>;
    let builder = BlockedBloomFilter::<u64>::builder().hasher(Fixed::default());
    let mut blocked = builder.capacity(1000).build().unwrap();
    blocked.extend(0..10_u64);
    blocked.extend(&[10, 11]);
    let mut shared = &blocked;
    shared.extend(&[12]);
    shared.extend(13..20_u64);
    assert!((0..20).all(|item| blocked.contains(&item)));
    assert!((18.0..22.0).contains(&blocked.figures().items.value));

    let mut counting: CountingBloomFilter<u64, Fixed> = (0..10_u64).collect();
    counting.extend(&[10, 11]);
    (&counting).extend(12..20_u64);
    assert!((0..20).all(|item| counting.count(&item) >= 1));
    assert!((18.0..22.0).contains(&counting.figures().items.value));

    let empty: BlockedBloomFilter<u64> = core::iter::empty::<u64>().collect();
    assert!(!empty.contains(&1));
}

#[cfg(feature = "rayon")]
#[test]
fn collections_collect_in_parallel() {
    use rayon::prelude::*;

    let once: OnceBloomFilter<u64> = (0..10_000_u64).into_par_iter().collect();
    assert!((0..10_000).all(|item| once.contains(&item)));
    let mut filter = BlockedBloomFilter::<u64>::with_capacity(20_000).unwrap();
    filter.par_extend(0..10_000_u64);
    let more: Vec<u64> = (10_000..20_000).collect();
    (&filter).par_extend(&more);
    assert!((0..20_000).all(|item| filter.contains(&item)));
    let mut counting: CountingBloomFilter<u64> = (0..10_000_u64).into_par_iter().collect();
    counting.par_extend(0..10_000_u64);
    (&counting).par_extend(&more);
    assert!((0..10_000).all(|item| counting.count(&item) >= 2));
    assert!((0..20_000).all(|item| counting.remove(&item)));
}

/// Collecting gives the same filter with a known and an unknown length, in parallel and not.
#[cfg(feature = "rayon")]
#[test]
fn all_ways_to_collect_are_the_same() {
    use rayon::prelude::*;

    type Once = OnceBloomFilter<u64, BuildHasherDefault<DefaultHasher>>;

    for count in [0, 1, 31, 100, 5000, 70_000, 300_000, 2_000_000_u64] {
        let items: Vec<u64> = (0..count).collect();
        let by_one = Builder::<Once>::new(BuildHasherDefault::default())
            .capacity(count.max(1) as usize)
            .build()
            .unwrap();
        items.iter().for_each(|item| {
            by_one.insert(item);
        });
        let mut extended: Once = by_one.clone();
        extended.clear();
        extended.par_extend(&items);
        for filter in [
            items.iter().collect(),
            items.iter().filter(|_| true).collect(),
            items.iter().copied().collect(),
            items.par_iter().collect(),
            items.par_iter().filter(|_| true).collect(),
            items.par_iter().copied().collect(),
            extended,
        ] {
            let filter: Once = filter;
            assert_eq!(filter.geometry(), by_one.geometry());
            assert_eq!(filter.capacity(), by_one.capacity());
            assert_eq!(filter.figures().fill.value, by_one.figures().fill.value);
            let same = |item: &u64| filter.contains(item) == by_one.contains(item);
            assert!(items.iter().all(|item| filter.contains(item)));
            assert!((count..count + 10_000).all(|item| same(&item)));
        }
    }
}

#[test]
fn clones_are_copies_and_clear_removes_all_items() -> Result<(), BuildError> {
    let mut filter = OnceBloomFilter::<u64>::with_capacity(100)?;
    filter.extend(0..50_u64);
    let copy = filter.clone();
    filter.clear();
    assert_eq!((filter.figures().fill.value, filter.figures().items.value), (0.0, 0.0));
    assert_eq!(filter.false_positive_rate(), 0.0);
    assert!((0..50).all(|item| copy.contains(&item) && !filter.contains(&item)));
    Ok(())
}

/// Checks the empty filter that is like `filter`, which contains the items below 1000.
macro_rules! check_empty_like {
    ($builder:expr) => {{
        let filter = $builder.capacity(5000).false_positive_rate(1e-4).build()?;
        for item in 0..1000_u64 {
            filter.insert(&item);
        }
        let (size, fill) = (filter.size_in_bytes(), filter.figures().fill.value);
        let empty = Builder::from(&filter).build()?;
        assert_eq!((empty.figures().fill.value, empty.size_in_bytes()), (0.0, size));
        assert_eq!((empty.geometry(), empty.capacity()), (filter.geometry(), 5000));
        // The hashers are the same, with the same random keys: the bits mean the same items.
        empty.union_with(&filter).expect("both hash alike");
        assert!((0..1000).all(|item| empty.contains(&item)) && empty.figures().fill.value == fill);
        assert_eq!(filter.figures().fill.value, fill, "the filter itself is unchanged");
        // A capacity that does not follow from the sizes is the same, too.
        let other = $builder.like(filter.geometry()).capacity(7).build()?;
        assert_eq!(Builder::from(&other).build()?.capacity(), 7);
    }};
}

#[test]
fn an_empty_filter_like_another_has_its_sizes_and_its_hash() -> Result<(), BuildError> {
    check_empty_like!(BloomFilter::<u64>::builder());
    check_empty_like!(BlockedBloomFilter::<u64>::builder());
    check_empty_like!(OnceBloomFilter::<u64>::builder());
    check_empty_like!(CountingBloomFilter::<u64>::builder());
    check_empty_like!(OnceBloomFilter::<u64>::builder().hasher(SipHash13::with_key([7; 16])));
    Ok(())
}

#[test]
fn debug_shows_the_shape_and_no_secret() -> Result<(), BuildError> {
    let filter = BloomFilter::<str>::builder()
        .bits(640)
        .probes(3)
        .hasher(SipHash13::with_key(*b"0123456789abcdef"))
        .build()?;
    filter.insert("a");
    let text = format!("{filter:?}");
    assert!(text.contains("640") && text.len() < 200, "{text}");
    let seeded = DefaultHashBuilder::with_seed(77);
    let keyed = SipHash13::with_key(*b"0123456789abcdef");
    for secret in
        [format!("{keyed:?}"), format!("{seeded:?}"), format!("{:?}", seeded.build_hasher())]
    {
        // The name of the algorithm has digits; a key would have more.
        assert!(secret.matches(|c: char| c.is_ascii_digit()).count() <= 2, "{secret}");
    }
    Ok(())
}

/// Checks every bad size, for one type of filter.
fn bad_sizes<F: Buildable>(new: impl Fn() -> Builder<F>, most_probes: u32, other: Geometry) {
    let geometry = |builder: Builder<F>| builder.geometry().map(|_| ());
    assert_eq!(geometry(new()), Err(BuildError::Unsized));
    assert_eq!(geometry(new().false_positive_rate(0.1)), Err(BuildError::Unsized));
    for rate in [0.0, -0.0, 1.0, 1.5, -0.1, f64::INFINITY, f64::NEG_INFINITY] {
        let result = geometry(new().capacity(10).false_positive_rate(rate));
        assert_eq!(result, Err(BuildError::Rate { rate }));
    }
    let nan = geometry(new().capacity(10).false_positive_rate(f64::NAN));
    assert!(matches!(nan, Err(BuildError::Rate { rate }) if rate.is_nan()));
    for rate in [f64::MIN_POSITIVE, 5e-324, 1e-30] {
        let result = geometry(new().capacity(10).false_positive_rate(rate));
        assert!(matches!(result, Err(BuildError::RateTooLow { .. })), "{result:?}");
    }
    assert_eq!(geometry(new().capacity(usize::MAX)), Err(BuildError::TooLarge));
    assert_eq!(geometry(new().bits(0).probes(1)), Err(BuildError::Bits));
    for probes in [0, most_probes + 1, u32::MAX] {
        let error = BuildError::Probes { probes, max: most_probes };
        assert_eq!(geometry(new().bits(100).probes(probes)), Err(error));
    }
    assert_eq!(geometry(new().bits(1)), Err(BuildError::Incomplete));
    assert_eq!(geometry(new().probes(1)), Err(BuildError::Incomplete));
    assert_eq!(geometry(new().capacity(1).probes(1)), Err(BuildError::Conflict));
    assert_eq!(geometry(new().bits(1).false_positive_rate(0.1)), Err(BuildError::Conflict));
    assert_eq!(geometry(new().capacity(1).bits(1).probes(1)), Err(BuildError::Conflict));
    assert_eq!(
        geometry(new().bits(1).probes(1).false_positive_rate(0.1)),
        Err(BuildError::Conflict)
    );
    let sizes = new().capacity(10).geometry().unwrap();
    assert_eq!(new().like(sizes).geometry(), Ok(sizes));
    assert_eq!(new().like(sizes).capacity(7).geometry(), Ok(sizes));
    // A capacity of 0 counts as 1: the smallest filter, as from an empty iterator.
    let smallest = new().capacity(0);
    assert_eq!(smallest.geometry(), new().capacity(1).geometry());
    assert_eq!(new().like(sizes).capacity(0).geometry(), Ok(sizes));
    assert_eq!(geometry(new().like(sizes).bits(1).probes(1)), Err(BuildError::Conflict));
    assert_eq!(geometry(new().like(sizes).false_positive_rate(0.1)), Err(BuildError::Conflict));
    assert_eq!(geometry(new().like(other)), Err(BuildError::Layout));
    // More memory than any machine has: an error, no abort.
    for builder in [new().capacity(1 << 50), new().bits(u64::MAX).probes(most_probes)] {
        assert!(matches!(builder.build(), Err(BuildError::Alloc { bytes }) if bytes > 1 << 50));
    }
    // The lowest rates that are allowed can be built.
    for items in [1, 10, 1 << 40] {
        let lowest = items as f64 / 2.0_f64.powi(63);
        let geometry = new().capacity(items).false_positive_rate(lowest).geometry().unwrap();
        assert!(geometry.false_positive_rate_at(items) <= lowest * 1.03);
    }
}

#[test]
fn bad_sizes_are_typed_errors() {
    let of_once = OnceBloomFilter::<str>::builder().capacity(5).geometry().unwrap();
    let of_blocked = BlockedBloomFilter::<str>::builder().capacity(5).geometry().unwrap();
    bad_sizes(BloomFilter::<str>::builder, 64, of_once);
    bad_sizes(BlockedBloomFilter::<str>::builder, 32, of_once);
    bad_sizes(OnceBloomFilter::<str>::builder, 32, of_blocked);
    bad_sizes(CountingBloomFilter::<str>::builder, 32, of_blocked);
    let of_counting = CountingBloomFilter::<str>::builder().capacity(5).geometry().unwrap();
    bad_sizes(BlockedBloomFilter::<str>::builder, 32, of_counting);
}

#[test]
fn unions_need_the_same_geometry_and_hash() -> Result<(), BuildError> {
    let new = |capacity, seed| {
        OnceBloomFilter::<u64>::builder().capacity(capacity).hasher(Rapid::with_seed(seed)).build()
    };
    let (a, b) = (new(1000, 1)?, new(1000, 1)?);
    a.insert_many_with(0..100, |_, _| ());
    b.insert_many_with(100..200, |_, _| ());
    assert_eq!(a.union_with(&new(2000, 1)?), Err(UnionError::Geometry));
    let stranger = new(1000, 2)?;
    stranger.insert_many_with(500..600, |_, _| ());
    assert_eq!(a.union_with(&stranger), Err(UnionError::Hash));
    assert!((100..200).filter(|item| a.contains(item)).count() < 10, "nothing has been changed");
    a.union_with(&b).unwrap();
    assert!((0..200).all(|item| a.contains(&item)));
    let fill = a.figures().fill.value;
    a.union_with(&a).unwrap();
    assert_eq!(a.figures().fill.value, fill, "a union with itself changes nothing");
    // Filters of different capacities with the same geometry can be united.
    let blocked = |bits| {
        let builder = BlockedBloomFilter::<u64>::builder().hasher(Rapid::with_seed(1));
        builder.bits(bits).probes(6).build()
    };
    assert!(blocked(5120)?.union_with(&blocked(5000)?).is_ok());
    Ok(())
}

/// A panic in the user's code leaves the filter unchanged and usable.
#[test]
fn a_panicking_hash_leaves_the_filter_valid() {
    struct Bomb;
    impl core::hash::Hash for Bomb {
        fn hash<H: core::hash::Hasher>(&self, _: &mut H) {
            panic!("boom");
        }
    }
    let filter = OnceBloomFilter::<Bomb>::with_capacity(1).unwrap();
    let result = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| filter.insert(&Bomb)));
    assert!(result.is_err());
    assert_eq!(filter.figures().fill.value, 0.0);
    // The one line of the filter is not locked: this insert returns.
    assert!(filter.by_hash().insert(1));
}

#[test]
fn words_are_a_choice_between_memory_and_speed() {
    fn check<F: InLines>(new: impl Fn() -> Builder<F>) {
        let sized =
            |words| new().capacity(100_000).false_positive_rate(1e-4).words(words).geometry();
        let bits = [1, 2, 4, 8].map(|words| {
            let geometry = sized(words).unwrap();
            assert_eq!(geometry.words(), words);
            let rate = geometry.false_positive_rate_at(100_000);
            assert!((0.97e-4..=1e-4).contains(&rate), "{words} words: {rate}");
            geometry.bits()
        });
        // One bit in each of eight words is more words than this rate can use.
        assert!(bits[..3].is_sorted_by(|more, fewer| more > fewer), "{bits:?}");
        // The default is the fewest words that need at most a fifth more than the best.
        let default = new().capacity(100_000).false_positive_rate(1e-4).geometry().unwrap();
        assert_eq!((default.words(), default.bits()), (2, bits[1]));
        for words in [0, 3, 16, u32::MAX] {
            assert_eq!(sized(words), Err(BuildError::Words { words }));
        }
        // With probes, each word has 1 to 8 of them.
        let spread = |probes, words| new().bits(1000).probes(probes).words(words).geometry();
        assert_eq!(spread(6, 1).unwrap().words(), 1);
        assert_eq!(spread(32, 4).unwrap().words(), 4);
        for (probes, words) in [(9, 1), (3, 4), (17, 2), (6, 3)] {
            assert_eq!(spread(probes, words), Err(BuildError::Words { words }));
        }
        assert_eq!(new().words(2).geometry(), Err(BuildError::Unsized));
        let like = sized(2).unwrap();
        assert_eq!(new().like(like).words(2).geometry(), Err(BuildError::Conflict));
    }
    check(BlockedBloomFilter::<u64>::builder);
    check(OnceBloomFilter::<u64>::builder);
    check(CountingBloomFilter::<u64>::builder);
}

#[test]
fn arrays_become_filters_as_collections_do() {
    let names = BlockedBloomFilter::<str>::from(["a", "b"]);
    assert!(names.contains("a") && names.contains("b") && !names.contains("c"));
    let numbers: OnceBloomFilter<u64> = [1, 2, 3].into();
    assert!(!numbers.insert(&2) && numbers.insert(&4));
    let none = BloomFilter::<str>::from([]);
    assert_eq!((none.capacity(), none.figures().fill.value), (1, 0.0));
    let counted = CountingBloomFilter::<str>::from(["a", "a"]);
    assert_eq!(counted.count("a"), 2);
}

/// Numbers at the ends of their ranges give a filter or a typed error, never a panic. What is asked
/// for is larger than any memory or as small as it can be.
#[test]
fn extreme_sizes_of_the_newer_types_are_typed_errors() {
    /// Returns whether an item is new in an empty filter.
    fn built<F>(capacity: usize, rate: f64) -> Result<bool, BuildError>
    where
        F: WithRate<Item = u64, Hasher = Rapid>,
    {
        let filter = F::with_rate(capacity, rate, Rapid::with_seed(1));
        filter.map(|filter| matches!(filter.try_insert(&1), Ok(true)))
    }
    let rates =
        [1e-300, f64::MIN_POSITIVE, 1e-18, 0.5, 1.0 - f64::EPSILON, f64::NAN, 0.0, 1.0, -1.0];
    for rate in rates {
        for capacity in [0, 1, usize::MAX / 2, usize::MAX] {
            let small = capacity < 2;
            let built = [
                built::<ScalableBloomFilter<_, _>>(capacity, rate),
                built::<OnceScalableBloomFilter<_, _>>(capacity, rate),
                built::<CountingBloomFilter<_, _>>(capacity, rate),
            ];
            let rotating = [2, 16].map(|generations| {
                let builder = RotatingBloomFilter::<u64>::builder().capacity(capacity);
                let builder = builder.false_positive_rate(rate).generations(generations);
                builder.span(Duration::MAX).build().map(|filter| {
                    filter.advance(Duration::MAX);
                    filter.insert(&1)
                })
            });
            for result in built.into_iter().chain(rotating) {
                match result {
                    Ok(new) => assert!(new && small && rate > 0.0 && rate < 1.0),
                    Err(BuildError::Rate { .. }) => assert!(!(rate > 0.0 && rate < 1.0)),
                    // From 2^63 items on, the limit of 64-bit hashes exceeds even a high rate.
                    Err(BuildError::RateTooLow { .. }) => assert!(rate < 0.5 || !small),
                    Err(_) => assert!(!small),
                }
            }
        }
    }
    for bits in [1, u64::MAX - 1, u64::MAX] {
        let built = CountingBloomFilter::<u64>::builder().bits(bits).probes(1).build();
        assert_eq!(built.is_ok(), bits == 1);
    }
    let none = ScalableBloomFilter::<u64>::builder().max_size_in_bytes(0).build();
    assert!(matches!(none, Err(BuildError::Alloc { .. })));
}

/// An iterator may begin again after its end, or panic. A build of 32 MiB or more asks first for
/// as many items as it has lines.
#[test]
fn an_iterator_is_not_asked_after_its_end() {
    for items in [0, 3] {
        let builder = BlockedBloomFilter::<u64>::builder().hasher(Rapid::with_seed(1));
        let mut filter = builder.bits(1 << 28).probes(7).build().unwrap();
        let (mut next, mut has_ended) = (0, false);
        filter.extend(core::iter::from_fn(|| {
            assert!(!has_ended, "asked after its end");
            has_ended = next == items;
            next += 1;
            (!has_ended).then_some(next)
        }));
        assert_eq!(next, items + 1);
    }
}
