//! `release`: checks that everything is ready for a release, and builds each package from the
//! packages that it depends on. A person then sets the tag and publishes.

use xshell::{Shell, cmd};

use crate::{Result, package, workspace};

const CHANGELOG: &str = "CHANGELOG.md";

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only check; the command has no other mode
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(sh: &Shell, args: Args) -> Result {
    let packages = workspace::published(sh)?;
    let version = packages.first().map(|package| package.version.as_str()).unwrap_or_default();
    if !args.dry_run {
        return Err(by_hand(version).into());
    }
    if let Some(other) = packages.iter().find(|package| package.version != version) {
        return Err(format!("{} has another version than {version}", other.name).into());
    }
    if !is_listed(&sh.read_file(CHANGELOG)?, version) {
        return Err(format!("{CHANGELOG} has no heading with the version {version}").into());
    }
    let tag = tag(version);
    if !cmd!(sh, "git tag --list {tag}").quiet().read()?.is_empty() {
        return Err(format!("the tag {tag} exists: set a new version in Cargo.toml").into());
    }
    package::pack(sh)?;
    // In the order of the dependencies. Cargo unpacks and builds each package, and uses those that
    // it has packaged before in place of a registry.
    let names = packages.iter().flat_map(|package| ["--package", &package.name]);
    let target = workspace::target_dir("release-check");
    cmd!(sh, "cargo publish --dry-run --allow-dirty --target-dir {target} {names...}").run()?;
    eprintln!("{}", by_hand(version));
    Ok(())
}

/// Returns the name of the tag of a version.
fn tag(version: &str) -> String {
    format!("v{version}")
}

/// Returns what a person does: what is published can never be changed, so no command does it.
fn by_hand(version: &str) -> String {
    let tag = tag(version);
    format!(
        "after `cargo xtask ci --long` and `cargo xtask release --dry-run`, publish by hand:\n\
         git tag --annotate {tag} --message 'Tamis {version}' && git push origin {tag}\n\
         cargo publish --workspace"
    )
}

/// Returns whether a heading of the second level contains a version as a word.
fn is_listed(changelog: &str, version: &str) -> bool {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    let words = headings.flat_map(str::split_whitespace);
    words.map(|word| word.trim_matches(['[', ']', ':'])).any(|word| word == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_headings_only() {
        for heading in ["## Unreleased: 0.1.0", "## [0.1.0] - 2026-01-31", "## 0.1.0"] {
            assert!(is_listed(&format!("# Changelog\n\n{heading}\n\ntext\n"), "0.1.0"));
        }
        assert!(!is_listed("## 0.1.0-rc.1\n\n## 10.1.0\n\n### 0.1.0\n\n0.1.0\n", "0.1.0"));
    }
}
