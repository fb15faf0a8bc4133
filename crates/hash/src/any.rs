//! A stable hasher whose algorithm is chosen at run time.

use core::fmt;

use crate::algorithm::Algorithm;
use crate::stable::{Rapid, SipHash13, StableHasher, Xxh3, Xxh64, sealed};

/// Any of the stable hashers, chosen at run time: for a program that reads the algorithm from a
/// file or from its options.
///
/// Its hashes equal those of the concrete hasher. A concrete type is faster for short items,
/// because this type selects the algorithm for each item.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Algorithm, AnyStable, HashItem, StableHasher, Xxh3};
///
/// let mut key = [0; 16];
/// key[0] = 7;
/// let any = AnyStable::from_key(Algorithm::Xxh3, key).ok_or("not a key of XXH3")?;
/// assert_eq!(any.hash_item("a"), Xxh3::with_seed(7).hash_item("a"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone)]
pub struct AnyStable(Any);

/// The concrete hasher.
#[derive(Clone)]
enum Any {
    Rapid(Rapid),
    Xxh3(Xxh3),
    Xxh64(Xxh64),
    SipHash13(SipHash13),
}

/// Evaluates an expression with the concrete hasher.
macro_rules! with_concrete {
    ($any:expr, $hasher:ident => $run:expr) => {
        match &$any.0 {
            Any::Rapid($hasher) => $run,
            Any::Xxh3($hasher) => $run,
            Any::Xxh64($hasher) => $run,
            Any::SipHash13($hasher) => $run,
        }
    };
}

impl AnyStable {
    /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the trait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{AnyStable, Xxh64};
    /// let any = AnyStable::from(Xxh64::with_seed(0));
    /// assert_eq!(any.hash_bytes(b"a"), 0xD24E_C4F1_A98C_6E5B);
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        with_concrete!(self, hasher => hasher.hash_bytes(bytes))
    }
}

impl sealed::Sealed for AnyStable {}

impl StableHasher for AnyStable {
    fn algorithm(&self) -> Algorithm {
        with_concrete!(self, hasher => hasher.algorithm())
    }

    fn key(&self) -> [u8; 16] {
        with_concrete!(self, hasher => hasher.key())
    }

    fn from_key(algorithm: Algorithm, key: [u8; 16]) -> Option<Self> {
        match algorithm {
            Algorithm::Rapid => Rapid::from_key(algorithm, key).map(Self::from),
            Algorithm::Xxh3 => Xxh3::from_key(algorithm, key).map(Self::from),
            Algorithm::Xxh64 => Xxh64::from_key(algorithm, key).map(Self::from),
            Algorithm::SipHash13 => SipHash13::from_key(algorithm, key).map(Self::from),
        }
    }

    #[inline]
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        Self::hash_bytes(self, bytes)
    }
}

/// Prints the algorithm only: the key is secret.
impl fmt::Debug for AnyStable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyStable").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

crate::item::hash_portable_items!(AnyStable);

/// Implements the conversions from the concrete hashers.
macro_rules! from_concrete {
    ($($type:ident)*) => {$(
        impl From<$type> for AnyStable {
            fn from(hasher: $type) -> Self {
                Self(Any::$type(hasher))
            }
        }
    )*};
}

from_concrete! { Rapid Xxh3 Xxh64 SipHash13 }
