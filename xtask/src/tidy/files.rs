//! Rules on files as a whole.

use super::source::Source;

/// The maximum number of lines of code in a Rust file. Comments and blank lines do not count: a
/// public type is mostly documentation.
const MAX_LINES: usize = 450;
/// Above this number of lines `tidy` prints a warning.
const MANY_LINES: usize = 300;

/// A file has one job, so it is short.
pub(super) fn size(source: &Source) -> Vec<String> {
    let lines = lines_of_code(source);
    let advice = format!("split the file: {} lines of code, {MAX_LINES} at most", lines.len());
    let excess = lines.get(MAX_LINES);
    excess.map(|&line| source.violation(line, "size", &advice)).into_iter().collect()
}

/// Warns of a file that approaches the limit. This is not a violation.
pub(super) fn warn_of_size(source: &Source) {
    let lines = lines_of_code(source).len();
    if lines > MANY_LINES {
        eprintln!("{}: warning: {lines} lines of code; does the file have two jobs?", source.path);
    }
}

/// Returns the numbers of the lines that contain code. A line inside a string literal is code.
fn lines_of_code(source: &Source) -> Vec<usize> {
    if !source.path.ends_with(".rs") {
        return Vec::new();
    }
    let lines = source.lines().zip(source.code());
    let code = lines.filter(|((line, text), (_, bare))| {
        let is_comment = bare.trim().is_empty() && source.has_comment(*line);
        !text.trim().is_empty() && !is_comment
    });
    code.map(|((line, _), _)| line).collect()
}

/// No file depends on the directories of one machine.
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

    fn found(source: &Source) -> usize {
        size(source).len()
    }

    fn file(line: &str, lines: usize) -> Source {
        Source::new("a.rs", line.repeat(lines))
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(found(&file("mod a;\n", MAX_LINES)), 0);
        assert_eq!(found(&file("mod a;\n", MAX_LINES + 1)), 1);
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        assert_eq!(found(&file("/// A comment.\n\n", MAX_LINES + 1)), 0);
        assert_eq!(found(&file("/* A\n\n comment. */\n", MAX_LINES + 1)), 0);
        assert_eq!(found(&file("mod a; // A comment.\n", MAX_LINES + 1)), 1);
    }

    #[test]
    fn lines_of_a_string_count() {
        let text = |lines| format!("const A: &str = \"\n{}\";\n", "text\n".repeat(lines));
        assert_eq!(found(&Source::new("a.rs", text(MAX_LINES - 2))), 0);
        assert_eq!(found(&Source::new("a.rs", text(MAX_LINES))), 1);
    }

    #[test]
    fn tests_count() {
        let source = |lines| {
            let lines = "use a;\n".repeat(lines);
            Source::new("a.rs", format!("#[cfg(test)]\nmod tests {{\n{lines}}}\n"))
        };
        assert_eq!(found(&source(MAX_LINES - 3)), 0);
        assert_eq!(found(&source(MAX_LINES - 2)), 1);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let found = |text: String| machine_paths(&Source::new("a.md", text)).len();
        assert_eq!(found(["see ", "/home", "/ann/notes"].concat()), 1);
        assert_eq!(found("https://a.org/work/x and src/root/mod.rs".to_owned()), 0);
    }
}
