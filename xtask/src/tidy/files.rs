//! Rules on files as a whole.

use core::ops::RangeInclusive;

use syn::Item;

use super::source::Source;
use super::syntax::is_test;

/// The maximum number of lines of code in a Rust file. Comments and blank lines do not count: a public type is mostly
/// documentation. The test modules of a file are counted separately, with the same limit.
const MAX_LINES: usize = 450;
/// Above this number of lines `tidy` prints a warning.
const MANY_LINES: usize = 300;

/// A file has one job, so it is short.
pub(super) fn size(source: &Source) -> Vec<String> {
    let [code, tests] = lines_of_code(source);
    [(code, "the file"), (tests, "its tests")]
        .iter()
        .filter(|(lines, _)| lines.len() > MAX_LINES)
        .map(|(lines, what)| {
            let advice =
                format!("split {what}: {} lines of code, {MAX_LINES} at most", lines.len());
            source.violation(lines[MAX_LINES], "size", &advice)
        })
        .collect()
}

/// Warns of a file that approaches the limit. This is not a violation.
pub(super) fn warn_of_size(source: &Source) {
    let [code, _] = lines_of_code(source);
    if code.len() > MANY_LINES {
        let lines = code.len();
        eprintln!("{}: warning: {lines} lines of code; does the file have two jobs?", source.path);
    }
}

/// Returns the numbers of the lines that contain code: those of the file, and those of its test modules. A line inside
/// a string literal is code.
fn lines_of_code(source: &Source) -> [Vec<usize>; 2] {
    if !source.path.ends_with(".rs") {
        return [Vec::new(), Vec::new()];
    }
    let modules = test_modules(source);
    let is_in_tests = |line: usize| modules.iter().any(|module| module.contains(&line));
    let (mut code, mut tests) = (Vec::new(), Vec::new());
    for ((line, text), (_, bare)) in source.lines().zip(source.code()) {
        let is_comment = bare.trim().is_empty() && source.has_comment(line);
        if !text.trim().is_empty() && !is_comment {
            if is_in_tests(line) { &mut tests } else { &mut code }.push(line);
        }
    }
    [code, tests]
}

/// Returns the lines of the modules in this file that only tests compile.
fn test_modules(source: &Source) -> Vec<RangeInclusive<usize>> {
    // The compiler reports a file that is not Rust.
    let Ok(syntax) = syn::parse_file(&source.text) else { return Vec::new() };
    let modules = syntax.items.iter().filter_map(|item| match item {
        Item::Mod(module) if is_test(&module.attrs) => {
            let (braces, _) = module.content.as_ref()?;
            let first = module.attrs.first()?.pound_token.spans[0].start().line;
            Some(first..=braces.span.close().end().line)
        }
        _ => None,
    });
    modules.collect()
}

/// No file depends on the folders of one machine.
pub(super) fn machine_paths(source: &Source) -> Vec<String> {
    let roots = ["home", "root", "work", "Users"].map(|folder| format!("/{folder}/"));
    source
        .lines()
        .filter(|(_, text)| roots.iter().any(|root| has_absolute(text, root)))
        .map(|(line, _)| {
            source.violation(line, "machine path", "do not name a folder of one machine")
        })
        .collect()
}

/// Returns whether the text contains a path that starts with `root`.
fn has_absolute(text: &str, root: &str) -> bool {
    text.match_indices(root).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/~}*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(line: &str, lines: usize) -> Source {
        Source::new("a.rs", line.repeat(lines))
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(size(&file("mod a;\n", MAX_LINES)).len(), 0);
        assert_eq!(size(&file("mod a;\n", MAX_LINES + 1)).len(), 1);
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        assert_eq!(size(&file("/// A comment.\n\n", MAX_LINES + 1)).len(), 0);
        assert_eq!(size(&file("/* A\n\n comment. */\n", MAX_LINES + 1)).len(), 0);
        assert_eq!(size(&file("mod a; // A comment.\n", MAX_LINES + 1)).len(), 1);
    }

    #[test]
    fn lines_of_a_string_count() {
        let text = |lines| format!("const A: &str = \"\n{}\";\n", "text\n".repeat(lines));
        assert_eq!(size(&Source::new("a.rs", text(MAX_LINES - 2))).len(), 0);
        assert_eq!(size(&Source::new("a.rs", text(MAX_LINES))).len(), 1);
    }

    #[test]
    fn test_modules_are_counted_separately() {
        let source = |code, tests| {
            let (code, tests) = ("use a;\n".repeat(code), "use a;\n".repeat(tests));
            Source::new("a.rs", format!("{code}#[cfg(test)]\nmod tests {{\n{tests}}}\n"))
        };
        assert_eq!(size(&source(MAX_LINES, MAX_LINES - 3)), [""; 0]);
        assert_eq!(size(&source(MAX_LINES + 1, MAX_LINES - 3)).len(), 1);
        assert_eq!(size(&source(MAX_LINES, MAX_LINES - 2)).len(), 1);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let found = |text: String| machine_paths(&Source::new("a.md", text)).len();
        assert_eq!(found(["see ", "/home", "/ann/notes"].concat()), 1);
        assert_eq!(found("https://a.org/work/x and src/root/mod.rs".to_owned()), 0);
    }
}
