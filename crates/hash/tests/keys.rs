//! Tests the keys of the stable hashers: their bytes never change, and a hasher made from its key
//! hashes the same.

use proptest::prelude::*;
use tamis_hash::{
    Algorithm, AnyStable, HashItem, ItemHasher, Rapid, SipHash13, StableHasher, Xxh3, Xxh64,
};

const SEED: u64 = 0x0123_4567_89AB_CDEF;

/// [`SEED`] as a key.
const SEED_KEY: [u8; 16] = [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn names_never_change() {
    let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    assert_eq!(names, ["rapidhash-v3", "xxh3-64", "xxh64", "siphash-1-3"]);
}

#[test]
fn keys_never_change() {
    assert_eq!(Rapid::with_seed(SEED).key(), SEED_KEY);
    assert_eq!(Xxh3::with_seed(SEED).key(), SEED_KEY);
    assert_eq!(Xxh64::with_seed(SEED).key(), SEED_KEY);
    assert_eq!(Rapid::with_seed(0).key(), [0; 16]);
    assert_eq!(SipHash13::with_key(*b"0123456789abcdef").key(), *b"0123456789abcdef");
}

/// The values are those of `golden.rs`, which come from other implementations.
#[test]
fn a_key_selects_the_published_hash() {
    let hash = |algorithm, key| AnyStable::from_key(algorithm, key).unwrap().hash_bytes(b"a");
    assert_eq!(hash(Algorithm::Xxh64, [0; 16]), 0xD24E_C4F1_A98C_6E5B);
    assert_eq!(hash(Algorithm::Xxh3, [0; 16]), 0xE6C6_32B6_1E96_4E1F);
    let rapid = AnyStable::from_key(Algorithm::Rapid, [0; 16]).unwrap();
    assert_eq!(rapid.hash_bytes(b"https://example.org/"), 12_953_998_703_629_722_894);
    let sip = AnyStable::from_key(Algorithm::SipHash13, core::array::from_fn(|i| i as u8)).unwrap();
    assert_eq!(
        sip.hash_bytes(&[0]).to_le_bytes(),
        [0x93, 0xca, 0x57, 0x7d, 0xf3, 0x9b, 0xf4, 0xc9]
    );
}

/// Makes a hasher from the key of `hasher` and compares the two; also the same hasher of the type
/// for any algorithm.
fn check_round_trip<H>(hasher: &H, bytes: &[u8])
where
    H: StableHasher + HashItem<[u8]> + Into<AnyStable>,
{
    let (algorithm, key) = (hasher.algorithm(), hasher.key());
    let same = H::from_key(algorithm, key).unwrap();
    let any = AnyStable::from_key(algorithm, key).unwrap();
    let converted: AnyStable = hasher.clone().into();
    assert_eq!((same.algorithm(), same.key()), (algorithm, key));
    assert_eq!(same.hash_bytes(bytes), hasher.hash_bytes(bytes));
    assert_eq!(same.hash_probe(), hasher.hash_probe());
    for any in [any, converted] {
        assert_eq!((any.algorithm(), any.key()), (algorithm, key));
        assert_eq!(StableHasher::hash_bytes(&any, bytes), hasher.hash_bytes(bytes));
        assert_eq!(any.hash_item(bytes), hasher.hash_item(bytes));
        assert_eq!(any.hash_probe(), hasher.hash_probe());
    }
    // The type has one algorithm.
    for &other in Algorithm::ALL {
        assert_eq!(H::from_key(other, key).is_some(), other == algorithm);
    }
}

proptest! {
    #[test]
    fn a_hasher_made_from_a_key_hashes_the_same(
        seed: u64,
        key: [u8; 16],
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        check_round_trip(&Rapid::with_seed(seed), &bytes);
        check_round_trip(&Xxh3::with_seed(seed), &bytes);
        check_round_trip(&Xxh64::with_seed(seed), &bytes);
        check_round_trip(&SipHash13::with_key(key), &bytes);
    }
}

#[test]
fn a_nonzero_second_half_of_a_seed_is_refused() {
    for byte in 8..16 {
        let mut key = SEED_KEY;
        key[byte] = 1;
        assert!(Rapid::from_key(Algorithm::Rapid, key).is_none());
        assert!(Xxh3::from_key(Algorithm::Xxh3, key).is_none());
        assert!(Xxh64::from_key(Algorithm::Xxh64, key).is_none());
        for &algorithm in Algorithm::ALL {
            // SipHash-1-3 uses all 16 bytes.
            let expected = algorithm == Algorithm::SipHash13;
            assert_eq!(AnyStable::from_key(algorithm, key).is_some(), expected);
        }
    }
}

#[test]
fn debug_prints_no_key() {
    assert_eq!(format!("{:?}", Rapid::with_seed(SEED)), "Rapid { .. }");
    assert_eq!(format!("{:?}", Xxh3::with_seed(SEED)), "Xxh3 { .. }");
    assert_eq!(format!("{:?}", Xxh64::with_seed(SEED)), "Xxh64 { .. }");
    assert_eq!(format!("{:?}", SipHash13::with_key([0xAB; 16])), "SipHash13 { .. }");
    for &algorithm in Algorithm::ALL {
        let any = AnyStable::from_key(algorithm, SEED_KEY).unwrap();
        assert_eq!(format!("{any:?}"), format!("AnyStable {{ algorithm: {algorithm:?}, .. }}"));
    }
}
