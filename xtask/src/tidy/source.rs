//! Splits a source file into code and comments, so that a rule reads only one of them.

/// A text file of the repository.
pub(crate) struct Source {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    code: String,
    comments: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: String) -> Self {
        let (code, comments) = match path.rsplit_once('.') {
            Some((_, "rs")) => split(&text),
            Some((_, "toml")) => (String::new(), hash_comments(&text)),
            _ => (String::new(), String::new()),
        };
        Self { path: path.to_owned(), text, code, comments }
    }

    /// Returns whether the file is a model or a part of one. Models run only under loom. They name
    /// orderings to pass them on or to weaken them on purpose.
    pub(crate) fn is_model(&self) -> bool {
        ["/models.rs", "/modelled.rs"].iter().any(|name| self.path.ends_with(name))
            || self.path.contains("/models/")
    }

    /// Returns the lines, numbered from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Returns the lines without comments and literals.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }

    /// Returns the lines without code. In a manifest, only lines that begin with `#` are comments.
    pub(crate) fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.comments.lines())
    }

    /// Returns whether the line contains a part of a comment.
    pub(crate) fn has_comment(&self, line: usize) -> bool {
        self.comments().nth(line - 1).is_some_and(|(_, text)| !text.trim().is_empty())
    }

    /// Returns whether a comment contains `mark` on this line or on one of the `above` lines before
    /// it.
    pub(crate) fn is_marked(&self, line: usize, above: usize, mark: &str) -> bool {
        let first = line.saturating_sub(above);
        self.comments().any(|(at, text)| (first..=line).contains(&at) && text.contains(mark))
    }

    /// Formats a violation as `path:line: rule: what to do`.
    pub(crate) fn violation(&self, line: usize, rule: &str, advice: &str) -> String {
        format!("{}:{line}: {rule}: {advice}", self.path)
    }
}

/// Returns whether `code` contains `word` as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

/// Returns the comments of TOML, on the same lines as in the whole.
fn hash_comments(text: &str) -> String {
    let comments = text.lines().map(|line| if line.starts_with('#') { line } else { "" });
    comments.flat_map(|line| [line, "\n"]).collect()
}

/// Splits Rust into code and comments, each on the same lines as in the whole.
fn split(text: &str) -> (String, String) {
    let (mut code, mut comments) = (String::new(), String::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, comment) = token(rest, first);
        let (token, after) = rest.split_at(length);
        let blank: String = token.chars().filter(|&c| c == '\n').collect();
        if comment {
            comments += token;
            code += &blank;
        } else {
            // A token longer than one character is a literal.
            code += if length > first.len_utf8() { &blank } else { token };
            comments += &blank;
        }
        rest = after;
    }
    (code, comments)
}

/// Returns the length of the comment, literal or single character at the start, and whether it is a
/// comment.
fn token(rest: &str, first: char) -> (usize, bool) {
    let to = |end: &str| rest.find(end).unwrap_or(rest.len());
    match first {
        '/' if rest.starts_with("//") => (to("\n"), true),
        '/' if rest.starts_with("/*") => ((to("*/") + 2).min(rest.len()), true),
        '"' => (literal_end(rest, '"'), false),
        'r' if raw_hashes(rest).is_some() => {
            let end = format!("\"{}", "#".repeat(raw_hashes(rest).unwrap_or_default()));
            let start = rest.find('"').map_or(0, |quote| quote + 1);
            (rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()), false)
        }
        // A character literal; a lifetime has no second quote.
        '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
            (literal_end(rest, '\''), false)
        }
        _ => (first.len_utf8(), false),
    }
}

/// Returns the length of the literal that starts and ends with `quote`.
fn literal_end(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the number of `#` if a raw string starts here.
fn raw_hashes(rest: &str) -> Option<usize> {
    let hashes = rest[1..].find(|c| c != '#')?;
    rest[1 + hashes..].starts_with('"').then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_separated() {
        let text =
            "let a = \"x // y\\\"\"; // one\nlet b = r#\"\" /* \"#; /* two\n */ 'c'; '\\''; &'d e";
        let (code, comments) = split(text);
        assert_eq!(code, "let a = ; \nlet b = ; \n ; ; &'d e");
        assert_eq!(comments, "// one\n/* two\n */");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("x.load(Relaxed)", "Relaxed"));
        assert!(!has_word("NotRelaxed", "Relaxed"));
    }
}
