//! Saves a filter to bytes and loads it.

use tamis::Filter;
use tamis_formats::{Saved, encoded_len, read, write};

/// Returns the filter that the saved bytes of a filter describe. Checks that both give the same
/// answers for some hashes, and that a save of the loaded filter has the same bytes.
pub(super) fn saved_and_loaded<F: Saved + Filter>(
    filter: &F,
    hashes: impl IntoIterator<Item = u64>,
) -> F {
    let bytes = saved(filter);
    let mut rest = &bytes[..];
    let loaded: F = read(&mut rest).expect("a file that was just saved");
    assert!(rest.is_empty(), "the reader left {} bytes", rest.len());
    assert!(saved(&loaded) == bytes, "the second save has other bytes");
    let differs = |&hash: &u64| loaded.contains_hash(hash) != filter.contains_hash(hash);
    assert_eq!(hashes.into_iter().find(differs), None, "the loaded filter gives another answer");
    let figures = |filter: &F| {
        (filter.figures().items.value, filter.false_positive_rate(), filter.saturation())
    };
    assert_eq!(figures(&loaded), figures(filter), "the loaded filter reports other figures");
    loaded
}

fn saved<F: Saved>(filter: &F) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(filter, &mut bytes).expect("a small filter can be copied");
    assert_eq!(bytes.len() as u64, encoded_len(filter), "another length than announced");
    bytes
}
