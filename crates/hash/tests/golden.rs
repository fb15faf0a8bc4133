//! Golden values: the algorithms by their published vectors, the splits by ours.

use tamis_hash::{HashItem, Rapid, SipHash13, Xxh3, Xxh64, split};

/// Vectors of the xxHash specification and its reference implementation.
#[test]
fn xxhash_matches_its_published_vectors() {
    for (bytes, xxh64, xxh3) in [
        (&b""[..], 0xEF46_DB37_51D8_E999, 0x2D06_8005_38D3_94C2),
        (b"a", 0xD24E_C4F1_A98C_6E5B, 0xE6C6_32B6_1E96_4E1F),
        (b"abc", 0x44BC_2CF5_AD77_0999, 0x78AF_5F94_892F_3950),
    ] {
        assert_eq!(Xxh64::with_seed(0).hash_bytes(bytes), xxh64);
        assert_eq!(Xxh3::with_seed(0).hash_bytes(bytes), xxh3);
    }
}

/// Vectors of the reference implementation for 1 and 3 rounds: key 00..0f, input 00..n.
#[test]
fn siphash_matches_its_published_vectors() {
    let key: [u8; 16] = core::array::from_fn(|i| i as u8);
    let hasher = SipHash13::with_key(key);
    let input: Vec<u8> = (0..4).collect();
    let expected = [
        [0xdc, 0xc4, 0x0f, 0x05, 0x58, 0x01, 0xac, 0xab],
        [0x93, 0xca, 0x57, 0x7d, 0xf3, 0x9b, 0xf4, 0xc9],
        [0x4d, 0xd4, 0xc7, 0x4d, 0x02, 0x9b, 0xcb, 0x82],
        [0xfb, 0xf7, 0xdd, 0xe7, 0xb8, 0x0a, 0xf8, 0x8b],
    ];
    for (len, expected) in expected.into_iter().enumerate() {
        assert_eq!(hasher.hash_bytes(&input[..len]).to_le_bytes(), expected, "{len} bytes");
    }
}

/// rapidhash v3 as its crate promises it for good; pinned when it was taken in.
#[test]
fn rapidhash_is_pinned() {
    let rapid = Rapid::with_seed(0);
    assert_eq!(rapid.hash_bytes(b""), 9_803_252_772_108_305_337);
    assert_eq!(rapid.hash_bytes(b"a"), 5_797_680_245_665_467_775);
    assert_eq!(rapid.hash_bytes(b"https://example.org/"), 2_282_496_334_554_250_918);
}

/// What an item's place, shard, pattern and fingerprint are may never change: saved filters hold it.
#[test]
fn splits_are_pinned() {
    let hash = 0x0123_4567_89AB_CDEF;
    assert_eq!(split::place(hash, 3 << 29), 7158278);
    assert_eq!(split::shard(hash, 64), 0x89AB_CDEF >> 26);
    assert_eq!(split::pattern(hash), 0xC27A443D5FF218E);
    assert_eq!(split::next_pattern(split::pattern(hash)), 0xF3EB2916EBEE19A6);
    assert_eq!(split::fingerprint(hash, 16), 3112);
}

/// A stable hasher hashes the portable encoding and nothing else.
#[test]
fn items_hash_as_their_encoding() {
    let hasher = Xxh3::with_seed(9);
    assert_eq!(hasher.hash_item("abc"), hasher.hash_bytes(b"abc"));
    assert_eq!(hasher.hash_item(&String::from("abc")), hasher.hash_bytes(b"abc"));
    assert_eq!(hasher.hash_item(&b"abc"[..]), hasher.hash_bytes(b"abc"));
    assert_eq!(hasher.hash_item(&0x0102_u16), hasher.hash_bytes(&[2, 1]));
    assert_eq!(hasher.hash_item(&7_usize), hasher.hash_item(&7_u64));
    assert_eq!(hasher.hash_item(&-1_isize), hasher.hash_bytes(&[0xFF; 8]));
    assert_eq!(hasher.hash_item(&'é'), hasher.hash_bytes(&[0xE9, 0, 0, 0]));
    assert_eq!(
        hasher.hash_item(&("ab", 1_u8)),
        hasher.hash_bytes(&[2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', 1])
    );
}
