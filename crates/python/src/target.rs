//! What the classes need of a filter, whether it is in memory, in a file or in a server.

use std::convert::Infallible;
use std::path::Path;

use pyo3::prelude::*;
use tamis::formats::{self, Info, LoadError, SaveError};
use tamis::hash::AnyStable;
use tamis::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, Figures, Filter, Hashed,
    OnceBloomFilter, OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter,
    ScalableBloomFilter, Verdict as _,
};

use crate::errors::Full;

/// What `insert_all` appends for an item that has no verdict.
pub(crate) const UNKNOWN: u8 = 2;

/// A filter of hashes. Any number of threads may use it, with or without the interpreter lock.
pub(crate) trait Target: Send + Sync {
    fn hasher(&self) -> &AnyStable;

    fn insert(&self, hash: u64) -> PyResult<bool>;

    fn contains(&self, hash: u64) -> PyResult<bool>;

    /// Inserts many items, and appends a 0 or 1 for each of them. A filter in memory stops at the
    /// first error; one in a server goes on, and appends [`UNKNOWN`] for those that it concerns.
    fn insert_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()>;

    /// Inserts many items, and returns how many were new.
    fn insert_counted(&self, hashes: &[u64]) -> PyResult<usize> {
        let mut results = Vec::new();
        self.insert_all(hashes, &mut results)?;
        Ok(results.into_iter().map(usize::from).sum())
    }

    /// Queries many items, and appends a 0 or 1 for each of them.
    fn contains_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()>;

    fn figures(&self) -> PyResult<Figures>;

    /// Whether a call waits for a server.
    fn waits(&self) -> bool {
        false
    }

    /// The bytes that the filter takes in this process.
    fn size_in_bytes(&self) -> u64;
}

/// A filter in memory, which can be saved.
pub(crate) trait Stored: Target {
    fn capacity(&self) -> usize;

    fn save(&self, path: &Path) -> Result<(), SaveError>;

    fn write(&self) -> Result<Vec<u8>, SaveError>;
}

/// A type of filter that can be loaded.
pub(crate) trait Loaded: Stored + Sized {
    fn load(path: &Path) -> Result<Self, LoadError>;

    fn read(bytes: &[u8]) -> Result<Self, LoadError>;
}

/// Appends zeros, and returns them.
fn appended(results: &mut Vec<u8>, count: usize) -> &mut [u8] {
    let start = results.len();
    results.resize(start + count, 0);
    &mut results[start..]
}

/// The items ahead for which a loop of inserts requests the memory.
const AHEAD: usize = 16;

/// Inserts items in batches. No insert fails.
#[inline]
fn insert_in_batches(
    filter: &impl Filter<InsertError = Infallible>,
    hashes: &[u64],
    mut on_result: impl FnMut(bool),
) -> PyResult<()> {
    filter.insert_hashes(hashes.iter().copied(), |_, inserted| {
        let Ok(is_new) = inserted.verdict();
        on_result(is_new);
    });
    Ok(())
}

/// Inserts items one by one until an insert fails. A batch would insert those that follow, and the
/// caller could not go on after the item that failed.
#[inline]
fn insert_until_error(
    filter: &impl Filter,
    hashes: &[u64],
    mut on_result: impl FnMut(bool),
) -> PyResult<()> {
    for (number, &hash) in hashes.iter().enumerate() {
        if let Some(&ahead) = hashes.get(number + AHEAD) {
            filter.prefetch_hash(ahead);
        }
        let inserted = filter.insert_hash(hash).verdict();
        on_result(inserted.map_err(|error| Full::new_err(error.to_string()))?);
    }
    Ok(())
}

/// Implements the traits for filters in memory, which insert many items by a function.
macro_rules! in_memory {
    ($insert:ident: $($name:ident)*) => {$(
        impl Target for $name<[u8], AnyStable> {
            fn hasher(&self) -> &AnyStable {
                self.hasher()
            }

            #[inline]
            fn insert(&self, hash: u64) -> PyResult<bool> {
                self.insert_hash(hash).verdict().map_err(|error| Full::new_err(error.to_string()))
            }

            #[inline]
            fn contains(&self, hash: u64) -> PyResult<bool> {
                Ok(self.contains_hash(hash))
            }

            fn insert_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
                results.reserve(hashes.len());
                $insert(self, hashes, |is_new| results.push(is_new.into()))
            }

            fn insert_counted(&self, hashes: &[u64]) -> PyResult<usize> {
                let mut new = 0;
                $insert(self, hashes, |is_new| new += usize::from(is_new)).map(|()| new)
            }

            fn contains_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
                let results = appended(results, hashes.len());
                self.contains_hashes(hashes.iter().copied(), |number, hit| {
                    results[number] = hit.into();
                });
                Ok(())
            }

            fn figures(&self) -> PyResult<Figures> {
                Ok(Filter::figures(self))
            }

            fn size_in_bytes(&self) -> u64 {
                Filter::size_in_bytes(self)
            }
        }

        impl Stored for $name<[u8], AnyStable> {
            fn capacity(&self) -> usize {
                Filter::capacity(self)
            }

            fn save(&self, path: &Path) -> Result<(), SaveError> {
                formats::save(self, path)
            }

            fn write(&self) -> Result<Vec<u8>, SaveError> {
                let mut bytes = Vec::new();
                formats::write(self, &mut bytes)?;
                Ok(bytes)
            }
        }

        impl Loaded for $name<[u8], AnyStable> {
            fn load(path: &Path) -> Result<Self, LoadError> {
                formats::load(path)
            }

            fn read(bytes: &[u8]) -> Result<Self, LoadError> {
                let (found, expected) = (bytes.len() as u64, Info::read(bytes)?.file_len());
                if found > expected {
                    return Err(LoadError::Trailing { found, expected });
                }
                formats::read(bytes)
            }
        }
    )*};
}

in_memory! {
    insert_in_batches:
    BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter
    ScalableBloomFilter OnceScalableBloomFilter RotatingBloomFilter
}

in_memory! { insert_until_error: CuckooFilter OnceCuckooFilter }

/// A filter around another one, which has all of its items.
pub(crate) trait Around: Send + Sync {
    type Inner: Target + ?Sized;

    /// Returns the other filter, as it is now.
    fn inner(&self) -> &Self::Inner;
}

impl<F: Target + ?Sized> Around for Box<F> {
    type Inner = F;

    #[inline]
    fn inner(&self) -> &F {
        self
    }
}

impl<F: Around> Target for F {
    fn hasher(&self) -> &AnyStable {
        self.inner().hasher()
    }

    #[inline]
    fn insert(&self, hash: u64) -> PyResult<bool> {
        self.inner().insert(hash)
    }

    #[inline]
    fn contains(&self, hash: u64) -> PyResult<bool> {
        self.inner().contains(hash)
    }

    fn insert_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
        self.inner().insert_all(hashes, results)
    }

    fn insert_counted(&self, hashes: &[u64]) -> PyResult<usize> {
        self.inner().insert_counted(hashes)
    }

    fn contains_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
        self.inner().contains_all(hashes, results)
    }

    fn figures(&self) -> PyResult<Figures> {
        self.inner().figures()
    }

    fn waits(&self) -> bool {
        self.inner().waits()
    }

    fn size_in_bytes(&self) -> u64 {
        self.inner().size_in_bytes()
    }
}

impl<F: Around<Inner: Stored>> Stored for F {
    fn capacity(&self) -> usize {
        self.inner().capacity()
    }

    fn save(&self, path: &Path) -> Result<(), SaveError> {
        self.inner().save(path)
    }

    fn write(&self) -> Result<Vec<u8>, SaveError> {
        self.inner().write()
    }
}

impl<F: Loaded> Loaded for Box<F> {
    fn load(path: &Path) -> Result<Self, LoadError> {
        F::load(path).map(Self::new)
    }

    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        F::read(bytes).map(Self::new)
    }
}
