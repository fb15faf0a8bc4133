//! How full a slice is when it is closed: clients of any pattern, simulated item by item.
//!
//! The hash of an item alone decides whether its insert counts, so what inserts it does not matter:
//! one client or a million, that live for ever or for one item. A simulation needs items only.

use statrs::distribution::{DiscreteCDF, NegativeBinomial};
use tamis_hash::{HashItem, Rapid};

use crate::wire::sizes::{Sizes, Slice};

/// What happened in one shard of a slice until an insert closed it.
struct Closed {
    /// The new items.
    items: u64,
    /// Those after the key was full.
    late: u64,
}

/// Inserts items into one shard of a slice until it is closed. Each is inserted `times` times.
fn fill(sizes: &Sizes, slice: &Slice, seed: u64, times: u32) -> Closed {
    let hasher = Rapid::with_seed(seed);
    let mut bits = vec![0_u8; slice.line_bytes() as usize];
    let (mut sample, mut closed) = (0, Closed { items: 0, late: 0 });
    for hash in (0_u64..).map(|item| hasher.hash_item(&item)) {
        if sizes.shard(hash) != 0 {
            continue;
        }
        for _ in 0..times {
            let mut new = false;
            for offset in slice.place(hash).offsets() {
                let (byte, bit) = (offset as usize / 8, 0x80_u8 >> (offset % 8));
                let first = bits[byte] & bit == 0;
                bits[byte] |= bit;
                new |= first;
                sample += u64::from(first && (byte as u64) < slice.sample_bytes());
            }
            closed.items += u64::from(new);
            let full = sample >= slice.full;
            closed.late += u64::from(new && full);
            // What the script does.
            if new && full && slice.is_sampled(sizes.shards, hash) {
                return closed;
            }
        }
    }
    unreachable!("there are items without end")
}

/// Shards are closed at their capacity, on average a little before, whichever clients insert.
#[test]
fn a_slice_is_closed_at_its_capacity() {
    for (capacity, rate, shards, samples) in
        [(1000, 1e-4, 16, 400), (20_000, 1e-6, 4, 200), (400_000, 1e-2, 8, 60)]
    {
        let sizes = Sizes::new(capacity, rate, true, Some(shards)).unwrap();
        let slice = sizes.slice(0);
        let each: Vec<Closed> =
            (0..samples).map(|seed| fill(&sizes, slice, seed, 1 + seed as u32 % 3)).collect();
        // 1. After a key is full, the items until one counts have a geometric distribution.
        let every = slice.items_per_count(shards);
        let late: u64 = each.iter().map(|closed| closed.late).sum();
        if every == 1 {
            assert_eq!(late, samples);
        } else {
            let before = NegativeBinomial::new(samples as f64, 1.0 / every as f64).unwrap();
            let tails = [before.sf(late - samples), before.cdf(late - samples)];
            assert!(tails.iter().all(|tail| *tail > 1e-10), "{capacity}: {late}, {every}");
        }
        // 2. On average, the shards have at most what they were made for.
        let items: u64 = each.iter().map(|closed| closed.items).sum();
        let saturation = items as f64 / samples as f64 / (capacity as f64 / f64::from(shards));
        assert!((0.9..1.0).contains(&saturation), "{capacity}: {saturation}");
    }
}

/// The rate of a slice whose shards are closed as the simulation shows stays below its plan:
/// the mean over the distribution of the late items, computed exactly.
#[test]
fn the_rate_stays_below_the_request_for_any_clients() {
    for rate in [1e-1, 1e-2, 1e-4, 1e-6, 1e-9] {
        for capacity in [20_000, 1_000_000, 100_000_000] {
            let sizes = Sizes::new(capacity, rate, true, None).unwrap();
            let mut sum = 0.0;
            for slice in &sizes.slices {
                let shards = f64::from(sizes.shards);
                let full = slice.capacity as f64 * 31.0 / 32.0;
                let every = slice.items_per_count(sizes.shards) as f64;
                // Late items per shard: n with probability (1 - 1/every)^n / every. By quantiles.
                let quantiles = (0..1000).map(|step| (f64::from(step) + 0.5) / 1000.0);
                let late = quantiles.map(|part| (-part).ln_1p() / (-1.0 / every).ln_1p());
                let rates = late.map(|late| {
                    let items = full + (late + 1.0) * shards;
                    slice.geometry.false_positive_rate_at(items as usize)
                });
                sum += rates.sum::<f64>() / 1000.0;
            }
            assert!(sum < rate, "{rate} {capacity}: {sum:e}");
        }
    }
}
