//! The options of the command line.

use core::str::FromStr;
use core::time::Duration;
use std::path::PathBuf;

use clap::{Parser, value_parser};
use url::Url;

use crate::hosts::HostMap;

/// The longest delay, also of a robots.txt: a clock ends, and a crawl shall.
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(24 * 3600);

/// Crawls the web: fetches each URL once, also with several processes, and after a kill.
#[derive(Debug, Parser)]
#[command(name = "tamis-crawler", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Where the crawl begins. Give several processes start URLs on different hosts
    #[arg(long, required = true, num_args = 1.., value_name = "URL")]
    pub(crate) start: Vec<Url>,
    /// The memory of known URLs: `memory`, a file that processes share (`urls.tamis`), or a filter
    /// that machines share (`redis://host:port/#name`)
    #[arg(long, default_value = "memory", value_name = "WHERE")]
    pub(crate) seen: Where,
    /// The directory of the log of this process. With the same directory, a crawl goes on where it
    /// ended
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) state: PathBuf,
    /// The number of URLs to expect. A file does not grow beyond it
    #[arg(long, default_value_t = 1_000_000, value_name = "URLS", value_parser = value_parser!(u64).range(1..=1 << 40))]
    pub(crate) capacity: u64,
    /// The false-positive rate: of the new URLs, this share is never fetched [default: 1e-9; 1e-4
    /// in a file]
    #[arg(long, value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// The time between two requests of this process to a host, from the answer to the next
    /// request. A Crawl-delay that is longer counts instead. At most a day
    #[arg(long, default_value = "500ms", value_parser = delay)]
    pub(crate) delay: Duration,
    /// The connections to one host. With a delay, more than one is used only while a page is long
    #[arg(long, default_value_t = 2, value_name = "CONNECTIONS", value_parser = value_parser!(u64).range(1..=1 << 40))]
    pub(crate) per_host: u64,
    /// The connections in total: the pages that a kill may let fetch twice
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// The URLs of one host that this process fetches at most, against hosts without end
    #[arg(long, default_value_t = 100_000, value_name = "PAGES", value_parser = value_parser!(u64).range(1..=1 << 40))]
    pub(crate) max_pages: u64,
    /// The URLs that are claimed at once: those that a kill may let fetch twice, too
    #[arg(long, default_value_t = 1024, value_name = "URLS", value_parser = value_parser!(u32).range(1..))]
    pub(crate) batch: u32,
    /// Flush the log after each step, so that a power loss loses nothing
    #[arg(long)]
    pub(crate) fsync: bool,
    /// Go on with a log that is damaged, without the damaged records: the pages of what is readable
    /// of them are fetched again. The log says that this was accepted
    #[arg(long)]
    pub(crate) repair: bool,
    /// The name in requests and for robots.txt, where it counts up to the first `/` or
    /// space
    #[arg(
        long,
        default_value = "tamis-crawler/0.1 (+https://github.com/tamis-rs/tamis)",
        value_name = "NAME"
    )]
    pub(crate) user_agent: String,
    /// A file for one line per page: status, URL, size
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// For tests: a file of lines `name address:port`. Other names are refused
    #[arg(long, value_name = "FILE", value_parser = HostMap::read)]
    pub(crate) host_map: Option<HostMap>,
}

impl Args {
    /// Returns whether a URL may be crawled: its host is in the map, or there is none.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        let has = |map: &HostMap, name: &str| map.addresses.contains_key(name);
        self.host_map.as_ref().is_none_or(|map| url.host_str().is_some_and(|name| has(map, name)))
    }
}

/// Reads a false-positive rate.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| 0.0 < *rate && *rate < 1.0);
    rate.ok_or_else(|| "expected a number between 0 and 1".to_owned())
}

/// Reads a delay.
fn delay(text: &str) -> Result<Duration, String> {
    let delay = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if delay <= MAX_DELAY { Ok(delay) } else { Err("expected at most a day".to_owned()) }
}

/// Where known URLs are remembered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Where {
    Memory,
    File(PathBuf),
    Redis { server: String, name: String },
}

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('#') {
            _ if text == "memory" => Ok(Self::Memory),
            _ if !text.contains("://") => Ok(Self::File(text.into())),
            Some((server, name)) if !name.is_empty() && !name.contains(['#', '@', '%']) => {
                Ok(Self::Redis { server: server.to_owned(), name: name.to_owned() })
            }
            _ => Err("expected an address such as redis://localhost/#seen".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn rates_and_delays_without_a_sense_are_refused() {
        assert_eq!((rate("1e-12"), delay("1day")), (Ok(1e-12), Ok(MAX_DELAY)));
        for wrong in ["0", "1", "-1", "inf", "NaN", "x"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["25h", "584542046090years", "-1s", "1"] {
            assert!(delay(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_memory_is_memory_a_file_or_an_address() {
        let redis = Where::Redis { server: "redis://h:1/".into(), name: "seen".into() };
        assert_eq!("memory".parse(), Ok(Where::Memory));
        assert_eq!("./memory".parse(), Ok(Where::File("./memory".into())));
        assert_eq!("redis://h:1/#seen".parse(), Ok(redis));
        for wrong in ["redis://h:1/", "redis://h:1/#", "redis://u:p#w@h/#seen"] {
            assert!(wrong.parse::<Where>().is_err(), "{wrong}");
        }
    }
}
