//! The value at a JSON pointer, and the canonical text of it that is the key.
//!
//! `serde_json` checks the grammar and builds nothing. The [`Cursor`] then walks text that is known
//! to be JSON, so numbers keep their text, and memory is at most a few times the size of the
//! record.

use core::cmp::Ordering;
use std::borrow::Cow;

use memchr::memchr;
use serde_json::value::RawValue;

use super::no_key::NoKey;

mod cursor;

pub(super) use self::cursor::Cursor;
use self::cursor::{decoded, string_length};

/// The deepest nesting of arrays and objects in a key: the limit of `serde_json` itself. What
/// surrounds the key or stands next to it may be nested to any depth.
const MAX_DEPTH: usize = 127;

/// How a value is written.
#[derive(Clone, Copy)]
struct Form {
    /// How deep arrays and objects may be nested in it.
    depth: usize,
    /// Whether the case of names makes no difference to their order.
    folds: bool,
}

impl<'a> Cursor<'a> {
    /// Stands at the start of the document `record`.
    pub(super) fn of_document(record: &'a [u8]) -> Result<Self, NoKey> {
        let document: &RawValue =
            serde_json::from_slice(record).map_err(|_| match record.trim_ascii() {
                b"{" => NoKey::Spread { array: false },
                b"[" | b"[{" => NoKey::Spread { array: true },
                _ => NoKey::Json,
            })?;
        Ok(Self::new(document.get().as_bytes()))
    }

    /// Stands at the value at `pointer` in the document at whose start this stands. If members have
    /// the same name, the last one counts.
    pub(super) fn at_pointer(&self, pointer: &str) -> Result<Self, NoKey> {
        let mut cursor = self.clone();
        let mut names = pointer.split('/');
        // A slash comes before every name, and nothing before the first slash.
        if names.next() != Some("") {
            return Err(NoKey::Pointer);
        }
        for name in names {
            // `~1` stands for a slash and `~0` for `~`. This order decodes `~01` to `~1`.
            let found = if name.contains('~') {
                cursor.descend(&name.replace("~1", "/").replace("~0", "~"))
            } else {
                cursor.descend(name)
            };
            found.ok_or(NoKey::Pointer)?;
        }
        Ok(cursor)
    }

    /// Steps from the value here to its member or element with this name.
    fn descend(&mut self, name: &str) -> Option<()> {
        match self.peek() {
            b'{' => {
                self.open();
                // All members are visited, since the last one with the name counts.
                let mut found = None;
                while self.more() {
                    if decoded(self.name()).is_some_and(|found| *found == *name.as_bytes()) {
                        found = Some(self.place());
                    }
                    self.skip();
                }
                self.go_to(found?);
            }
            b'[' => {
                let index = index(name)?;
                self.open();
                for _ in 0..index {
                    self.more().then(|| self.skip())?;
                }
                self.more().then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Decodes the value here, if it is a string.
    pub(super) fn string(mut self) -> Option<Cow<'a, [u8]>> {
        if self.peek() == b'"' { decoded(self.token()) } else { None }
    }

    /// Appends the decoded text of the string here to `out`, or the canonical form of a value that
    /// is no string.
    pub(super) fn text(mut self, out: &mut Vec<u8>) -> Result<(), NoKey> {
        if self.peek() != b'"' {
            return self.canonical(false, out);
        }
        // A lone surrogate stands for no character.
        out.extend_from_slice(&self.string().ok_or(NoKey::Utf8)?);
        Ok(())
    }

    /// Appends the value here to `out` in its canonical form: no space between tokens, the names in
    /// every object sorted, only the escapes that a string needs, numbers as they are. If `folds`,
    /// the case of A to Z makes no difference to the order of names.
    pub(super) fn canonical(mut self, folds: bool, out: &mut Vec<u8>) -> Result<(), NoKey> {
        self.value(Form { depth: MAX_DEPTH, folds }, out)
    }

    /// [`Cursor::canonical`], and steps over the value.
    fn value(&mut self, form: Form, out: &mut Vec<u8>) -> Result<(), NoKey> {
        match self.peek() {
            open @ (b'[' | b'{') => {
                let depth = form.depth.checked_sub(1).ok_or(NoKey::Deep)?;
                let inner = Form { depth, ..form };
                self.open();
                out.push(open);
                if open == b'[' { self.elements(inner, out) } else { self.members(inner, out) }
            }
            b'"' => {
                append_string(self.token(), out);
                Ok(())
            }
            // A number or a literal.
            _ => {
                out.extend_from_slice(self.token());
                Ok(())
            }
        }
    }

    /// Appends the elements of an array and its closing bracket.
    fn elements(&mut self, form: Form, out: &mut Vec<u8>) -> Result<(), NoKey> {
        while self.more() {
            self.value(form, out)?;
            out.push(b',');
        }
        close(b']', out);
        Ok(())
    }

    /// Appends the members of an object, sorted, and its closing bracket.
    fn members(&mut self, form: Form, out: &mut Vec<u8>) -> Result<(), NoKey> {
        // Append the members in the order of the text, each with a comma, and note where each is.
        let mut members = Vec::new();
        while self.more() {
            let start = out.len();
            append_string(self.name(), out);
            out.push(b':');
            self.value(form, out)?;
            out.push(b',');
            members.push((start, out.len()));
        }
        sort(&mut members, form.folds, out);
        close(b'}', out);
        Ok(())
    }
}

/// Parses an index as RFC 6901 writes it: digits without leading zeros.
fn index(name: &str) -> Option<usize> {
    let plain = name == "0" || name.starts_with(|first: char| matches!(first, '1'..='9'));
    if plain { name.parse().ok() } else { None }
}

/// Appends a string with only the escapes that it needs. A string with a lone surrogate stays as it
/// is: no other string has the same canonical form.
fn append_string(string: &[u8], out: &mut Vec<u8>) {
    if memchr(b'\\', string).is_none() {
        return out.extend_from_slice(string);
    }
    match serde_json::from_slice(string).and_then(|text: String| serde_json::to_string(&text)) {
        Ok(canonical) => out.extend_from_slice(canonical.as_bytes()),
        Err(_) => out.extend_from_slice(string),
    }
}

/// Sorts the members at the end of `out` by name; if `folds`, first by the name in small letters.
/// Of members with the same name the last one stays.
fn sort(members: &mut [(usize, usize)], folds: bool, out: &mut Vec<u8>) {
    let name = |&(start, end): &(usize, usize)| {
        let member = &out[start..end];
        &member[..string_length(member)]
    };
    let order = |a: &(usize, usize), b: &(usize, usize)| {
        let small = |member| name(member).iter().map(u8::to_ascii_lowercase);
        let folded = if folds { small(a).cmp(small(b)) } else { Ordering::Equal };
        folded.then_with(|| name(a).cmp(name(b)))
    };
    if members.is_sorted_by(|a, b| order(a, b).is_lt()) {
        return;
    }
    let start = members[0].0;
    // An unstable sort needs no memory; the places as the second criterion keep members of one name
    // in order.
    members.sort_unstable_by(|a, b| order(a, b).then(a.cmp(b)));
    // Copy the last member of each name, in the new order, and replace the unsorted ones.
    let mut sorted = Vec::with_capacity(out.len() - start);
    for namesakes in members.chunk_by(|a, b| name(a) == name(b)) {
        if let Some(&(start, end)) = namesakes.last() {
            sorted.extend_from_slice(&out[start..end]);
        }
    }
    out.truncate(start);
    out.extend_from_slice(&sorted);
}

/// Closes an array or object: the bracket replaces the comma after the last element or member.
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
        Cursor::of_document(record.as_bytes())?.at_pointer(pointer)?.canonical(false, &mut out)?;
        Ok(String::from_utf8(out).expect("JSON text is UTF-8"))
    }

    #[test]
    fn values_have_one_canonical_form() {
        let golden = [
            ("1", "1"),
            ("1.0", "1.0"),
            ("1e0", "1e0"),
            ("1E+0", "1E+0"),
            ("-0", "-0"),
            ("1e999", "1e999"),
            // Larger than any integer type, and still kept digit by digit.
            ("100000000000000000001", "100000000000000000001"),
            ("null", "null"),
            (" true ", "true"),
            (r#""1""#, r#""1""#),
            (r#""null""#, r#""null""#),
            (r#""\u0061\/\u00e9\ud83d\ude00""#, r#""a/é😀""#),
            (r#""\u000a\u0001\u0022\\""#, r#""\n\u0001\"\\""#),
            // A lone surrogate: it cannot be decoded, and no other string has this form.
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
            (
                r#"{"$serde_json::private::RawValue":"7"}"#,
                r#"{"$serde_json::private::RawValue":"7"}"#,
            ),
        ];
        for (record, expected) in golden {
            assert_eq!(key("", record).as_deref(), Ok(expected), "{record}");
            let surrounded =
                format!(r#" {{"]\"":"}}\\","x":[{record}], "k" :[0,{record} ],"y":{record}}}"#);
            assert_eq!(key("/k/1", &surrounded).as_deref(), Ok(expected), "{surrounded}");
            // The canonical form of a canonical text is the text itself.
            assert_eq!(key("", expected).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn the_last_member_of_a_name_counts() {
        let members: Vec<_> = (0..1000).map(|n| format!(r#""{}":{n}"#, n * 7 % 3)).collect();
        let record = format!("{{{}}}", members.join(","));
        assert_eq!(key("", &record).as_deref(), Ok(r#"{"0":999,"1":997,"2":998}"#));
    }

    #[test]
    fn pointers_find_what_rfc_6901_says() {
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
        // The last member of a name counts on the way to the value too, even if only an earlier one
        // has the value.
        assert_eq!(key("/a/b", r#"{"a":{"b":1},"a":{"b":2,"b":3}}"#).as_deref(), Ok("3"));
        assert_eq!(key("/a/b", r#"{"a":{"b":1},"\u0061":{}}"#), Err(NoKey::Pointer));
        assert_eq!(key("/a/b", r#"{"a":"b"}"#), Err(NoKey::Pointer));
        for record in ["", "{\"", "[1,]", "01", "1 2", "{\"a\":1,}", "[\"\u{1}\"]", "nul", "[1}"] {
            assert_eq!(key("", record), Err(NoKey::Json), "{record}");
        }
    }

    #[test]
    fn depth_is_limited_only_in_the_key() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(key("", &nested(127)), Ok(nested(127)));
        assert_eq!(key("", &nested(128)), Err(NoKey::Deep));
        let surrounded = format!(r#"{{"a":{},"b":1}}"#, nested(1_000_000));
        assert_eq!(key("/b", &surrounded).as_deref(), Ok("1"));
        assert_eq!(key("/a", &surrounded), Err(NoKey::Deep));
        assert_eq!(key(&"/0".repeat(200), &nested(300)).as_deref(), Ok(&*nested(100)));
    }

    /// A value without the details that make no difference to its key.
    #[derive(Clone, Debug, PartialEq)]
    enum Tree {
        Plain(&'static str),
        Text(String),
        Array(Vec<Tree>),
        Object(BTreeMap<String, Tree>),
    }

    /// Generates values that often differ only a little.
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

    /// Writes a value; `dice` chooses the details that make no difference.
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
                // A member that does not count, since its name occurs again.
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
        fn keys_are_equal_exactly_if_the_values_are(
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

        /// Any text has a key exactly if `serde_json` accepts it, and nothing panics.
        #[test]
        fn any_text_has_a_key_if_it_is_json(record in r#"([\[\]{},:"\\ 01e.\-un]|null|"a"|\\u00e9|"a":){0,24}"#) {
            let valid = serde_json::from_str::<&RawValue>(&record).is_ok();
            prop_assert_eq!(key("", &record).is_ok(), valid);
            let _ = key("/a", &record);
            let _ = key("/0/1", &record);
        }
    }
}
