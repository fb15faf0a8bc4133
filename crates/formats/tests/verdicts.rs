//! Random changes with right checksums: the loaders and the second reader, which was written from
//! the specification, have one verdict.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::bytes::Bytes;
use crate::common::{
    Small, small_blocked, small_bloom, small_counting, small_cuckoo, small_growing_cuckoo,
    small_growing_once, small_once, small_once_cuckoo, small_once_scalable, small_rotating,
    small_scalable,
};
use crate::reader::Reader;
use proptest::prelude::*;
use tamis_formats::LoadError;

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

/// Writes the bytes over those of a file. To empty the file first would wait for the disk: ext4
/// then flushes it.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut file = File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    file.write_all(bytes).unwrap();
}

/// Changes the header or the body of a file, makes its checksums right, and compares the verdicts.
fn check(path: &Path, small: &Small, at: usize, len: usize, value: u64, in_body: bool) {
    let bytes = Bytes(small.bytes.clone());
    let size = bytes.0.len();
    let at = if in_body { 4096 + at % (size - 4096 - len) } else { 8 + at % (240 - len) };
    let bytes = bytes.put(at, &value.to_le_bytes()[..len]);
    // A header that was changed may be one of a body with other checksums, so leave those.
    let bytes = if in_body { bytes.sum_all().0 } else { bytes.sum_header().0 };
    overwrite(path, &bytes);
    let [by_load, by_read, by_map] = (small.verdicts)(path, &bytes);
    assert!(by_load == by_read && by_load == by_map, "{by_load}, {by_read}, {by_map}");
    let second = Reader::new(&bytes).map(drop);
    match (small.again)(path) {
        // A filter that is taken has the same bytes when saved again, apart from the normalization,
        // which is asked for.
        Ok(again) => {
            assert_eq!(second, Ok(()));
            assert!(by_load == "Live" || again == bytes);
        }
        // Right bytes of another filter than asked for.
        Err(
            LoadError::OtherKind { .. }
            | LoadError::OtherNormalization { .. }
            | LoadError::OtherAlgorithm { .. },
        ) => {}
        Err(error) => assert!(second.is_err(), "{error}: the second reader takes it"),
    }
}

#[test]
fn one_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("file");
    let all = [
        Small::of(&small_bloom()),
        Small::of(&small_blocked()),
        Small::of(&small_once()),
        Small::of(&small_cuckoo()),
        Small::of(&small_once_cuckoo()),
        Small::of(&small_scalable()),
        Small::of(&small_once_scalable()),
        Small::of(&small_counting()),
        Small::of(&small_rotating()),
        Small::of(&small_growing_cuckoo()),
        Small::of(&small_growing_once()),
    ];
    proptest!(ProptestConfig::with_cases(3000), |(
        kind in 0..all.len(),
        at in 0_usize..4096,
        len in prop::sample::select(vec![1_usize, 2, 4, 8]),
        aligned: bool,
        value in number(),
        in_body: bool,
    )| {
        // Most changes are of a whole field.
        let at = if aligned { at / len * len } else { at };
        check(path, &all[kind], at, len, value, in_body);
    });
}
