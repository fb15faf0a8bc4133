//! Decides what becomes of a page, or of a robots.txt: it is done, or asked for again.

use core::time::Duration;

use reqwest::Client;
use robotxt::{AccessResult, Agent, Robots};
use tokio::task::block_in_place;
use url::Url;

use crate::args::Args;
use crate::claims::Found;
use crate::fetch::{Answer, Head};
use crate::frontier::{HostId, Job};
use crate::links;
use crate::log::Done;
use crate::urls;

/// How often a request is repeated. A robots.txt may be behind as many redirects.
const MOST_TRIES: u32 = 5;

/// The first pause after a failure, if it is longer than the delay. Each further one is twice as
/// long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a server can demand.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// What requests need.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) args: &'static Args,
    pub(crate) client: Client,
}

/// A part of a request that has ended.
pub(crate) enum Step {
    /// The head of the answer has come, with what the rest comes from, or none will come.
    Head(Job, Box<Head>),
    End(Job, Outcome),
}

/// What becomes of a request.
pub(crate) enum Outcome {
    /// The page is done when its links are recorded.
    Page(Found),
    /// The rules of the robots.txt of a host, or why it could not be read.
    Rules(HostId, Result<Robots, String>),
    /// It must be made again, perhaps at another URL. The host must not be asked before the pause
    /// is over.
    Again(Url, Duration),
}

impl Visitor {
    /// Makes a request, and waits for the head of its answer.
    pub(crate) async fn ask(self, job: Job) -> Step {
        let head = Answer::head(&self.client, &job.url).await;
        Step::Head(job, Box::new(head))
    }

    /// Reads the rest of an answer.
    pub(crate) async fn read(self, job: Job, head: Box<Head>) -> Step {
        let answer = Answer::read(*head, &job.url).await;
        let outcome = match (self.pause(&answer, job.tries), job.robots_of) {
            (Some(pause), _) => Outcome::Again(job.url.clone(), pause),
            (None, Some(host)) => self.of_robots(host, job.tries, answer),
            // To find the links may take longer than other requests can wait.
            (None, None) => Outcome::Page(block_in_place(|| Self::of_page(&job.url, answer))),
        };
        Step::End(job, outcome)
    }

    /// Returns how long to wait before the request is made again, or `None` if it is not.
    pub(crate) fn pause(&self, answer: &Answer, tries: u32) -> Option<Duration> {
        let is_failure = matches!(answer.status, ..100 | 408 | 429 | 500..);
        let own = self.args.delay.max(PAUSE) * 2_u32.pow(tries);
        let pause = answer.retry_after.unwrap_or(own).min(MAX_PAUSE);
        (is_failure && tries < MOST_TRIES).then_some(pause)
    }

    /// A redirect is a page with one link: another process may have its target.
    fn of_page(page: &Url, answer: Answer) -> Found {
        let links = match (answer.status, &answer.location) {
            (300..400, Some(to)) => urls::normal(to).into_iter().collect(),
            (200..300, _) => links::of_document(&answer.content_type, page, &answer.body),
            _ => Vec::new(),
        };
        let (url, size) = (page.as_str().to_owned(), answer.body.len() as u64);
        Found { links, done: Some(Done { url, result: answer.result, size }) }
    }

    fn of_robots(&self, host: HostId, tries: u32, answer: Answer) -> Outcome {
        let access = match (answer.status, &answer.location) {
            (300..400, Some(to)) => match urls::normal(to).filter(|to| self.args.allows(to)) {
                Some(to) if tries < MOST_TRIES => return Outcome::Again(to, Duration::ZERO),
                _ => AccessResult::TooManyRedirects,
            },
            (200..300, _) => AccessResult::Successful(&answer.body),
            (300..=428 | 430..500, _) => AccessResult::Unavailable,
            _ => return Outcome::Rules(host, Err(answer.result)),
        };
        let name = self.args.user_agent.split(['/', ' ']).next().unwrap_or_default();
        Outcome::Rules(host, Ok(Robots::from_access(access, Agent::Exact(name))))
    }
}
