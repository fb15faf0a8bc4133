//! The filter types that can be saved, and what the format needs from each.

use tamis_bloom::{
    self as bloom, BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter,
};
use tamis_core::{Filter, Frozen, LinesError};
use tamis_cuckoo::{self as cuckoo, CuckooFilter, OnceCuckooFilter};
use tamis_hash::{Algorithm, HashItem, StableHasher};
use tamis_sync::{AllocError, Lines};

use crate::error::LoadError;
use crate::kind::Kind;
use crate::layout::body::Body;
use crate::layout::header::Header;
use crate::layout::line_bytes::Words;
use crate::layout::source::{Content, computed, copied};
use crate::normalization::Normalization;
use crate::options::Options;
use crate::sizes::geometry::Geometry;

/// What only this crate needs of a filter type.
pub(crate) mod sealed {
    use super::*;

    pub trait Sealed: Filter<Hasher: StableHasher> + Sized {
        /// What the body of a file is read into.
        #[doc(hidden)]
        type Body: Body;

        #[doc(hidden)]
        fn sizes(&self) -> Geometry;

        /// Returns the capacity for the header.
        #[doc(hidden)]
        fn built_for(&self) -> u64 {
            self.capacity() as u64
        }

        /// Returns the lines to be read once, in order, while other threads insert. Without a
        /// method of its own, a filter is copied first.
        #[doc(hidden)]
        fn passing(&self) -> Result<Content<'_>, AllocError> {
            self.still()
        }

        /// Returns lines that stay as they are.
        #[doc(hidden)]
        fn still(&self) -> Result<Content<'_>, AllocError>;

        #[doc(hidden)]
        fn of_body(
            header: &Header,
            hasher: Self::Hasher,
            body: Self::Body,
        ) -> Result<Self, LoadError>;

        #[doc(hidden)]
        fn frozen_of_body(
            header: &Header,
            hasher: Self::Hasher,
            body: Self::Body,
        ) -> Result<Frozen<Self>, LoadError> {
            Self::of_body(header, hasher, body).map(Frozen::new)
        }
    }

    pub trait Union: Sealed {
        /// Sets all bits of a line, or adds its counters.
        #[doc(hidden)]
        fn union_line(&self, line: u64, words: Words);
    }
}

use sealed::{Sealed, Union};

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

/// A filter type whose file can be used in place: see [`map`](crate::map) and
/// [`FilterSet`](crate::FilterSet).
///
/// These are [`BloomFilter`], [`BlockedBloomFilter`], [`OnceBloomFilter`], [`CuckooFilter`] and
/// [`OnceCuckooFilter`]. The file of a cuckoo filter that grows
/// ([`max_capacity`](tamis_cuckoo::Builder::max_capacity)) is an error
/// ([`LoadError::NotInPlace`]): load it instead. The trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use std::fs::File;
///
/// use tamis::formats::{LoadError, MapFile, Mappable, Mapped, map};
///
/// fn map_sealed<F: Mappable>(file: File) -> Result<Mapped<F>, LoadError> {
///     map(MapFile::sealed(file)?)
/// }
/// ```
///
/// A Bloom filter that grows has several arrays, and cannot be mapped:
///
/// ```compile_fail,E0277
/// # use tamis_formats as tamis;
/// use tamis::formats::{MapFile, map};
/// use tamis::{ScalableBloomFilter, hash::Rapid};
///
/// fn map_growing(file: MapFile) {
///     let _ = map::<ScalableBloomFilter<str, Rapid>>(file);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in its file",
    note = "only BloomFilter, BlockedBloomFilter, OnceBloomFilter, CuckooFilter and \
            OnceCuckooFilter can: load the others"
)]
pub trait Mappable: Saved + Sealed<Body = Lines> {}

/// A filter type of which a saved one can be merged into another: see
/// [`Options::merge_from`](crate::Options::merge_from).
///
/// These are [`BloomFilter`], [`BlockedBloomFilter`], [`OnceBloomFilter`] and
/// [`CountingBloomFilter`]. The trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{LoadError, Mergeable, Options};
///
/// fn merge_all<F: Mergeable>(filter: &F, paths: &[&str]) -> Result<(), LoadError> {
///     paths.iter().try_for_each(|path| Options::new().merge_from(filter, path))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be merged from a file",
    note = "only BloomFilter, BlockedBloomFilter, OnceBloomFilter and CountingBloomFilter can"
)]
pub trait Mergeable: Saved + Union {}

/// A filter type that processes can share: see [`Live`](crate::Live). A saved one can also be
/// merged into another.
///
/// These are [`BloomFilter`], [`BlockedBloomFilter`] and [`OnceBloomFilter`]. The trait is sealed.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use std::path::PathBuf;
///
/// use tamis::formats::{LoadError, Options, SavedBloom};
///
/// fn merge_all<F: SavedBloom>(filter: &F, paths: &[PathBuf]) -> Result<(), LoadError> {
///     paths.iter().try_for_each(|path| Options::new().merge_from(filter, path))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "processes cannot share a `{Self}`",
    note = "only BloomFilter, BlockedBloomFilter and OnceBloomFilter can be shared"
)]
pub trait SavedBloom: Mappable + Mergeable {}

/// Reads a line of a Bloom filter, without the bits that no item can set. A damaged live file may
/// have such bits behind the last bit of the filter, and a reader would refuse the file that is
/// saved from it.
fn item_words<F: bloom::Buildable>(filter: &F, geometry: bloom::Geometry, line: u64) -> Words {
    let words = bloom::raw::read_line(filter, line);
    if line + 1 < bloom::raw::lines(geometry) {
        return words;
    }
    let of_items = bloom::raw::item_bits(geometry, line);
    core::array::from_fn(|word| words[word] & of_items[word])
}

macro_rules! bloom {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            type Body = Lines;

            fn sizes(&self) -> Geometry {
                Geometry::Bloom(self.geometry())
            }

            fn passing(&self) -> Result<Content<'_>, AllocError> {
                // Bits are only set, so a line read later has every bit that it had before.
                let geometry = self.geometry();
                let line = move |line| item_words(self, geometry, line);
                Ok(computed(Geometry::Bloom(geometry), line))
            }

            fn still(&self) -> Result<Content<'_>, AllocError> {
                let geometry = self.geometry();
                copied(Geometry::Bloom(geometry), |line| item_words(self, geometry, line))
            }

            fn of_body(header: &Header, hasher: S, lines: Lines) -> Result<Self, LoadError> {
                let Geometry::Bloom(geometry) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                bloom::raw::from_lines(geometry, header.capacity as usize, hasher, lines)
                    .map_err(|_| other_kind::<Self>(header))
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Union for $name<T, S> {
            fn union_line(&self, line: u64, words: Words) {
                bloom::raw::union_line(self, line, words);
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for $name<T, S> {
            const KIND: Kind = Kind::$kind;
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Mergeable for $name<T, S> {}
    )*};
}

bloom! {
    BloomFilter, Bloom;
    BlockedBloomFilter, BlockedBloom;
    OnceBloomFilter, OnceBloom;
    CountingBloomFilter, CountingBloom;
}

/// Types whose files can be used in place.
macro_rules! mappable {
    ($($name:ident)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Mappable for $name<T, S> {}
    )*};
}

mappable!(BloomFilter BlockedBloomFilter OnceBloomFilter CuckooFilter OnceCuckooFilter);

impl<T: ?Sized, S: StableHasher + HashItem<T>> SavedBloom for BloomFilter<T, S> {}
impl<T: ?Sized, S: StableHasher + HashItem<T>> SavedBloom for BlockedBloomFilter<T, S> {}
impl<T: ?Sized, S: StableHasher + HashItem<T>> SavedBloom for OnceBloomFilter<T, S> {}

/// Returns the header of the file of a filter that has these sizes, before its items are counted
/// and its table is known.
pub(crate) fn header_of<F: Saved>(
    filter: &F,
    normalization: Normalization,
    geometry: Geometry,
) -> Header {
    Header::new(F::KIND, filter.hasher(), normalization, geometry, filter.built_for())
}

/// Checks that a file holds what is asked for. Returns the hasher of its filter.
pub(crate) fn expect<F: Saved>(header: &Header, options: &Options) -> Result<F::Hasher, LoadError> {
    if header.kind != F::KIND {
        return Err(other_kind::<F>(header));
    }
    options.expect_normalization(header.normalization)?;
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

/// Converts an error that a correct header leaves possible. (The lengths are those of the
/// geometry.)
pub(crate) fn lines_error<F: Saved>(header: &Header, error: LinesError) -> LoadError {
    match error {
        LinesError::Unsupported { .. } if matches!(header.geometry, Geometry::GrowingCuckoo(_)) => {
            LoadError::UnsupportedGrowing
        }
        LinesError::Unsupported { slots, fingerprint_bits } => {
            LoadError::Unsupported { slots, fingerprint_bits }
        }
        LinesError::Alloc { bytes } => LoadError::Alloc { bytes },
        _ => other_kind::<F>(header),
    }
}

pub(crate) fn other_kind<F: Saved>(header: &Header) -> LoadError {
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
