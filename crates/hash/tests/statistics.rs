//! Are the parts of a hash uniform and independent? Chi-square at alpha 1e-6, with fixed seeds and,
//! for each question, a wrong split that the same test refuses.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};
use tamis_hash::{HashItem, Rapid, SipHash13, Xxh3, Xxh64, split};

const ALPHA: f64 = 1e-6;

/// Whether counts in equally likely bins are further from flat than chance allows.
fn flat(counts: &[u32]) -> bool {
    let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
    let expected = total as f64 / counts.len() as f64;
    assert!(expected >= 5.0, "too few samples for a chi-square");
    let chi: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    let freedom = ChiSquared::new((counts.len() - 1) as f64).unwrap();
    // Both tails: too even is as wrong as too uneven.
    chi < freedom.inverse_cdf(1.0 - ALPHA) && chi > freedom.inverse_cdf(ALPHA)
}

/// Hashes of sequential integers, the least random input there is.
fn hashes() -> impl Iterator<Item = u64> {
    let hasher = Rapid::with_seed(5);
    (0..1_u64 << 21).map(move |i| hasher.hash_item(&i))
}

/// Counts over `bins` of a function of the hashes.
fn histogram(bins: usize, bin: impl Fn(u64) -> u64) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for hash in hashes() {
        counts[bin(hash) as usize] += 1;
    }
    counts
}

/// Sizes where a modulo, a 32-bit product or a float would show.
const SIZES: [u64; 7] =
    [1000, 3 << 29, (1 << 31) + 1, (1 << 32) - 1, (1 << 32) + 1, (1 << 36) + 7, 3 << 40];

#[test]
fn places_are_flat_at_awkward_sizes() {
    for n in SIZES {
        let coarse = |hash| (u128::from(split::place(hash, n)) * 1000 / u128::from(n)) as u64;
        assert!(flat(&histogram(1000, coarse)), "regions of {n}");
        if n > 1 << 30 {
            assert!(flat(&histogram(1021, |hash| split::place(hash, n) % 1021)), "residues of {n}");
        }
    }
    // The control: a 32-bit hash reduced by modulo favours the low places of 3·2^29.
    let wrong = |hash: u64| (hash & 0xFFFF_FFFF) % (3 << 29) * 3 / (3 << 29);
    assert!(!flat(&histogram(3, wrong)), "the control must be refused");
}

#[test]
fn shards_are_flat_in_every_place() {
    assert!(flat(
        &histogram(64 * 64, |h| split::place(h, 64) * 64 + u64::from(split::shard(h, 64)))
    ));
    // The control: shard and place from the same bits.
    assert!(!flat(&histogram(64 * 64, |h| split::place(h, 64) * 64 + split::place(h, 64))));
}

#[test]
fn patterns_are_flat_in_every_place_and_shard() {
    // Slices of six bits of three patterns in a row, down to the lowest good bit.
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
            assert!(flat(&histogram(48 * 16 * 64, bin)), "{name} pattern, bits from {shift}");
        }
    }
    let wrong =
        |h: u64| (split::place(h, 48) * 16 + u64::from(split::shard(h, 16))) * 64 + (h >> 58);
    assert!(!flat(&histogram(48 * 16 * 64, wrong)), "the control must be refused");
}

#[test]
fn fingerprints_are_flat_in_every_bucket() {
    let bin = |h| split::place(h, 100) * 255 + split::fingerprint(h, 8) - 1;
    assert!(flat(&histogram(100 * 255, bin)));
    let wrong = |h: u64| split::place(h, 100) * 256 + (h >> 56);
    assert!(!flat(&histogram(100 * 256, wrong)), "the control must be refused");
    for bits in [0, 1, 2, 12, 16, 32, 63, 64, 65, u32::MAX] {
        for hash in [0, 1, u64::MAX, 1 << 63, 0x9E37_79B9_7F4A_7C15] {
            let value = split::fingerprint(hash, bits);
            assert!(value > 0 && value <= u64::MAX >> (64 - bits.clamp(1, 64)));
        }
    }
}

/// One flipped bit of the item flips every bit of the hash half of the time.
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
        let worst = avalanche(SAMPLES, hash);
        assert!(worst.0 && worst.1, "{name}");
    }
    let fnv = |bytes: &[u8]| {
        bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |h, &b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3)
        })
    };
    assert!(!avalanche(SAMPLES, fnv).0, "the control must be refused");
}

/// Whether the flip counts of all 64 × 64 pairs of bits lie within binomial bounds, lower and upper.
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
