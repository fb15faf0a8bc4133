//! Changes a valid file: every loader refuses every change.

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::{AnyStable, HashItem, Rapid};
use tamis::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, OnceBloomFilter,
    OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
};
use tamis_cuckoo::raw::growing;
use tamis_formats::{Normalization, Options};

use crate::edit::Edit;
use crate::load_diff::{Ways, verdicts};

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    lines: u8,
    items: u8,
    seed: u64,
    has_policy: bool,
    edits: Vec<Edit>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Bloom,
    Blocked,
    Once,
    Cuckoo,
    OnceCuckoo,
    ScalableBloom,
    OnceScalableBloom,
    Counting,
    Rotating,
    GrowingCuckoo,
    GrowingOnce,
}

/// Checks one list of changes.
pub(crate) fn snapshot_mutate(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let hasher = AnyStable::from(Rapid::with_seed(case.seed));
    let size = 1 + u64::from(case.lines % 32);
    macro_rules! build {
        ($name:ident, $($sizes:tt)*) => {{
            let builder = $name::<[u8]>::builder().$($sizes)*;
            check(builder.hasher(hasher).build().expect("a small filter"), &case);
        }};
    }
    match case.kind {
        Kind::Bloom => build!(BloomFilter, bits(100 * size).probes(5)),
        Kind::Blocked => build!(BlockedBloomFilter, bits(512 * size).probes(5)),
        Kind::Once => build!(OnceBloomFilter, bits(512 * size).probes(6).words(2)),
        Kind::Cuckoo => build!(CuckooFilter, buckets(2 * size).slots(4).fingerprint_bits(16)),
        Kind::OnceCuckoo => {
            build!(OnceCuckooFilter, buckets(2 * size).slots(5).fingerprint_bits(12))
        }
        Kind::ScalableBloom => build!(ScalableBloomFilter, capacity(1024)),
        Kind::OnceScalableBloom => build!(OnceScalableBloomFilter, capacity(1024)),
        Kind::Counting => build!(CountingBloomFilter, bits(512 * size).probes(6).words(2)),
        // It rotates when 128 items come.
        Kind::Rotating => build!(RotatingBloomFilter, capacity(4 * size as usize).generations(3)),
        Kind::GrowingCuckoo => build!(CuckooFilter, like(growing(size))),
        Kind::GrowingOnce => build!(OnceCuckooFilter, like(growing(size))),
    }
}

/// The sizes of a filter that some of the items make grow, if it is small.
fn growing(size: u64) -> tamis::cuckoo::Geometry {
    growing::geometry(8 * size, 20, 3, 64).expect("a small filter")
}

fn check<F: Ways<Hasher = AnyStable>>(filter: F, case: &Case) {
    for item in 0..case.items {
        // A full filter is as good as any other.
        let _ = filter.insert_hash(filter.hasher().hash_item(&[item][..]));
    }
    let normalization =
        if case.has_policy { Normalization::new("url-v1") } else { Ok(Normalization::NONE) };
    let options = Options::new().normalization(normalization.expect("a short name"));
    let mut original = Vec::new();
    options.write(&filter, &mut original).expect("memory is no error");
    let mut changed = original.clone();
    case.edits.iter().for_each(|edit| edit.apply(&mut changed));
    let [load, frozen, read, map] = verdicts::<F>(&changed, &options);
    if changed == original {
        assert!([load, frozen, read, map].iter().all(Option::is_none), "a valid file is refused");
        return;
    }
    assert!(load.is_some() && frozen.is_some() && map.is_some(), "{load:?} {frozen:?} {map:?}");
    // A stream may go on after the filter.
    assert_eq!(read.is_none(), changed.starts_with(&original), "{read:?}");
}
