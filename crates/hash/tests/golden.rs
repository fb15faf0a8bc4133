//! Golden values: published vectors pin the algorithms, our own values pin the splits.

use tamis_hash::{HashItem, Rapid, SipHash13, Xxh3, Xxh64, split};

/// Vectors from the xxHash specification and its reference implementation.
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

/// A length, and XXH64 and XXH3-64 of the first bytes of [`bytes`] with [`SEED`]. Computed with
/// python-xxhash 3, which wraps the reference implementation: one length for each of its code
/// paths.
const XXHASH: [(usize, u64, u64); 12] = [
    (1, 0xE1B6_C2CE_A061_F466, 0xD273_6045_B9A2_490D),
    (4, 0xE159_FBB4_F765_79D5, 0x28D9_9F64_FC66_E532),
    (8, 0xB858_9D79_06C1_F42A, 0xCB86_EF9E_9367_0A9C),
    (9, 0x015A_6FC2_6129_EACC, 0x5AC5_58FC_8114_3731),
    (16, 0x58DF_71EE_EDB1_5A87, 0x1585_8679_E82E_B84B),
    (17, 0x802D_A211_7D74_949F, 0x389C_A397_5C0B_4BD0),
    (32, 0x201F_B69D_4EE0_EE47, 0xE995_EB61_991F_6724),
    (128, 0xCE70_6E36_ACBD_203D, 0x512B_0E9E_1405_0CDB),
    (129, 0x2BB6_5999_18FB_92C5, 0x0479_9DFF_B66B_5964),
    (240, 0x96E1_B34B_0180_568C, 0x3A61_4088_9D4A_E6A9),
    (241, 0x133F_4793_E723_1098, 0xF911_7AD0_3E15_17C7),
    (1000, 0x59BA_E0B1_C3F3_4F88, 0xFC3C_E233_F52A_3A2F),
];

const SEED: u64 = 0x0123_4567_89AB_CDEF;

fn bytes() -> Vec<u8> {
    (0..1000_u32).map(|i| (i * 7 + 1) as u8).collect()
}

#[test]
fn xxhash_matches_the_reference_at_every_length_class() {
    let bytes = bytes();
    for (len, xxh64, xxh3) in XXHASH {
        assert_eq!(Xxh64::with_seed(SEED).hash_bytes(&bytes[..len]), xxh64, "{len} bytes");
        assert_eq!(Xxh3::with_seed(SEED).hash_bytes(&bytes[..len]), xxh3, "{len} bytes");
    }
}

/// Vectors from the reference implementation with 1 and 3 rounds: key 00..0f, input 00..n.
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

/// Values of rapidhash v3 from a program written after the reference: one length for each of its
/// code paths, folded into one value per seed.
#[test]
fn rapidhash_matches_the_reference_at_every_length_class() {
    assert_eq!(Rapid::with_seed(0).hash_bytes(b"https://example.org/"), 12_953_998_703_629_722_894);
    let bytes = bytes();
    let folded = |seed| {
        let lengths = [0, 1, 3, 4, 7, 8, 16, 17, 32, 48, 64, 112, 113, 224, 225, 1000];
        lengths.iter().fold(0_u64, |sum, &len| {
            sum.rotate_left(7) ^ Rapid::with_seed(seed).hash_bytes(&bytes[..len])
        })
    };
    assert_eq!((folded(0), folded(SEED)), (12_127_626_526_724_296_338, 2_369_526_408_638_625_978));
}

/// An item's place, shard, pattern and fingerprint must never change: saved filters depend on them.
#[test]
fn splits_never_change() {
    let hash = 0x0123_4567_89AB_CDEF;
    assert_eq!(split::place(hash, 3 << 29), 7158278);
    assert_eq!(split::shard(hash, 64), 0x89AB_CDEF >> 26);
    assert_eq!(split::pattern(hash), 0x1296FD1B44A51328);
    assert_eq!(split::next_pattern(split::pattern(hash)), 0x54A693DD7B467E48);
    assert_eq!(split::fingerprint(hash, 16), 4759);
}

/// A stable hasher hashes the portable encoding of an item and nothing else.
#[test]
fn an_item_hashes_as_its_encoding() {
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
