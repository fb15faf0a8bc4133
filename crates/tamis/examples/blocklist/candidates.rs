//! Which entries of a list hold for a text, a URL or a sender.

use url::{Host, Url};

/// The most words of a phrase.
const WORDS: usize = 5;

/// The most host names that are tried for a URL: the host, and its suffixes with the fewest labels.
const HOSTS: usize = 5;

/// The most directories that are tried for a URL, from the root on.
const DIRECTORIES: usize = 4;

/// Returns all phrases of up to five words of a text, in lower case, with one space between words.
pub(crate) fn phrases(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let mut phrases = Vec::new();
    for start in 0..words.len() {
        let mut phrase = String::new();
        for word in words[start..].iter().take(WORDS) {
            if !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase += word;
            phrases.push(phrase.clone());
        }
    }
    phrases
}

/// Returns the entries `host/path` that hold for a URL: each of some suffixes of its host with the
/// whole path, with and without the query, and with some of its directories. For an entry
/// `example.org/a/`, all URLs below `/a/` of `example.org` and of its subdomains are listed.
///
/// These are the rules of Safe Browsing. What is no URL with a host has no entry.
pub(crate) fn prefixes(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url) else {
        return Vec::new();
    };
    let hosts = match url.host() {
        None => return Vec::new(),
        // A number has no suffixes.
        Some(Host::Ipv4(host)) => vec![host.to_string()],
        Some(Host::Ipv6(host)) => vec![host.to_string()],
        Some(Host::Domain(host)) => suffixes(host),
    };
    let mut paths = Vec::new();
    if let Some(query) = url.query() {
        paths.push(format!("{}?{query}", url.path()));
    }
    paths.push(url.path().to_owned());
    let directories = url.path().match_indices('/').take(DIRECTORIES);
    paths.extend(directories.map(|(slash, _)| url.path()[..=slash].to_owned()));
    // The path may be a directory itself.
    paths.sort_unstable();
    paths.dedup();
    hosts.iter().flat_map(|host| paths.iter().map(move |path| format!("{host}{path}"))).collect()
}

/// Returns a host name, and its suffixes of two labels and more, but not more than [`HOSTS`] names.
fn suffixes(host: &str) -> Vec<String> {
    let host = host.trim_end_matches('.');
    let labels: Vec<&str> = host.split('.').collect();
    let shorter = (2..labels.len()).take(HOSTS - 1);
    let shorter = shorter.map(|count| labels[labels.len() - count..].join("."));
    [host.to_owned()].into_iter().chain(shorter).collect()
}

/// Returns the entries that hold for a sender `name@host`: the address, and `@` with each suffix of
/// the host. What is no address has no entry.
pub(crate) fn senders(address: &str) -> Vec<String> {
    let Some((name, host)) = address.trim().rsplit_once('@') else {
        return Vec::new();
    };
    // The case of a host means nothing. That of a name does, in theory; no list relies on it.
    let (name, host) = (name.to_lowercase(), host.to_lowercase());
    let hosts = suffixes(&host).into_iter().map(|host| format!("@{host}"));
    [format!("{name}@{}", host.trim_end_matches('.'))].into_iter().chain(hosts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_have_one_to_five_words() {
        assert_eq!(
            phrases("Ann, Bob -- cat"),
            ["ann", "ann bob", "ann bob cat", "bob", "bob cat", "cat"]
        );
        assert_eq!(phrases("a b c d e f").len(), 5 + 5 + 4 + 3 + 2 + 1);
        assert!(phrases("").is_empty() && phrases(" .,; ").is_empty());
        assert_eq!(phrases("Ärger"), ["ärger"]);
    }

    #[test]
    fn a_url_has_host_suffixes_and_path_prefixes() {
        let expected = [
            "a.b.org/",
            "a.b.org/1/",
            "a.b.org/1/2.html",
            "a.b.org/1/2.html?x=1",
            "b.org/",
            "b.org/1/",
            "b.org/1/2.html",
            "b.org/1/2.html?x=1",
        ];
        assert_eq!(prefixes("https://ann:pw@A.B.org:8080/1/2.html?x=1#f"), expected);
        assert_eq!(prefixes("http://b.org"), ["b.org/"]);
        assert_eq!(prefixes("http://127.0.0.1/x"), ["127.0.0.1/", "127.0.0.1/x"]);
        for nothing in ["", "b.org/a", "mailto:ann@b.org", "http://"] {
            assert!(prefixes(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_long_url_has_a_bounded_number_of_entries() {
        let url = format!("http://{}org/{}?q", "a.".repeat(100), "b/".repeat(1000));
        assert_eq!(prefixes(&url).len(), HOSTS * (DIRECTORIES + 2));
    }

    #[test]
    fn a_sender_is_listed_by_address_or_host() {
        assert_eq!(senders("Ann@Mail.B.org."), ["ann@mail.b.org", "@mail.b.org", "@b.org"]);
        assert!(senders("ann").is_empty());
    }
}
