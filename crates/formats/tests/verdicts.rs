//! Random changes with right checksums: the loaders and the second reader, which was written from the specification,
//! have one verdict.

#[path = "common/bytes.rs"]
mod bytes;
mod common;
mod reader;

use std::fs;

use bytes::Bytes;
use common::{bytes_of, verdicts};
use proptest::prelude::*;
use reader::Reader;
use tamis_formats::{LoadError, Options, Saved, load};

/// Numbers at the limits of the fields.
fn number() -> impl Strategy<Value = u64> {
    let limits =
        [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 30, 32, 50, 64, 512, 999, 1000, 1024, 4096, 1 << 20];
    prop_oneof![
        prop::sample::select(limits.to_vec()),
        (0_u32..64).prop_map(|bit| 1 << bit),
        (0_u32..64).prop_map(|bit| (1_u64 << bit).wrapping_sub(1)),
        any::<u64>(),
    ]
}

/// Changes the header or the body of a file, makes its checksums right, and compares the verdicts.
fn check<F: Saved>(filter: &F, at: usize, len: usize, value: u64, in_body: bool) {
    let bytes = Bytes::of(filter);
    let size = bytes.0.len();
    let at = if in_body { 4096 + at % (size - 4096 - len) } else { 8 + at % (240 - len) };
    let bytes = bytes.put(at, &value.to_le_bytes()[..len]);
    // A header that was changed may be one of a body with other checksums, so leave those.
    let bytes = if in_body { bytes.sum_all().0 } else { bytes.sum_header().0 };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, &bytes).unwrap();
    let [by_load, by_read, by_map] = verdicts::<F>(&path, &bytes);
    assert!(by_load == by_read && by_load == by_map, "{by_load}, {by_read}, {by_map}");
    let second = Reader::new(&bytes).map(drop);
    match Options::new().live(true).load::<F>(&path) {
        // A filter that is taken has the same bytes when saved again, apart from the policy, which is asked for.
        Ok(again) => {
            assert_eq!(second, Ok(()));
            assert!(by_load == "Live" || bytes_of(&again) == bytes);
        }
        // Right bytes of another filter than asked for.
        Err(
            LoadError::OtherKind { .. }
            | LoadError::OtherPolicy { .. }
            | LoadError::OtherAlgorithm { .. },
        ) => {}
        Err(error) => assert!(second.is_err(), "{error}: the second reader takes it"),
    }
    assert_eq!(load::<F>(&path).is_ok(), by_load.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn one_verdict(
        kind in 0..5,
        at in 0_usize..4096,
        len in prop::sample::select(vec![1_usize, 2, 4, 8]),
        aligned: bool,
        value in number(),
        in_body: bool,
    ) {
        // Most changes are of a whole field.
        let at = if aligned { at / len * len } else { at };
        match kind {
            0 => check(&common::small_bloom(), at, len, value, in_body),
            1 => check(&common::small_blocked(), at, len, value, in_body),
            2 => check(&common::small_once(), at, len, value, in_body),
            3 => check(&common::small_cuckoo(), at, len, value, in_body),
            _ => check(&common::small_once_cuckoo(), at, len, value, in_body),
        }
    }
}
