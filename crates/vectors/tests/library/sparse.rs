//! Filters of more than 2^31 bits: the places of their keys.

use std::io;

use tamis_vectors::{Vector, bytes_of_hex, sparse_vectors};

use crate::every::format_of;
use crate::key;

/// The bytes that are compared with zeros at once.
const PAGE: usize = 4096;
static ZEROS: [u8; PAGE] = [0; PAGE];

/// Takes a filter as it is written, and keeps only the header and the places of its bits.
struct Places {
    header: Vec<u8>,
    /// The length of the header.
    expected: usize,
    /// The bytes of the array so far.
    read: u64,
    big_endian_words: bool,
    set: Vec<u64>,
}

impl io::Write for Places {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let missing = self.expected - self.header.len();
        if missing > 0 {
            let of_header = &bytes[..bytes.len().min(missing)];
            self.header.extend(of_header);
            return Ok(of_header.len());
        }
        for page in bytes.chunks(PAGE) {
            // Nearly all pages are empty.
            if page != &ZEROS[..page.len()] {
                for (at, byte) in (self.read..).zip(page) {
                    let at = if self.big_endian_words { at ^ 7 } else { at };
                    let bits = (0..8).filter(|bit| byte >> bit & 1 == 1);
                    self.set.extend(bits.map(|bit| 8 * at + bit));
                }
            }
            self.read += page.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Builds the filter of a vector, and compares its header and all its bits with those of the
/// system.
fn check(vector: &Vector) {
    let name = vector.name();
    let sizes = vector.arguments().unwrap();
    let mut filter = format_of(vector).build(sizes.capacity, sizes.rate, sizes.seed).unwrap();
    for inserted in vector.inserted() {
        assert_eq!(filter.insert(key(&inserted)), Ok(true), "{name}");
        assert_eq!(filter.contains(key(&inserted)), Ok(true), "{name}");
    }
    let size = vector.field("size").as_u64().unwrap();
    assert_eq!(filter.encoded_len(), size, "{name}");

    let header = bytes_of_hex(vector.field("header_hex").as_str().unwrap());
    let big_endian_words = vector.system != "redisbloom";
    let (expected, set) = (header.len(), Vec::new());
    let mut places = Places { header: Vec::new(), expected, read: 0, big_endian_words, set };
    filter.write(&mut places).unwrap();
    assert!(places.header == header, "{name}: another header");
    assert_eq!(places.read + header.len() as u64, size, "{name}");
    places.set.sort_unstable();
    let expected: Vec<u64> = vector.numbers("set_bits").iter().map(|&bit| bit as u64).collect();
    assert_eq!(places.set, expected, "{name}");
}

#[test]
fn filters_of_many_bits_have_the_places_of_the_systems() {
    let vectors: Vec<Vector> =
        ["guava", "redisbloom", "spark"].into_iter().flat_map(sparse_vectors).collect();
    assert_eq!(vectors.len(), 5);
    vectors.iter().for_each(check);
}
