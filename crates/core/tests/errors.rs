//! The messages of the error of building a filter.

use tamis_core::BuildError;

#[test]
fn each_error_names_the_problem_and_the_valid_values() {
    let texts = [
        (
            BuildError::Rate { rate: 1.0 },
            "the false-positive rate is 1.0; it must be between 0 and 1",
        ),
        (
            BuildError::RateTooLow { rate: 1e-12, lowest: 2.5e-10 },
            "the false-positive rate is 1e-12; a filter of this type and capacity cannot go below 2.5e-10",
        ),
        (
            BuildError::RateTooLow { rate: 0.01, lowest: 1.0 },
            "the capacity is too high for a filter of this type, or its growth has too many \
             doublings, at any false-positive rate",
        ),
        (BuildError::Bits, "the number of bits is 0; a filter has at least 1"),
        (
            BuildError::Probes { probes: 65, max: 64 },
            "the number of probes is 65; it must be between 1 and 64",
        ),
        (
            BuildError::Words { words: 3 },
            "the number of words per item is 3; it must be 1, 2, 4 or 8, with 1 to 8 probes each",
        ),
        (
            BuildError::Buckets { buckets: 3 },
            "the number of buckets is 3; it must be even and at least 2",
        ),
        (
            BuildError::Shape { slots: 4, fingerprint_bits: 12 },
            "a bucket cannot have 4 slots of 12 bits; it can have 4 or 8 slots of 8 bits, 5 of 12, \
             4 of 16, 3 of 20, 2 of 32; and, where atomic loads of 128 bits are supported, 7 of 18, 5 of 25, 4 of 32, \
             or 3 of 42",
        ),
        (
            BuildError::ShapeUnsupported { slots: 5, fingerprint_bits: 25 },
            "a bucket of 5 slots of 25 bits needs atomic loads of 128 bits: x86-64 with AVX, and feature `std`",
        ),
        (
            BuildError::Unsized,
            "no size is given: give a capacity, or explicit sizes (bits and probes, or buckets, slots \
             and fingerprint bits)",
        ),
        (
            BuildError::Incomplete,
            "some sizes are missing: give bits and probes together, or buckets, slots and fingerprint \
             bits together",
        ),
        (
            BuildError::Conflict,
            "the size is given in more than one way: give a capacity and a false-positive rate, or \
             explicit sizes, or the geometry of another filter",
        ),
        (BuildError::Layout, "the geometry belongs to another type of filter"),
        (BuildError::TooLarge, "the filter would have more than 2^64 bits, or 2^56 buckets"),
        (BuildError::Alloc { bytes: 64 }, "cannot allocate 64 bytes"),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
}
