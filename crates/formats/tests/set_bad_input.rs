//! Damaged and hostile sets: each is refused, at the latest when the damaged filter is loaded, and
//! the other filters give right answers.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::sets::{
    Entry, ITEMS, Parts, blocked, bytes_of_blocked, bytes_of_cuckoo, bytes_with, open_all, right,
    small,
};
use tamis_bloom::BloomFilter;
use tamis_formats::{FilterSet, LoadError, MapFile, Normalization, Options, SetError, write};
use tamis_hash::{Rapid, Xxh3};
use tempfile::TempDir;

/// Returns a file with these bytes.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Returns the error of a set whose filters are loaded, and checks that a set whose filters are
/// mapped has the same one.
fn refusal(bytes: &[u8]) -> SetError {
    let (_folder, path) = file(bytes);
    let loaded = open_all(&path).map(drop).expect_err("the set is accepted");
    // SAFETY: the file is not made shorter.
    let mapped =
        FilterSet::<u64>::map(unsafe { MapFile::new(File::open(&path).unwrap()) }, 1 << 20);
    let mapped = mapped.and_then(|set| {
        (0..set.len()).try_for_each(|filter| set.get(filter).and_then(|_| set.verify(filter)))
    });
    let mapped = mapped.expect_err("the mapped set is accepted");
    assert_eq!(format!("{mapped:?}"), format!("{loaded:?}"), "mapped, and loaded");
    loaded
}

#[track_caller]
fn refused(parts: &Parts, is_right: impl Fn(&SetError) -> bool) {
    let error = refusal(&parts.bytes());
    assert!(is_right(&error), "{error:?}");
    assert!(!error.to_string().contains('\n') && error.to_string().len() < 250, "{error}");
}

#[test]
fn the_encoder_of_the_tests_agrees_with_the_library() {
    assert!(Parts::small().bytes() == small());
    let (_folder, path) = file(&small());
    open_all(&path).unwrap();
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small();
    let (_folder, path) = file(&bytes);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for len in (0..bytes.len() as u64).rev() {
        file.set_len(len).unwrap();
        let error = FilterSet::<u64>::open(&path, 0).expect_err("a truncated set is opened");
        let (length, magic) =
            (matches!(error, SetError::Length { .. }), matches!(error, SetError::Magic { .. }));
        assert!(length || magic, "{len}: {error:?}");
    }
    let error = refusal(&[&bytes[..], &[0]].concat());
    assert!(matches!(error, SetError::Magic { .. }), "{error:?}");
    // A second trailer is at the end, but not where the index ends.
    let error = refusal(&[&bytes[..], &bytes[bytes.len() - 64..]].concat());
    assert!(matches!(error, SetError::Length { .. }), "{error:?}");
}

/// After the flip of one bit, the set is refused, or exactly one filter is, and the others have
/// right answers.
#[test]
fn every_flip_of_a_bit_is_refused() {
    let bytes = small();
    let (_folder, path) = file(&bytes);
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let mut put = |at: usize, byte: u8| {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    // Whether the flips were found when the set was opened, or when filter 0 or 1 was loaded.
    let mut found = [0; 3];
    for (at, byte) in bytes.iter().enumerate() {
        for bit in 0..8 {
            put(at, byte ^ 1 << bit);
            let Ok(set) = FilterSet::<u64>::open(&path, 1 << 20) else {
                found[2] += 1;
                continue;
            };
            let loaded = [set.get(0), set.get(1)];
            let damaged = loaded.iter().position(Result::is_err);
            let damaged = damaged.unwrap_or_else(|| panic!("bit {bit} of byte {at} is accepted"));
            assert_eq!(damaged, at / 8192, "bit {bit} of byte {at}: the wrong filter is refused");
            assert!(
                loaded[1 - damaged].is_ok(),
                "bit {bit} of byte {at}: both filters are refused"
            );
            found[damaged] += 1;
            // Any question to the whole set is an error. (Not for each bit: that takes long.)
            if bit == at % 8 {
                for item in 0..ITEMS {
                    assert!(set.which(&item).is_err());
                    let other = loaded[1 - damaged].as_ref().unwrap();
                    assert!(!right(item).contains(&(1 - damaged)) || other.contains(&item));
                }
                assert!(set.which_many(0..ITEMS).is_err());
            }
        }
        put(at, *byte);
    }
    // The header of filter 0 and all bytes after the filters are checked when the set is opened.
    assert_eq!(found, [(8192 - 256) * 8, 8192 * 8, (bytes.len() - 2 * 8192 + 256) * 8]);
    open_all(&path).unwrap();
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(refusal(b""), SetError::Length { found: 0, expected: 64 }));
    assert!(matches!(refusal(&[0; 64]), SetError::Magic { .. }));
    assert!(matches!(refusal(&bytes_of_cuckoo(1)), SetError::Magic { .. }));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open_all(folder.path()).unwrap_err(), SetError::NotAFile));
    assert!(matches!(open_all(&folder.path().join("none")).unwrap_err(), SetError::Io(_)));
    // And a set is not taken for the file of one filter.
    let (_folder, path) = file(&Parts::of(&[("a", bytes_of_cuckoo(1))]).bytes());
    let error = tamis_formats::load::<tamis_cuckoo::CuckooFilter<u64, Rapid>>(&path).unwrap_err();
    assert!(matches!(error, LoadError::Trailing { .. }), "{error:?}");
}

#[test]
fn a_wrong_trailer_is_refused() {
    let parts = Parts::small();
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        parts
    };
    refused(&with(&|p| p.magic[0] = 0), |e| matches!(e, SetError::Magic { .. }));
    refused(&with(&|p| p.version = 2), |e| matches!(e, SetError::Version { found: 2 }));
    refused(&with(&|p| p.trailer_len = 63), |e| {
        matches!(e, SetError::Field { field: "trailer length", found: 63, expected: 64 })
    });
    refused(&with(&|p| p.reserved = 1), |e| {
        matches!(e, SetError::Field { field: "reserved field", .. })
    });
    // Numbers of filters that the length of the file does not allow, or that the index does not
    // have.
    for count in [3, 1 << 40, u64::MAX] {
        refused(&with(&|p| p.count = count), |e| matches!(e, SetError::Filters { most: 2, .. }));
    }
    refused(&with(&|p| p.count = 1), |e| {
        matches!(e, SetError::Field { field: "index offset", found: 16384, expected: 8192 })
    });
    refused(&with(&|p| p.count = 0), |e| matches!(e, SetError::IndexLen { most: 0, .. }));
    // Offsets and lengths that do not give the length of the file, also by overflow.
    for change in [1, 4096, 1 << 40, u64::MAX, u64::MAX - 4096, 1 << 63] {
        refused(&with(&|p| p.index_offset = change), |e| matches!(e, SetError::Length { .. }));
        refused(&with(&|p| p.index_len = change), |e| matches!(e, SetError::Length { .. }));
    }
    // Offset and length that give it together.
    for change in [1_u64, 8, 70] {
        let (back, forth) = (change.wrapping_neg(), change);
        refused(&with(&|p| (p.index_offset, p.index_len) = (back, forth)), |e| {
            matches!(e, SetError::Filters { .. } | SetError::IndexChecksum { .. })
        });
        refused(&with(&|p| (p.index_offset, p.index_len) = (forth, back)), |e| {
            matches!(e, SetError::IndexLen { .. } | SetError::IndexChecksum { .. })
        });
    }
}

#[test]
fn a_wrong_index_is_refused() {
    let parts = Parts::small();
    let with = |entry: usize, change: &dyn Fn(&mut Entry)| {
        let mut parts = parts.clone();
        change(&mut parts.entries[entry]);
        parts
    };
    let field = |number: usize, name: &'static str| move |e: &SetError| matches!(e, SetError::Entry { filter, field, .. } if (*filter, *field) == (number, name));
    // Outside, overlapping, out of order, with a gap.
    for offset in [1, 64, 4096, 1 << 40, u64::MAX] {
        refused(&with(0, &|e| e.offset = offset), field(0, "offset"));
    }
    for offset in [0, 4096, 8191, 12288, 1 << 40, u64::MAX - 4095] {
        refused(&with(1, &|e| e.offset = offset), field(1, "offset"));
    }
    let mut swapped = parts.clone();
    swapped.entries.reverse();
    refused(&swapped, field(0, "offset"));
    // Lengths that no filter has, that leave the file, or that move the next filter.
    for len in [0, 1, 4159, 1 << 40, u64::MAX, u64::MAX - 8191] {
        refused(&with(0, &|e| e.len = len), field(0, "length"));
        refused(&with(1, &|e| e.len = len), field(1, "length"));
    }
    refused(&with(0, &|e| e.len = 8193), field(1, "offset"));
    refused(&with(1, &|e| e.len = 4096), field(1, "length"));
    // Lengths that only the header of the filter refutes.
    for change in [-64_i64, -1, 1, 64] {
        for filter in [0, 1] {
            let with = with(filter, &|e| e.len = e.len.wrapping_add_signed(change));
            refused(&with, |e| match e {
                SetError::Filter { filter: found, error: LoadError::Truncated { .. }, .. } => {
                    *found == filter && change < 0
                }
                SetError::Filter { filter: found, error: LoadError::Trailing { .. }, .. } => {
                    *found == filter && change > 0
                }
                _ => false,
            });
        }
    }
    // Names.
    refused(&with(0, &|e| e.name_len = 65_536), field(0, "name length"));
    refused(&with(0, &|e| e.reserved = 1), field(0, "name length"));
    refused(&with(1, &|e| e.name_len = 4), field(1, "length of the entry"));
    refused(&with(1, &|e| e.name_len = 2), |e| {
        matches!(e, SetError::Field { field: "index length", .. })
    });
    refused(
        &with(1, &|e| e.name = b"one".to_vec()),
        |e| matches!(e, SetError::DuplicateName { filters: [0, 1], name } if name == b"one"),
    );
    let mut longer = parts.clone();
    longer.rest = vec![0];
    refused(&longer, |e| matches!(e, SetError::Field { field: "index length", .. }));
    // One entry more than filters, and one less.
    longer.rest = parts.bytes()[16384..16384 + 35].to_vec();
    refused(&longer, |e| matches!(e, SetError::Field { field: "index length", .. }));
    let mut shorter = parts.clone();
    shorter.entries.pop();
    refused(&shorter, |e| matches!(e, SetError::IndexLen { .. }));
    // Pages that belong to no filter: before the index, with the right and with a wrong alignment.
    for more in [1, 64, 4096] {
        let mut gap = parts.clone();
        gap.filters.extend(vec![0; more]);
        refused(&gap, |e| matches!(e, SetError::Field { field: "index offset", .. }));
    }
    let mut unaligned = parts;
    unaligned.filters.truncate(16384 - 64);
    refused(&unaligned, |e| matches!(e, SetError::Filters { .. }));
}

/// Filters that are correct, but not those of the set.
#[test]
fn filters_of_another_set_are_refused() {
    // The checksum of the header shows that the filter was replaced.
    let mut parts = Parts::of(&[("a", bytes_of_cuckoo(1)), ("b", bytes_of_blocked(1))]);
    let other = blocked(1);
    let _ = other.insert(&99);
    let mut bytes = Vec::new();
    write(&other, &mut bytes).unwrap();
    parts.filters[8192..8192 + bytes.len()].copy_from_slice(&bytes);
    refused(&parts, |e| matches!(e, SetError::OtherHeader { filter: 1, .. }));
    parts.entries[0].header_checksum ^= 1;
    refused(&parts, |e| matches!(e, SetError::OtherHeader { filter: 0, .. }));
    // Another seed, algorithm or normalization.
    let wrong = |second: Vec<u8>| Parts::of(&[("a", bytes_of_cuckoo(1)), ("b", second)]);
    refused(
        &wrong(bytes_of_cuckoo(2)),
        |e| matches!(e, SetError::Filter { filter: 1, error: LoadError::OtherHash, name } if name == b"b"),
    );
    let xxh3 =
        BloomFilter::<u64>::builder().capacity(9).hasher(Xxh3::with_seed(1)).build().unwrap();
    let mut bytes = Vec::new();
    write(&xxh3, &mut bytes).unwrap();
    refused(&wrong(bytes), |e| matches!(e, SetError::Filter { error: LoadError::OtherHash, .. }));
    let normalization = Options::new().normalization(Normalization::new("url-v1").unwrap());
    refused(&wrong(bytes_with(&normalization, 1)), |e| {
        matches!(e, SetError::Filter { filter: 1, error: LoadError::OtherNormalization { .. }, .. })
    });
    // The normalization of all filters is not the one asked for.
    let parts = Parts::of(&[("a", bytes_with(&normalization, 1))]);
    refused(&parts, |e| {
        matches!(e, SetError::Filter { filter: 0, error: LoadError::OtherNormalization { .. }, .. })
    });
    let (_folder, path) = file(&parts.bytes());
    assert_eq!(normalization.open_set::<u64>(&path, 0).unwrap().which(&12).unwrap(), [0]);
}

/// A live filter has no checksums.
#[test]
fn live_filters_are_refused() {
    let mut bytes = bytes_of_blocked(1);
    bytes[20] = 1;
    bytes[144..152].fill(0);
    bytes[256..4096].fill(0);
    let checksum = twox_hash::XxHash3_64::oneshot(&bytes[..248]);
    bytes[248..256].copy_from_slice(&checksum.to_le_bytes());
    let is_live = |e: &SetError| matches!(e, SetError::Filter { error: LoadError::Live, .. });
    refused(&Parts::of(&[("a", bytes.clone())]), is_live);
    refused(&Parts::of(&[("a", bytes_of_cuckoo(1)), ("b", bytes)]), is_live);
}

/// A sparse file can claim to be large without taking space. A reader allocates for what is in its
/// index, not for what its filters claim.
#[test]
fn a_large_filter_that_is_not_there_is_refused() {
    let (_folder, path) = file(&Parts::small().bytes());
    let bytes = fs::read(&path).unwrap();
    // The header of filter 1 claims 2^40 buckets, with a correct checksum.
    let mut parts = Parts::small();
    parts.filters[8192 + 88..8192 + 96].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let checksum = twox_hash::XxHash3_64::oneshot(&parts.filters[8192..8192 + 248]);
    parts.filters[8192 + 248..8192 + 256].copy_from_slice(&checksum.to_le_bytes());
    parts.entries[1].header_checksum = checksum;
    refused(&parts, |e| matches!(e, SetError::Filter { filter: 1, .. }));
    assert!(bytes == small());
}

/// The file becomes shorter after the set is opened.
#[test]
fn a_file_that_is_truncated_later_gives_errors() {
    let (_folder, path) = file(&small());
    let set = FilterSet::<u64>::open(&path, 1 << 20).unwrap();
    let file: File = OpenOptions::new().write(true).open(&path).unwrap();
    for len in (0..16384).rev().step_by(61) {
        file.set_len(len).unwrap();
        let error = set.get(1).unwrap_err();
        assert!(
            matches!(error, SetError::Filter { filter: 1, error: LoadError::Truncated { .. }, .. }),
            "{error:?}"
        );
    }
}
