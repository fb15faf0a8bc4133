//! A cursor over text that is known to be JSON: steps from token to token, and over whole values.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// A place in a JSON document. The grammar has been checked, so the steps need no errors.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Stands at the start of `text`, which is one valid JSON document.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The place, for a later [`Cursor::go_to`].
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Goes back to a place.
    pub(super) fn go_to(&mut self, place: usize) {
        self.at = place;
    }

    /// Skips white space and returns the first byte of the next token, or 0 at the end of the text.
    /// No token begins with 0.
    pub(super) fn peek(&mut self) -> u8 {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Steps over the bracket that [`Cursor::peek`] returned.
    pub(super) fn open(&mut self) {
        self.at += 1;
    }

    /// Returns whether an array or object has one more element or member. Steps over the comma
    /// before it, or over the closing bracket.
    pub(super) fn more(&mut self) -> bool {
        let (step, more) = match self.peek() {
            b',' => (1, true),
            b']' | b'}' => (1, false),
            0 => (0, false),
            // The first element or member, which has no comma before it.
            _ => (0, true),
        };
        self.at += step;
        more
    }

    /// Steps over the name of a member and the colon, and returns the name in its quotes.
    pub(super) fn name(&mut self) -> &'a [u8] {
        self.peek();
        let name = self.token();
        self.peek();
        self.at += 1;
        name
    }

    /// Steps over a string, a number or a literal, and returns its text.
    pub(super) fn token(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = if rest.first() == Some(&b'"') {
            string_length(rest)
        } else {
            let ends =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            rest.iter().position(ends).unwrap_or(rest.len())
        };
        self.at += length;
        &rest[..length]
    }

    /// Steps over a value.
    pub(super) fn skip(&mut self) {
        // A loop with a count instead of recursion: skipped values may be nested to any depth.
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                0 => return,
                b'"' => self.at += string_length(&self.text[self.at..]),
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                // Inside brackets only brackets and strings matter, so other tokens are skipped
                // byte by byte.
                _ if depth > 0 => self.at += 1,
                _ => _ = self.token(),
            }
            if depth == 0 {
                return;
            }
        }
    }
}

/// The length of the string at the start of `text`, including both quotes.
pub(super) fn string_length(text: &[u8]) -> usize {
    let mut length = 1;
    while let Some(step) = memchr2(b'"', b'\\', text.get(length..).unwrap_or_default()) {
        if text[length + step] == b'"' {
            return length + step + 1;
        }
        // A backslash and the byte that it escapes, which may be a quote.
        length += step + 2;
    }
    text.len()
}

/// Decodes a string in quotes. Returns `None` if it contains a lone surrogate, which stands for no
/// character.
pub(super) fn decoded(string: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr(b'\\', string).is_none() {
        return string.get(1..string.len().saturating_sub(1)).map(Cow::Borrowed);
    }
    serde_json::from_slice(string).ok().map(|text: String| Cow::Owned(text.into_bytes()))
}
