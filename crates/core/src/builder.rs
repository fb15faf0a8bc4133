//! The methods that the builders of all crates have in common.

/// Defines the methods of a builder that the crate `$krate` exports from its module `$module`, and
/// its `Debug`. With it come an example of a filter that it builds, and what the pages of
/// `capacity` and `false_positive_rate` say.
///
/// The builder has the fields `sizes`, which is a `Sizes`, and `hasher`. The trait of its filters
/// has the types `Hasher` and `WithHasher`.
#[doc(hidden)]
#[macro_export]
macro_rules! builder_methods {
    (
        $builder:ident<$bound:ident> of $krate:literal, $module:literal,
        builds: $ty:ident,
        capacity: $($capacity:literal)+,
        rate: $($rate:literal)+
    ) => {
        impl<F: $bound> $builder<F> {
            /// Returns a builder with this hasher. This is the only way to get a builder without
            /// feature `std`, because the method `builder` of a filter needs random keys.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("use tamis::", $module, "::", stringify!($builder), ";")]
            /// use tamis::hash::Rapid;
            ///
            #[doc = concat!("let builder = ", stringify!($builder), "::new(Rapid::with_seed(1));")]
            #[doc = concat!("let filter: ", stringify!($ty), "<str, Rapid> = builder.capacity(10).build()?;")]
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn new(hasher: F::Hasher) -> Self {
                Self { sizes: Sizes::default(), hasher }
            }

            $(#[doc = $capacity])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let filter = ", stringify!($ty), "::<str>::builder().capacity(10_000).build()?;")]
            /// assert_eq!(filter.capacity(), 10_000);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn capacity(mut self, items: usize) -> Self {
                self.sizes.capacity = Some(items);
                self
            }

            $(#[doc = $rate])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder();")]
            /// let builder = builder.capacity(100_000).false_positive_rate(1e-4);
            /// assert!(builder.geometry()?.false_positive_rate_at(100_000) <= 1e-4);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn false_positive_rate(mut self, rate: f64) -> Self {
                self.sizes.rate = Some(rate);
                self
            }

            /// Sets the hasher: any [`BuildHasher`](core::hash::BuildHasher), or a stable hasher of
            /// `tamis-hash`. All 64 bits of a hash must be well mixed: with an identity hasher, a
            /// filter takes most items for known ones.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            /// use tamis::hash::Xxh3;
            ///
            #[doc = concat!("let builder = ", stringify!($ty), "::<str>::builder().capacity(10);")]
            /// let filter = builder.hasher(Xxh3::with_seed(7)).build()?;
            /// assert!(!filter.contains("a"));
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn hasher<S>(self, hasher: S) -> $builder<F::WithHasher<S>> {
                $builder { sizes: self.sizes, hasher }
            }
        }

        impl<F: $bound> ::core::fmt::Debug for $builder<F> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut shown = f.debug_struct(stringify!($builder));
                shown.field("sizes", &self.sizes).finish_non_exhaustive()
            }
        }
    };
}

/// Defines the methods of a [builder](builder_methods) of filters of a fixed size whose sizes are a
/// `Geometry`. With it come an example of a filter that it builds, and what the page of `like`
/// says.
///
/// The `Sizes` of the builder have the field `like`. The last lines compute the geometry from them,
/// and find the capacity of a filter.
#[doc(hidden)]
#[macro_export]
macro_rules! geometry_methods {
    (
        $builder:ident<$bound:ident> of $krate:literal, $module:literal,
        builds: $ty:ident,
        like: $($like:literal)+,
        geometry: |$sizes:ident| $geometry:expr,
        capacity: |$shared:ident| $capacity:expr
    ) => {
        impl<F: $bound> $builder<F> {
            $(#[doc = $like])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let one = ", stringify!($ty), "::<str>::with_capacity(1000)?;")]
            #[doc = concat!("let other = ", stringify!($ty), "::<str>::builder().like(one.geometry()).build()?;")]
            /// assert_eq!(other.geometry(), one.geometry());
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn like(mut self, geometry: Geometry) -> Self {
                self.sizes.like = Some(geometry);
                self
            }

            /// Returns the sizes that the filter would have, without building it.
            ///
            /// # Errors
            ///
            /// As [`build`](Self::build), apart from a failed allocation.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("# use ", $krate, " as tamis;")]
            #[doc = concat!("use tamis::", stringify!($ty), ";")]
            #[doc = concat!("let ten_billion = ", stringify!($ty), "::<str>::builder().capacity(10_000_000_000);")]
            /// assert!(ten_billion.geometry()?.size_in_bytes() >> 30 > 10);
            /// # Ok::<(), tamis::BuildError>(())
            /// ```
            pub fn geometry(&self) -> Result<Geometry, $crate::BuildError> {
                let $sizes = self.sizes;
                $geometry
            }
        }

        /// Takes the sizes, the capacity and a clone of the hasher of a filter, to build an empty
        /// one.
        ///
        /// Reads nothing of the contents. Other threads may use the filter meanwhile. To clear a
        /// filter that is in use, replace it by the empty one: the guide of the crate `tamis` says
        /// how.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("# use ", $krate, " as tamis;")]
        #[doc = concat!("use tamis::", stringify!($ty), ";")]
        #[doc = concat!("use tamis::", $module, "::", stringify!($builder), ";")]
        /// use tamis::hash::HashItem;
        ///
        #[doc = concat!("let filter = ", stringify!($ty), "::<str>::with_capacity(10)?;")]
        #[doc = concat!("let empty = ", stringify!($builder), "::from(&filter).build()?;")]
        /// assert_eq!(empty.geometry(), filter.geometry());
        /// // Both hash alike.
        /// assert_eq!(empty.hasher().hash_item("a"), filter.hasher().hash_item("a"));
        /// # Ok::<(), tamis::BuildError>(())
        /// ```
        impl<F: $bound<Hasher: Clone>> From<&F> for $builder<F> {
            fn from(filter: &F) -> Self {
                let $shared = filter.shared();
                let builder = Self::new($shared.hasher.clone());
                builder.like($shared.geometry()).capacity($capacity)
            }
        }
    };
}
