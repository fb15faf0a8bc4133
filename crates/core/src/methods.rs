//! The methods that are the same in the filters of all crates.

/// Defines the methods of a type that the crate `$krate` exports. With it comes the field that has
/// its `hasher` and its `read_figures` (without one, the type has both). Then come its builder,
/// what inserts of "a", "b" and "a" return, why a caller must use that, and what the page of each
/// method says. Where the types compute something in their own ways, an expression follows.
///
/// The type implements `Hashed` and `Filter`, and has `insert`. The crate has the feature `std`,
/// `BuildError` in its root, and a section "Batches" on its page.
#[doc(hidden)]
#[macro_export]
macro_rules! common_methods {
    (
        $ty:ident $(.$field:ident)? of $krate:literal,
        builder: $builder:ty,
        inserted: $inserted:ty = $results:literal,
        must_use: $must_use:literal,
        with_capacity: $with_capacity:literal,
        builds: $builds:literal,
        contains: $($contains:literal)+,
        inserts: $($inserts:literal)+,
        queries: $queries:literal,
        capacity: $($capacity_is:literal)+ = |$of_capacity:ident| $capacity:expr,
        saturation: $($saturation_is:literal)+ = |$of_saturation:ident| $saturation:expr,
        rate: $($rate:literal)+,
        size: $($size_is:literal)+ = |$of_size:ident| $size:expr,
        figures: $figures:literal,
        sample: $sample:literal
    ) => {
        #[cfg(feature = "std")]
        impl<T: ?Sized> $ty<T> {
            #[doc = $with_capacity]
            ///
            /// # Errors
            ///
            /// [`BuildError`](crate::BuildError) if the allocation fails, or if no filter of this
            /// type has so high a capacity ([`RateTooLow`](crate::BuildError::RateTooLow),
            /// [`TooLarge`](crate::BuildError::TooLarge)).
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(1_000_000)?;")]
            /// assert_eq!(filter.capacity(), 1_000_000);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn with_capacity(items: usize) -> Result<Self, $crate::BuildError> {
                Self::builder().capacity(items).build()
            }

            #[doc = $builds]
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-4).build()?;
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn builder() -> $builder {
                <$builder>::new(Default::default())
            }
        }

        impl<T: ?Sized, S> $ty<T, S> {
            $(#[doc = $contains])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-8).build()?;
            /// filter.try_insert("a")?;
            /// assert!(filter.contains("a") && !filter.contains("b"));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            // Always: a query of a classic filter is inlined into the caller, and the compiler does
            // not inline what has several callers.
            #[inline(always)]
            #[must_use]
            pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
            where
                T: ::core::borrow::Borrow<Q>,
                S: $crate::hash::HashItem<Q>,
            {
                let hash = $crate::hash::HashItem::hash_item(self.hasher(), item);
                $crate::Hashed::contains_hash(self, hash)
            }

            /// Inserts many items, owned or borrowed. Calls `on_result` for each item in order,
            /// with its index and the result that [`insert`](Self::insert) would have returned.
            ///
            $(#[doc = $inserts])+
            /// See [batches](crate#batches) for slow iterators and panics.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-8).build()?;
            /// let mut results = vec![];
            /// filter.insert_many_with(["a", "b", "a"], |_, result| results.push(result));
            #[doc = concat!("assert_eq!(results, ", $results, ");")]
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn insert_many_with<I>(&self, items: I, on_result: impl FnMut(usize, $inserted))
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::Hashed::insert_hashes(self, self.hashes(items), on_result);
            }

            /// Inserts many items as [`insert_many_with`](Self::insert_many_with) does, and returns
            /// the results in order.
            ///
            /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the
            /// iterator or the hasher panics, the filter is unchanged.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-8).build()?;
            #[doc = concat!("assert_eq!(filter.insert_many([\"a\", \"b\", \"a\"]), ", $results, ");")]
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use = $must_use]
            pub fn insert_many<I>(&self, items: I) -> $crate::alloc::vec::Vec<$inserted>
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::many::insert(self, self.hashes(items))
            }

            /// Queries many items, owned or borrowed. Calls `on_result` for each item in order,
            /// with its index and the result that [`contains`](Self::contains) would have returned.
            ///
            #[doc = $queries]
            /// Up to 32 items are queried before the first call of `on_result`, so an insert in
            /// `on_result` may not be visible to the results after it; see
            /// [batches](crate#batches).
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-8).build()?;
            /// filter.try_insert("b")?;
            /// let names: Vec<String> = vec!["a".into(), "b".into()];
            /// let mut hits = vec![];
            /// filter.contains_many_with(&names, |number, hit| {
            ///     if hit {
            ///         hits.push(&names[number]);
            ///     }
            /// });
            /// assert_eq!(hits, ["b"]);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[inline]
            pub fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::Hashed::contains_hashes(self, self.hashes(items), on_result);
            }

            /// Queries many items as [`contains_many_with`](Self::contains_many_with) does, and
            /// returns the results in order.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let filter = builder.capacity(1000).false_positive_rate(1e-8).build()?;
            /// filter.try_insert("b")?;
            /// assert_eq!(filter.contains_many(["a", "b"]), [false, true]);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn contains_many<I>(&self, items: I) -> $crate::alloc::vec::Vec<bool>
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::many::contains(self, self.hashes(items))
            }

            /// Hashes items. The user's code runs here and in the callbacks, never under a lock.
            #[inline]
            pub(crate) fn hashes<I>(&self, items: I) -> impl Iterator<Item = u64>
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                let hash = |item: I::Item| {
                    $crate::hash::HashItem::hash_item(
                        self.hasher(),
                        $crate::AsItem::as_item(&item),
                    )
                };
                items.into_iter().map(hash)
            }

            /// Returns the filter as seen by code that has hashes instead of items.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::HashItem;
            ///
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// let hash = filter.hasher().hash_item("a");
            /// filter.by_hash().insert_many_with([hash], |_, _| ());
            /// assert!(filter.contains("a") && filter.by_hash().contains(hash));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            pub fn by_hash(&self) -> $crate::ByHash<'_, Self> {
                $crate::Hashed::by_hash(self)
            }

            $(#[doc = $capacity_is])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(2000)?;")]
            /// assert_eq!(filter.capacity(), 2000);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn capacity(&self) -> usize {
                let $of_capacity = self;
                $capacity
            }

            $(#[doc = $saturation_is])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<u64>::with_capacity(10_000)?;")]
            /// filter.try_extend(0..5000)?;
            /// assert!((0.4..0.6).contains(&filter.saturation()));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn saturation(&self) -> f64 {
                let $of_saturation = self;
                $saturation
            }

            /// Returns the false-positive rate of the present contents: the probability that a
            /// query of an absent item returns `true`.
            $(#[doc = $rate])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<u64>::with_capacity(10_000)?;")]
            /// filter.try_extend(0..10_000)?;
            /// assert!((0.001..0.013).contains(&filter.false_positive_rate()));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                self.figures().false_positive_rate.value
            }

            $(#[doc = $size_is])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(1_000_000)?;")]
            /// assert!((1_000_000..8_000_000).contains(&filter.size_in_bytes()));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                let $of_size = self;
                $size
            }

            /// Returns how full the filter is, and the false-positive rate of its contents.
            #[doc = $figures]
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(10_000).false_positive_rate(1e-3).build()?;
            /// filter.try_extend(0..5000)?;
            /// let figures = filter.figures();
            /// assert!((4000.0..6000.0).contains(&figures.items.value));
            /// assert!(figures.saturation.value < 0.7 && figures.false_positive_rate.value < 0.01);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn figures(&self) -> $crate::Figures {
                self$(.$field)?.read_figures(None)
            }

            /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for
            /// metrics.
            ///
            #[doc = $sample]
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<u64>::builder();")]
            /// let filter = builder.capacity(10_000).false_positive_rate(1e-3).build()?;
            /// filter.try_extend(0..5000)?;
            /// let (sampled, exact) = (filter.figures_sampled(50), filter.figures());
            /// let difference = (sampled.items.value - exact.items.value).abs();
            /// assert!(difference <= 9.0 * sampled.items.standard_error);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn figures_sampled(&self, lines: u64) -> $crate::Figures {
                self$(.$field)?.read_figures(Some(lines))
            }

            /// Returns the hasher.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::HashItem;
            ///
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
            /// let hashes = ["a", "b"].map(|item| filter.hasher().hash_item(item));
            /// filter.by_hash().insert_many_with(hashes, |_, _| ());
            /// assert!(filter.contains("a") && filter.contains("b"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            #[inline]
            #[must_use]
            pub fn hasher(&self) -> &S {
                &self$(.$field)?.hasher
            }
        }
    };
}

/// Defines the methods that remove many items from a type that the crate `$krate` exports.
#[doc(hidden)]
#[macro_export]
macro_rules! removing_methods {
    ($ty:ident of $krate:literal) => {
        impl<T: ?Sized, S> $ty<T, S> {
            /// Removes one copy of each of many items, owned or borrowed. Calls `on_result` for
            /// each item in order, with its index and the result that [`remove`](Self::remove)
            /// would have returned.
            ///
            /// The contract of [`remove`](Self::remove) holds for each item. See
            /// [batches](crate#batches) for slow iterators and panics.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let filter = ", stringify!($ty), "::<u64>::with_capacity(1000)?;")]
            /// filter.try_extend(0..10)?;
            /// filter.remove_many_with(0..10, |_, removed| assert!(removed));
            /// assert_eq!(filter.figures().fill.value, 0.0);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[inline]
            pub fn remove_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::HashedCopies::remove_hashes(self, self.hashes(items), on_result);
            }

            /// Removes many items as [`remove_many_with`](Self::remove_many_with) does, and returns
            /// the results in order.
            ///
            /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the
            /// iterator or the hasher panics, the filter is unchanged.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::{Filter, ", stringify!($ty), "};")]
            ///
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            /// filter.try_insert("a")?;
            /// assert_eq!(filter.remove_many(["a", "a"]), [true, false]);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use = "`remove_many_with` removes without results"]
            pub fn remove_many<I>(&self, items: I) -> $crate::alloc::vec::Vec<bool>
            where
                I: IntoIterator<Item: $crate::AsItem<T>>,
                S: $crate::hash::HashItem<<I::Item as $crate::AsItem<T>>::Borrowed>,
            {
                $crate::many::remove(self, self.hashes(items))
            }
        }
    };
}
