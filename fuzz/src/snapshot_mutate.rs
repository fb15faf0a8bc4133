//! Changes a valid file: every loader refuses every change.

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::{AnyStable, HashItem, Rapid};
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};
use tamis_formats::{Options, Policy, Saved};

use crate::load_diff::verdicts;

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
}

/// A change. The places are reduced to those of the file.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Edit {
    Flip { at: u16, bit: u8 },
    Set { at: u16, byte: u8 },
    SetWord { at: u16, word: u64 },
    Truncate { at: u16 },
    Cut { at: u16, len: u16 },
    Repeat { at: u16, len: u16 },
    Copy { at: u16, len: u16, to: u16 },
    Swap { at: u16, len: u16, to: u16 },
    Append { byte: u8 },
}

/// Checks one list of changes.
pub fn snapshot_mutate(data: &[u8]) {
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
    }
}

fn check<F: Saved<Hasher = AnyStable>>(filter: F, case: &Case) {
    for item in 0..case.items {
        // A full filter is as good as any other.
        let _ = filter.try_insert_hash(filter.hasher().hash_item(&[item][..]));
    }
    let policy = if case.has_policy { Policy::new("url-v1") } else { Ok(Policy::NONE) };
    let options = Options::new().policy(policy.expect("a short name"));
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

impl Edit {
    fn apply(self, bytes: &mut Vec<u8>) {
        let len_of_all = bytes.len();
        let place = |at: u16| usize::from(at) % len_of_all.max(1);
        let part = |at: u16, len: u16| place(at)..len_of_all.min(place(at) + 1 + usize::from(len));
        match self {
            _ if bytes.is_empty() => {}
            Self::Flip { at, bit } => bytes[place(at)] ^= 1 << (bit % 8),
            Self::Set { at, byte } => bytes[place(at)] = byte,
            Self::SetWord { at, word } => {
                let part = part(at & !7, 7);
                let len = part.len();
                bytes[part].copy_from_slice(&word.to_le_bytes()[..len]);
            }
            Self::Truncate { at } => bytes.truncate(place(at)),
            Self::Cut { at, len } => drop(bytes.drain(part(at, len))),
            Self::Repeat { at, len } => {
                let copy = bytes[part(at, len)].to_vec();
                bytes.splice(place(at)..place(at), copy);
            }
            Self::Copy { at, len, to } => {
                let copy = bytes[part(at, len)].to_vec();
                let to = part(to, (copy.len() - 1) as u16);
                let len = to.len();
                bytes[to].copy_from_slice(&copy[..len]);
            }
            Self::Swap { at, len, to } => {
                for (one, other) in part(at, len).zip(part(to, len)) {
                    bytes.swap(one, other);
                }
            }
            Self::Append { byte } => bytes.push(byte),
        }
    }
}
