//! Bytes that no system wrote: a reader refuses them, or makes a filter that works, without a
//! panic, a long loop or much memory.

use proptest::prelude::*;
use tamis_formats::foreign::{Error, Filter, Format, Key, read};

use crate::every::all;

/// The systems whose files end where the filter ends. A part of such a file can be a smaller
/// filter.
const WITHOUT_LENGTH: [&str; 5] = ["go_cuckoo", "leveldb", "parquet", "rbloom", "rocksdb"];

/// The length up to which each shorter part of a file is read.
const SHORT: usize = 4000;

/// The bytes of a header, in which each bit is changed.
const HEADER: usize = 64;

/// The bytes at either end of a file that are changed to some values: of a file of at most `SMALL`
/// bytes, and of a longer one.
const SMALL: usize = 400;
const ENDS: [usize; 2] = [300, 16];

/// The most bytes that a filter has after an insert: a reader that trusts a wrong number makes
/// more.
const MOST: u64 = 1 << 27;

/// Uses a filter that was read from damaged bytes.
pub(crate) fn exercise(filter: &mut dyn Filter) {
    let bytes = [7; 8];
    // A small filter gets full, or grows.
    let lengths = if filter.encoded_len() <= SMALL as u64 { 0..9 } else { 7..9 };
    let of_bytes = lengths.map(|length| Key::Bytes(&bytes[..length]));
    let others = [Key::Text(""), Key::Text("key"), Key::I32(-1), Key::I64(i64::MIN)];
    for (number, key) in of_bytes.chain(others).enumerate() {
        // A key of a wrong type, a full filter or a huge one: an error is an answer too.
        let _ = filter.contains(key);
        if filter.insert(key).is_ok() {
            // DataSketches ignores the empty string.
            let is_ignored = key == Key::Text("");
            assert!(is_ignored || filter.contains(key) == Ok(true), "{key:?} is missed");
        }
        if number % 3 == 0 {
            let _ = filter.remove(key);
        }
    }
    // An insert makes the array of the one, and the next part of the other, as long as the header
    // says.
    if matches!(filter.format(), Format::DataSketches | Format::PybloomScalable) {
        return;
    }
    let length = filter.encoded_len();
    assert!(length < MOST, "a filter of {length} bytes");
    assert_eq!(filter.to_bytes().len() as u64, length);
}

/// Reads bytes. If they are a filter, uses it. Returns whether they are one.
pub(crate) fn is_used(bytes: &[u8], formats: &[Format]) -> bool {
    let Ok(mut filter) = read(formats, bytes, None) else { return false };
    assert!(filter.to_bytes() == bytes, "{bytes:02x?} is written otherwise");
    exercise(&mut *filter);
    true
}

/// Damages the bytes of a file: some are missing or changed. `is_used` reads what is left, and
/// returns whether it is a filter. A format that knows its length has none that is shorter.
pub(crate) fn damage(bytes: &[u8], knows_length: bool, is_used: impl Fn(&[u8]) -> bool) {
    for end in 0..bytes.len().min(SHORT) {
        let is_filter = is_used(&bytes[..end]);
        assert!(!knows_length || !is_filter, "{end} of {} bytes are a filter", bytes.len());
    }
    let mut damaged = bytes.to_vec();
    let mut change = |place: usize, new: u8| {
        damaged[place] = new;
        is_used(&damaged);
        damaged[place] = bytes[place];
    };
    for (place, byte) in bytes.iter().enumerate().take(HEADER) {
        (0..8).for_each(|bit| change(place, byte ^ 1 << bit));
    }
    let ends = ENDS[usize::from(bytes.len() > SMALL)];
    let is_end = |place: &usize| *place < ends || place + ends >= bytes.len();
    for place in (0..bytes.len()).filter(is_end) {
        let old = bytes[place];
        for new in [0, 1, 2, 31, 127, 128, 255, old ^ 1, old ^ 16, old ^ 128] {
            change(place, new);
        }
    }
    let place = prop_oneof![0..HEADER, 0..ENDS[0]];
    proptest!(|(changes in prop::collection::vec((place, any::<u8>()), 1..9))| {
        let mut damaged = bytes.to_vec();
        for (at, byte) in changes {
            if let Some(place) = damaged.get_mut(at) {
                *place = byte;
            }
        }
        is_used(&damaged);
    });
}

/// Reads the bytes with one byte more.
pub(crate) fn trail(bytes: &[u8], format: Format) {
    let longer = [bytes, &[0]].concat();
    let (found, expected) = (longer.len() as u64, bytes.len() as u64);
    let error = read(&[format], &longer, None).unwrap_err();
    assert_eq!(error, Error::Trailing { found, expected }, "{format}");
}

/// Returns the formats whose headers differ in a number only: a changed byte can make one of the
/// other.
fn like(format: Format) -> &'static [Format] {
    let is_like = ["guava", "rocksdb", "spark"].contains(&format.system());
    Format::named(if is_like { format.system() } else { format.name() }).unwrap()
}

/// The files of the vectors with bytes missing, added and changed.
#[test]
fn damaged_vectors_are_refused_or_work() {
    for (vector, format) in all() {
        let (bytes, formats) = (vector.bytes(), like(format));
        let knows_length = !WITHOUT_LENGTH.contains(&&*vector.system);
        damage(&bytes, knows_length, |bytes| is_used(bytes, formats));
        let is_longer = knows_length && is_used(&[&bytes[..], &[0]].concat(), formats);
        assert!(!is_longer, "{}: a byte more", vector.name());
    }
}

#[test]
fn noise_is_refused_or_works() {
    for &format in Format::ALL {
        proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
            is_used(&bytes, &[format]);
        });
    }
}
