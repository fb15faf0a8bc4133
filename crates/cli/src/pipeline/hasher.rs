//! The seed that the user gives, and the hash function for keys that it selects.

use tamis::hash::{AnyStable, Rapid, SipHash13};

use crate::error::Error;

/// How keys are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// By rapidhash with this seed: the fastest, and every run gives the same result.
    Fixed(u64),
    /// By SipHash-1-3 with a random key: for input chosen by an attacker.
    Random,
}

/// The hash function for keys.
pub(crate) enum Hasher {
    Fixed(Rapid),
    Random(SipHash13),
    /// The hash function of a saved filter.
    Any(AnyStable),
}

impl Hasher {
    /// The hash function for keys whose hashes are not used.
    pub(crate) const UNUSED: Self = Self::Fixed(Rapid::with_seed(0));

    pub(crate) fn new(seed: Seed) -> Result<Self, Error> {
        Ok(match seed {
            Seed::Fixed(seed) => Self::Fixed(Rapid::with_seed(seed)),
            Seed::Random => {
                let mut key = [0; 16];
                getrandom::fill(&mut key).map_err(|_| Error::Random)?;
                Self::Random(SipHash13::with_key(key))
            }
        })
    }
}

impl From<Hasher> for AnyStable {
    fn from(hasher: Hasher) -> Self {
        match hasher {
            Hasher::Fixed(hasher) => hasher.into(),
            Hasher::Random(hasher) => hasher.into(),
            Hasher::Any(hasher) => hasher,
        }
    }
}
