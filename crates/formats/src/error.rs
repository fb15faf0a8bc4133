//! Why a file or a stream cannot be read as a filter.

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
/// let message = "this is not a file of Tamis: it starts with 50 4b 03 04 2e 2e 2e";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The system could not open, read or map the file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The path names a directory, a pipe or a device.
    #[error("the path names a directory, a pipe or a device, not a file")]
    NotAFile,
    /// The first eight bytes are not those of the format.
    #[error("this is not a file of Tamis: it starts with{}", Hex(.found))]
    Magic {
        /// The first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The version of the format is not 1.
    #[error(
        "the file has version {found} of the format; this release reads version 1; \
         a later release of tamis reads it"
    )]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The file or the stream ends too early.
    #[error("the file is cut off: it has {found} bytes of {expected}")]
    Truncated {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes that the header requires, or the length of a header.
        expected: u64,
    },
    /// The file continues after its body.
    #[error("the file has {found} bytes; its filter ends after {expected}")]
    Trailing {
        /// The length of the file in bytes.
        found: u64,
        /// The length that the header requires.
        expected: u64,
    },
    /// The checksum of the header is wrong.
    #[error(
        "the header is damaged: its checksum is {found:#018x}, \
         and that of its bytes is {expected:#018x}"
    )]
    HeaderChecksum {
        /// The checksum in the file.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A field of the header has another value than the other fields require.
    #[error("the header is wrong: its {field} is {found}; it must be {expected}")]
    Field {
        /// The name of the field in the specification.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The value required.
        expected: u64,
    },
    /// A field of the header is out of its range.
    #[error("the header is wrong: its {field} is {found}; it must be from {min} to {max}")]
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
    #[error("the file has the unknown kind {found} of filter")]
    Kind {
        /// The number in the file.
        found: u32,
    },
    /// A flag is unknown.
    #[error("the file has unknown flags: {found:#x}")]
    Flags {
        /// The flags in the file.
        found: u32,
    },
    /// The hash algorithm is unknown.
    #[error("the file has the unknown hash algorithm {found}")]
    Algorithm {
        /// The number in the file.
        found: u32,
    },
    /// The algorithm has a seed of 8 bytes, and the other 8 bytes of the key are not zero.
    #[error("the header is wrong: the key has bytes after the seed")]
    Key,
    /// The hash of the probe differs: the file was written with another hash function.
    #[error(
        "the file was written with another hash function: its hash probe is {found:#018x}, \
         and here the same algorithm and seed give {expected:#018x}"
    )]
    HashProbe {
        /// The hash in the file.
        found: u64,
        /// The hash that the algorithm and the key of the file give.
        expected: u64,
    },
    /// The normalization is not printable ASCII followed by zeros.
    #[error("the header is wrong: the normalization is not printable ASCII and then zeros")]
    NormalizationBytes,
    /// No builder gives these sizes.
    #[error("the header is wrong: {0}")]
    Sizes(BuildError),
    /// No cuckoo filter that grows begins with this number of buckets, or grows to it.
    #[error("the header is wrong: a filter that grows with these sizes never has {found} buckets")]
    Buckets {
        /// The number in the file.
        found: u64,
    },
    /// The capacity is 0, or this platform cannot represent it.
    #[error(
        "the header is wrong: the capacity is {found}{}",
        if *.found == 0 { "; it must be at least 1" } else { ", too large for this platform" }
    )]
    Capacity {
        /// The capacity in the file.
        found: u64,
    },
    /// The number of items exceeds the slots.
    #[error("the header is wrong: it says {found} items, and there are {slots} slots")]
    Items {
        /// The number in the file.
        found: u64,
        /// The number of slots.
        slots: u64,
    },
    /// A byte that must be zero is not.
    #[error("the byte at offset {offset} is not zero, as the format requires")]
    NotZero {
        /// The offset of the byte in the file.
        offset: u64,
    },
    /// The checksum of the table of checksums is wrong.
    #[error(
        "the table of checksums is damaged: its checksum is {found:#018x}, \
         and that of its bytes is {expected:#018x}"
    )]
    TableChecksum {
        /// The checksum in the header.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// The checksum of a chunk of the body is wrong.
    #[error(
        "chunk {chunk} of the body is damaged: its checksum is {found:#018x}, \
         and that of its bytes is {expected:#018x}"
    )]
    ChunkChecksum {
        /// The number of the chunk, from 0.
        chunk: u64,
        /// The checksum in the table.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A bit is set that no item can set: a spare bit or a lock bit.
    #[error("line {line} of the body has a bit that no item can set")]
    SpareBits {
        /// The number of the line of 64 bytes in the body, from 0.
        line: u64,
    },
    /// A number in the directory of a body is not the one that the header or the array
    /// requires.
    #[error(
        "line {entry} of the directory is wrong: its {field} is {found}; it must be {expected}"
    )]
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
    #[error("line {entry} of the directory is wrong: {error}")]
    DirectorySizes {
        /// The number of the line in the directory, from 0.
        entry: u32,
        /// What is wrong.
        error: BuildError,
    },
    /// The body holds another number of fingerprints than the header says.
    #[error("the header says {found} items; the body holds {expected}")]
    ItemCount {
        /// The number in the header.
        found: u64,
        /// The number in the body.
        expected: u64,
    },
    /// The file holds another kind of filter.
    #[error("the file holds a filter of type {found}, not {expected}")]
    OtherKind {
        /// The kind in the file.
        found: Kind,
        /// The kind asked for.
        expected: Kind,
    },
    /// The filter in the file has another hash algorithm.
    #[error("the filter in the file hashes with {}{}", .found.name(), not_with(*.expected))]
    OtherAlgorithm {
        /// The algorithm in the file.
        found: Algorithm,
        /// The algorithm of the type asked for.
        expected: Option<Algorithm>,
    },
    /// The file has another normalization.
    #[error(
        "the items in the file have {}, and here they have {}", Named(.found), Named(.expected)
    )]
    OtherNormalization {
        /// The normalization in the file.
        found: Normalization,
        /// The normalization in the options.
        expected: Normalization,
    },
    /// The filter in the file has other sizes than the filter to combine it with.
    #[error("the filter in the file has other sizes")]
    OtherSizes,
    /// The filter in the file has another hash algorithm or seed than the filter to combine it
    /// with.
    #[error("the filter in the file has another hash algorithm or another seed")]
    OtherHash,
    /// The file is live: processes may change it, and its body has no checksums.
    #[error(
        "the file is live: processes may change it, and its body has no checksums; \
         open it as a live filter, or load it with the option for live files"
    )]
    Live,
    /// The file is not live, so it cannot be shared for writing.
    #[error("the file is not live: processes cannot share it for writing")]
    NotLive,
    /// The file is marked live, but inserts into its filter need locks. A process that is
    /// killed would leave one.
    #[error(
        "the file is marked live, but this {kind} needs locks: \
         a killed process would leave one locked"
    )]
    LiveLocks {
        /// The kind in the file.
        kind: Kind,
    },
    /// The file is marked live, but processes cannot share filters of its kind.
    #[error("the file is marked live, but processes cannot share a {kind}")]
    LiveKind {
        /// The kind in the file.
        kind: Kind,
    },
    /// The buckets have 128 bits, which this processor cannot write atomically. The filter can
    /// be loaded for queries.
    #[error(
        "this processor cannot write buckets of {slots} slots of {fingerprint_bits} bits; \
         load the filter for queries only"
    )]
    Unsupported {
        /// The number of slots per bucket.
        slots: u32,
        /// The number of bits per slot.
        fingerprint_bits: u32,
    },
    /// The cuckoo filter in the file grows and has buckets of 128 bits, which this processor
    /// cannot access atomically. An x86-64 processor with AVX can.
    #[error(
        "the filter grows and has buckets of 128 bits, which this processor cannot access \
         atomically; load it on an x86-64 processor with AVX"
    )]
    UnsupportedGrowing,
    /// The cuckoo filter in the file grows. It can be loaded, but not be used in place: neither
    /// mapped nor in a set.
    #[error(
        "the {kind} in the file grows: \
         it can be loaded, but neither mapped nor used in a set"
    )]
    NotInPlace {
        /// The kind in the file.
        kind: Kind,
    },
    /// The file holds a filter of another system, in a format that is not known.
    #[error("the file has the unknown format {found} of another system")]
    ForeignFormat {
        /// The number of the format in the file.
        found: u64,
    },
    /// The file holds bytes that are no filter of the other system, although their checksums
    /// are right.
    #[error("the file holds no right filter of format {format}: {error}")]
    Foreign {
        /// The format in the header.
        format: foreign::Format,
        /// The reason why the bytes are not such a filter.
        error: foreign::Error,
    },
    /// The kind of filter in the file can be loaded, but not be used in a set.
    #[error("a set of filters cannot hold a {kind}")]
    NotInSet {
        /// The kind in the file.
        kind: Kind,
    },
    /// The allocation failed.
    #[error("cannot allocate {bytes} bytes")]
    Alloc {
        /// The number of bytes requested.
        bytes: u64,
    },
    /// This processor is big-endian, so it cannot use a file in place.
    #[error("this processor is big-endian: it can load the file, but not use it in place")]
    BigEndian,
}

/// Returns the end of the message about an algorithm that a type does not have.
fn not_with(expected: Option<Algorithm>) -> String {
    expected.map_or(String::new(), |expected| format!(", not with {}", expected.name()))
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

/// Bytes in a message, each after a space.
pub(crate) struct Hex<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}
