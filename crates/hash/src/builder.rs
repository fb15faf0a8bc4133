//! The default hasher: fast, keyed, for filters that live and die in one process.

use core::fmt;
use core::hash::BuildHasher;

/// ahash, with keys that are random in every filter, or given.
///
/// It is fast for short keys and keyed, so that a stranger cannot choose items that collide. Its
/// values may change with the release, the compiler flags and the processor: nothing made with it
/// can be saved. For that, take a [`StableHasher`](crate::StableHasher).
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
    /// Keys derived from `seed`: the same seed gives the same hashes within one build.
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
        // Every bit of the seed reaches every bit of each key: the halves of a product, xored.
        let key = |n: u64| {
            let product = u128::from(seed.wrapping_add(n << 32) ^ n) * 0x9E37_79B9_7F4A_7C15;
            product as u64 ^ (product >> 64) as u64
        };
        Self(ahash::RandomState::with_seeds(key(1), key(2), key(3), key(4)))
    }
}

/// Random keys, drawn from the system as those of std's maps are.
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

/// Shows the type and not the keys, which are secret.
impl fmt::Debug for DefaultHashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

/// The hasher that [`DefaultHashBuilder`] builds; nobody needs to name it.
#[derive(Clone)]
pub struct DefaultHasher(ahash::AHasher);

/// Shows the type and not its state, from which the keys can be read.
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
