//! Collects the paths in the code of a module.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMacro, ItemMod, ItemUse, Macro, UseTree, Visibility};

use crate::tidy::syntax::is_test;

/// A path in the code.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) line: usize,
    /// The segments as written. The first is `crate`, `self`, `super`, a name, or empty if the path
    /// starts with `::`.
    pub(super) path: Vec<String>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `use path as name;`
    Import { name: String, reexport: bool },
    /// `use path::*;`
    Glob { reexport: bool },
    /// A path in an expression, a type, a pattern, or the tokens of a macro.
    Path,
    /// The path of a macro call.
    Macro,
}

/// Collects the paths in these items, except in test code and in child modules.
pub(super) fn of_items(items: &[Item]) -> Vec<Use> {
    let mut collector = Collector::default();
    items.iter().for_each(|item| collector.visit_item(item));
    collector.uses
}

#[derive(Default)]
struct Collector {
    uses: Vec<Use>,
}

impl Collector {
    fn push(&mut self, span: Span, path: Vec<String>, kind: Kind) {
        self.uses.push(Use { line: span.start().line, path, kind });
    }

    /// Adds the leaves of a tree such as `a::{b, c::*}`.
    fn push_tree(&mut self, tree: &UseTree, mut path: Vec<String>, reexport: bool) {
        let (ident, name) = match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                return self.push_tree(&part.tree, path, reexport);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.push_tree(tree, path.clone(), reexport));
            }
            UseTree::Glob(glob) => {
                return self.push(glob.star_token.spans[0], path, Kind::Glob { reexport });
            }
            UseTree::Name(part) => (&part.ident, None),
            UseTree::Rename(part) => (&part.ident, Some(part.rename.to_string())),
        };
        // `a::{self}` imports `a`.
        if ident != "self" || path.is_empty() {
            path.push(ident.to_string());
        }
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        self.push(ident.span(), path, Kind::Import { name, reexport });
    }

    /// Adds the paths in the tokens of a macro. Inside the braces of `use a::b::{…}` the prefix is
    /// `a::b`.
    fn push_tokens(&mut self, tokens: TokenStream, prefix: &[String]) {
        let mut tokens = tokens.into_iter().peekable();
        let mut path: Vec<String> = prefix.to_vec();
        let mut start = None;
        // Whether the last tokens are `::`, so that the path continues.
        let mut joined = !prefix.is_empty();
        while let Some(token) = tokens.next() {
            let is_colon =
                |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
            match token {
                TokenTree::Punct(_) if is_colon(&token) && tokens.next_if(is_colon).is_some() => {
                    joined = true;
                    continue;
                }
                TokenTree::Ident(ident) if ident == "as" && !prefix.is_empty() => {
                    // The next token is the new name of an import.
                    tokens.next();
                }
                TokenTree::Ident(ident) => {
                    if !joined {
                        self.push_path(start.take(), &mut path, prefix);
                    }
                    start = start.or(Some(ident.span()));
                    path.push(ident.to_string());
                    joined = false;
                    continue;
                }
                // `path::$name` is an unknown item of the module.
                TokenTree::Punct(ref p) if p.as_char() == '$' && joined => {
                    path.push("$".to_owned());
                    tokens.next();
                }
                TokenTree::Group(group) if joined && is_tree(&group, &path) => {
                    self.push_tokens(group.stream(), &path);
                    path = prefix.to_vec();
                    start = None;
                }
                TokenTree::Group(group) => {
                    self.push_path(start.take(), &mut path, prefix);
                    self.push_tokens(group.stream(), &[]);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            self.push_path(start.take(), &mut path, prefix);
            joined = !prefix.is_empty();
        }
        self.push_path(start, &mut path, prefix);
    }

    /// Adds the path that ends here, if there is one, and starts the next path with the prefix.
    fn push_path(&mut self, start: Option<Span>, path: &mut Vec<String>, prefix: &[String]) {
        let path = core::mem::replace(path, prefix.to_vec());
        if let Some(span) = start {
            self.push(span, path, Kind::Path);
        }
    }
}

/// Returns whether the group is the braces of `use path::{…}`.
fn is_tree(group: &Group, path: &[String]) -> bool {
    group.delimiter() == Delimiter::Brace && !path.is_empty()
}

/// Visits a part of the syntax unless it is test code.
macro_rules! skip_tests {
    ($($visit:ident $part:ident)*) => {$(
        fn $visit(&mut self, part: &'ast syn::$part) {
            if !is_test(&part.attrs) {
                visit::$visit(self, part);
            }
        }
    )*};
}

impl<'ast> Visit<'ast> for Collector {
    skip_tests! {
        visit_item_const ItemConst
        visit_item_enum ItemEnum
        visit_item_fn ItemFn
        visit_item_impl ItemImpl
        visit_item_static ItemStatic
        visit_item_struct ItemStruct
        visit_item_trait ItemTrait
        visit_item_type ItemType
        visit_impl_item_const ImplItemConst
        visit_impl_item_fn ImplItemFn
        visit_impl_item_type ImplItemType
        visit_trait_item_fn TraitItemFn
        visit_field Field
        visit_local Local
        visit_stmt_macro StmtMacro
        visit_variant Variant
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    /// Skips child modules: each has its own scope.
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_test(&item.attrs) {
            return;
        }
        let reexport = !matches!(item.vis, Visibility::Inherited);
        let out = item.leading_colon.as_ref().map(|_| String::new());
        self.push_tree(&item.tree, out.into_iter().collect(), reexport);
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        if is_test(&item.attrs) {
            return;
        }
        if item.ident.is_none() {
            return self.visit_macro(&item.mac);
        }
        // Other crates call this macro, so it names what the crate exports, not where that is.
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
            return;
        }
        // In the body of `macro_rules!` only paths that start with `crate` do not depend on the
        // caller.
        let others = self.uses.len();
        self.push_tokens(item.mac.tokens.clone(), &[]);
        let own = self.uses.split_off(others);
        self.uses.extend(own.into_iter().filter(|found| found.path[0] == "crate"));
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let (Some(first), path) = (call.path.segments.first(), segments(&call.path)) {
            self.push(first.ident.span(), path, Kind::Macro);
        }
        self.push_tokens(call.tokens.clone(), &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            self.push(first.ident.span(), segments(path), Kind::Path);
        }
        // The generic arguments contain paths, too.
        visit::visit_path(self, path);
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    let out = path.leading_colon.as_ref().map(|_| String::new());
    out.into_iter().chain(path.segments.iter().map(|part| part.ident.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths in a text. `name=` precedes the path of an import.
    fn paths(text: &str) -> Vec<String> {
        let file = syn::parse_file(text).expect("Rust");
        let found = of_items(&file.items).into_iter().map(|Use { path, kind, .. }| match kind {
            Kind::Import { name, .. } => format!("{name}={}", path.join("::")),
            Kind::Glob { .. } => format!("{}::*", path.join("::")),
            Kind::Path => path.join("::"),
            Kind::Macro => format!("{}!", path.join("::")),
        });
        found.collect()
    }

    #[test]
    fn import_trees_are_flattened() {
        let text = "use crate::{a::{self, B as C}, d::*, e}; use ::core::mem; pub use f::G;";
        let expected = ["a=crate::a", "C=crate::a::B", "crate::d::*", "e=crate::e"];
        assert_eq!(paths(text), [&expected[..], &["mem=::core::mem", "G=f::G"]].concat());
    }

    #[test]
    fn paths_in_code_are_found() {
        let text = "fn f(a: crate::A<super::B>) { let _ = c::D { e: 0 }; }";
        assert_eq!(paths(text), ["crate::A", "super::B", "c::D"]);
    }

    #[test]
    fn paths_in_macros_are_found() {
        assert_eq!(paths("m! { a::B::c(d), crate::E }"), ["m!", "a::B::c", "d", "crate::E"]);
        let rules = "macro_rules! m { () => { $crate::a::b(c); use crate::{d::e as f, g}; crate::h::$i }; }";
        assert_eq!(paths(rules), ["crate::a::b", "crate::d::e", "crate::g", "crate::h::$"]);
        assert_eq!(paths(&format!("#[macro_export] {rules}")), [""; 0]);
    }

    #[test]
    fn test_code_is_skipped() {
        let text = "#[cfg(test)] use a::B; #[cfg(test)] fn f() { c::d() } #[cfg(test)] mod tests { use e::F; }
                    #[cfg(all(test, tamis_loom))] impl G { fn h() { i::j() } }
                    /// [`k::L`]
                    mod m { use n::O; }";
        assert_eq!(paths(text), [""; 0]);
    }
}
