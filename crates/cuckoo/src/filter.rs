//! The traits that both filter types implement: for the builder, and for generic code of users.

use tamis_core::{HashedCopies, OnceFilter, implement_filter, implement_hashed};
use tamis_hash::HashItem;

use crate::builder::{Buildable, Builder, sealed};
use crate::error::InsertError;
use crate::multiset::CuckooFilter;
use crate::once::OnceCuckooFilter;
use crate::shared::Shared;

/// Gives builders access to the filters.
macro_rules! filters {
    ($($name:ident)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            type Stored = T;
            type Hasher = S;

            fn from_shared(shared: Shared<T, S>) -> Self {
                Self { shared }
            }

            fn shared(&self) -> &Shared<T, S> {
                &self.shared
            }
        }

        impl<T: ?Sized, S> Buildable for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }
    )*};
}

filters! { CuckooFilter OnceCuckooFilter }

implement_filter! {
    CuckooFilter: Builder;
    OnceCuckooFilter: Builder;
}

implement_hashed! {
    CuckooFilter.shared -> Result<(), InsertError>, InsertError:
        insert, insert_many_with, contains;
    OnceCuckooFilter.shared -> Result<bool, InsertError>, InsertError:
        insert_once, insert_once_many, contains;
}

impl<T: ?Sized, S> HashedCopies for CuckooFilter<T, S> {
    #[inline]
    fn remove_hash(&self, hash: u64) -> bool {
        self.shared.remove(hash)
    }

    #[inline]
    fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.shared.remove_many_with(hashes, on_result);
    }

    #[inline]
    fn count_hash(&self, hash: u64) -> u32 {
        self.shared.count(hash)
    }
}

impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceCuckooFilter<T, S> {}
