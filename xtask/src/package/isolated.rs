//! Unpacks the packages into a workspace that contains nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use xshell::{Shell, cmd};

use crate::Result;
use crate::workspace::{self, Package};

/// Returns the directory of the unpacked packages.
pub(super) fn folder() -> PathBuf {
    workspace::target_dir("isolated")
}

/// Unpacks all packages into one directory. An unchanged file keeps its time, so that cargo does
/// not rebuild it.
pub(super) fn unpack(sh: &Shell, packages: &[Package]) -> Result<PathBuf> {
    let (folder, last) = (folder(), workspace::target_dir("isolated-last"));
    sh.remove_path(&last)?;
    if folder.exists() {
        fs::rename(&folder, &last)?;
    }
    sh.create_dir(&folder)?;
    for package in packages {
        let archive = package.archive();
        // `-m` sets new times: all files of an archive have the same time, so cargo would see no
        // change.
        cmd!(sh, "tar -x -z -m -f {archive} -C {folder}").quiet().run()?;
    }
    keep_times(&last, &folder)?;
    sh.remove_path(&last)?;
    Ok(folder)
}

/// Sets the time of each file in `to` to that of the same path in `from`, if both have the same
/// content.
fn keep_times(from: &Path, to: &Path) -> Result {
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        let (old, new) = (from.join(entry.file_name()), entry.path());
        if entry.file_type()?.is_dir() {
            keep_times(&old, &new)?;
        } else if fs::read(&old).ok() == Some(fs::read(&new)?) {
            let modified = fs::metadata(&old)?.modified()?;
            fs::File::options().append(true).open(&new)?.set_modified(modified)?;
        }
    }
    Ok(())
}

/// Writes a manifest with all packages as members, each of which replaces the package of its name
/// on crates.io. The profiles and the versions of other crates are those of the workspace, so that
/// cargo does not build them again.
pub(super) fn write_workspace(sh: &Shell, packages: &[Package], folder: &Path) -> Result {
    let root: Table = sh.read_file(workspace::root().join("Cargo.toml"))?.parse()?;
    let manifest = manifest(packages, root.get("profile"));
    sh.write_file(folder.join("Cargo.toml"), manifest.to_string())?;
    sh.copy_file(workspace::root().join("Cargo.lock"), folder)?;
    Ok(())
}

fn manifest(packages: &[Package], profiles: Option<&Value>) -> Table {
    let members: Vec<Value> = packages.iter().map(|package| package.stem().into()).collect();
    let path = |package: &Package| Value::Table(table([("path", package.stem().into())]));
    // cargo warns of a patch for a package that nothing depends on.
    let depended = |of: &&Package| {
        let mut all = packages.iter().flat_map(|package| &package.dependencies);
        all.any(|dependency| dependency.name == of.name)
    };
    let patched = packages.iter().filter(depended).map(|of| (of.name.as_str(), path(of)));
    let mut manifest = table([
        ("workspace", table([("resolver", "3".into()), ("members", members.into())]).into()),
        ("patch", table([("crates-io", table(patched).into())]).into()),
    ]);
    manifest.extend(profiles.map(|profiles| ("profile".to_owned(), profiles.clone())));
    manifest
}

fn table<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Table {
    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[test]
    fn packages_replace_those_on_crates_io() {
        let package = |name: &str, on: &[&str]| Package {
            name: name.into(),
            version: "1.2.3".into(),
            dependencies: on
                .iter()
                .map(|on| Dependency { name: (*on).into(), dev: false })
                .collect(),
            ..Package::default()
        };
        let packages = [package("a", &[]), package("b", &["a", "libm"])];
        let profiles = table([("dev", table([("opt-level", 2.into())]).into())]).into();
        let expected: Table = r#"
            workspace = { resolver = "3", members = ["a-1.2.3", "b-1.2.3"] }
            patch.crates-io.a.path = "a-1.2.3"
            profile.dev.opt-level = 2
        "#
        .parse()
        .expect("valid TOML");
        assert_eq!(manifest(&packages, Some(&profiles)), expected);
    }

    #[test]
    fn only_changed_files_get_a_new_time() {
        let sh = Shell::new().expect("a current folder");
        let temporary = sh.create_temp_dir().expect("a folder");
        let (old, new) = (temporary.path().join("old"), temporary.path().join("new"));
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for (folder, text) in [(&old, "1"), (&new, "2")] {
            fs::create_dir_all(folder.join("src")).expect("a folder");
            fs::write(folder.join("src/same"), "0").expect("written");
            fs::write(folder.join("src/other"), text).expect("written");
        }
        for name in ["src/same", "src/other"] {
            let file =
                fs::File::options().append(true).open(old.join(name)).expect("the file exists");
            file.set_modified(long_ago).expect("the file is writable");
        }
        keep_times(&old, &new).expect("the folders exist");
        let time =
            |name| fs::metadata(new.join(name)).and_then(|file| file.modified()).expect("a time");
        assert_eq!(time("src/same"), long_ago);
        assert_ne!(time("src/other"), long_ago);
    }
}
