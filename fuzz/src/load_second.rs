//! Compares a file with the second reader: the verdict and the answers are the same, and a file
//! that loads is the one that a save would write.

use tamis::hash::{AnyStable, HashItem};
use tamis::{Filter, Frozen, Verdict as _};
use tamis_formats::{Info, LoadError, Options, Saved};

use crate::reader::Reader;

/// The items that are queried.
const QUERIES: u64 = 100;

/// Checks a file with this header, and what the second reader makes of it.
pub(crate) fn check<F: Saved<Hasher = AnyStable>>(
    bytes: &[u8],
    info: &Info,
    reader: Result<Reader, String>,
) {
    let options = Options::new().normalization(info.normalization()).live(info.is_live());
    // A stream may go on after the filter, and a file may not.
    let is_longer = bytes.len() as u64 > info.file_len();
    let frozen = options.read_frozen::<F>(bytes);
    match (&frozen, &reader) {
        (Ok(_), Err(_)) if is_longer => {}
        (Err(LoadError::Alloc { .. }), _) => {}
        (Ok(_), Err(error)) => panic!("loaded; the second reader: {error}"),
        (Err(error), Ok(_)) => panic!("{error}; the second reader takes it"),
        _ => {}
    }
    let (Ok(frozen), Ok(reader)) = (frozen, reader) else { return };
    check_answers(&frozen, &reader);
    match options.read::<F>(bytes) {
        Ok(filter) => check_filter(filter, &options, info, bytes, &reader),
        Err(LoadError::Unsupported { .. }) => {}
        Err(error) => panic!("frozen only: {error}"),
    }
}

/// Bytes that are queried and inserted.
fn item(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn check_answers<F: Filter<Hasher = AnyStable>>(frozen: &Frozen<F>, reader: &Reader) {
    let hash = |number| frozen.hasher().hash_item(&item(number)[..]);
    for number in 0..QUERIES {
        assert_eq!(frozen.contains_hash(hash(number)), reader.contains(&item(number)));
    }
    let mut hits = Vec::new();
    frozen.contains_hashes((0..QUERIES).map(hash), |_, hit| hits.push(hit));
    assert!((0..QUERIES).zip(hits).all(|(number, hit)| hit == reader.contains(&item(number))));
    assert!((0.0..=1.0).contains(&frozen.false_positive_rate()));
    assert!(frozen.figures().items.value >= 0.0 && frozen.saturation() >= 0.0);
}

/// Saves the filter again, then uses it.
fn check_filter<F: Saved<Hasher = AnyStable>>(
    filter: F,
    options: &Options,
    info: &Info,
    bytes: &[u8],
    reader: &Reader,
) {
    let mut again = Vec::new();
    options.write(&filter, &mut again).expect("memory is no error");
    let body = info.body_offset() as usize..info.file_len() as usize;
    assert_eq!(again.len(), body.end);
    // What is saved of a live file is an ordinary file.
    assert!(info.is_live() || again == bytes[..body.end], "other bytes");
    assert!(again[body.clone()] == bytes[body], "another body");
    let hash = |number| filter.hasher().hash_item(&item(number)[..]);
    for number in 0..QUERIES {
        assert_eq!(filter.contains_hash(hash(number)), reader.contains(&item(number)));
    }
    for number in 0..QUERIES {
        match filter.insert_hash(hash(number)).verdict() {
            // A Bloom filter is never full.
            Err(_) => assert!(info.items().is_some(), "an error of a Bloom filter"),
            Ok(_) => assert!(filter.contains_hash(hash(number)), "a false negative"),
        }
    }
    // No insert loses an item, but in a window, which forgets items.
    let forgets = info.kind() == tamis_formats::Kind::RotatingBloom;
    let lost = (0..if forgets { 0 } else { QUERIES })
        .find(|number| reader.contains(&item(*number)) && !filter.contains_hash(hash(*number)));
    assert_eq!(lost, None, "an insert lost an item of the file");
}
