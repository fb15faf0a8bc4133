//! Decides what becomes of a page, or of a robots.txt: it is done, or asked for again.

use core::time::Duration;

use reqwest::Client;
use robotxt::{AccessResult, Agent, Robots};
use url::Url;

use crate::fetch::{Answer, get};
use crate::frontier::Job;
use crate::hosts::HostMap;
use crate::links;
use crate::log::{Done, FAILED};
use crate::urls;

/// How often a request is repeated. A robots.txt may be behind as many redirects.
const MOST_TRIES: u32 = 5;

/// The first pause after a failure, if it is longer than the delay. Each further one is twice as
/// long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a server can demand.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// What requests need.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) client: Client,
    pub(crate) map: Option<HostMap>,
    pub(crate) delay: Duration,
    /// The name for robots.txt.
    pub(crate) name: String,
}

/// What becomes of a request.
pub(crate) enum Outcome {
    /// The page is done when its links are recorded.
    Page { done: Done, links: Vec<Url> },
    /// The rules of a robots.txt, if it could be read.
    Rules(Option<Robots>),
    /// The robots.txt is at another URL.
    RobotsAt(Url),
    /// It must be made again, and the host must not be asked before the pause is over.
    Again(Duration),
}

impl Visitor {
    /// Makes a request. `on_head` is called when the host has answered, or failed.
    pub(crate) async fn visit(&self, job: &Job, on_head: impl FnOnce()) -> Outcome {
        let answer = get(&self.client, &job.url, on_head).await.ok();
        if let Some(pause) = self.pause(answer.as_ref(), job.tries) {
            return Outcome::Again(pause);
        }
        if job.robots_of.is_some() {
            self.of_robots(job, answer)
        } else {
            self.of_page(job, answer)
        }
    }

    /// Returns how long to wait before the request is made again, or `None` if it is not.
    fn pause(&self, answer: Option<&Answer>, tries: u32) -> Option<Duration> {
        let is_failure = answer.is_none_or(|answer| matches!(answer.status, 408 | 429 | 500..));
        if !is_failure || tries >= MOST_TRIES {
            return None;
        }
        let own = self.delay.max(PAUSE) * 2_u32.pow(tries);
        let demanded = answer.and_then(|answer| answer.retry_after);
        Some(demanded.unwrap_or(own).min(MAX_PAUSE))
    }

    /// A redirect is a page with one link: another process may have its target.
    fn of_page(&self, job: &Job, answer: Option<Answer>) -> Outcome {
        let url = job.url.as_str().to_owned();
        let Some(answer) = answer else {
            return Outcome::Page {
                done: Done { url, status: FAILED, size: 0 },
                links: Vec::new(),
            };
        };
        let mut links = match (answer.status, &answer.location) {
            (300..400, Some(to)) => urls::normal(to).into_iter().collect(),
            (200..300, _) => links::of_document(answer.kind, &job.url, &answer.body),
            _ => Vec::new(),
        };
        links.retain(|link| self.allows(link));
        let (status, size) = (answer.status, answer.body.len() as u64);
        Outcome::Page { done: Done { url, status, size }, links }
    }

    fn of_robots(&self, job: &Job, answer: Option<Answer>) -> Outcome {
        let access = match &answer {
            Some(Answer { status: 300..400, location: Some(to), .. }) => {
                match urls::normal(to).filter(|to| self.allows(to)) {
                    Some(to) if job.tries < MOST_TRIES => return Outcome::RobotsAt(to),
                    _ => AccessResult::TooManyRedirects,
                }
            }
            Some(Answer { status: 200..300, body, .. }) => AccessResult::Successful(body),
            Some(Answer { status: 300..=428 | 430..500, .. }) => AccessResult::Unavailable,
            _ => return Outcome::Rules(None),
        };
        Outcome::Rules(Some(Robots::from_access(access, Agent::Exact(&self.name))))
    }

    /// Returns whether a URL may be crawled, by the map of hosts.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        self.map.as_ref().is_none_or(|map| map.allows(url))
    }
}
