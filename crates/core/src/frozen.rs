//! A filter that answers queries only.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use tamis_hash::HashItem;

use crate::as_item::AsItem;
use crate::figures::Figures;
use crate::filter::Filter;

/// A filter that answers queries and accepts no items: what a saved filter is when it is mapped
/// from its file.
///
/// All threads can query it by `&self`. It has no method that changes the filter. If nothing else
/// changes it (a `Frozen<Arc<F>>` does not prevent that), a query takes no lock and is never
/// repeated.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::{Filter, Frozen, Sampled};
/// use tamis::hash::Rapid;
///
/// fn is_known<F: Filter<Item = str, Hasher = Rapid>>(frozen: &Frozen<F>, url: &str) -> bool {
///     frozen.contains(url)
/// }
/// ```
pub struct Frozen<F>(F);

impl<F: Filter> Frozen<F> {
    /// Freezes a filter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::{Filter, Frozen};
    ///
    /// fn freeze_all<F: Filter>(filters: Vec<F>) -> Vec<Frozen<F>> {
    ///     filters.into_iter().map(Frozen::new).collect()
    /// }
    /// ```
    pub const fn new(filter: F) -> Self {
        Self(filter)
    }

    /// Returns the hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::hash::HashItem;
    /// use tamis::{Filter, Frozen};
    ///
    /// /// Hashes the item once for both filters.
    /// fn in_both<F: Filter<Item = str>>(one: &Frozen<F>, other: &Frozen<F>, item: &str) -> bool {
    ///     let hash = one.hasher().hash_item(item);
    ///     one.contains_hash(hash) && other.contains_hash(hash)
    /// }
    /// ```
    pub fn hasher(&self) -> &F::Hasher {
        self.0.hasher()
    }

    /// Returns whether the filter may contain the item, as [`Filter::contains`] does.
    #[inline]
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        F::Item: Borrow<Q>,
        F::Hasher: HashItem<Q>,
    {
        self.0.contains(item)
    }

    /// Queries an item by its hash.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }

    /// Queries many items, as [`Filter::contains_many_with`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::{Filter, Frozen};
    ///
    /// fn count_known<F: Filter<Item = u64>>(frozen: &Frozen<F>, items: &[u64]) -> usize {
    ///     let mut known = 0;
    ///     frozen.contains_many_with(items, |_, hit| known += usize::from(hit));
    ///     known
    /// }
    /// ```
    pub fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<F::Item>>,
        F::Hasher: HashItem<<I::Item as AsItem<F::Item>>::Borrowed>,
    {
        self.0.contains_many_with(items, on_result);
    }

    /// Queries many items by their hashes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::{Filter, Frozen};
    ///
    /// fn count_known<F: Filter>(frozen: &Frozen<F>, hashes: &[u64]) -> usize {
    ///     let mut known = 0;
    ///     frozen.contains_hashes(hashes.iter().copied(), |_, hit| known += usize::from(hit));
    ///     known
    /// }
    /// ```
    pub fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.0.contains_hashes(hashes, on_result);
    }

    /// Queries many items and returns the results as a vector, as [`Filter::contains_many`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::{Filter, Frozen};
    ///
    /// fn all_known<F: Filter<Item = u64>>(frozen: &Frozen<F>, items: &[u64]) -> bool {
    ///     frozen.contains_many(items).into_iter().all(|hit| hit)
    /// }
    /// ```
    #[must_use]
    pub fn contains_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<F::Item>>,
        F::Hasher: HashItem<<I::Item as AsItem<F::Item>>::Borrowed>,
    {
        self.0.contains_many(items)
    }
}

/// The figures of the filter.
macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident($($lines:ident)?) -> $figure:ty;)*) => {
        impl<F: Filter> Frozen<F> {$(
            $(#[$doc])*
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_core as tamis;
            /// use tamis::{Filter, Frozen};
            ///
            /// fn report<F: Filter>(frozen: &Frozen<F>) {
            ///     println!("{} bytes", frozen.size_in_bytes());
            ///     println!("built for {} items, saturation {}", frozen.capacity(), frozen.saturation());
            ///     println!("about {} items", frozen.figures_sampled(1000).items);
            ///     println!("rate {}", frozen.false_positive_rate());
            /// }
            /// ```
            #[must_use]
            pub fn $name(&self $(, $lines: u64)?) -> $figure {
                self.0.$name($($lines)?)
            }
        )*}
    };
}

figures! {
    /// Returns what [`Filter::capacity`] returns.
    capacity() -> usize;
    /// Returns what [`Filter::size_in_bytes`] returns.
    size_in_bytes() -> u64;
    /// Returns what [`Filter::figures`] returns.
    figures() -> Figures;
    /// Returns what [`Filter::figures_sampled`] returns.
    figures_sampled(lines) -> Figures;
    /// Returns what [`Filter::saturation`] returns.
    saturation() -> f64;
    /// Returns what [`Filter::false_positive_rate`] returns.
    false_positive_rate() -> f64;
}

/// Prints the capacity and the size.
impl<F: Filter> fmt::Debug for Frozen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frozen")
            .field("capacity", &self.capacity())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
