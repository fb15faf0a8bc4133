//! Runs every target on the regressions, and on pseudo-random inputs or changed regressions.

use std::fs;
use std::path::{Path, PathBuf};

use tamis_fuzz::TARGETS;

/// The pseudo-random inputs of each target. They are the same in every run, so they find what a
/// change has broken, and nothing new.
///
/// MEASURED: the replay took 37 s with 3000 inputs (500 for `ops_growing`), and 12 s with these
/// (Emerald Rapids, one run each), before regressions were changed. With them it takes 17 s (Zen 3,
/// one run). The regressions of `ops_growing` reach every operation of every kind.
const PSEUDO_RANDOM: u64 = 1000;
const OF_GROWING: u64 = 200;

/// The changes of each regression of `foreign`.
const OF_A_REGRESSION: u64 = 100;

#[test]
fn regressions_stay_fixed() {
    for (name, target) in TARGETS {
        for path in regressions(name) {
            println!("{}", path.display());
            target(&fs::read(&path).expect("a readable file"));
        }
    }
}

/// Returns the paths of the regressions of a target, of which there must be one.
fn regressions(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let entries = fs::read_dir(&folder).expect("every target has a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.sort();
    paths
}

#[test]
fn pseudo_random_inputs_pass() {
    for (name, target) in TARGETS {
        let inputs = if name == "ops_growing" { OF_GROWING } else { PSEUDO_RANDOM };
        for seed in 0..inputs {
            println!("{name} {seed}");
            target(&pseudo_random(seed));
        }
    }
}

/// Pseudo-random bytes are hardly ever a header of another system.
#[test]
fn changed_filters_of_other_systems_pass() {
    let (_, target) = TARGETS.iter().find(|(name, _)| *name == "foreign").expect("the target");
    for path in regressions("foreign") {
        let data = fs::read(&path).expect("a readable file");
        for seed in 0..OF_A_REGRESSION {
            println!("{} {seed}", path.display());
            target(&changed(&data, seed));
        }
    }
}

/// Changes one to four bytes, most of them of the header, and cuts off one in eight. The first
/// byte, which chooses the format, stays.
fn changed(data: &[u8], seed: u64) -> Vec<u8> {
    let mut next = generator(seed);
    let mut data = data.to_vec();
    for _ in 0..=next() % 4 {
        let end = if next().is_multiple_of(4) { data.len() } else { data.len().min(64) };
        if end > 1 {
            let byte = &mut data[1 + next() % (end - 1)];
            *byte = if next().is_multiple_of(2) { *byte ^ 1 << (next() % 8) } else { next() as u8 };
        }
    }
    if next().is_multiple_of(8) {
        data.truncate(1 + next() % data.len());
    }
    data
}

/// Returns numbers of 31 bits, the same on every machine.
fn generator(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed << 32 | 1;
    move || {
        // The 64-bit generator of Numerical Recipes, without its low bits.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}

/// Returns fewer than 400 bytes, the same on every machine.
fn pseudo_random(seed: u64) -> Vec<u8> {
    let mut next = generator(seed);
    let length = next() % 400;
    // Half of the inputs use few values, so that items repeat.
    let count = if seed.is_multiple_of(2) { 256 } else { 4 };
    let values: Vec<u8> = (0..count).map(|_| next() as u8).collect();
    (0..length).map(|_| values[next() % count]).collect()
}
