//! Merges a stream that breaks or that has changed: what was added is exactly the chunks before the
//! fault.

use std::io::{self, Read};

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::{AnyStable, HashItem, Rapid};
use tamis::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_formats::{Options, SavedBloom};

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    /// 0: two chunks. Otherwise a short body.
    size: u8,
    own: u8,
    others: u8,
    other_seed: bool,
    other_size: bool,
    flips: Vec<Flip>,
    /// Where the stream ends, from its end.
    cut: u32,
    /// Whether the stream then has an error instead of an end.
    breaks: bool,
    piece: u16,
}

/// A flipped bit. The place is reduced to the part.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Flip {
    in_body: bool,
    at: u32,
    bit: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Bloom,
    Blocked,
    Once,
    OnceOfOneWord,
}

const CHUNK: usize = 1 << 20;

/// Checks one merge.
pub fn merge_stream(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    // A chunk, and a part of another one.
    let lines = if case.size == 0 { (1 << 14) + 5 } else { u64::from(case.size) };
    macro_rules! build {
        ($name:ident, $($words:tt)*) => {{
            let build = |lines: u64, seed| {
                let builder = $name::<[u8]>::builder().bits(512 * lines).probes(6)$($words)*;
                builder.hasher(AnyStable::from(Rapid::with_seed(seed))).build().expect("memory")
            };
            let other = build(lines + u64::from(case.other_size), 1 + u64::from(case.other_seed));
            check(&build(lines, 1), &other, &case);
        }};
    }
    match case.kind {
        Kind::Bloom => build!(BloomFilter,),
        Kind::Blocked => build!(BlockedBloomFilter, .words(2)),
        Kind::Once => build!(OnceBloomFilter, .words(4)),
        Kind::OnceOfOneWord => build!(OnceBloomFilter, .words(1)),
    }
}

fn check<F: SavedBloom<Hasher = AnyStable>>(filter: &F, other: &F, case: &Case) {
    let options = Options::new();
    let bytes_of = |filter: &F| {
        let mut bytes = Vec::new();
        options.write(filter, &mut bytes).expect("memory is no error");
        bytes
    };
    for (filter, items, first) in [(filter, case.own, 0), (other, case.others, 128)] {
        for item in 0..items {
            let hash = filter.hasher().hash_item(&[item, first][..]);
            assert!(filter.try_insert_hash(hash).is_ok());
        }
    }
    let (mut expected, original) = (bytes_of(filter), bytes_of(other));
    let mut changed = original.clone();
    let body =
        tamis_formats::Info::read(&original[..]).expect("a valid file").body_offset() as usize;
    for flip in &case.flips {
        let part = if flip.in_body { body..original.len() } else { 0..body };
        changed[part.start + flip.at as usize % part.len()] ^= 1 << (flip.bit % 8);
    }
    changed.truncate(original.len() - case.cut as usize % (original.len() + 1));

    let reader = Broken { rest: &changed, breaks: case.breaks, piece: 1 + usize::from(case.piece) };
    let result = options.merge_read(filter, reader);

    // The chunks that arrived whole and as they were.
    let is_same = |part: std::ops::Range<usize>| changed.get(part.clone()) == Some(&original[part]);
    let starts = || (body..original.len()).step_by(CHUNK);
    let chunk = |start: usize| start..original.len().min(start + CHUNK);
    let fits = !case.other_seed && !case.other_size;
    let right = if fits && is_same(0..body) {
        starts().take_while(|start| is_same(chunk(*start))).count()
    } else {
        0
    };
    let is_whole = fits && is_same(0..body) && right == starts().count();
    assert_eq!(result.is_ok(), is_whole, "{result:?}");
    for start in starts().take(right) {
        for at in chunk(start) {
            expected[at] |= original[at];
        }
    }
    assert!(
        bytes_of(filter)[body..] == expected[body..],
        "other bits than those of {right} chunks"
    );
}

/// A stream that returns few bytes at a time, and may end with an error.
struct Broken<'b> {
    rest: &'b [u8],
    breaks: bool,
    piece: usize,
}

impl Read for Broken<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && self.breaks {
            return Err(io::Error::other("the stream broke"));
        }
        // Pieces grow, so that a long stream takes few reads.
        self.piece *= 2;
        let len = to.len().min(self.piece);
        self.rest.read(&mut to[..len])
    }
}
