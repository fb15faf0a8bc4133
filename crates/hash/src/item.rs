//! The traits between items and hashers: one sealed trait covers both kinds of hashing.

use core::hash::{BuildHasher, Hash};

mod sealed {
    pub trait Sealed {}
}

/// A fixed value: hashers with different keys give it different hashes.
const PROBE: u64 = 0x7A61_6D69_7320_2121;

/// A hasher that a filter can hold: any [`BuildHasher`], or a
/// [`StableHasher`](crate::StableHasher).
///
/// This trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{ItemHasher, Rapid};
/// assert_ne!(Rapid::with_seed(1).hash_probe(), Rapid::with_seed(2).hash_probe());
/// ```
pub trait ItemHasher: sealed::Sealed {
    /// Returns the hash of one fixed value, which identifies the algorithm and its keys.
    ///
    /// Two filters can be united only if their probes are equal. A saved filter contains the probe,
    /// so that a change of algorithm or seed is detected before it causes false negatives.
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
/// This trait is sealed. It is implemented for every [`BuildHasher`] with every [`Hash`] item, and
/// for every [`StableHasher`](crate::StableHasher) with every [`Portable`](crate::Portable) item.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{DefaultHashBuilder, HashItem, Xxh3};
///
/// let in_memory = DefaultHashBuilder::with_seed(1).hash_item("a");
/// let stable = Xxh3::with_seed(1).hash_item("a");
/// assert_ne!(in_memory, stable);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hash `{T}`",
    note = "a stable hasher, such as `Rapid`, needs an item that is `Portable`; all others need `Hash`"
)]
pub trait HashItem<T: ?Sized>: ItemHasher {
    /// Returns the 64-bit hash of `item`. A filter derives everything else from it.
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

/// Implements the traits for one stable algorithm and all portable items. (A blanket implementation
/// over `StableHasher` would overlap the one over `BuildHasher`; implementations for concrete types
/// do not.)
macro_rules! hash_portable_items {
    ($type:ident) => {
        impl crate::item::Sealed for $type {}

        impl crate::item::ItemHasher for $type {
            fn hash_probe(&self) -> u64 {
                self.hash_bytes(&crate::item::PROBE_BYTES)
            }
        }

        impl<T: crate::portable::Portable + ?Sized> crate::item::HashItem<T> for $type {
            #[inline]
            fn hash_item(&self, item: &T) -> u64 {
                item.with_encoded(|bytes| self.hash_bytes(bytes))
            }
        }
    };
}

pub(crate) use hash_portable_items;
pub(crate) use sealed::Sealed;

/// The probe value as bytes, for the stable algorithms.
pub(crate) const PROBE_BYTES: [u8; 8] = PROBE.to_le_bytes();
