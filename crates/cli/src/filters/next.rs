//! The command to run instead of this one.

use crate::policy::Policy;

/// The command line of this process with another URL policy.
pub(super) fn command_with_url(policy: Policy) -> String {
    let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    with_url(args.skip(1), policy)
}

fn with_url(mut args: impl Iterator<Item = String>, policy: Policy) -> String {
    let mut words = vec!["tamis".to_owned()];
    words.extend(args.next());
    if policy != Policy::None {
        words.extend(["--url".to_owned(), policy.name().to_owned()]);
    }
    // Leave the old policy out.
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--url" => drop(args.next()),
            "--" => {
                words.push(arg);
                words.extend(args.by_ref());
            }
            _ if arg.starts_with("--url=") => {}
            _ => words.push(arg),
        }
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word as a shell needs it, on one line.
fn quoted(word: &str) -> String {
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

    #[test]
    fn the_policy_is_replaced() {
        let next = |args: &str, policy| with_url(args.split(' ').map(str::to_owned), policy);
        let crawl = Policy::Crawl1;
        assert_eq!(next("query a b", crawl), "tamis query --url crawl-1 a b");
        assert_eq!(next("query --url whatwg-1 a", crawl), "tamis query --url crawl-1 a");
        assert_eq!(next("query a --url=whatwg-1 -q", Policy::None), "tamis query a -q");
        assert_eq!(next("query a -- --url=b", Policy::None), "tamis query a -- --url=b");
        assert_eq!(next("query a' $b", Policy::None), r"tamis query 'a'\''' '$b'");
    }
}
