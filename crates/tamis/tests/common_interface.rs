//! The interface that all types share: generic code, errors that convert with `?`, and items owned
//! or borrowed.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use tamis::hash::{DefaultHashBuilder, HashItem, Rapid, Xxh3};
use tamis::{
    AsItem, BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, CuckooFilter,
    DynFilter, Error, Filter, Hashed as _, InsertError, MergeError, OnceBloomFilter,
    OnceCuckooFilter, OnceFilter, OnceScalableBloomFilter, RotatingBloomFilter,
    ScalableBloomFilter, UnionError, Verdict as _, WithRate,
};

const ITEMS: u64 = 20_000;

/// Checks a filter through the trait: single calls agree with batches, and sampled figures with
/// whole ones.
fn check<F: WithRate<Item = u64, Hasher = Rapid>>(is_multiset: bool) -> Result<(), F::InsertError> {
    let new = || F::with_rate(3 * ITEMS as usize, 1e-3, Rapid::with_seed(1)).unwrap();
    let (one, many) = (new(), new());
    assert_eq!(one.capacity(), 3 * ITEMS as usize);

    // Insert each item twice, one by one and in a batch: the results must be equal.
    let items = || (0..ITEMS).chain(0..ITEMS);
    let mut expected = Vec::new();
    for item in items() {
        expected.push(one.try_insert(&item)?);
    }
    let mut results = Vec::new();
    many.try_insert_many_with(items(), |number, result| {
        assert_eq!(number, results.len());
        results.push(result.unwrap());
    });
    assert!(results == expected, "batches must return the results of single calls");
    let new_ones = expected.iter().filter(|&&new| new).count() as u64;
    if is_multiset {
        assert_eq!(new_ones, 2 * ITEMS);
    } else {
        assert!((ITEMS * 99 / 100..=ITEMS).contains(&new_ones), "{new_ones}");
    }

    // Query all items and as many others: all items are found, and few others.
    let mut hits = 0;
    many.contains_many_with(0..2 * ITEMS, |number, hit| {
        assert_eq!(hit, one.contains(&(number as u64)));
        assert!(hit || number as u64 >= ITEMS, "false negative");
        hits += u64::from(hit);
    });
    assert!(hits < ITEMS + ITEMS / 100, "{hits}");

    // The figures match the contents, and a sample of the whole filter is exact.
    let len = if is_multiset { 2 * ITEMS } else { ITEMS } as f64;
    assert_eq!(one.contains_many([0, 1]), [true, true]);
    assert_eq!(new().try_insert_many([7, 7]).len(), 2);
    assert!((one.figures().items.value / len - 1.0).abs() < 0.03, "{}", one.figures().items.value);
    assert!((one.saturation() - one.figures().items.value / (3 * ITEMS) as f64).abs() < 1e-9);
    let rate = one.false_positive_rate();
    assert!(rate > 0.0 && rate < 1e-3, "{rate}");
    for (whole, sampled) in [
        (one.figures().items.value, one.figures_sampled(u64::MAX).items),
        (one.saturation(), one.figures_sampled(u64::MAX).saturation),
        (rate, one.figures_sampled(u64::MAX).false_positive_rate),
    ] {
        assert!((sampled.value / whole - 1.0).abs() < 1e-9 && sampled.standard_error == 0.0);
    }
    assert!(one.size_in_bytes() > 2 * ITEMS);
    Ok(())
}

#[test]
fn generic_code_works_with_every_type() -> Result<(), Box<dyn core::error::Error>> {
    check::<BloomFilter<u64, Rapid>>(false)?;
    check::<BlockedBloomFilter<u64, Rapid>>(false)?;
    check::<OnceBloomFilter<u64, Rapid>>(false)?;
    check::<CuckooFilter<u64, Rapid>>(true)?;
    check::<OnceCuckooFilter<u64, Rapid>>(false)?;
    Ok(())
}

/// A filter of each type behind the trait object answers as the filter itself: the same results one
/// by one and in a slice, the same sizes and figures.
#[test]
fn a_type_chosen_at_run_time_answers_as_the_type() -> Result<(), BuildError> {
    fn pair<F>() -> Result<(F, Box<dyn DynFilter<u64>>), BuildError>
    where
        F: WithRate<Item = u64, Hasher = Rapid> + 'static,
    {
        let new = || F::with_rate(1000, 1e-3, Rapid::with_seed(1));
        Ok((new()?, Box::new(new()?)))
    }
    macro_rules! check {
        ($($filter:ident)*) => {$(
            let (filter, chosen) = pair::<$filter<u64, Rapid>>()?;
            let (one, slice) = ([1, 2, 3, 1], [&4, &5, &1, &6]);
            for item in &one {
                assert_eq!(chosen.insert(item).unwrap(), filter.try_insert(item).unwrap());
            }
            let results = chosen.insert_many(&slice).into_iter().map(Result::unwrap);
            let expected = filter.try_insert_many(slice).into_iter().map(Result::unwrap);
            assert!(results.eq(expected));
            let asked: Vec<u64> = (0..1000).collect();
            let asked: Vec<&u64> = asked.iter().collect();
            let hits = chosen.contains_many(&asked);
            assert!(hits.iter().filter(|hit| **hit).count() >= 6);
            assert_eq!(hits, filter.contains_many(&asked));
            assert!(asked.iter().zip(hits).all(|(item, hit)| chosen.contains(item) == hit));
            assert_eq!(chosen.capacity(), filter.capacity());
            assert_eq!(chosen.size_in_bytes(), filter.size_in_bytes());
            assert_eq!(chosen.figures_sampled(64), filter.figures_sampled(64));
        )*};
    }
    check! {
        BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter ScalableBloomFilter
        OnceScalableBloomFilter RotatingBloomFilter CuckooFilter OnceCuckooFilter
    }
    Ok(())
}

/// Four threads claim the same items; returns how many claims succeed. The bound rejects filters
/// that promise only "at least one".
fn claim_all<F: OnceFilter<Item = u64> + Sync>(claimed: &F) -> u64 {
    let claim = || (0..ITEMS).filter(|item| claimed.try_insert(item).unwrap()).count() as u64;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn generic_claims_have_exactly_one_winner() -> Result<(), Error> {
    let bloom = OnceBloomFilter::with_rate(ITEMS as usize, 1e-6, Rapid::with_seed(3))?;
    let cuckoo = OnceCuckooFilter::with_rate(ITEMS as usize, 1e-6, Rapid::with_seed(3))?;
    // Pointers to filters are filters.
    let (bloom, cuckoo) = (Arc::new(bloom), Box::new(cuckoo));
    // At 1e-6, some of 20,000 items are lost with a probability of 1 %. This seed loses none, on
    // any machine.
    assert_eq!((claim_all(&bloom), claim_all(&cuckoo)), (ITEMS, ITEMS));
    Ok(())
}

/// `?` converts every error of the crate to one type, which keeps its message and its source.
#[test]
fn every_error_converts_to_the_common_error() {
    fn build() -> Result<(), Error> {
        OnceBloomFilter::<str>::builder().build()?;
        Ok(())
    }
    fn insert() -> Result<(), Error> {
        let filter = CuckooFilter::<str>::with_capacity(0)?;
        for _ in 0..100 {
            filter.insert("a")?;
        }
        Ok(())
    }
    fn unite() -> Result<(), Error> {
        let (a, b) = (BloomFilter::<str>::with_capacity(1)?, BloomFilter::with_capacity(9)?);
        a.union_with(&b)?;
        Ok(())
    }
    fn merge() -> Result<(), Error> {
        let (a, b) = (CuckooFilter::<str>::with_capacity(1)?, CuckooFilter::with_capacity(999)?);
        CuckooFilter::merge(&a, &b)?;
        Ok(())
    }
    assert!(matches!(build(), Err(Error::Build(BuildError::Unsized))));
    assert!(matches!(insert(), Err(Error::Insert(InsertError::TooManyCopies))));
    assert!(matches!(unite(), Err(Error::Union(UnionError::Geometry))));
    assert!(matches!(merge(), Err(Error::Merge(MergeError::Geometry))));
    let full: Error = MergeError::Insert(InsertError::Full).into();
    assert_eq!(full.to_string(), MergeError::Insert(InsertError::Full).to_string());
    let source = core::error::Error::source(&full).expect("the insert error is the source");
    assert_eq!(source.to_string(), InsertError::Full.to_string());
}

/// Inserts items in one form and queries them in the plain form.
fn forms<T: ?Sized, S, I>(filter: &BlockedBloomFilter<T, S>, items: I, plain: &[&T])
where
    I: IntoIterator<Item: AsItem<T>>,
    S: HashItem<<I::Item as AsItem<T>>::Borrowed> + HashItem<T>,
{
    filter.insert_many_with(items, |_, _| ());
    assert!(plain.iter().all(|item| filter.contains(*item)), "the form has another hash");
}

fn every_form<S>(hasher: S)
where
    S: HashItem<str>
        + HashItem<[u8]>
        + HashItem<u64>
        + HashItem<String>
        + HashItem<Vec<u8>>
        + Clone,
{
    macro_rules! check {
        ($item:ty: $plain:expr; $($form:expr),*) => {$(
            let builder = BlockedBloomFilter::<$item>::builder().capacity(1000);
            let filter = builder.false_positive_rate(1e-9).hasher(hasher.clone()).build().unwrap();
            forms(&filter, $form, &$plain);
        )*};
    }
    let strings = || vec![String::from("a"), String::from("bc")];
    let boxes = || strings().into_iter().map(String::into_boxed_str);
    check!(str: ["a", "bc"];
        ["a", "bc"], &["a", "bc"], strings(), &strings(), strings().iter().collect::<Vec<_>>().iter(),
        boxes(), &boxes().collect::<Vec<_>>(), boxes().map(Rc::<str>::from), boxes().map(Arc::<str>::from),
        &boxes().map(Arc::<str>::from).collect::<Vec<_>>(), strings().into_iter().map(Cow::Owned),
        [Cow::Borrowed("a"), Cow::Borrowed("bc")].iter());
    let vectors = || vec![vec![1, 2], vec![3, 4]];
    check!([u8]: [&[1, 2][..], &[3, 4]];
        vectors(), &vectors(), [[1, 2], [3, 4]], &[[1, 2], [3, 4]], [&[1, 2][..], &[3, 4]],
        [Cow::Borrowed(&[1_u8, 2][..]), Cow::Owned(vec![3, 4])]);
    check!(u64: [&1, &2]; 1..3, [1, 2], &[1, 2], [&1, &2].iter(), [Box::new(1), Box::new(2)]);
    check!(String: [&String::from("a"), &String::from("bc")]; strings(), &strings(), ["a", "bc"], &["a", "bc"]);
    check!(Vec<u8>: [&vec![1, 2], &vec![3, 4]]; vectors(), &vectors(), [&[1, 2][..], &[3, 4]]);
}

#[test]
fn batches_accept_items_owned_or_borrowed() {
    every_form(DefaultHashBuilder::with_seed(1));
    every_form(Xxh3::with_seed(1));
}

/// `extend` and `collect` accept the same forms as batches.
#[test]
fn extend_and_collect_accept_items_owned_or_borrowed() -> Result<(), Error> {
    let strings = vec![String::from("a"), String::from("bc")];
    let mut filter = OnceBloomFilter::<str>::with_capacity(100)?;
    filter.extend(&strings);
    filter.get_mut().extend(["d"]);
    (&filter).extend(strings.iter().map(|text| format!("{text}!")));
    assert_eq!(filter.contains_many(["a", "bc", "d", "bc!", "e"]), [true, true, true, true, false]);
    let collected: BloomFilter<str> = strings.iter().collect();
    let claimed: OnceCuckooFilter<str> = strings.iter().collect();
    assert!(collected.contains("bc") && claimed.contains("bc"));
    Ok(())
}

/// A wrapper that counts what its methods of [`Hashed`] are asked.
struct Counted(CountingBloomFilter<u64, Rapid>, std::cell::Cell<u64>);

impl tamis::Hashed for Counted {
    type Inserted = bool;
    type InsertError = core::convert::Infallible;

    fn insert_hash(&self, hash: u64) -> bool {
        self.1.set(self.1.get() + 1);
        self.0.by_hash().insert(hash)
    }

    fn contains_hash(&self, hash: u64) -> bool {
        self.1.set(self.1.get() + 1);
        self.0.by_hash().contains(hash)
    }

    fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        mut on_result: impl FnMut(usize, bool),
    ) {
        let hashes = hashes.into_iter().enumerate();
        hashes.for_each(|(number, hash)| on_result(number, self.insert_hash(hash)));
    }

    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        mut on_result: impl FnMut(usize, bool),
    ) {
        let hashes = hashes.into_iter().enumerate();
        hashes.for_each(|(number, hash)| on_result(number, self.contains_hash(hash)));
    }
}

impl Filter for Counted {
    type Item = u64;
    type Hasher = Rapid;

    fn hasher(&self) -> &Rapid {
        self.0.hasher()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn size_in_bytes(&self) -> u64 {
        self.0.size_in_bytes()
    }

    fn figures(&self) -> tamis::Figures {
        self.0.figures()
    }

    fn figures_sampled(&self, lines: u64) -> tamis::Figures {
        self.0.figures_sampled(lines)
    }
}

/// A pointer to a filter calls the filter's own methods, and has those for copies too.
#[test]
#[expect(clippy::arc_with_non_send_sync, reason = "any pointer will do")]
fn a_pointer_calls_what_it_points_to() {
    fn ask(filter: &impl Filter<Item = u64, Hasher = Rapid>) {
        assert!(filter.try_insert(&1).is_ok() && filter.contains(&1));
        assert!(filter.insert_hash(9).verdict().is_ok());
        filter.try_insert_many_with([2, 3], |_, _| ());
        assert_eq!(filter.contains_many([1, 2, 3]), [true; 3]);
    }
    let new = || {
        let builder = CountingBloomFilter::builder().capacity(100).hasher(Rapid::with_seed(1));
        Counted(builder.build().unwrap(), std::cell::Cell::new(0))
    };
    let (direct, pointed) = (new(), Arc::new(new()));
    ask(&direct);
    ask(&pointed);
    assert_eq!(direct.1.get(), pointed.1.get());
    assert_eq!(direct.1.get(), 8);

    let counting = Arc::new(new().0);
    let by_hash = tamis::Hashed::by_hash(&counting);
    by_hash.insert(5);
    assert!(by_hash.count(5) == 1 && by_hash.remove(5) && !counting.by_hash().contains(5));
}
