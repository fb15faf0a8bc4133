//! Runs crawlers on a site, and compares the log of the server with what is allowed.

use core::time::Duration;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use statrs::distribution::{Binomial, DiscreteCDF};
use tempfile::TempDir;

use crate::server::{Hit, Server, Withheld};
use crate::site::{Answer, DELAYED, HOSTS, Site, TRAP};

/// The time between two requests to a host, and that of the host with a Crawl-delay.
pub(crate) const DELAY: Duration = Duration::from_millis(5);
pub(crate) const CRAWL_DELAY: Duration = Duration::from_millis(50);

/// The limits of a crawler in these tests.
pub(crate) const CONNECTIONS: u64 = 16;
pub(crate) const BATCH: u64 = 64;

/// A site, its server, and the directory of its crawlers.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
    /// The value of `--seen`, and more arguments.
    pub(crate) arguments: Vec<String>,
    pub(crate) delay: Duration,
    /// The hosts at which each crawler starts.
    pub(crate) starts: Vec<Vec<usize>>,
}

impl World {
    /// Makes a world of `count` crawlers, which share the hosts as start URLs.
    pub(crate) fn new(pages: u64, count: usize) -> Self {
        let (server, folder) = (Server::start(Site { pages }), tempfile::tempdir().unwrap());
        let lines: Vec<String> =
            HOSTS.iter().map(|name| format!("{name} {}\n", server.address)).collect();
        fs::write(folder.path().join("hosts"), lines.concat()).unwrap();
        // No page links to the first page of a host, so each crawler wins its own.
        let starts = (0..count).map(|own| (own..HOSTS.len()).step_by(count).collect()).collect();
        Self { server, folder, arguments: Vec::new(), starts, delay: DELAY }
    }

    /// Adds arguments. `@` is the directory.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        let folder = format!("{}/", self.folder.path().display());
        self.arguments.extend(arguments.iter().map(|text| text.replace('@', &folder)));
        self
    }

    pub(crate) fn state(&self, crawler: usize) -> PathBuf {
        self.folder.path().join(format!("state-{crawler}"))
    }

    /// Keeps a crawler from its end: the server withholds the end of the first page of one of its
    /// hosts, for which no other crawler asks.
    pub(crate) fn hold_back(&self, crawler: usize) {
        self.server.withhold(Withheld::FirstPage(self.held_host(crawler)));
    }

    /// Lets a crawler end that was held back.
    pub(crate) fn let_go(&self, crawler: usize) {
        self.server.release(Withheld::FirstPage(self.held_host(crawler)));
    }

    fn held_host(&self, crawler: usize) -> usize {
        *self.starts[crawler].last().unwrap()
    }

    fn output(&self, crawler: usize) -> PathBuf {
        self.folder.path().join(format!("report-{crawler}"))
    }

    /// Starts a crawler. Its summary is appended to a file.
    pub(crate) fn start(&self, crawler: usize) -> Child {
        let site = self.server.site();
        let hosts = &self.starts[crawler];
        let report = File::options().append(true).create(true).open(self.output(crawler)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tamis-crawler"));
        command
            .arg("--start")
            .args(hosts.iter().map(|host| format!("http://{}", HOSTS[*host])))
            .arg("--state")
            .arg(self.state(crawler))
            .arg("--host-map")
            .arg(self.folder.path().join("hosts"))
            .args(["--delay", &format!("{}ms", self.delay.as_millis())])
            .args(["--connections", &CONNECTIONS.to_string(), "--batch", &BATCH.to_string()])
            .args(["--max-pages", &most_pages(site).to_string()])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stderr(report.try_clone().unwrap())
            .stdout(report);
        command.spawn().unwrap()
    }

    /// Runs all crawlers to their end.
    pub(crate) fn run(&self) {
        let children: Vec<Child> = (0..self.starts.len()).map(|own| self.start(own)).collect();
        for (own, mut child) in children.into_iter().enumerate() {
            self.expect_success(own, &mut child);
        }
    }

    pub(crate) fn expect_success(&self, crawler: usize, child: &mut Child) {
        let status = child.wait().unwrap();
        let report = self.report(crawler);
        assert!(status.success(), "{status}: {report}");
    }

    /// Returns the end of the name that a crawler gives itself, from its log.
    pub(crate) fn agent(&self, crawler: usize) -> Option<String> {
        let text = fs::read_to_string(self.state(crawler).join("log")).ok()?;
        Some(text.lines().next()?.rsplit(' ').next()?.to_owned())
    }

    /// Returns what a crawler has printed.
    pub(crate) fn report(&self, crawler: usize) -> String {
        fs::read_to_string(self.output(crawler)).unwrap()
    }

    /// Returns the URLs that the crawlers have won, by their logs.
    pub(crate) fn won(&self) -> HashSet<String> {
        let mut won = HashSet::new();
        for own in 0..self.starts.len() {
            let text = fs::read_to_string(self.state(own).join("log")).unwrap();
            let mut open: Vec<&str> = Vec::new();
            for (sum, record) in text.lines().filter_map(|line| line.split_once(' ')) {
                if u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(record.as_bytes())) {
                    // A test has damaged it.
                    open.clear();
                    continue;
                }
                match record.split_once(' ').unwrap() {
                    ("?", urls) => open = urls.split(' ').collect(),
                    ("!", digits) => {
                        assert!(open.is_empty() || digits.len() == open.len());
                        let new = open.drain(..).zip(digits.bytes());
                        won.extend(new.filter(|new| new.1 == b'1').map(|new| new.0.to_owned()));
                    }
                    _ => {}
                }
            }
        }
        won
    }

    /// Checks a crawl by the log of the server. Returns the URLs that were found and not won.
    pub(crate) fn check(&self) -> Checked {
        let (site, hits, won) = (self.server.site(), self.server.hits(), self.won());
        let starts: Vec<usize> = self.starts.concat();
        let (reached, lost) = site.reached(&starts, |url| won.contains(url));
        let mut answered: HashMap<String, u64> = HashMap::new();
        for hit in hits.iter().filter(|hit| hit.status == 200 && hit.path != "/robots.txt") {
            assert!(!hit.path.starts_with("/private"), "forbidden: {hit:?}");
            assert!(hit.host < HOSTS.len(), "not a host of the map: {hit:?}");
            let url = format!("http://{}{}", HOSTS[hit.host], hit.path);
            *answered.entry(url).or_default() += 1;
        }
        let is_page = |answer: &Answer| matches!(answer, Answer::Page(_) | Answer::TooMany { .. });
        let pages: HashSet<&String> =
            reached.iter().filter(|(_, answer)| is_page(answer)).map(|(url, _)| url).collect();

        // Every page that was reached is answered, and no other, except in the trap.
        let missing: Vec<_> =
            pages.iter().filter(|url| !answered.contains_key(url.as_str())).collect();
        assert!(
            missing.is_empty(),
            "{} missing: {:?}",
            missing.len(),
            &missing[..5.min(missing.len())]
        );
        let trap = format!("http://{}/", HOSTS[TRAP]);
        let in_trap = answered.keys().filter(|url| url.starts_with(&trap)).count() as u64;
        let others = answered.len() as u64 - in_trap;
        assert_eq!(others, pages.len() as u64, "a page that is no page, or the answers of another");
        let limit = most_pages(site);
        let most = limit * self.starts.len() as u64;
        assert!((limit / 2..=most).contains(&in_trap), "{in_trap} in the trap");

        // Redirects, 404 and failures were asked for, too.
        let asked: HashSet<String> =
            hits.iter().map(|hit| format!("http://{}{}", HOSTS[hit.host], hit.path)).collect();
        assert!(reached.keys().all(|url| asked.contains(url)));
        let twice = answered.values().map(|count| count - 1).sum();
        Checked { pages: pages.len() as u64, answered: answered.len() as u64, twice, lost, hits }
    }
}

/// Returns the maximum of pages per host: no host but the trap has as many.
const fn most_pages(site: Site) -> u64 {
    site.pages / 6 + 50
}

/// What [`World::check`] has found.
pub(crate) struct Checked {
    /// The pages that must be answered, without the trap.
    pub(crate) pages: u64,
    /// The pages that were answered, with the trap.
    pub(crate) answered: u64,
    /// The answers beyond the first.
    pub(crate) twice: u64,
    /// The URLs that were found, and that no process has won.
    pub(crate) lost: HashSet<String>,
    pub(crate) hits: Vec<Hit>,
}

impl Checked {
    /// Checks the time between the requests of each crawler to each host, and that each asked for
    /// robots.txt at most `runs` times. Returns the shortest time over the demanded one.
    pub(crate) fn check_politeness(&self, runs: usize) -> f64 {
        let mut by_client: BTreeMap<(&str, usize), Vec<&Hit>> = BTreeMap::new();
        self.hits.iter().for_each(|hit| {
            by_client.entry((&hit.agent, hit.host)).or_default().push(hit);
        });
        let mut least = f64::INFINITY;
        for ((agent, host), hits) in &by_client {
            let robots = hits.iter().filter(|hit| hit.path == "/robots.txt").count();
            assert!((1..=runs).contains(&robots), "{agent} at {host}: {robots} times robots.txt");
            assert_eq!(hits[0].path, "/robots.txt", "{agent} at {host}");
            for pair in hits.windows(2) {
                let gap = pair[1].time - pair[0].time;
                // A restart waits for the delay, before it knows of a longer one.
                let is_restart = pair[1].path == "/robots.txt";
                let least_gap = match (pair[0].status, is_restart) {
                    (429, false) => Duration::from_secs(1),
                    (_, false) if *host == DELAYED => CRAWL_DELAY,
                    _ => DELAY,
                };
                assert!(gap >= least_gap, "{agent} at {host}: {gap:?} between {pair:?}");
                least = least.min(gap.as_secs_f64() / least_gap.as_secs_f64());
            }
        }
        least
    }

    /// Returns the greatest number of URLs that may be lost at a rate: it is exceeded once in 10^9
    /// runs.
    pub(crate) fn most_lost(&self, rate: f64) -> u64 {
        let losses = Binomial::new(rate, self.urls()).unwrap();
        (0..).find(|lost| losses.sf(*lost) < 1e-9).unwrap()
    }

    /// Returns the number of URLs that were asked for or lost.
    fn urls(&self) -> u64 {
        let urls: HashSet<_> = self.hits.iter().map(|hit| (hit.host, &hit.path)).collect();
        (urls.len() + self.lost.len()) as u64
    }

    /// Prints the figures of a test.
    pub(crate) fn print(&self, name: &str, start: Instant) {
        eprintln!(
            "{name}: {} pages, and {} in the trap; {} answers beyond the first, {} URLs lost, \
             {} requests, {:.1} s",
            self.pages,
            self.answered - self.pages,
            self.twice,
            self.lost.len(),
            self.hits.len(),
            start.elapsed().as_secs_f64(),
        );
    }
}
