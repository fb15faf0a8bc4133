//! Rules on the presence of comments.

use super::source::{Source, has_word};

/// The width of code and comments.
const COLUMNS: usize = 100;
/// The maximum number of lines between an `ORDERING:` comment and its code. One comment may apply
/// to all accesses of a short function.
const ORDERING_LINES: usize = 12;

/// The first line of every Rust file states the file's one job.
pub(super) fn first_line(source: &Source) -> Vec<String> {
    let exempt = !source.path.ends_with(".rs") || source.path.ends_with("build.rs");
    if exempt || source.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![source.violation(1, "first line", "state the file's one job in a `//!` line")]
}

/// A comment at every memory ordering in the libraries states what it pairs with, or why it need
/// not pair.
pub(super) fn ordering(source: &Source) -> Vec<String> {
    if source.is_model() || !source.path.starts_with("crates/") || !source.path.contains("/src/") {
        return Vec::new();
    }
    let names = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    let names_one = |code: &str| names.iter().any(|name| has_word(code, name));
    source
        .code()
        .filter(|(_, code)| names_one(code) && !has_word(code, "use"))
        .filter(|&(line, _)| !source.is_marked(line, ORDERING_LINES, "ORDERING:"))
        .map(|(line, _)| source.violation(line, "ordering", "add an `// ORDERING:` comment above"))
        .collect()
}

/// No work is left for later, and no test is disabled. Clippy finds `todo!` and its like.
pub(super) fn unfinished(source: &Source) -> Vec<String> {
    let in_comments = source
        .comments()
        .filter(|(_, text)| ["TODO", "FIXME", "XXX"].iter().any(|word| has_word(text, word)));
    let in_code = source.code().filter(|(_, code)| code.contains("#[ignore"));
    in_comments
        .chain(in_code)
        .map(|(line, _)| source.violation(line, "unfinished", "finish it, or open an issue"))
        .collect()
}

/// Comments are as wide as rustfmt keeps the code. Tables, examples and layouts between fences may
/// be wider.
pub(super) fn width(source: &Source) -> Vec<String> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            is_fenced = false;
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim_start();
        if text.starts_with("```") {
            is_fenced = !is_fenced;
        }
        let is_free = is_fenced || text.starts_with('|') || !text.contains(' ');
        if source.path.ends_with(".rs") && !is_free && line.chars().count() > COLUMNS {
            found.push(source.violation(number, "width", "wrap the comment at 100 columns"));
        }
    }
    found
}

/// A line of documentation that is an attribute does not begin with one space: rustdoc removes that
/// of `///`, and shows this one, which moves the lines of an example.
pub(super) fn doc_attribute(source: &Source) -> Vec<String> {
    let is_wrong = |line: &str| {
        let text = line.trim_start().strip_prefix("#[doc = ");
        let text = text.and_then(|text| text.trim_start_matches("concat!(").strip_prefix("\" "));
        text.is_some_and(|text| !text.starts_with(' '))
    };
    (1..)
        .zip(source.text.lines())
        .filter(|(_, line)| is_wrong(line))
        .map(|(line, _)| source.violation(line, "doc attribute", "begin without a space"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("crates/sync/src/a.rs", text.to_owned())
    }

    #[test]
    fn a_missing_first_line_is_found() {
        assert_eq!(first_line(&source("use a;\n")).len(), 1);
        assert_eq!(first_line(&source("//! A job.\n")).len(), 0);
    }

    #[test]
    fn an_ordering_without_a_reason_is_found() {
        assert_eq!(ordering(&source("a.load(Ordering::Relaxed);\n")).len(), 1);
        assert_eq!(ordering(&source("a.load(Relaxed);\n")).len(), 1);
        assert_eq!(
            ordering(&source("// ORDERING: Relaxed, as\n// so.\na.load(Relaxed);\n")).len(),
            0
        );
        assert_eq!(ordering(&source("use crate::Ordering::Relaxed;\nLess => {}\n")).len(), 0);
    }

    #[test]
    fn a_space_at_the_beginning_of_a_doc_attribute_is_found() {
        let lines = [
            r##"#[doc = " a"]"##,
            r##"    #[doc = concat!(" use ", "a;")]"##,
            r##"#[doc = "a"]"##,
            r##"#[doc = concat!("use ", "a;")]"##,
            r##"#[doc = "    .indented()"]"##,
            "#[doc = $text]",
        ];
        assert_eq!(doc_attribute(&source(&lines.join("\n"))).len(), 2);
    }

    #[test]
    fn a_wide_comment_is_found() {
        let wide = "so wide ".repeat(13);
        let found = |text: String| width(&source(&text)).len();
        assert_eq!(found(format!("//! {wide}\n    // {wide}\n/// {}\n", &wide[..90])), 2);
        let fenced = format!("/// ```text\n/// {wide}\n/// ```\n");
        assert_eq!(found(format!("{fenced}/// | {wide} |\n/// {}\n", "w".repeat(200))), 0);
        assert_eq!(found(format!("{fenced}/// {wide}\n")), 1);
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = "// TODO: later\n// FIXME\n// XXX\n#[ignore]\n";
        assert_eq!(unfinished(&source(text)).len(), 4);
        assert_eq!(unfinished(&source("let a = \"TODO\"; // a todo list\n")).len(), 0);
    }
}
