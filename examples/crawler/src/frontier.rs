//! The URLs to fetch: a queue per host, and when each host may be asked next.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Instant;

use robotxt::Robots;
use url::Url;

use crate::args::MAX_DELAY;
use crate::urls;

/// The number of a host.
pub(crate) type HostId = usize;

/// A request to make.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The host to which it goes.
    pub(crate) host: HostId,
    pub(crate) url: Url,
    /// The host whose robots.txt it is.
    pub(crate) robots_of: Option<HostId>,
    /// How often it was made, or how many redirects led to it.
    pub(crate) tries: u32,
}

/// What to do next.
pub(crate) enum Next {
    Request(Job),
    /// robots.txt forbids this page.
    Forbidden(String),
    /// robots.txt could not be read, so no page of the host may be fetched.
    Unreachable,
}

/// What is known of a robots.txt.
enum Rules {
    /// No page of the host was found yet.
    New,
    Asked,
    /// The rules, unless they could not be read.
    Known(Option<Robots>),
}

/// A host. It is in the heap if a request to it may start, now or later.
struct Host {
    /// Pages, each with the number of times that it was tried.
    pages: VecDeque<(String, u32)>,
    /// Requests for a robots.txt, which come first.
    robots: Vec<Job>,
    rules: Rules,
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
    delay: Duration,
    per_host: u64,
    /// No request starts before.
    first: Instant,
    /// The number of pages in all queues, and the most.
    pub(crate) queued: u64,
    pub(crate) most: u64,
}

impl Frontier {
    pub(crate) fn new(delay: Duration, per_host: u64, first: Instant) -> Self {
        let (hosts, by_name, heap) = Default::default();
        Self { hosts, by_name, heap, delay, per_host, first, queued: 0, most: 0 }
    }

    /// Adds a page to the queue of its host. The first page of a host lets robots.txt be read.
    pub(crate) fn push(&mut self, url: Url) {
        let id = self.host(&url);
        if matches!(self.hosts[id].rules, Rules::New)
            && let Ok(robots) = url.join("/robots.txt")
        {
            self.hosts[id].rules = Rules::Asked;
            self.ask_robots(id, robots, 0);
        }
        self.enqueue(id, url.into(), 0);
    }

    /// Adds a page that must be tried again.
    pub(crate) fn push_again(&mut self, job: Job) {
        match job.robots_of {
            Some(of) => self.ask_robots(of, job.url, job.tries + 1),
            None => self.enqueue(job.host, job.url.into(), job.tries + 1),
        }
    }

    /// Lets the robots.txt of a host be read at a URL, perhaps of another host.
    pub(crate) fn ask_robots(&mut self, of: HostId, url: Url, tries: u32) {
        let host = self.host(&url);
        self.hosts[host].robots.push(Job { host, url, robots_of: Some(of), tries });
        self.schedule(host);
    }

    /// Sets the rules of a host, `None` if they could not be read.
    pub(crate) fn set_rules(&mut self, of: HostId, rules: Option<Robots>) {
        let host = &mut self.hosts[of];
        if let Some(delay) = rules.as_ref().and_then(Robots::crawl_delay) {
            let delay = delay.min(MAX_DELAY);
            // The time since the answer with this rule counts.
            host.ready += delay.saturating_sub(host.delay);
            host.delay = host.delay.max(delay);
        }
        host.rules = Rules::Known(rules);
        self.schedule(of);
    }

    /// Returns what may be done now.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Next> {
        while self.next_time()? <= now {
            let Reverse((_, id)) = self.heap.pop()?;
            let host = &mut self.hosts[id];
            host.in_heap = false;
            let is_due = host.ready <= now && host.may_start(self.per_host);
            let next = if is_due { self.take(id) } else { None };
            self.schedule(id);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Takes the first request of a host, or a page that may not be fetched.
    fn take(&mut self, id: HostId) -> Option<Next> {
        let host = &mut self.hosts[id];
        let job = match host.robots.pop() {
            Some(job) => job,
            None => {
                let (text, tries) = host.pages.pop_front()?;
                self.queued -= 1;
                let url = Url::parse(&text).ok()?;
                match &host.rules {
                    Rules::Known(Some(rules)) if rules.is_url_allowed(&url) => {}
                    Rules::Known(Some(_)) => return Some(Next::Forbidden(text)),
                    _ => return Some(Next::Unreachable),
                }
                Job { host: id, url, robots_of: None, tries }
            }
        };
        host.active += 1;
        host.waits = !host.delay.is_zero();
        Some(Next::Request(job))
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

    /// A request has ended. The next one to this host waits for at least `pause` from now.
    pub(crate) fn on_end(&mut self, id: HostId, now: Instant, pause: Duration) {
        let host = &mut self.hosts[id];
        host.active -= 1;
        host.ready = host.ready.max(now + pause);
        self.schedule(id);
    }

    /// Returns the number of a host, which may be new.
    fn host(&mut self, url: &Url) -> HostId {
        let new = self.hosts.len();
        let id = *self.by_name.entry(urls::host(url).to_owned()).or_insert(new);
        if id < new {
            return id;
        }
        self.hosts.push(Host {
            pages: VecDeque::new(),
            robots: Vec::new(),
            rules: Rules::New,
            delay: self.delay,
            ready: self.first,
            active: 0,
            waits: false,
            in_heap: false,
        });
        id
    }

    fn enqueue(&mut self, id: HostId, url: String, tries: u32) {
        self.queued += 1;
        self.most = self.most.max(self.queued);
        self.hosts[id].pages.push_back((url, tries));
        self.schedule(id);
    }

    /// Puts a host into the heap, if it has a request that may start.
    fn schedule(&mut self, id: HostId) {
        let host = &mut self.hosts[id];
        if !host.in_heap && host.may_start(self.per_host) {
            host.in_heap = true;
            self.heap.push(Reverse((host.ready, id)));
        }
    }
}

impl Host {
    fn may_start(&self, per_host: u64) -> bool {
        let has_page = matches!(self.rules, Rules::Known(_)) && !self.pages.is_empty();
        !self.waits && self.active < per_host && (has_page || !self.robots.is_empty())
    }
}
