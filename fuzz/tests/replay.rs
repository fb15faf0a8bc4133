//! Runs every target on the regressions and on pseudo-random inputs.

use std::fs;
use std::path::Path;

use tamis_fuzz::TARGETS;

/// The pseudo-random inputs of each target. They are the same in every run, so they find what a
/// change has broken, and nothing new.
///
/// MEASURED: the replay takes 37 s with 3000 inputs (500 for `ops_growing`), and 12 s with these
/// (Emerald Rapids, one run each). The regressions of `ops_growing` reach every operation of every
/// kind.
const PSEUDO_RANDOM: u64 = 1000;
const OF_GROWING: u64 = 200;

#[test]
fn regressions_stay_fixed() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(name);
        let mut files = 0;
        for entry in fs::read_dir(&folder).expect("every target has a folder") {
            let path = entry.expect("a readable folder").path();
            println!("{}", path.display());
            target(&fs::read(&path).expect("a readable file"));
            files += 1;
        }
        assert!(files > 0, "{} is empty", folder.display());
    }
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

/// Returns fewer than 400 bytes, the same on every machine.
fn pseudo_random(seed: u64) -> Vec<u8> {
    let mut state = seed << 32 | 1;
    let mut next = || {
        // The 64-bit generator of Numerical Recipes, without its low bits.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let length = next() % 400;
    // Half of the inputs use few values, so that items repeat.
    let count = if seed.is_multiple_of(2) { 256 } else { 4 };
    let values: Vec<u8> = (0..count).map(|_| next() as u8).collect();
    (0..length).map(|_| values[next() % count]).collect()
}
