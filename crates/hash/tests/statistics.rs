//! Tests that the parts of a hash are uniform and independent: chi-square at alpha 1e-6, with fixed
//! seeds. Each test also rejects a control, a wrong split.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};
use tamis_hash::{HashItem, Rapid, SipHash13, Xxh3, Xxh64, split};

const ALPHA: f64 = 1e-6;

/// Returns whether counts in equally likely bins are as uniform as chance makes them.
fn uniform(counts: &[u32]) -> bool {
    let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
    let expected = total as f64 / counts.len() as f64;
    assert!(expected >= 5.0, "too few samples for a chi-square");
    let chi: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    let freedom = ChiSquared::new((counts.len() - 1) as f64).unwrap();
    // Both tails: counts that are too even are as wrong as counts that are too uneven.
    chi < freedom.inverse_cdf(1.0 - ALPHA) && chi > freedom.inverse_cdf(ALPHA)
}

/// Returns the hashes of sequential integers, the least random input.
fn hashes() -> impl Iterator<Item = u64> {
    let hasher = Rapid::with_seed(5);
    (0..1_u64 << 21).map(move |i| hasher.hash_item(&i))
}

/// Counts the results of `bin` over all hashes.
fn histogram(bins: usize, bin: impl Fn(u64) -> u64) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for hash in hashes() {
        counts[bin(hash) as usize] += 1;
    }
    counts
}

/// Sizes at which a modulo, a 32-bit product or a float would not be uniform.
const SIZES: [u64; 7] =
    [1000, 3 << 29, (1 << 31) + 1, (1 << 32) - 1, (1 << 32) + 1, (1 << 36) + 7, 3 << 40];

#[test]
fn places_are_uniform_at_awkward_sizes() {
    for n in SIZES {
        let coarse = |hash| (u128::from(split::place(hash, n)) * 1000 / u128::from(n)) as u64;
        assert!(uniform(&histogram(1000, coarse)), "regions of {n}");
        if n > 1 << 30 {
            assert!(
                uniform(&histogram(1021, |hash| split::place(hash, n) % 1021)),
                "residues of {n}"
            );
        }
    }
    // Control: a 32-bit hash reduced by modulo favours the low places of 3·2^29.
    let wrong = |hash: u64| (hash & 0xFFFF_FFFF) % (3 << 29) * 3 / (3 << 29);
    assert!(!uniform(&histogram(3, wrong)), "the test must reject the control");
}

#[test]
fn shards_are_uniform_in_every_place() {
    assert!(uniform(
        &histogram(64 * 64, |h| split::place(h, 64) * 64 + u64::from(split::shard(h, 64)))
    ));
    // Control: shard and place from the same bits.
    assert!(!uniform(&histogram(64 * 64, |h| split::place(h, 64) * 64 + split::place(h, 64))));
}

#[test]
fn patterns_are_uniform_in_every_place_and_shard() {
    // Slices of six bits of three consecutive patterns, down to the lowest good bit.
    for shift in [58, 52, 30, 16, 64 - split::GOOD_BITS] {
        for (name, slice) in [
            ("first", split::pattern as fn(u64) -> u64),
            ("second", |h| split::next_pattern(split::pattern(h))),
            ("third", |h| split::next_pattern(split::next_pattern(split::pattern(h)))),
        ] {
            let bin = |h| {
                let part = slice(h) >> shift & 63;
                (split::place(h, 48) * 16 + u64::from(split::shard(h, 16))) * 64 + part
            };
            assert!(uniform(&histogram(48 * 16 * 64, bin)), "{name} pattern, bits from {shift}");
        }
    }
    // Control: the pattern is taken from the bits that chose the place.
    let wrong =
        |h: u64| (split::place(h, 48) * 16 + u64::from(split::shard(h, 16))) * 64 + (h >> 58);
    assert!(!uniform(&histogram(48 * 16 * 64, wrong)), "the test must reject the control");
}

#[test]
fn fingerprints_are_uniform_in_every_bucket() {
    let bin = |h| split::place(h, 100) * 255 + split::fingerprint(h, 8) - 1;
    assert!(uniform(&histogram(100 * 255, bin)));
    // Control: the fingerprint is taken from the bits that chose the bucket.
    let wrong = |h: u64| split::place(h, 100) * 256 + (h >> 56);
    assert!(!uniform(&histogram(100 * 256, wrong)), "the test must reject the control");
    for bits in [0, 1, 2, 12, 16, 32, 63, 64, 65, u32::MAX] {
        for hash in [0, 1, u64::MAX, 1 << 63, 0x9E37_79B9_7F4A_7C15] {
            let value = split::fingerprint(hash, bits);
            assert!(value > 0 && value <= u64::MAX >> (64 - bits.clamp(1, 64)));
        }
    }
}

/// If one bit of the item is flipped, each bit of the hash flips with probability one half.
#[test]
fn hashes_avalanche() {
    const SAMPLES: u64 = 4_000;
    type Hash = fn(&[u8]) -> u64;
    let hashers: [(&str, Hash); 4] = [
        ("rapid", |b| Rapid::with_seed(3).hash_bytes(b)),
        ("xxh3", |b| Xxh3::with_seed(3).hash_bytes(b)),
        ("xxh64", |b| Xxh64::with_seed(3).hash_bytes(b)),
        ("siphash", |b| SipHash13::with_key([3; 16]).hash_bytes(b)),
    ];
    for (name, hash) in hashers {
        let within = avalanche(SAMPLES, hash);
        assert!(within.0 && within.1, "{name}");
    }
    // Control: FNV-1a carries bits only upwards.
    let fnv = |bytes: &[u8]| {
        bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |h, &b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3)
        })
    };
    assert!(!avalanche(SAMPLES, fnv).0, "the test must reject the control");
}

/// Returns whether the flip counts of all 64 × 64 pairs of bits are within the binomial bounds: the
/// lower, and the upper.
fn avalanche(samples: u64, hash: impl Fn(&[u8]) -> u64) -> (bool, bool) {
    let mut flips = [[0_u64; 64]; 64];
    let random = SipHash13::with_key([1; 16]);
    for sample in 0..samples {
        let item = random.hash_bytes(&sample.to_le_bytes());
        let base = hash(&item.to_le_bytes());
        for (bit, row) in flips.iter_mut().enumerate() {
            let changed = base ^ hash(&(item ^ 1 << bit).to_le_bytes());
            for (output, count) in row.iter_mut().enumerate() {
                *count += changed >> output & 1;
            }
        }
    }
    let binomial = Binomial::new(0.5, samples).unwrap();
    let alpha = ALPHA / (64.0 * 64.0);
    let (low, high) = (binomial.inverse_cdf(alpha), binomial.inverse_cdf(1.0 - alpha));
    let all = flips.iter().flatten();
    (all.clone().all(|&n| n >= low), all.clone().all(|&n| n <= high))
}
