//! Bytes that no system wrote: a reader refuses them, or makes a filter that works, without a
//! panic, a long loop or much memory.

use tamis_formats::foreign::{Error, Filter, Key};

/// The most bytes that a filter has after an insert: a reader that trusts a wrong number makes
/// more.
const MOST: u64 = 1 << 27;

/// Uses a filter that was read from damaged bytes.
pub(crate) fn exercise(filter: &mut impl Filter) {
    for number in 0..20_i64 {
        let bytes = number.to_le_bytes();
        let key = Key::Bytes(&bytes[..number as usize % 9]);
        // An error is an answer too.
        let _ = filter.contains(key);
        if filter.insert(key).is_ok() {
            assert_eq!(filter.contains(key), Ok(true), "an inserted key is missed");
        }
        if number % 3 == 0 {
            let _ = filter.remove(key);
        }
    }
    let length = filter.encoded_len();
    assert!(length < MOST, "a filter of {length} bytes");
    assert_eq!(filter.to_bytes().len() as u64, length);
}

/// Reads all prefixes of the bytes. `short` says whether the format knows its length, so that all
/// are refused.
pub(crate) fn truncate<F: Filter>(bytes: &[u8], read: fn(&[u8]) -> Result<F, Error>, short: bool) {
    for end in 0..bytes.len() {
        match read(&bytes[..end]) {
            Ok(_) if short => panic!("{end} of {} bytes are read", bytes.len()),
            Ok(mut filter) => exercise(&mut filter),
            Err(_) => {}
        }
    }
}

/// Changes each of the first or last 300 bytes to some values, and then several at once.
pub(crate) fn flip<F: Filter>(bytes: &[u8], read: fn(&[u8]) -> Result<F, Error>) {
    let try_read = |damaged: &[u8]| {
        if let Ok(mut filter) = read(damaged) {
            exercise(&mut filter);
        }
    };
    for place in (0..bytes.len()).filter(|&place| place < 300 || place + 300 >= bytes.len()) {
        let old = bytes[place];
        for new in [0, 1, 2, 31, 127, 128, 255, old ^ 1, old ^ 16, old ^ 128] {
            let mut damaged = bytes.to_vec();
            damaged[place] = new;
            try_read(&damaged);
        }
    }
    let mut random = 1_u64;
    for _ in 0..2000 {
        let mut damaged = bytes.to_vec();
        for _ in 0..4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = (random >> 33) as usize % bytes.len().min(300);
            damaged[place] = (random >> 25) as u8;
        }
        try_read(&damaged);
    }
}

/// Reads the bytes with one byte more.
pub(crate) fn trail<F: Filter>(bytes: &[u8], read: fn(&[u8]) -> Result<F, Error>) {
    let longer = [bytes, &[0]].concat();
    let (found, expected) = (longer.len() as u64, bytes.len() as u64);
    assert_eq!(read(&longer).err(), Some(Error::Trailing { found, expected }));
}
