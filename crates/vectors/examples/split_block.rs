//! The split-block filter against the `parquet` crate, `sbbf-rs-safe`, our blocked filter and bare
//! atomics: one process, the sides in turns, medians of the ratios of 11 rounds.
//!
//! `cargo run --release -p tamis-vectors --example split_block [ITEMS …]`

use std::hint::black_box;
use std::time::Instant;

use parquet::bloom_filter::Sbbf;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use sbbf_rs_safe::Filter;
use tamis::BlockedBloomFilter;
use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter, View};
use tamis::hash::{DefaultHashBuilder, Xxh64};
use tamis_sync::{Lines, Ordering};

const ROUNDS: usize = 11;

/// The highest number of queries of a run. Their blocks push those of the run before out of the
/// cache.
const MOST: usize = 4_000_000;

/// Returns the ns per operation of two sides, and their ratio. Each goes first in turn: the second
/// finds the keys in a cache, and the first of a round its own lines. So it is the geometric mean
/// of two medians, of the rounds in which the one goes first, and of the others.
fn compare(count: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [f64; 3] {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e9 / count as f64
    };
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let mut rounds = [vec![], vec![]];
    for round in 0..=ROUNDS {
        let (a, b) = if round % 2 == 0 {
            let a = time(&mut one);
            (a, time(&mut other))
        } else {
            let b = time(&mut other);
            (time(&mut one), b)
        };
        // The first is a rehearsal.
        if round > 0 {
            rounds[round % 2].push([a, b, a / b]);
        }
    }
    std::array::from_fn(|of| {
        let [x, y] =
            rounds.each_ref().map(|all| median(all.iter().map(|round| round[of]).collect()));
        (x * y).sqrt()
    })
}

fn show(what: &str, against: &str, [one, other, ratio]: [f64; 3]) {
    println!("{what:<24} {one:>6.2}   {against:<28} {other:>6.2}   {ratio:>5.3}");
}

fn xxh64(key: u64) -> u64 {
    Xxh64::with_seed(0).hash_bytes(&key.to_le_bytes())
}

/// Returns what inserts other keys in each round, as a user does: the filter fills up. (The
/// rehearsal places the pages of the filter.)
fn in_rounds<'k>(keys: &'k [u64], mut insert: impl FnMut(&'k [u64])) -> impl FnMut() {
    let mut parts = keys.chunks(keys.len().div_ceil(ROUNDS + 1));
    move || parts.next().into_iter().for_each(&mut insert)
}

/// Loads two bytes of the block of each hash, and nothing else.
fn loads(view: View<'_>, hashes: &[u64], places: [usize; 2]) -> u64 {
    let (blocks, _) = view.as_bytes().as_chunks::<32>();
    let block = |hash: u64| &blocks[(((hash >> 32) * blocks.len() as u64) >> 32) as usize];
    hashes
        .iter()
        .map(|&hash| places.iter().map(|&at| u64::from(block(hash)[at])).sum::<u64>())
        .sum()
}

/// Counts the keys for which a query returns `true`.
fn hits(keys: &[u64], mut query: impl FnMut(u64) -> bool) {
    black_box(keys.iter().filter(|&&key| query(key)).count());
}

fn measure(items: usize) {
    println!("\n{items} items, ns per operation");
    let random = |seed, count| -> Vec<u64> {
        let mut random = SmallRng::seed_from_u64(seed);
        (0..count).map(|_| random.random()).collect()
    };
    let keys = random(1, items);
    let new = || SplitBlockFilter::for_items(items as u64, 0.01).expect("memory");
    let mut ours = new();
    let bytes = ours.as_bytes().len();
    let new_peer = || Filter::new(8 * bytes, 1);
    let builder = BlockedBloomFilter::<u64>::builder().capacity(items);
    let builder = builder.false_positive_rate(0.01).hasher(DefaultHashBuilder::with_seed(1));
    let mut blocked = builder.build().expect("memory");

    let count = items.div_ceil(ROUNDS + 1);
    let ours_one = |mut filter: SplitBlockFilter| {
        in_rounds(&keys, move |part| {
            part.iter().for_each(|&hash| _ = black_box(filter.insert_hash(hash)));
        })
    };
    let peer_one = || {
        let mut peer = new_peer();
        in_rounds(&keys, move |part| {
            part.iter().for_each(|&hash| _ = black_box(peer.insert_hash(hash)));
        })
    };
    show("insert", "sbbf-rs-safe", compare(count, ours_one(new()), peer_one()));
    let mut filter = new();
    let batches = in_rounds(&keys, |part| filter.insert_hashes(part));
    show("insert_hashes", "sbbf-rs-safe", compare(count, batches, peer_one()));
    let (mut hashed, mut arrow) = (new(), Sbbf::new(ours.as_bytes()));
    let with_xxh64 = compare(
        count,
        in_rounds(&keys, |part| {
            part.iter().for_each(|&key| _ = black_box(hashed.insert_hash(xxh64(key))));
        }),
        in_rounds(&keys, |part| part.iter().for_each(|key| arrow.insert(key))),
    );
    show("insert, with XXH64", "parquet", with_xxh64);
    let mut alone = blocked.get_mut();
    let theirs = in_rounds(&keys, |part| {
        part.iter().for_each(|key| _ = black_box(alone.insert(key)));
    });
    show("insert", "blocked, with its hash", compare(count, ours_one(new()), theirs));

    // The others have all keys by now.
    ours.insert_hashes(&keys);
    let mut peer = new_peer();
    keys.iter().for_each(|&hash| _ = peer.insert_hash(hash));

    // Distinct keys in no order. Their number makes a run long enough to be timed.
    let part = &keys[items.saturating_sub(MOST)..];
    let count = part.len();
    let absent = random(2, count);
    let mut half = part.to_vec();
    half.iter_mut().zip(&absent).step_by(2).for_each(|(key, other)| *key = *other);
    // In no order, so that hits cannot be predicted.
    let mut order = SmallRng::seed_from_u64(3);
    (1..count).for_each(|at| half.swap(at, order.random_range(0..=at)));
    let mut bitmap = vec![0; count.div_ceil(8)];
    let aligned = View::new(ours.as_bytes()).expect("blocks");
    // In the same kind of memory, which is huge pages if the system has them; and in a vector, in
    // small pages as those of a file.
    let [mut at_0, mut at_17] = [0, 17].map(|_| vec![0_u8; bytes + 128]);
    let [place_0, place_17] = [0, 17].map(|beside| beside..beside + bytes);
    at_17[place_17.clone()].copy_from_slice(ours.as_bytes());
    let moved = SplitBlockFilter::from_bytes(&at_17).expect("memory");
    let apart = View::new(&moved.as_bytes()[place_17.clone()]).expect("blocks");
    let [in_0, in_17] = [(&mut at_0, place_0), (&mut at_17, place_17)].map(|(vector, place)| {
        let line = vector.as_ptr().align_offset(64);
        let bytes = &mut vector[line..][place];
        bytes.copy_from_slice(ours.as_bytes());
        View::new(bytes).expect("blocks")
    });
    for (name, part) in [("hits", part), ("misses", &absent), ("half", &half)] {
        let ours_one = |key: u64| ours.contains_hash(key);
        let with_peer =
            compare(count, || hits(part, ours_one), || hits(part, |hash| peer.contains_hash(hash)));
        show(name, "sbbf-rs-safe", with_peer);
        let batch = compare(
            count,
            || _ = black_box(ours.contains_hashes(part, &mut bitmap)),
            || hits(part, |hash| peer.contains_hash(hash)),
        );
        show(&format!("{name}, contains_hashes"), "sbbf-rs-safe", batch);
        let with_arrow = compare(
            count,
            || hits(part, |key| hashed.contains_hash(xxh64(key))),
            || hits(part, |key| arrow.check(&key)),
        );
        show(&format!("{name}, with XXH64"), "parquet", with_arrow);
        let with_blocked =
            compare(count, || hits(part, ours_one), || hits(part, |key| blocked.contains(&key)));
        show(name, "blocked, with its hash", with_blocked);
        let in_view = compare(
            count,
            || hits(part, |hash| aligned.contains_hash(hash)),
            || hits(part, ours_one),
        );
        show(&format!("{name}, view"), "owned", in_view);
        for (what, view, against, other) in [
            ("view at 17", apart, "owned", aligned),
            ("vector", in_0, "owned", aligned),
            ("vector at 17", in_17, "vector", in_0),
        ] {
            let beside = compare(
                count,
                || hits(part, |hash| view.contains_hash(hash)),
                || hits(part, |hash| other.contains_hash(hash)),
            );
            show(&format!("{name}, {what}"), against, beside);
        }
        let in_batches = compare(
            count,
            || _ = black_box(apart.contains_hashes(part, &mut bitmap)),
            || hits(part, ours_one),
        );
        show(&format!("{name}, batch at 17"), "owned, one by one", in_batches);
        // The least that 32 bytes which are not aligned cost.
        let bare = compare(
            count,
            || _ = black_box(loads(apart, part, [0, 31])),
            || _ = black_box(loads(aligned, part, [0, 16])),
        );
        show(&format!("{name}, two loads at 17"), "in one line", bare);
    }

    // The atomics work on as many lines.
    let lines = Lines::zeroed(bytes as u64 / 64).expect("memory");
    let count = items.div_ceil(ROUNDS + 1);
    let set = |hash: u64| {
        let line = &lines[((u128::from(hash) * lines.len() as u128) >> 64) as usize];
        for (word, bit) in line.words[..4].iter().zip([0, 7, 14, 21]) {
            // ORDERING: Relaxed, as that of the filter.
            black_box(word.fetch_or(1 << (hash >> bit & 63), Ordering::Relaxed));
        }
    };
    for batch in [false, true] {
        let shared = SharedSplitBlockFilter::from(new());
        let insert = |part: &[u64]| match batch {
            true => shared.insert_hashes(part),
            false => part.iter().for_each(|&hash| _ = black_box(shared.insert_hash(hash))),
        };
        let atomics = compare(
            count,
            in_rounds(&keys, insert),
            in_rounds(&keys, |part| part.iter().for_each(|&hash| set(hash))),
        );
        let name = if batch { "shared insert_hashes" } else { "shared insert" };
        show(name, "four fetch_or on a line", atomics);
    }
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![100_000, 10_000_000, 100_000_000] } else { given };
    sizes.into_iter().for_each(measure);
}
