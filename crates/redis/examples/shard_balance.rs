//! Simulates how evenly the shards of a filter share its items, and the nodes of a cluster share
//! its shards.
//!
//! `cargo run --release -p tamis-redis --example shard_balance -- 1e11 1e-4 33500 18 1e9`: the
//! items, the rate, the shards, the nodes, and the capacity of the first slice of a filter
//! that grows. Everything is computed for these numbers, except that the items per shard are
//! counted for [`SAMPLE`] items. The binomial distribution predicts both.

use std::error::Error;
use std::f64::consts::LN_2;
use std::fmt::Write;
use std::iter;

use tamis_bloom::{BlockedBloomFilter, Geometry};
use tamis_hash::{Xxh3, split};

/// The items that are hashed.
const SAMPLE: f64 = 1e8;
/// The name of the filter.
const NAME: &str = "urls";
const SLOTS: usize = 16_384;
/// The most lines of a shard: with its tag, it fits into 8 MiB.
const MOST_LINES: u64 = (8 << 20) / 64 - 1;
const GIB: f64 = (1_u64 << 30) as f64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = [1e11, 1e-4, 33_500.0, 18.0, 1e9];
    for (number, argument) in numbers.iter_mut().zip(std::env::args().skip(1)) {
        *number = argument.parse()?;
    }
    let [items, rate, shards, nodes, first] = numbers;
    let (shards, nodes) = (shards as usize, nodes as usize);
    if !(2..=65_536).contains(&shards) || !(1..SLOTS).contains(&nodes) || first < 1.0 {
        return Err("give 2 to 65,536 shards, 1 to 16,383 nodes, and a first capacity".into());
    }

    let geometry = slice(items, rate, shards)?;
    println!("{items:e} items at {rate:e} in {shards} shards on {nodes} nodes");
    println!("  {}", size(geometry, items));
    let lines = smallest(items as usize, rate)?.bits() / 512;
    println!("  {lines} lines: {} shards of less than 8 MiB", lines.div_ceil(MOST_LINES));
    let (key, each) = (geometry.size_in_bytes() / shards as u64 + 8, allocated(geometry, shards));
    let all = (each * shards as u64) as f64 / GIB;
    println!("  a key has {key} bytes; a server allocates {each} for it, {all:.1} GiB for all");

    println!("items per shard");
    println!("  {SAMPLE:e} counted:     {}", summary(&items_per_shard(shards)));
    println!("  {SAMPLE:e} predicted:   {}", predicted(SAMPLE, shards));
    println!("  {items:e} predicted:   {}", predicted(items, shards));

    println!("false-positive rate");
    let rate_at = |items: f64| geometry.false_positive_rate_at(items as usize);
    println!("  when full:            {:.3e}", rate_at(items));
    let fullest = extreme(items, shards, true) * shards as f64;
    println!("  in the fullest shard: {:.3e}", rate_at(fullest));
    // Each item meets the items before it: the mean over the time of filling, by the midpoint rule.
    let middles = (0..1000).map(|part| items * (f64::from(part) + 0.5) / 1000.0);
    let mean = middles.map(rate_at).sum::<f64>() / 1000.0;
    println!("  mean while it fills:  {mean:.3e} ({:.0} new items count as seen)", mean * items);

    println!("shards");
    let slots = shards_per_slot(shards);
    println!("  per slot:               {}", summary(&slots));
    let equal = equal_ranges(nodes);
    println!("  per node, equal ranges: {}", summary(&per_node(&slots, &equal, nodes)));
    let chosen = ranges_by_shards(&slots, shards, nodes);
    println!("  ranges by their shards: {}", summary(&per_node(&slots, &chosen, nodes)));
    let (grown, moved) = add_node(&slots, &equal, nodes);
    let all = per_node(&slots, &grown, nodes + 1);
    println!("  after adding a node:    {}; {moved} moved", summary(&all));

    println!("growth from {first:e} items");
    let (mut capacity, mut held, mut bytes) = (first, 0.0, 0);
    for number in 0.. {
        let geometry = slice(capacity, rate * 0.25 * 0.75_f64.powi(number), shards)?;
        (held, bytes) = (held + capacity, bytes + geometry.size_in_bytes());
        let (sizes, key) = (size(geometry, capacity), geometry.size_in_bytes() / shards as u64 + 8);
        println!("  {number}: {capacity:e} items, {sizes}, keys of {key} bytes");
        if held >= items {
            break;
        }
        capacity *= 2.0;
    }
    let (all, each) = (bytes as f64 / GIB, bytes as f64 * 8.0 / items);
    println!("  for {items:e} items: {all:.1} GiB, {each:.2} bits per item");
    Ok(())
}

/// Returns the sizes of a slice: those of `tamis-redis`, with whole lines per shard.
fn slice(items: f64, rate: f64, shards: usize) -> Result<Geometry, Box<dyn Error>> {
    let sized = smallest(items as usize, rate)?;
    let bits = (sized.bits() / 512).next_multiple_of(shards as u64) * 512;
    let filter = BlockedBloomFilter::<str>::builder().bits(bits);
    Ok(filter.probes(sized.probes()).words(sized.words()).geometry()?)
}

/// Returns the blocked filter that takes the fewest bits with at most 4 words per item, as
/// `tamis-redis` chooses it.
fn smallest(items: usize, rate: f64) -> Result<Geometry, Box<dyn Error>> {
    let builder = BlockedBloomFilter::<str>::builder().capacity(items).false_positive_rate(rate);
    let default = builder.clone().geometry()?;
    // A rate that needs more than 4 words has the default.
    let others = [1, 2, 4].map(|words| builder.clone().words(words).geometry().ok());
    let all = others.into_iter().flatten().filter(|_| default.words() <= 4);
    Ok(all.min_by_key(Geometry::bits).unwrap_or(default))
}

fn size(geometry: Geometry, items: f64) -> String {
    let (probes, words) = (geometry.probes(), geometry.words());
    let (each, all) = (geometry.bits() as f64 / items, geometry.size_in_bytes() as f64 / GIB);
    format!("{each:.2} bits per item, an item sets {probes} in {words} words, {all:.1} GiB")
}

/// Returns the bytes that a server with jemalloc allocates for a key: its lines, its tag, and 10
/// bytes for the string, rounded up to a size of which there are four per power of two.
fn allocated(geometry: Geometry, shards: usize) -> u64 {
    let bytes = geometry.size_in_bytes() / shards as u64 + 8 + 10;
    bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(16))
}

/// Counts the items of each shard, for URLs that the real hash places.
fn items_per_shard(shards: usize) -> Vec<u64> {
    let hasher = Xxh3::with_seed(1);
    let (mut counts, mut url) = (vec![0; shards], String::new());
    for item in 0..SAMPLE as u64 {
        url.clear();
        write!(url, "https://example.org/{item}").expect("a string takes any text");
        counts[split::place(hasher.hash_bytes(url.as_bytes()), shards as u64) as usize] += 1;
    }
    counts
}

/// Counts the shards of each hash slot: keys are `{name:shard}:slice`.
fn shards_per_slot(shards: usize) -> Vec<u64> {
    let mut counts = vec![0; SLOTS];
    for shard in 0..shards {
        let hashed = format!("{NAME}:{shard}");
        let slot = crc16::State::<crc16::XMODEM>::calculate(hashed.as_bytes());
        counts[usize::from(slot) % SLOTS] += 1;
    }
    counts
}

/// Returns the node of each slot, as `redis-cli --cluster create` chooses it: equal ranges of
/// slots.
fn equal_ranges(nodes: usize) -> Vec<usize> {
    let end = |node: usize| ((node + 1) as f64 * SLOTS as f64 / nodes as f64).round() as usize;
    (0..SLOTS).map(|slot| (0..nodes).find(|node| slot < end(*node)).unwrap_or(nodes - 1)).collect()
}

/// Returns the node of each slot if an operator gives each node a range with its part of the
/// shards.
fn ranges_by_shards(slots: &[u64], shards: usize, nodes: usize) -> Vec<usize> {
    let before = slots.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count)));
    before.map(|before| (before as usize * nodes / shards).min(nodes - 1)).collect()
}

/// Gives the first slots of each node to a new node, until all nodes have the same number. Returns
/// the node of each slot, and the number of shards that move.
fn add_node(slots: &[u64], owners: &[usize], nodes: usize) -> (Vec<usize>, u64) {
    let (mut owners, mut moved) = (owners.to_vec(), 0);
    for node in 0..nodes {
        let own: Vec<usize> = (0..SLOTS).filter(|slot| owners[*slot] == node).collect();
        for slot in &own[..own.len().saturating_sub(SLOTS / (nodes + 1))] {
            (owners[*slot], moved) = (nodes, moved + slots[*slot]);
        }
    }
    (owners, moved)
}

fn per_node(slots: &[u64], owners: &[usize], nodes: usize) -> Vec<u64> {
    let mut counts = vec![0; nodes];
    slots.iter().zip(owners).for_each(|(count, node)| counts[*node] += count);
    counts
}

/// Describes counts: the least, the greatest, the mean and the standard deviation.
fn summary(counts: &[u64]) -> String {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let squares = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>();
    let (least, greatest) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
    describe(*least as f64, *greatest as f64, mean, (squares / counts.len() as f64).sqrt())
}

/// Describes what [`summary`] is expected to describe for items that fall into shards
/// independently.
fn predicted(items: f64, shards: usize) -> String {
    let mean = items / shards as f64;
    let deviation = (mean * (1.0 - 1.0 / shards as f64)).sqrt();
    describe(extreme(items, shards, false), extreme(items, shards, true), mean, deviation)
}

fn describe(least: f64, greatest: f64, mean: f64, deviation: f64) -> String {
    let of_mean = greatest / mean;
    format!("{least} to {greatest}, mean {mean:.2} ± {deviation:.2}; max/mean {of_mean:.4}")
}

/// Returns the number of items in the fullest (or emptiest) shard, the median of its exact
/// distribution: the binomial tail beyond it is ln 2 / shards. (Shards are nearly independent.)
fn extreme(items: f64, shards: usize, fullest: bool) -> f64 {
    let (mode, odds) = ((items / shards as f64).floor(), 1.0 / (shards as f64 - 1.0));
    // A number of items, and its probability as a multiple of that of the mode.
    let up = |(n, p): (f64, f64)| (n + 1.0, p * (items - n) / (n + 1.0) * odds);
    let down = |(n, p): (f64, f64)| (n - 1.0, p * n / (items - n + 1.0) / odds);
    let side = |step: &dyn Fn((f64, f64)) -> (f64, f64)| -> Vec<(f64, f64)> {
        let next = |at: &(f64, f64)| Some(step(*at)).filter(|(_, p)| *p > 1e-20);
        iter::successors(Some((mode, 1.0)), next).collect()
    };
    let (above, below) = (side(&up), side(&down));
    let all = above.iter().chain(&below).map(|(_, p)| p).sum::<f64>() - 1.0;
    // From the far end towards the mode, until the tail has its probability.
    let mut tail = all * LN_2 / shards as f64;
    let near = if fullest { above } else { below };
    let found = near.iter().rev().find(|(_, p)| (tail -= p, tail <= 0.0).1);
    found.map_or(mode, |(n, _)| *n)
}
