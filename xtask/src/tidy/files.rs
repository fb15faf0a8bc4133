//! Rules on files as a whole.

use super::source::Source;

/// The most lines of a Rust file.
const MAX_LINES: usize = 600;
/// From here on, ask which two questions the file answers.
const MANY_LINES: usize = 400;

/// A file has one job, so it is short.
pub(super) fn size(source: &Source) -> Vec<String> {
    let lines = source.lines().count();
    if !source.path.ends_with(".rs") || lines <= MAX_LINES {
        return Vec::new();
    }
    vec![source.violation(lines, "size", "split the file, 600 lines are the most")]
}

/// A word in time; not a violation.
pub(super) fn warn_of_size(source: &Source) {
    let lines = source.lines().count();
    if source.path.ends_with(".rs") && lines > MANY_LINES {
        eprintln!("{}: warning: {lines} lines; does it answer two questions?", source.path);
    }
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
        let file = |lines| Source::new("a.rs", "//! A line.\n".repeat(lines));
        assert_eq!(size(&file(MAX_LINES)).len(), 0);
        assert_eq!(size(&file(MAX_LINES + 1)).len(), 1);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let found = |text: String| machine_paths(&Source::new("a.md", text)).len();
        assert_eq!(found(["see ", "/home", "/ann/notes"].concat()), 1);
        assert_eq!(found("https://a.org/work/x and src/root/mod.rs".to_owned()), 0);
    }
}
