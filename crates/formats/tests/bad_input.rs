//! Files with one fault each and right checksums, so that the check of the meaning refuses them, in
//! every loader.

use std::fs;
use std::io::Read;

use crate::bytes::{Broken, Bytes};
use crate::common::{
    Bloom, Counting, Cuckoo, Once, OnceCuckoo, OnceScalable, Rotating, Scalable, bytes_of,
    small_bloom, small_counting, small_cuckoo, small_growing_cuckoo, small_once,
    small_once_scalable, small_rotating, small_scalable, verdicts,
};
use crate::reader::Reader;
use tamis_bloom::{BloomFilter, OnceBloomFilter};
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{Info, LoadError, Normalization, Options, read, save};
use tamis_hash::{AnyStable, Rapid, SipHash13, Xxh3};
use twox_hash::XxHash3_64;

/// One test per fault: the kind of filter, the change of its bytes, the error, and a part of its
/// message.
macro_rules! refused {
    ($($name:ident: $type:ty, $filter:ident, |$bytes:ident| $changed:expr => $error:literal, $text:literal;)*) => {$(
        #[test]
        fn $name() {
            let $bytes = Bytes::of(&$filter());
            $changed.refused::<$type>($error, $text);
        }
    )*};
}

/// Returns a number of 8 bytes.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn once_cuckoo() -> OnceCuckoo {
    crate::common::small_once_cuckoo()
}

/// Gives a bucket of 64 bits another tag.
fn tagged(bytes: Bytes, place: usize, tag: u64) -> Bytes {
    let at = 4096 + 8 * place;
    let bucket = number(&bytes.0, at);
    bytes.u64(at, bucket << 2 >> 2 | tag << 62).sum_all()
}

/// Sets the first slot of a bucket of the first level.
fn slot_of_8(bytes: Bytes, held: u64) -> Bytes {
    let at = 4096 + 8 * 8;
    let bucket = number(&bytes.0, at);
    bytes.u64(at, bucket >> 31 << 31 | held).sum_all()
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
    unknown_kind: Bloom, small_bloom, |bytes| bytes.u32(16, 11).sum_header() => "Kind { found: 11 }", "kind 11";
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
    policy_not_ascii: Bloom, small_bloom, |bytes| bytes.put(56, "é").sum_header() => "NormalizationBytes", "printable ASCII";
    policy_with_a_gap: Bloom, small_bloom, |bytes| bytes.put(56, b"a\0b").sum_header() => "NormalizationBytes", "zeros";
    policy_with_a_control: Bloom, small_bloom, |bytes| bytes.put(56, b"a\x7F").sum_header() => "NormalizationBytes", "ASCII";
    policy_with_another_control: Bloom, small_bloom, |bytes| bytes.put(56, b"\x1Fa").sum_header() => "NormalizationBytes", "ASCII";
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
    // A Bloom filter that grows.
    slices_0: Scalable, small_scalable, |bytes| bytes.u64(168, 0).sum_header()
        => "Range { field: \"slices\", found: 0, min: 1, max: 64 }", "slices is 0";
    slices_65: Scalable, small_scalable, |bytes| bytes.u64(168, 65).sum_header() => "Range { field: \"slices\"", "65";
    more_slices_than_lines: Scalable, small_scalable, |bytes| bytes.u64(168, 4).sum_header()
        => "Range { field: \"size\", found: 1536, min: 2048", "size";
    one_slice_less: Scalable, small_scalable, |bytes| bytes.u64(168, 1).sum_header() => "Field { field: \"body length\"", "320";
    rate_0: Scalable, small_scalable, |bytes| bytes.u64(152, 0).sum_header() => "Sizes(Rate { rate: 0.0 })", "0.0";
    rate_1: Scalable, small_scalable, |bytes| bytes.u64(152, 1_f64.to_bits()).sum_header() => "Sizes(Rate", "1.0";
    rate_nan: Scalable, small_scalable, |bytes| bytes.u64(152, u64::MAX).sum_header() => "Sizes(Rate", "NaN";
    rate_negative: Scalable, small_scalable, |bytes| bytes.u64(152, 1 << 63 | 1).sum_header() => "Sizes(Rate", "-";
    a_field_behind_the_record_of_slices: Scalable, small_scalable, |bytes| bytes.u64(184, 1).sum_header()
        => "NotZero { offset: 184 }", "offset 184";
    items_of_slices: Scalable, small_scalable, |bytes| bytes.u64(112, 1).sum_header() => "Field { field: \"items\"", "items";
    size_of_slices_max: Scalable, small_scalable, |bytes| bytes.u64(88, u64::MAX).sum_header() => "Field { field: \"size\"", "size";
    probes_of_the_first_slice: Scalable, small_scalable, |bytes| bytes.u32(96, 5).sum_header()
        => "Directory { entry: 0, field: \"number of probes\", found: 4, expected: 5 }", "line 0 of the directory";
    probes_of_a_slice: Scalable, small_scalable, |bytes| bytes.u32(4168, 33).sum_all()
        => "DirectorySizes { entry: 1, error: Probes", "line 1 of the directory is wrong: the number of probes is 33";
    bits_of_a_slice_are_no_lines: Scalable, small_scalable, |bytes| bytes.u64(4160, 1023).sum_all()
        => "Directory { entry: 1, field: \"number of bits\", found: 1023, expected: 512 }", "1023";
    bits_of_a_slice_are_more: Scalable, small_scalable, |bytes| bytes.u64(4160, 1536).sum_all()
        => "Field { field: \"lines of the slices\", found: 3, expected: 4 }", "lines of the slices";
    bits_of_a_slice_are_0: Scalable, small_scalable, |bytes| bytes.u64(4160, 0).sum_all()
        => "DirectorySizes { entry: 1, error: Bits }", "bits is 0";
    capacity_of_a_slice: Scalable, small_scalable, |bytes| bytes.u64(4112, 0).sum_all()
        => "Directory { entry: 0, field: \"capacity\", found: 0, expected: 1 }", "capacity is 0; it must be 1";
    items_of_a_large_slice: Scalable, small_scalable, |bytes| bytes.u64(4112, 1 << 18).u64(4120, 7).sum_all()
        => "Directory { entry: 0, field: \"number of items\", found: 7, expected: 4 }", "items is 7; it must be 4";
    items_of_a_slice_max: Scalable, small_scalable, |bytes| bytes.u64(4120, u64::MAX).sum_all()
        => "Directory { entry: 0, field: \"number of items\"", "4611686018427387904";
    a_field_behind_the_directory_of_slices: Scalable, small_scalable, |bytes| bytes.put(4128, [1]).sum_all()
        => "NotZero { offset: 4128 }", "offset 4128";
    live_slices: Scalable, small_scalable, |bytes| bytes.u32(20, 1).sum_header() => "LiveKind", "processes cannot share";
    // One with locks.
    a_lock_of_a_slice: OnceScalable, small_once_scalable, |bytes| {
        let byte = bytes.0[4224 + 7];
        bytes.put(4224 + 7, [byte | 0x40]).sum_all()
    } => "SpareBits { line: 2 }", "line 2";
    one_word_and_a_lock: OnceScalable, small_once_scalable, |bytes| bytes.u32(100, 1).sum_header()
        => "Sizes(Words { words: 1 })", "1";
    one_word_and_a_lock_in_a_slice: OnceScalable, small_once_scalable, |bytes| bytes.u32(4172, 1).sum_all()
        => "DirectorySizes { entry: 1, error: Words { words: 1 } }", "line 1 of the directory is wrong";
    // Counters.
    live_counters: Counting, small_counting, |bytes| bytes.u32(20, 1).sum_header() => "LiveKind", "processes cannot share";
    counters_with_the_lines_of_bits: Counting, small_counting, |bytes| bytes.sizes(1024, 6, 2, 2)
        => "Field { field: \"body length\", found: 128, expected: 512 }", "512";
    counters_of_half_a_line: Counting, small_counting, |bytes| bytes.u64(88, 1023).sum_header() => "Field { field: \"size\"", "size";
    counters_max: Counting, small_counting, |bytes| bytes.sizes(u64::MAX - 511, 6, 2, 4 * ((1 << 55) - 1)) => "Truncated", "cut off";
    a_record_of_counters: Counting, small_counting, |bytes| bytes.u64(152, 1).sum_header() => "NotZero { offset: 152 }", "152";
    // A window.
    window_of_1_generation: Rotating, small_rotating, |bytes| bytes.u64(152, 1).sum_header()
        => "Range { field: \"generations\", found: 1, min: 2, max: 16 }", "from 2 to 16";
    window_of_17_generations: Rotating, small_rotating, |bytes| bytes.u64(152, 17).sum_header()
        => "Range { field: \"generations\", found: 17", "17";
    window_of_more_generations: Rotating, small_rotating, |bytes| bytes.u64(152, 4).sum_header()
        => "Field { field: \"body length\", found: 256, expected: 320 }", "320";
    rotations_max: Rotating, small_rotating, |bytes| bytes.u64(160, 1 << 55).sum_header()
        => "Range { field: \"rotations\"", "rotations";
    items_of_the_generation_max: Rotating, small_rotating, |bytes| bytes.u64(168, u64::MAX).sum_header()
        => "Range { field: \"items of the current generation\"", "items of the current generation";
    an_end_without_a_span: Rotating, small_rotating, |bytes| bytes.u64(184, 1).sum_header()
        => "Field { field: \"end of the current generation\", found: 1, expected: 0 }", "must be 0";
    an_end_max: Rotating, small_rotating, |bytes| bytes.u64(176, 1).u64(184, u64::MAX).sum_header()
        => "Range { field: \"end of the current generation\"", "must be";
    a_field_behind_the_record_of_a_window: Rotating, small_rotating, |bytes| bytes.u64(192, 1).sum_header()
        => "NotZero { offset: 192 }", "offset 192";
    a_bit_of_the_spare_generation: Rotating, small_rotating, |bytes| {
        let spare = (number(&bytes.0, 160) + 1) % 4;
        bytes.put(4096 + 64 + 8 * spare as usize, [1]).sum_all()
    } => "SpareBits { line: 1 }", "line 1";
    another_spare_generation: Rotating, small_rotating, |bytes| {
        let rotations = number(&bytes.0, 160);
        bytes.u64(160, rotations + 2).sum_header()
    } => "SpareBits", "that no item can set";
    window_max: Rotating, small_rotating, |bytes| bytes.u64(88, u64::MAX - 511).u64(152, 16).sum_header()
        => "Sizes(TooLarge)", "2^64";
    live_window: Rotating, small_rotating, |bytes| bytes.u32(20, 1).sum_header() => "LiveKind", "processes cannot share";
    // A cuckoo filter that grows: its sizes,
    a_record_of_another_kind: Bloom, small_bloom, |bytes| bytes.u64(152, 4).sum_header()
        => "NotZero { offset: 152 }", "offset 152";
    a_field_behind_the_record: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(176, 1 << 8).sum_header()
        => "NotZero { offset: 177 }", "offset 177";
    a_fixed_filter_with_the_layout_of_growth: Cuckoo, small_cuckoo, |bytes| bytes.u32(24, 7).sum_header()
        => "Field { field: \"slots\", found: 5, expected: 0 }", "slots";
    a_growing_filter_with_a_fixed_layout: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(24, 3).sum_header()
        => "Sizes(Shape { slots: 0, fingerprint_bits: 21 })", "0 slots";
    a_bloom_filter_with_the_layout_of_growth: Bloom, small_bloom, |bytes| bytes.u32(24, 7).sum_header()
        => "Field { field: \"layout\", found: 7, expected: 1 }", "layout";
    slots_of_growth: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(96, 2).sum_header()
        => "Field { field: \"slots\", found: 2, expected: 0 }", "slots is 2";
    fingerprints_too_narrow_for_the_doublings: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(100, 11).sum_header()
        => "Range { field: \"fingerprint bits\", found: 11, min: 12, max: 31 }", "it must be from 12 to 31";
    fingerprints_too_wide_for_the_bucket: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(100, 32).sum_header()
        => "Range { field: \"fingerprint bits\", found: 32", "32";
    fingerprints_max: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(100, u32::MAX).sum_header()
        => "Range { field: \"fingerprint bits\"", "fingerprint bits";
    fingerprints_too_wide_for_pairs: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(160, 128).u32(100, 43).sum_header()
        => "Range { field: \"fingerprint bits\", found: 43, min: 12, max: 42 }", "43";
    no_doubling: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(152, 0).sum_header()
        => "Range { field: \"doublings\", found: 0, min: 1, max: 34 }", "doublings is 0";
    doublings_35: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(152, 35).sum_header()
        => "Range { field: \"doublings\", found: 35", "from 1 to 34";
    doublings_max: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(152, u64::MAX).sum_header()
        => "Range { field: \"doublings\"", "doublings";
    doublings_in_the_upper_half: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(152, 4 | 1 << 32).sum_header()
        => "Range { field: \"doublings\"", "doublings";
    buckets_of_32_bits: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(160, 32).sum_header()
        => "Field { field: \"bits of a bucket\", found: 32, expected: 64 }", "bits of a bucket is 32";
    buckets_of_no_bits: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(160, 0).sum_header()
        => "Field { field: \"bits of a bucket\", found: 0", "must be 64";
    bits_of_a_bucket_in_the_upper_half: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(160, 64 | 1 << 32).sum_header()
        => "Field { field: \"bits of a bucket\"", "must be 64";
    first_buckets_0: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(88, 0).sum_header()
        => "Buckets { found: 0 }", "never has 0 buckets";
    first_buckets_12: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(88, 12).sum_header()
        => "Buckets { found: 12 }", "12 buckets";
    first_buckets_whose_last_are_too_many: Cuckoo, small_growing_cuckoo, |bytes| {
        bytes.u64(88, (1 << 52) + 8).u64(168, (1 << 52) + 8).sum_header()
    } => "Buckets { found: 4503599627370504 }", "never has";
    first_buckets_max: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(88, u64::MAX - 7).sum_header()
        => "Buckets", "never has";
    fewer_buckets_than_the_first: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, 8).sum_header()
        => "Buckets { found: 8 }", "8 buckets";
    no_buckets: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, 0).sum_header()
        => "Buckets { found: 0 }", "0 buckets";
    a_part_of_a_line_of_buckets: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, 28).sum_header()
        => "Buckets { found: 28 }", "28 buckets";
    more_buckets_than_the_last: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, 264).sum_header()
        => "Buckets { found: 264 }", "264 buckets";
    buckets_of_growth_max: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, u64::MAX).sum_header()
        => "Buckets", "never has";
    buckets_of_a_longer_body: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(168, 32).sum_header()
        => "Field { field: \"body length\", found: 192, expected: 256 }", "body length";
    first_buckets_of_the_same_body: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(88, 8).sum_header()
        => "SpareBits", "that no item can set";
    items_above_the_slots_of_growth: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(112, 24 * 7 + 1).sum_header()
        => "Items { found: 169, slots: 168 }", "168 slots";
    one_item_more_of_growth: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(112, 31).sum_header()
        => "ItemCount { found: 31, expected: 30 }", "says 31 items; the body holds 30";
    capacity_0_of_growth: Cuckoo, small_growing_cuckoo, |bytes| bytes.u64(104, 0).sum_header()
        => "Capacity { found: 0 }", "at least 1";
    live_growing_cuckoo: Cuckoo, small_growing_cuckoo, |bytes| bytes.u32(20, 1).sum_header()
        => "LiveLocks { kind: Cuckoo }", "needs locks";
    // and its buckets: of the first level (2 slots of 31 bits) in the places 8 to 15, of the next
    // one (3 of 20 bits) in the others.
    the_tag_of_no_bucket: Cuckoo, small_growing_cuckoo, |bytes| tagged(bytes, 8, 0) => "SpareBits { line: 1 }", "line 1";
    the_tag_of_a_later_level: Cuckoo, small_growing_cuckoo, |bytes| tagged(bytes, 8, 2) => "SpareBits { line: 1 }", "line 1";
    the_tag_of_a_split: Cuckoo, small_growing_cuckoo, |bytes| tagged(bytes, 8, 3) => "SpareBits { line: 1 }", "line 1";
    the_tag_of_an_earlier_level: Cuckoo, small_growing_cuckoo, |bytes| tagged(bytes, 16, 1) => "SpareBits { line: 2 }", "line 2";
    a_spare_bit_below_the_tag: Cuckoo, small_growing_cuckoo, |bytes| {
        let byte = bytes.0[4096 + 7];
        bytes.put(4096 + 7, [byte | 0x10]).sum_all()
    } => "SpareBits { line: 0 }", "line 0";
    a_number_above_the_fingerprints: Cuckoo, small_growing_cuckoo, |bytes| slot_of_8(bytes, 1 << 21)
        => "SpareBits { line: 1 }", "line 1";
    a_number_below_the_fingerprints: Cuckoo, small_growing_cuckoo, |bytes| slot_of_8(bytes, (1 << 4) - 1)
        => "SpareBits { line: 1 }", "line 1";
    // Live files.
    live_cuckoo: Cuckoo, small_cuckoo, |bytes| bytes.u32(20, 1).sum_header() => "LiveLocks { kind: Cuckoo }", "needs locks";
    live_with_locks: Once, small_once, |bytes| bytes.u32(20, 1).sum_header() => "LiveLocks { kind: OnceBloom }", "needs locks";
    live_with_checksums: Bloom, small_bloom, |bytes| bytes.u32(20, 1).sum_header()
        => "Field { field: \"checksum of the checksums\"", "checksum of the checksums";
}

/// A live file with a table is refused when its table is read. A loader takes the most rotations
/// that a header may have. The filter is empty, so any of its slots may be the spare one.
#[test]
fn the_most_rotations() {
    let filter = small_rotating();
    filter.clear();
    let bytes = Bytes::of(&filter).u64(160, (1 << 55) - 1).sum_header();
    let filter = read::<Rotating>(&bytes.0[..]).unwrap();
    assert_eq!(filter.rotations(), (1 << 55) - 1);
    // One that has rotated on is saved as a filter that loads.
    (0..70).for_each(|item| _ = filter.insert(&item));
    assert!(filter.rotations() >= 1 << 55);
    let again = read::<Rotating>(&bytes_of(&filter)[..]).unwrap();
    assert!((0..70).all(|item| again.contains(&item) == filter.contains(&item)));
    let slots = 4;
    assert_eq!(again.rotations() % slots, filter.rotations() % slots);
}

/// A slice with the most items that a file may have, in a filter that cannot grow, counts more.
#[test]
fn the_most_items_of_a_slice() {
    let bytes = Bytes::of(&small_scalable()).u64(4096 + 64 + 24, 1 << 62).u64(160, 192).sum_all();
    let filter = read::<Scalable>(&bytes.0[..]).unwrap();
    (100..150).for_each(|item| _ = filter.insert(&item));
    let again = read::<Scalable>(&bytes_of(&filter)[..]).unwrap();
    assert!((100..150).all(|item| again.contains(&item)));
}

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
    let options = Options::new().normalization(Normalization::new("url-v1").unwrap());
    let error = options.read::<Once>(&bytes[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the items in the file have no normalization, and here they have the normalization `url-v1`"
    );
}

#[test]
fn a_merge_of_other_sizes_or_another_seed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let target = small_bloom();
    let before = bytes_of(&target);
    let merge = |bytes: Vec<u8>| {
        fs::write(file.path(), bytes).unwrap();
        Options::new().merge_from(&target, file.path())
    };
    let other = |bits, seed| {
        let builder = BloomFilter::<u64>::builder().bits(bits).probes(7);
        bytes_of(&builder.hasher(Rapid::with_seed(seed)).build().unwrap())
    };
    assert!(matches!(merge(other(998, 1)), Err(LoadError::OtherSizes)));
    assert!(matches!(merge(other(999, 2)), Err(LoadError::OtherHash)));
    assert!(matches!(merge(bytes_of(&small_once())), Err(LoadError::OtherKind { .. })));
    assert!(merge(other(999, 1)).is_ok());
    assert!(bytes_of(&target) == before);
}

#[test]
fn names_of_normalizations() {
    for name in ["", " ", "~", "a b", "url-v1", &"x".repeat(32)] {
        assert_eq!(Normalization::new(name).unwrap().name(), name);
    }
    for (name, error) in [
        ("\x1F", "the normalization contains '\\u{1f}'; only printable ASCII is possible"),
        ("a\x7F", "the normalization contains '\\u{7f}'; only printable ASCII is possible"),
        ("\0", "the normalization contains '\\0'; only printable ASCII is possible"),
        (&"x".repeat(33), "the normalization has 33 bytes; at most 32 are possible"),
    ] {
        assert_eq!(Normalization::new(name).unwrap_err().to_string(), error);
    }
}

/// An error of the reader is passed on.
#[test]
fn an_error_of_the_stream() {
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
    let mapped = tamis_formats::map::<CuckooFilter<u64, SipHash13>>(crate::common::map_file(
        &folder.path().join("file"),
    ));
    let text = format!("{:?}", mapped.unwrap());
    assert!(!text.contains("48, 49") && !text.contains("key"), "{text}");
}
