//! A set of the first release: it opens for ever, with the same answers, to the same bytes.
//!
//! With `TAMIS_BLESS=1` the test writes the file if it is missing. It may not change.

use std::path::PathBuf;
use std::{env, fs};

use crate::sets::{ITEMS, Parts, open_all, right, small};
use twox_hash::XxHash3_64;

/// The checksum of the file.
const SUM: u64 = 0xD783_F4C6_9599_C4C8;

#[test]
fn the_golden_set_opens_and_is_written_again_to_the_byte() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden_sets/two.tamis-set");
    if env::var_os("TAMIS_BLESS").is_some() && !path.exists() {
        fs::write(&path, small()).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    let sum = XxHash3_64::oneshot(&bytes);
    assert_eq!(sum, SUM, "{sum:#018x}");
    assert!(bytes == small(), "the library writes other bytes");
    assert!(bytes == Parts::small().bytes(), "the encoder of the tests writes other bytes");

    let set = open_all(&path).unwrap();
    assert!(set.info().names().eq([b"one", b"two"]));
    // All false positives are known, too.
    let found: Vec<Vec<usize>> = set.which_many(0..ITEMS).unwrap();
    let exact: Vec<Vec<usize>> = (0..ITEMS).map(right).collect();
    assert_eq!(found, exact);
}
