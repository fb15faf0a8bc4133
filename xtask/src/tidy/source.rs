//! A source file split into code and comments, so that a rule sees only what it speaks of.

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

    /// Whether it is a model, or helps one: it runs under loom alone, and names orderings to pass them on or to break
    /// them on purpose.
    pub(crate) fn is_model(&self) -> bool {
        ["/models.rs", "/modelled.rs"].iter().any(|name| self.path.ends_with(name))
            || self.path.contains("/models/")
    }

    /// The lines, numbered from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The lines without comments, and with string literals empty.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }

    /// The lines without code. Of a manifest, the lines that begin with `#`.
    pub(crate) fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.comments.lines())
    }

    /// Whether a comment is on this line, or goes on there.
    pub(crate) fn has_comment(&self, line: usize) -> bool {
        self.comments().nth(line - 1).is_some_and(|(_, text)| !text.trim().is_empty())
    }

    /// Whether a comment contains `mark` on this line or on one of the `above` lines before it.
    pub(crate) fn is_marked(&self, line: usize, above: usize, mark: &str) -> bool {
        let first = line.saturating_sub(above);
        self.comments().any(|(at, text)| (first..=line).contains(&at) && text.contains(mark))
    }

    /// `path:line: rule: what to do`.
    pub(crate) fn violation(&self, line: usize, rule: &str, advice: &str) -> String {
        format!("{}:{line}: {rule}: {advice}", self.path)
    }
}

/// Whether `word` stands in `code` as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

/// The comments of TOML, with the lines of the whole.
fn hash_comments(text: &str) -> String {
    let comments = text.lines().map(|line| if line.starts_with('#') { line } else { "" });
    comments.flat_map(|line| [line, "\n"]).collect()
}

/// Splits Rust into code and comments, each with the lines of the whole.
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
            // Only a literal is longer than one character.
            code += if length > first.len_utf8() { &blank } else { token };
            comments += &blank;
        }
        rest = after;
    }
    (code, comments)
}

/// The length of the comment, literal or single character at the start, and whether it is a comment.
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
        // A character, not a lifetime.
        '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
            (literal_end(rest, '\''), false)
        }
        _ => (first.len_utf8(), false),
    }
}

/// The length of the literal that opens and closes with `quote`.
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

/// The number of `#` if a raw string starts here.
fn raw_hashes(rest: &str) -> Option<usize> {
    let hashes = rest[1..].find(|c| c != '#')?;
    rest[1 + hashes..].starts_with('"').then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_told_apart() {
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
