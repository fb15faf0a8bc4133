//! Filters as values of serde: round trips through a format for people and a binary one, and bytes
//! that must be refused.

use std::fmt::{Debug, Display};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ciborium::Value;
use serde::{Deserialize, Serialize};
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter,
};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_formats::serde::Serde;
use tamis_formats::{LoadError, Normalization, Options, Saved, read};
use tamis_hash::{Rapid, SipHash13};

use crate::common::bytes_of;

type Blocked = BlockedBloomFilter<u64, Rapid>;

fn blocked(items: u64) -> Blocked {
    let builder = BlockedBloomFilter::<u64>::builder().capacity(100);
    let filter = builder.hasher(Rapid::with_seed(7)).build().unwrap();
    for item in 0..items {
        filter.insert(&item);
    }
    filter
}

/// Reads a filter from bytes in CBOR.
fn of_cbor<F: Saved>(bytes: &[u8]) -> Result<F, String> {
    let mut cbor = Vec::new();
    ciborium::into_writer(&Value::Bytes(bytes.to_vec()), &mut cbor).unwrap();
    let filter: Result<Serde<F>, _> = ciborium::from_reader(&cbor[..]);
    filter.map(|filter| filter.0).map_err(|error| error.to_string())
}

/// Reads a filter from bytes in JSON.
fn of_json<F: Saved>(bytes: &[u8]) -> Result<F, String> {
    of_text(&STANDARD.encode(bytes))
}

/// Reads a filter from a JSON string.
fn of_text<F: Saved>(text: &str) -> Result<F, String> {
    let filter: Result<Serde<F>, _> = serde_json::from_str(&serde_json::to_string(text).unwrap());
    filter.map(|filter| filter.0).map_err(|error| error.to_string())
}

/// Checks that both formats refuse bytes with the text of this error.
fn both_refuse<F: Saved>(bytes: &[u8], expected: impl Display) {
    let expected = expected.to_string();
    for result in [of_cbor::<F>(bytes), of_json::<F>(bytes)] {
        let error = result.err().unwrap_or_else(|| panic!("loaded; expected: {expected}"));
        assert!(error.contains(&expected), "{error:?} does not contain {expected:?}");
    }
}

#[test]
fn every_kind_survives_a_text_format_and_a_binary_one() {
    fn check<F: Saved>(filter: F) {
        let expected = bytes_of(&filter);
        let filter = Serde(filter);
        // The text is the base64 of the file, and the bytes are the file.
        let json = serde_json::to_string(&filter).unwrap();
        assert_eq!(json, format!("\"{}\"", STANDARD.encode(&expected)));
        assert!(json.starts_with("\"iVRBTUlTDQo"), "{}", &json[..20]);
        let value = Value::serialized(&filter).unwrap();
        assert!(value.as_bytes().is_some_and(|bytes| *bytes == expected));
        for again in [of_json::<F>(&expected), of_cbor(&expected)] {
            assert!(bytes_of(&again.unwrap()) == expected, "other bytes after a round trip");
        }
    }
    macro_rules! check {
        ($($type:ident $hasher:expr;)*) => {$(
            let filter = $type::<u64>::builder().capacity(100).hasher($hasher).build().unwrap();
            for item in 0..100 {
                let _ = filter.insert(&item);
            }
            check(filter);
        )*};
    }
    check! {
        BloomFilter Rapid::with_seed(1);
        BlockedBloomFilter Rapid::with_seed(2);
        OnceBloomFilter SipHash13::with_key([3; 16]);
        CuckooFilter Rapid::with_seed(4);
        OnceCuckooFilter SipHash13::with_key([5; 16]);
        ScalableBloomFilter Rapid::with_seed(6);
        OnceScalableBloomFilter Rapid::with_seed(7);
        CountingBloomFilter Rapid::with_seed(8);
        RotatingBloomFilter Rapid::with_seed(9);
    }
    check(crate::common::small_growing_cuckoo());
    check(crate::common::small_growing_once());
}

/// Base64 encodes three bytes at a time; the lengths of these files have each remainder by 3.
#[test]
fn every_form_of_padding_is_read() {
    for lines in 1..=3 {
        let builder = BlockedBloomFilter::<u64>::builder().bits(512 * lines).probes(4);
        let filter = builder.hasher(Rapid::with_seed(7)).build().unwrap();
        filter.insert(&1);
        let bytes = bytes_of(&filter);
        assert!(bytes_of(&of_json::<Blocked>(&bytes).unwrap()) == bytes);
    }
}

#[test]
fn a_field_of_a_derived_type_holds_a_filter() {
    #[derive(Serialize, Deserialize)]
    struct Segment {
        name: String,
        #[serde(with = "tamis_formats::serde")]
        keys: Blocked,
    }
    let segment = Segment { name: "0001".into(), keys: blocked(3) };
    let again: Segment = serde_json::from_str(&serde_json::to_string(&segment).unwrap()).unwrap();
    assert!(again.name == "0001" && bytes_of(&again.keys) == bytes_of(&segment.keys));
}

/// serde keeps a flattened field in a buffer that reports every format as one for people.
#[test]
fn a_flattened_field_holds_a_filter_in_every_format() {
    #[derive(Serialize, Deserialize)]
    struct Inner {
        keys: Serde<Blocked>,
    }
    #[derive(Serialize, Deserialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
    }
    let (expected, mut cbor) = (bytes_of(&blocked(3)), Vec::new());
    let outer = Outer { inner: Inner { keys: Serde(blocked(3)) } };
    ciborium::into_writer(&outer, &mut cbor).unwrap();
    let again: Outer = ciborium::from_reader(&cbor[..]).unwrap();
    assert!(bytes_of(&again.inner.keys.0) == expected);
    let again: Outer = serde_json::from_str(&serde_json::to_string(&outer).unwrap()).unwrap();
    assert!(bytes_of(&again.inner.keys.0) == expected);
}

/// The verdict of `read` on each flipped byte is also that of serde, with its text.
#[test]
fn damaged_bytes_are_refused_with_the_text_of_the_error() {
    let bytes = bytes_of(&blocked(50));
    let sampled = (0..bytes.len()).filter(|at| *at < 280 || at % 97 == 0 || *at > bytes.len() - 9);
    for at in sampled {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        let error = read::<Blocked>(&bytes[..]).unwrap_err();
        both_refuse::<Blocked>(&bytes, error);
    }
}

#[test]
fn a_wrong_length_is_refused() {
    let mut bytes = bytes_of(&blocked(50));
    let expected = bytes.len() as u64;
    for len in [0, 1, 255, 256, 4095, 4096, bytes.len() - 64, bytes.len() - 1] {
        // Less than a header is compared with the length of a header.
        let expected = if len < 256 { 256 } else { expected };
        let error = LoadError::Truncated { found: len as u64, expected };
        both_refuse::<Blocked>(&bytes[..len], error);
    }
    for _ in 0..4 {
        bytes.push(0);
        let found = bytes.len() as u64;
        both_refuse::<Blocked>(&bytes, LoadError::Trailing { found, expected });
    }
}

/// The length is compared before any memory is allocated: this filter would have 2^57 bytes.
#[test]
fn a_hostile_size_is_refused_before_it_is_allocated() {
    let mut bytes = bytes_of(&blocked(1));
    let lines = 1_u64 << 51;
    let table = 8 * (lines * 64).div_ceil(1 << 20);
    let body_offset = (256 + table).next_multiple_of(4096);
    for (at, field) in [(88, lines * 512), (120, body_offset), (128, lines * 64)] {
        bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
    }
    let checksum = twox_hash::XxHash3_64::oneshot(&bytes[..248]);
    bytes[248..256].copy_from_slice(&checksum.to_le_bytes());
    let (found, expected) = (bytes.len() as u64, body_offset + lines * 64);
    both_refuse::<Blocked>(&bytes, LoadError::Truncated { found, expected });
}

#[test]
fn text_that_is_not_canonical_base64_is_refused() {
    // 4096 + 64 bytes, 2 more than a multiple of 3.
    let builder = BlockedBloomFilter::<u64>::builder().bits(512).probes(4);
    let filter = builder.hasher(Rapid::with_seed(7)).build().unwrap();
    let text = STANDARD.encode(bytes_of(&filter));
    assert!(text.ends_with("AAA="), "the last bytes are 0");
    let without_padding = text.trim_end_matches('=');
    for wrong in [
        without_padding.to_owned(),
        format!("{text}="),
        format!("{text}===="),
        format!("{text}AAAA"),
        format!("{text} "),
        format!(" {text}"),
        text.replace("AAA=", "AAB="),
        text.replacen('A', "-", 1),
        text.replacen('A', "\n", 1),
        text.replacen('A', "é", 1),
    ] {
        let end = wrong.chars().rev().take(8).collect::<String>();
        assert!(of_text::<Blocked>(&wrong).is_err(), "loaded; the reversed end is {end:?}");
    }
    of_text::<Blocked>(&text).unwrap();
}

#[test]
fn a_value_of_another_type_is_refused() {
    for json in ["null", "7", "[137, 84]", "{}", "true"] {
        let error = serde_json::from_str::<Serde<Blocked>>(json).unwrap_err().to_string();
        assert!(error.contains("the bytes of a saved BlockedBloomFilter"), "{error}");
    }
}

#[test]
fn a_filter_of_another_type_or_normalization_is_refused() {
    let bytes = bytes_of(&blocked(1));
    both_refuse::<BloomFilter<u64, Rapid>>(
        &bytes,
        "the file holds a filter of type BlockedBloomFilter, not BloomFilter",
    );
    both_refuse::<BlockedBloomFilter<u64, SipHash13>>(&bytes, "hashes with");
    let mut bytes = Vec::new();
    let options = Options::new().normalization(Normalization::new("url-v1").unwrap());
    options.write(&blocked(1), &mut bytes).unwrap();
    both_refuse::<Blocked>(&bytes, "the normalization `url-v1`");
}

#[test]
fn the_wrapper_shows_its_filter() {
    fn shows<F: Debug>(filter: F) -> bool {
        format!("{filter:?}").starts_with("Serde(BlockedBloomFilter")
    }
    assert!(shows(Serde(blocked(1))));
}
