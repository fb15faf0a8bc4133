//! The filter types that can be saved, and what the format needs from each.

use tamis_bloom::{self as bloom, BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_core::{Filter, Frozen};
use tamis_cuckoo::{self as cuckoo, CuckooFilter, OnceCuckooFilter};
use tamis_hash::{Algorithm, HashItem, ItemHasher, StableHasher};
use tamis_sync::{AllocError, Lines};

use crate::header::Header;
use crate::line_check::Words;
use crate::{Geometry, Kind, LoadError, Options, Policy};

/// What only this crate needs of a filter type.
pub(crate) mod sealed {
    use super::*;

    /// The lines of a filter, to be written to a body.
    pub trait Source {
        /// Returns the words of a line.
        fn line(&self, line: u64) -> Words;
        /// Returns the number of items for the header.
        fn items(&self) -> u64;
    }

    pub trait Sealed: Filter<Hasher: StableHasher> + Sized {
        #[doc(hidden)]
        fn sizes(&self) -> Geometry;

        /// Returns the lines to be read once, in order, while other threads insert.
        #[doc(hidden)]
        fn passing(&self) -> Result<impl Source, AllocError>;

        /// Returns lines that stay as they are.
        #[doc(hidden)]
        fn still(&self) -> Result<impl Source, AllocError>;

        #[doc(hidden)]
        fn of_lines(header: &Header, hasher: Self::Hasher, lines: Lines)
        -> Result<Self, LoadError>;

        #[doc(hidden)]
        fn frozen_of_lines(
            header: &Header,
            hasher: Self::Hasher,
            lines: Lines,
        ) -> Result<Frozen<Self>, LoadError>;
    }

    pub trait Bloom: Sealed {
        /// Sets all bits of a line.
        #[doc(hidden)]
        fn union_line(&self, line: u64, words: Words);
    }
}

use sealed::{Bloom, Sealed, Source};

/// A filter type that can be saved: each filter of Tamis with a [`StableHasher`].
///
/// The trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use std::path::Path;
///
/// use tamis::formats::{LoadError, Saved, SaveError, encoded_len, load, save};
///
/// fn reduce<F: Saved>(filter: &F, path: &Path) -> Result<u64, SaveError> {
///     save(filter, path)?;
///     Ok(encoded_len(filter))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be saved",
    note = "a filter that is saved has a hasher that never changes: `Rapid`, `Xxh3`, `Xxh64`, `SipHash13`, or `AnyStable`"
)]
pub trait Saved: Sealed {
    /// The kind of a file that holds such a filter.
    const KIND: Kind;
}

/// A Bloom filter type that can be saved. A saved one can be merged into another, and processes can share one.
///
/// The trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use std::path::PathBuf;
///
/// use tamis::formats::{LoadError, SavedBloom, merge_from};
///
/// fn merge_all<F: SavedBloom>(filter: &F, paths: &[PathBuf]) -> Result<(), LoadError> {
///     paths.iter().try_for_each(|path| merge_from(filter, path))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Bloom filter that can be saved",
    note = "a cuckoo filter cannot be merged from a file, and processes cannot share one: its inserts take locks, and a \
            killed process would leave one locked"
)]
pub trait SavedBloom: Saved + Bloom {}

/// A Bloom filter in use. Its bits are only set, so a line read later has every bit that it had before.
struct Running<'f, F>(&'f F, bloom::Geometry);

impl<F: bloom::Buildable> Source for Running<'_, F> {
    fn line(&self, line: u64) -> Words {
        item_words(self.0, self.1, line)
    }

    fn items(&self) -> u64 {
        0
    }
}

/// Reads a line of a Bloom filter, without the bits that no item can set. A damaged live file may have such bits behind
/// the last bit of the filter, and a reader would refuse the file that is saved from it.
fn item_words<F: bloom::Buildable>(filter: &F, geometry: bloom::Geometry, line: u64) -> Words {
    let words = bloom::raw::read_line(filter, line);
    if line + 1 < bloom::raw::lines(geometry) {
        return words;
    }
    let of_items = bloom::raw::item_bits(geometry, line);
    core::array::from_fn(|word| words[word] & of_items[word])
}

/// A copy of the lines of a Bloom filter.
struct Copied(Vec<Words>);

impl Copied {
    fn of<F: bloom::Buildable>(filter: &F, geometry: bloom::Geometry) -> Result<Self, AllocError> {
        let lines = bloom::raw::lines(geometry);
        let error = AllocError { bytes: u128::from(lines) * size_of::<Words>() as u128 };
        let mut copy = Vec::new();
        copy.try_reserve_exact(usize::try_from(lines).map_err(|_| error)?).map_err(|_| error)?;
        copy.extend((0..lines).map(|line| item_words(filter, geometry, line)));
        Ok(Self(copy))
    }
}

impl Source for Copied {
    fn line(&self, line: u64) -> Words {
        self.0[line as usize]
    }

    fn items(&self) -> u64 {
        0
    }
}

/// A copy of a cuckoo filter, which no thread writes.
struct Snapshot<F>(F);

macro_rules! bloom {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            fn sizes(&self) -> Geometry {
                Geometry::Bloom(self.geometry())
            }

            fn passing(&self) -> Result<impl Source, AllocError> {
                Ok(Running(self, self.geometry()))
            }

            fn still(&self) -> Result<impl Source, AllocError> {
                Copied::of(self, self.geometry())
            }

            fn of_lines(header: &Header, hasher: S, lines: Lines) -> Result<Self, LoadError> {
                let Geometry::Bloom(geometry) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                bloom::raw::from_lines(geometry, header.capacity as usize, hasher, lines)
                    .map_err(|_| other_kind::<Self>(header))
            }

            fn frozen_of_lines(
                header: &Header,
                hasher: S,
                lines: Lines,
            ) -> Result<Frozen<Self>, LoadError> {
                Self::of_lines(header, hasher, lines).map(Frozen::new)
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Bloom for $name<T, S> {
            fn union_line(&self, line: u64, words: Words) {
                bloom::raw::union_line(self, line, words);
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for $name<T, S> {
            const KIND: Kind = Kind::$kind;
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> SavedBloom for $name<T, S> {}
    )*};
}

bloom! {
    BloomFilter, Bloom;
    BlockedBloomFilter, BlockedBloom;
    OnceBloomFilter, OnceBloom;
}

macro_rules! cuckoo {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Source for Snapshot<$name<T, S>> {
            fn line(&self, line: u64) -> Words {
                cuckoo::raw::read_line(&self.0, line)
            }

            fn items(&self) -> u64 {
                self.0.len() as u64
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            fn sizes(&self) -> Geometry {
                Geometry::Cuckoo(self.geometry())
            }

            // While lines are read one by one, other threads may move fingerprints from later lines to earlier ones.
            fn passing(&self) -> Result<impl Source, AllocError> {
                self.still()
            }

            fn still(&self) -> Result<impl Source, AllocError> {
                cuckoo::raw::try_snapshot(self).map(Snapshot)
            }

            fn of_lines(header: &Header, hasher: S, lines: Lines) -> Result<Self, LoadError> {
                let Geometry::Cuckoo(geometry) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                let Header { capacity, items, .. } = *header;
                cuckoo::raw::from_lines(geometry, capacity as usize, hasher, lines, items)
                    .map_err(|error| cuckoo_error::<Self>(header, error))
            }

            fn frozen_of_lines(
                header: &Header,
                hasher: S,
                lines: Lines,
            ) -> Result<Frozen<Self>, LoadError> {
                let Geometry::Cuckoo(geometry) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                let Header { capacity, items, .. } = *header;
                cuckoo::raw::frozen_from_lines(geometry, capacity as usize, hasher, lines, items)
                    .map_err(|error| cuckoo_error::<Self>(header, error))
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for $name<T, S> {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

cuckoo! {
    CuckooFilter, Cuckoo;
    OnceCuckooFilter, OnceCuckoo;
}

/// Returns the header of a file that holds this filter, without the checksum of the table.
pub(crate) fn header_of<F: Saved>(filter: &F, policy: Policy, items: u64) -> Header {
    let hasher = filter.hasher();
    Header {
        kind: F::KIND,
        is_live: false,
        algorithm: hasher.algorithm(),
        key: hasher.key(),
        hash_probe: hasher.hash_probe(),
        policy,
        geometry: filter.sizes(),
        capacity: filter.capacity() as u64,
        items,
        table_checksum: 0,
    }
}

/// Checks that a file holds what is asked for. Returns the hasher of its filter.
pub(crate) fn expect<F: Saved>(header: &Header, options: &Options) -> Result<F::Hasher, LoadError> {
    if header.kind != F::KIND {
        return Err(other_kind::<F>(header));
    }
    if header.policy != options.policy {
        return Err(LoadError::OtherPolicy { found: header.policy, expected: options.policy });
    }
    if header.is_live && !options.live {
        return Err(LoadError::Live);
    }
    hasher_of(header)
}

fn hasher_of<S: StableHasher>(header: &Header) -> Result<S, LoadError> {
    S::from_key(header.algorithm, header.key).ok_or_else(|| {
        // The type is one of the algorithms: the one that it can be created with.
        let mut all = Algorithm::ALL.iter().copied();
        let expected = all.find(|algorithm| S::from_key(*algorithm, [0; 16]).is_some());
        LoadError::OtherAlgorithm { found: header.algorithm, expected }
    })
}

/// Checks that the filter in a file gives an item the same bits as this filter.
pub(crate) fn expect_like<F: Saved>(header: &Header, filter: &F) -> Result<(), LoadError> {
    expect_like_parts(header, filter.sizes(), filter.hasher())
}

/// As [`expect_like`], for the parts of a filter.
pub(crate) fn expect_like_parts<S: StableHasher>(
    header: &Header,
    geometry: Geometry,
    hasher: &S,
) -> Result<(), LoadError> {
    if header.geometry != geometry {
        return Err(LoadError::OtherSizes);
    }
    if (header.algorithm, header.key) != (hasher.algorithm(), hasher.key()) {
        return Err(LoadError::OtherHash);
    }
    Ok(())
}

fn other_kind<F: Saved>(header: &Header) -> LoadError {
    LoadError::OtherKind { found: header.kind, expected: F::KIND }
}

/// Checks that this processor can write the buckets of the filter in a file.
pub(crate) fn expect_writable(header: &Header) -> Result<(), LoadError> {
    match header.geometry {
        Geometry::Cuckoo(geometry) if !cuckoo::raw::is_supported(geometry) => {
            let (slots, fingerprint_bits) = (geometry.slots(), geometry.fingerprint_bits());
            Err(LoadError::Unsupported { slots, fingerprint_bits })
        }
        _ => Ok(()),
    }
}

/// Converts an error that a correct header leaves possible. (The lengths are those of the geometry.)
fn cuckoo_error<F: Saved>(header: &Header, error: cuckoo::raw::LinesError) -> LoadError {
    use cuckoo::raw::LinesError;
    match error {
        LinesError::Unsupported { slots, fingerprint_bits } => {
            LoadError::Unsupported { slots, fingerprint_bits }
        }
        LinesError::Alloc { bytes } => LoadError::Alloc { bytes },
        _ => other_kind::<F>(header),
    }
}
