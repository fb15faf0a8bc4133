//! An encoder of the index and the trailer of a set that shares no code with the library.

use twox_hash::XxHash3_64;

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
    pub(crate) fn of<B: AsRef<[u8]>>(filters: &[(impl AsRef<[u8]>, B)]) -> Self {
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
            let (name, bytes) = (name.as_ref(), bytes.as_ref());
            parts.entries.push(Entry {
                offset: parts.filters.len() as u64,
                len: bytes.len() as u64,
                header_checksum: u64::from_le_bytes(bytes[248..256].try_into().unwrap()),
                name_len: name.len() as u32,
                reserved: 0,
                name: name.to_vec(),
            });
            parts.filters.extend_from_slice(bytes);
            let padded = parts.filters.len().div_ceil(4096) * 4096;
            parts.filters.resize(padded, 0);
        }
        parts
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
