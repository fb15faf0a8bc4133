//! What several tests of sets need: small sets, and an encoder of the index and the trailer that
//! shares no code with the library.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;

use tamis_bloom::BlockedBloomFilter;
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{FilterSet, Options, SetError, SetStream, write};
use tamis_hash::Rapid;
use twox_hash::XxHash3_64;

/// The items of a small set: filter 0 has the numbers below 20, filter 1 those from 10 to 29.
pub(crate) const ITEMS: u64 = 30;

/// Returns the filters that may contain a number of a small set.
pub(crate) fn right(item: u64) -> Vec<usize> {
    (0..2)
        .filter(|filter| (10 * filter..10 * filter + 20).contains(&item))
        .map(|i| i as usize)
        .collect()
}

pub(crate) fn blocked(seed: u64) -> BlockedBloomFilter<u64, Rapid> {
    let builder = BlockedBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    let filter = builder.hasher(Rapid::with_seed(seed)).build().unwrap();
    (0..20).for_each(|item| _ = filter.insert(&item));
    filter
}

pub(crate) fn cuckoo(seed: u64) -> CuckooFilter<u64, Rapid> {
    let builder = CuckooFilter::<u64>::builder().buckets(10).slots(5).fingerprint_bits(12);
    let filter = builder.hasher(Rapid::with_seed(seed)).build().unwrap();
    (10..30).for_each(|item| filter.insert(&item).unwrap());
    filter
}

/// Returns the bytes of a set of two filters.
pub(crate) fn small() -> Vec<u8> {
    let mut set = SetStream::new(Vec::new());
    set.add("one", &blocked(1)).unwrap();
    set.add("two", &cuckoo(1)).unwrap();
    set.finish().unwrap()
}

/// Opens a set, and loads all of its filters.
pub(crate) fn open_all(path: &Path) -> Result<FilterSet<u64>, SetError> {
    let set = FilterSet::<u64>::open(path, 1 << 20)?;
    (0..set.len()).try_for_each(|filter| set.get(filter).map(drop))?;
    Ok(set)
}

/// The parts of a set, each of which a test can change before they are joined.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// The filters and their zeros.
    pub(crate) filters: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// Bytes after the last entry.
    pub(crate) rest: Vec<u8>,
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) trailer_len: u32,
    pub(crate) count: u64,
    /// Added to the right values.
    pub(crate) index_offset: u64,
    pub(crate) index_len: u64,
    pub(crate) reserved: u64,
}

/// An entry of the index.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) header_checksum: u64,
    pub(crate) name_len: u32,
    pub(crate) reserved: u32,
    pub(crate) name: Vec<u8>,
}

impl Parts {
    /// Returns the parts of a set with these filters.
    pub(crate) fn of(filters: &[(&str, Vec<u8>)]) -> Self {
        let mut parts = Self {
            filters: Vec::new(),
            entries: Vec::new(),
            rest: Vec::new(),
            magic: *b"\x89TAMSET\n",
            version: 1,
            trailer_len: 64,
            count: filters.len() as u64,
            index_offset: 0,
            index_len: 0,
            reserved: 0,
        };
        for (name, bytes) in filters {
            parts.entries.push(Entry {
                offset: parts.filters.len() as u64,
                len: bytes.len() as u64,
                header_checksum: u64::from_le_bytes(bytes[248..256].try_into().unwrap()),
                name_len: name.len() as u32,
                reserved: 0,
                name: name.as_bytes().to_vec(),
            });
            parts.filters.extend_from_slice(bytes);
            let padded = parts.filters.len().div_ceil(4096) * 4096;
            parts.filters.resize(padded, 0);
        }
        parts
    }

    /// Returns the parts of [`small`].
    pub(crate) fn small() -> Self {
        Self::of(&[("one", bytes_of_blocked(1)), ("two", bytes_of_cuckoo(1))])
    }

    /// Joins the parts, with correct checksums.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut index = Vec::new();
        for entry in &self.entries {
            index.extend_from_slice(&entry.offset.to_le_bytes());
            index.extend_from_slice(&entry.len.to_le_bytes());
            index.extend_from_slice(&entry.header_checksum.to_le_bytes());
            index.extend_from_slice(&entry.name_len.to_le_bytes());
            index.extend_from_slice(&entry.reserved.to_le_bytes());
            index.extend_from_slice(&entry.name);
        }
        index.extend_from_slice(&self.rest);
        let mut trailer = Vec::new();
        trailer.extend_from_slice(&self.magic);
        trailer.extend_from_slice(&self.version.to_le_bytes());
        trailer.extend_from_slice(&self.trailer_len.to_le_bytes());
        trailer.extend_from_slice(&self.count.to_le_bytes());
        let offset = (self.filters.len() as u64).wrapping_add(self.index_offset);
        trailer.extend_from_slice(&offset.to_le_bytes());
        let len = (index.len() as u64).wrapping_add(self.index_len);
        trailer.extend_from_slice(&len.to_le_bytes());
        trailer.extend_from_slice(&XxHash3_64::oneshot(&index).to_le_bytes());
        trailer.extend_from_slice(&self.reserved.to_le_bytes());
        trailer.extend_from_slice(&XxHash3_64::oneshot(&trailer).to_le_bytes());
        [&self.filters[..], &index, &trailer].concat()
    }
}

pub(crate) fn bytes_of_blocked(seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&blocked(seed), &mut bytes).unwrap();
    bytes
}

pub(crate) fn bytes_of_cuckoo(seed: u64) -> Vec<u8> {
    bytes_with(&Options::new(), seed)
}

pub(crate) fn bytes_with(options: &Options, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    options.write(&cuckoo(seed), &mut bytes).unwrap();
    bytes
}
