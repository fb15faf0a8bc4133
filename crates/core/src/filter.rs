//! The traits for code that is generic over the type of filter.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::error::Error;

use tamis_hash::HashItem;

use crate::{AsItem, BuildError, Sampled};

/// A concurrent membership filter: what all filters of Tamis can do.
///
/// For generic code. The methods of the same name on each type are at least as good, and their documentation says what
/// each type promises under a race. Two names differ: a filter of fixed memory may refuse an item, so inserting is
/// [`try_insert`](Self::try_insert) here, and `?` or an irrefutable pattern unwraps it where
/// [`InsertError`](Self::InsertError) is [`Infallible`](core::convert::Infallible), as it is for Bloom filters.
///
/// An insert that returned `Ok` and happens before a query is seen by the query, in every type.
///
/// `&F`, `Box<F>` and `Arc<F>` are filters where `F` is, so that a struct can hold any of them. [`WithRate`] makes a
/// filter. The trait is not dyn compatible. For `?` into `tamis::Error`, bound `tamis::Error: From<F::InsertError>`.
///
/// The trait can be implemented for your own types, such as a wrapper that counts calls. New methods will come with a
/// default.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::Filter;
///
/// /// Inserts the words and returns how many of them were new.
/// fn count_new<F: Filter<Item = str>>(filter: &F, text: &str) -> Result<usize, F::InsertError> {
///     let mut new = 0;
///     for word in text.split(' ') {
///         new += usize::from(filter.try_insert(word)?);
///     }
///     Ok(new)
/// }
/// ```
pub trait Filter {
    /// What is inserted.
    type Item: ?Sized;

    /// What hashes the items. Code that asks by a borrowed form (`Item = String`, asked by `str`) bounds that, too:
    /// `F::Hasher: HashItem<str>`.
    type Hasher: HashItem<Self::Item>;

    /// Why an insert is refused. [`Infallible`](core::convert::Infallible) if it never is.
    type InsertError: Error + Send + Sync + 'static;

    /// The hasher.
    fn hasher(&self) -> &Self::Hasher;

    /// [`try_insert`](Self::try_insert) by hash: 64 well-mixed bits, the same for the same item every time.
    ///
    /// # Errors
    ///
    /// As [`try_insert`](Self::try_insert).
    fn try_insert_hash(&self, hash: u64) -> Result<bool, Self::InsertError>;

    /// [`contains`](Self::contains) by hash.
    #[must_use]
    fn contains_hash(&self, hash: u64) -> bool;

    /// [`try_insert_many`](Self::try_insert_many) by hash.
    ///
    /// An implementation pulls a batch of hashes before it inserts the first of them, so that a panic in the iterator
    /// loses no result.
    fn try_insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<bool, Self::InsertError>),
    );

    /// [`contains_many`](Self::contains_many) by hash.
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    );

    /// Inserts an item. `Ok(true)`: the filter has stored something for this call.
    ///
    /// In a filter that stores an item once, `Ok(true)` says that the item was not in before. Concurrent inserts of one
    /// new item: **at least one** returns `Ok(true)`, in an [`OnceFilter`] **exactly one**; none does if the item was
    /// a false positive or becomes one during the race. A multiset such as `CuckooFilter` adds a copy each time and
    /// always returns `Ok(true)`.
    ///
    /// # Errors
    ///
    /// [`InsertError`](Self::InsertError) if the filter has no room. It holds what it held before.
    #[inline]
    fn try_insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Self::InsertError>
    where
        Self::Item: Borrow<Q>,
        Self::Hasher: HashItem<Q>,
    {
        self.try_insert_hash(self.hasher().hash_item(item))
    }

    /// Whether the item may be in. `false` is certain.
    #[inline]
    #[must_use]
    fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        Self::Item: Borrow<Q>,
        Self::Hasher: HashItem<Q>,
    {
        self.contains_hash(self.hasher().hash_item(item))
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`try_insert`](Self::try_insert) would have returned. A refusal does not end it.
    ///
    /// It may pull up to 96 items before the first result, so a slow iterator delays results. A panic in the iterator or
    /// the hasher loses no result; after a panic in `on_result` up to 31 further items may be in without one.
    fn try_insert_many<I>(
        &self,
        items: I,
        on_result: impl FnMut(usize, Result<bool, Self::InsertError>),
    ) where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        self.try_insert_hashes(hashes, on_result);
    }

    /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`contains`](Self::contains) would have returned.
    ///
    /// Up to 32 items are looked up before the first result, so an insert made in `on_result` may be invisible to the
    /// results after it. It may pull up to 96 items before the first result.
    fn contains_many<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        self.contains_hashes(hashes, on_result);
    }

    /// [`try_insert_many`](Self::try_insert_many) with the results collected. Hashes all items before it inserts the
    /// first, which takes 8 bytes per item.
    #[must_use = "an insert may be refused"]
    fn try_insert_each<I>(&self, items: I) -> Vec<Result<bool, Self::InsertError>>
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        let hashes: Vec<u64> = hashes.collect();
        let mut results = Vec::with_capacity(hashes.len());
        self.try_insert_hashes(hashes, |_, result| results.push(result));
        results
    }

    /// [`contains_many`](Self::contains_many) with the results collected.
    #[must_use]
    fn contains_each<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let items = items.into_iter();
        let mut results = Vec::with_capacity(items.size_hint().0);
        self.contains_many(items, |_, hit| results.push(hit));
        results
    }

    /// The number of distinct items that the filter was built for.
    #[must_use]
    fn capacity(&self) -> usize;

    /// Bytes of memory that the filter takes.
    #[must_use]
    fn size_in_bytes(&self) -> u64;

    /// The number of items in the filter: an estimate in Bloom filters, which read all bits for it, `O(bits)`; exact
    /// in cuckoo filters, copies included.
    #[must_use]
    fn len_estimate(&self) -> f64;

    /// The number of items over the capacity. Above 1 the false-positive rate may exceed the requested one. Costs as
    /// [`len_estimate`](Self::len_estimate).
    #[must_use]
    fn saturation(&self) -> f64;

    /// The false-positive rate for the contents as they are. Reads the whole filter.
    #[must_use]
    fn false_positive_rate(&self) -> f64;

    /// [`len_estimate`](Self::len_estimate) from at least `lines` of the filter's 64-byte lines: `O(lines)`.
    #[must_use]
    fn len_estimate_sampled(&self, lines: u64) -> Sampled;

    /// [`saturation`](Self::saturation) from at least `lines` of the filter's 64-byte lines: `O(lines)`.
    #[must_use]
    fn saturation_sampled(&self, lines: u64) -> Sampled;

    /// [`false_positive_rate`](Self::false_positive_rate) from at least `lines` of the filter's 64-byte lines (in cuckoo
    /// filters, of its buckets, with a look into another for each fingerprint): `O(lines)`.
    #[must_use]
    fn false_positive_rate_sampled(&self, lines: u64) -> Sampled;
}

/// A [`Filter`] in which [`try_insert`](Filter::try_insert) is a test-and-set: of any number of concurrent inserts of
/// one new item, **exactly one** returns `Ok(true)`.
///
/// None does if the item was a false positive or becomes one during the race. For claiming work.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::OnceFilter;
///
/// /// Whether this worker, and no other, is to do the job.
/// fn claim<F: OnceFilter<Item = u64>>(claimed: &F, job: u64) -> Result<bool, F::InsertError> {
///     claimed.try_insert(&job)
/// }
/// ```
pub trait OnceFilter: Filter {}

/// A [`Filter`] that can be made from a capacity and a false-positive rate.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::hash::Rapid;
/// use tamis::{BuildError, WithRate};
///
/// /// A filter of any type, for a thousand names.
/// fn for_names<F: WithRate<Item = str, Hasher = Rapid>>() -> Result<F, BuildError> {
///     F::with_rate(1000, 1e-3, Rapid::with_seed(7))
/// }
/// ```
pub trait WithRate: Filter + Sized {
    /// An empty filter for `capacity` distinct items at this false-positive rate. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate is out of range or the memory is refused.
    fn with_rate(
        capacity: usize,
        false_positive_rate: f64,
        hasher: Self::Hasher,
    ) -> Result<Self, BuildError>;
}

/// Pointers to filters are filters.
macro_rules! through_pointers {
    ($($pointer:ty)*) => {$(
        impl<F: Filter + ?Sized> Filter for $pointer {
            type Item = F::Item;
            type Hasher = F::Hasher;
            type InsertError = F::InsertError;

            #[inline]
            fn hasher(&self) -> &F::Hasher {
                (**self).hasher()
            }

            #[inline]
            fn try_insert_hash(&self, hash: u64) -> Result<bool, F::InsertError> {
                (**self).try_insert_hash(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                (**self).contains_hash(hash)
            }

            #[inline]
            fn try_insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, Result<bool, F::InsertError>),
            ) {
                (**self).try_insert_hashes(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                (**self).contains_hashes(hashes, on_result);
            }

            fn capacity(&self) -> usize {
                (**self).capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                (**self).size_in_bytes()
            }

            fn len_estimate(&self) -> f64 {
                (**self).len_estimate()
            }

            fn saturation(&self) -> f64 {
                (**self).saturation()
            }

            fn false_positive_rate(&self) -> f64 {
                (**self).false_positive_rate()
            }

            fn len_estimate_sampled(&self, lines: u64) -> Sampled {
                (**self).len_estimate_sampled(lines)
            }

            fn saturation_sampled(&self, lines: u64) -> Sampled {
                (**self).saturation_sampled(lines)
            }

            fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
                (**self).false_positive_rate_sampled(lines)
            }
        }

        impl<F: OnceFilter + ?Sized> OnceFilter for $pointer {}
    )*};
}

through_pointers! { &F Box<F> Arc<F> }
