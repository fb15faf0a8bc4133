//! The trait object for a type of filter that is chosen at run time.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::error::Error;

use crate::figures::Figures;
use crate::filter::Filter;

/// A filter whose type is chosen at run time, for example by a configuration:
/// `Box<dyn DynFilter<str>>`.
///
/// A `Box<dyn DynFilter<str> + Send + Sync>` can be shared between threads. Every [`Filter`]
/// implements it. Each method does the same as the filter's own method, and a call
/// costs a few nanoseconds more. `insert_many` and `contains_many` run as batches.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::hash::Rapid;
/// use tamis::{BuildError, DynFilter, WithRate};
///
/// /// Builds one of two types of filter.
/// fn build<A, B>(first: bool) -> Result<Box<dyn DynFilter<str>>, BuildError>
/// where
///     A: WithRate<Item = str, Hasher = Rapid> + 'static,
///     B: WithRate<Item = str, Hasher = Rapid> + 'static,
/// {
///     Ok(match first {
///         true => Box::new(A::with_rate(1000, 0.01, Rapid::with_seed(1))?),
///         false => Box::new(B::with_rate(1000, 0.01, Rapid::with_seed(1))?),
///     })
/// }
/// ```
pub trait DynFilter<T: ?Sized> {
    /// Inserts an item. Returns `Ok(true)` if this call stored something.
    ///
    /// # Errors
    ///
    /// The error of the filter, if it has no room.
    fn insert(&self, item: &T) -> Result<bool, Box<dyn Error + Send + Sync>>;

    /// Returns whether the filter may contain the item.
    #[must_use]
    fn contains(&self, item: &T) -> bool;

    /// Inserts many items, and returns for each what [`insert`](Self::insert) would have
    /// returned.
    #[must_use = "an insert may fail"]
    fn insert_many(&self, items: &[&T]) -> Vec<Result<bool, Box<dyn Error + Send + Sync>>>;

    /// Queries many items, and returns for each what [`contains`](Self::contains) would have
    /// returned.
    #[must_use]
    fn contains_many(&self, items: &[&T]) -> Vec<bool>;

    /// Returns the number of distinct items that the filter was built for.
    #[must_use]
    fn capacity(&self) -> usize;

    /// Returns the memory of the filter in bytes.
    #[must_use]
    fn size_in_bytes(&self) -> u64;

    /// Returns how full the filter is, from at least `lines` of its 64-byte lines. `u64::MAX` reads
    /// all.
    #[must_use]
    fn figures_sampled(&self, lines: u64) -> Figures;
}

impl<T: ?Sized, F: Filter<Item = T>> DynFilter<T> for F {
    fn insert(&self, item: &T) -> Result<bool, Box<dyn Error + Send + Sync>> {
        Ok(Filter::try_insert(self, item)?)
    }

    fn contains(&self, item: &T) -> bool {
        Filter::contains(self, item)
    }

    fn insert_many(&self, items: &[&T]) -> Vec<Result<bool, Box<dyn Error + Send + Sync>>> {
        let results = Filter::try_insert_many(self, items);
        results.into_iter().map(|result| Ok(result?)).collect()
    }

    fn contains_many(&self, items: &[&T]) -> Vec<bool> {
        Filter::contains_many(self, items)
    }

    fn capacity(&self) -> usize {
        Filter::capacity(self)
    }

    fn size_in_bytes(&self) -> u64 {
        Filter::size_in_bytes(self)
    }

    fn figures_sampled(&self, lines: u64) -> Figures {
        Filter::figures_sampled(self, lines)
    }
}
