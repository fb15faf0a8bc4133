//! Rule on the imports of a crate: none goes up to come down again.
//!
//! A file imports an item from the file that defines it, or from a wing that re-exports it. It does
//! not import the item through the crate root or another module that contains the file: those use
//! the file, so the import would run against the direction of the data. Test code does not count.

use super::modules;
use super::source::Source;

/// Returns a violation per import through a module above the file.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    // The rule `circles` reports a crate that cannot be read.
    let detours = modules::of_crates(sources).into_iter().flatten().flat_map(|all| all.detours());
    // The crate `tamis` re-exports the others, and its guide links to the names that users have.
    let follows = |file: &str| file.starts_with("crates/") && !file.starts_with("crates/tamis/");
    let detours = detours.filter(|detour| follows(detour.from));
    detours
        .map(|modules::Edge { from, line, to, path }| {
            format!("{from}:{line}: imports: name the file that defines `{path}`, not {to}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the violations in a library whose files below `src` have these texts.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| {
            Source::new(&format!("crates/formats/src/{path}"), (*text).to_owned())
        };
        check(&files.iter().map(source).collect::<Vec<_>>())
    }

    const LIB: (&str, &str) =
        ("lib.rs", "mod b;\nmod c;\npub use crate::b::B;\npub use tamis_core::D;\n");
    const B: (&str, &str) = ("b.rs", "pub struct B;\n");

    #[test]
    fn an_import_through_the_root_is_found() {
        let violations = found(&[LIB, B, ("c.rs", "use crate::B;\n")]);
        let expected = "crates/formats/src/c.rs:1: imports: name the file that defines `crate::B`, \
                        not crates/formats/src/lib.rs";
        assert_eq!(violations, [expected]);
        assert_eq!(found(&[LIB, B, ("c.rs", "fn f(_: crate::B, _: super::B) {}\n")]).len(), 2);
        assert_eq!(found(&[LIB, B, ("c.rs", "use crate::D;\n")]).len(), 1, "of another crate");
    }

    #[test]
    fn an_import_through_a_parent_is_found() {
        let c = ("c/mod.rs", "mod d;\nmod e;\npub use self::e::E;\npub const F: u8 = 0;\n");
        let with = |d| found(&[LIB, B, c, ("c/d.rs", d), ("c/e.rs", "pub struct E;\n")]).len();
        assert_eq!(with("use super::E;\n"), 1);
        assert_eq!(with("use crate::c::{E, F};\n"), 1);
        assert_eq!(with("use super::e::E;\nuse super::F;\n"), 0);
    }

    #[test]
    fn other_imports_are_in_order() {
        let of_c = |c| found(&[LIB, B, ("c.rs", c)]).len();
        assert_eq!(of_c("use crate::b::B;\nuse tamis_core::D;\n"), 0);
        assert_eq!(of_c("#[cfg(test)]\nmod tests { use crate::B; }\n"), 0);
        // A child uses the scope of its own file.
        assert_eq!(of_c("use crate::b::B;\nmod d { use super::B; }\n"), 0);
        // The face of a wing is for those outside.
        let wing = [("c/mod.rs", "mod d;\npub use self::d::E;\n"), ("c/d.rs", "pub struct E;\n")];
        assert_eq!(found(&[LIB, ("b.rs", "use crate::c::E;\n"), wing[0], wing[1]]).len(), 0);
    }
}
