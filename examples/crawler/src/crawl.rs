//! Runs a crawl: starts each request that may start, and takes each event to its place.

use core::future;
use core::time::Duration;
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::{select, signal, time};
use url::Url;

use crate::Failure;
use crate::args::Args;
use crate::claims::{Claimed, Claims, Found};
use crate::fetch;
use crate::frontier::{Frontier, HostId, Job, Placed};
use crate::hosts::HostMap;
use crate::log::{Done, FORBIDDEN};
use crate::page::{Outcome, Visitor};
use crate::report::Report;
use crate::urls;

/// The time between two updates on a terminal.
const UPDATE: Duration = Duration::from_millis(500);

/// The events that are taken at once.
const EVENTS: usize = 256;

/// Whose links they are: of a page that a connection to this host has got, or of no page.
type Sender = Option<HostId>;

enum Event {
    /// The head of an answer has come, or will not.
    Head(HostId),
    /// A request has ended. Pages that are done go to the claims first.
    Ended(Job, Outcome),
    Claimed(Claimed<Sender>),
}

impl From<Claimed<Sender>> for Event {
    fn from(claimed: Claimed<Sender>) -> Self {
        Self::Claimed(claimed)
    }
}

struct Crawl {
    frontier: Frontier,
    report: Report,
    visitor: Visitor,
    /// To the task that claims.
    found: UnboundedSender<Found<Sender>>,
    events: UnboundedSender<Event>,
    tasks: JoinSet<()>,
    connections: u64,
    /// The pages that have a connection, until they are done.
    in_flight: u64,
    /// The other links that are being claimed.
    claiming: u64,
    /// Whether the user wants it to end.
    is_over: bool,
}

/// Crawls until no URL is left.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let report = Report::new();
    let map = args.host_map.as_deref().map(HostMap::read).transpose()?;
    let (claims, resumed, waiting) = Claims::open(&args).await?;
    println!("URLs are in {}", claims.seen.describe());
    report.resumed(&resumed, &args)?;

    let agent = format!("{} crawl-{}", args.user_agent, resumed.identity);
    let name = args.user_agent.split(['/', ' ']).next().unwrap_or_default().to_owned();
    let client = fetch::client(&agent, map.clone())?;
    // The last request before a kill may be from a moment ago.
    let is_restart = resumed.done + resumed.left + resumed.open > 0;
    let first = Instant::now() + if is_restart { args.delay } else { Duration::ZERO };
    let (found, pages) = unbounded_channel();
    let (events, inbox) = unbounded_channel();
    let claims = tokio::spawn(claims.run(pages, events.clone()));
    let mut crawl = Crawl {
        frontier: Frontier::new(args.delay, args.per_host, first),
        report,
        visitor: Visitor { client, map, delay: args.delay, name },
        found,
        events,
        tasks: JoinSet::new(),
        connections: args.connections,
        in_flight: 0,
        claiming: 0,
        is_over: false,
    };
    crawl.place(waiting);
    let start = args.start.iter().filter_map(urls::normal);
    let start: Vec<Url> = start.filter(|url| crawl.visitor.allows(url)).collect();
    if start.is_empty() {
        return Err("no start URL may be crawled".into());
    }
    crawl.claim(start, None);
    let claims = crawl.until_end(inbox, claims).await?;
    crawl.report.summary(&claims, &crawl.frontier).await
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
            let is_idle = self.in_flight + self.claiming == 0;
            if is_idle && (self.is_over || self.frontier.next_time().is_none()) {
                break;
            }
            let next = self.frontier.next_time().filter(|_| self.may_start());
            select! {
                _ = inbox.recv_many(&mut events, EVENTS) => {
                    events.drain(..).for_each(|event| self.on_event(event));
                }
                () = until(next) => {}
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
        // The task ends with the last sender.
        let (closed, _) = unbounded_channel();
        self.found = closed;
        claims.await?
    }

    const fn may_start(&self) -> bool {
        !self.is_over && self.in_flight < self.connections
    }

    /// Starts each request that may start now.
    fn start_requests(&mut self) {
        while self.may_start()
            && let Some(job) = self.frontier.pop(Instant::now())
        {
            self.in_flight += 1;
            let visitor = self.visitor.clone();
            let (found, events) = (self.found.clone(), self.events.clone());
            self.tasks.spawn(async move {
                let host = job.host;
                let on_head = || _ = events.send(Event::Head(host));
                // If nobody listens, the crawl has ended with an error.
                match visitor.visit(&job, on_head).await {
                    Outcome::Page { done, links } => {
                        _ = found.send(Found { links, done: Some(done), sender: Some(host) });
                    }
                    outcome => _ = events.send(Event::Ended(job, outcome)),
                }
            });
        }
    }

    fn on_event(&mut self, event: Event) {
        let now = Instant::now();
        match event {
            Event::Head(host) => self.frontier.on_head(host, now),
            Event::Ended(job, outcome) => {
                let pause = if let Outcome::Again(pause) = outcome { pause } else { Duration::ZERO };
                self.frontier.on_end(job.host, now, pause);
                self.in_flight -= 1;
                self.on_outcome(job, outcome);
            }
            Event::Claimed(Claimed::Won(urls)) => self.place(urls),
            Event::Claimed(Claimed::Finished(page)) => {
                match page.sender {
                    Some(host) => {
                        self.frontier.on_end(host, now, Duration::ZERO);
                        self.in_flight -= 1;
                    }
                    None => self.claiming -= 1,
                }
                if let Some(Done { status, size, .. }) = page.done {
                    self.report.count(status, size);
                }
            }
        }
    }

    fn on_outcome(&mut self, job: Job, outcome: Outcome) {
        match (outcome, job.robots_of) {
            (Outcome::RobotsAt(url), Some(of)) => {
                self.frontier.ask_robots(of, url, job.tries + 1);
            }
            (Outcome::Rules(rules), Some(of)) => {
                let sitemaps = rules.iter().flat_map(|rules| rules.sitemaps());
                let sitemaps = sitemaps.filter_map(urls::normal);
                let sitemaps: Vec<Url> = sitemaps.filter(|url| self.visitor.allows(url)).collect();
                // Their claims come before those of any page of the host, so before one is done.
                if !sitemaps.is_empty() {
                    self.claim(sitemaps, None);
                }
                let (forbidden, dropped) = self.frontier.set_rules(of, rules);
                forbidden.into_iter().for_each(|url| self.forbid(url));
                self.report.left += dropped;
            }
            _ => self.frontier.push_again(job),
        }
    }

    /// Enqueues URLs that this process has won.
    fn place(&mut self, urls: Vec<Url>) {
        for url in urls {
            let text = url.as_str().to_owned();
            match self.frontier.push(url) {
                Placed::Queued => {}
                Placed::Forbidden => self.forbid(text),
                Placed::Unreachable => self.report.left += 1,
            }
        }
    }

    /// Records that a page is not fetched.
    fn forbid(&mut self, url: String) {
        self.claim(Vec::new(), Some(Done { url, status: FORBIDDEN, size: 0 }));
    }

    /// Lets links be claimed, and a page without a connection be done.
    fn claim(&mut self, links: Vec<Url>, done: Option<Done>) {
        self.claiming += 1;
        // If the other task has ended, its error comes.
        _ = self.found.send(Found { links, done, sender: None });
    }
}

/// Waits until a time, or forever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => time::sleep_until(time.into()).await,
        None => future::pending().await,
    }
}
