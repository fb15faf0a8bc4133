//! A generated site: a dozen invented hosts, their pages, and what a crawler must make of them.

use std::collections::{HashMap, HashSet, VecDeque};

/// The hosts. The first eight have nearly all pages.
pub(crate) const HOSTS: [&str; 12] = [
    "north.example",
    "south.example",
    "east.example",
    "west.example",
    "alpha.example",
    "beta.example",
    "gamma.example",
    "delta.example",
    "broken.example",
    "slow.example",
    "delayed.example",
    "trap.example",
];

/// The hosts with a peculiarity.
pub(crate) const WITH_SITEMAP: usize = 2;
pub(crate) const WITH_GROUPS: usize = 3;
pub(crate) const BROKEN: usize = 8;
pub(crate) const SLOW: usize = 9;
pub(crate) const DELAYED: usize = 10;
pub(crate) const TRAP: usize = 11;

/// The pages that only the sitemap has.
const IN_SITEMAP: u64 = 12;

/// A URL of the site, by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// The first page of a host.
    Index(usize),
    Page(u64),
    /// A page with a session in its query: a redirect to the page.
    Session(u64, u64),
    /// Two redirects to each other.
    Loop(u64),
    /// What robots.txt forbids.
    Private(u64),
    Sitemap,
    InSitemap(u64),
    Trap(u64),
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Links, each as it is written.
    Page(Vec<(String, Target)>),
    Redirect(Target),
    Missing,
    /// 429 with `Retry-After` in seconds, or as a date; then as the page.
    TooMany {
        as_date: bool,
    },
    /// 500, always.
    Failing,
}

/// A site with a number of ordinary pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) pages: u64,
}

impl Site {
    /// Returns the host and the target of a request, as a crawler must write them.
    pub(crate) fn place(self, target: Target) -> (usize, String) {
        match target {
            Target::Index(host) => (host, "/".to_owned()),
            Target::Page(page) if page % 10 == 3 => (host(page), format!("/q?page={page}&v=1")),
            Target::Page(page) => (host(page), format!("/p/{page}")),
            Target::Session(page, id) => (host(page), format!("/p/{page}?sid={id}")),
            Target::Loop(number) => (0, format!("/loop/{number}")),
            Target::Private(page) => (host(page), format!("/private/{page}")),
            Target::Sitemap => (WITH_SITEMAP, "/sitemap.xml".to_owned()),
            Target::InSitemap(page) => (WITH_SITEMAP, format!("/s?a={page}&b=2")),
            Target::Trap(depth) => (TRAP, format!("/trap?n={depth}")),
        }
    }

    pub(crate) fn url(self, target: Target) -> String {
        let (host, path) = self.place(target);
        format!("http://{}{path}", HOSTS[host])
    }

    /// Returns what a request asks for, if it is in the normal form.
    pub(crate) fn target(self, host: usize, path: &str) -> Option<Target> {
        let number = |text: &str| text.parse::<u64>().ok();
        let target = if path == "/" {
            Target::Index(host)
        } else if let Some((page, id)) =
            path.strip_prefix("/p/").and_then(|p| p.split_once("?sid="))
        {
            Target::Session(number(page)?, number(id)?)
        } else if let Some(page) = path.strip_prefix("/p/") {
            Target::Page(number(page)?)
        } else if let Some(rest) = path.strip_prefix("/q?page=") {
            Target::Page(number(rest.strip_suffix("&v=1")?)?)
        } else if let Some(rest) = path.strip_prefix("/loop/") {
            Target::Loop(number(rest)?)
        } else if let Some(rest) = path.strip_prefix("/private/") {
            Target::Private(number(rest)?)
        } else if path == "/sitemap.xml" {
            Target::Sitemap
        } else if let Some(rest) = path.strip_prefix("/s?a=") {
            Target::InSitemap(number(rest.strip_suffix("&b=2")?)?)
        } else {
            Target::Trap(number(path.strip_prefix("/trap?n=")?)?)
        };
        (self.place(target) == (host, path.to_owned())).then_some(target)
    }

    /// Returns what the server answers in the end.
    pub(crate) fn answer(self, target: Target) -> Answer {
        match target {
            Target::Index(host) => Answer::Page(self.links_of_index(host)),
            Target::Page(page) => self.page(page),
            Target::Session(page, _) => Answer::Redirect(Target::Page(page)),
            Target::Loop(number) => Answer::Redirect(Target::Loop(1 - number % 2)),
            Target::Private(_) | Target::InSitemap(_) => Answer::Page(Vec::new()),
            Target::Sitemap => {
                let pages = (0..IN_SITEMAP).map(Target::InSitemap);
                Answer::Page(pages.map(|page| (self.url(page), page)).collect())
            }
            Target::Trap(depth) => {
                let next = [1, 2].map(|way| Target::Trap((2 * depth + way) % (1 << 40)));
                Answer::Page(next.map(|next| (self.place(next).1, next)).to_vec())
            }
        }
    }

    fn page(self, page: u64) -> Answer {
        match page {
            50 | 51 => return Answer::TooMany { as_date: page == 51 },
            1002 => return Answer::Failing,
            _ => {}
        }
        match mix(page) % 100 {
            0..3 => Answer::Redirect(Target::Page(mix(page + 1) % self.pages)),
            3 => Answer::Missing,
            _ => Answer::Page(self.links_of_page(page)),
        }
    }

    fn links_of_index(self, own: usize) -> Vec<(String, Target)> {
        let first = if own == 0 { 0 } else { mix(own as u64) % self.pages };
        let mut targets = vec![Target::Page(first), Target::Page(50), Target::Page(51)];
        targets.extend([Target::Page(1002 % self.pages), Target::Loop(0), Target::Trap(0)]);
        targets.into_iter().map(|target| (self.url(target), target)).collect()
    }

    /// Returns the links of an ordinary page, in various spellings.
    pub(crate) fn links_of_page(self, page: u64) -> Vec<(String, Target)> {
        let children = (1..=4).map(|child| 4 * page + child).filter(|child| *child < self.pages);
        let others = (0..6).map(|way| mix(page * 8 + way) % self.pages);
        let mut links: Vec<_> =
            children.chain(others).map(|to| (self.spelling(page, to), Target::Page(to))).collect();
        let other = mix(page) % self.pages;
        if page.is_multiple_of(20) {
            let session = Target::Session(other - other % 10, page % 5);
            links.push((self.url(session), session));
        }
        if page.is_multiple_of(7) {
            links.push((self.url(Target::Private(other)), Target::Private(other)));
        }
        links
    }

    /// Returns one of the ways to write a link to a page.
    fn spelling(self, from: u64, to: u64) -> String {
        let (host_of, path) = self.place(Target::Page(to));
        let name = HOSTS[host_of];
        if to % 10 == 3 {
            // The pairs of the query in another order.
            return format!("http://{name}/q?v=1&amp;page={to}&amp;utm_campaign={from}");
        }
        match mix(from ^ to << 20) % 6 {
            0 => format!("http://{name}{path}#part-{from}"),
            1 => format!("http://{}:80{path}?utm_source=a&amp;fbclid={from}", name.to_uppercase()),
            2 => format!("//{name}/x/../p/{to}"),
            3 if host_of == host(from) => format!("../p/{to}"),
            4 if host_of == host(from) => path,
            _ => format!("http://{name}{path}"),
        }
    }

    /// Returns the URLs that a crawl from these hosts' first pages reaches, if it fetches those for
    /// which `is_won`; and those that it finds and does not win. The trap is left out, and so is
    /// what robots.txt forbids.
    pub(crate) fn reached(
        self,
        starts: &[usize],
        is_won: impl Fn(&str) -> bool,
    ) -> (HashMap<String, Answer>, HashSet<String>) {
        let (mut won, mut lost) = (HashMap::new(), HashSet::new());
        let mut queue: VecDeque<Target> = starts.iter().copied().map(Target::Index).collect();
        while let Some(target) = queue.pop_front() {
            let (host, _) = self.place(target);
            if host == TRAP || matches!(target, Target::Private(_)) {
                continue;
            }
            let url = self.url(target);
            if won.contains_key(&url) {
                continue;
            }
            if !is_won(&url) {
                lost.insert(url);
                continue;
            }
            let answer = self.answer(target);
            match &answer {
                Answer::Page(links) => queue.extend(links.iter().map(|(_, to)| *to)),
                Answer::TooMany { .. } => {
                    let Target::Page(page) = target else { continue };
                    queue.extend(self.links_of_page(page).into_iter().map(|(_, to)| to));
                }
                Answer::Redirect(to) => queue.push_back(*to),
                Answer::Missing | Answer::Failing => {}
            }
            if host == WITH_SITEMAP {
                queue.push_back(Target::Sitemap);
            }
            won.insert(url, answer);
        }
        (won, lost)
    }
}

/// Returns the text of a robots.txt. The delay of [`DELAYED`] is in seconds.
pub(crate) fn robots(host: usize) -> String {
    match host {
        WITH_SITEMAP => {
            format!(
                "User-agent: *\nDisallow: /private\nSitemap: http://{}/sitemap.xml\n",
                HOSTS[host]
            )
        }
        WITH_GROUPS => {
            "User-agent: *\nDisallow: /\n\nUser-agent: Tamis-Crawler\nDisallow: /priv*\n".to_owned()
        }
        DELAYED => "User-agent: *\nCrawl-delay: 0.05\nDisallow: /private\n".to_owned(),
        _ => "User-agent: *\nDisallow: /private\n".to_owned(),
    }
}

/// Returns the host of a page.
fn host(page: u64) -> usize {
    match page % 1000 {
        2 | 502 => BROKEN,
        100 | 300 | 700 => SLOW,
        101 | 301 | 701 => DELAYED,
        _ => (page % 8) as usize,
    }
}

/// Mixes the bits of a number (SplitMix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[test]
fn every_url_of_the_site_is_understood() {
    let site = Site { pages: 2000 };
    let (urls, lost) = site.reached(&Vec::from_iter(0..HOSTS.len()), |_| true);
    assert!(lost.is_empty());
    let count = |is: fn(&Answer) -> bool| urls.values().filter(|answer| is(answer)).count();
    assert!(count(|answer| matches!(answer, Answer::Page(_))) > 1700);
    assert!(count(|answer| matches!(answer, Answer::Redirect(_))) > 50);
    assert!(count(|answer| *answer == Answer::Missing) > 5);
    assert_eq!(count(|answer| matches!(answer, Answer::TooMany { .. })), 2);
    assert_eq!(count(|answer| *answer == Answer::Failing), 1);
    for url in urls.keys() {
        let (name, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let host = HOSTS.iter().position(|host| *host == name).unwrap();
        let target = site.target(host, &format!("/{path}")).unwrap();
        assert_eq!(site.url(target), *url);
    }
}
