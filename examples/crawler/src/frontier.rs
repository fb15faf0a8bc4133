//! The requests to make: a queue per host, and when each host may be asked next.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Instant;

use robotxt::Robots;
use url::Url;

use crate::args::{Args, MAX_DELAY};
use crate::log::Done;
use crate::urls;

/// The number of a host.
pub(crate) type HostId = usize;

/// A request to make.
pub(crate) struct Job {
    /// The host to which it goes.
    pub(crate) host: HostId,
    pub(crate) url: Url,
    /// The host whose robots.txt it is.
    pub(crate) robots_of: Option<HostId>,
    /// How often it was made, or how many redirects led to it.
    pub(crate) tries: u32,
}

/// A host. It is in the heap if a request to it may start, now or later.
struct Host {
    /// Those for a robots.txt come first.
    jobs: VecDeque<Job>,
    /// The rules of its robots.txt. Pages wait for it. If it cannot be read, they wait for a
    /// restart.
    rules: Option<Robots>,
    delay: Duration,
    /// When the next request may start.
    ready: Instant,
    /// The requests that have not ended.
    active: u64,
    /// Whether a request has not got the head of its answer. With a delay the next one waits for
    /// it: the server has seen this request then, so it sees the delay, too.
    waits: bool,
    in_heap: bool,
}

/// The queues of all hosts.
pub(crate) struct Frontier {
    hosts: Vec<Host>,
    by_name: HashMap<String, HostId>,
    heap: BinaryHeap<Reverse<(Instant, HostId)>>,
    args: &'static Args,
    /// The number of requests in all queues.
    pub(crate) queued: u64,
}

impl Frontier {
    pub(crate) fn new(args: &'static Args) -> Self {
        let (hosts, by_name, heap) = Default::default();
        Self { hosts, by_name, heap, args, queued: 0 }
    }

    /// Adds a page to the queue of its host.
    pub(crate) fn push(&mut self, url: Url) {
        let host = self.host(&url);
        self.add(Job { host, url, robots_of: None, tries: 0 });
    }

    /// Adds a request that must be made again, or at another URL. Its host is not asked before
    /// `earliest`.
    pub(crate) fn push_again(&mut self, job: &Job, url: Url, earliest: Instant) {
        let ready = &mut self.hosts[job.host].ready;
        *ready = earliest.max(*ready);
        let host = self.host(&url);
        self.add(Job { host, url, robots_of: job.robots_of, tries: job.tries + 1 });
    }

    /// Sets the rules of a host.
    pub(crate) fn set_rules(&mut self, of: HostId, rules: Robots) {
        let host = &mut self.hosts[of];
        let delay = rules.crawl_delay().unwrap_or_default().min(MAX_DELAY);
        // The time since the answer with this rule counts.
        host.ready += delay.saturating_sub(host.delay);
        host.delay = host.delay.max(delay);
        host.rules = Some(rules);
        self.schedule(of);
    }

    /// Returns a request that may start now, or a page that robots.txt forbids.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Result<Job, Done>> {
        while self.next_time()? <= now {
            let Reverse((_, id)) = self.heap.pop()?;
            let host = &mut self.hosts[id];
            host.in_heap = false;
            // It may have become later.
            let next = if host.ready <= now { self.take(id) } else { None };
            self.schedule(id);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Takes the first request of a host that may start one.
    fn take(&mut self, id: HostId) -> Option<Result<Job, Done>> {
        let host = &mut self.hosts[id];
        let job = host.jobs.pop_front()?;
        self.queued -= 1;
        let forbids = |rules: &Robots| !rules.is_url_allowed(&job.url);
        if job.robots_of.is_none() && host.rules.as_ref().is_some_and(forbids) {
            let (url, result) = (job.url.into(), "forbidden".to_owned());
            return Some(Err(Done { url, result, size: 0 }));
        }
        host.active += 1;
        host.waits = !host.delay.is_zero();
        Some(Ok(job))
    }

    /// Returns when a request may start.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// The head of an answer has come, or will not come.
    pub(crate) fn on_head(&mut self, id: HostId, now: Instant) {
        let host = &mut self.hosts[id];
        host.waits = false;
        host.ready = host.ready.max(now + host.delay);
        self.schedule(id);
    }

    /// A request has ended.
    pub(crate) fn on_end(&mut self, id: HostId) {
        self.hosts[id].active -= 1;
        self.schedule(id);
    }

    /// Returns the number of the host of a URL. If it is new, its robots.txt is read.
    fn host(&mut self, url: &Url) -> HostId {
        let new = self.hosts.len();
        let id = *self.by_name.entry(urls::host(url).to_owned()).or_insert(new);
        if id == new {
            self.hosts.push(Host {
                jobs: VecDeque::new(),
                rules: None,
                delay: self.args.delay,
                // The last request before a kill may be from a moment ago.
                ready: Instant::now() + self.args.delay,
                active: 0,
                waits: false,
                in_heap: false,
            });
            let mut url = url.clone();
            url.set_path("/robots.txt");
            url.set_query(None);
            self.add(Job { host: id, url, robots_of: Some(id), tries: 0 });
        }
        id
    }

    fn add(&mut self, job: Job) {
        let (id, jobs) = (job.host, &mut self.hosts[job.host].jobs);
        let place = if job.robots_of.is_some() { 0 } else { jobs.len() };
        jobs.insert(place, job);
        self.queued += 1;
        self.schedule(id);
    }

    /// Puts a host into the heap, if it has a request that may start.
    fn schedule(&mut self, id: HostId) {
        let host = &mut self.hosts[id];
        if !host.in_heap && host.may_start(self.args.per_host) {
            host.in_heap = true;
            self.heap.push(Reverse((host.ready, id)));
        }
    }
}

impl Host {
    fn may_start(&self, per_host: u64) -> bool {
        let is_known = |job: &Job| self.rules.is_some() || job.robots_of.is_some();
        !self.waits && self.active < per_host && self.jobs.front().is_some_and(is_known)
    }
}
