//! The value at a JSON pointer, and the one spelling that makes it a key.
//!
//! `serde_json` checks the grammar and keeps nothing. What is here walks text that is known to be
//! JSON: numbers keep their text, and memory is a few times the record, whatever it holds.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use serde_json::value::RawValue;

use super::NoKey;

/// Arrays and objects within each other in a key, at most: as many as `serde_json` itself reads.
/// What surrounds the key, or stands beside it, is as deep as it likes.
const DEEPEST: usize = 127;

/// A place in a JSON document.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The value at `pointer` in the document `record`. Of members of one name, the last one wins.
    pub(super) fn new(record: &'a [u8], pointer: &str) -> Result<Self, NoKey> {
        let document: &RawValue = serde_json::from_slice(record).map_err(|_| NoKey::Json)?;
        let mut cursor = Self { text: document.get().as_bytes(), at: 0 };
        let mut names = pointer.split('/');
        // A slash comes before every name, and nothing before the first slash.
        if names.next() != Some("") {
            return Err(NoKey::Pointer);
        }
        for name in names {
            let found = if name.contains('~') {
                cursor.descend(&name.replace("~1", "/").replace("~0", "~"))
            } else {
                cursor.descend(name)
            };
            found.ok_or(NoKey::Pointer)?;
        }
        Ok(cursor)
    }

    /// What the value here says, if it is a string.
    pub(super) fn string(mut self) -> Option<Cow<'a, [u8]>> {
        if self.peek() == b'"' { decoded(self.token()) } else { None }
    }

    /// Adds the value here to `out` in its one spelling: no space between tokens, the names in
    /// every object sorted, only those escapes that a string needs, numbers as they are.
    pub(super) fn spell(mut self, out: &mut Vec<u8>) -> Result<(), NoKey> {
        self.value(DEEPEST, out)
    }

    /// [`Cursor::spell`], and steps over the value. At most `levels` may be within each other.
    fn value(&mut self, levels: usize, out: &mut Vec<u8>) -> Result<(), NoKey> {
        match self.peek() {
            open @ (b'[' | b'{') => {
                let levels = levels.checked_sub(1).ok_or(NoKey::Deep)?;
                self.at += 1;
                out.push(open);
                if open == b'[' { self.elements(levels, out) } else { self.members(levels, out) }
            }
            b'"' => {
                spell_string(self.token(), out);
                Ok(())
            }
            _ => {
                out.extend_from_slice(self.token());
                Ok(())
            }
        }
    }

    fn elements(&mut self, levels: usize, out: &mut Vec<u8>) -> Result<(), NoKey> {
        while self.more() {
            self.value(levels, out)?;
            out.push(b',');
        }
        close(b']', out);
        Ok(())
    }

    fn members(&mut self, levels: usize, out: &mut Vec<u8>) -> Result<(), NoKey> {
        let mut members = Vec::new();
        while self.more() {
            let start = out.len();
            spell_string(self.name(), out);
            out.push(b':');
            self.value(levels, out)?;
            out.push(b',');
            members.push((start, out.len()));
        }
        sort(&mut members, out);
        close(b'}', out);
        Ok(())
    }

    /// Steps to the value of this name in the value here.
    fn descend(&mut self, name: &str) -> Option<()> {
        match self.peek() {
            b'{' => {
                self.at += 1;
                let mut found = None;
                while self.more() {
                    if decoded(self.name()).is_some_and(|found| *found == *name.as_bytes()) {
                        found = Some(self.at);
                    }
                    self.skip();
                }
                self.at = found?;
            }
            b'[' => {
                let index = index(name)?;
                self.at += 1;
                for _ in 0..index {
                    self.more().then(|| self.skip())?;
                }
                self.more().then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }

    /// The first byte of the next token, or 0 at the end of the text, which no token begins with.
    fn peek(&mut self) -> u8 {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Between the elements or members of an array or object: steps over the comma, if any, or out
    /// at the end. Whether there is one more.
    fn more(&mut self) -> bool {
        let (step, more) = match self.peek() {
            b',' => (1, true),
            b']' | b'}' => (1, false),
            0 => (0, false),
            _ => (0, true),
        };
        self.at += step;
        more
    }

    /// Steps over the name of a member and the colon.
    fn name(&mut self) -> &'a [u8] {
        self.peek();
        let name = self.token();
        self.peek();
        self.at += 1;
        name
    }

    /// Steps over a string, a number or a literal.
    fn token(&mut self) -> &'a [u8] {
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
    fn skip(&mut self) {
        let mut levels = 0_usize;
        loop {
            match self.peek() {
                0 => return,
                b'"' => self.at += string_length(&self.text[self.at..]),
                b'[' | b'{' => {
                    levels += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    levels -= 1;
                    self.at += 1;
                }
                // Within brackets only brackets count.
                _ if levels > 0 => self.at += 1,
                _ => _ = self.token(),
            }
            if levels == 0 {
                return;
            }
        }
    }
}

/// An index as RFC 6901 writes it: digits, and no 0 before others.
fn index(name: &str) -> Option<usize> {
    let plain = name == "0" || name.starts_with(|first: char| matches!(first, '1'..='9'));
    if plain { name.parse().ok() } else { None }
}

/// The bytes up to and with the quote that ends the string at the start of `text`.
fn string_length(text: &[u8]) -> usize {
    let mut length = 1;
    while let Some(step) = memchr2(b'"', b'\\', text.get(length..).unwrap_or_default()) {
        if text[length + step] == b'"' {
            return length + step + 1;
        }
        length += step + 2;
    }
    text.len()
}

/// What a string says; none where a surrogate stands alone, which says nothing.
fn decoded(string: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr(b'\\', string).is_none() {
        return string.get(1..string.len().saturating_sub(1)).map(Cow::Borrowed);
    }
    serde_json::from_slice(string).ok().map(|text: String| Cow::Owned(text.into_bytes()))
}

/// Adds a string with only those escapes that it needs. One with a lone surrogate stays as it is:
/// no other string is spelled like it.
fn spell_string(string: &[u8], out: &mut Vec<u8>) {
    if memchr(b'\\', string).is_none() {
        return out.extend_from_slice(string);
    }
    match serde_json::from_slice(string).and_then(|text: String| serde_json::to_string(&text)) {
        Ok(spelled) => out.extend_from_slice(spelled.as_bytes()),
        Err(_) => out.extend_from_slice(string),
    }
}

/// Sorts the members at the end of `out` by name. Of those of one name the last one stays.
fn sort(members: &mut [(usize, usize)], out: &mut Vec<u8>) {
    let name = |&(start, end): &(usize, usize)| {
        let member = &out[start..end];
        &member[..string_length(member)]
    };
    if members.is_sorted_by(|a, b| name(a) < name(b)) {
        return;
    }
    let start = members[0].0;
    // In place, which a stable sort is not.
    members.sort_unstable_by(|a, b| name(a).cmp(name(b)).then(a.cmp(b)));
    let mut sorted = Vec::with_capacity(out.len() - start);
    for namesakes in members.chunk_by(|a, b| name(a) == name(b)) {
        if let Some(&(start, end)) = namesakes.last() {
            sorted.extend_from_slice(&out[start..end]);
        }
    }
    out.truncate(start);
    out.extend_from_slice(&sorted);
}

/// Closes an array or object, in place of the comma after the last of it.
fn close(bracket: u8, out: &mut Vec<u8>) {
    out.pop_if(|last| *last == b',');
    out.push(bracket);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn key(pointer: &str, record: &str) -> Result<String, NoKey> {
        let mut out = Vec::new();
        Cursor::new(record.as_bytes(), pointer)?.spell(&mut out)?;
        Ok(String::from_utf8(out).expect("JSON text is UTF-8"))
    }

    #[test]
    fn one_spelling() {
        let golden = [
            ("1", "1"),
            ("1.0", "1.0"),
            ("1e0", "1e0"),
            ("1E+0", "1E+0"),
            ("-0", "-0"),
            ("1e999", "1e999"),
            ("null", "null"),
            (" true ", "true"),
            (r#""1""#, r#""1""#),
            (r#""null""#, r#""null""#),
            (r#""\u0061\/\u00e9\ud83d\ude00""#, r#""a/é😀""#),
            (r#""\u000a\u0001\u0022\\""#, r#""\n\u0001\"\\""#),
            // Says nothing, and is nothing else either.
            (r#""\u0061\ud800""#, r#""\u0061\ud800""#),
            ("[ ]", "[]"),
            ("{ }", "{}"),
            ("[ 1,\t2 ]", "[1,2]"),
            (r#"[",", [","] ]"#, r#"[",",[","]]"#),
            (r#"{"b":2, "a" : 1}"#, r#"{"a":1,"b":2}"#),
            (r#"{"b":[2, 1], "\u0061":{"d":[],"c":{}}}"#, r#"{"a":{"c":{},"d":[]},"b":[2,1]}"#),
            (r#"{"a":1,"b":0,"a":3,"\u0061":2}"#, r#"{"a":2,"b":0}"#),
            (r#"{"a\"":1,"a":2}"#, r#"{"a":2,"a\"":1}"#),
            (r#"{"$serde_json::private::Number":"7"}"#, r#"{"$serde_json::private::Number":"7"}"#),
        ];
        for (record, expected) in golden {
            assert_eq!(key("", record).as_deref(), Ok(expected), "{record}");
            let beside =
                format!(r#" {{"]\"":"}}\\","x":[{record}], "k" :[0,{record} ],"y":{record}}}"#);
            assert_eq!(key("/k/1", &beside).as_deref(), Ok(expected), "{beside}");
            // What is spelled so is spelled so again.
            assert_eq!(key("", expected).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn the_last_of_many_namesakes_wins() {
        let members: Vec<_> = (0..1000).map(|n| format!(r#""{}":{n}"#, n * 7 % 3)).collect();
        let record = format!("{{{}}}", members.join(","));
        assert_eq!(key("", &record).as_deref(), Ok(r#"{"0":999,"1":997,"2":998}"#));
    }

    #[test]
    fn pointers() {
        // The examples of RFC 6901.
        let record = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4,
            "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}"#;
        let found = [
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", r#""bar""#),
            ("/foo/1", r#""baz""#),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            (r"/i\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ];
        for (pointer, expected) in found {
            assert_eq!(key(pointer, record).as_deref(), Ok(expected), "{pointer}");
        }
        for pointer in
            ["/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/", "/fo", "//", "/m~01n", "foo"]
        {
            assert_eq!(key(pointer, record), Err(NoKey::Pointer), "{pointer}");
        }
        // The last one wins on the way, too, and may lack what an earlier one has.
        assert_eq!(key("/a/b", r#"{"a":{"b":1},"a":{"b":2,"b":3}}"#).as_deref(), Ok("3"));
        assert_eq!(key("/a/b", r#"{"a":{"b":1},"\u0061":{}}"#), Err(NoKey::Pointer));
        assert_eq!(key("/a/b", r#"{"a":"b"}"#), Err(NoKey::Pointer));
        for record in ["", "{", "[1,]", "01", "1 2", "{\"a\":1,}", "[\"\u{1}\"]", "nul", "[1}"] {
            assert_eq!(key("", record), Err(NoKey::Json), "{record}");
        }
    }

    #[test]
    fn depth_counts_in_the_key_alone() {
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(key("", &nested(127)), Ok(nested(127)));
        assert_eq!(key("", &nested(128)), Err(NoKey::Deep));
        let beside = format!(r#"{{"a":{},"b":1}}"#, nested(1_000_000));
        assert_eq!(key("/b", &beside).as_deref(), Ok("1"));
        assert_eq!(key("/a", &beside), Err(NoKey::Deep));
        assert_eq!(key(&"/0".repeat(200), &nested(300)).as_deref(), Ok(&*nested(100)));
    }

    /// A value, by what makes it the same as another.
    #[derive(Clone, Debug, PartialEq)]
    enum Tree {
        Plain(&'static str),
        Text(String),
        Array(Vec<Tree>),
        Object(BTreeMap<String, Tree>),
    }

    /// Values that are often nearly the same.
    fn tree() -> impl Strategy<Value = Tree> {
        let text = || "[ab\"\\\\,{\\]\n\u{e9}]{0,2}";
        let plain = ["null", "true", "false", "0", "-0", "1", "1.0", "1e0", "10", "1E0"];
        let leaf = prop_oneof![
            proptest::sample::select(plain.to_vec()).prop_map(Tree::Plain),
            text().prop_map(Tree::Text),
        ];
        leaf.prop_recursive(4, 16, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Tree::Array),
                btree_map(text(), inner, 0..4).prop_map(Tree::Object),
            ]
        })
    }

    /// Writes a value, choosing by `dice` what does not matter.
    fn write(tree: &Tree, dice: &mut impl FnMut(usize) -> usize, out: &mut String) {
        let mut blank = |out: &mut String| out.push_str(["", "", " ", "\t\n\r "][dice(4)]);
        blank(out);
        match tree {
            Tree::Plain(text) => out.push_str(text),
            Tree::Text(text) => write_text(text, dice, out),
            Tree::Array(elements) => {
                out.push('[');
                blank(out);
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write(element, dice, out);
                }
                out.push(']');
            }
            Tree::Object(members) => {
                out.push('{');
                blank(out);
                let mut members: Vec<_> = members.iter().collect();
                for at in (1..members.len()).rev() {
                    members.swap(at, dice(at + 1));
                }
                // One that does not count, since its name comes again.
                if let Some((name, _)) = members.last()
                    && dice(3) == 0
                {
                    write_text(name, dice, out);
                    out.push_str(":[{}],");
                }
                for (at, (name, value)) in members.into_iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write_text(name, dice, out);
                    out.push_str([":", " :"][dice(2)]);
                    write(value, dice, out);
                }
                out.push('}');
            }
        }
        out.push_str(["", " "][dice(2)]);
    }

    fn write_text(text: &str, dice: &mut impl FnMut(usize) -> usize, out: &mut String) {
        out.push('"');
        for letter in text.chars() {
            if dice(3) == 0 {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            } else {
                match letter {
                    '"' | '\\' => out.extend(['\\', letter]),
                    '\n' => out.push_str("\\n"),
                    _ => out.push(letter),
                }
            }
        }
        out.push('"');
    }

    fn written(tree: &Tree, mut seed: u64) -> String {
        let mut dice = move |sides: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % sides
        };
        let mut out = String::new();
        write(tree, &mut dice, &mut out);
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn keys_are_the_same_if_the_values_are(
            a in tree(),
            b in tree(),
            seeds in any::<[u64; 3]>(),
        ) {
            let [first, again, other] =
                [(&a, seeds[0]), (&a, seeds[1]), (&b, seeds[2])].map(|(tree, seed)| {
                    let record = format!(r#"{{"x":[{}], "k":{}}}"#, written(tree, !seed), written(tree, seed));
                    key("/k", &record).unwrap_or_else(|error| panic!("{error}: {record}"))
                });
            prop_assert_eq!(&first, &again);
            prop_assert_eq!(first == other, a == b, "{} {}", first, other);
        }

        /// Any text at all: a key or none, the same as `serde_json` says, and no panic.
        #[test]
        fn any_text(record in r#"([\[\]{},:"\\ 01e.\-un]|null|"a"|\\u00e9|"a":){0,24}"#) {
            let valid = serde_json::from_str::<&RawValue>(&record).is_ok();
            prop_assert_eq!(key("", &record).is_ok(), valid);
            let _ = key("/a", &record);
            let _ = key("/0/1", &record);
        }
    }
}
