//! The split-block filter against the `parquet` crate, `sbbf-rs-safe`, our blocked filter and bare
//! atomics: one process, the sides in turns, the median of the ratios of 11 rounds.
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

/// The operations of a run, at most: so many distinct blocks that those of the run before are not
/// in the cache any more.
const MOST: usize = 4_000_000;

/// Returns the ns per operation of two sides, and the median of their ratios.
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
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        // The first is a rehearsal; then each goes first in turn.
        let (a, b) = if round % 2 == 0 {
            let a = time(&mut one);
            (a, time(&mut other))
        } else {
            let b = time(&mut other);
            (time(&mut one), b)
        };
        rounds.push([a, b, a / b]);
    }
    std::array::from_fn(|of| median(rounds[1..].iter().map(|round| round[of]).collect()))
}

fn show(what: &str, against: &str, [one, other, ratio]: [f64; 3]) {
    println!("{what:<24} {one:>6.2}   {against:<28} {other:>6.2}   {ratio:>5.3}");
}

fn xxh64(key: u64) -> u64 {
    Xxh64::with_seed(0).hash_bytes(&key.to_le_bytes())
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
    let mut peer = Filter::new(8 * bytes, 1);
    let mut arrow = Sbbf::new(ours.as_bytes());
    let builder = BlockedBloomFilter::<u64>::builder().capacity(items);
    let builder = builder.false_positive_rate(0.01).hasher(DefaultHashBuilder::with_seed(1));
    let mut blocked = builder.build().expect("memory");

    // Distinct keys in no order, so many that a run takes a moment.
    let part = &keys[items.saturating_sub(MOST)..];
    let count = part.len();
    let insert = |filter: &mut SplitBlockFilter| {
        part.iter().for_each(|&hash| _ = black_box(filter.insert_hash(hash)));
    };
    let ours_one = compare(
        count,
        || insert(&mut ours),
        || {
            part.iter().for_each(|&hash| _ = black_box(peer.insert_hash(hash)));
        },
    );
    show("insert", "sbbf-rs-safe", ours_one);
    let batch = compare(
        count,
        || ours.insert_hashes(part),
        || {
            part.iter().for_each(|&hash| _ = black_box(peer.insert_hash(hash)));
        },
    );
    show("insert_hashes", "sbbf-rs-safe", batch);
    let hashed = compare(
        count,
        || part.iter().for_each(|&key| _ = black_box(ours.insert_hash(xxh64(key)))),
        || part.iter().for_each(|key| arrow.insert(key)),
    );
    show("insert, with XXH64", "parquet", hashed);
    let ours_blocked = compare(
        count,
        || insert(&mut ours),
        || {
            let mut alone = blocked.get_mut();
            part.iter().for_each(|key| _ = black_box(alone.insert(key)));
        },
    );
    show("insert", "blocked, with its hash", ours_blocked);

    // The filters with all keys.
    ours = new();
    ours.insert_hashes(&keys);
    keys.iter().for_each(|&hash| _ = peer.insert_hash(hash));
    for &key in &keys {
        arrow.insert(&key);
    }
    let mut alone = blocked.get_mut();
    keys.iter().for_each(|key| _ = alone.insert(key));
    let mut hashed = new();
    keys.iter().for_each(|&key| _ = hashed.insert_hash(xxh64(key)));

    let absent = random(2, count);
    let mut half = part.to_vec();
    half.iter_mut().zip(&absent).step_by(2).for_each(|(key, other)| *key = *other);
    // In no order, so that hits cannot be predicted.
    let mut order = SmallRng::seed_from_u64(3);
    (1..count).for_each(|at| half.swap(at, order.random_range(0..=at)));
    let mut bitmap = vec![0; count.div_ceil(8)];
    let mut shifted = vec![0_u8; bytes + 128];
    let at = 17 + shifted.as_ptr().align_offset(64);
    shifted[at..at + bytes].copy_from_slice(ours.as_bytes());
    let apart = View::new(&shifted[at..at + bytes]).expect("blocks");
    let aligned = View::new(ours.as_bytes()).expect("blocks");
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
        let unaligned = compare(
            count,
            || hits(part, |hash| apart.contains_hash(hash)),
            || hits(part, ours_one),
        );
        show(&format!("{name}, view at 17"), "owned", unaligned);
    }

    // Each round inserts other hashes: the filter fills up. The atomics work on as many lines.
    let lines = Lines::zeroed(bytes as u64 / 64).expect("memory");
    let count = items.div_ceil(ROUNDS + 1).min(MOST);
    let set = |hash: u64| {
        let line = &lines[((u128::from(hash) * lines.len() as u128) >> 64) as usize];
        for (word, bit) in line.words[..4].iter().zip([0, 7, 14, 21]) {
            // ORDERING: Relaxed, as that of the filter.
            black_box(word.fetch_or(1 << (hash >> bit & 63), Ordering::Relaxed));
        }
    };
    for batch in [false, true] {
        let shared = SharedSplitBlockFilter::from(new());
        let [mut mine, mut theirs] = [keys.chunks(count), keys.chunks(count)];
        let insert = |part: &[u64]| match batch {
            true => shared.insert_hashes(part),
            false => part.iter().for_each(|&hash| _ = black_box(shared.insert_hash(hash))),
        };
        let atomics = compare(
            count,
            || mine.next().into_iter().for_each(insert),
            || theirs.next().into_iter().flatten().for_each(|&hash| set(hash)),
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
