//! Checks the content of a package: licences, a README.md, a small size, and no unknown file.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::workspace::{self, Package};

/// The maximum size of a package, compressed: much less than any data. The largest package, the
/// program with its tests, has four fifths of it.
const MAX_BYTES: u64 = 384 << 10;

/// The allowed entries in the directory of a package. cargo writes the first four.
const ENTRIES: [&str; 11] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "examples",
    "spec",
    "src",
    "tests",
];

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The line with which a crate compiles the examples of its README.md.
const DOCTEST: &str = "#[doc = include_str!(\"../README.md\")]";

/// Returns the defects of an archive and of the directory into which it was unpacked.
pub(super) fn wrong(package: &Package, archive: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let bytes = fs::metadata(archive)?.len();
    if bytes > MAX_BYTES {
        wrong.push(format!("is larger than {} KiB, compressed: {bytes} bytes", MAX_BYTES >> 10));
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !ENTRIES.iter().any(|known| name == **known) {
            wrong.push(format!("contains {}: exclude it, or allow it in xtask", name.display()));
        }
    }
    for licence in LICENCES {
        // cargo must follow a link to the licence, and must not pack the link or its path.
        if fs::read(folder.join(licence)).ok() != Some(fs::read(workspace::root().join(licence))?) {
            wrong.push(format!("needs {licence} with the text of the root's: a link is enough"));
        }
    }
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
    wrong.extend(wrong_readme(&package.name, &readme, &library));
    Ok(wrong.into_iter().map(|what| format!("package `{}`: it {what}", package.name)).collect())
}

fn wrong_readme(name: &str, readme: &str, library: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut demand = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    demand(readme.starts_with(&format!("# {name}\n")), "needs a README.md with its name as title");
    demand(
        readme.contains("https://github.com/tamis-rs/tamis#readme"),
        "needs a link to the project's README in its own",
    );
    // An example that needs a server is compiled only.
    let shown = ["\n```rust\n", "\n```rust,no_run\n"].iter().any(|start| readme.contains(start));
    let compiled = shown && library.contains(DOCTEST);
    demand(
        compiled || readme.contains("\n```sh\n"),
        "needs an example in README.md, and `include_str!` of it in src/lib.rs",
    );
    wrong
}

#[cfg(test)]
mod tests {
    use xshell::Shell;

    use super::*;

    const README: &str =
        "# tamis-a\n\n```rust\nf();\n```\nSee https://github.com/tamis-rs/tamis#readme.\n";

    /// Returns the number of defects in a good package after `spoil` changed it.
    fn found(spoil: impl Fn(&Path)) -> usize {
        let sh = Shell::new().expect("a current folder");
        let temporary = sh.create_temp_dir().expect("a folder");
        let (archive, folder) = (temporary.path().join("a.crate"), temporary.path().join("a"));
        fs::create_dir_all(folder.join("src")).expect("a folder");
        let write = |path: &Path, text: &[u8]| fs::write(path, text).expect("written");
        write(&archive, b"small");
        write(&folder.join("README.md"), README.as_bytes());
        write(&folder.join("src/lib.rs"), DOCTEST.as_bytes());
        for licence in LICENCES {
            fs::copy(workspace::root().join(licence), folder.join(licence)).expect("copied");
        }
        spoil(temporary.path());
        let package = Package { name: "tamis-a".into(), ..Package::default() };
        wrong(&package, &archive, &folder).expect("the files exist").len()
    }

    #[test]
    fn a_complete_package_passes() {
        assert_eq!(found(|_| ()), 0);
    }

    #[test]
    fn missing_files_and_excess_are_found() {
        let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).expect("written");
        assert_eq!(found(|at| write(&at.join("a.crate"), &[0; (MAX_BYTES + 1) as usize])), 1);
        assert_eq!(found(|at| fs::create_dir(at.join("a/data")).expect("made")), 1);
        assert_eq!(found(|at| fs::remove_file(at.join("a/LICENSE-MIT")).expect("removed")), 1);
        assert_eq!(found(|at| write(&at.join("a/LICENSE-MIT"), b"../../LICENSE-MIT")), 1);
    }

    #[test]
    fn an_incomplete_readme_is_found() {
        assert_eq!(found(|at| fs::remove_file(at.join("a/README.md")).expect("removed")), 3);
        assert_eq!(wrong_readme("tamis-b", README, DOCTEST).len(), 1);
        assert_eq!(wrong_readme("tamis-a", README, "").len(), 1);
        assert_eq!(wrong_readme("tamis-a", &README.replace("rust", "sh"), "").len(), 0);
        let not_run = |with| wrong_readme("tamis-a", &README.replace("rust", with), DOCTEST).len();
        assert_eq!((not_run("rust,no_run"), not_run("rust,ignore")), (0, 1));
    }
}
