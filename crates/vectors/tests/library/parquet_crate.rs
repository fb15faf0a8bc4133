//! Parquet: byte by byte as the filter of the crate `parquet`, of which Arrow is made. Its inserts
//! hash, so hashing is on both sides.

use parquet::bloom_filter::Sbbf;
use parquet::data_type::{AsBytes, ByteArray, FixedLenByteArray, Int96};
use tamis_formats::foreign::{AnyFilter, Format, Key, convert, read};

/// The values of each type.
const VALUES: u64 = 1_000_000;

/// 2^16 blocks, so that the other filter can be folded.
const BYTES: usize = 32 << 16;

fn bits_of(value: u64) -> u64 {
    value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) ^ value
}

/// Returns a number of bytes that depends on the value, and is at most 40.
fn bytes_of(value: u64) -> Vec<u8> {
    let all: Vec<u8> = (0..5).flat_map(|part| bits_of(value ^ part << 40).to_le_bytes()).collect();
    all[..value as usize % 41].to_vec()
}

/// Reads a filter with its header.
fn read_header(bytes: &[u8]) -> AnyFilter {
    read(&[Format::ParquetHeader], bytes, None).unwrap()
}

fn written(filter: &Sbbf) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write(&mut bytes).unwrap();
    bytes
}

/// Inserts values into both filters, and compares them before and after folding.
fn check<T: AsBytes>(what: &str, mut value: impl FnMut(u64) -> T, key: fn(&T) -> Key<'_>) {
    let mut theirs = Sbbf::new(&vec![0; BYTES]);
    let empty = read(&[Format::ParquetBitset], &vec![0; BYTES], None).unwrap();
    let mut ours = convert(&*empty, Format::ParquetHeader).unwrap();
    for value in (0..VALUES).map(&mut value) {
        theirs.insert(&value);
        ours.insert(key(&value)).unwrap();
    }
    assert!(ours.to_bytes() == written(&theirs), "{what}");

    // Each reads what the other wrote, and answers alike, hits and false positives.
    let read = Sbbf::from_bytes(&ours.to_bytes()).unwrap();
    let mut read_by_us = read_header(&written(&theirs));
    for value in (0..VALUES + 10_000).step_by(37).map(&mut value) {
        let answer = read_by_us.contains(key(&value)).unwrap();
        assert_eq!(answer, read.check(&value), "{what}");
    }

    // The factor that the crate chooses for a rate, which it computes otherwise.
    theirs.fold_to_target_fpp(0.3);
    let factor = (BYTES / 32 / theirs.num_blocks()) as u64;
    assert!(factor > 1, "{what}");
    let rate = read_header(&written(&theirs));
    assert_eq!(read_by_us.fold_to(rate.false_positive_rate()), factor, "{what}");
    assert!(read_by_us.to_bytes() == written(&theirs), "{what}, folded by {factor}");
}

#[test]
fn filters_of_all_types_are_those_of_the_crate_parquet() {
    check("i32", |value| bits_of(value) as i32, |value| Key::I32(*value));
    check("i64", |value| bits_of(value) as i64, |value| Key::I64(*value));
    let int96 = |value| {
        let mut number = Int96::new();
        number.set_data(bits_of(value) as u32, value as u32, 2_440_588);
        number
    };
    check("int96", int96, |value| Key::Bytes(value.as_bytes()));
    check("float", |value| bits_of(value) as f32, |value| Key::Bytes(value.as_bytes()));
    check("double", |value| bits_of(value) as f64, |value| Key::Bytes(value.as_bytes()));
    let array = |value| ByteArray::from(bytes_of(value));
    check("byte array", array, |value| Key::Bytes(value.as_bytes()));
    let fixed =
        |value| FixedLenByteArray::from([bits_of(value), value].map(u64::to_le_bytes).concat());
    check("fixed byte array", fixed, |value| Key::Bytes(value.as_bytes()));
    let text = |value| ByteArray::from(format!("value {value}").as_str());
    check("text", text, |value| Key::Text(value.as_utf8().unwrap()));
}
