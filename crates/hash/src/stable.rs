//! Hash algorithms that never change, for filters that are saved, shared or sent.
//!
//! Each type is one published algorithm from a well-maintained crate. Golden values pin each algorithm
//! (`tests/golden.rs`); they come from other implementations where there are any. The set is closed: a name in a saved
//! filter means one of these algorithms.

use core::fmt;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use twox_hash::{XxHash3_64, XxHash64};

mod sealed {
    pub trait Sealed {}
}

/// A named hash algorithm with its seed. It maps bytes to 64 bits, the same on every platform and in every release.
///
/// This trait is sealed. Its implementors are [`Rapid`], [`Xxh3`], [`Xxh64`] and [`SipHash13`].
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{StableHasher, Xxh3, Xxh64};
///
/// assert_eq!(Xxh3::NAME, "xxh3-64");
/// assert_eq!(Xxh64::with_seed(0).hash_bytes(b""), 0xEF46_DB37_51D8_E999);
/// ```
pub trait StableHasher: sealed::Sealed + Clone + Send + Sync {
    /// The name of the algorithm, as in saved filters and messages.
    const NAME: &'static str;

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
/// Different seeds give different hashes. A secret seed does not protect against attackers: collisions that hold for
/// every seed are published.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Rapid, StableHasher};
/// assert_eq!(Rapid::with_seed(1).hash_bytes(b"a"), Rapid::with_seed(1).hash_bytes(b"a"));
/// ```
#[derive(Clone)]
pub struct Rapid(RapidSecrets);

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
        // The seeding of the reference implementation: the crate's own seeding gives hashes that no other program
        // computes.
        Self(RapidSecrets::seed_cpp(seed))
    }

    /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the trait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Rapid;
    /// assert_ne!(Rapid::with_seed(0).hash_bytes(b"a"), Rapid::with_seed(0).hash_bytes(b"b"));
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        rapidhash_v3_seeded(bytes, &self.0)
    }
}

/// XXH3-64: nearly as fast as [`Rapid`], and the algorithm that most other systems know. It does not protect against
/// attackers.
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

    /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the trait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Xxh3;
    /// assert_ne!(Xxh3::with_seed(0).hash_bytes(b"a"), Xxh3::with_seed(0).hash_bytes(b"b"));
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        XxHash3_64::oneshot_with_seed(self.0, bytes)
    }
}

/// XXH64: the algorithm that Parquet and other formats prescribe. It does not protect against attackers.
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

    /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the trait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Xxh64;
    /// assert_ne!(Xxh64::with_seed(0).hash_bytes(b"a"), Xxh64::with_seed(0).hash_bytes(b"b"));
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        XxHash64::oneshot(self.0, bytes)
    }
}

/// SipHash-1-3 with a 128-bit key, for items that an attacker chooses.
///
/// While the key is secret (and the filter's answers do not leak it), nobody can prepare items that collide.
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

    /// Hashes `bytes`, as [`StableHasher::hash_bytes`] does, without an import of the trait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::SipHash13;
    /// assert_ne!(SipHash13::with_key([0; 16]).hash_bytes(b"a"), SipHash13::with_key([0; 16]).hash_bytes(b"b"));
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        self.0.hash(bytes)
    }
}

/// Implements, for each algorithm, the hashing traits and a `Debug` that keeps the seed secret.
macro_rules! stable {
    ($($type:ident, $name:literal;)*) => {$(
        impl sealed::Sealed for $type {}

        impl StableHasher for $type {
            const NAME: &'static str = $name;

            #[inline]
            fn hash_bytes(&self, bytes: &[u8]) -> u64 {
                $type::hash_bytes(self, bytes)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }

        crate::item::hash_portable_items!($type);
    )*};
}

stable! {
    Rapid, "rapidhash-v3";
    Xxh3, "xxh3-64";
    Xxh64, "xxh64";
    SipHash13, "siphash-1-3";
}
