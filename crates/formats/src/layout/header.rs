//! The header of a file: from bytes and back, with all checks of one header. Every loader uses this
//! validator.

use core::fmt;

use tamis_hash::{Algorithm, AnyStable, ItemHasher, StableHasher};
use tamis_sync::LINE_BYTES;

use crate::error::LoadError;
use crate::kind::{GROWING, Kind};
use crate::layout::checksum::checksum;
use crate::layout::fields::{array_at, u32_at, u64_at};
use crate::normalization::Normalization;
use crate::sizes::geometry::Geometry;
use crate::sizes::numbers::{Numbers, require};

/// The length of a header in bytes.
pub(crate) const HEADER: usize = 256;

/// The length of a chunk of the body in bytes.
pub(crate) const CHUNK: usize = 1 << 20;

/// The body starts at a multiple of this number of bytes: a page of most systems.
const PAGE: u64 = 4096;

const MAGIC: [u8; 8] = *b"\x89TAMIS\r\n";
const VERSION: u32 = 1;
const LIVE: u32 = 1;

/// The numbers of the hash algorithms in a file.
const ALGORITHMS: [(u32, Algorithm); 4] =
    [(1, Algorithm::Rapid), (2, Algorithm::Xxh3), (3, Algorithm::Xxh64), (4, Algorithm::SipHash13)];

/// The offsets of the fields.
mod at {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 8;
    pub(super) const HEADER_LEN: usize = 12;
    pub(super) const KIND: usize = 16;
    pub(super) const FLAGS: usize = 20;
    pub(super) const LAYOUT: usize = 24;
    pub(super) const ALGORITHM: usize = 28;
    pub(super) const KEY: usize = 32;
    pub(super) const HASH_PROBE: usize = 48;
    pub(super) const POLICY: usize = 56;
    pub(super) const SIZE: usize = 88;
    pub(super) const PROBES: usize = 96;
    pub(super) const WORDS: usize = 100;
    pub(super) const CAPACITY: usize = 104;
    pub(super) const ITEMS: usize = 112;
    pub(super) const BODY_OFFSET: usize = 120;
    pub(super) const BODY_LEN: usize = 128;
    pub(super) const CHUNK_LEN: usize = 136;
    pub(super) const TABLE_CHECKSUM: usize = 144;
    pub(super) const RECORD: usize = 152;
    pub(super) const CHECKSUM: usize = 248;
}

/// The header of a file. The offsets and lengths of the format follow from its fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub(crate) kind: Kind,
    pub(crate) is_live: bool,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: [u8; 16],
    pub(crate) hash_probe: u64,
    pub(crate) normalization: Normalization,
    pub(crate) geometry: Geometry,
    pub(crate) capacity: u64,
    pub(crate) items: u64,
    pub(crate) table_checksum: u64,
}

impl Header {
    /// Returns the header of a saved filter without items, before its table is known.
    pub(crate) fn new(
        kind: Kind,
        hasher: &(impl ItemHasher + StableHasher),
        normalization: Normalization,
        geometry: Geometry,
        capacity: u64,
    ) -> Self {
        Self {
            kind,
            is_live: false,
            algorithm: hasher.algorithm(),
            key: hasher.key(),
            hash_probe: hasher.hash_probe(),
            normalization,
            geometry,
            capacity,
            items: 0,
            table_checksum: 0,
        }
    }

    /// Returns the number of lines of the body.
    pub(crate) const fn lines(&self) -> u64 {
        self.geometry.lines()
    }

    pub(crate) const fn body_len(&self) -> u64 {
        // A filter has at most 2^64 bits, so this does not overflow.
        self.lines() * LINE_BYTES as u64
    }

    /// Returns the number of chunks, which is the number of checksums in the table.
    pub(crate) const fn chunks(&self) -> u64 {
        self.body_len().div_ceil(CHUNK as u64)
    }

    /// Returns the length of the table of checksums in bytes.
    pub(crate) const fn table_len(&self) -> u64 {
        8 * self.chunks()
    }

    pub(crate) const fn body_offset(&self) -> u64 {
        (HEADER as u64 + self.table_len()).next_multiple_of(PAGE)
    }

    /// Returns the length of the whole file.
    pub(crate) const fn file_len(&self) -> u64 {
        self.body_offset() + self.body_len()
    }

    /// Returns whether the file can be used in place.
    pub(crate) const fn is_mappable(&self) -> bool {
        self.kind.is_mappable() && !matches!(self.geometry, Geometry::GrowingCuckoo(_))
    }

    /// Returns the bytes of the header, or the algorithm that has no number in the format.
    pub(crate) fn to_bytes(&self) -> Result<[u8; HEADER], Algorithm> {
        let algorithm = ALGORITHMS.iter().find(|(_, algorithm)| *algorithm == self.algorithm);
        let (algorithm, _) = algorithm.ok_or(self.algorithm)?;
        let Numbers { size, probes_or_slots, words_or_fingerprint_bits, record } =
            self.geometry.numbers(self.kind);
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(at::MAGIC, &MAGIC);
        put(at::VERSION, &VERSION.to_le_bytes());
        put(at::HEADER_LEN, &(HEADER as u32).to_le_bytes());
        put(at::KIND, &self.kind.code().to_le_bytes());
        put(at::FLAGS, &(if self.is_live { LIVE } else { 0 }).to_le_bytes());
        put(at::LAYOUT, &self.geometry.layout(self.kind).to_le_bytes());
        put(at::ALGORITHM, &algorithm.to_le_bytes());
        put(at::KEY, &self.key);
        put(at::HASH_PROBE, &self.hash_probe.to_le_bytes());
        put(at::POLICY, &self.normalization.to_bytes());
        put(at::SIZE, &size.to_le_bytes());
        put(at::PROBES, &probes_or_slots.to_le_bytes());
        put(at::WORDS, &words_or_fingerprint_bits.to_le_bytes());
        put(at::CAPACITY, &self.capacity.to_le_bytes());
        put(at::ITEMS, &self.items.to_le_bytes());
        put(at::BODY_OFFSET, &self.body_offset().to_le_bytes());
        put(at::BODY_LEN, &self.body_len().to_le_bytes());
        put(at::CHUNK_LEN, &(CHUNK as u64).to_le_bytes());
        put(at::TABLE_CHECKSUM, &self.table_checksum.to_le_bytes());
        put(at::RECORD, record.map(u64::to_le_bytes).as_flattened());
        let sum = checksum(&bytes[..at::CHECKSUM]);
        bytes[at::CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// Returns whether a file that begins with these bytes is one of this format.
    pub(crate) fn is_of_tamis(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Returns the header with these bytes, after every check that needs no other byte of the file.
    ///
    /// `bytes` has less than 256 bytes if the file is shorter.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        // What the file is comes first, so that the message about a foreign file is not one about
        // its length.
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(magic) {
            return Err(LoadError::Magic { found: magic.to_vec() });
        }
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            return Err(LoadError::Truncated {
                found: bytes.len() as u64,
                expected: HEADER as u64,
            });
        };
        // A later version may place its checksum elsewhere.
        let version = u32_at(bytes, at::VERSION);
        if version != VERSION {
            return Err(LoadError::Version { found: version });
        }
        require("header length", u32_at(bytes, at::HEADER_LEN).into(), HEADER as u64)?;
        let (found, expected) = (u64_at(bytes, at::CHECKSUM), checksum(&bytes[..at::CHECKSUM]));
        if found != expected {
            return Err(LoadError::HeaderChecksum { found, expected });
        }
        // The bytes are those that were written. From here on, a fault is one of the program that
        // wrote them.
        let header = Self::of_fields(bytes)?;
        header.check_lengths(bytes)?;
        header.check_record(bytes)?;
        Ok(header)
    }

    /// Reads and checks the fields that a filter has.
    fn of_fields(bytes: &[u8; HEADER]) -> Result<Self, LoadError> {
        let found = u32_at(bytes, at::KIND);
        let kind = Kind::of_code(found).ok_or(LoadError::Kind { found })?;
        let flags = u32_at(bytes, at::FLAGS);
        if flags & !LIVE != 0 {
            return Err(LoadError::Flags { found: flags });
        }
        let is_live = flags & LIVE != 0;
        let layout = u32_at(bytes, at::LAYOUT);
        let grows = layout == GROWING && kind.may_grow();
        if !grows {
            require("layout", layout.into(), kind.layout().into())?;
        }
        // The hash function must be known, and the one that wrote the file.
        let found = u32_at(bytes, at::ALGORITHM);
        let algorithm = ALGORITHMS.iter().find(|(code, _)| *code == found);
        let (_, algorithm) = *algorithm.ok_or(LoadError::Algorithm { found })?;
        let key = array_at(bytes, at::KEY);
        let hasher = AnyStable::from_key(algorithm, key).ok_or(LoadError::Key)?;
        let (found, expected) = (u64_at(bytes, at::HASH_PROBE), hasher.hash_probe());
        if found != expected {
            return Err(LoadError::HashProbe { found, expected });
        }
        let normalization = Normalization::of_bytes(array_at(bytes, at::POLICY))
            .ok_or(LoadError::NormalizationBytes)?;
        // The sizes, by the rules of the builders.
        let numbers = Numbers {
            size: u64_at(bytes, at::SIZE),
            probes_or_slots: u32_at(bytes, at::PROBES),
            words_or_fingerprint_bits: u32_at(bytes, at::WORDS),
            record: core::array::from_fn(|number| u64_at(bytes, at::RECORD + 8 * number)),
        };
        let geometry = Geometry::of_numbers(kind, grows, numbers)?;
        if is_live && !kind.is_mappable() && kind != Kind::Table {
            return Err(LoadError::LiveKind { kind });
        }
        if is_live && !geometry.is_lock_free(kind) {
            return Err(LoadError::LiveLocks { kind });
        }
        let capacity = u64_at(bytes, at::CAPACITY);
        if capacity == 0 || usize::try_from(capacity).is_err() {
            return Err(LoadError::Capacity { found: capacity });
        }
        if kind == Kind::Foreign {
            // The hash and the capacity are matters of the other system, so these fields have one
            // value.
            require("hash algorithm", u32_at(bytes, at::ALGORITHM).into(), 1)?;
            require("seed", u64_at(bytes, at::KEY), 0)?;
            require("capacity", capacity, 1)?;
        }
        if let Geometry::Table(sizes) = geometry {
            let (min, max) = sizes.capacities();
            if !(min..=max).contains(&capacity) {
                return Err(LoadError::Range { field: "capacity", found: capacity, min, max });
            }
        }
        let items = u64_at(bytes, at::ITEMS);
        match geometry.slots() {
            None => require("items", items, 0)?,
            Some(slots) if items > slots => return Err(LoadError::Items { found: items, slots }),
            Some(_) => {}
        }
        let table_checksum = u64_at(bytes, at::TABLE_CHECKSUM);
        let hash_probe = expected;
        Ok(Self {
            kind,
            is_live,
            algorithm,
            key,
            hash_probe,
            normalization,
            geometry,
            capacity,
            items,
            table_checksum,
        })
    }

    /// Checks the fields that follow from the others.
    fn check_lengths(&self, bytes: &[u8; HEADER]) -> Result<(), LoadError> {
        require("body offset", u64_at(bytes, at::BODY_OFFSET), self.body_offset())?;
        require("body length", u64_at(bytes, at::BODY_LEN), self.body_len())?;
        require("chunk length", u64_at(bytes, at::CHUNK_LEN), CHUNK as u64)?;
        if self.is_live {
            require("checksum of the checksums", self.table_checksum, 0)?;
        }
        Ok(())
    }

    /// Checks that the record has nothing but the fields of the kind, which the geometry has taken.
    fn check_record(&self, bytes: &[u8; HEADER]) -> Result<(), LoadError> {
        let fields = self.geometry.numbers(self.kind).record.map(u64::to_le_bytes);
        let mut record = bytes[at::RECORD..at::CHECKSUM].iter().zip(fields.as_flattened());
        match record.position(|(byte, of_field)| byte != of_field) {
            None => Ok(()),
            Some(byte) => Err(LoadError::NotZero { offset: (at::RECORD + byte) as u64 }),
        }
    }

    /// Checks the length of the file that has this header.
    pub(crate) const fn check_file_len(&self, found: u64) -> Result<(), LoadError> {
        let expected = self.file_len();
        if found < expected {
            Err(LoadError::Truncated { found, expected })
        } else if found > expected {
            Err(LoadError::Trailing { found, expected })
        } else {
            Ok(())
        }
    }
}

/// Prints all but the key and the hash probe, which depends on it.
impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("kind", &self.kind)
            .field("is_live", &self.is_live)
            .field("algorithm", &self.algorithm)
            .field("normalization", &self.normalization)
            .field("geometry", &self.geometry)
            .field("capacity", &self.capacity)
            .field("items", &self.items)
            .finish_non_exhaustive()
    }
}
