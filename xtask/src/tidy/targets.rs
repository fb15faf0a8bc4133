//! A rule on the tests of packages without `autotests`: every file of tests is compiled.
//!
//! cargo builds one program per file in `tests`. Several crates list their programs instead, and a
//! program includes the other files as modules. A file that no program includes would not be
//! tested, and nothing else would notice.

use std::collections::BTreeMap;

use super::source::Source;

/// Returns a violation per file directly in the folder `tests` of such a package that is neither a
/// test target nor a module of one.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    sources.iter().filter_map(|manifest| of_package(manifest, &by_path)).flatten().collect()
}

/// Returns `None` if this is not the manifest of a package that lists its tests.
fn of_package(manifest: &Source, by_path: &BTreeMap<&str, &Source>) -> Option<Vec<String>> {
    let package = manifest.path.strip_suffix("Cargo.toml")?;
    let table: toml::Table = manifest.text.parse().ok()?;
    if table.get("package")?.get("autotests")?.as_bool() != Some(false) {
        return None;
    }
    let targets = table.get("test").and_then(toml::Value::as_array).into_iter().flatten();
    let targets: Vec<&str> = targets.filter_map(|test| test.get("name")?.as_str()).collect();
    let folder = format!("{package}tests/");
    let root = |name: &str| by_path.get(format!("{folder}{name}.rs").as_str()).copied();
    let includes = |name: &str| {
        let module = format!("mod {name};");
        let mut roots = targets.iter().filter_map(|target| root(target));
        roots.any(|root| root.code().any(|(_, line)| line.trim() == module))
    };
    let lost = by_path.values().filter(|source| {
        let name = source.path.strip_prefix(&folder).and_then(|name| name.strip_suffix(".rs"));
        name.is_some_and(|name| !name.contains('/') && !targets.contains(&name) && !includes(name))
    });
    let advice = "include it as a module of a test target, or list it as a `[[test]]`";
    Some(lost.map(|source| source.violation(1, "tests", advice)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of violations in a package of this manifest with the files `main.rs`,
    /// `a.rs` and `b.rs`.
    fn found(manifest: &str, main: &str) -> usize {
        let files = [
            ("c/Cargo.toml", manifest),
            ("c/tests/main.rs", main),
            ("c/tests/a.rs", "#[test]\nfn a() {}\n"),
            ("c/tests/b.rs", "#[test]\nfn b() {}\n"),
            ("c/tests/common/mod.rs", ""),
            ("d/tests/e.rs", ""),
        ];
        check(&files.map(|(path, text)| Source::new(path, text.to_owned()))).len()
    }

    const LISTED: &str = "[package]\nautotests = false\n[[test]]\nname = \"main\"\n";

    #[test]
    fn a_file_that_no_program_includes_is_found() {
        assert_eq!(found(LISTED, "mod a;\nmod b;\n"), 0);
        assert_eq!(found(LISTED, "mod a;\n// mod b;\n"), 1);
        assert_eq!(found("[package]\nautotests = false\n", ""), 3);
    }

    #[test]
    fn a_file_of_its_own_program_is_not_found() {
        let own = format!("{LISTED}[[test]]\nname = \"b\"\n");
        assert_eq!(found(&own, "mod a;\n"), 0);
        assert_eq!(found("[package]\nname = \"c\"\n", ""), 0);
    }
}
