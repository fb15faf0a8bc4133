//! A panic in the user's code loses no result, and a wrong hint of an iterator is no panic. The
//! tests cover every batch method of every type, a panic in the iterator, the hasher or the
//! callback, and every position: in the first batches, and in the last batch, which is shorter.

use core::hash::{Hash, Hasher};
use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Once;

use tamis::hash::{DefaultHashBuilder, HashItem};
use tamis::{
    BlockedBloomFilter, BloomFilter, CuckooFilter, Filter, Hashed as _, OnceBloomFilter,
    OnceCuckooFilter, WithRate,
};

const ITEMS: u64 = 170;
/// The number of items in a batch.
const BATCH: usize = 32;
const PLANNED: &str = "a planned panic";

/// An item whose hashing panics if it is armed.
struct Item {
    value: u64,
    armed: bool,
}

impl Hash for Item {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.armed, "{PLANNED}");
        self.value.hash(state);
    }
}

/// The part of the user's code that panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    Iterator,
    Hasher,
    Callback,
}

type Items<'a> = &'a mut dyn Iterator<Item = Item>;
type OnResult<'a> = &'a mut dyn FnMut(usize);
/// A batch method: its name, whether it has a callback, and the call.
type Method<F> = (&'static str, bool, fn(&mut F, Items<'_>, OnResult<'_>));

/// Runs a method that panics at a position. Returns how many results it passed to the callback, in
/// order from 0.
fn results_before_panic<F>(filter: &mut F, method: &Method<F>, place: Where, at: u64) -> usize {
    let mut items = (0..ITEMS).map(|value| {
        assert!(place != Where::Iterator || value != at, "{PLANNED}");
        Item { value, armed: place == Where::Hasher && value == at }
    });
    let mut results = 0;
    let mut on_result = |number: usize| {
        assert_eq!(number, results, "results must come in order");
        assert!(place != Where::Callback || number as u64 != at, "{PLANNED}");
        results += 1;
    };
    let run = AssertUnwindSafe(|| (method.2)(filter, &mut items, &mut on_result));
    let payload = catch_unwind(run).expect_err("the method must panic");
    let text = payload.downcast_ref::<String>().expect("a formatted message");
    assert_eq!(text, PLANNED);
    results
}

fn contains<F: Filter<Item = Item, Hasher = DefaultHashBuilder>>(filter: &F, value: u64) -> bool {
    filter.contains(&Item { value, armed: false })
}

/// Checks that after the panic exactly the first items are changed: those with a result, and after
/// a panic of the callback at most the rest of its batch. Then checks that the filter still works.
fn check<F: Filter<Item = Item, Hasher = DefaultHashBuilder>>(
    new: impl Fn() -> F,
    methods: &[Method<F>],
    full_at_first: bool,
    len: impl Fn(&F) -> Option<usize>,
) {
    // Do not print planned panics.
    static SILENT: Once = Once::new();
    SILENT.call_once(|| {
        let default_hook = take_hook();
        set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<String>().is_none_or(|text| text != PLANNED) {
                default_hook(info);
            }
        }));
    });
    for method in methods {
        for place in [Where::Iterator, Where::Hasher, Where::Callback] {
            for at in (0..ITEMS).filter(|_| method.1 || place != Where::Callback) {
                let mut filter = new();
                if full_at_first {
                    for value in 0..ITEMS {
                        filter.try_insert(&Item { value, armed: false }).unwrap();
                    }
                }
                let results = results_before_panic(&mut filter, method, place, at);
                // Count the leading items that were inserted (or removed, if the filter was full at
                // first).
                let changed: Vec<bool> =
                    (0..ITEMS).map(|value| contains(&filter, value) != full_at_first).collect();
                let count = changed.iter().take_while(|&&changed| changed).count();
                let what =
                    format!("{} {place:?} {at}: {results} results, {count} changed", method.0);
                assert!(!changed[count..].contains(&true), "{what}, and later items changed");
                if place == Where::Callback {
                    assert_eq!(results as u64, at, "{what}");
                    assert!((results + 1..=results + BATCH).contains(&count), "{what}");
                } else {
                    assert_eq!(count, results, "{what}");
                    assert!(results as u64 <= at, "{what}");
                }
                let in_now = if full_at_first { ITEMS as usize - count } else { count };
                assert!(
                    len(&filter).is_none_or(|len| len == in_now),
                    "{what}, but the length is {:?}",
                    len(&filter)
                );
                // The filter still works: insert what is missing, and new items.
                for value in 0..2 * ITEMS {
                    if !contains(&filter, value) {
                        assert!(filter.try_insert(&Item { value, armed: false }).unwrap());
                    }
                }
                assert!((0..2 * ITEMS).all(|value| contains(&filter, value)), "{what}");
                assert!(len(&filter).is_none_or(|len| len == 2 * ITEMS as usize), "{what}");
            }
        }
    }
}

/// Checks that a query method changes nothing, wherever the panic occurs.
fn check_queries<F: Filter<Item = Item, Hasher = DefaultHashBuilder>>(
    new: impl Fn() -> F,
    methods: &[Method<F>],
) {
    for method in methods {
        for place in [Where::Iterator, Where::Hasher, Where::Callback] {
            for at in (0..ITEMS).filter(|_| method.1 || place != Where::Callback) {
                let mut filter = new();
                filter.try_insert(&Item { value: 5, armed: false }).unwrap();
                let results = results_before_panic(&mut filter, method, place, at);
                assert!(results as u64 <= at, "{} {place:?} {at}: {results}", method.0);
                let hits: Vec<u64> = (0..ITEMS).filter(|&value| contains(&filter, value)).collect();
                assert_eq!(hits, [5], "{} {place:?} {at}", method.0);
            }
        }
    }
}

/// Returns hashes for the methods that take hashes: the iterator calls the hasher.
fn hashes(items: Items<'_>, hasher: &DefaultHashBuilder) -> impl Iterator<Item = u64> {
    items.map(|item| hasher.hash_item(&item))
}

/// The insert methods that all types have. `$via` is empty, or `.get_mut()` for exclusive access.
/// Then comes the path to the method that takes hashes.
macro_rules! inserts {
    ([$($via:tt)*] $($of_hashes:tt)*) => {[
        ("insert_many_with", true, |filter, items, on_result| {
            filter$($via)*.insert_many_with(items, |number, _| on_result(number));
        }),
        ("insert_many", false, |filter, items, _| drop(filter$($via)*.insert_many(items))),
        ("insert_hashes", true, |filter, items, on_result| {
            let hasher = filter.hasher().clone();
            filter$($of_hashes)*(hashes(items, &hasher), |number, _| on_result(number));
        }),
    ]};
}

/// The query methods that all types have.
macro_rules! queries {
    () => {
        [
            ("contains_many_with", true, |filter, items, on_result| {
                filter.contains_many_with(items, |number, _| on_result(number));
            }),
            ("contains_many", false, |filter, items, _| drop(filter.contains_many(items))),
            ("contains_hashes", true, |filter, items, on_result| {
                let hasher = filter.hasher().clone();
                filter.contains_hashes(hashes(items, &hasher), |number, _| on_result(number));
            }),
        ]
    };
}

/// The insert method that generic code uses.
macro_rules! of_trait {
    () => {
        [("try_insert_many_with", true, |filter, items, on_result| {
            filter.try_insert_many_with(items, |number, _| on_result(number));
        })]
    };
}

// The rates select each kind of layout: one word and several, with and without a lock, narrow and
// wide fingerprints. The capacity is far above the number of items, so that no false positive
// changes the count.
macro_rules! bloom {
    ($($test:ident $filter:ident $rate:expr;)*) => {$(
        #[test]
        fn $test() {
            let new = || $filter::with_rate(100_000, $rate, DefaultHashBuilder::with_seed(1)).unwrap();
            check::<$filter<Item>>(new, &inserts!([] .by_hash().insert_many_with), false, |_| None);
            check::<$filter<Item>>(new, &inserts!([.get_mut()] .get_mut().insert_hashes), false, |_| None);
            check::<$filter<Item>>(new, &of_trait!(), false, |_| None);
            check_queries::<$filter<Item>>(new, &queries!());
        }
    )*};
}

bloom! {
    classic BloomFilter 0.01;
    blocked BlockedBloomFilter 0.01;
    blocked_with_several_words BlockedBloomFilter 1e-6;
    once OnceBloomFilter 0.01;
    once_with_locks OnceBloomFilter 1e-3;
}

macro_rules! cuckoo {
    ($($test:ident $filter:ident $rate:expr $(, $removes:expr)?;)*) => {$(
        #[test]
        fn $test() {
            let new = || $filter::with_rate(50_000, $rate, DefaultHashBuilder::with_seed(1)).unwrap();
            // The filter's count must equal a recount of its slots.
            let len = |filter: &$filter<Item>| {
                assert_eq!(filter.clone().len(), filter.len());
                Some(filter.len())
            };
            check::<$filter<Item>>(new, &inserts!([] .by_hash().insert_many_with), false, len);
            check::<$filter<Item>>(new, &of_trait!(), false, len);
            check_queries::<$filter<Item>>(new, &queries!());
            $(check::<$filter<Item>>(new, &$removes, true, len);)?
        }
    )*};
}

cuckoo! {
    cuckoo CuckooFilter 1e-3, [
        ("remove_many_with", true, |filter, items, on_result| {
            filter.remove_many_with(items, |number, _| on_result(number));
        }),
        ("remove_many", false, |filter, items, _| drop(filter.remove_many(items))),
        ("remove_hashes", true, |filter, items, on_result| {
            let hasher = filter.hasher().clone();
            filter.by_hash().remove_many_with(hashes(items, &hasher), |number, _| on_result(number));
        }),
    ];
    cuckoo_with_wide_fingerprints CuckooFilter 1e-8;
    once_cuckoo OnceCuckooFilter 1e-3;
    once_cuckoo_with_wide_fingerprints OnceCuckooFilter 1e-8;
}

/// An iterator with a wrong hint of its length.
struct Hinted<I>(I, (usize, Option<usize>));

impl<I: Iterator> Iterator for Hinted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.1
    }
}

/// No batch method panics, or loses an item, if the hint of an iterator is wrong.
#[test]
fn a_wrong_hint_of_the_length_is_harmless() {
    for hint in [(usize::MAX, None), (usize::MAX, Some(3)), (0, Some(0)), (1 << 60, Some(1 << 60))]
    {
        for count in [0, 1, 32, 33, 34, ITEMS as usize] {
            let items = || Hinted(0..count as u64, hint);
            let seen = BloomFilter::<u64>::with_capacity(1000).expect("small");
            assert_eq!(seen.insert_many(items()).len(), count, "{hint:?}");
            assert_eq!(seen.contains_many(items()), vec![true; count], "{hint:?}");
            assert_eq!(Filter::contains_many(&seen, items()), vec![true; count], "{hint:?}");
            let copies = CuckooFilter::<u64>::with_capacity(1000).expect("small");
            assert_eq!(copies.insert_many(items()), vec![Ok(()); count], "{hint:?}");
            assert_eq!(copies.try_insert_many(items()), vec![Ok(true); count], "{hint:?}");
            assert_eq!(copies.contains_many(items()), vec![true; count], "{hint:?}");
            assert_eq!(copies.remove_many(items()), vec![true; count], "{hint:?}");
        }
    }
    // More items than the memory that is reserved at first.
    let count = (1 << 20) + 34;
    let seen = BloomFilter::<u64>::with_capacity(count).expect("small");
    let new = seen.insert_many(0..count as u64);
    assert!(new.len() == count && new.iter().filter(|new| **new).count() > count / 2);
    assert_eq!(seen.contains_many(Hinted(0..count as u64, (0, None))), vec![true; count]);
}
