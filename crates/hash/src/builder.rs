//! The default hasher: fast and keyed, for filters that stay in one process.

use core::fmt;
use core::hash::BuildHasher;

/// The default hasher of all filters: ahash, with random keys for each filter or with a given seed.
///
/// It is fast for short items. It is keyed, so that an attacker who does not know the keys cannot
/// choose items that collide. Its hashes may change with the release, the compiler flags and the
/// processor, so a filter made with it cannot be saved. Use a [`StableHasher`](crate::StableHasher)
/// for a filter to be saved.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use core::hash::BuildHasher;
/// use tamis::hash::DefaultHashBuilder;
///
/// let one = DefaultHashBuilder::with_seed(1);
/// assert_eq!(one.hash_one("a"), DefaultHashBuilder::with_seed(1).hash_one("a"));
/// assert_ne!(one.hash_one("a"), DefaultHashBuilder::with_seed(2).hash_one("a"));
/// ```
#[derive(Clone)]
pub struct DefaultHashBuilder(ahash::RandomState);

impl DefaultHashBuilder {
    /// Derives the keys from `seed`: within one build of a program the same seed gives the same
    /// hashes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use core::hash::BuildHasher;
    /// use tamis::hash::DefaultHashBuilder;
    /// let hash = DefaultHashBuilder::with_seed(7).hash_one(1_u64);
    /// assert_eq!(DefaultHashBuilder::with_seed(7).hash_one(1_u64), hash);
    /// ```
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        // A folded product: the XOR of its halves spreads each bit of the seed over each key.
        let key = |n: u64| {
            let product = u128::from(seed.wrapping_add(n << 32) ^ n) * 0x9E37_79B9_7F4A_7C15;
            product as u64 ^ (product >> 64) as u64
        };
        Self(ahash::RandomState::with_seeds(key(1), key(2), key(3), key(4)))
    }
}

/// Random keys from the same source as those of std's maps.
#[cfg(feature = "std")]
impl Default for DefaultHashBuilder {
    fn default() -> Self {
        let random = std::hash::RandomState::new();
        let key = |n: u64| random.hash_one(n);
        Self(ahash::RandomState::with_seeds(key(1), key(2), key(3), key(4)))
    }
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(self.0.build_hasher())
    }

    #[inline]
    fn hash_one<T: core::hash::Hash>(&self, item: T) -> u64 {
        self.0.hash_one(item)
    }
}

/// Prints the type only: the keys are secret.
impl fmt::Debug for DefaultHashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

/// The hasher that [`DefaultHashBuilder`] builds. Programs need not name it.
#[derive(Clone)]
pub struct DefaultHasher(ahash::AHasher);

/// Prints the type only: its state reveals the keys.
impl fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}

impl core::hash::Hasher for DefaultHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.0.write_u8(n);
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.0.write_u16(n);
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.0.write_u32(n);
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.0.write_u64(n);
    }

    #[inline]
    fn write_u128(&mut self, n: u128) {
        self.0.write_u128(n);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.0.write_usize(n);
    }
}
