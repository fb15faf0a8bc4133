//! The traits, implemented for the filters of all crates.

/// Implements [`Filter`](crate::Filter) and [`WithRate`](crate::WithRate) for types, by their own
/// methods and their builders.
///
/// If a type lacks such a method, the method of the trait calls itself, and the compiler warns.
#[doc(hidden)]
#[macro_export]
macro_rules! implement_filter {
    ($($(#[$doc:meta])* $ty:ident: $builder:ident;)*) => {$(
        impl<T: ?Sized, S: $crate::hash::HashItem<T>> $crate::Filter for $ty<T, S> {
            type Item = T;
            type Hasher = S;

            #[inline]
            fn hasher(&self) -> &S {
                self.hasher()
            }

            fn capacity(&self) -> usize {
                self.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn figures(&self) -> $crate::Figures {
                self.figures()
            }

            fn figures_sampled(&self, lines: u64) -> $crate::Figures {
                self.figures_sampled(lines)
            }

            fn saturation(&self) -> f64 {
                self.saturation()
            }
        }

        $(#[$doc])*
        impl<T: ?Sized, S: $crate::hash::HashItem<T>> $crate::WithRate for $ty<T, S> {
            fn with_rate(
                capacity: usize,
                rate: f64,
                hasher: S,
            ) -> Result<Self, $crate::BuildError> {
                $builder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
            }
        }
    )*};
}

/// Implements [`Hashed`](crate::Hashed) for types, by the methods of a field: for one insert, for
/// many, and for a query. The field also has `contains_many_with` and `prefetch`.
#[doc(hidden)]
#[macro_export]
macro_rules! implement_hashed {
    (
        $($ty:ident.$field:ident -> $inserted:ty, $error:ty:
        $insert:ident, $insert_many:ident, $contains:ident;)*
    ) => {$(
        impl<T: ?Sized, S> $crate::Hashed for $ty<T, S> {
            type Inserted = $inserted;
            type InsertError = $error;

            #[inline]
            fn insert_hash(&self, hash: u64) -> $inserted {
                self.$field.$insert(hash)
            }

            // Always, as the method `contains` of the types.
            #[inline(always)]
            fn contains_hash(&self, hash: u64) -> bool {
                self.$field.$contains(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, $inserted),
            ) {
                self.$field.$insert_many(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.$field.contains_many_with(hashes, on_result);
            }

            #[inline]
            fn prefetch_hash(&self, hash: u64) {
                self.$field.prefetch(hash);
            }
        }
    )*};
}

/// Implements `From` for arrays, for types that are built from an iterator.
#[doc(hidden)]
#[macro_export]
macro_rules! implement_from_arrays {
    ($($ty:ident)*) => {$(
        /// Collects the array. For an array of references name the type of the items, as in
        #[doc = concat!("`", stringify!($ty), "::<str>::from([\"a\"])`: the items may be the")]
        /// references, or what they refer to.
        #[cfg(feature = "std")]
        impl<T: core::hash::Hash, const N: usize> From<[T; N]> for $ty<T> {
            fn from(items: [T; N]) -> Self {
                items.into_iter().collect()
            }
        }

        /// Collects the array.
        #[cfg(feature = "std")]
        impl<'a, T: core::hash::Hash + ?Sized + 'a, const N: usize> From<[&'a T; N]> for $ty<T> {
            fn from(items: [&'a T; N]) -> Self {
                items.into_iter().collect()
            }
        }
    )*};
}

/// Implements `Debug` for types: it shows what these methods return.
#[doc(hidden)]
#[macro_export]
macro_rules! implement_debug {
    ($($ty:ident: $($method:ident)+;)*) => {$(
        /// Shows sizes and numbers, never the contents.
        impl<T: ?Sized, S> core::fmt::Debug for $ty<T, S> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($ty))
                    $(.field(stringify!($method), &self.$method()))+
                    .finish_non_exhaustive()
            }
        }
    )*};
}
