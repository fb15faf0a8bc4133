//! The directories of the workspace, and what cargo reports about its packages.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

use crate::Result;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    // The value at run time takes precedence: copies of the repository may share a binary.
    let xtask =
        env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&xtask).parent().expect("xtask is in the root").to_owned()
}

/// Returns a directory for build products inside the target directory.
pub(crate) fn target_dir(name: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root().join(target).join(name)
}

/// Prints a command, as `Cmd::run` does, runs it, and returns its output.
pub(crate) fn read(command: Cmd<'_>) -> Result<String> {
    eprintln!("$ {command}");
    Ok(command.read()?)
}

/// A member of the workspace, as `cargo metadata` describes it.
#[derive(Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The directory of its manifest.
    pub(crate) folder: PathBuf,
    pub(crate) published: bool,
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// All that `cargo metadata` reports about it.
    pub(crate) metadata: Value,
}

impl Package {
    /// Returns the name and version in the form of cargo's file names.
    pub(crate) fn stem(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// Returns the file that `cargo publish` uploads.
    pub(crate) fn archive(&self) -> PathBuf {
        target_dir("package").join(format!("{}.crate", self.stem()))
    }
}

/// One line of a package's dependency tables.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
}

/// Returns all members of the workspace.
pub(crate) fn packages(sh: &Shell) -> Result<Vec<Package>> {
    let json = cmd!(sh, "cargo metadata --format-version 1 --no-deps").quiet().read()?;
    let metadata: Value = serde_json::from_str(&json)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    Ok(packages.iter().map(package).collect())
}

/// Returns the members that are published.
pub(crate) fn published(sh: &Shell) -> Result<Vec<Package>> {
    Ok(packages(sh)?.into_iter().filter(|package| package.published).collect())
}

/// Returns the features with which the workspace is checked and tested, in the form of cargo's
/// flag: all of the published crates, the report of the benches with the filters of other crates,
/// and the crawler's. All steps use the same, so that they share build products.
pub(crate) fn features(sh: &Shell) -> Result<String> {
    let others = ["tamis-benches/peers", "tamis-benches/report", "tamis-crawler/tls"];
    let mut features = others.map(str::to_owned).to_vec();
    for package in published(sh)? {
        features.extend(package.features.iter().map(|name| format!("{}/{name}", package.name)));
    }
    Ok(features.join(","))
}

fn package(json: &Value) -> Package {
    let dependencies = json["dependencies"].as_array().into_iter().flatten();
    Package {
        name: text(&json["name"]),
        version: text(&json["version"]),
        folder: Path::new(&text(&json["manifest_path"])).with_file_name(""),
        // `publish = false` is an empty list of registries. Null means that publishing is allowed.
        published: json["publish"].is_null(),
        features: json["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, _)| k.clone())
            .collect(),
        dependencies: dependencies
            .map(|d| Dependency { name: text(&d["name"]), dev: d["kind"] == "dev" })
            .collect(),
        metadata: json.clone(),
    }
}

fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}
