//! Rule on examples in documentation: their assertions do not fail by chance.

use super::source::Source;

/// What fixes the keys of an example, or makes a wrong answer about its few items less likely than
/// one in 10^9.
const FIXED: [&str; 9] = [
    "_hash(",
    "_hashes(",
    "_hasher(",
    ".hasher(",
    "with_seed(",
    "with_key(",
    "false_positive_rate(1e-8)",
    "false_positive_rate(1e-10)",
    // The filters of other systems have no random keys.
    "Key::",
];

/// After these calls the filter, or the new one, contains none of the items.
const EMPTYING: [&str; 5] = [".clear()", "Builder::from(", ".rotate()", ".advance(", ".remove("];

/// The methods that insert items or ask for them. Those of `_many` take a list of items.
const METHODS: [&str; 7] = [
    "insert",
    "insert_or_refresh",
    "insert_many",
    "insert_many_with",
    "contains",
    "contains_many",
    "contains_many_with",
];

/// An example whose filter has random keys asserts of no item that it is absent or new while the
/// filter contains another item.
pub(super) fn examples(source: &Source) -> Vec<String> {
    let advice = "the keys are random, and the assertion fails by chance: request a rate of 1e-10 (1e-8 of a cuckoo \
                  filter), fix the keys, or leave it out";
    let mut lines = Vec::new();
    for example in code_blocks(source) {
        let has_fixed_keys =
            |(_, line): &(usize, &str)| FIXED.iter().any(|mark| line.contains(mark));
        if !example.iter().any(has_fixed_keys) {
            lines.extend(by_chance(&example));
        }
    }
    lines.into_iter().map(|line| source.violation(line, "chance", advice)).collect()
}

/// Returns the examples in the documentation of a file: their numbered lines of code.
fn code_blocks(source: &Source) -> Vec<Vec<(usize, &str)>> {
    let is_page = source.path.ends_with(".md");
    let is_source = source.path.ends_with(".rs") && source.path.starts_with("crates/");
    if !(is_page || is_source) {
        return Vec::new();
    }
    let (mut blocks, mut block) = (Vec::new(), None);
    for (number, line) in source.lines() {
        let line = line.trim_start();
        // A line that a macro writes for several types, too.
        let text =
            ["///", "//!", "#[doc = concat!("].iter().find_map(|mark| line.strip_prefix(mark));
        let Some(text) = text.or(is_page.then_some(line)) else {
            block = None;
            continue;
        };
        if text.trim_start().starts_with("```") {
            match block.take() {
                Some(lines) => blocks.push(lines),
                None => block = Some(Vec::new()),
            }
        } else if let Some(lines) = &mut block {
            lines.push((number, text));
        }
    }
    blocks
}

/// Returns the lines that assert of an item that it is absent or new, while the filter contains
/// another.
fn by_chance(example: &[(usize, &str)]) -> Vec<usize> {
    let (mut inserted, mut found): (Vec<&str>, _) = (Vec::new(), Vec::new());
    let mut are_collected = false;
    for &(number, line) in example {
        let asserted = line.contains("assert");
        for call in calls(line) {
            for (item, denied) in call.items() {
                if asserted && denied && inserted.iter().any(|&other| other != item) {
                    found.push(number);
                }
                if call.inserts() && !inserted.contains(&item) {
                    inserted.push(item);
                }
            }
        }
        if EMPTYING.iter().any(|call| line.contains(call)) {
            inserted.clear();
        }
        // What a callback has counted or listed depends on every item of the batch.
        are_collected |= collects(line);
        if are_collected && line.contains("assert_eq!") {
            found.push(number);
        }
    }
    found.dedup();
    found
}

/// Returns whether the callback of a batch in this line uses the results.
fn collects(line: &str) -> bool {
    let mut parts = line.split('|');
    let call = parts.next().unwrap_or_default();
    let result = parts.next().and_then(|parameters| parameters.split_once(", "));
    let is_batch = ["insert_many_with(", "contains_many_with("].iter().any(|of| call.contains(of));
    is_batch && result.is_some_and(|(_, result)| !result.starts_with('_'))
}

/// A call that inserts items or asks for them.
struct Call<'a> {
    method: &'a str,
    arguments: &'a str,
    /// Whether the result is negated.
    negated: bool,
    /// The line behind the call. After a batch, the asserted results are there.
    rest: &'a str,
}

impl<'a> Call<'a> {
    fn inserts(&self) -> bool {
        self.method.starts_with("insert")
    }

    /// Returns the items, each with whether an assertion of this line says that it is absent or
    /// new.
    fn items(&self) -> Vec<(&'a str, bool)> {
        let plain = |item: &'a str| item.trim_start_matches('&');
        if !self.method.contains("_many") {
            return vec![(plain(self.arguments), self.inserts() != self.negated)];
        }
        // The forms with a callback assert nothing: they pass the results on.
        let (list, has_results) = match self.arguments.split_once(", |") {
            Some((list, _)) => (list, false),
            None => (self.arguments, true),
        };
        let denial = if self.inserts() { "true" } else { "false" };
        let mut results =
            self.rest.split(", ").map(|result| has_results && result.contains(denial));
        let items = plain(list).trim_matches(['[', ']']).split(", ");
        items.map(|item| (plain(item), results.next().unwrap_or(false))).collect()
    }
}

/// Returns the calls in a line, from left to right.
fn calls(line: &str) -> impl Iterator<Item = Call<'_>> {
    line.match_indices('(').filter_map(|(open, _)| {
        let (before, after) = line.split_at(open);
        let (object, method) = before.rsplit_once('.')?;
        // Generic code inserts by `try_insert`.
        let method = method.strip_prefix("try_").unwrap_or(method);
        if !METHODS.contains(&method) {
            return None;
        }
        let start = object.rfind(|c: char| !(c.is_alphanumeric() || "_.()".contains(c)))?;
        // Not the mark of `assert!(`.
        let negated = object[start..].starts_with('!') && !object[start..].starts_with("!(");
        let (arguments, rest) = after[1..].split_once(')')?;
        let rest = rest.trim_start_matches(['?', ',', ' ']);
        Some(Call { method, arguments, negated, rest })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &[&str]) -> Vec<String> {
        let lines: String = code.iter().map(|line| format!("/// {line}\n")).collect();
        let text = format!("//! A file.\n\n/// ```\n{lines}/// ```\npub fn f() {{}}\n");
        examples(&Source::new("crates/a/src/lib.rs", text))
    }

    const NEW: &str = "let filter = CuckooFilter::<str>::with_capacity(10)?;";
    const INSERT: &str = "filter.insert(\"a\")?;";

    #[test]
    fn an_assertion_that_fails_by_chance_is_found() {
        for assertion in [
            "assert!(!filter.contains(\"b\"));",
            "assert!(filter.contains(\"a\") && filter.get_mut().insert(\"b\"));",
            "assert!(filter.insert(\"b\")?);",
            "assert_eq!(filter.contains_many([\"b\", \"a\"]), [false, true]);",
            "assert_eq!(filter.insert_many([\"a\", \"b\"]), [true, true]);",
        ] {
            let violations = found(&[NEW, INSERT, assertion]);
            assert_eq!(violations.len(), 1, "{assertion}");
            assert!(violations[0].starts_with("crates/a/src/lib.rs:6: chance: "), "{violations:?}");
        }
    }

    #[test]
    fn each_item_of_a_batch_counts() {
        for by_chance in [
            // The second item is new beside the first, in the same batch.
            ["", "assert_eq!(filter.insert_many([\"a\", \"b\"]), [true, true]);"],
            [INSERT, "assert_eq!(filter.insert_many([\"a\", \"b\"]), [false, true]);"],
            [INSERT, "assert_eq!(filter.try_insert_many([&\"b\"]), [Ok(true)]);"],
            // Every item of an earlier batch is in the filter, whatever its form.
            ["_ = filter.insert_many([\"a\", \"b\"]);", "assert!(!filter.contains(\"c\"));"],
            ["filter.insert_many_with([\"a\"], |_, _| ());", "assert!(!filter.contains(\"b\"));"],
        ] {
            assert_eq!(found(&[NEW, by_chance[0], by_chance[1]]).len(), 1, "{by_chance:?}");
        }
        for certain in [
            ["", "assert_eq!(filter.insert_many([\"a\", \"a\"]), [true, false]);"],
            [INSERT, "assert_eq!(filter.insert_many([\"a\"]), [true]);"],
            ["filter.insert(&1)?;", "assert_eq!(filter.insert_many([1, 1]), [true, true]);"],
            ["_ = filter.insert_many([\"a\", \"b\"]);", "assert!(filter.contains(\"b\"));"],
            [INSERT, "assert_eq!(filter.contains_many([\"a\", \"b\"]), [true, true]);"],
        ] {
            assert!(found(&[NEW, certain[0], certain[1]]).is_empty(), "{certain:?}");
        }
    }

    #[test]
    fn what_a_callback_collects_is_by_chance() {
        let insert = "filter.insert_many_with(0..10, |_, is_new| new += u32::from(is_new));";
        let query = "filter.contains_many_with(&names, |number, hit| {";
        for call in [insert, query] {
            assert_eq!(found(&[NEW, call, "assert_eq!(new, 10);"]).len(), 1, "{call}");
            assert!(found(&[NEW, call, "assert!(failed.is_empty());"]).is_empty(), "{call}");
        }
        let ignored = "filter.insert_many_with(0..10, |_, _| ());";
        assert!(found(&[NEW, ignored, "assert_eq!(filter.len(), 10);"]).is_empty());
    }

    /// Some lines of the examples of a macro name its types.
    #[test]
    fn examples_of_a_macro_are_read() {
        let text = "//! A file.\n\n    /// ```\n    #[doc = concat!(\" let filter = \", stringify!($ty), \
                    \"::<str>::with_capacity(10)?;\")]\n    /// filter.insert(\"a\")?;\n    \
                    /// assert!(!filter.contains(\"b\"));\n    /// ```\n";
        let violations = examples(&Source::new("crates/a/src/lib.rs", text.to_owned()));
        assert!(violations[0].starts_with("crates/a/src/lib.rs:6: chance: "), "{violations:?}");
        assert_eq!(violations.len(), 1);
    }

    #[test]
    fn an_assertion_that_is_certain_is_not_found() {
        let absent = "assert!(!filter.contains(\"b\"));";
        for certain in [
            // An empty filter contains nothing, and an inserted item is found.
            [NEW, absent, ""],
            [NEW, INSERT, "assert!(!filter.insert(\"a\")? && filter.contains(\"a\"));"],
            [NEW, "assert!(filter.insert(\"a\"));", "filter.clear(); assert!(filter.is_empty());"],
            ["let filter = filter.clear();", absent, ""],
            // Fixed keys, and a low rate.
            ["let filter = filter.hasher(Rapid::with_seed(1));", INSERT, absent],
            ["let filter = filter.false_positive_rate(1e-10);", INSERT, absent],
        ] {
            assert!(found(&certain).is_empty(), "{certain:?}");
        }
    }
}
