//! Rules on files as a whole.

use super::source::Source;

/// The most lines of code in a Rust file. Comments and blank lines do not count: a public type is mostly documentation.
const MAX_LINES: usize = 450;
/// From here on, ask which two questions the file answers.
const MANY_LINES: usize = 300;

/// A file has one job, so it is short.
pub(super) fn size(source: &Source) -> Vec<String> {
    let lines = lines_of_code(source);
    if !source.path.ends_with(".rs") || lines <= MAX_LINES {
        return Vec::new();
    }
    vec![source.violation(lines, "size", "split the file, 450 lines of code are the most")]
}

/// A word in time; not a violation.
pub(super) fn warn_of_size(source: &Source) {
    let lines = lines_of_code(source);
    if source.path.ends_with(".rs") && lines > MANY_LINES {
        eprintln!("{}: warning: {lines} lines of code; does it answer two questions?", source.path);
    }
}

fn lines_of_code(source: &Source) -> usize {
    source.code().filter(|(_, text)| !text.trim().is_empty()).count()
}

/// Nothing depends on where one machine keeps its files.
pub(super) fn machine_paths(source: &Source) -> Vec<String> {
    let roots = ["home", "root", "work", "Users"].map(|folder| format!("/{folder}/"));
    source
        .lines()
        .filter(|(_, text)| roots.iter().any(|root| has_absolute(text, root)))
        .map(|(line, _)| source.violation(line, "machine path", "name no folder of one machine"))
        .collect()
}

/// Whether `root` stands in the text as the start of a path, not in the middle of one.
fn has_absolute(text: &str, root: &str) -> bool {
    text.match_indices(root).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/~}*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let file = |line: &str, lines| Source::new("a.rs", line.repeat(lines));
        assert_eq!(size(&file("mod a;\n", MAX_LINES)).len(), 0);
        assert_eq!(size(&file("mod a;\n", MAX_LINES + 1)).len(), 1);
        assert_eq!(size(&file("/// A comment.\n\n", MAX_LINES + 1)).len(), 0);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let found = |text: String| machine_paths(&Source::new("a.md", text)).len();
        assert_eq!(found(["see ", "/home", "/ann/notes"].concat()), 1);
        assert_eq!(found("https://a.org/work/x and src/root/mod.rs".to_owned()), 0);
    }
}
