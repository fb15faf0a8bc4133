//! Runs a crawl: starts each request that may start, and takes each event to its place.

use core::mem;
use core::pin::pin;
use core::time::Duration;
use std::time::Instant;

use robotxt::Robots;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::{select, signal, time};
use url::Url;

use crate::args::Args;
use crate::claims::{Claims, Found};
use crate::failure::Failure;
use crate::fetch;
use crate::frontier::{Frontier, HostId, Job, Next};
use crate::hosts::HostMap;
use crate::log::{Done, FORBIDDEN};
use crate::page::{Outcome, Visitor};
use crate::report::Report;
use crate::urls;

/// The events that are taken at once. The links of their pages are claimed together.
const EVENTS: usize = 64;

enum Event {
    /// The head of an answer has come, or will not.
    Head(HostId),
    /// A request has ended.
    End(Box<(Job, Outcome)>),
}

struct Crawl {
    frontier: Frontier,
    report: Report,
    claims: Claims,
    visitor: Visitor,
    events: UnboundedSender<Event>,
    tasks: JoinSet<()>,
    /// The number of requests that have not ended, and the most.
    in_flight: u64,
    connections: u64,
    /// What has to be recorded before the next requests start.
    found: Vec<Found>,
    /// Whether the user wants the crawl to end.
    is_over: bool,
}

/// Crawls until no URL is left.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let report = Report::new();
    let map = args.host_map.as_deref().map(HostMap::read).transpose()?;
    let agent = args.user_agent.as_str();
    let name = agent.split(['/', ' ']).next().unwrap_or_default().to_owned();
    let is_allowed = |url: &Url| map.as_ref().is_none_or(|map| map.allows(url));
    let is_spoken = |url: &Url| url.scheme() == "http" || cfg!(feature = "tls");
    let may_start = |url: &Url| urls::normal(url).is_some_and(|url| is_allowed(&url));
    if let Some(url) = args.start.iter().find(|url| !may_start(url) || !is_spoken(url)) {
        return Err(format!(
            "{url}: not `http`, or `https` with the feature `tls`, or not in the map"
        )
        .into());
    }
    let (claims, past, mut waiting) = Claims::open(&args).await?;
    Report::begin(&claims, &past, &args)?;
    let client = fetch::client(&format!("{agent} crawl-{}", past.identity), map.as_ref())?;
    // The last request before a kill may be from a moment ago.
    let is_restart = past.won.len() + past.open.len() > 0;
    let first = Instant::now() + if is_restart { args.delay } else { Duration::ZERO };
    let (events, mut inbox) = unbounded_channel();
    let mut crawl = Crawl {
        frontier: Frontier::new(args.delay, args.per_host, first),
        report,
        claims,
        visitor: Visitor { client, map, delay: args.delay, name },
        events,
        tasks: JoinSet::new(),
        in_flight: 0,
        connections: args.connections,
        found: Vec::new(),
        is_over: false,
    };
    waiting.retain(|url| crawl.visitor.allows(url));
    waiting.into_iter().for_each(|url| crawl.frontier.push(url));
    crawl.claim(&args.start);

    let mut events = Vec::new();
    // One listener, so that a signal is also noticed while the loop is elsewhere.
    let mut interrupt = pin!(signal::ctrl_c());
    let mut update = time::interval(Duration::from_millis(500));
    loop {
        // This is where pages become done, and nothing ends it half-way.
        crawl.record().await?;
        crawl.start_requests();
        if !crawl.found.is_empty() {
            continue;
        }
        let next = crawl.frontier.next_time().filter(|_| !crawl.is_over);
        if crawl.in_flight == 0 && next.is_none() {
            return crawl.report.end(&crawl.claims, &crawl.frontier).await;
        }
        let may_start = next.is_some() && crawl.in_flight < crawl.connections;
        select! {
            _ = inbox.recv_many(&mut events, EVENTS) => {
                events.drain(..).for_each(|event| crawl.on_event(event));
            }
            () = time::sleep_until(next.unwrap_or_else(Instant::now).into()), if may_start => {}
            Some(ended) = crawl.tasks.join_next() => ended?,
            _ = update.tick() => crawl.report.show(&crawl.frontier),
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
    /// Starts each request that may start now.
    fn start_requests(&mut self) {
        while !self.is_over
            && self.in_flight < self.connections
            && let Some(next) = self.frontier.pop(Instant::now())
        {
            match next {
                Next::Request(job) => self.start(job),
                Next::Forbidden(url) => {
                    let done = Some(Done { url, status: FORBIDDEN, size: 0 });
                    self.found.push(Found { links: Vec::new(), done });
                }
                Next::Unreachable => self.report.left += 1,
            }
        }
    }

    fn start(&mut self, job: Job) {
        self.in_flight += 1;
        let (visitor, events) = (self.visitor.clone(), self.events.clone());
        self.tasks.spawn(async move {
            // If nobody listens, the crawl has ended with an error.
            let on_head = || _ = events.send(Event::Head(job.host));
            let outcome = visitor.visit(&job, on_head).await;
            _ = events.send(Event::End(Box::new((job, outcome))));
        });
    }

    fn on_event(&mut self, event: Event) {
        let now = Instant::now();
        let (job, outcome) = match event {
            Event::Head(host) => return self.frontier.on_head(host, now),
            Event::End(end) => *end,
        };
        let pause = if let Outcome::Again(pause) = outcome { pause } else { Duration::ZERO };
        self.frontier.on_end(job.host, now, pause);
        self.in_flight -= 1;
        match (outcome, job.robots_of) {
            (Outcome::Page { done, links }, _) => {
                self.found.push(Found { links, done: Some(done) });
            }
            (Outcome::RobotsAt(url), Some(of)) => self.frontier.ask_robots(of, url, job.tries + 1),
            (Outcome::Rules(rules), Some(of)) => {
                // Sitemaps are claimed before any page of the host is done.
                self.claim(rules.as_ref().map_or(&[], Robots::sitemaps));
                self.frontier.set_rules(of, rules);
            }
            _ => self.frontier.push_again(job),
        }
    }

    /// Lets links that belong to no page be claimed.
    fn claim(&mut self, links: &[Url]) {
        let links = links.iter().filter_map(urls::normal);
        let links: Vec<Url> = links.filter(|url| self.visitor.allows(url)).collect();
        if !links.is_empty() {
            self.found.push(Found { links, done: None });
        }
    }

    /// Records what was found, and enqueues what was won.
    async fn record(&mut self) -> Result<(), Failure> {
        let found = mem::take(&mut self.found);
        let done = found.iter().filter_map(|page| page.done.as_ref());
        done.for_each(|page| self.report.count(page.status));
        let won = self.claims.record(found).await?;
        won.into_iter().for_each(|url| self.frontier.push(url));
        Ok(())
    }
}
