//! Rule on the files of a crate: no two of them use each other, neither directly nor through other
//! files.
//!
//! A file uses another file if its code names an item of the other file: in a `use`, in a path, or
//! in the tokens of a macro. The file of an item is the file that defines it, even if another
//! module re-exports it. Test code does not count, nor do `mod` declarations and re-exports of a
//! module's own children. A method call names no file, so it does not count either.

use std::collections::BTreeMap;

use petgraph::algo::tarjan_scc;
use petgraph::prelude::DiGraphMap;

use super::modules::{self, Edge};
use super::source::Source;

/// Returns a violation per circle in the crates whose roots are among the sources.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let crates = modules::of_crates(sources).into_iter();
    crates
        .flat_map(|modules| match modules {
            Ok(modules) => circles(&modules.edges()),
            Err(violation) => vec![violation],
        })
        .collect()
}

/// Returns a violation per strongly connected component with more than one file.
fn circles(edges: &[Edge<'_>]) -> Vec<String> {
    // For each pair of files, keep the edge with the lowest line number.
    let mut firsts = BTreeMap::new();
    for edge in edges {
        let first = firsts.entry((edge.from, edge.to)).or_insert(edge);
        if edge.line < first.line {
            *first = edge;
        }
    }
    let graph: DiGraphMap<&str, ()> = firsts.keys().map(|&(from, to)| (from, to, ())).collect();
    let mut circles: Vec<String> = tarjan_scc(&graph)
        .into_iter()
        .filter(|files| files.len() > 1)
        .map(|files| {
            let inside = firsts
                .values()
                .filter(|edge| files.contains(&edge.from) && files.contains(&edge.to));
            violation(files.len(), &inside.copied().collect::<Vec<_>>())
        })
        .collect();
    circles.sort();
    circles
}

fn violation(files: usize, edges: &[&Edge<'_>]) -> String {
    let uses = edges
        .iter()
        .map(|Edge { from, line, to, path }| format!("\n    {from}:{line} uses {to} by `{path}`"));
    let place = edges.first().map_or(("", 1), |edge| (edge.from, edge.line));
    format!(
        "{}:{}: circles: {files} files use each other; remove uses until no circle is left{}",
        place.0,
        place.1,
        uses.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the violations in a crate with these files: paths below `src`, and texts.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(&format!("a/src/{path}"), (*text).to_owned()))
            .collect();
        check(&sources)
    }

    /// Returns the number of violations in a library whose modules `b` and `c` have these texts.
    fn of_two(b: &str, c: &str) -> usize {
        found(&[("lib.rs", "mod b;\nmod c;\n"), ("b.rs", b), ("c.rs", c)]).len()
    }

    #[test]
    fn two_files_that_use_each_other_are_found() {
        let files = [
            ("lib.rs", "mod b;\nmod c;\n"),
            ("b.rs", "use crate::c::C;\npub struct B(C);\n"),
            ("c.rs", "pub struct C;\nimpl C { fn f(b: super::b::B) {} }\n"),
        ];
        let expected = "a/src/b.rs:1: circles: 2 files use each other; remove uses until no circle is left\n    \
                        a/src/b.rs:1 uses a/src/c.rs by `crate::c::C`\n    \
                        a/src/c.rs:2 uses a/src/b.rs by `super::b::B`";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn a_use_in_one_direction_is_no_circle() {
        assert_eq!(of_two("use crate::c::C;\n", "pub struct C;\n"), 0);
    }

    #[test]
    fn a_circle_through_a_third_file_is_found() {
        let files = [
            ("main.rs", "mod b;\nmod c;\nmod d;\n"),
            ("b.rs", "fn b() { crate::c::c() }\n"),
            ("c.rs", "use crate::{d::{d}};\n"),
            ("d/mod.rs", "use super::b;\nfn d() { b::b() }\n"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn a_reexport_leads_to_the_file_that_defines_the_item() {
        let files = [
            ("lib.rs", "mod b;\nmod c;\npub use crate::b::{B, f as g};\npub use c::*;\n"),
            ("b.rs", "pub struct B(crate::C);\n"),
            ("c.rs", "pub struct C;\nfn c() { crate::g() }\n"),
        ];
        assert_eq!(found(&files).len(), 1);
        // No file uses `lib.rs`, and `lib.rs` uses no file.
        assert_eq!(found(&[files[0], files[1], ("c.rs", "pub struct C;\n")]).len(), 0);
    }

    #[test]
    fn a_parent_and_a_child_that_use_each_other_are_found() {
        let child = ("b/c.rs", "use super::B;\npub struct C;\n");
        let with = |parent| found(&[("lib.rs", "mod b;\n"), ("b.rs", parent), child]).len();
        assert_eq!(with("mod c;\npub struct B;\nfn f() { c::C }\n"), 1);
        assert_eq!(with("mod c;\npub struct B;\npub use self::c::C;\n"), 0);
        assert_eq!(with("mod c;\npub struct B;\n"), 0);
    }

    #[test]
    fn macros_are_read() {
        let b = "macro_rules! b { () => { $crate::c::C }; }\npub(crate) use b;\n";
        assert_eq!(of_two(b, "pub struct C;\ncrate::b::b!();\n"), 1);
        assert_eq!(of_two("m! { f(crate::c::C) }\n", "m! { use crate::b::{a as d}; }\n"), 1);
        // The call does not name the function of the parent.
        let parent = ("lib.rs", "mod b;\npub fn write() { b::f() }\n");
        assert_eq!(found(&[parent, ("b.rs", "fn f() { write!(a) }\n")]).len(), 0);
        let parent = ("lib.rs", "macro_rules! write {}\nmod b;\nfn c() { b::f() }\n");
        assert_eq!(found(&[parent, ("b.rs", "fn f() { write!(a) }\n")]).len(), 1);
    }

    #[test]
    fn test_code_and_documentation_do_not_count() {
        let c =
            "pub struct C;\n/// [`crate::b::B`]\n#[cfg(test)]\nmod tests { use crate::b::B; }\n";
        assert_eq!(of_two("use crate::c::C;\n", c), 0);
        let lib = "mod b;\n#[cfg(all(test, tamis_loom))]\nmod c;\nfn f() { b::b() }\n";
        let files = [("lib.rs", lib), ("b.rs", ""), ("c.rs", "use crate::{b::B, f};\n")];
        assert_eq!(found(&files).len(), 0);
    }

    #[test]
    fn other_crates_do_not_count() {
        assert_eq!(of_two("use crate::c::C;\n", "use ::b::B;\nuse d::b::B;\nfn f(b: B) {}\n"), 0);
        let lib = ("lib.rs", "mod b;\nfn f() { b::b() }\n");
        assert_eq!(found(&[lib, ("b.rs", ""), ("main.rs", "use b::f;\n")]).len(), 0);
        let lib = "#[path = \"../../c/tests/b.rs\"]\nmod b;\nuse b::B;\n";
        assert_eq!(found(&[("lib.rs", lib)]).len(), 0);
        assert_eq!(found(&[("lib.rs", "mod b;\nuse b::B;\n")]).len(), 1, "no file");
    }

    #[test]
    fn a_module_without_its_file_is_found() {
        assert_eq!(found(&[("lib.rs", "mod b;\n"), ("b.rs", "")]).len(), 0);
        assert_eq!(found(&[("lib.rs", "mod b;\n")]).len(), 1);
    }

    #[test]
    fn modules_are_found_by_their_paths() {
        let lib = "#[path = \"odd.rs\"]\nmod b;\nmod inline { mod c; }\n";
        let files = [
            ("lib.rs", lib),
            ("odd.rs", "use crate::inline::c::C;\n"),
            ("inline/c.rs", "use super::super::b::B;\n"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn a_file_that_is_not_rust_is_found() {
        assert_eq!(of_two("fn", ""), 1);
    }
}
