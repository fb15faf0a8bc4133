//! Rule on the dependencies between crates: each is listed here, so that they have one direction
//! and a new one is a decision.

use crate::workspace::{Dependency, Package};

/// The allowed dependencies of each published crate.
const ALLOWED: [(&str, &str); 9] = [
    ("tamis-sync", "cpufeatures crossbeam-utils loom memmap2 rustix shuttle"),
    ("tamis-hash", "ahash rapidhash siphasher twox-hash"),
    ("tamis-core", "tamis-hash arrayvec libm"),
    ("tamis-bloom", "tamis-core tamis-hash tamis-sync libm rayon"),
    ("tamis-cuckoo", "tamis-core tamis-hash tamis-sync arrayvec libm"),
    (
        "tamis-formats",
        "tamis-bloom tamis-core tamis-cuckoo tamis-hash tamis-sync base64 fastmurmur3 murmur2 rustix \
         serde_core sha1 sha2 tempfile thiserror twox-hash zerocopy",
    ),
    (
        "tamis-redis",
        "tamis-bloom tamis-core tamis-formats tamis-hash crc16 futures-util getrandom redis rustix rustls \
         rustls-native-certs serde serde_json thiserror tokio tokio-rustls",
    ),
    ("tamis", "tamis-bloom tamis-core tamis-cuckoo tamis-formats tamis-hash tamis-sync"),
    (
        "tamis-cli",
        "tamis tamis-redis tamis-sync clap clap_complete clap_mangen csv-core flate2 getrandom indicatif memchr \
         memmap2 rustix ruzstd same-file serde_json signal-hook tempfile url zerocopy",
    ),
];

/// The crates on which no crate depends, not even for its tests.
const LEAVES: [&str; 5] = ["tamis-cli", "tamis-benches", "tamis-crawler", "tamis-fuzz", "xtask"];

/// The exceptions: crates that are not published and run the program, or parts of it.
const RUN_THE_PROGRAM: [&str; 3] = ["tamis-crawler", "tamis-fuzz", "tamis-vectors"];

pub(super) fn check(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .flat_map(|package| {
            package.dependencies.iter().filter_map(|dependency| wrong(package, dependency))
        })
        .collect()
}

fn wrong(package: &Package, dependency: &Dependency) -> Option<String> {
    let Package { name, published, .. } = package;
    let to = dependency.name.as_str();
    let runs_it = to == "tamis-cli" && RUN_THE_PROGRAM.contains(&name.as_str());
    if LEAVES.contains(&to) && !runs_it {
        return Some(violation(name, to, "no crate may depend on it"));
    }
    if dependency.dev || !published {
        return None;
    }
    let allowed = ALLOWED.iter().find(|(from, _)| from == name).map_or("", |(_, to)| to);
    let known = allowed.split(' ').any(|allowed| allowed == to);
    (!known).then(|| violation(name, to, "remove it, or list it here"))
}

fn violation(from: &str, to: &str, advice: &str) -> String {
    format!("xtask/src/tidy/arrows.rs:1: arrows: `{from}` depends on `{to}`: {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depends(from: &str, to: &str, dev: bool) -> usize {
        let dependencies = vec![Dependency { name: to.to_owned(), dev }];
        let name = from.to_owned();
        check(&[Package { name, published: true, dependencies, ..Package::default() }]).len()
    }

    #[test]
    fn a_dependency_against_the_direction_is_found() {
        assert_eq!(depends("tamis-bloom", "tamis-sync", false), 0);
        assert_eq!(depends("tamis-sync", "tamis-bloom", false), 1);
    }

    #[test]
    fn a_new_dependency_is_found() {
        assert_eq!(depends("tamis-hash", "serde", false), 1);
        assert_eq!(depends("tamis-hash", "proptest", true), 0);
        assert_eq!(depends("tamis-new", "libm", false), 1);
    }

    #[test]
    fn a_dependency_on_a_leaf_is_found() {
        assert_eq!(depends("tamis", "tamis-cli", true), 1);
    }
}
