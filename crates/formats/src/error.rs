//! Why a file or a stream cannot be read as a filter.

use core::error::Error;
use core::fmt;
use std::io;

use tamis_core::BuildError;
use tamis_hash::Algorithm;

use crate::foreign;
use crate::kind::Kind;
use crate::normalization::Normalization;

/// The reason why a file or a stream cannot be read as the filter that was asked for.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{LoadError, read};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// let error = read::<BloomFilter<str, Rapid>>(&b"PK\x03\x04..."[..]).unwrap_err();
/// assert!(matches!(error, LoadError::Magic { .. }));
/// assert_eq!(error.to_string(), "this is not a file of Tamis: it starts with 50 4b 03 04 2e 2e 2e");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The system could not open, read or map the file.
    Io(io::Error),
    /// The path names a directory, a pipe or a device.
    NotAFile,
    /// The first eight bytes are not those of the format.
    Magic {
        /// The first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The version of the format is not 1.
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The file or the stream ends too early.
    Truncated {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes that the header requires, or the length of a header.
        expected: u64,
    },
    /// The file continues after its body.
    Trailing {
        /// The length of the file in bytes.
        found: u64,
        /// The length that the header requires.
        expected: u64,
    },
    /// The checksum of the header is wrong.
    HeaderChecksum {
        /// The checksum in the file.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A field of the header has another value than the other fields require.
    Field {
        /// The name of the field in the specification.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The value required.
        expected: u64,
    },
    /// A field of the header is out of its range.
    Range {
        /// The name of the field in the specification.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The lowest value that the other fields allow.
        min: u64,
        /// The highest value.
        max: u64,
    },
    /// The kind of filter is unknown.
    Kind {
        /// The number in the file.
        found: u32,
    },
    /// A flag is unknown.
    Flags {
        /// The flags in the file.
        found: u32,
    },
    /// The hash algorithm is unknown.
    Algorithm {
        /// The number in the file.
        found: u32,
    },
    /// The algorithm has a seed of 8 bytes, and the other 8 bytes of the key are not zero.
    Key,
    /// The hash of the probe differs: the file was written with another hash function.
    HashProbe {
        /// The hash in the file.
        found: u64,
        /// The hash that the algorithm and the key of the file give.
        expected: u64,
    },
    /// The normalization is not printable ASCII followed by zeros.
    NormalizationBytes,
    /// No builder gives these sizes.
    Sizes(BuildError),
    /// No cuckoo filter that grows begins with this number of buckets, or grows to it.
    Buckets {
        /// The number in the file.
        found: u64,
    },
    /// The capacity is 0, or this platform cannot represent it.
    Capacity {
        /// The capacity in the file.
        found: u64,
    },
    /// The number of items exceeds the slots.
    Items {
        /// The number in the file.
        found: u64,
        /// The number of slots.
        slots: u64,
    },
    /// A byte that must be zero is not.
    NotZero {
        /// The offset of the byte in the file.
        offset: u64,
    },
    /// The checksum of the table of checksums is wrong.
    TableChecksum {
        /// The checksum in the header.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// The checksum of a chunk of the body is wrong.
    ChunkChecksum {
        /// The number of the chunk, from 0.
        chunk: u64,
        /// The checksum in the table.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A bit is set that no item can set: a spare bit or a lock bit.
    SpareBits {
        /// The number of the line of 64 bytes in the body, from 0.
        line: u64,
    },
    /// A number in the directory of a body is not the one that the header or the array requires.
    Directory {
        /// The number of the line in the directory, from 0.
        entry: u32,
        /// The name of the number.
        field: &'static str,
        /// The number in the file.
        found: u64,
        /// The number required.
        expected: u64,
    },
    /// No array has the sizes in the directory of a body.
    DirectorySizes {
        /// The number of the line in the directory, from 0.
        entry: u32,
        /// What is wrong.
        error: BuildError,
    },
    /// The body holds another number of fingerprints than the header says.
    ItemCount {
        /// The number in the header.
        found: u64,
        /// The number in the body.
        expected: u64,
    },
    /// The file holds another kind of filter.
    OtherKind {
        /// The kind in the file.
        found: Kind,
        /// The kind asked for.
        expected: Kind,
    },
    /// The filter in the file has another hash algorithm.
    OtherAlgorithm {
        /// The algorithm in the file.
        found: Algorithm,
        /// The algorithm of the type asked for.
        expected: Option<Algorithm>,
    },
    /// The file has another normalization.
    OtherNormalization {
        /// The normalization in the file.
        found: Normalization,
        /// The normalization in the options.
        expected: Normalization,
    },
    /// The filter in the file has other sizes than the filter to combine it with.
    OtherSizes,
    /// The filter in the file has another hash algorithm or seed than the filter to combine it
    /// with.
    OtherHash,
    /// The file is live: processes may change it, and its body has no checksums.
    Live,
    /// The file is not live, so it cannot be shared for writing.
    NotLive,
    /// The file is marked live, but inserts into its filter need locks. A process that is killed
    /// would leave one.
    LiveLocks {
        /// The kind in the file.
        kind: Kind,
    },
    /// The file is marked live, but processes cannot share filters of its kind.
    LiveKind {
        /// The kind in the file.
        kind: Kind,
    },
    /// The buckets have 128 bits, which this processor cannot write atomically. The filter can be
    /// loaded for queries.
    Unsupported {
        /// The number of slots per bucket.
        slots: u32,
        /// The number of bits per slot.
        fingerprint_bits: u32,
    },
    /// The cuckoo filter in the file grows and has buckets of 128 bits, which this processor cannot
    /// access atomically. An x86-64 processor with AVX can.
    UnsupportedGrowing,
    /// The cuckoo filter in the file grows. It can be loaded, but not be used in place: neither
    /// mapped nor in a set.
    NotInPlace {
        /// The kind in the file.
        kind: Kind,
    },
    /// The file holds a filter of another system, in a format that is not known.
    ForeignFormat {
        /// The number of the format in the file.
        found: u64,
    },
    /// The file holds bytes that are no filter of the other system, although their checksums are
    /// right.
    Foreign {
        /// The format in the header.
        format: foreign::Format,
        /// The reason why the bytes are not such a filter.
        error: foreign::Error,
    },
    /// The kind of filter in the file can be loaded, but not be used in a set.
    NotInSet {
        /// The kind in the file.
        kind: Kind,
    },
    /// The allocation failed.
    Alloc {
        /// The number of bytes requested.
        bytes: u64,
    },
    /// This processor is big-endian, so it cannot use a file in place.
    BigEndian,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotAFile => f.write_str("the path names a directory, a pipe or a device, not a file"),
            Self::Magic { found } => {
                f.write_str("this is not a file of Tamis: it starts with")?;
                found.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
            Self::Version { found } => {
                write!(f, "the file has version {found} of the format; this release reads version 1; a later release of tamis reads it")
            }
            Self::Truncated { found, expected } => {
                write!(f, "the file is cut off: it has {found} bytes of {expected}")
            }
            Self::Trailing { found, expected } => {
                write!(f, "the file has {found} bytes; its filter ends after {expected}")
            }
            Self::HeaderChecksum { found, expected } => checksums(f, "the header", *found, *expected),
            Self::Field { field, found, expected } => {
                write!(f, "the header is wrong: its {field} is {found}; it must be {expected}")
            }
            Self::Range { field, found, min, max } => write!(
                f,
                "the header is wrong: its {field} is {found}; it must be from {min} to {max}"
            ),
            Self::Kind { found } => write!(f, "the file has the unknown kind {found} of filter"),
            Self::Flags { found } => write!(f, "the file has unknown flags: {found:#x}"),
            Self::Algorithm { found } => write!(f, "the file has the unknown hash algorithm {found}"),
            Self::Key => f.write_str("the header is wrong: the key has bytes after the seed"),
            Self::HashProbe { found, expected } => write!(
                f,
                "the file was written with another hash function: its hash probe is {found:#018x}, and here \
                 the same algorithm and seed give {expected:#018x}"
            ),
            Self::NormalizationBytes => {
                f.write_str("the header is wrong: the normalization is not printable ASCII and then zeros")
            }
            Self::Sizes(error) => write!(f, "the header is wrong: {error}"),
            Self::Buckets { found } => write!(
                f,
                "the header is wrong: a filter that grows with these sizes never has {found} buckets"
            ),
            Self::Capacity { found } => {
                write!(f, "the header is wrong: the capacity is {found}")?;
                f.write_str(if *found == 0 { "; it must be at least 1" } else { ", too large for this platform" })
            }
            Self::Items { found, slots } => {
                write!(f, "the header is wrong: it says {found} items, and there are {slots} slots")
            }
            Self::NotZero { offset } => {
                write!(f, "the byte at offset {offset} is not zero, as the format requires")
            }
            Self::TableChecksum { found, expected } => {
                checksums(f, "the table of checksums", *found, *expected)
            }
            Self::ChunkChecksum { chunk, found, expected } => {
                checksums(f, &format!("chunk {chunk} of the body"), *found, *expected)
            }
            Self::SpareBits { line } => {
                write!(f, "line {line} of the body has a bit that no item can set")
            }
            Self::Directory { entry, field, found, expected } => write!(
                f,
                "line {entry} of the directory is wrong: its {field} is {found}; it must be {expected}"
            ),
            Self::DirectorySizes { entry, error } => {
                write!(f, "line {entry} of the directory is wrong: {error}")
            }
            Self::ItemCount { found, expected } => {
                write!(f, "the header says {found} items; the body holds {expected}")
            }
            Self::OtherKind { found, expected } => {
                write!(f, "the file holds a filter of type {found}, not {expected}")
            }
            Self::OtherAlgorithm { found, expected } => {
                write!(f, "the filter in the file hashes with {}", found.name())?;
                expected.map_or(Ok(()), |expected| write!(f, ", not with {}", expected.name()))
            }
            Self::OtherNormalization { found, expected } => write!(
                f,
                "the items in the file have {}, and here they have {}",
                Named(found),
                Named(expected)
            ),
            Self::OtherSizes => f.write_str("the filter in the file has other sizes"),
            Self::OtherHash => {
                f.write_str("the filter in the file has another hash algorithm or another seed")
            }
            Self::Live => f.write_str(
                "the file is live: processes may change it, and its body has no checksums; open it as a live \
                 filter, or load it with the option for live files",
            ),
            Self::NotLive => {
                f.write_str("the file is not live: processes cannot share it for writing")
            }
            Self::LiveLocks { kind } => write!(
                f,
                "the file is marked live, but this {kind} needs locks: a killed process would leave one locked"
            ),
            Self::LiveKind { kind } => {
                write!(f, "the file is marked live, but processes cannot share a {kind}")
            }
            Self::Unsupported { slots, fingerprint_bits } => write!(
                f,
                "this processor cannot write buckets of {slots} slots of {fingerprint_bits} bits; load the \
                 filter for queries only"
            ),
            Self::UnsupportedGrowing => f.write_str(
                "the filter grows and has buckets of 128 bits, which this processor cannot access atomically; load it \
                 on an x86-64 processor with AVX",
            ),
            Self::NotInPlace { kind } => write!(
                f,
                "the {kind} in the file grows: it can be loaded, but neither mapped nor used in a set"
            ),
            Self::ForeignFormat { found } => {
                write!(f, "the file has the unknown format {found} of another system")
            }
            Self::Foreign { format, error } => {
                write!(f, "the file holds no right filter of format {format}: {error}")
            }
            Self::NotInSet { kind } => write!(f, "a set of filters cannot hold a {kind}"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
            Self::BigEndian => {
                f.write_str("this processor is big-endian: it can load the file, but not use it in place")
            }
        }
    }
}

/// The message of an error of the system is its own, so the source is its source.
impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => error.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn checksums(f: &mut fmt::Formatter<'_>, of: &str, found: u64, expected: u64) -> fmt::Result {
    write!(
        f,
        "{of} is damaged: its checksum is {found:#018x}, and that of its bytes is {expected:#018x}"
    )
}

/// A normalization in a message.
struct Named<'p>(&'p Normalization);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name() {
            "" => f.write_str("no normalization"),
            name => write!(f, "the normalization `{name}`"),
        }
    }
}
