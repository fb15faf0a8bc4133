//! `deny`: checks the licences and sources of the dependencies against deny.toml, and refuses the
//! version `*`.
//!
//! cargo-deny reads the same file and does the same checks, but takes minutes to install.
//! Advisories are not checked: their database is on the network and changes every day, so a commit
//! that passes today could fail tomorrow.

use serde_json::Value;
use spdx::{Expression, ParseMode};
use toml::Table;
use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// The only source of crates that are not ours.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn run(sh: &Shell) -> Result {
    let config: Table = sh.read_file(workspace::root().join("deny.toml"))?.parse()?;
    let allowed = config["licenses"]["allow"].as_array().ok_or("deny.toml allows no licence")?;
    let allowed: Vec<&str> = allowed.iter().filter_map(toml::Value::as_str).collect();
    let exceptions = config["licenses"].get("exceptions").and_then(toml::Value::as_array);
    let exceptions = exceptions.map(Vec::as_slice).unwrap_or_default();
    let metadata = cmd!(sh, "cargo metadata --format-version 1 --all-features").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let wrong: Vec<String> =
        packages.iter().flat_map(|package| denied(package, &allowed, exceptions)).collect();
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} dependencies are not allowed").into()),
    }
}

/// Returns what is not allowed about a package, which `cargo metadata` describes. An exception
/// allows more licences for the crate that it names.
fn denied(package: &Value, allowed: &[&str], exceptions: &[toml::Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    let licence = package["license"].as_str().unwrap_or_default();
    let of_it = |exception: &&toml::Value| exception["crate"].as_str() == package["name"].as_str();
    let more =
        exceptions.iter().filter(of_it).filter_map(|exception| exception["allow"].as_array());
    let more = more.flatten().filter_map(toml::Value::as_str);
    let allowed: Vec<&str> = allowed.iter().copied().chain(more).collect();
    if !may_be_used(licence, &allowed) {
        wrong.push(format!("licence `{licence}`"));
    }
    match package["source"].as_str() {
        // A package of ours: check the versions that it requires.
        None => {
            let required = package["dependencies"].as_array().into_iter().flatten();
            let any = required.filter(|on| on["req"] == "*" && on["path"].is_null());
            wrong.extend(any.map(|on| format!("any version of {}", on["name"])));
        }
        Some(SOURCE) => {}
        Some(other) => wrong.push(format!("source {other}")),
    }
    wrong.iter().map(|what| format!("{} {}: {what}", package["name"], package["version"])).collect()
}

/// Returns whether the allowed licences satisfy an expression such as `MIT OR Apache-2.0` or, in
/// the old form, `MIT/Apache-2.0`.
fn may_be_used(licence: &str, allowed: &[&str]) -> bool {
    let allows = |id: &spdx::LicenseItem| id.id().is_some_and(|id| allowed.contains(&id.name));
    Expression::parse_mode(licence, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(|required| allows(&required.license)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licence_expressions_are_evaluated() {
        for (licence, good) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only", false),
            ("MIT AND GPL-3.0-only", false),
            ("", false),
        ] {
            assert_eq!(may_be_used(licence, &["MIT", "Zlib"]), good, "{licence}");
        }
    }

    #[test]
    fn violations_are_found() {
        let any = json!([{ "name": "b", "req": "*", "path": null }]);
        for (package, count) in [
            (json!({ "license": "MIT", "source": SOURCE, "dependencies": any }), 0),
            (json!({ "license": "GPL-3.0-only", "source": SOURCE }), 1),
            (json!({ "license": "MIT", "source": "git+https://example.org/a" }), 1),
            (json!({ "license": "MIT", "source": null, "dependencies": any }), 1),
        ] {
            assert_eq!(denied(&package, &["MIT"], &[]).len(), count, "{package}");
        }
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        let exception: toml::Value =
            toml::Value::try_from(json!({ "allow": ["MPL-2.0"], "crate": "a" })).expect("TOML");
        for (name, licence, count) in
            [("a", "MPL-2.0", 0), ("b", "MPL-2.0", 1), ("a", "GPL-3.0-only", 1), ("b", "MIT", 0)]
        {
            let package = json!({ "name": name, "license": licence, "source": SOURCE });
            let found = denied(&package, &["MIT"], core::slice::from_ref(&exception));
            assert_eq!(found.len(), count, "{package}");
        }
    }
}
