//! Extracts the examples from doc comments and README.md as a reader sees them.

use core::fmt::Write as _;
use std::borrow::Cow;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// A fenced block of Rust.
#[derive(Debug, PartialEq)]
pub(super) struct Example {
    /// The file, relative to the root, and the line of the fence.
    place: (String, usize),
    /// The text after the fence: `no_run`, `should_panic`.
    info: String,
    lines: Vec<String>,
}

/// Returns all examples that a user of `tamis` reads: those in README.md, in `tamis`, and in the
/// crates of ours that `tamis` depends on. Of `tamis-sync` it offers two types only, and documents
/// them itself.
pub(super) fn of_the_documentation(sh: &Shell) -> Result<Vec<Example>> {
    let packages = workspace::published(sh)?;
    let tamis = packages
        .iter()
        .find(|package| package.name == "tamis")
        .ok_or("the workspace has no package `tamis`")?;
    let shown = packages.iter().filter(|package| {
        let is_dependency = tamis.dependencies.iter().any(|on| on.name == package.name);
        package.name == "tamis" || is_dependency && package.name != "tamis-sync"
    });
    let folders: Vec<_> = shown.map(|package| package.folder.join("src")).collect();
    let list = "--cached --others --exclude-standard".split(' ');
    let files = cmd!(sh, "git ls-files {list...} -- README.md {folders...}").quiet().read()?;
    let (mut examples, mut wrong) = (Vec::new(), Vec::new());
    for path in files.lines().filter(|path| Path::new(path).exists()) {
        let found = extract(path, &sh.read_file(path)?);
        wrong.extend(found.iter().flat_map(named_inside));
        wrong.extend(found.iter().filter_map(Example::cut));
        examples.extend(found);
    }
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    match (wrong.len(), examples.len()) {
        (0, 0) => Err("the documentation contains no example".into()),
        (0, _) => Ok(examples),
        (count, _) => Err(format!("{count} examples would not compile as shown").into()),
    }
}

/// Returns the source of documented items, one per example, each named after the place of its
/// example.
pub(super) fn as_items(examples: &[Example]) -> String {
    let mut items = String::new();
    for Example { place: (path, line), info, lines } in examples {
        let name = path.replace(|c: char| !c.is_alphanumeric(), "_");
        writeln!(items, "/// ```{info}").expect("writing to a string cannot fail");
        for line in lines {
            writeln!(items, "/// {line}").expect("writing to a string cannot fail");
        }
        write!(items, "/// ```\npub mod {name}_line_{line} {{}}\n")
            .expect("writing to a string cannot fail");
    }
    items
}

/// Extracts the examples of a file.
fn extract(path: &str, text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let doc = if path.ends_with(".rs") {
            documentation(line).map(Cow::Borrowed).or_else(|| of_a_macro(line).map(Cow::Owned))
        } else {
            Some(Cow::Borrowed(line))
        };
        let fence = doc.as_ref().and_then(|doc| doc.trim_start().strip_prefix("```"));
        match (&mut open, fence) {
            (None, Some(info)) => {
                let place = (path.to_owned(), number);
                open = Some(Example { place, info: info.trim().into(), lines: Vec::new() });
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => {
                let line = doc.unwrap_or(Cow::Borrowed(CUT));
                if !is_stand_in(&line) {
                    example.lines.push(line.into_owned());
                }
            }
            (None, None) => {}
        }
    }
    examples.extend(open);
    examples.retain(|example| is_rust(&example.info));
    for example in &mut examples {
        let first = first_of_a_macro(text, example.place.1);
        example.lines.iter_mut().for_each(|line| *line = line.replace(NAME, first));
    }
    examples
}

/// What a line of a macro has where the page has the name of a type.
const NAME: &str = "stringify!($ty)";

/// The other arguments in such lines: the name of a crate, the module and the name of the builder
/// of a `CountingBloomFilter`, what three inserts into it return, and two hashers.
const ARGUMENTS: [(&str, &str); 5] = [
    ("$krate", "tamis_core"),
    ("$module", "bloom"),
    ("stringify!($builder)", "Builder"),
    ("$results", "[true, true, false]"),
    ("$hashers", "[Rapid::with_seed(0), Rapid::with_seed(1)]"),
];

/// Returns the text of a line of documentation that a macro writes for several types: strings, and
/// between them [`NAME`] and [`ARGUMENTS`].
fn of_a_macro(line: &str) -> Option<String> {
    let parts = line.trim().strip_prefix("#[doc = concat!(")?.strip_suffix(")]")?;
    let parts = ARGUMENTS.iter().fold(parts.to_owned(), |parts, (name, value)| {
        parts.replace(&format!("\", {name}, \""), value)
    });
    let text = |part: &str| Some(part.strip_prefix('"')?.strip_suffix('"')?.replace("\\\"", "\""));
    let parts: Option<Vec<_>> = parts.split(&format!(", {NAME}, ")).map(text).collect();
    Some(parts?.join(NAME))
}

/// Returns the first of the types that the macro around this line is called with. One is enough:
/// the crate's own doctests compile the examples of all types. If other files call the macro, it is
/// a type that has the methods of all such macros.
fn first_of_a_macro(text: &str, line: usize) -> &str {
    let lines = text.lines().take(line);
    let name =
        lines.filter_map(|line| line.strip_prefix("macro_rules! ")?.strip_suffix(" {")).last();
    let call = name.and_then(|name| text.split(&format!("\n{name}! {{")).last());
    let types = call.filter(|call| call.len() < text.len()).map(str::split_whitespace);
    types.and_then(|mut types| types.next()).unwrap_or("CountingBloomFilter")
}

/// Replaces a line inside an example that is not a doc comment.
const CUT: &str = "/* cut */";

/// Returns the text of a line of a doc comment.
fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    // Four slashes are an ordinary comment.
    (!text.starts_with('/')).then(|| text.strip_prefix(' ').unwrap_or(text))
}

/// Returns whether rustdoc compiles a block with this text after its fence.
fn is_rust(info: &str) -> bool {
    let known = ["", "rust", "should_panic", "no_run", "compile_fail", "edition2024"];
    info.split([',', ' ']).all(|word| known.contains(&word) || word.starts_with("ignore"))
}

/// Returns whether this is the hidden line that names a replacement for `tamis`.
fn is_stand_in(line: &str) -> bool {
    let name = line.trim().strip_prefix("# use ").and_then(|rest| rest.strip_suffix(" as tamis;"));
    name.is_some_and(is_inner)
}

/// Returns whether a word is the name of a crate that `tamis` hides.
fn is_inner(word: &str) -> bool {
    word.starts_with("tamis_") && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns a violation per line that names such a crate.
fn named_inside(example: &Example) -> Vec<String> {
    // The modules `raw` are for crates that save filters, and that depend on these two.
    let words = |line: &String| {
        let line = line.replace("tamis_bloom::raw", "").replace("tamis_cuckoo::raw", "");
        line.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_inner)
    };
    let named = example.lines.iter().filter(|line| words(line));
    named.map(|line| example.wrong(&format!("name only `tamis` in `{}`", line.trim()))).collect()
}

impl Example {
    /// Returns a violation if the example is not written in doc comments alone.
    fn cut(&self) -> Option<String> {
        let cut = self.lines.iter().any(|line| line == CUT);
        cut.then(|| self.wrong("write the whole example in `///` lines"))
    }

    fn wrong(&self, what: &str) -> String {
        format!("{}:{}: examples: {what}", self.place.0, self.place.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(line: usize, info: &str, lines: &[&str]) -> Example {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        Example { place: ("a.rs".into(), line), info: info.into(), lines }
    }

    #[test]
    fn only_the_line_that_replaces_tamis_is_removed() {
        let text = "//! ```\n//! # use tamis_bloom as tamis;\n//! f();\n//! ```\n/// ```text\n/// no\n\
                    /// ```\nfn f() {\n    /// ```no_run\n    /// # hidden();\n    ///  g();\n    /// ```\n}\n";
        let expected = [example(1, "", &["f();"]), example(9, "no_run", &["# hidden();", " g();"])];
        assert_eq!(extract("a.rs", text), expected);
        let markdown = "```sh\n$ f\n```\n```rust\nf();\n```\n";
        assert_eq!(extract("a.md", markdown)[0].lines, ["f();"]);
    }

    #[test]
    fn an_example_of_a_macro_has_the_first_type() {
        let text = "macro_rules! many {\n    /// ```\n    #[doc = concat!(\"let a = \", stringify!($ty), \"::new();\")]\n\
                    /// ```\n}\nmany! { First Second }\n";
        for text in [text, &text.replace("{ First", "{\n    First")] {
            assert_eq!(extract("a.rs", text), [example(2, "", &["let a = First::new();"])]);
        }
    }

    #[test]
    fn a_line_of_a_macro_has_its_arguments_and_quotes() {
        let line = r#"    #[doc = concat!("assert_eq!(f(\"a\"), ", $results, ");")]"#;
        let expected = "assert_eq!(f(\"a\"), [true, true, false]);";
        assert_eq!(of_a_macro(line).as_deref(), Some(expected));
        let line = r##"    #[doc = concat!("# use ", $krate, " as tamis;")]"##;
        assert_eq!(of_a_macro(line).as_deref(), Some("# use tamis_core as tamis;"));
    }

    #[test]
    fn an_example_that_names_a_hidden_crate_is_found() {
        for bad in
            ["use tamis_bloom::BloomFilter;", "# use tamis_hash as hash;", "tamis_core::f()?"]
        {
            assert_eq!(named_inside(&example(3, "", &["f();", bad])).len(), 1, "{bad}");
        }
        assert!(named_inside(&example(3, "", &["use tamis::hash::Rapid;"])).is_empty());
    }

    #[test]
    fn an_example_outside_doc_comments_is_found() {
        let text = "/// ```\n#[doc = \"f();\"]\n/// ```\n";
        assert_eq!(extract("a.rs", text).iter().filter_map(Example::cut).count(), 1);
        assert_eq!(example(1, "", &["f();"]).cut(), None);
    }

    #[test]
    fn items_have_the_names_of_their_places() {
        let items = as_items(&[example(7, "no_run", &["f();"])]);
        assert_eq!(items, "/// ```no_run\n/// f();\n/// ```\npub mod a_rs_line_7 {}\n");
    }
}
