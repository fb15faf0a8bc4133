//! Hash algorithms that never change, for filters that are saved, shared or sent.
//!
//! Each type is one published algorithm from a well-maintained crate. Golden values pin each
//! algorithm (`tests/golden.rs`); they come from other implementations where there are any. The set
//! is closed: a name in a saved filter means one of these algorithms.

use core::fmt;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use twox_hash::{XxHash3_64, XxHash64};

use crate::algorithm::Algorithm;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A named hash algorithm with its seed. It maps bytes to 64 bits, the same on every platform and
/// in every release.
///
/// This trait is sealed. Its implementors are [`Rapid`], [`Xxh3`], [`Xxh64`] and [`SipHash13`], and
/// [`AnyStable`](crate::AnyStable), which is one of them, chosen at run time.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Algorithm, StableHasher, Xxh64};
///
/// assert_eq!(Xxh64::with_seed(0).algorithm(), Algorithm::Xxh64);
/// assert_eq!(Xxh64::with_seed(0).hash_bytes(b""), 0xEF46_DB37_51D8_E999);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stable hasher",
    note = "a filter that is saved has a hasher that never changes: build it with \
            `.hasher(Rapid::with_seed(seed))`, and name its type `Filter<T, Rapid>`"
)]
pub trait StableHasher: sealed::Sealed + Clone + Send + Sync {
    /// Returns the algorithm.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{Rapid, StableHasher};
    /// assert_eq!(Rapid::with_seed(0).algorithm().name(), "rapidhash-v3");
    /// ```
    #[must_use]
    fn algorithm(&self) -> Algorithm;

    /// Returns the key: for [`SipHash13`] its 16 bytes, for the other algorithms the seed as 8
    /// little-endian bytes, followed by 8 zeros.
    ///
    /// If the seed is secret, the key is secret too.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{StableHasher, Xxh3};
    /// let key = Xxh3::with_seed(0x0102).key();
    /// assert_eq!(key, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    /// ```
    #[must_use]
    fn key(&self) -> [u8; 16];

    /// Returns the hasher with this algorithm and this [`key`](Self::key), or `None` if it does not
    /// exist: the type has another algorithm, or the algorithm has a seed and the last 8 bytes of
    /// the key are not zero.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{Algorithm, Rapid, StableHasher};
    ///
    /// let hasher = Rapid::with_seed(7);
    /// let same = Rapid::from_key(hasher.algorithm(), hasher.key()).ok_or("another algorithm")?;
    /// assert_eq!(same.hash_bytes(b"a"), hasher.hash_bytes(b"a"));
    /// assert!(Rapid::from_key(Algorithm::Xxh3, hasher.key()).is_none());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    fn from_key(algorithm: Algorithm, key: [u8; 16]) -> Option<Self>;

    /// Hashes `bytes`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{Rapid, StableHasher, Xxh3};
    ///
    /// fn hash_all<H: StableHasher>(hasher: &H, lines: &[&str]) -> Vec<u64> {
    ///     lines.iter().map(|line| hasher.hash_bytes(line.as_bytes())).collect()
    /// }
    ///
    /// assert_ne!(hash_all(&Rapid::with_seed(0), &["a"]), hash_all(&Xxh3::with_seed(0), &["a"]));
    /// ```
    #[must_use]
    fn hash_bytes(&self, bytes: &[u8]) -> u64;
}

/// rapidhash v3: the fastest of these algorithms for items as long as URLs.
///
/// Different seeds give different hashes. A secret seed does not protect against attackers:
/// collisions that hold for every seed are published.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Rapid, StableHasher};
/// assert_eq!(Rapid::with_seed(1).hash_bytes(b"a"), Rapid::with_seed(1).hash_bytes(b"a"));
/// ```
#[derive(Clone)]
pub struct Rapid {
    /// What the hash function needs, computed from the seed.
    secrets: RapidSecrets,
    seed: u64,
}

impl Rapid {
    /// Returns the algorithm with this seed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Rapid;
    /// assert_ne!(Rapid::with_seed(1).hash_bytes(b"a"), Rapid::with_seed(2).hash_bytes(b"a"));
    /// ```
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        // The seeding of the reference implementation: the crate's own seeding gives hashes that no
        // other program computes.
        Self { secrets: RapidSecrets::seed_cpp(seed), seed }
    }
}

/// XXH3-64: nearly as fast as [`Rapid`], and the algorithm that most other systems know. It does
/// not protect against attackers.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{StableHasher, Xxh3};
/// assert_eq!(Xxh3::with_seed(0).hash_bytes(b""), 0x2D06_8005_38D3_94C2);
/// ```
#[derive(Clone)]
pub struct Xxh3(u64);

impl Xxh3 {
    /// Returns the algorithm with this seed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Xxh3;
    /// assert_ne!(Xxh3::with_seed(1).hash_bytes(b"a"), Xxh3::with_seed(2).hash_bytes(b"a"));
    /// ```
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self(seed)
    }
}

/// XXH64: the algorithm that Parquet and other formats prescribe. It does not protect against
/// attackers.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{StableHasher, Xxh64};
/// assert_eq!(Xxh64::with_seed(0).hash_bytes(b"a"), 0xD24E_C4F1_A98C_6E5B);
/// ```
#[derive(Clone)]
pub struct Xxh64(u64);

impl Xxh64 {
    /// Returns the algorithm with this seed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Xxh64;
    /// assert_ne!(Xxh64::with_seed(1).hash_bytes(b"a"), Xxh64::with_seed(2).hash_bytes(b"a"));
    /// ```
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self(seed)
    }
}

/// SipHash-1-3 with a 128-bit key, for items that an attacker chooses.
///
/// While the key is secret (and the filter's answers do not leak it), nobody can prepare items that
/// collide.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{SipHash13, StableHasher};
/// let key = *b"sixteen bytes ok";
/// assert_ne!(SipHash13::with_key(key).hash_bytes(b"a"), SipHash13::with_key([0; 16]).hash_bytes(b"a"));
/// ```
#[derive(Clone)]
pub struct SipHash13(siphasher::sip::SipHasher13);

impl SipHash13 {
    /// Returns the algorithm with this key. The key must be random and secret.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::SipHash13;
    /// assert_ne!(SipHash13::with_key([1; 16]).hash_bytes(b"a"), SipHash13::with_key([2; 16]).hash_bytes(b"a"));
    /// ```
    #[must_use]
    pub fn with_key(key: [u8; 16]) -> Self {
        Self(siphasher::sip::SipHasher13::new_with_key(&key))
    }
}

/// Returns the key that holds a seed.
const fn key_of_seed(seed: u64) -> [u8; 16] {
    (seed as u128).to_le_bytes()
}

/// Returns the seed that a key holds, or `None` if the bytes behind the seed are not zero.
fn seed_of_key(key: [u8; 16]) -> Option<u64> {
    u64::try_from(u128::from_le_bytes(key)).ok()
}

/// Implements, for each algorithm, the hashing traits and a `Debug` that keeps the seed secret.
/// `$key` returns the key of a hasher, `$from_key` the hasher with a key, and `$hash` hashes bytes.
/// `$hashers` are two with different keys, for an example.
macro_rules! stable {
    ($($ty:ident $hashers:literal: |$hasher:ident| $key:expr, $from_key:expr,
        |$bytes:ident| $hash:expr;)*) => {$(
        impl $ty {
            /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the
            /// trait.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_hash as tamis;
            #[doc = concat!("use tamis::hash::", stringify!($ty), ";")]
            #[doc = concat!("let [hasher, other] = ", $hashers, ";")]
            /// assert_ne!(hasher.hash_bytes(b"a"), hasher.hash_bytes(b"b"));
            /// assert_ne!(hasher.hash_bytes(b"a"), other.hash_bytes(b"a"));
            /// ```
            #[inline]
            #[must_use]
            pub fn hash_bytes(&self, $bytes: &[u8]) -> u64 {
                let $hasher = self;
                $hash
            }
        }

        impl sealed::Sealed for $ty {}

        impl StableHasher for $ty {
            fn algorithm(&self) -> Algorithm {
                Algorithm::$ty
            }

            fn key(&self) -> [u8; 16] {
                let $hasher = self;
                $key
            }

            fn from_key(algorithm: Algorithm, key: [u8; 16]) -> Option<Self> {
                if algorithm == Algorithm::$ty { $from_key(key) } else { None }
            }

            #[inline]
            fn hash_bytes(&self, bytes: &[u8]) -> u64 {
                $ty::hash_bytes(self, bytes)
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($ty)).finish_non_exhaustive()
            }
        }

        crate::item::hash_portable_items!($ty);
    )*};
}

stable! {
    Rapid "[Rapid::with_seed(0), Rapid::with_seed(1)]":
        |hasher| key_of_seed(hasher.seed), |key| seed_of_key(key).map(Self::with_seed),
        |bytes| rapidhash_v3_seeded(bytes, &hasher.secrets);
    Xxh3 "[Xxh3::with_seed(0), Xxh3::with_seed(1)]":
        |hasher| key_of_seed(hasher.0), |key| seed_of_key(key).map(Self::with_seed),
        |bytes| XxHash3_64::oneshot_with_seed(hasher.0, bytes);
    Xxh64 "[Xxh64::with_seed(0), Xxh64::with_seed(1)]":
        |hasher| key_of_seed(hasher.0), |key| seed_of_key(key).map(Self::with_seed),
        |bytes| XxHash64::oneshot(hasher.0, bytes);
    SipHash13 "[SipHash13::with_key([0; 16]), SipHash13::with_key([1; 16])]":
        |hasher| hasher.0.key(), |key| Some(Self::with_key(key)),
        |bytes| hasher.0.hash(bytes);
}
