//! Unpacks the packages into a workspace, in which they take the place of the crates that they were
//! made of.

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

/// Writes a manifest whose members are all packages, each of which replaces the package of its name
/// on crates.io, and the crates that are not published, by links. All else is as in the workspace.
pub(super) fn write_workspace(
    sh: &Shell,
    packages: &[Package],
    others: &[Package],
    folder: &Path,
) -> Result {
    for other in others {
        std::os::unix::fs::symlink(&other.folder, folder.join(&other.name))?;
    }
    let root: Table = sh.read_file(workspace::root().join("Cargo.toml"))?.parse()?;
    sh.write_file(folder.join("Cargo.toml"), manifest(packages, others, root)?.to_string())?;
    sh.copy_file(workspace::root().join("Cargo.lock"), folder)?;
    Ok(())
}

fn manifest(packages: &[Package], others: &[Package], root: Table) -> Result<Table> {
    let mut manifest = root;
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.ok_or("the manifest in the root has no workspace")?;
    workspace.retain(|key, _| !["default-members", "exclude"].contains(&key));
    let members = packages.iter().map(Package::stem);
    let members = members.chain(others.iter().map(|other| other.name.clone()));
    workspace.insert("members".into(), members.collect::<Vec<_>>().into());
    // Our crates are required by version, as in a user's manifest.
    let required = workspace.get_mut("dependencies").and_then(Value::as_table_mut);
    for (_, required) in required.into_iter().flatten() {
        _ = required.as_table_mut().and_then(|required| required.remove("path"));
    }
    let path = |package: &Package| Value::Table(table([("path", package.stem().into())]));
    // cargo warns of a patch for a package that nothing depends on.
    let depended = |of: &&Package| {
        let mut all = packages.iter().chain(others).flat_map(|package| &package.dependencies);
        all.any(|dependency| dependency.name == of.name)
    };
    let patched = packages.iter().filter(depended).map(|of| (of.name.as_str(), path(of)));
    manifest.insert("patch".into(), table([("crates-io", table(patched).into())]).into());
    Ok(manifest)
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
        let others = [package("c", &["b"])];
        let root: Table = r#"
            workspace.resolver = "3"
            workspace.members = ["crates/*", "c"]
            workspace.default-members = ["crates/*"]
            workspace.dependencies.a = { path = "crates/a", version = "1.2.3" }
            workspace.dependencies.libm = "0.2"
            profile.dev.opt-level = 2
        "#
        .parse()
        .expect("valid TOML");
        let expected: Table = r#"
            workspace.resolver = "3"
            workspace.members = ["a-1.2.3", "b-1.2.3", "c"]
            workspace.dependencies.a = { version = "1.2.3" }
            workspace.dependencies.libm = "0.2"
            profile.dev.opt-level = 2
            patch.crates-io.a.path = "a-1.2.3"
            patch.crates-io.b.path = "b-1.2.3"
        "#
        .parse()
        .expect("valid TOML");
        assert_eq!(manifest(&packages, &others, root).expect("a workspace"), expected);
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
