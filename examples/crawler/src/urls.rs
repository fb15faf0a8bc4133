//! Which links are URLs to crawl, their normal form, and their host.

use tamis_cli::policy::Policy;
use url::{Position, Url};

/// The normal form of this crawler. Filters that are shared name it.
pub(crate) const NORMAL_FORM: &str = "crawl-1";

/// The longest URL that is crawled. Longer ones are mostly traps.
pub(crate) const MAX_BYTES: usize = 4096;

/// Returns the normal form of a URL, unless it is not to be crawled.
pub(crate) fn normal(url: &Url) -> Option<Url> {
    let text = Policy::Crawl1.normal(url.as_str())?;
    let url = Url::parse(&text).ok()?;
    // What no process here can fetch is left to others.
    let is_web = url.scheme() == "http" || cfg!(feature = "tls") && url.scheme() == "https";
    let is_plain = url.username().is_empty() && url.password().is_none();
    // The parser encodes spaces and line feeds, which the log does not allow in a URL.
    let is_short = text.len() <= MAX_BYTES && !text.contains(char::is_whitespace);
    (is_web && url.has_host() && is_plain && is_short).then_some(url)
}

/// Returns the host of a URL with its port: what a delay holds for. Pages by `http` and `https`
/// share a host.
pub(crate) fn host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_pages_are_crawled_and_in_normal_form() {
        let page = Url::parse("http://a.example/b/c?d=1").unwrap();
        for (link, expected) in [
            ("e", Some("http://a.example/b/e")),
            (" ../e#f ", Some("http://a.example/e")),
            ("//B.example", Some("http://b.example/")),
            ("?b=2&a=1&utm_source=x", Some("http://a.example/b/c?a=1&b=2")),
            ("http://a.example:80/x y", Some("http://a.example/x%20y")),
            ("https://a.example/", cfg!(feature = "tls").then_some("https://a.example/")),
            ("mailto:me@a.example", None),
            ("javascript:void(0)", None),
            ("http://user@a.example/", None),
            ("http://[", None),
        ] {
            let url = page.join(link).ok().and_then(|url| normal(&url));
            assert_eq!(url.as_ref().map(Url::as_str), expected, "{link}");
        }
        assert_eq!(normal(&page.join(&"x".repeat(MAX_BYTES)).unwrap()), None);
        assert_eq!(host(&Url::parse("http://a.example:81/b").unwrap()), "a.example:81");
    }
}
