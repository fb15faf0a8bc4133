//! Runs a crawl: starts each request that may start, and takes what it gives to its place.

use core::mem;
use core::pin::pin;
use std::time::Instant;

use tokio::task::JoinSet;
use tokio::{select, signal, time};
use url::Url;

use crate::args::Args;
use crate::claims::{Claims, Found};
use crate::failure::Failure;
use crate::fetch;
use crate::frontier::Frontier;
use crate::page::{Outcome, Step, Visitor};
use crate::report::Report;
use crate::urls;

struct Crawl {
    frontier: Frontier,
    report: Report,
    claims: Claims,
    visitor: Visitor,
    /// The requests that have not ended.
    requests: JoinSet<Step>,
    /// What has to be recorded before the next requests start.
    found: Vec<Found>,
    /// Whether the user wants the crawl to end.
    is_over: bool,
}

/// Crawls until no URL is left.
pub(crate) async fn run(args: &'static Args) -> Result<(), Failure> {
    let report = Report::new();
    let may_start = |url: &Url| urls::normal(url).is_some_and(|url| args.allows(&url));
    if let Some(url) = args.start.iter().find(|url| !may_start(url)) {
        let what = "not in the map, too long, with a user, or no `http` (`https`: feature `tls`)";
        return Err(format!("{url}: {what}").into());
    }
    let (claims, past, waiting) = Claims::open(args).await?;
    Report::begin(&claims, &past, args)?;
    let mut crawl = Crawl {
        frontier: Frontier::new(args),
        report,
        claims,
        visitor: Visitor { args, client: fetch::client(args, &past.identity)? },
        requests: JoinSet::new(),
        found: Vec::new(),
        is_over: false,
    };
    waiting.into_iter().for_each(|url| crawl.frontier.push(url));
    crawl.claim(&args.start);

    // One listener, so that a signal is also noticed while the loop is elsewhere.
    let mut interrupt = pin!(signal::ctrl_c());
    loop {
        crawl.report.show(&crawl.frontier);
        crawl.start_requests();
        if !crawl.found.is_empty() {
            // This is where pages become done, and nothing ends it half-way.
            crawl.record().await?;
            continue;
        }
        let next = crawl.next_time();
        if crawl.requests.is_empty() && next.is_none() {
            return crawl.report.end(&crawl.claims, &crawl.frontier).await;
        }
        select! {
            Some(step) = crawl.requests.join_next() => {
                crawl.on_step(step?);
                // The links of several pages are claimed together.
                while let Some(step) = crawl.requests.try_join_next() {
                    crawl.on_step(step?);
                }
            }
            () = time::sleep_until(next.unwrap_or_else(Instant::now).into()), if next.is_some() => {}
            Ok(()) = &mut interrupt => {
                // The first one waits for the pages in flight.
                if mem::replace(&mut crawl.is_over, true) {
                    return Err("interrupted twice; the same command line continues".into());
                }
                interrupt.set(signal::ctrl_c());
            }
        }
    }
}

impl Crawl {
    /// Returns when a request may start, unless another one must end, or be recorded, before: a
    /// kill lets both be made a second time.
    fn next_time(&self) -> Option<Instant> {
        let not_done = self.requests.len() + self.found.len();
        let is_free = not_done < self.visitor.args.connections as usize;
        self.frontier.next_time().filter(|_| is_free && !self.is_over)
    }

    /// Starts each request that may start now.
    fn start_requests(&mut self) {
        while self.next_time().is_some() {
            match self.frontier.pop(Instant::now()) {
                Some(Ok(job)) => _ = self.requests.spawn(self.visitor.clone().ask(job)),
                Some(Err(done)) => self.found.push(Found { links: Vec::new(), done: Some(done) }),
                None => return,
            }
        }
    }

    fn on_step(&mut self, step: Step) {
        let now = Instant::now();
        let (job, outcome) = match step {
            Step::Head(job, head) => {
                // A pause must begin before another request to the host can.
                let pause = self.visitor.pause(&head.0, job.tries).unwrap_or_default();
                self.frontier.on_head(job.host, now + pause);
                self.requests.spawn(self.visitor.clone().read(job, head));
                return;
            }
            Step::End(job, outcome) => (job, outcome),
        };
        self.frontier.on_end(job.host);
        match outcome {
            Outcome::Page(found) => self.found.push(found),
            Outcome::Again(url, pause) => self.frontier.push_again(&job, url, now + pause),
            Outcome::Rules(host, Ok(rules)) => {
                // Sitemaps are claimed before any page of the host is done.
                self.claim(rules.sitemaps());
                self.frontier.set_rules(host, rules);
            }
            Outcome::Rules(_, Err(result)) => self.report.count(&format!("robots.txt {result}"), 0),
        }
    }

    /// Lets links that belong to no page be claimed.
    fn claim(&mut self, links: &[Url]) {
        let links = links.iter().filter_map(urls::normal).collect();
        self.found.push(Found { links, done: None });
    }

    /// Records what was found, and enqueues what was won.
    async fn record(&mut self) -> Result<(), Failure> {
        let found = mem::take(&mut self.found);
        let done = found.iter().filter_map(|page| page.done.as_ref());
        done.for_each(|page| self.report.count(&page.result, page.size));
        let won = self.claims.record(found).await?;
        won.into_iter().for_each(|url| self.frontier.push(url));
        Ok(())
    }
}
