//! The traits of std: `Debug` for both filters, `FromIterator` and `From` for the once filter.

use alloc::vec::Vec;

use tamis_core::{AsItem, BuildError, implement_debug, implement_from_arrays};
use tamis_hash::HashItem;
use tamis_sync::out_of_memory;

use crate::builder::Builder;
use crate::multiset::CuckooFilter;
use crate::once::OnceCuckooFilter;

implement_debug! {
    CuckooFilter: geometry capacity len;
    OnceCuckooFilter: geometry capacity len;
}

implement_from_arrays! { OnceCuckooFilter }

/// Builds a filter with these hashes, for at least `capacity` items at the default rate. If an
/// allocation fails, it ends the program as std's collections do.
fn from_hashes<T: ?Sized, S>(
    hashes: &[u64],
    mut capacity: usize,
    mut hasher: S,
) -> OnceCuckooFilter<T, S> {
    loop {
        // Build an empty filter of this capacity.
        let filter = match Builder::<OnceCuckooFilter<T, S>>::new(hasher).capacity(capacity).build()
        {
            Ok(filter) => filter,
            Err(BuildError::Alloc { bytes }) => out_of_memory(bytes),
            Err(_) => panic!("capacity overflow"),
        };
        // Insert in parts, and stop at the first part with an error: in a full filter, every
        // further insert would search and fail.
        let mut full = false;
        for part in hashes.chunks(4096) {
            filter
                .shared
                .insert_once_many(part.iter().copied(), |_, result| full |= result.is_err());
            if full {
                break;
            }
        }
        if !full {
            return filter;
        }
        // Fewer than one filter in a million is full before its capacity. Try again with an eighth
        // more.
        capacity += capacity / 8 + 8;
        hasher = filter.shared.hasher;
    }
}

/// Builds a filter whose capacity is the number of items, at the default rate of at most 1 %.
///
/// All items are hashed first, which needs 8 bytes per item. If an allocation fails, the program
/// aborts as with std's collections. A [`CuckooFilter`] cannot be collected, because it may fail to
/// insert copies of an item: see [`try_extend`](tamis_core::Filter::try_extend).
///
/// # Panics
///
/// If the iterator reports a length for which no vector of hashes can be allocated.
impl<T: ?Sized, S: HashItem<I::Borrowed> + Default, I: AsItem<T>> FromIterator<I>
    for OnceCuckooFilter<T, S>
{
    fn from_iter<Items: IntoIterator<Item = I>>(items: Items) -> Self {
        let hasher = S::default();
        let hashes: Vec<u64> =
            items.into_iter().map(|item| hasher.hash_item(item.as_item())).collect();
        from_hashes(&hashes, hashes.len(), hasher)
    }
}

#[cfg(test)]
mod tests {
    use tamis_hash::Rapid;

    use super::*;

    #[test]
    fn a_filter_that_is_too_small_is_rebuilt_until_all_items_fit() {
        let hasher = Rapid::with_seed(3);
        let hashes: Vec<u64> = (0..10_000_u64).map(|item| hasher.hash_item(&item)).collect();
        let filter: OnceCuckooFilter<u64, Rapid> = from_hashes(&hashes, 100, hasher);
        assert!(hashes.iter().all(|&hash| filter.by_hash().contains(hash)));
        assert!((9900..=10_000).contains(&filter.len()), "{}", filter.len());
        assert!((9000..13_000).contains(&filter.capacity()), "{}", filter.capacity());
    }
}
