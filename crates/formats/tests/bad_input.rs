//! Files with one fault each and right checksums, so that the check of the meaning refuses them, in every loader.

#[path = "common/bytes.rs"]
mod bytes;
mod common;
mod reader;

use std::fs;
use std::io::{self, Read};

use bytes::Bytes;
use common::{
    Bloom, Cuckoo, Once, OnceCuckoo, bytes_of, small_bloom, small_cuckoo, small_once, verdicts,
};
use reader::Reader;
use tamis_bloom::{BloomFilter, OnceBloomFilter};
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{Info, LoadError, Options, Policy, load, merge_read, read, save};
use tamis_hash::{AnyStable, Rapid, SipHash13, Xxh3};
use twox_hash::XxHash3_64;

/// One test per fault: the kind of filter, the change of its bytes, the error, and a part of its message.
macro_rules! refused {
    ($($name:ident: $type:ty, $filter:ident, |$bytes:ident| $changed:expr => $error:literal, $text:literal;)*) => {$(
        #[test]
        fn $name() {
            let $bytes = Bytes::of(&$filter());
            $changed.refused::<$type>($error, $text);
        }
    )*};
}

fn once_cuckoo() -> OnceCuckoo {
    common::small_once_cuckoo()
}

refused! {
    // The file as a whole.
    empty: Bloom, small_bloom, |_bytes| Bytes(Vec::new()) => "Truncated { found: 0, expected: 256 }", "0 bytes of 256";
    magic_only: Bloom, small_bloom, |bytes| Bytes(bytes.0[..8].to_vec()) => "Truncated { found: 8", "cut off";
    header_only: Bloom, small_bloom, |bytes| Bytes(bytes.0[..256].to_vec())
        => "Truncated { found: 256, expected: 4224 }", "256 bytes of 4224";
    wrong_magic: Bloom, small_bloom, |bytes| bytes.put(0, b"\x89PNG\r\n\x1A\n") => "Magic", "starts with 89 50 4e 47";
    // A transfer in text mode turns CR LF into LF, or LF into CR LF.
    text_mode: Bloom, small_bloom, |bytes| bytes.put(6, b"\n\x01") => "Magic", "not a file of Tamis";
    a_short_foreign_file: Bloom, small_bloom, |_bytes| Bytes(b"a,b\n".to_vec()) => "Magic", "61 2c 62 0a";
    // The header.
    wrong_endianness: Bloom, small_bloom, |bytes| bytes.put(8, [0, 0, 0, 1]).sum_header()
        => "Version { found: 16777216 }", "version 16777216";
    future_version: Bloom, small_bloom, |bytes| bytes.u32(8, 2) => "Version { found: 2 }", "this release reads version 1";
    version_0: Bloom, small_bloom, |bytes| bytes.u32(8, 0).sum_header() => "Version { found: 0 }", "version 0";
    longer_header: Bloom, small_bloom, |bytes| bytes.u32(12, 512).sum_header() => "Field { field: \"header length\"", "512";
    unknown_kind: Bloom, small_bloom, |bytes| bytes.u32(16, 6).sum_header() => "Kind { found: 6 }", "kind 6";
    kind_0: Bloom, small_bloom, |bytes| bytes.u32(16, 0).sum_header() => "Kind { found: 0 }", "kind 0";
    unknown_flag: Bloom, small_bloom, |bytes| bytes.u32(20, 2).sum_header() => "Flags { found: 2 }", "0x2";
    layout_of_another_kind: Bloom, small_bloom, |bytes| bytes.u32(24, 2).sum_header()
        => "Field { field: \"layout\", found: 2, expected: 1 }", "its layout is 2; it must be 1";
    unknown_layout: Once, small_once, |bytes| bytes.u32(24, 4).sum_header() => "Field { field: \"layout\"", "layout is 4";
    unknown_algorithm: Bloom, small_bloom, |bytes| bytes.u32(28, 5).sum_header() => "Algorithm { found: 5 }", "algorithm 5";
    bytes_after_the_seed: Bloom, small_bloom, |bytes| bytes.put(47, [1]).sum_header() => "Key", "after the seed";
    another_seed: Bloom, small_bloom, |bytes| bytes.u64(32, 2).sum_header() => "HashProbe", "another hash function";
    another_algorithm: Bloom, small_bloom, |bytes| bytes.u32(28, 2).sum_header() => "HashProbe", "another hash function";
    another_hash_probe: Bloom, small_bloom, |bytes| bytes.u64(48, 7).sum_header()
        => "HashProbe { found: 7", "its hash probe is 0x0000000000000007";
    policy_not_ascii: Bloom, small_bloom, |bytes| bytes.put(56, "é").sum_header() => "PolicyBytes", "printable ASCII";
    policy_with_a_gap: Bloom, small_bloom, |bytes| bytes.put(56, b"a\0b").sum_header() => "PolicyBytes", "zeros";
    policy_with_a_control: Bloom, small_bloom, |bytes| bytes.put(56, b"a\x7F").sum_header() => "PolicyBytes", "ASCII";
    policy_with_another_control: Bloom, small_bloom, |bytes| bytes.put(56, b"\x1Fa").sum_header() => "PolicyBytes", "ASCII";
    reserved_bytes: Bloom, small_bloom, |bytes| bytes.put(247, [1]).sum_header() => "NotZero { offset: 247 }", "offset 247";
    // Sizes of a Bloom filter that no builder gives.
    bits_0: Bloom, small_bloom, |bytes| bytes.sizes(0, 7, 0, 0) => "Sizes(Bits)", "the number of bits is 0";
    probes_0: Bloom, small_bloom, |bytes| bytes.u32(96, 0).sum_header() => "Sizes(Probes { probes: 0", "probes is 0";
    probes_65: Bloom, small_bloom, |bytes| bytes.u32(96, 65).sum_header() => "Sizes(Probes { probes: 65", "65";
    probes_255: Bloom, small_bloom, |bytes| bytes.u32(96, 255).sum_header() => "Sizes(Probes { probes: 255", "255";
    probes_huge: Bloom, small_bloom, |bytes| bytes.u32(96, u32::MAX).sum_header() => "Sizes(Probes", "4294967295";
    words_in_the_classic_layout: Bloom, small_bloom, |bytes| bytes.u32(100, 1).sum_header()
        => "Field { field: \"words\", found: 1, expected: 0 }", "words";
    probes_33_in_a_line: Once, small_once, |bytes| bytes.u32(96, 33).u32(100, 8).sum_header() => "Sizes(Probes", "33";
    words_0: Once, small_once, |bytes| bytes.u32(100, 0).sum_header() => "Sizes(Words { words: 0 })", "words per item is 0";
    words_3: Once, small_once, |bytes| bytes.u32(100, 3).sum_header() => "Sizes(Words { words: 3 })", "is 3";
    words_16: Once, small_once, |bytes| bytes.u32(100, 16).sum_header() => "Sizes(Words { words: 16 })", "is 16";
    more_words_than_probes: Once, small_once, |bytes| bytes.u32(96, 1).sum_header() => "Sizes(Words", "words";
    too_many_probes_for_the_words: Once, small_once, |bytes| bytes.u32(96, 17).sum_header() => "Sizes(Words", "words";
    half_a_line: Once, small_once, |bytes| bytes.u64(88, 1023).sum_header()
        => "Field { field: \"size\", found: 1023, expected: 512 }", "size is 1023";
    a_part_of_a_line: Once, small_once, |bytes| bytes.u64(88, 100).sum_header()
        => "Field { field: \"size\", found: 100, expected: 512 }", "size is 100; it must be 512";
    // Sizes that do not fit the file.
    bits_1: Bloom, small_bloom, |bytes| bytes.u64(88, 1).sum_header() => "Field { field: \"body length\"", "body length";
    bits_of_a_shorter_file: Bloom, small_bloom, |bytes| bytes.u64(88, 512).sum_header() => "Field", "body length";
    bits_of_the_same_lines: Bloom, small_bloom, |bytes| bytes.u64(88, 900).sum_header() => "SpareBits { line: 1 }", "line 1";
    bits_2_to_the_32: Bloom, small_bloom, |bytes| bytes.sizes(1 << 32, 7, 0, 1 << 23) => "Truncated", "cut off";
    bits_2_to_the_63: Bloom, small_bloom, |bytes| bytes.sizes(1 << 63, 7, 0, 1 << 54) => "Truncated", "cut off";
    bits_max: Bloom, small_bloom, |bytes| bytes.sizes(u64::MAX, 7, 0, 1 << 55) => "Truncated", "cut off";
    bits_max_in_lines: Once, small_once, |bytes| bytes.sizes(u64::MAX, 6, 2, 1 << 55) => "Field { field: \"size\"", "size";
    capacity_0: Bloom, small_bloom, |bytes| bytes.u64(104, 0).sum_header() => "Capacity { found: 0 }", "at least 1";
    items_in_a_bloom_filter: Bloom, small_bloom, |bytes| bytes.u64(112, 1).sum_header() => "Field { field: \"items\"", "items";
    body_offset_0: Bloom, small_bloom, |bytes| bytes.u64(120, 0).sum_header() => "Field { field: \"body offset\"", "4096";
    body_offset_later: Bloom, small_bloom, |bytes| bytes.u64(120, 8192).sum_header() => "Field", "8192";
    body_offset_max: Bloom, small_bloom, |bytes| bytes.u64(120, u64::MAX).sum_header() => "Field", "body offset";
    body_length_0: Bloom, small_bloom, |bytes| bytes.u64(128, 0).sum_header() => "Field { field: \"body length\"", "128";
    body_length_max: Bloom, small_bloom, |bytes| bytes.u64(128, u64::MAX).sum_header() => "Field", "body length";
    chunk_length_0: Bloom, small_bloom, |bytes| bytes.u64(136, 0).sum_header() => "Field { field: \"chunk length\"", "0";
    chunk_length_1: Bloom, small_bloom, |bytes| bytes.u64(136, 1).sum_header() => "Field { field: \"chunk length\"", "1048576";
    // Sizes of a cuckoo filter that no builder gives.
    buckets_0: Cuckoo, small_cuckoo, |bytes| bytes.sizes(0, 5, 12, 0) => "Sizes(Buckets { buckets: 0 })", "buckets is 0";
    buckets_odd: Cuckoo, small_cuckoo, |bytes| bytes.u64(88, 9).sum_header() => "Sizes(Buckets { buckets: 9 })", "is 9";
    buckets_2_to_the_57: Cuckoo, small_cuckoo, |bytes| bytes.u64(88, 1 << 57).sum_header() => "Sizes(TooLarge)", "2^64";
    buckets_max: Cuckoo, small_cuckoo, |bytes| bytes.u64(88, u64::MAX - 1).sum_header() => "Sizes(TooLarge)", "2^64";
    buckets_whose_bits_overflow: Cuckoo, small_cuckoo, |bytes| bytes.sizes(1 << 57, 4, 32, 0) => "Sizes(TooLarge)", "2^64";
    buckets_just_above: Cuckoo, small_cuckoo, |bytes| bytes.sizes((1 << 56) + 2, 4, 32, (1 << 54) + 1)
        => "Sizes(TooLarge)", "2^64";
    buckets_at_the_limit: Cuckoo, small_cuckoo, |bytes| bytes.sizes(1 << 56, 4, 32, 1 << 54) => "Truncated", "cut off";
    fingerprint_bits_0: Cuckoo, small_cuckoo, |bytes| bytes.u32(100, 0).sum_header() => "Sizes(Shape", "slots of 0 bits";
    fingerprint_bits_1: Cuckoo, small_cuckoo, |bytes| bytes.u32(100, 1).sum_header() => "Sizes(Shape", "slots of 1 bits";
    fingerprint_bits_33: Cuckoo, small_cuckoo, |bytes| bytes.u32(100, 33).sum_header() => "Sizes(Shape", "of 33 bits";
    fingerprint_bits_64: Cuckoo, small_cuckoo, |bytes| bytes.u32(100, 64).sum_header() => "Sizes(Shape", "of 64 bits";
    fingerprint_bits_max: Cuckoo, small_cuckoo, |bytes| bytes.u32(100, u32::MAX).sum_header() => "Sizes(Shape", "slots";
    slots_0: Cuckoo, small_cuckoo, |bytes| bytes.u32(96, 0).sum_header() => "Sizes(Shape", "0 slots";
    slots_max: Cuckoo, small_cuckoo, |bytes| bytes.u32(96, u32::MAX).sum_header() => "Sizes(Shape", "slots";
    items_above_the_slots: Cuckoo, small_cuckoo, |bytes| bytes.u64(112, 51).sum_header()
        => "Items { found: 51, slots: 50 }", "51 items, and there are 50 slots";
    items_max: Cuckoo, small_cuckoo, |bytes| bytes.u64(112, u64::MAX).sum_header() => "Items", "slots";
    // The table and the body.
    another_table_checksum: Bloom, small_bloom, |bytes| bytes.u64(144, 0).sum_header() => "TableChecksum { found: 0", "table";
    another_chunk_checksum: Bloom, small_bloom, |bytes| {
        let table = XxHash3_64::oneshot(&[0; 8]);
        bytes.u64(256, 0).u64(144, table).sum_header()
    } => "ChunkChecksum { chunk: 0, found: 0", "chunk 0 of the body";
    padding: Bloom, small_bloom, |bytes| bytes.put(4095, [1]) => "NotZero { offset: 4095 }", "offset 4095";
    bit_behind_the_last: Bloom, small_bloom, |bytes| bytes.put(4096 + 999 / 8, [0xFF]).sum_all() => "SpareBits { line: 1 }", "line 1";
    lock_bit: Once, small_once, |bytes| {
        let byte = bytes.0[4096 + 64 + 7];
        bytes.put(4096 + 64 + 7, [byte | 0x40]).sum_all()
    } => "SpareBits { line: 1 }", "line 1";
    spare_bit_of_a_bucket: Cuckoo, small_cuckoo, |bytes| {
        let byte = bytes.0[4096 + 7];
        bytes.put(4096 + 7, [byte | 0x10]).sum_all()
    } => "SpareBits { line: 0 }", "line 0";
    word_behind_the_last_bucket: Cuckoo, small_cuckoo, |bytes| bytes.put(4096 + 80, [1]).sum_all() => "SpareBits { line: 1 }", "1";
    one_item_less: Cuckoo, small_cuckoo, |bytes| bytes.u64(112, 29).sum_header()
        => "ItemCount { found: 29, expected: 30 }", "says 29 items; the body holds 30";
    one_item_more: Cuckoo, small_cuckoo, |bytes| bytes.u64(112, 31).sum_header() => "ItemCount { found: 31", "31";
    one_slot_cleared: OnceCuckoo, once_cuckoo, |bytes| {
        let slot = (4096..).step_by(2).find(|at| bytes.0[*at..at + 2] != [0, 0]).unwrap();
        bytes.put(slot, [0, 0]).sum_all()
    } => "ItemCount { found: 30, expected: 29 }", "30";
    // Live files.
    live_cuckoo: Cuckoo, small_cuckoo, |bytes| bytes.u32(20, 1).sum_header() => "LiveLocks { kind: Cuckoo }", "needs locks";
    live_with_locks: Once, small_once, |bytes| bytes.u32(20, 1).sum_header() => "LiveLocks { kind: OnceBloom }", "needs locks";
    live_with_checksums: Bloom, small_bloom, |bytes| bytes.u32(20, 1).sum_header()
        => "Field { field: \"checksum of the checksums\"", "checksum of the checksums";
}

/// A live file with a table is refused when its table is read.
#[test]
fn live_with_a_table() {
    let bytes = Bytes::of(&small_bloom()).u32(20, 1).u64(144, 0).sum_header();
    assert!(matches!(read::<Bloom>(&bytes.0[..]), Err(LoadError::Live)));
    let error = Options::new().live(true).read::<Bloom>(&bytes.0[..]).unwrap_err();
    assert!(matches!(error, LoadError::NotZero { offset: 256..264 }), "{error:?}");
    assert!(Reader::new(&bytes.0).is_err());
}

/// What is behind the filter belongs to the stream, but not to a file.
#[test]
fn trailing_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for more in [1, 64, 4096] {
        let mut bytes = bytes_of(&small_bloom());
        bytes.resize(bytes.len() + more, 0);
        fs::write(&path, &bytes).unwrap();
        let [load, read, map] = verdicts::<Bloom>(&path, &bytes);
        assert!(
            load.starts_with("Trailing { found: ") && load == map && read.is_empty(),
            "{load}, {read}, {map}"
        );
        assert!(matches!(Info::open(&path), Err(LoadError::Trailing { .. })));
    }
}

/// Bytes that are right, and another filter than asked for.
#[test]
fn another_filter_than_asked_for() {
    let bytes = bytes_of(&small_once());
    let error = read::<Bloom>(&bytes[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file holds a filter of type OnceBloomFilter, not BloomFilter"
    );
    let error = read::<OnceBloomFilter<u64, Xxh3>>(&bytes[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the filter in the file hashes with rapidhash-v3, not with xxh3-64"
    );
    let error = read::<OnceBloomFilter<u64, SipHash13>>(&bytes[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the filter in the file hashes with rapidhash-v3, not with siphash-1-3"
    );
    assert!(read::<OnceBloomFilter<u64, AnyStable>>(&bytes[..]).is_ok());
    let options = Options::new().policy(Policy::new("url-v1").unwrap());
    let error = options.read::<Once>(&bytes[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the items in the file have no policy, and here they have the policy `url-v1`"
    );
}

#[test]
fn a_merge_of_other_sizes_or_another_seed() {
    let target = small_bloom();
    let before = bytes_of(&target);
    let other = |bits, seed| {
        let builder = BloomFilter::<u64>::builder().bits(bits).probes(7);
        bytes_of(&builder.hasher(Rapid::with_seed(seed)).build().unwrap())
    };
    assert!(matches!(merge_read(&target, &other(998, 1)[..]), Err(LoadError::OtherSizes)));
    assert!(matches!(merge_read(&target, &other(999, 2)[..]), Err(LoadError::OtherHash)));
    assert!(matches!(
        merge_read(&target, &bytes_of(&small_once())[..]),
        Err(LoadError::OtherKind { .. })
    ));
    assert!(merge_read(&target, &other(999, 1)[..]).is_ok());
    assert!(bytes_of(&target) == before);
}

/// The most memory that this process had, in bytes.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

/// A header that claims a filter of 128 TiB, with a table of 1 GiB, makes no loader allocate either. One that claims 2 GiB,
/// which the system can reserve, makes no loader touch them.
#[test]
fn a_huge_size_in_a_stream_allocates_nothing() {
    let before = most_memory();
    let mut bytes = Bytes::of(&small_bloom()).sizes(1 << 50, 7, 0, 1 << 41).0;
    bytes.truncate(266);
    let error = read::<Bloom>(&bytes[..]).unwrap_err();
    assert!(matches!(error, LoadError::Truncated { found: 266, .. }), "{error:?}");
    // With a table of the right length, and ten bytes of the body.
    let table = vec![0; 1 << 14];
    let header = Bytes::of(&small_bloom()).sizes(1 << 34, 7, 0, 1 << 25);
    let header = header.u64(144, XxHash3_64::oneshot(&table)).sum_header();
    let header = Bytes(header.0[..256].to_vec());
    let offset = (256 + (1_u64 << 14)).next_multiple_of(4096);
    let rest = io::repeat(0).take(offset - 256 + 10);
    let error = read::<Bloom>(header.0.as_slice().chain(rest)).unwrap_err();
    // The system may refuse to reserve the address space.
    let found = offset + 10;
    assert!(
        matches!(error, LoadError::Truncated { found: at, .. } if at == found)
            || matches!(error, LoadError::Alloc { .. }),
        "{error:?}"
    );
    // The same for buckets.
    let cuckoo = Bytes::of(&small_cuckoo()).sizes(1 << 34, 4, 16, 1 << 31).0;
    assert!(matches!(read::<Cuckoo>(&cuckoo[..266]), Err(LoadError::Truncated { .. })));
    // An endless stream of zeros is no filter.
    assert!(matches!(read::<Bloom>(io::repeat(0)), Err(LoadError::Magic { .. })));
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
}

/// A sparse file has any length and takes no space. Its table alone could exhaust the memory.
#[cfg(target_os = "linux")]
#[test]
fn a_huge_sparse_file_allocates_nothing() {
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    // A body of 15 TiB: nearly the longest file of ext4. Its table has 120 MiB.
    let lines = 15_u128 << 34;
    let header = Bytes::of(&small_bloom()).sizes(15 << 43, 7, 0, lines).0;
    fs::write(&path, &header[..256]).unwrap();
    let len = (256 + 8 * (15_u64 << 20)).next_multiple_of(4096) + (15 << 40);
    let file = fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(len).is_err() || overcommit.trim() == "1" {
        return;
    }
    let before = most_memory();
    let error = load::<Bloom>(&path).unwrap_err();
    assert!(matches!(error, LoadError::Alloc { bytes } if bytes == 15 << 40), "{error:?}");
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
}

#[test]
fn names_of_policies() {
    for name in ["", " ", "~", "a b", "url-v1", &"x".repeat(32)] {
        assert_eq!(Policy::new(name).unwrap().name(), name);
    }
    for (name, error) in [
        ("\x1F", "the policy contains '\\u{1f}'; only printable ASCII is possible"),
        ("a\x7F", "the policy contains '\\u{7f}'; only printable ASCII is possible"),
        ("\0", "the policy contains '\\0'; only printable ASCII is possible"),
        (&"x".repeat(33), "the policy has 33 bytes; at most 32 are possible"),
    ] {
        assert_eq!(Policy::new(name).unwrap_err().to_string(), error);
    }
}

/// An error of the reader is passed on.
#[test]
fn an_error_of_the_stream() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the line is cut"))
        }
    }
    let bytes = bytes_of(&small_bloom());
    for len in [0, 8, 255, 256, 260, 4000, 4096, 4100] {
        let error = read::<Bloom>(bytes[..len].chain(Broken)).unwrap_err();
        assert!(matches!(&error, LoadError::Io(_)), "{len}: {error:?}");
        assert_eq!(error.to_string(), "the line is cut");
    }
}

/// Nothing shows the key: not the description of a file, not an error.
#[test]
fn the_key_is_not_shown() {
    let key = *b"0123456789abcdef";
    let builder = CuckooFilter::<u64>::builder().capacity(10).hasher(SipHash13::with_key(key));
    let filter = builder.build().unwrap();
    let bytes = bytes_of(&filter);
    let text = format!("{:?}", Info::read(&bytes[..]).unwrap());
    assert!(
        text.contains("SipHash13") && !text.contains("48, 49") && !text.contains("key"),
        "{text}"
    );
    let folder = tempfile::tempdir().unwrap();
    save(&filter, folder.path().join("file")).unwrap();
    let mapped = tamis_formats::map::<CuckooFilter<u64, SipHash13>>(common::map_file(
        &folder.path().join("file"),
    ));
    let text = format!("{:?}", mapped.unwrap());
    assert!(!text.contains("48, 49") && !text.contains("key"), "{text}");
}

/// A filter of 4 GiB is mapped without a read of its body, and answers at once.
#[cfg(unix)]
#[test]
fn a_large_file_is_mapped_in_constant_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let lines = 1_u128 << 26;
    let header = Bytes::of(&small_bloom()).sizes(1 << 35, 7, 0, lines).0;
    // A sparse file: its blocks are zeros that take no space.
    fs::write(&path, &header[..256]).unwrap();
    let offset = (256 + 8 * 4096_u64).next_multiple_of(4096);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(offset + (1 << 32)).unwrap();
    let before = most_memory();
    let mapped = tamis_formats::map::<Bloom>(common::map_file(&path)).unwrap();
    assert!((0..100).all(|item| !mapped.contains(&item)));
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
    // The checksums are not those of these zeros, so the check of the whole file refuses it.
    assert!(matches!(mapped.verify(), Err(LoadError::TableChecksum { .. })));
}
