//! Normal forms of URLs. Each has a versioned name, and never changes under that name.

use clap::ValueEnum;
use url::Url;

/// A normal form of URLs. The name ends in a version: a changed form gets a new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// The bytes unchanged.
    None,
    /// Parsed and serialised by the rules of the WHATWG URL standard, without the fragment.
    #[value(name = "whatwg-1")]
    Whatwg1,
    /// Like whatwg-1, with the pairs of the query sorted, and without empty pairs and known
    /// trackers.
    #[value(name = "crawl-1")]
    Crawl1,
}

/// What is done to keys before they are compared. A saved filter names it, so that later commands
/// do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The normal form of a key that is a URL.
    pub url: Policy,
    /// Whether the letters A to Z equal a to z.
    pub ignore_case: bool,
}

/// The name of [`Form::ignore_case`] in a saved filter.
const IGNORE_CASE: &str = "ignore-case";

impl Form {
    /// The bytes unchanged.
    pub const PLAIN: Self = Self { url: Policy::None, ignore_case: false };

    /// The form as a saved filter names it: `crawl-1`, `ignore-case`, or `crawl-1+ignore-case`.
    pub(crate) fn saved(self) -> tamis::formats::Normalization {
        let name = match (self.url, self.ignore_case) {
            (Policy::None, false) => return tamis::formats::Normalization::NONE,
            (url, false) => url.name().to_owned(),
            (Policy::None, true) => IGNORE_CASE.to_owned(),
            (url, true) => format!("{}+{IGNORE_CASE}", url.name()),
        };
        tamis::formats::Normalization::new(&name).expect("names are short, in plain letters")
    }

    /// The form that a saved filter names, if it is one of these.
    pub(crate) fn of_saved(saved: tamis::formats::Normalization) -> Option<Self> {
        let urls = Policy::value_variants().iter();
        let mut forms =
            urls.flat_map(|&url| [false, true].map(|ignore_case| Self { url, ignore_case }));
        forms.find(|form| form.saved() == saved)
    }

    /// The options that ask for this form.
    pub(crate) fn options(self) -> Vec<&'static str> {
        let mut options = Vec::new();
        if self.url != Policy::None {
            options.extend(["--url", self.url.name()]);
        }
        if self.ignore_case {
            options.push("--ignore-case");
        }
        options
    }
}

/// The options that ask for the form of this name in a saved filter, for a message.
pub(crate) fn shown(saved: tamis::formats::Normalization) -> String {
    match Form::of_saved(saved).map(Form::options).as_deref() {
        None => format!("--url {}", saved.name()),
        Some([]) => "--url none".to_owned(),
        Some(options) => options.join(" "),
    }
}

/// The URL policy of a form that a saved filter names, and whether the form ignores case.
pub(crate) fn split(saved: tamis::formats::Normalization) -> (String, bool) {
    match Form::of_saved(saved) {
        Some(Form { url, ignore_case }) => (url.name().to_owned(), ignore_case),
        None => (saved.name().to_owned(), false),
    }
}

/// The query names that crawl-1 drops: they say where a visitor came from, never what is shown.
/// Names that begin with `utm_` are dropped too. ASCII case is ignored.
const TRACKERS: [&str; 24] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
];

/// The list of trackers for the manual.
pub(crate) fn help() -> String {
    format!(
        "Trackers that --url crawl-1 drops from the query, in upper or lower case: utm_*, {}.",
        TRACKERS.join(", ")
    )
}

impl Policy {
    /// The name, as on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Whatwg1 => "whatwg-1",
            Self::Crawl1 => "crawl-1",
        }
    }

    /// Returns the normal form of `url`, or `None` if it is not an absolute URL.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_cli::policy::Policy;
    ///
    /// let normal = Policy::Crawl1.normal("HTTP://Example.org/a?b=2&a=1&utm_source=x#top");
    /// assert_eq!(normal.as_deref(), Some("http://example.org/a?a=1&b=2"));
    /// assert_eq!(Policy::Crawl1.normal("/a"), None);
    /// ```
    #[must_use]
    pub fn normal(self, url: &str) -> Option<String> {
        if self == Self::None {
            return Some(url.to_owned());
        }
        let mut url = Url::parse(url).ok()?;
        url.set_fragment(None);
        Some(if self == Self::Crawl1 { sorted(url) } else { url.into() })
    }
}

/// Returns `url`, which has no fragment, with the pairs of its query sorted, and without empty
/// pairs and trackers.
fn sorted(mut url: Url) -> String {
    // The text is sorted, not decoded. A query may consist of millions of pairs.
    let mut pairs: Vec<&str> = url.query().unwrap_or_default().split('&').collect();
    pairs.retain(|pair| !pair.is_empty() && !tracks(pair));
    pairs.sort_unstable();
    let query = pairs.join("&");
    // Without pairs the question mark goes too.
    url.set_query((!query.is_empty()).then_some(&query));
    url.into()
}

/// Returns whether the name of a pair is that of a tracker.
fn tracks(pair: &str) -> bool {
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    let utm = name.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("utm_"));
    utm || TRACKERS.iter().any(|tracker| name.eq_ignore_ascii_case(tracker))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Policy;

    /// These results never change: a different result needs a new policy.
    #[test]
    fn golden_normal_forms() {
        let golden = [
            ("http://example.org", "http://example.org/", "http://example.org/"),
            ("HTTP://Example.ORG:80/a/../b#c", "http://example.org/b", "http://example.org/b"),
            ("https://example.org:443/", "https://example.org/", "https://example.org/"),
            ("https://example.org:8443/", "https://example.org:8443/", "https://example.org:8443/"),
            ("  http://example.org/\r", "http://example.org/", "http://example.org/"),
            (
                "http://bücher.example/ä",
                "http://xn--bcher-kva.example/%C3%A4",
                "http://xn--bcher-kva.example/%C3%A4",
            ),
            ("http://a.example/%7Ex", "http://a.example/%7Ex", "http://a.example/%7Ex"),
            (
                "http://a.example/?b=2&a=1&b=1",
                "http://a.example/?b=2&a=1&b=1",
                "http://a.example/?a=1&b=1&b=2",
            ),
            ("http://a.example/?", "http://a.example/?", "http://a.example/"),
            (
                "http://a.example/?utm_source=x&id=3&GCLID=z&fbclid",
                "http://a.example/?utm_source=x&id=3&GCLID=z&fbclid",
                "http://a.example/?id=3",
            ),
            (
                "http://a.example/?&&utm=1&_gap=2",
                "http://a.example/?&&utm=1&_gap=2",
                "http://a.example/?_gap=2&utm=1",
            ),
            (
                "http://a.example/?\u{fc}tm_=1",
                "http://a.example/?%C3%BCtm_=1",
                "http://a.example/?%C3%BCtm_=1",
            ),
            ("mailto:me@example.org#x", "mailto:me@example.org", "mailto:me@example.org"),
            ("http://[::1]/", "http://[::1]/", "http://[::1]/"),
        ];
        for (url, whatwg, crawl) in golden {
            assert_eq!(Policy::None.normal(url).as_deref(), Some(url));
            assert_eq!(Policy::Whatwg1.normal(url).as_deref(), Some(whatwg));
            assert_eq!(Policy::Crawl1.normal(url).as_deref(), Some(crawl));
        }
        for text in ["", "example.org", "//example.org/", "/a", "http://", "http://a b/"] {
            assert_eq!(Policy::Whatwg1.normal(text), None, "{text}");
            assert_eq!(Policy::Crawl1.normal(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_pairs_and_trackers_make_no_difference(
            head in prop_oneof![
                Just("http://a.example/"), Just("mailto:me "), Just("x://h"), Just("data:,a b ")
            ],
            query in "(&|[?&a-cA=%'\\u{fc}\"]){0,20}|([ab]?(=[ab]?)?(&|&utm_a=1)){0,40}",
        ) {
            let normal = |query: &str| Policy::Crawl1.normal(&format!("{head}?{query}"));
            let mut pairs: Vec<&str> = query.split('&').collect();
            pairs.reverse();
            pairs.extend(["", "UTM_a=1", "gclid"]);
            prop_assert_eq!(normal(&query), normal(&pairs.join("&")));
        }
    }

    #[test]
    fn a_query_of_millions_of_pairs() {
        let url = format!("http://a.example/?{}b", "&".repeat(2_000_000));
        assert_eq!(Policy::Crawl1.normal(&url).as_deref(), Some("http://a.example/?b"));
        let url = format!("http://a.example/?{}", "b&a&".repeat(1_000_000));
        let sorted =
            format!("http://a.example/?{}{}b", "a&".repeat(1_000_000), "b&".repeat(999_999));
        assert!(Policy::Crawl1.normal(&url) == Some(sorted));
    }
}
