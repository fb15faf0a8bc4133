//! The names of the stable algorithms.

/// One of the hash algorithms that never change.
///
/// Saved filters and messages identify it by its [`name`](Self::name).
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Algorithm, StableHasher, Xxh3};
///
/// assert_eq!(Xxh3::with_seed(1).algorithm(), Algorithm::Xxh3);
/// assert_eq!(Algorithm::Xxh3.name(), "xxh3-64");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// rapidhash v3 ([`Rapid`](crate::Rapid)).
    Rapid,
    /// XXH3-64 ([`Xxh3`](crate::Xxh3)).
    Xxh3,
    /// XXH64 ([`Xxh64`](crate::Xxh64)).
    Xxh64,
    /// SipHash-1-3 ([`SipHash13`](crate::SipHash13)).
    SipHash13,
}

impl Algorithm {
    /// All algorithms. A later release may add more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Algorithm;
    /// let found = Algorithm::ALL.iter().find(|algorithm| algorithm.name() == "xxh64");
    /// assert_eq!(found, Some(&Algorithm::Xxh64));
    /// ```
    pub const ALL: &'static [Self] = &[Self::Rapid, Self::Xxh3, Self::Xxh64, Self::SipHash13];

    /// Returns the name of the algorithm. It never changes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Algorithm;
    /// assert_eq!(Algorithm::Rapid.name(), "rapidhash-v3");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rapid => "rapidhash-v3",
            Self::Xxh3 => "xxh3-64",
            Self::Xxh64 => "xxh64",
            Self::SipHash13 => "siphash-1-3",
        }
    }
}
