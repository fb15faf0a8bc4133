//! Bytes that no system writes: each is an error, or a filter that answers. Nothing panics.

use proptest::prelude::*;
use tamis_formats::foreign::{Filter, Key};

use crate::System;

/// The systems whose files end where the filter ends. A part of such a file can be a smaller
/// filter.
const WITHOUT_LENGTH: [&str; 5] = ["go_cuckoo", "leveldb", "parquet", "rbloom", "rocksdb"];

/// The length up to which each shorter part of a file is read.
const SHORT: usize = 2048;

/// The bytes of a file that are damaged: the header, and some of the filter.
const DAMAGED: usize = 64;

impl<F: Filter> System<F> {
    /// Reads the file of a vector with bytes missing, added and changed.
    pub(crate) fn check_damaged(&self, bytes: &[u8]) {
        for end in 0..bytes.len().min(SHORT) {
            let whole = self.use_bytes(&bytes[..end]);
            let expected = WITHOUT_LENGTH.contains(&self.name);
            assert!(expected || !whole, "{}: {end} bytes are a filter", self.name);
        }
        if !WITHOUT_LENGTH.contains(&self.name) {
            assert!(!self.use_bytes(&[bytes, &[0]].concat()), "{}: a byte more", self.name);
        }
        let mut damaged = bytes.to_vec();
        for bit in 0..8 * bytes.len().min(DAMAGED) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            self.use_bytes(&damaged);
            damaged[bit / 8] = bytes[bit / 8];
        }
        let changes = prop::collection::vec((0..DAMAGED, any::<u8>()), 1..9);
        proptest!(|(changes in changes)| {
            let mut damaged = bytes.to_vec();
            for (at, byte) in changes {
                if let Some(place) = damaged.get_mut(at) {
                    *place = byte;
                }
            }
            self.use_bytes(&damaged);
        });
    }

    /// Reads random bytes.
    pub(crate) fn check_noise(&self) {
        proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
            self.use_bytes(&bytes);
        });
    }

    /// Reads bytes. If they are a filter, uses it in all ways. Returns whether they are one.
    fn use_bytes(&self, bytes: &[u8]) -> bool {
        let Ok(mut filter) = (self.read)(bytes) else {
            return false;
        };
        assert!(filter.to_bytes() == bytes, "{}: {bytes:02x?} is written otherwise", self.name);
        let keys = [
            Key::Bytes(b""),
            Key::Bytes(b"key"),
            Key::Text(""),
            Key::Text("key"),
            Key::I32(-1),
            Key::I64(i64::MIN),
        ];
        for key in keys {
            // A key of a wrong type, a full filter or a huge one: errors.
            let _ = filter.contains(key);
            let _ = filter.insert(key);
            let _ = filter.remove(key);
        }
        true
    }
}
