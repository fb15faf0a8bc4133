//! The traits for code that is generic over the type of filter.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;

use tamis_hash::HashItem;

use crate::as_item::AsItem;
use crate::error::BuildError;
use crate::figures::Figures;
use crate::hashed::{Hashed, Verdict};
use crate::many;

/// A concurrent membership filter: the operations that all filters of Tamis share, for generic
/// code.
///
/// If an insert returned `Ok` and happens before a query, the query sees it. This holds for every
/// type that keeps its items. The page of a type that forgets says for which inserts it holds, and
/// for how long.
///
/// Each type also has its own methods of the same names. They are at least as fast, and their
/// documentation states what the type promises when calls race. Only the insert methods differ in
/// name: a filter of fixed memory may reject an item, so here they start with `try_` and return a
/// `Result`. Bloom filters reject nothing: their [`InsertError`](Hashed::InsertError) is
/// [`Infallible`](core::convert::Infallible), and `let Ok(new) = …;` unwraps the result.
///
/// `&F`, `Box<F>` and `Arc<F>` are filters if `F` is one, so that a struct can hold any of them.
/// [`WithRate`] builds a filter. The trait is not dyn compatible. To convert an error to
/// `tamis::Error` with `?`, add the bound `tamis::Error: From<F::InsertError>`.
///
/// You can implement the trait for your own types, such as a wrapper that counts calls. Count in
/// the methods of [`Hashed`], which all others call, also through a pointer. Methods added later
/// will have a default implementation.
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
pub trait Filter: Hashed {
    /// The type of the items.
    type Item: ?Sized;

    /// The hasher of the items. Code that queries by a borrowed form (`str` where `Item = String`)
    /// needs a bound for that form, too: `F::Hasher: HashItem<str>`.
    type Hasher: HashItem<Self::Item>;

    /// Returns the hasher.
    fn hasher(&self) -> &Self::Hasher;

    /// Inserts an item. Returns `Ok(true)` if this call stored something.
    ///
    /// In a filter that stores each item once, `Ok(true)` means that the filter did not contain the
    /// item before. If several threads insert the same new item concurrently, **at least one** call
    /// returns `Ok(true)`, and in a [`OnceFilter`] **exactly one** does. No call does if the item
    /// was a false positive or becomes one during the race.
    ///
    /// A multiset such as `CuckooFilter` adds a copy each time and always returns `Ok(true)`.
    /// `CountingBloomFilter` adds a copy each time too, and returns `Ok(true)` if the filter had no
    /// copy before.
    ///
    /// # Errors
    ///
    /// [`InsertError`](Hashed::InsertError) if the filter has no room. Its contents are then as
    /// before.
    #[inline]
    fn try_insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, Self::InsertError>
    where
        Self::Item: Borrow<Q>,
        Self::Hasher: HashItem<Q>,
    {
        self.insert_hash(self.hasher().hash_item(item)).verdict()
    }

    /// Returns whether the filter may contain the item. `false` is certain, unless the item was
    /// removed or the filter forgets items.
    #[inline]
    #[must_use]
    fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        Self::Item: Borrow<Q>,
        Self::Hasher: HashItem<Q>,
    {
        self.contains_hash(self.hasher().hash_item(item))
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with the number of each
    /// item and the result that [`try_insert`](Self::try_insert) would have returned. After an
    /// error it goes on with the next item.
    ///
    /// It may pull up to 96 items before it passes the first result, so a slow iterator delays
    /// results. A panic in the iterator or the hasher loses no result. After a panic in
    /// `on_result`, up to 31 further items may have been inserted without a result.
    fn try_insert_many_with<I>(
        &self,
        items: I,
        mut on_result: impl FnMut(usize, Result<bool, Self::InsertError>),
    ) where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        self.insert_hashes(hashes, |number, inserted| on_result(number, inserted.verdict()));
    }

    /// Queries many items, owned or borrowed. Calls `on_result` in order, with the number of each
    /// item and the result that [`contains`](Self::contains) would have returned.
    ///
    /// It may pull up to 96 items, and query up to 32 of them, before it passes the first result.
    /// So the results that follow may not see an insert made in `on_result`.
    fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        self.contains_hashes(hashes, on_result);
    }

    /// Inserts many items, as [`try_insert_many_with`](Self::try_insert_many_with) does, and
    /// returns the results as a vector.
    ///
    /// It hashes all items before it inserts the first one, which takes 8 bytes per item.
    #[must_use = "an insert may fail"]
    fn try_insert_many<I>(&self, items: I) -> Vec<Result<bool, Self::InsertError>>
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        // Run all code of the user first: a panic in it then happens before the first insert.
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        many::insert(self, hashes).into_iter().map(Verdict::verdict).collect()
    }

    /// Queries many items, as [`contains_many_with`](Self::contains_many_with) does, and returns
    /// the results as a vector.
    #[must_use]
    fn contains_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        many::contains(self, items.into_iter().map(|item| self.hasher().hash_item(item.as_item())))
    }

    /// Inserts items one by one until an insert fails. Returns how many of them this call stored.
    /// Other threads may insert and query meanwhile.
    ///
    /// To insert on all threads of rayon's pool, call `try_insert` in a parallel iterator's
    /// `try_for_each`.
    ///
    /// # Errors
    ///
    /// The first error. Earlier items stay inserted, and no item after it is.
    fn try_extend<I>(&self, items: I) -> Result<usize, Self::InsertError>
    where
        I: IntoIterator<Item: AsItem<Self::Item>>,
        Self::Hasher: HashItem<<I::Item as AsItem<Self::Item>>::Borrowed>,
    {
        let hashes = items.into_iter().map(|item| self.hasher().hash_item(item.as_item()));
        hashes.map(|hash| self.insert_hash(hash).verdict().map(usize::from)).sum()
    }

    /// Returns the number of distinct items that the filter was built for.
    #[must_use]
    fn capacity(&self) -> usize;

    /// Returns the memory of the filter in bytes.
    #[must_use]
    fn size_in_bytes(&self) -> u64;

    /// Returns how full the filter is, and the rate of its contents. Reads the whole filter once.
    #[must_use]
    fn figures(&self) -> Figures;

    /// Estimates [`figures`](Self::figures) from at least `lines` of the filter's 64-byte lines, or
    /// buckets of a cuckoo filter: `O(lines)`.
    #[must_use]
    fn figures_sampled(&self, lines: u64) -> Figures;

    /// Returns the number of items divided by the capacity. Above 1, the false-positive rate may
    /// exceed the requested rate. A Bloom filter reads all bits for it.
    #[must_use]
    fn saturation(&self) -> f64 {
        self.figures().saturation.value
    }

    /// Returns the false-positive rate for the current contents. Reads the whole filter.
    #[must_use]
    fn false_positive_rate(&self) -> f64 {
        self.figures().false_positive_rate.value
    }
}

/// A [`Filter`] for claiming work: if several threads insert the same new item concurrently,
/// **exactly one** call of [`try_insert`](Filter::try_insert) returns `Ok(true)`.
///
/// No call does if the item was a false positive or becomes one during the race.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::OnceFilter;
///
/// /// Returns whether this worker, and no other, must do the job.
/// fn claim<F: OnceFilter<Item = u64>>(claimed: &F, job: u64) -> Result<bool, F::InsertError> {
///     claimed.try_insert(&job)
/// }
/// ```
pub trait OnceFilter: Filter {}

/// A [`Filter`] that can be built from a capacity and a false-positive rate.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::hash::Rapid;
/// use tamis::{BuildError, WithRate};
///
/// /// Builds a filter of any type for a thousand names.
/// fn for_names<F: WithRate<Item = str, Hasher = Rapid>>() -> Result<F, BuildError> {
///     F::with_rate(1000, 1e-3, Rapid::with_seed(7))
/// }
/// ```
pub trait WithRate: Filter + Sized {
    /// Builds an empty filter for `capacity` distinct items at this false-positive rate. A capacity
    /// of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate is out of range or too low for the capacity, or if the allocation
    /// fails.
    fn with_rate(
        capacity: usize,
        false_positive_rate: f64,
        hasher: Self::Hasher,
    ) -> Result<Self, BuildError>;
}

/// Implements the traits for pointers to filters. Methods for items call those for hashes.
macro_rules! through_pointers {
    ($($pointer:ty)*) => {$(
        impl<F: Filter + ?Sized> Filter for $pointer {
            type Item = F::Item;
            type Hasher = F::Hasher;

            #[inline]
            fn hasher(&self) -> &F::Hasher {
                (**self).hasher()
            }

            fn capacity(&self) -> usize {
                (**self).capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                (**self).size_in_bytes()
            }

            fn figures(&self) -> Figures {
                (**self).figures()
            }

            fn figures_sampled(&self, lines: u64) -> Figures {
                (**self).figures_sampled(lines)
            }

            fn saturation(&self) -> f64 {
                (**self).saturation()
            }

            fn false_positive_rate(&self) -> f64 {
                (**self).false_positive_rate()
            }
        }

        impl<F: OnceFilter + ?Sized> OnceFilter for $pointer {}
    )*};
}

through_pointers! { &F Box<F> Arc<F> }
