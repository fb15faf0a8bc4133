//! Tests of what is refused: fields of headers, sizes, types of keys.

use super::bits_and_blooms::BitsAndBloomsFilter;
use super::datasketches::DataSketchesFilter;
use super::guava::{GuavaFilter, GuavaStrategy};
use super::hadoop::{HadoopFilter, HadoopHash};
use super::hadoop_counting::HadoopCountingFilter;
use super::orc::OrcFilter;
use super::pybloom::PybloomFilter;
use super::pybloom_scalable::PybloomScalableFilter;
use super::rbloom::RbloomFilter;
use super::spark::{SparkFilter, SparkVersion};
use super::*;

const BYTES: Key<'_> = Key::Bytes(b"key");
const TEXT: Key<'_> = Key::Text("key");
const I32: Key<'_> = Key::I32(7);
const I64: Key<'_> = Key::I64(7);

type Read = fn(&[u8]) -> Result<Box<dyn Filter>, Error>;

/// A system: the bytes of a small filter, and the types of its keys.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    read: Read,
    keys: &'static [Key<'static>],
}

macro_rules! case {
    ($filter:ident::$make:ident($($of:expr),*), $keys:expr) => {
        Case {
            name: stringify!($filter),
            bytes: $filter::$make($($of),*).unwrap().to_bytes(),
            read: |bytes| Ok(Box::new($filter::from_bytes(bytes)?)),
            keys: $keys,
        }
    };
}

fn cases() -> Vec<Case> {
    const ALL: &[Key<'_>] = &[BYTES, TEXT, I32, I64];
    const STRINGS: &[Key<'_>] = &[BYTES, TEXT];
    vec![
        case!(BitsAndBloomsFilter::with_size(100, 3), STRINGS),
        case!(DataSketchesFilter::with_size(100, 3, 1), ALL),
        case!(GuavaFilter::new(GuavaStrategy::Mitz64, 10, 0.1), ALL),
        case!(HadoopFilter::new(100, 3, HadoopHash::Murmur), STRINGS),
        case!(HadoopCountingFilter::new(100, 3, HadoopHash::Murmur), STRINGS),
        case!(OrcFilter::new(10, 0.1), ALL),
        case!(PybloomFilter::new(10, 0.1), &[TEXT]),
        case!(PybloomScalableFilter::new(10, 0.1, 2), &[TEXT]),
        case!(RbloomFilter::new(10, 0.1), STRINGS),
        case!(SparkFilter::new(SparkVersion::V1, 10, 0.1), ALL),
        case!(SparkFilter::new(SparkVersion::V2 { seed: 7 }, 10, 0.1), ALL),
    ]
}

#[test]
fn a_system_has_the_keys_of_its_types() {
    for case in cases() {
        let mut filter = (case.read)(&case.bytes).unwrap();
        for key in [BYTES, TEXT, I32, I64] {
            if case.keys.contains(&key) {
                assert_eq!(filter.insert(key), Ok(true), "{}: {key:?}", case.name);
                assert_eq!(filter.contains(key), Ok(true), "{}: {key:?}", case.name);
                filter = (case.read)(&case.bytes).unwrap();
            } else {
                let error = Err(Error::Key { found: key.key_type() });
                assert_eq!(filter.contains(key), error, "{}: {key:?}", case.name);
                assert_eq!(filter.insert(key), error, "{}: {key:?}", case.name);
                assert_eq!(filter.to_bytes(), case.bytes, "{}: {key:?}", case.name);
            }
        }
    }
}

/// Java widens an `int` for a parameter that is a `long`.
#[test]
fn spark_orc_and_datasketches_have_no_keys_of_32_bits_of_their_own() {
    for case in cases() {
        if ["SparkFilter", "OrcFilter", "DataSketchesFilter"].contains(&case.name) {
            let mut filter = (case.read)(&case.bytes).unwrap();
            filter.insert(Key::I32(-7)).unwrap();
            assert_eq!(filter.insert(Key::I64(-7)), Ok(false), "{}", case.name);
        }
    }
}

/// Writes some bytes into a filter, and returns why it is refused.
fn refused(case: &Case, at: usize, field: &[u8]) -> Error {
    let mut bytes = case.bytes.clone();
    bytes[at..at + field.len()].copy_from_slice(field);
    (case.read)(&bytes).err().unwrap_or_else(|| panic!("{}: {at}: not refused", case.name))
}

/// The fields of [`Error::Field`]: the field, what was found, the least and the greatest value.
type Report = (&'static str, i64, i64, i64);

#[test]
fn fields_out_of_range_are_refused() {
    const ANY: i64 = i64::MAX;
    const MAX: i64 = i32::MAX as i64;
    let nan = f64::NAN.to_le_bytes();
    let wide = u64::MAX.to_be_bytes();
    // The filter, where the field starts, its bytes, and what the error reports.
    let fields: [(&str, usize, &[u8], Report); 36] = [
        ("BitsAndBloomsFilter", 0, &[0; 8], ("the number of bits", 0, 1, ANY - 1)),
        ("BitsAndBloomsFilter", 0, &wide, ("the number of bits", ANY, 1, ANY - 1)),
        ("BitsAndBloomsFilter", 8, &[0; 8], ("the number of hash functions", 0, 1, 65536)),
        ("BitsAndBloomsFilter", 8, &wide, ("the number of hash functions", ANY, 1, 65536)),
        ("BitsAndBloomsFilter", 23, &[99], ("the length of the set of bits", 99, 100, 100)),
        ("DataSketchesFilter", 0, &[4], ("the length of the preamble", 4, 3, 3)),
        ("DataSketchesFilter", 1, &[2], ("the version", 2, 1, 1)),
        ("DataSketchesFilter", 2, &[20], ("the family", 20, 21, 21)),
        ("DataSketchesFilter", 3, &[5], ("the flags", 5, 0, 0)),
        ("DataSketchesFilter", 3, &[0], ("the length of the preamble", 3, 4, 4)),
        ("DataSketchesFilter", 4, &[0, 0], ("the number of hash functions", 0, 1, 32767)),
        ("DataSketchesFilter", 4, &[0, 0x80], ("the number of hash functions", 32768, 1, 32767)),
        ("DataSketchesFilter", 6, &[1], ("an unused field", 1, 0, 0)),
        ("DataSketchesFilter", 16, &[0; 4], ("the number of words", 0, 1, MAX - 4)),
        ("DataSketchesFilter", 16, &[255; 4], ("the number of words", -1, 1, MAX - 4)),
        ("DataSketchesFilter", 20, &[1], ("an unused field", 1, 0, 0)),
        ("HadoopFilter", 0, &[0, 0, 0, 3], ("the version", 3, -1, -1)),
        ("HadoopFilter", 4, &[0; 4], ("the number of hash functions", 0, 1, 65536)),
        ("HadoopFilter", 4, &[255; 4], ("the number of hash functions", -1, 1, 65536)),
        ("HadoopFilter", 8, &[255], ("the type of the hash", -1, 0, 1)),
        ("HadoopFilter", 9, &[0; 4], ("the size", 0, 1, MAX - 7)),
        ("HadoopCountingFilter", 9, &[127, 255, 255, 255], ("the size", MAX, 1, MAX - 7)),
        ("OrcFilter", 0, &[0x10], ("the tag of a field", 0x10, 8, 8)),
        ("OrcFilter", 1, &[0], ("the number of hash functions", 0, 1, 65536)),
        ("OrcFilter", 2, &[0x12], ("the tag of a field", 0x12, 0x1a, 0x1a)),
        ("OrcFilter", 3, &[0], ("the number of bytes", 0, 8, 8 * (MAX / 64))),
        ("OrcFilter", 3, &[7], ("the number of bytes", 7, 8, 8 * (MAX / 64))),
        ("OrcFilter", 3, &[9], ("the number of bytes after whole words", 1, 0, 0)),
        ("OrcFilter", 3, &[0x88, 0], ("the last byte of a varint", 0, 1, 127)),
        ("OrcFilter", 3, &[255; 6], ("the length of a varint", 6, 1, 5)),
        ("PybloomFilter", 8, &[0; 8], ("the number of slices", 0, 1, 1074)),
        ("PybloomFilter", 16, &[0; 8], ("the number of bits per slice", 0, 1, ANY - 1)),
        ("PybloomScalableFilter", 0, &[0; 4], ("the scale", 0, 1, 64)),
        ("PybloomScalableFilter", 28, &[255; 4], ("the number of filters", -1, 0, MAX)),
        ("RbloomFilter", 0, &wide, ("the number of hash functions", ANY, 0, 65536)),
        ("SparkFilter", 0, &[0, 0, 0, 3], ("the version", 3, 1, 2)),
    ];
    let cases = cases();
    let case = |name| cases.iter().find(|case| case.name == name).unwrap();
    for (name, at, bytes, (field, found, min, max)) in fields {
        let expected = Error::Field { field, found, min, max };
        assert_eq!(refused(case(name), at, bytes), expected, "{name}: {at}");
    }
    for spark in cases.iter().filter(|case| case.name == "SparkFilter") {
        let words = if spark.bytes[3] == 1 { 8 } else { 12 };
        let expected = Error::Field { field: "the number of words", found: 0, min: 1, max: MAX };
        assert_eq!(refused(spark, words, &[0; 4]), expected);
        let field = "the number of hash functions";
        let expected = Error::Field { field, found: -1, min: 1, max: 65536 };
        assert_eq!(refused(spark, 4, &[255; 4]), expected);
    }
    // Numbers that are not integers, and numbers that depend on each other.
    let sizes: [(&str, usize, &[u8], &str); 6] = [
        ("PybloomFilter", 0, &nan, "rate"),
        ("PybloomFilter", 24, &[0; 8], "capacity"),
        ("PybloomFilter", 24, &[11], "capacity"),
        ("PybloomScalableFilter", 4, &nan, "ratio"),
        ("PybloomScalableFilter", 4, &[0; 8], "ratio"),
        ("PybloomScalableFilter", 20, &1.0_f64.to_le_bytes(), "rate"),
    ];
    for (name, at, bytes, parameter) in sizes {
        assert_eq!(refused(case(name), at, bytes), Error::Size { parameter }, "{name}: {at}");
    }
}

/// A count of a header is compared with the bytes that are there before memory is allocated.
#[test]
fn counts_above_the_bytes_are_truncated() {
    for (name, at, count) in [
        ("BitsAndBloomsFilter", 0, [[0x7f; 8], [0, 0, 0, 0, 0, 0, 0, 1], [0x7f; 8]].concat()),
        ("GuavaFilter", 2, vec![0x7f; 4]),
        ("HadoopFilter", 9, vec![0x7f; 4]),
        ("HadoopCountingFilter", 9, vec![0x7f; 4]),
        ("OrcFilter", 3, vec![0xf8, 0xff, 0xff, 0x7f]),
        ("PybloomFilter", 16, vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        ("PybloomScalableFilter", 28, vec![0xff, 0xff, 0xff, 0x7f]),
        ("SparkFilter", 8, vec![0x7f; 4]),
    ] {
        let cases = cases();
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let error = refused(case, at, &count);
        let found = case.bytes.len() as u64;
        assert!(
            matches!(error, Error::Truncated { found: of, expected } if of == found && expected > found),
            "{name}: {error}",
        );
    }
}

/// An insert would add to a wrong count, up to one that is above the number of bits.
#[test]
fn the_set_bits_of_datasketches_are_counted() {
    let mut filter = DataSketchesFilter::with_size(64, 3, 1).unwrap();
    filter.insert(I64).unwrap();
    let bytes = filter.to_bytes();
    let set = i64::from(bytes[24]);
    assert!((1..=3).contains(&set));
    for found in [set - 1, set + 1, 64].into_iter().filter(|&found| found > 0) {
        let mut bytes = bytes.clone();
        bytes[24] = found as u8;
        let error = Error::Field { field: "the number of set bits", found, min: set, max: set };
        assert_eq!(DataSketchesFilter::from_bytes(&bytes).unwrap_err(), error);
    }
}

#[test]
fn a_filter_of_a_scalable_filter_has_its_length() {
    let mut filter = PybloomScalableFilter::new(10, 0.1, 2).unwrap();
    filter.insert(TEXT).unwrap();
    let bytes = filter.to_bytes();
    for change in [-1, 1] {
        let mut bytes = bytes.clone();
        bytes[32] = bytes[32].wrapping_add_signed(change);
        let error = PybloomScalableFilter::from_bytes(&bytes).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{change}: {error}");
    }
    // One byte too many, which the length of the filter counts or does not count.
    let longer = [&bytes[..], &[0]].concat();
    let mut counted = longer.clone();
    counted[32] += 1;
    for bytes in [longer, counted] {
        let error = PybloomScalableFilter::from_bytes(&bytes).unwrap_err();
        assert!(matches!(error, Error::Trailing { .. }), "{error}");
    }
}

#[test]
fn sizes_that_a_system_does_not_make_are_refused() {
    const V1: SparkVersion = SparkVersion::V1;
    const MURMUR: HadoopHash = HadoopHash::Murmur;
    let over = 1 << 40;
    // A key needs 10^-16 bits at this rate.
    let near_1 = 1.0 - f64::EPSILON / 2.0;
    let refusals = [
        (BitsAndBloomsFilter::new(0, 0.1).err(), "capacity"),
        (BitsAndBloomsFilter::new(u64::MAX, 0.1).err(), "capacity"),
        (BitsAndBloomsFilter::new(1, f64::NAN).err(), "rate"),
        (BitsAndBloomsFilter::with_size(1, 65537).err(), "number of hash functions"),
        (DataSketchesFilter::new(0, 0.1, 0).err(), "capacity"),
        (DataSketchesFilter::new(u64::MAX, 0.1, 0).err(), "capacity"),
        (DataSketchesFilter::new(over, 0.1, 0).err(), "number of bits"),
        (DataSketchesFilter::new(1, near_1, 0).err(), "number of bits"),
        (DataSketchesFilter::new(1, 0.0, 0).err(), "rate"),
        (DataSketchesFilter::with_size(0, 1, 0).err(), "number of bits"),
        (DataSketchesFilter::with_size(64, 0, 0).err(), "number of hash functions"),
        (DataSketchesFilter::with_size(64, 32768, 0).err(), "number of hash functions"),
        (HadoopFilter::new(0, 1, MURMUR).err(), "size"),
        (HadoopFilter::new(i32::MAX as u64, 1, MURMUR).err(), "size"),
        (HadoopFilter::new(64, 0, MURMUR).err(), "number of hash functions"),
        (HadoopCountingFilter::new(64, 65537, MURMUR).err(), "number of hash functions"),
        (OrcFilter::new(0, 0.1).err(), "capacity"),
        (OrcFilter::new(over, 0.1).err(), "capacity"),
        (OrcFilter::new(1, 1.0).err(), "rate"),
        (PybloomFilter::new(0, 0.1).err(), "capacity"),
        (PybloomFilter::new(u64::MAX, 1e-9).err(), "capacity"),
        (PybloomFilter::new(1, 1.0).err(), "rate"),
        (PybloomFilter::new(1, f64::MIN_POSITIVE / 16.0).err(), "rate"),
        (PybloomScalableFilter::new(0, 0.1, 2).err(), "capacity"),
        (PybloomScalableFilter::new(1, 1.0, 2).err(), "rate"),
        (PybloomScalableFilter::new(1, 0.1, 0).err(), "scale"),
        (PybloomScalableFilter::new(1, 0.1, 65).err(), "scale"),
        (RbloomFilter::new(0, 0.1).err(), "capacity"),
        (RbloomFilter::new(1, -0.1).err(), "rate"),
        (SparkFilter::new(V1, 0, 0.1).err(), "capacity"),
        (SparkFilter::new(V1, over, 0.1).err(), "number of bits"),
        (SparkFilter::new(V1, 1, near_1).err(), "rate"),
        (SparkFilter::with_bits(V1, 0, 64).err(), "capacity"),
        (SparkFilter::with_bits(V1, 1, 0).err(), "number of bits"),
        (SparkFilter::with_bits(V1, 1, 64 * (1 << 31)).err(), "number of bits"),
    ];
    for (row, (refusal, parameter)) in refusals.into_iter().enumerate() {
        assert_eq!(refusal, Some(Error::Size { parameter }), "row {row}");
    }
}
