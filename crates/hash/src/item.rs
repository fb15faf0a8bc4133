//! What joins an item to a hasher: one sealed trait over both kinds of hashing.

use core::hash::{BuildHasher, Hash};

mod sealed {
    pub trait Sealed {}
}

/// A value whose hash tells two differently keyed hashers apart.
const PROBE: u64 = 0x7A61_6D69_7320_2121;

/// A hasher that a filter can hold: any [`BuildHasher`], or a [`StableHasher`](crate::StableHasher).
///
/// Sealed.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{ItemHasher, Rapid};
/// assert_ne!(Rapid::with_seed(1).hash_probe(), Rapid::with_seed(2).hash_probe());
/// ```
pub trait ItemHasher: sealed::Sealed {
    /// The hash of one fixed value. Two filters can be united only where it agrees, and a saved
    /// filter keeps it, so that a changed algorithm is found before it means false negatives.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{ItemHasher, Xxh3};
    /// assert_eq!(Xxh3::with_seed(1).hash_probe(), Xxh3::with_seed(1).hash_probe());
    /// ```
    #[must_use]
    fn hash_probe(&self) -> u64;
}

/// A hasher that can hash items of type `T`.
///
/// Sealed, and implemented for two families: every [`BuildHasher`] with every [`Hash`] item, and
/// every [`StableHasher`](crate::StableHasher) with every [`Portable`](crate::Portable) item.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{DefaultHashBuilder, HashItem, Xxh3};
///
/// let in_memory = DefaultHashBuilder::with_seed(1).hash_item("a");
/// let for_good = Xxh3::with_seed(1).hash_item("a");
/// assert_ne!(in_memory, for_good);
/// ```
pub trait HashItem<T: ?Sized>: ItemHasher {
    /// The one 64-bit hash of `item` from which all else is derived.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{HashItem, Xxh64};
    /// assert_eq!(Xxh64::with_seed(0).hash_item("a"), 0xD24E_C4F1_A98C_6E5B);
    /// ```
    #[must_use]
    fn hash_item(&self, item: &T) -> u64;
}

impl<S: BuildHasher> sealed::Sealed for S {}

impl<S: BuildHasher> ItemHasher for S {
    fn hash_probe(&self) -> u64 {
        self.hash_one(PROBE)
    }
}

impl<S: BuildHasher, T: Hash + ?Sized> HashItem<T> for S {
    #[inline]
    fn hash_item(&self, item: &T) -> u64 {
        self.hash_one(item)
    }
}

/// Joins one stable algorithm to all portable items. (A blanket implementation over `StableHasher`
/// would overlap the one over `BuildHasher`; concrete types do not.)
macro_rules! joins_portable_items {
    ($type:ident) => {
        impl crate::item::Sealed for $type {}

        impl crate::ItemHasher for $type {
            fn hash_probe(&self) -> u64 {
                self.hash_bytes(&crate::item::PROBE_BYTES)
            }
        }

        impl<T: crate::Portable + ?Sized> crate::HashItem<T> for $type {
            #[inline]
            fn hash_item(&self, item: &T) -> u64 {
                item.with_encoded(|bytes| self.hash_bytes(bytes))
            }
        }
    };
}

pub(crate) use joins_portable_items;
pub(crate) use sealed::Sealed;

/// The probe value as the stable algorithms see it.
pub(crate) const PROBE_BYTES: [u8; 8] = PROBE.to_le_bytes();
