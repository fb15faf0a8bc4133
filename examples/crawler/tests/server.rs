//! One server for all hosts of a site, and its log, which decides what a crawl has done.

use core::convert::Infallible;
use core::time::Duration;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Error, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, LOCATION, RETRY_AFTER, USER_AGENT};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use crate::site::{self, Answer, BROKEN, HOSTS, SLOW, Site, Target};

/// The time that the slow host takes.
const SLOWNESS: Duration = Duration::from_millis(30);

/// A request, as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) time: Instant,
    pub(crate) host: usize,
    pub(crate) path: String,
    pub(crate) agent: String,
    /// The status of the answer, 0 if it was broken.
    pub(crate) status: u16,
}

/// Answers of which the server withholds the end, until they are released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Withheld {
    /// The first page of a host.
    FirstPage(usize),
    /// The answers to all requests from this one on.
    From(usize),
}

/// The time between two bytes of an answer that is withheld: the client waits on.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Shared {
    hits: Vec<Hit>,
    withheld: Vec<Withheld>,
    /// How often each URL was asked for.
    asked: HashMap<(usize, String), u32>,
    /// The open connections, and the client once it is known.
    open: HashMap<u64, Option<String>>,
}

/// A server, which ends when this is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    site: Site,
    shared: Arc<(Mutex<Shared>, Condvar)>,
    end: Option<oneshot::Sender<()>>,
}

impl Server {
    pub(crate) fn start(site: Site) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<(Mutex<Shared>, Condvar)>::default();
        let (end, ended) = oneshot::channel();
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                tokio::select! {
                    never = serve(listener, site, state) => match never {},
                    _ = ended => {}
                }
            });
        });
        Self { address, site, shared, end: Some(end) }
    }

    pub(crate) fn site(&self) -> Site {
        self.site
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared.0)
    }

    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.lock().hits.clone()
    }

    /// Withholds the ends of later answers.
    pub(crate) fn withhold(&self, answers: Withheld) {
        self.lock().withheld.push(answers);
    }

    /// Sends the ends of answers that were withheld.
    pub(crate) fn release(&self, answers: Withheld) {
        self.lock().withheld.retain(|other| *other != answers);
    }

    /// Waits until the log has `count` hits, or `is_over`.
    pub(crate) fn wait_for(&self, count: usize, mut is_over: impl FnMut() -> bool) {
        let mut shared = self.lock();
        while shared.hits.len() < count && !is_over() {
            let pause = Duration::from_millis(20);
            shared = self.shared.1.wait_timeout(shared, pause).unwrap().0;
        }
    }

    /// Waits until the server has seen all that a killed client sent, and its connections are
    /// closed.
    pub(crate) fn settle(&self, agent: &str) {
        // The system gives connections to the server in their order.
        let mut barrier = TcpStream::connect(self.address).unwrap();
        write!(barrier, "GET / HTTP/1.1\r\nHost: barrier\r\nConnection: close\r\n\r\n").unwrap();
        barrier.read_to_end(&mut Vec::new()).unwrap();
        let is_of =
            |client: &Option<String>| client.as_deref().is_none_or(|known| known.ends_with(agent));
        while self.lock().open.values().any(is_of) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.end.take().map(|end| end.send(()));
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    listener: TcpListener,
    site: Site,
    shared: Arc<(Mutex<Shared>, Condvar)>,
) -> Infallible {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    for number in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        lock(&shared.0).open.insert(number, None);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(site, &shared, number, request));
            let http = hyper::server::conn::http1::Builder::new();
            // It fails where an answer is broken on purpose, or the client is killed.
            _ = http.serve_connection(TokioIo::new(stream), service).await;
            lock(&shared.0).open.remove(&number);
        });
    }
    unreachable!("numbers do not end")
}

/// Answers a request, or fails to.
async fn answer(
    site: Site,
    shared: &Arc<(Mutex<Shared>, Condvar)>,
    connection: u64,
    request: Request<Incoming>,
) -> Result<Response<BoxBody<Bytes, Error>>, Error> {
    let header = |name| {
        let value = request.headers().get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let (name, agent) = (header(HOST), header(USER_AGENT));
    if name == "barrier" {
        return Ok(Response::new(whole("")));
    }
    let path = request.uri().to_string();
    // A name that is not of the site is logged as a host that does not exist.
    let host = HOSTS.iter().position(|host| *host == name).unwrap_or(HOSTS.len());
    let target = site.target(host, &path);
    let (plan, is_broken, withheld) = {
        let mut shared = lock(&shared.0);
        shared.open.insert(connection, Some(agent.clone()));
        let asked = shared.asked.entry((host, path.clone())).or_default();
        *asked += 1;
        let is_first = *asked == 1;
        let is_broken = host == BROKEN && is_first && path.starts_with("/p/");
        let plan = plan(site, host, &path, target, is_first);
        let status = if is_broken { 0 } else { plan.0 };
        let number = shared.hits.len();
        let withheld = shared.withheld.iter().copied().find(|answers| match *answers {
            Withheld::FirstPage(of) => of == host && path == "/",
            Withheld::From(first) => number >= first,
        });
        // The clock is read under the lock, so the log is in the order of time.
        shared.hits.push(Hit { time: Instant::now(), host, path, agent, status });
        (plan, is_broken, withheld)
    };
    shared.1.notify_all();
    if host == SLOW {
        tokio::time::sleep(SLOWNESS).await;
    }
    let (status, headers, body) = plan;
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    let body = match (is_broken, status) {
        (true, 404) => return Err(Error::other("no answer, on purpose")),
        (true, _) => {
            let half = Frame::data(Bytes::from(body[..body.len() / 2].to_owned()));
            let parts = [Ok(half), Err(Error::other("half an answer, on purpose"))];
            StreamBody::new(stream::iter(parts)).boxed()
        }
        (false, _) => match withheld {
            Some(answers) => late(&body, answers, Arc::clone(shared)),
            None => whole(&body),
        },
    };
    Ok(response.body(body).unwrap())
}

type Plan = (u16, Vec<(hyper::header::HeaderName, String)>, String);

/// Returns the status, the headers and the body of an answer.
fn plan(site: Site, host: usize, path: &str, target: Option<Target>, is_first: bool) -> Plan {
    if path == "/robots.txt" {
        return (200, Vec::new(), site::robots(host));
    }
    let Some(target) = target else { return (404, Vec::new(), String::new()) };
    let html = vec![(CONTENT_TYPE, "text/html; charset=utf-8".to_owned())];
    match (site.answer(target), target) {
        (Answer::Page(links), Target::Sitemap) => {
            let mut text = "<?xml version=\"1.0\"?><urlset>".to_owned();
            links.iter().for_each(|(url, _)| {
                _ = write!(text, "<url><loc>{}</loc></url>", url.replace('&', "&amp;"));
            });
            (200, vec![(CONTENT_TYPE, "application/xml".to_owned())], text + "</urlset>")
        }
        (Answer::Page(links), _) => (200, html, document(&links)),
        (Answer::Redirect(to), _) => (301, vec![(LOCATION, site.url(to))], String::new()),
        (Answer::Missing, _) => (404, Vec::new(), String::new()),
        (Answer::TooMany { as_date }, _) if is_first => {
            let date = SystemTime::now() + Duration::from_secs(2);
            let wait = if as_date { httpdate::fmt_http_date(date) } else { "1".to_owned() };
            (429, vec![(RETRY_AFTER, wait)], String::new())
        }
        (Answer::TooMany { .. }, Target::Page(page)) => {
            (200, html, document(&site.links_of_page(page)))
        }
        (Answer::TooMany { .. } | Answer::Failing, _) => (500, Vec::new(), String::new()),
    }
}

fn document(links: &[(String, Target)]) -> String {
    let mut text = "<!doctype html><title>A page</title><p>".to_owned();
    links.iter().for_each(|(href, _)| _ = write!(text, "<a href=\"{href}\">a page</a> "));
    text
}

/// Returns a body that ends, with some spaces, when it is released.
fn late(
    text: &str,
    answers: Withheld,
    shared: Arc<(Mutex<Shared>, Condvar)>,
) -> BoxBody<Bytes, Error> {
    let spaces = stream::unfold(shared, move |shared| async move {
        tokio::time::sleep(PAUSE).await;
        let is_withheld = lock(&shared.0).withheld.contains(&answers);
        is_withheld.then(|| (Ok(Frame::data(Bytes::from_static(b" "))), shared))
    });
    let text = Ok(Frame::data(Bytes::from(text.to_owned())));
    StreamBody::new(stream::StreamExt::chain(stream::iter([text]), spaces)).boxed()
}

fn whole(text: &str) -> BoxBody<Bytes, Error> {
    Full::new(Bytes::from(text.to_owned())).map_err(|never| match never {}).boxed()
}
