//! Runs a crawl: starts each request that may start, and takes each event to its place.

use core::future;
use core::time::Duration;
use std::time::Instant;

use robotxt::Robots;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::{select, signal, time};
use url::Url;

use crate::Failure;
use crate::args::Args;
use crate::claims::{Claimed, Claims, Found};
use crate::fetch;
use crate::frontier::{Frontier, HostId, Job, Next};
use crate::hosts::HostMap;
use crate::log::{Done, FORBIDDEN};
use crate::page::{Outcome, Visitor};
use crate::report::Report;
use crate::urls;

/// The time between two updates on a terminal.
const UPDATE: Duration = Duration::from_millis(500);

/// The events that are taken at once.
const EVENTS: usize = 256;

enum Event {
    /// The head of an answer has come, or will not.
    Head(HostId),
    /// A request has ended. Pages that are done go to the claims first.
    Ended(Job, Outcome),
    Claimed(Claimed),
}

struct Crawl {
    frontier: Frontier,
    report: Report,
    visitor: Visitor,
    /// To the task that claims, which ends with the last sender.
    found: Option<UnboundedSender<Found>>,
    events: UnboundedSender<Event>,
    tasks: JoinSet<()>,
    connections: u64,
    /// The number of pages that have a connection, or wait with one until they are done.
    in_flight: u64,
    /// The number of other pages and links that are being recorded.
    claiming: u64,
    /// Whether the user wants it to end.
    is_over: bool,
}

/// Crawls until no URL is left.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let report = Report::new();
    let map = args.host_map.as_deref().map(HostMap::read).transpose()?;
    let agent = args.user_agent.as_str();
    let name = agent.split(['/', ' ']).next().unwrap_or_default().to_owned();
    let (claims, past, waiting) = Claims::open(&args).await?;
    Report::begin(&claims, &past, &args)?;
    let client = fetch::client(&format!("{agent} crawl-{}", past.identity), map.as_ref())?;
    // The last request before a kill may be from a moment ago.
    let is_restart = past.won.len() + past.open.len() > 0;
    let first = Instant::now() + if is_restart { args.delay } else { Duration::ZERO };

    let (found, pages) = unbounded_channel();
    let (events, inbox) = unbounded_channel();
    let on_event = events.clone();
    // If nobody listens, the crawl has ended with an error.
    let claims = claims.run(pages, move |claimed| _ = on_event.send(Event::Claimed(claimed)));
    let claims = tokio::spawn(claims);
    let mut crawl = Crawl {
        frontier: Frontier::new(args.delay, args.per_host, first),
        report,
        visitor: Visitor { client, map, delay: args.delay, name },
        found: Some(found),
        events,
        tasks: JoinSet::new(),
        connections: args.connections,
        in_flight: 0,
        claiming: 0,
        is_over: false,
    };
    waiting.into_iter().for_each(|url| crawl.frontier.push(url));
    if crawl.claim(&args.start) == 0 {
        return Err("no start URL may be crawled".into());
    }
    let claims = crawl.until_end(inbox, claims).await?;
    crawl.report.end(&claims, &crawl.frontier).await
}

impl Crawl {
    /// Takes events until nothing is left to do. Returns the claims.
    async fn until_end(
        &mut self,
        mut inbox: UnboundedReceiver<Event>,
        mut claims: JoinHandle<Result<Claims, Failure>>,
    ) -> Result<Claims, Failure> {
        let mut events = Vec::new();
        let mut update = time::interval(UPDATE);
        loop {
            self.start_requests();
            let next = self.frontier.next_time().filter(|_| !self.is_over);
            if self.in_flight + self.claiming == 0 && next.is_none() {
                self.found = None;
                return claims.await?;
            }
            select! {
                _ = inbox.recv_many(&mut events, EVENTS) => {
                    events.drain(..).for_each(|event| self.on_event(event));
                }
                () = until(next.filter(|_| self.may_start())) => {}
                Some(ended) = self.tasks.join_next() => ended?,
                // It ends before the others only with an error.
                ended = &mut claims => return ended?,
                _ = update.tick() => self.report.show(&self.frontier),
                signal = signal::ctrl_c(), if !self.is_over => {
                    signal?;
                    self.is_over = true;
                }
            }
        }
    }

    const fn may_start(&self) -> bool {
        !self.is_over && self.in_flight < self.connections
    }

    /// Starts each request that may start now.
    fn start_requests(&mut self) {
        while self.may_start()
            && let Some(next) = self.frontier.pop(Instant::now())
        {
            match next {
                Next::Request(job) => self.start(job),
                Next::Forbidden(url) => {
                    let done = Some(Done { url, status: FORBIDDEN, size: 0 });
                    self.record(Found { links: Vec::new(), done, host: None });
                }
                Next::Unreachable => self.report.left += 1,
            }
        }
    }

    fn start(&mut self, job: Job) {
        self.in_flight += 1;
        let (visitor, events) = (self.visitor.clone(), self.events.clone());
        let found = self.found.clone();
        self.tasks.spawn(async move {
            let host = job.host;
            let on_head = || _ = events.send(Event::Head(host));
            match (visitor.visit(&job, on_head).await, found) {
                (Outcome::Page { done, links }, Some(found)) => {
                    _ = found.send(Found { links, done: Some(done), host: Some(host) });
                }
                (outcome, _) => _ = events.send(Event::Ended(job, outcome)),
            }
        });
    }

    fn on_event(&mut self, event: Event) {
        let now = Instant::now();
        match event {
            Event::Head(host) => self.frontier.on_head(host, now),
            Event::Ended(job, outcome) => self.on_outcome(job, outcome, now),
            Event::Claimed(Claimed::Won(urls)) => {
                urls.into_iter().for_each(|url| self.frontier.push(url));
            }
            Event::Claimed(Claimed::Finished(page)) => {
                if let Some(Done { status, size, .. }) = page.done {
                    self.report.count(status, size);
                }
                match page.host {
                    Some(host) => self.end(host, now, Duration::ZERO),
                    None => self.claiming -= 1,
                }
            }
        }
    }

    /// Frees a connection.
    fn end(&mut self, host: HostId, now: Instant, pause: Duration) {
        self.frontier.on_end(host, now, pause);
        self.in_flight -= 1;
    }

    /// Takes the outcome of a request that is not a page.
    fn on_outcome(&mut self, job: Job, outcome: Outcome, now: Instant) {
        let pause = if let Outcome::Again(pause) = outcome { pause } else { Duration::ZERO };
        self.end(job.host, now, pause);
        match (outcome, job.robots_of) {
            (Outcome::RobotsAt(url), Some(of)) => self.frontier.ask_robots(of, url, job.tries + 1),
            (Outcome::Rules(rules), Some(of)) => {
                // The claims of sitemaps come before those of any page of the host, so before one
                // is done.
                self.claim(rules.as_ref().map_or(&[], Robots::sitemaps));
                self.frontier.set_rules(of, rules);
            }
            _ => self.frontier.push_again(job),
        }
    }

    /// Lets links that belong to no page be claimed. Returns their number.
    fn claim(&mut self, links: &[Url]) -> usize {
        let links = links.iter().filter_map(urls::normal);
        let links: Vec<Url> = links.filter(|url| self.visitor.allows(url)).collect();
        let count = links.len();
        self.record(Found { links, done: None, host: None });
        count
    }

    fn record(&mut self, found: Found) {
        self.claiming += 1;
        _ = self.found.as_ref().map(|to| to.send(found));
    }
}

/// Waits until a time, or forever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => time::sleep_until(time.into()).await,
        None => future::pending().await,
    }
}
