//! The traits of a collection, for both filters: `Clone` and `Debug`.

use core::fmt;

use crate::{CuckooFilter, OnceCuckooFilter};

macro_rules! collection {
    ($($name:ident)*) => {$(
        /// A [`snapshot`](Self::snapshot).
        impl<T: ?Sized, S: Clone> Clone for $name<T, S> {
            fn clone(&self) -> Self {
                self.snapshot()
            }
        }

        /// The shape and how full it is, never the fingerprints.
        impl<T: ?Sized, S> fmt::Debug for $name<T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("geometry", &self.geometry())
                    .field("capacity", &self.capacity())
                    .field("len", &self.len())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

collection! { CuckooFilter OnceCuckooFilter }
