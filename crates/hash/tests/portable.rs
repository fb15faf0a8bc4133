//! The portable encoding is injective, prefix-free in tuples, and the same for all `Borrow` forms.

use proptest::prelude::*;
use tamis_hash::Portable;

fn encoded<T: Portable + ?Sized>(item: &T) -> Vec<u8> {
    item.with_encoded(<[u8]>::to_vec)
}

proptest! {
    #[test]
    fn tuples_have_equal_encodings_only_if_equal(
        a in (any::<Vec<u8>>(), any::<String>(), any::<Option<u32>>()),
        b in (any::<Vec<u8>>(), any::<String>(), any::<Option<u32>>()),
    ) {
        prop_assert_eq!(encoded(&a) == encoded(&b), a == b);
    }

    /// The encoding shows where one part ends and the next begins.
    #[test]
    fn moving_a_byte_between_parts_changes_the_encoding(
        bytes in prop::collection::vec(any::<u8>(), 1..200), cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(bytes.len());
        let one = (bytes[..cut].to_vec(), bytes[cut..].to_vec());
        let other = (bytes[..cut + 1].to_vec(), bytes[cut + 1..].to_vec());
        prop_assert_ne!(encoded(&one), encoded(&other));
    }

    #[test]
    fn borrowed_forms_have_equal_encodings(text in any::<String>(), bytes in any::<[u8; 16]>()) {
        prop_assert_eq!(encoded(&text), encoded(text.as_str()));
        prop_assert_eq!(encoded(&text), encoded(text.as_bytes()));
        prop_assert_eq!(encoded(&Box::<str>::from(text.as_str())), encoded(text.as_str()));
        prop_assert_eq!(encoded(&bytes), encoded(&bytes[..]));
        prop_assert_eq!(encoded(&(&text, 1)), encoded(&(text.as_str(), 1)));
    }

    /// Some types override `with_encoded`.
    #[test]
    fn with_encoded_passes_the_bytes_that_encode_writes(text in any::<String>(), number in any::<i128>()) {
        let mut out = tamis_hash::Encoder::default();
        text.encode(&mut out);
        number.encode(&mut out);
        prop_assert_eq!(out.bytes(), [encoded(&text), encoded(&number)].concat());
    }
}

#[test]
fn different_nestings_have_different_encodings() {
    assert_ne!(encoded(&(("a", "b"), "c")), encoded(&("a", ("bc", ""))));
    assert_eq!(encoded(&()), []);
    assert_ne!(encoded(&(Some(""), "x")), encoded(&(None::<&str>, "x")));
}
