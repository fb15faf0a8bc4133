//! Reads the modules of a crate and resolves paths to the files that define their items.

mod uses;

use std::collections::BTreeMap;

use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use self::uses::{Kind, Use};
use super::source::Source;
use super::syntax::is_test;

/// Sources by their paths.
type Sources<'s> = BTreeMap<&'s str, &'s Source>;

/// All modules of a crate. The first is the root.
pub(super) struct Modules<'s> {
    all: Vec<Module<'s>>,
}

struct Module<'s> {
    file: &'s str,
    /// The directory of the files of its child modules.
    folder: String,
    parent: Option<usize>,
    /// The meanings of each name in its scope. A type, a function and a module may have the same
    /// name.
    names: BTreeMap<String, Vec<Name>>,
    uses: Vec<Use>,
}

enum Name {
    /// An item that is defined here.
    Item,
    /// A macro that `macro_rules!` defines here.
    Macro,
    Module(usize),
    Import(Vec<String>),
}

/// The target of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    /// An item that this module defines.
    Item(usize),
    Module(usize),
}

/// One file uses what another defines.
#[derive(Debug)]
pub(super) struct Edge<'s> {
    pub(super) from: &'s str,
    pub(super) line: usize,
    pub(super) to: &'s str,
    pub(super) path: String,
}

/// Reads the crates whose roots are among the sources. An error is a violation.
pub(super) fn of_crates(sources: &[Source]) -> Vec<Result<Modules<'_>, String>> {
    let by_path = sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let roots = sources.iter().filter(|source| is_root(&source.path));
    roots.map(|root| Modules::read(root, &by_path)).collect()
}

/// Returns whether the file is the root of a library or a program. Roots outside `src` are tests or
/// have one file.
fn is_root(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    folder.ends_with("/src") && ["lib.rs", "main.rs"].contains(&name)
        || folder.ends_with("src/bin") && name.ends_with(".rs")
}

impl<'s> Modules<'s> {
    /// Reads the crate with this root. The error is a violation.
    fn read(root: &'s Source, sources: &Sources<'s>) -> Result<Self, String> {
        let mut modules = Self { all: Vec::new() };
        modules.read_file(root, None, sources)?;
        Ok(modules)
    }

    fn read_file(
        &mut self,
        source: &'s Source,
        parent: Option<usize>,
        sources: &Sources<'s>,
    ) -> Result<usize, String> {
        let path = source.path.as_str();
        let syntax = syn::parse_file(&source.text).map_err(|error| {
            source.violation(error.span().start().line, "modules", &format!("mend it: {error}"))
        })?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        // The children of the root and of `mod.rs` are in their directory; those of `a.rs` in `a`.
        let folder = match name.strip_suffix(".rs") {
            Some(stem) if parent.is_some() && stem != "mod" => format!("{folder}/{stem}"),
            _ => folder.to_owned(),
        };
        self.add(path, folder, parent, &syntax.items, sources)
    }

    fn add(
        &mut self,
        file: &'s str,
        folder: String,
        parent: Option<usize>,
        items: &[Item],
        sources: &Sources<'s>,
    ) -> Result<usize, String> {
        // Collect the names of the scope: imports first, then items.
        let uses = uses::of_items(items);
        let mut names: BTreeMap<String, Vec<Name>> = BTreeMap::new();
        for found in &uses {
            if let Kind::Import { name, .. } = &found.kind {
                names.entry(name.clone()).or_default().push(Name::Import(found.path.clone()));
            }
        }
        for (name, item) in items.iter().filter_map(name_of) {
            names.entry(name).or_default().push(item);
        }
        let id = self.all.len();
        self.all.push(Module { file, folder, parent, names, uses });
        // Add the child modules, from this file or from their own files.
        for item in items {
            let Item::Mod(child) = item else { continue };
            if is_test(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let folder = &self.all[id].folder;
            let child = match &child.content {
                Some((_, items)) => {
                    let folder = format!("{folder}/{name}");
                    self.add(file, folder, Some(id), items, sources)?
                }
                None => match file_of(child, file, folder, sources) {
                    Some(source) => self.read_file(source, Some(id), sources)?,
                    // A file of another crate, which cannot use this one.
                    None if child.attrs.iter().any(|attr| attr.path().is_ident("path")) => {
                        let folder = format!("{folder}/{name}");
                        self.add(file, folder, Some(id), &[], sources)?
                    }
                    None => {
                        return Err(format!(
                            "{file}: modules: the file of `mod {name}` is not found"
                        ));
                    }
                },
            };
            self.all[id].names.entry(name).or_default().push(Name::Module(child));
        }
        Ok(id)
    }

    /// Returns every use of an item in a file other than its own.
    pub(super) fn edges(&self) -> Vec<Edge<'s>> {
        let mut edges = Vec::new();
        for (id, module) in self.all.iter().enumerate() {
            for found in &module.uses {
                for to in self.used(id, found) {
                    let (from, to) = (module.file, self.all[to].file);
                    if from != to {
                        let path = found.path.join("::");
                        edges.push(Edge { from, line: found.line, to, path });
                    }
                }
            }
        }
        edges
    }

    /// Returns every use of an item through a re-export of a module above the user, by which `to`
    /// is the file of that module.
    pub(super) fn detours(&self) -> Vec<Edge<'s>> {
        let mut detours = Vec::new();
        for (id, module) in self.all.iter().enumerate() {
            for Use { line, path, .. } in &module.uses {
                let Some(by) = self.reexporter(id, path) else { continue };
                let (from, to) = (module.file, self.all[by].file);
                if from != to && self.is_inside(id, by) {
                    detours.push(Edge { from, line: *line, to, path: path.join("::") });
                }
            }
        }
        detours
    }

    /// Returns the first module that re-exports a part of a path to its users, if the path starts
    /// at the root or at a parent.
    fn reexporter(&self, from: usize, path: &[String]) -> Option<usize> {
        let mut at = match path.first().map(String::as_str) {
            Some("crate") => 0,
            Some("super") => self.all[from].parent?,
            _ => return None,
        };
        for name in &path[1..] {
            match name.as_str() {
                "self" => continue,
                "super" => at = self.all[at].parent?,
                _ => {
                    let names = self.all[at].names.get(name)?;
                    let child = names.iter().find_map(|name| match name {
                        Name::Module(child) => Some(*child),
                        _ => None,
                    });
                    let Some(child) = child else {
                        let imports = |name: &Name| matches!(name, Name::Import(_));
                        return names.iter().all(imports).then_some(at);
                    };
                    at = child;
                }
            }
        }
        None
    }

    /// Returns the modules that define the items that the module `id` uses here.
    fn used(&self, id: usize, Use { path, kind, .. }: &Use) -> Vec<usize> {
        let mut found = self.resolve(id, path, &mut Vec::new());
        if *kind == Kind::Macro && path.len() == 1 {
            found.extend(self.macro_of_ancestor(id, &path[0]).map(Found::Item));
        }
        let to = found.into_iter().filter_map(|found| match (found, kind) {
            (Found::Item(to), _) => Some(to),
            // The items are unknown, so the module counts.
            (Found::Module(to), Kind::Glob { .. }) => Some(to),
            // A module is only a name space: the items that code names through it count.
            (Found::Module(_), _) => None,
        });
        match kind {
            // A module that re-exports items of its children does not use them.
            Kind::Import { reexport: true, .. } | Kind::Glob { reexport: true } => {
                to.filter(|&to| !self.is_inside(to, id)).collect()
            }
            _ => to.collect(),
        }
    }

    /// Returns the module that defines this macro. The scope of a macro includes the child modules
    /// of its module.
    fn macro_of_ancestor(&self, id: usize, name: &str) -> Option<usize> {
        let mut ancestors = core::iter::successors(Some(id), |&id| self.all[id].parent);
        let owner = ancestors.find(|&id| self.all[id].names.contains_key(name))?;
        let is_macro = |name: &Name| matches!(name, Name::Macro);
        self.all[owner].names[name].iter().any(is_macro).then_some(owner)
    }

    fn is_inside(&self, child: usize, ancestor: usize) -> bool {
        core::iter::successors(Some(child), |&id| self.all[id].parent).any(|id| id == ancestor)
    }

    /// Resolves a path in the code of the module `from`. Returns nothing if the path leads out of
    /// the crate. `open` contains the names whose resolution is not finished, because imports may
    /// refer to one another.
    fn resolve(&self, from: usize, path: &[String], open: &mut Vec<(usize, String)>) -> Vec<Found> {
        match path.first().map(String::as_str) {
            Some("crate") => self.walk(0, &path[1..], open),
            Some("self" | "super") => self.walk(from, path, open),
            Some(_) => self.look_up(from, path, open).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// Resolves the rest of a path that has led to the module `at`.
    fn walk(&self, at: usize, path: &[String], open: &mut Vec<(usize, String)>) -> Vec<Found> {
        match path.first().map(String::as_str) {
            None => vec![Found::Module(at)],
            Some("self") => self.walk(at, &path[1..], open),
            Some("super") => self.walk(self.all[at].parent.unwrap_or(0), &path[1..], open),
            // A macro of the module defines an unknown name.
            Some(_) => self.look_up(at, path, open).unwrap_or_else(|| vec![Found::Item(at)]),
        }
    }

    /// Resolves a path whose first segment is a name in the scope of the module `at`. Returns
    /// `None` if that scope does not contain the name.
    fn look_up(
        &self,
        at: usize,
        path: &[String],
        open: &mut Vec<(usize, String)>,
    ) -> Option<Vec<Found>> {
        let (name, rest) = path.split_first()?;
        let key = (at, name.clone());
        if open.contains(&key) {
            return None;
        }
        open.push(key);
        let module = &self.all[at];
        let found = match module.names.get(name) {
            // A name in the scope takes precedence over the names of globs.
            Some(names) => {
                Some(names.iter().flat_map(|name| self.follow(at, name, rest, open)).collect())
            }
            None => module.uses.iter().filter(|found| is_glob(found)).find_map(|glob| {
                self.resolve(at, &glob.path, open).into_iter().find_map(|found| match found {
                    Found::Module(at) => self.look_up(at, path, open),
                    Found::Item(_) => None,
                })
            }),
        };
        open.pop();
        found
    }

    /// Resolves the rest of a path after a name in the scope of the module `at`.
    fn follow(
        &self,
        at: usize,
        name: &Name,
        rest: &[String],
        open: &mut Vec<(usize, String)>,
    ) -> Vec<Found> {
        match name {
            // The rest names a variant or an associated item.
            Name::Item | Name::Macro => vec![Found::Item(at)],
            Name::Module(child) => self.walk(*child, rest, open),
            Name::Import(path) => {
                let found = self.resolve(at, path, open);
                let found = found.into_iter().flat_map(|found| match found {
                    Found::Module(at) => self.walk(at, rest, open),
                    Found::Item(_) => vec![found],
                });
                found.collect()
            }
        }
    }
}

fn is_glob(found: &Use) -> bool {
    matches!(found.kind, Kind::Glob { .. })
}

/// Returns the name of an item that is neither a module nor an import.
fn name_of(item: &Item) -> Option<(String, Name)> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => return Some((item.ident.as_ref()?.to_string(), Name::Macro)),
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some((ident.to_string(), Name::Item))
}

/// Returns the file of a module without a body that the file `parent` declares.
fn file_of<'s>(
    child: &ItemMod,
    parent: &str,
    folder: &str,
    sources: &Sources<'s>,
) -> Option<&'s Source> {
    let written = child.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    });
    let name = &child.ident;
    let candidates = match written {
        Some(path) => vec![format!("{}/{path}", parent.rsplit_once('/')?.0)],
        None => vec![format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")],
    };
    candidates.iter().find_map(|path| sources.get(path.as_str()).copied())
}
