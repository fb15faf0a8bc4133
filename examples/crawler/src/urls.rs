//! Which links are URLs to crawl, their normal form, and their host.

use tamis_cli::policy::Policy;
use url::{Position, Url};

/// The normal form of this crawler. Filters that are shared name it.
pub(crate) const NORMAL_FORM: &str = "crawl-1";

/// The longest URL that is crawled. Longer ones are mostly traps.
pub(crate) const MAX_BYTES: usize = 4096;

/// Returns the normal form of a link on a page, unless it is no URL to crawl.
pub(crate) fn of_link(page: &Url, link: &str) -> Option<Url> {
    if link.len() > MAX_BYTES {
        return None;
    }
    normal(&page.join(link.trim()).ok()?)
}

/// Returns the normal form of a URL, unless it is not to be crawled.
pub(crate) fn normal(url: &Url) -> Option<Url> {
    let text = Policy::Crawl1.normal(url.as_str())?;
    let url = Url::parse(&text).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_plain = url.username().is_empty() && url.password().is_none();
    // The parser encodes spaces and line feeds, which the log does not allow in a URL.
    let is_short = text.len() <= MAX_BYTES && !text.contains(char::is_whitespace);
    (is_web && is_plain && is_short).then_some(url)
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
            ("https://a.example:443/x y", Some("https://a.example/x%20y")),
            ("mailto:me@a.example", None),
            ("javascript:void(0)", None),
            ("http://user@a.example/", None),
            ("http://[", None),
        ] {
            assert_eq!(of_link(&page, link).as_ref().map(Url::as_str), expected, "{link}");
        }
        assert_eq!(of_link(&page, &"x".repeat(MAX_BYTES + 1)), None);
        assert_eq!(host(&Url::parse("http://a.example:81/b").unwrap()), "a.example:81");
    }
}
