//! `features`: checks every published crate with no feature, with each feature alone, and with all
//! features.

use std::collections::BTreeSet;

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    for package in workspace::published(sh)? {
        let name = &package.name;
        for features in sets(&package.metadata["features"]) {
            let features = Vec::from_iter(features).join(",");
            // Clippy instead of `cargo check`: only clippy accepts `-D warnings` without a rebuild
            // of the dependencies.
            let flags = ["--no-default-features", "--features", &features];
            cmd!(sh, "cargo clippy --quiet --package {name} {flags...} -- -D warnings").run()?;
        }
    }
    Ok(())
}

/// The features that only the models use, under another `cfg`.
const OF_MODELS: [&str; 2] = ["loom", "shuttle"];

/// Returns the distinct sets of features that are on with none, each alone, and all of a package.
/// `default` is not in them: it is a name for others.
fn sets(features: &Value) -> BTreeSet<BTreeSet<&str>> {
    let names = features.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let names: Vec<&str> = names.filter(|name| !OF_MODELS.contains(name)).collect();
    let mut sets: BTreeSet<_> = names.iter().map(|&name| enabled(features, &[name])).collect();
    sets.insert(BTreeSet::new());
    sets.insert(enabled(features, &names));
    sets
}

/// Returns all features of the package that the given ones enable.
fn enabled<'a>(features: &'a Value, given: &[&'a str]) -> BTreeSet<&'a str> {
    let mut enabled = BTreeSet::new();
    let mut open = given.to_vec();
    while let Some(name) = open.pop() {
        // Other entries are features of dependencies: `dep:rayon`, `tamis-core/std`.
        if let Some(others) = features[name].as_array()
            && enabled.insert(name)
        {
            open.extend(others.iter().filter_map(Value::as_str));
        }
    }
    enabled.remove("default");
    enabled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_set_is_checked_once() {
        let features = json!({
            "default": ["std"], "std": ["a/std"], "tls": ["std", "dep:b"], "serde": ["dep:serde"],
            "loom": ["std", "dep:loom"],
        });
        let expected = [&[][..], &["serde"], &["serde", "std", "tls"], &["std"], &["std", "tls"]];
        let expected = expected.map(|set| set.iter().copied().collect::<BTreeSet<_>>());
        assert_eq!(sets(&features), BTreeSet::from(expected));
        assert_eq!(sets(&json!({})), BTreeSet::from([BTreeSet::new()]));
    }
}
