//! One request: the client, and the part of an answer that a crawler needs.

use core::time::Duration;
use std::time::SystemTime;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Client, redirect, retry};
use url::Url;

use crate::failure::Failure;
use crate::hosts::HostMap;
use crate::links::Kind;

/// The bytes of a page that are read.
const MAX_BODY: usize = 4 << 20;

/// How long a connection, a part of an answer, and a whole answer may take.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const PART_TIME: Duration = Duration::from_secs(20);
const WHOLE_TIME: Duration = Duration::from_secs(120);

/// An answer of a server.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Where a redirect leads.
    pub(crate) location: Option<Url>,
    /// How long the server wants not to be asked.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) kind: Kind,
    /// The first bytes, as they were sent.
    pub(crate) body: Vec<u8>,
}

/// Returns a client that follows no redirect and repeats no request: the crawler decides on both.
pub(crate) fn client(agent: &str, map: Option<&HostMap>) -> Result<Client, Failure> {
    // The cryptography of `https`. It fails if it is chosen already.
    #[cfg(feature = "tls")]
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .user_agent(agent)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .connect_timeout(CONNECT_TIME)
        .read_timeout(PART_TIME)
        .timeout(WHOLE_TIME);
    for (name, address) in map.iter().flat_map(|map| &map.0) {
        // Only the addresses of the map are asked, no proxy.
        client = client.no_proxy().resolve(name, *address);
    }
    client.build().map_err(|error| format!("the client {agent:?}: {error}").into())
}

/// Gets a page. `on_head` is called when the head of the answer has come, or none will come.
pub(crate) async fn get(
    client: &Client,
    url: &Url,
    on_head: impl FnOnce(),
) -> Result<Answer, reqwest::Error> {
    let answer = client.get(url.clone()).send().await;
    on_head();
    let mut answer = answer?;
    let headers = answer.headers();
    let location = text(headers, LOCATION).and_then(|to| url.join(to).ok());
    let retry_after = text(headers, RETRY_AFTER).and_then(wait);
    let kind = Kind::of_content_type(text(headers, CONTENT_TYPE).unwrap_or_default());
    let status = answer.status().as_u16();
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        body.extend_from_slice(&part[..part.len().min(MAX_BODY - body.len())]);
        if body.len() == MAX_BODY {
            break;
        }
    }
    Ok(Answer { status, location, retry_after, kind, body })
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the time of a `Retry-After`: seconds, or a date.
fn wait(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date in the past is now.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_in_seconds_or_a_date() {
        assert_eq!(wait(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let future = SystemTime::now() + Duration::from_secs(1000);
        let time = wait(&httpdate::fmt_http_date(future)).unwrap();
        assert!(time <= Duration::from_secs(1000), "{time:?}");
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }
}
