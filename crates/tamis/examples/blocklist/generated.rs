//! Lists and inputs that are generated, the same ones in each run.

use std::collections::BTreeSet;

use tamis::hash::Rapid;

use crate::candidates::prefixes;

const NAMES: u64 = 100_000;
const SPAMMERS: u64 = 100_000;
/// The words of the text, and the other words of which one is a name.
const TEXT: u64 = 100_000;
const PER_NAME: u64 = 500;
/// The words that a language has.
const VOCABULARY: u64 = 5000;

/// Returns a random number below `end`, the same for the same `kind` and `i`.
fn random(kind: &str, i: u64, end: u64) -> u64 {
    Rapid::with_seed(i).hash_bytes(kind.as_bytes()) % end
}

/// Returns a word for a number, distinct for distinct numbers.
fn word(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu",
        "za",
    ];
    let mut word = String::new();
    loop {
        word += SYLLABLES[(number % 16) as usize];
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}

/// Returns names of one to five words of the language. A name of one word is no word of it.
pub(crate) fn names() -> Vec<String> {
    let name = |i: u64| match i % 5 {
        0 => word(VOCABULARY + i),
        last => {
            let words = (0..=last).map(|at| word(random("name", 5 * i + at, VOCABULARY)));
            words.collect::<Vec<_>>().join(" ")
        }
    };
    (0..NAMES).map(name).collect()
}

/// Returns a text in which some names occur.
pub(crate) fn text(names: &[String]) -> String {
    let mut text = String::new();
    for i in 0..TEXT {
        if i % PER_NAME == 0 {
            text += &names[random("planted", i, NAMES) as usize].to_uppercase();
        } else {
            text += &word(random("text", i, VOCABULARY));
        }
        text += if i % 12 == 11 { ".\n" } else { " " };
    }
    text
}

/// Returns URLs of a hundred hosts.
pub(crate) fn urls() -> Vec<String> {
    let url = |i| {
        let [host, directory] = ["host", "directory"].map(|kind| random(kind, i, 100));
        format!("https://www.{}.example.org/{}/{}.html", word(host), word(directory), i % 20_011)
    };
    (0..60_000).map(url).collect()
}

/// Returns the entries of a list of URLs: one in a hundred of the hosts or first directories of
/// some distinct URLs, and many that none of them meets.
pub(crate) fn blocked(urls: &[String]) -> Vec<String> {
    let distinct: BTreeSet<&String> = urls.iter().collect();
    let some = distinct.into_iter().step_by(100);
    // Of the directories of a URL, the second one is the first below the root.
    let entry = |url: &String| {
        let entries = prefixes(url);
        let own_host = entries.first()?.to_owned();
        let below = entries.iter().find(|entry| {
            entry.ends_with('/') && entry.starts_with(&own_host) && **entry != own_host
        });
        Some(below.unwrap_or(&own_host).clone())
    };
    let others = (0..100_000).map(|i| format!("{}.example.net/", word(i)));
    some.filter_map(entry).chain(others).collect()
}

/// Returns addresses and hosts of spam.
pub(crate) fn spammers() -> Vec<String> {
    let spammer = |i| match i % 2 {
        0 => format!("{}@{}.example.com", word(i), word(random("spam", i, 1000))),
        _ => format!("@{}.example.net", word(i)),
    };
    (0..SPAMMERS).map(spammer).collect()
}

/// Returns the senders of mails: one in twenty is listed, by its address or by its host.
pub(crate) fn senders(spammers: &[String]) -> Vec<String> {
    let sender = |i: u64| {
        if !i.is_multiple_of(20) {
            return format!(
                "{}@{}.example.com",
                word(random("sender", i, 1 << 30)),
                word(i % 1000)
            );
        }
        let spammer = &spammers[random("listed", i, SPAMMERS) as usize];
        match spammer.strip_prefix('@') {
            Some(host) => format!("{}@mx{}.{host}", word(i), i % 7),
            None => spammer.to_uppercase(),
        }
    };
    (0..200_000).map(sender).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_differ() {
        let words: HashSet<String> = (0..100_000).map(word).collect();
        assert_eq!(words.len(), 100_000);
    }
}
