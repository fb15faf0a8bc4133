//! The command to run instead of this one.

use tamis::formats::{Info, Kind as Saved};

use super::growing;
use crate::file_kind::FileKind;
use crate::kind::Kind;
use crate::policy::Form;
use crate::units::rate_down;

/// The option to leave out that has no value.
const IGNORE_CASE: &str = "--ignore-case";

/// The command line of this process with another normal form of keys.
pub(super) fn command_with_form(form: Form) -> String {
    with_form(own_args(), form)
}

/// The command line of this process without these options, which have values.
pub(crate) fn command_without(options: &[&str]) -> String {
    rewritten(own_args(), options, &[])
}

/// The command that builds a filter of the same kind as another, with its capacity, its policy, and
/// more options.
pub(super) fn command_like(other: &Info, more: &[&str]) -> String {
    let kind = FileKind::of_saved(other).map_or("", FileKind::name);
    match other.kind() {
        Saved::Table => building(&["new", "NEW"], other, more),
        Saved::OnceCuckoo => building(&["new", "NEW", "--kind", kind], other, more),
        _ => building(&["build", "-o", "NEW", "--kind", kind], other, more),
    }
}

/// What filters that are to be merged need together.
pub(crate) struct Union {
    /// The number of their records.
    pub(crate) records: u64,
    /// The lowest of their rates, if they have any.
    pub(crate) rate: Option<f64>,
}

/// The command that builds each of several filters again, of the kind and with the policy of
/// `first`, so that they can be merged, and their union keeps the rate.
pub(super) fn command_for_union(first: &Info, union: &Union, more: &[&str]) -> String {
    // Tables grow.
    let Some(rate) = union.rate.filter(|_| first.kind() != Saved::Table) else {
        return command_like(first, more);
    };
    let (kind, rate) = (FileKind::of_saved(first), rate_down(rate));
    let capacity = match kind {
        // The capacity is where it begins.
        Some(FileKind::GrowingCuckoo) => {
            growing::first_items(union.records, rate.parse().unwrap_or(0.0))
        }
        _ => union.records,
    };
    let sizes = ["--capacity", &capacity.to_string(), "--rate", &rate];
    let kind = kind.map_or("", FileKind::name);
    let words: &[&str] = match first.kind() {
        Saved::OnceCuckoo => &["new", "NEW", "--kind", kind],
        _ => &["build", "-o", "NEW", "--kind", kind],
    };
    command(&[words, &sizes].concat(), first, more)
}

/// The command that builds a filter from which records can be removed, in place of another.
pub(super) fn command_for_removal(other: &Info) -> String {
    // Without a capacity, which would be that of distinct records: it keeps copies.
    command(&["build", "-o", "NEW", "--kind", Kind::Cuckoo.name()], other, &[])
}

/// A command that builds a filter with the capacity of another, unless that grows, and its policy.
fn building(words: &[&str], like: &Info, more: &[&str]) -> String {
    let mut sized = words.to_vec();
    let capacity = like.capacity().to_string();
    match FileKind::of_saved(like) {
        // They grow.
        None | Some(FileKind::Scalable | FileKind::GrowingCuckoo) => {}
        Some(FileKind::Rotating) if words.contains(&FileKind::Rotating.name()) => {
            sized.extend(["--window", &capacity]);
        }
        Some(_) => sized.extend(["--capacity", &capacity]),
    }
    command(&sized, like, more)
}

/// A command with the policy of a filter, more options and the records.
fn command(words: &[&str], like: &Info, more: &[&str]) -> String {
    let mut command = format!("tamis {}", words.join(" "));
    let form = Form::of_saved(like.normalization()).unwrap_or(Form::PLAIN);
    form.options().iter().chain(more).for_each(|word| command += &format!(" {word}"));
    command + " FILE..."
}

fn own_args() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned())
}

fn with_form(args: impl Iterator<Item = String>, form: Form) -> String {
    rewritten(args, &["--url", IGNORE_CASE], &form.options())
}

/// A command line with some words after the name of the command, and without some options and their
/// values.
fn rewritten(mut args: impl Iterator<Item = String>, without: &[&str], with: &[&str]) -> String {
    let mut words = vec!["tamis".to_owned()];
    words.extend(args.next());
    words.extend(with.iter().map(|&word| word.to_owned()));
    while let Some(arg) = args.next() {
        let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
        if arg == "--" {
            words.push(arg);
            words.extend(args.by_ref());
        } else if !without.contains(&name) {
            words.push(arg);
        } else if name == arg && name != IGNORE_CASE {
            // The next word is the value.
            args.next();
        }
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word as a shell needs it, on one line.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    let text: String = word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    #[test]
    fn the_policy_is_replaced() {
        let next = |args: &str, form| with_form(args.split(' ').map(str::to_owned), form);
        let crawl = Form { url: Policy::Crawl1, ..Form::PLAIN };
        let both = Form { ignore_case: true, ..crawl };
        assert_eq!(next("query a --ignore-case", crawl), "tamis query --url crawl-1 a");
        assert_eq!(next("query a --url=none", both), "tamis query --url crawl-1 --ignore-case a");
        assert_eq!(next("query a b", crawl), "tamis query --url crawl-1 a b");
        assert_eq!(next("query --url whatwg-1 a", crawl), "tamis query --url crawl-1 a");
        assert_eq!(next("query a --url=whatwg-1 -q", Form::PLAIN), "tamis query a -q");
        assert_eq!(next("query a -- --url=b", Form::PLAIN), "tamis query a -- --url=b");
        assert_eq!(next("query a' $b", Form::PLAIN), r"tamis query 'a'\''' '$b'");
    }

    #[test]
    fn options_are_left_out_with_their_values() {
        let next =
            |args: &str| rewritten(args.split(' ').map(str::to_owned), &["--seed", "--rate"], &[]);
        assert_eq!(next("new --seed 1 f -q --rate=1% a"), "tamis new f -q a");
        assert_eq!(next("new f --seed=1 -- --seed 1"), "tamis new f -- --seed 1");
        assert_eq!(next("new f --seeds 1"), "tamis new f --seeds 1");
    }
}
