//! The public API: use like a std collection, equal results by item and by hash, and panics in the
//! user's code.

use core::cell::Cell;
use core::hash::{BuildHasher, Hash, Hasher};
use core::panic::AssertUnwindSafe;
use std::hash::{DefaultHasher, RandomState};
use std::panic::catch_unwind;
use std::rc::Rc;

use tamis_cuckoo::{
    BuildError, Builder, CuckooFilter, Filter as _, Geometry, InsertError, MergeError,
    OnceCuckooFilter,
};
use tamis_hash::{Rapid, SipHash13};

#[test]
fn filters_are_send_and_sync_whatever_the_item() {
    fn assert<X: Send + Sync>() {}
    assert::<CuckooFilter<Rc<str>>>();
    assert::<OnceCuckooFilter<*const u8>>();
    assert::<Builder<OnceCuckooFilter<Rc<str>>>>();
    assert::<(Geometry, BuildError, InsertError, MergeError)>();
}

#[test]
fn items_are_queried_by_their_borrowed_forms() -> Result<(), Box<dyn core::error::Error>> {
    let strings = CuckooFilter::<String>::with_capacity(100)?;
    strings.insert("a")?;
    strings.insert(&String::from("a"))?;
    assert!(strings.contains(&String::from("a")) && strings.contains("a"));
    assert_eq!((strings.count("a"), strings.count(&String::from("a"))), (2, 2));
    assert!(strings.remove("a") && strings.remove(&String::from("a")) && !strings.remove("a"));
    assert_eq!(strings.try_extend(["a".to_owned(), "b".to_owned()])?, 2);
    assert_eq!(strings.try_extend(&["c".to_owned()])?, 1);

    let bytes = OnceCuckooFilter::<Vec<u8>>::with_capacity(100)?;
    assert!(bytes.insert(&b"a"[..])?);
    assert!(!bytes.insert(&vec![b'a'])?);
    let numbers = CuckooFilter::<u64>::with_capacity(100)?;
    numbers.insert(&5)?;
    assert!(numbers.contains(&5));
    let pairs = CuckooFilter::<(String, u32)>::builder()
        .hasher(Rapid::with_seed(1))
        .capacity(10)
        .build()?;
    pairs.insert(&("a".to_owned(), 1))?;
    assert_eq!(pairs.count(&("a".to_owned(), 1)), 1);
    let std_hasher =
        OnceCuckooFilter::<str>::builder().capacity(10).hasher(RandomState::new()).build()?;
    assert!(std_hasher.insert("a")?);
    Ok(())
}

#[test]
fn the_once_filter_reports_an_item_as_new_once() -> Result<(), Box<dyn core::error::Error>> {
    let filter =
        OnceCuckooFilter::<str>::builder().capacity(10).false_positive_rate(1e-8).build()?;
    assert_eq!(filter.try_extend(["a", "b", "a"])?, 2);
    assert!(!filter.insert("a")? && filter.insert("c")? && !filter.insert("c")?);
    assert_eq!((filter.len(), filter.is_empty()), (3, false));
    assert!(["a", "b", "c"].iter().all(|item| filter.contains(*item)));
    Ok(())
}

#[test]
fn figures_agree_with_the_contents() -> Result<(), Box<dyn core::error::Error>> {
    let mut filter = CuckooFilter::<u64>::builder().capacity(1000).build()?;
    assert_eq!((filter.len(), filter.is_empty(), filter.capacity()), (0, true, 1000));
    assert_eq!((filter.load_factor(), filter.saturation()), (0.0, 0.0));
    assert_eq!(filter.false_positive_rate(), 0.0);
    assert_eq!(filter.figures_sampled(10).false_positive_rate.value, 0.0);
    filter.try_extend(0..500)?;
    let slots = filter.geometry().buckets() * u64::from(filter.geometry().slots());
    assert_eq!(filter.load_factor(), 500.0 / slots as f64);
    assert_eq!(filter.saturation(), 0.5);
    assert_eq!(filter.size_in_bytes(), filter.geometry().size_in_bytes());
    let copy = filter.clone();
    filter.clear();
    assert_eq!((filter.len(), filter.false_positive_rate()), (0, 0.0));
    assert!((0..500).all(|item| copy.contains(&item) && !filter.contains(&item)));
    assert_eq!((copy.len(), copy.capacity(), copy.geometry()), (500, 1000, filter.geometry()));
    Ok(())
}

#[test]
fn sizes_can_be_copied_to_another_filter() -> Result<(), BuildError> {
    let one = CuckooFilter::<u64>::with_capacity(1000)?;
    assert_eq!((one.capacity(), one.geometry().capacity() >= 1000), (1000, true));
    let like = OnceCuckooFilter::<str>::builder().like(one.geometry()).build()?;
    assert_eq!((like.geometry(), like.capacity()), (one.geometry(), one.geometry().capacity()));
    let less = CuckooFilter::<str>::builder().like(one.geometry()).capacity(7).build()?;
    assert_eq!((less.geometry(), less.capacity()), (one.geometry(), 7));
    let sizes = one.geometry();
    let again = CuckooFilter::<u64>::builder()
        .buckets(sizes.buckets())
        .slots(sizes.slots())
        .fingerprint_bits(sizes.fingerprint_bits());
    assert_eq!(again.geometry(), Ok(sizes));
    assert_eq!(again.hasher(Rapid::with_seed(1)).geometry(), Ok(sizes));
    // The capacity of a merged filter is the larger of both: the rate at their sum may be above
    // the request.
    let new = |capacity: u64| {
        let builder = CuckooFilter::<u64>::builder().like(sizes).capacity(capacity as usize);
        builder.hasher(Rapid::with_seed(1)).build().unwrap()
    };
    assert_eq!(CuckooFilter::merge(&new(100), &new(200)).unwrap().capacity(), 200);
    Ok(())
}

/// Checks the empty filter that is like a filter with the items below 1000, for every shape of a
/// slot.
macro_rules! check_empty_like {
    ($type:ident) => {
        for rate in [1e-2, 1e-4, 1e-6, 1e-9] {
            let filter =
                $type::<u64>::builder().capacity(5000).false_positive_rate(rate).build()?;
            filter.try_extend(0..1000_u64)?;
            let stored = filter.len();
            let empty = Builder::from(&filter).build()?;
            assert!(empty.is_empty() && (0..1000).all(|item| !empty.contains(&item)));
            assert_eq!((empty.geometry(), empty.capacity()), (filter.geometry(), 5000));
            // The hashers are the same, with the same random keys: the fingerprints mean the same
            // items.
            let merged = $type::merge(&empty, &filter)?;
            assert!((0..1000).all(|item| merged.contains(&item)));
            assert_eq!(filter.len(), stored, "the filter itself is unchanged");
        }
    };
}

#[test]
fn an_empty_filter_like_another_has_its_sizes_and_its_hash()
-> Result<(), Box<dyn core::error::Error>> {
    check_empty_like!(CuckooFilter);
    check_empty_like!(OnceCuckooFilter);
    Ok(())
}

#[test]
fn debug_shows_the_sizes_and_not_the_contents() -> Result<(), Box<dyn core::error::Error>> {
    let new = || {
        CuckooFilter::<str>::builder()
            .buckets(500)
            .slots(4)
            .fingerprint_bits(16)
            .hasher(SipHash13::with_key(*b"0123456789abcdef"))
    };
    let (one, other) = (new().build()?, new().build()?);
    one.try_extend(["a", "b"])?;
    other.try_extend(["c", "d"])?;
    let text = format!("{one:?}");
    assert!(text.starts_with("CuckooFilter") && text.contains("500") && text.contains("len: 2"));
    assert_eq!(text, format!("{other:?}"), "the text depends on the items");
    assert!(text.len() < 250 && !text.contains("0123"), "{text}");
    let once = OnceCuckooFilter::<str>::builder().like(one.geometry()).build()?;
    assert!(format!("{once:?}").starts_with("OnceCuckooFilter"));
    let builder = format!("{:?}", new());
    assert!(builder.contains("500") && !builder.contains("0123"), "{builder}");
    Ok(())
}

/// Counts the hashes that it computes.
struct Counting {
    hashed: Cell<u32>,
}

impl BuildHasher for Counting {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        self.hashed.set(self.hashed.get() + 1);
        DefaultHasher::new()
    }
}

/// Returns the number of hashes that the filter computes in this call.
fn hashes<X>(filter: &CuckooFilter<str, Counting>, act: impl Fn() -> X) -> u32 {
    filter.hasher().hashed.set(0);
    act();
    filter.hasher().hashed.get()
}

#[test]
fn an_item_is_hashed_once() {
    let new = || Counting { hashed: Cell::new(0) };
    let filter = CuckooFilter::<str>::builder().hasher(new());
    let filter = filter.buckets(2).slots(2).fingerprint_bits(32).build().unwrap();
    // This holds also for inserts that search for room, and fail.
    for item in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(hashes(&filter, || filter.insert(item)), 1);
        assert_eq!(hashes(&filter, || filter.contains(item)), 1);
        assert_eq!(hashes(&filter, || filter.count(item)), 1);
    }
    assert_eq!(filter.len(), 4);
    assert_eq!(hashes(&filter, || filter.remove("a")), 1);
    assert_eq!(hashes(&filter, || filter.try_extend(["g"])), 1);
    assert_eq!(hashes(&filter, || filter.false_positive_rate()), 0);

    let once = OnceCuckooFilter::<str>::builder().hasher(new()).capacity(10).build().unwrap();
    once.insert("a").unwrap();
    once.insert("a").unwrap();
    assert!(once.contains("a"));
    assert_eq!(once.hasher().hashed.get(), 3);
}

/// Panics when it is hashed, if it is armed.
struct Bomb {
    armed: Cell<bool>,
}

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.armed.get(), "boom");
        5_u8.hash(state);
    }
}

impl Bomb {
    /// Returns whether the call panics when it hashes the bomb.
    fn goes_off<X>(&self, act: impl Fn() -> X) -> bool {
        self.armed.set(true);
        let panicked = catch_unwind(AssertUnwindSafe(act)).is_err();
        self.armed.set(false);
        panicked
    }
}

/// A panic in the user's code leaves the filter unchanged and usable.
#[test]
fn a_panicking_hash_leaves_the_filter_valid() {
    let bomb = Bomb { armed: Cell::new(false) };
    // The smallest filter has one stripe. If the panic left it locked, the calls that follow would
    // wait for ever.
    let filter = CuckooFilter::<Bomb>::with_capacity(1).unwrap();
    filter.insert(&bomb).unwrap();
    let rate = filter.false_positive_rate();
    assert!(bomb.goes_off(|| filter.insert(&bomb)));
    assert!(bomb.goes_off(|| filter.remove(&bomb)));
    assert!(bomb.goes_off(|| filter.count(&bomb)));
    assert!(bomb.goes_off(|| filter.contains(&bomb)));
    assert_eq!((filter.len(), filter.false_positive_rate()), (1, rate));
    filter.insert(&bomb).unwrap();
    assert_eq!((filter.count(&bomb), filter.clone().len()), (2, 2));
    assert!(filter.remove(&bomb) && filter.remove(&bomb) && !filter.remove(&bomb));

    let once = OnceCuckooFilter::<Bomb>::with_capacity(1).unwrap();
    assert!(bomb.goes_off(|| once.insert(&bomb)));
    assert!(once.is_empty());
    assert_eq!(once.insert(&bomb), Ok(true));
    assert!(bomb.goes_off(|| once.contains(&bomb)));
    assert_eq!(once.insert(&bomb), Ok(false));

    // A panic in the middle of an iterator: the items before it are inserted.
    let filter = CuckooFilter::<u64>::with_capacity(100).unwrap();
    let items = (0..50_u64).inspect(|&item| assert!(item < 20, "boom"));
    assert!(catch_unwind(AssertUnwindSafe(|| filter.try_extend(items))).is_err());
    assert_eq!(filter.len(), 20);
    assert!((0..20).all(|item| filter.contains(&item)));
}

/// A hasher whose clone panics. A snapshot clones the hasher before it locks any stripe.
#[test]
fn a_panicking_clone_of_the_hasher_leaves_the_filter_valid() {
    struct Single(RandomState);

    impl Clone for Single {
        fn clone(&self) -> Self {
            panic!("boom");
        }
    }

    impl BuildHasher for Single {
        type Hasher = DefaultHasher;

        fn build_hasher(&self) -> DefaultHasher {
            self.0.build_hasher()
        }
    }

    let filter = CuckooFilter::<str>::builder().hasher(Single(RandomState::new()));
    let filter = filter.capacity(10).build().unwrap();
    filter.insert("a").unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| filter.clone())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| CuckooFilter::merge(&filter, &filter))).is_err());
    assert!(filter.remove("a"));
    assert!(filter.is_empty());
}
