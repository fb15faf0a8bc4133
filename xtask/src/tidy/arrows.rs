//! Rule on dependencies: they point one way, and a new one is a conscious act.

use crate::workspace::{Dependency, Package};

/// What each published crate may depend on.
const ALLOWED: [(&str, &str); 7] = [
    ("tamis-sync", "crossbeam-utils loom memmap2 shuttle"),
    ("tamis-hash", "ahash rapidhash siphasher twox-hash"),
    ("tamis-core", "tamis-hash libm"),
    ("tamis-bloom", "tamis-core tamis-hash tamis-sync libm rayon"),
    ("tamis-cuckoo", "tamis-core tamis-hash tamis-sync arrayvec libm rayon"),
    ("tamis", "tamis-bloom tamis-core tamis-cuckoo tamis-hash"),
    (
        "tamis-cli",
        "tamis clap clap_complete clap_mangen csv-core flate2 getrandom indicatif memchr ruzstd \
         same-file serde_json tempfile url",
    ),
];

/// What nothing depends on, not even for its tests.
const LEAVES: [&str; 4] = ["tamis-cli", "tamis-benches", "tamis-fuzz", "xtask"];

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
    if LEAVES.contains(&to) {
        return Some(violation(name, to, "nothing depends on it"));
    }
    if dependency.dev || !published {
        return None;
    }
    let allowed = ALLOWED.iter().find(|(from, _)| from == name).map_or("", |(_, to)| to);
    let known = allowed.split(' ').any(|allowed| allowed == to);
    (!known).then(|| violation(name, to, "allow it here if it must be"))
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
    fn an_arrow_that_points_back_is_found() {
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
